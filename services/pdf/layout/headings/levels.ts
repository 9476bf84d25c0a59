// Gives the headings of a document their levels: groups them by outline, number and style, and puts the groups in order.
import type { Bookmark } from '../../source/page-model.ts';
import type { Draft, DraftStyle, TextDraft } from '../../text/blocks.ts';
import type { Numbering } from '../../text/markers.ts';
import { levelsAgree } from '../tagged-headings.ts';
import { readNumbers } from './numbers.ts';

export interface HeadingMark {
  level: number;
  /** The document's title. */
  title: boolean;
}

/** Headings that have one level: of one outline level, one depth of numbers, or one style. */
interface HeadingGroup {
  headings: TextDraft[];
  /** Place of the first of them among all headings. */
  first: number;
  /** Their places among the drafts. */
  places: number[];
  /** Their places among all headings, and the value of the number of each. */
  ranks: number[];
  values: (number | undefined)[];
  size: number;
  bold: number;
  italic: number;
  capitals: number;
  centred: number;
  smallCapitals: number;
  underlined: number;
  color: number;
  scheme: string;
  depth: number;
  /** Its level by the tags of the file, and by these or the outline. */
  tagged: number | undefined;
  outline: number | undefined;
  /** It is one heading, the first of the document, and nothing stands before it. */
  opens: boolean;
}

/** Markdown and HTML have six levels. */
const DEEPEST = 6;
/** Type sizes that differ by less, in points, are printed as one. */
const SIZE_STEP = 0.5;
/** Letters before the first heading that tell a page out of the middle of a text. */
const TEXT_BEFORE = 400;

/** What a bookmark and a printed heading have in common. */
export function normalise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/** Drafts with the same key are printed alike. */
export function styleKey(style: DraftStyle): string {
  const { bold, capitals, italic, smallCapitals, underlined } = style;
  const flags = [bold, capitals, italic, smallCapitals, underlined].map(Number).join('');
  return `${Math.round(style.size / SIZE_STEP)}|${flags}|${style.color}`;
}

/** @param found the headings, in the order of the document */
export function setLevels(
  found: readonly TextDraft[],
  drafts: readonly Draft[],
  bookmarks: readonly Bookmark[],
  weights: readonly number[],
): Map<TextDraft, HeadingMark> {
  const marks = new Map<TextDraft, HeadingMark>();
  const groups = orderGroups(groupHeadings(found, drafts, bookmarks), weights);
  const top = groups[0];
  if (!top) return marks;
  const title = groups.length > 1 || top.opens ? isTitle(top) : false;
  const depths = nest(groups);
  for (const [rank, group] of groups.entries()) {
    // A title without a tag stands above the tagged headings.
    const below = title && rank > 0 && top.tagged === undefined ? 1 : 0;
    const level = Math.min(
      DEEPEST,
      group.tagged === undefined ? (depths[rank] ?? 0) + (title ? 1 : 2) : group.tagged + below,
    );
    for (const heading of group.headings) marks.set(heading, { level, title: title && rank === 0 && level === 1 });
  }
  return marks;
}

/** How deep each group stands: one deeper than the group that most often is above it, so a rare style pushes down what stands under it alone. */
function nest(groups: readonly HeadingGroup[]): number[] {
  const order = groups
    .flatMap(({ ranks }, group) => ranks.map((rank) => ({ rank, group })))
    .sort((a, b) => a.rank - b.rank);
  const votes = groups.map(() => new Map<number, number>());
  const open: number[] = [];
  for (const { group } of order) {
    while (open.length > 0 && (open.at(-1) ?? 0) >= group) open.pop();
    const above = open.at(-1);
    if (above !== undefined) votes[group]?.set(above, (votes[group]?.get(above) ?? 0) + 1);
    open.push(group);
  }
  const depths: number[] = [];
  for (const [group, counts] of votes.entries()) {
    const [above] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [group - 1, 0]);
    depths[group] = (depths[above] ?? -1) + 1;
  }
  return depths;
}

/** A title stands alone in its style, at the beginning, and has no number. */
function isTitle({ headings, scheme, first }: HeadingGroup): boolean {
  const [heading] = headings;
  return headings.length === 1 && scheme === '' && first === 0 && (heading?.pageIndex ?? 0) <= 1;
}

export function groupHeadings(
  found: readonly TextDraft[],
  drafts: readonly Draft[],
  bookmarks: readonly Bookmark[],
): HeadingGroup[] {
  const outline = new Map(bookmarks.map((bookmark) => [normalise(bookmark.title), bookmark.level]));
  const tagged = levelsAgree(found);
  const numbers = readNumbers(found.map(({ text }) => text));
  const keys = found.map((heading, n) => {
    if (tagged && typeof heading.tag === 'object') return `tag ${heading.tag.level}`;
    const level = outline.get(normalise(heading.text));
    if (level !== undefined) return `outline ${level}`;
    const number = numbers[n];
    return number ? `number ${number.scheme} ${number.depth}` : undefined;
  });
  const ofStyle = commonKeys(found, keys);
  const lower = stylesInside(found, keys, ofStyle, numbers);
  const opening = openingHeading(found, drafts);
  const groups = new Map<string, TextDraft[]>();
  for (const [n, heading] of found.entries()) {
    const style = styleKey(heading.style);
    const common = lower.get(style) ?? ofStyle.get(style) ?? style;
    // An outline leaves out the title: it is above the outline's headings, though it may look like them.
    const key = keys[n] ?? (heading === opening && common.startsWith('outline ') ? 'title' : common);
    const group = groups.get(key);
    if (group) group.push(heading);
    else groups.set(key, [heading]);
  }
  const places = new Map(drafts.map((draft, n) => [draft.kind === 'item' ? (draft.asText ?? draft) : draft, n]));
  const ranks = new Map(found.map((heading, n) => [heading, n]));
  const placesOf = (headings: readonly TextDraft[]) => headings.map((one) => places.get(one) ?? -1);
  return [...groups].map(([key, headings]) => ({
    ...describeGroup(key, headings, found, outline, opening),
    places: placesOf(headings),
    ranks: headings.map((one) => ranks.get(one) ?? -1),
    values: headings.map((one) => numbers[ranks.get(one) ?? -1]?.value),
  }));
}

/** The key that most headings of a style have: `References` is a heading like `7. Results` where it looks like it. */
function commonKeys(found: readonly TextDraft[], keys: readonly (string | undefined)[]): Map<string, string> {
  const counts = new Map<string, Map<string, number>>();
  for (const [n, heading] of found.entries()) {
    const key = keys[n];
    if (key === undefined) continue;
    const style = styleKey(heading.style);
    const ofStyle = counts.get(style) ?? new Map<string, number>();
    counts.set(style, ofStyle.set(key, (ofStyle.get(key) ?? 0) + 1));
  }
  return new Map(
    [...counts].map(([style, ofStyle]) => [style, [...ofStyle].reduce((a, b) => (b[1] > a[1] ? b : a))[0]]),
  );
}

const NUMBER_KEY = /^number (.+) (\S+)$/;
/** Keys of numbers without a word: `Step 2` may stand beside a heading without a number. */
const NUMERALS = /^number \W?(?:decimal|letter|roman) /;
/** What a group of such headings adds to the key of the numbered one. */
const INSIDE = '.5';

/** Keys of styles whose headings without a number are parts of the numbered ones: most stand between two numbers of one series. */
function stylesInside(
  found: readonly TextDraft[],
  keys: readonly (string | undefined)[],
  ofStyle: ReadonlyMap<string, string>,
  numbers: readonly (Numbering | undefined)[],
): ReadonlyMap<string, string> {
  const votes = new Map<string, number>();
  const vote = (styles: readonly string[] | undefined, one: number) => {
    for (const style of styles ?? []) votes.set(style, (votes.get(style) ?? 0) + one);
  };
  const last = new Map<string, Numbering>();
  /** By the key of a number: the styles of the headings since the last such number. */
  const waiting = new Map<string, string[]>();
  for (const [n, heading] of found.entries()) {
    const [key, number, style] = [keys[n], numbers[n], styleKey(heading.style)];
    if (key === undefined) {
      const common = ofStyle.get(style) ?? '';
      const styles = waiting.get(common);
      if (styles) styles.push(style);
      else if (NUMERALS.test(common)) waiting.set(common, [style]);
    } else if (number) {
      const before = last.get(key);
      const isInside = before && (number.depth > 1 || number.value === before.value + 1);
      vote(waiting.get(key), isInside ? 1 : -1);
      waiting.delete(key);
      last.set(key, number);
    }
  }
  for (const styles of waiting.values()) vote(styles, -1);
  return new Map(
    [...votes].flatMap(([style, sum]) => (sum > 0 ? [[style, `${ofStyle.get(style)}${INSIDE}`] as const] : [])),
  );
}

/** The first heading, where little text stands before it, and none in larger type. */
function openingHeading(found: readonly TextDraft[], drafts: readonly Draft[]): TextDraft | undefined {
  let letters = 0;
  for (const draft of drafts) {
    if (draft === found[0]) break;
    if (draft.kind === 'text' && draft.style.size > (found[0]?.style.size ?? 0) + SIZE_STEP) return undefined;
    if (draft.kind === 'text' || draft.kind === 'item') letters += draft.text.length;
  }
  return letters > TEXT_BEFORE ? undefined : found[0];
}

function describeGroup(
  key: string,
  headings: TextDraft[],
  found: readonly TextDraft[],
  outline: ReadonlyMap<string, number>,
  opening: TextDraft | undefined,
): Omit<HeadingGroup, 'places' | 'ranks' | 'values'> {
  const share = (test: (heading: TextDraft) => boolean) => headings.filter(test).length / headings.length;
  const first = headings[0] as TextDraft;
  const tagged = key.startsWith('tag ') ? Number(key.slice('tag '.length)) : undefined;
  const [scheme = '', depth] = NUMBER_KEY.exec(key)?.slice(1) ?? [];
  return {
    headings,
    first: found.indexOf(first),
    size: headings.reduce((sum, one) => sum + one.style.size, 0) / headings.length,
    bold: share((one) => one.style.bold),
    italic: share((one) => one.style.italic),
    capitals: share((one) => one.style.capitals),
    centred: share((one) => one.centred),
    smallCapitals: share((one) => one.style.smallCapitals),
    underlined: share((one) => one.style.underlined),
    color: share((one) => one.style.color !== 0),
    scheme,
    depth: Number(depth ?? 0),
    tagged,
    outline: tagged ?? outline.get(normalise(first.text)),
    opens: headings.length === 1 && first === opening,
  };
}

/** What tells which of two groups is the higher one: each number is positive where it speaks for `a`. */
export function compareGroups(a: HeadingGroup, b: HeadingGroup): number[] {
  const size = Math.log(a.size / b.size);
  const sameScheme = isOfScheme(a, b);
  return [
    Math.max(-0.4, Math.min(0.4, size)) * 5,
    Math.sign(Math.abs(size) < 0.03 ? 0 : size),
    a.bold - b.bold,
    a.capitals - b.capitals,
    b.italic - a.italic,
    a.centred - b.centred,
    sameScheme ? Math.sign(b.depth - a.depth) : 0,
    a.outline !== undefined && b.outline !== undefined ? Math.sign(b.outline - a.outline) : 0,
    Number(a.opens) - Number(b.opens),
    Math.sign(b.first - a.first),
    Math.log(b.headings.length / a.headings.length),
    a.smallCapitals - b.smallCapitals,
    a.underlined - b.underlined,
    a.color - b.color,
    Number(a.depth === 1) - Number(b.depth === 1),
    Number(a.depth > 1) - Number(b.depth > 1),
    stacked(a, b) - stacked(b, a),
    inside(b, a) - inside(a, b),
  ];
}

/** Share of the headings of the smaller group that stand so that one of `b` follows one of `a` without a text between. */
function stacked(a: HeadingGroup, b: HeadingGroup): number {
  const below = new Set(b.places);
  return a.places.filter((place) => below.has(place + 1)).length / Math.min(a.places.length, b.places.length);
}

/** Share of the headings of `a` that stand between two numbers of `b` that follow each other. */
function inside(a: HeadingGroup, b: HeadingGroup): number {
  let next = 0;
  const count = a.ranks.filter((rank) => {
    while ((b.ranks[next] ?? rank) < rank) next++;
    const [value, before] = [b.values[next], b.values[next - 1]];
    return value !== undefined && before === value - 1;
  }).length;
  return count / a.ranks.length;
}

/** How surely `a` is the higher group, 0 to 1: numbers of one kind say it by their parts. */
function chanceAbove(a: HeadingGroup, b: HeadingGroup, weights: readonly number[]): number {
  if (isOfScheme(a, b) && a.depth !== b.depth) return Number(a.depth < b.depth);
  const score = compareGroups(a, b).reduce((total, one, n) => total + one * (weights[n] ?? 0), 0);
  return 1 / (1 + Math.exp(-score));
}

function isOfScheme(a: HeadingGroup, b: HeadingGroup): boolean {
  return a.scheme !== '' && a.scheme === b.scheme;
}

/** The groups from the highest to the lowest: each is compared with each, as on average one of them is the higher one. */
function orderGroups(groups: readonly HeadingGroup[], weights: readonly number[]): HeadingGroup[] {
  const ordered = groups
    .map((a) => ({
      group: a,
      points: groups.reduce((sum, b) => (a === b ? sum : sum + chanceAbove(a, b, weights)), 0),
    }))
    .sort((a, b) => b.points - a.points)
    .map(({ group }) => group);
  // Averages may put `2.3.1` over `2.3`: the groups of one kind of number change places.
  return ordered.map((group) => {
    const ofScheme = ordered.filter((one) => one === group || isOfScheme(one, group));
    return ofScheme.toSorted((a, b) => a.depth - b.depth)[ofScheme.indexOf(group)] ?? group;
  });
}
