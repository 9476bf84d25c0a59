// Describes each short text of a document by numbers, from the document's own statistics: what the heading model reads.
import type { Bookmark } from '../../source/page-model.ts';
import type { Draft, DraftStyle, TextDraft } from '../../text/blocks.ts';
import {
  isCaption,
  isContentsEntry,
  isFloatCaption,
  isNumberedCaption,
  type Numbering,
  readNumbering,
} from '../../text/markers.ts';
import { normalise, styleKey } from './levels.ts';

/** A heading has at most so many lines and letters. */
const MAX_LINES = 4;
const MAX_LENGTH = 220;
/** A gap, in type sizes, that says no more when it grows; also that at a page's edge. */
const WIDE_GAP = 5;
/** A text of so many letters is running text. */
const RUNNING = 100;
/** Drafts between two numbers of a series that say no more when there are more of them. */
const FAR_APART = 20;
/** A title stands on one of so many first places; past them the place says nothing. */
const FIRST_PLACES = 4;
/** Letters of a table count for less: tables may be set smaller than the text between them. */
const TABLE_WEIGHT = 0.3;

/** What the model reads of a text, by name. */
export type Features = Record<string, number>;

export interface Candidate {
  /** What becomes the heading. */
  draft: TextDraft;
  /** It is in the document as the item of a list. */
  item: boolean;
  /** Its place among the drafts. */
  index: number;
  style: string;
  numbering: Numbering | undefined;
  features: Features;
}

/** Texts that are printed alike. */
interface StyleUse {
  letters: number;
  count: number;
  /** Letters of those that are short and end no sentence. */
  headLike: number;
  gaps: number;
  /** How many have running text next. */
  overText: number;
}

interface Surroundings {
  drafts: readonly Draft[];
  body: DraftStyle;
  letters: number;
  /** Letters by type size. */
  sizes: Map<number, number>;
  styles: Map<string, StyleUse>;
  texts: Map<string, number>;
  outline: ReadonlySet<string>;
  usualGap: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A text draft, or the text that a numbered item is. */
function textOf(draft: Draft | undefined): TextDraft | undefined {
  return draft?.kind === 'text' ? draft : draft?.kind === 'item' ? draft.asText : undefined;
}

function fullKey(style: DraftStyle): string {
  return `${styleKey(style)}|${style.font}`;
}

function endsSentence(text: string): boolean {
  return /[.,;。；，][”"’')\]]*$/.test(text);
}

function isRunning(draft: Draft | undefined): boolean {
  return (
    (draft?.kind === 'text' && draft.text.length >= RUNNING) || (draft?.kind === 'item' && draft.text.length >= RUNNING)
  );
}

function mayBeHeading(text: TextDraft): boolean {
  const isShort = text.lines <= MAX_LINES && text.text.length <= MAX_LENGTH;
  return isShort && /\p{L}/u.test(text.text) && !text.style.monospace && !isContentsEntry(text.text);
}

/** The texts that may be headings, with what the model reads of them. */
export function findCandidates(drafts: readonly Draft[], bookmarks: readonly Bookmark[]): Candidate[] {
  const around = survey(drafts, bookmarks);
  const candidates: Candidate[] = [];
  for (const [index, draft] of drafts.entries()) {
    const text = textOf(draft);
    if (!text || !mayBeHeading(text)) continue;
    candidates.push({
      draft: text,
      item: draft.kind === 'item',
      index,
      style: fullKey(text.style),
      numbering: readNumbering(text.text),
      features: {},
    });
  }
  const sequence = readSequences(candidates, drafts);
  for (const candidate of candidates)
    candidate.features = {
      ...styleFeatures(candidate, around),
      ...spaceFeatures(candidate, around),
      ...wordFeatures(candidate, around),
      ...sideFeatures('before', candidate, drafts[candidate.index - 1], around),
      ...sideFeatures('after', candidate, drafts[candidate.index + 1], around),
      ...sequence.get(candidate),
    };
  return candidates;
}

const UNKNOWN_STYLE: DraftStyle = {
  size: 10,
  bold: false,
  italic: false,
  monospace: false,
  capitals: false,
  smallCapitals: false,
  underlined: false,
  color: 0,
  font: '',
};

/** The style of most of the document's letters. Items and tables tell their size alone. */
export function bodyStyle(drafts: readonly Draft[]): DraftStyle {
  const counts = new Map<string, { letters: number; style: DraftStyle | undefined; size: number }>();
  for (const draft of drafts) {
    if (draft.kind !== 'text' && draft.kind !== 'item' && draft.kind !== 'table') continue;
    const style = draft.kind === 'text' ? draft.style : undefined;
    const size = Math.round((draft.kind === 'text' ? draft.style.size : draft.size) * 2) / 2;
    const key = `${size}|${style?.bold ?? false}|${style?.italic ?? false}`;
    const entry = counts.get(key) ?? { letters: 0, style, size };
    entry.style ??= style;
    entry.letters += draft.kind === 'table' ? draft.letters * TABLE_WEIGHT : draft.text.length;
    counts.set(key, entry);
  }
  let best: { letters: number; style: DraftStyle | undefined; size: number } | undefined;
  for (const entry of counts.values()) if (!best || entry.letters > best.letters) best = entry;
  return best ? { ...(best.style ?? UNKNOWN_STYLE), size: best.size } : UNKNOWN_STYLE;
}

function survey(drafts: readonly Draft[], bookmarks: readonly Bookmark[]): Surroundings {
  const sizes = new Map<number, number>();
  const styles = new Map<string, StyleUse>();
  const texts = new Map<string, number>();
  let letters = 0;
  const gaps: number[] = [];
  for (const [index, draft] of drafts.entries()) {
    if (draft.kind === 'table' || draft.kind === 'item') {
      const count = draft.kind === 'table' ? draft.letters * TABLE_WEIGHT : draft.text.length;
      const size = Math.round(draft.size * 2);
      sizes.set(size, (sizes.get(size) ?? 0) + count);
      letters += count;
    }
    const text = textOf(draft);
    if (!text) continue;
    const { length } = text.text;
    if (draft.kind === 'text') {
      const size = Math.round(text.style.size * 2);
      sizes.set(size, (sizes.get(size) ?? 0) + length);
      letters += length;
      if (Number.isFinite(text.gapAbove)) gaps.push(text.gapAbove);
    }
    const said = normalise(text.text);
    texts.set(said, (texts.get(said) ?? 0) + 1);
    const use = styles.get(fullKey(text.style)) ?? { letters: 0, count: 0, headLike: 0, gaps: 0, overText: 0 };
    use.letters += length;
    use.count++;
    if (length < RUNNING && !endsSentence(text.text)) use.headLike += length;
    use.gaps += Math.min(WIDE_GAP, text.gapAbove);
    if (isRunning(drafts[index + 1])) use.overText++;
    styles.set(fullKey(text.style), use);
  }
  gaps.sort((a, b) => a - b);
  const edge = (pick: (draft: Draft) => number, share: number) => {
    const values = drafts
      .filter((one) => one.kind === 'text' || one.kind === 'item')
      .map(pick)
      .sort((a, b) => a - b);
    return values[Math.floor((values.length - 1) * share)] ?? 0;
  };
  return {
    drafts,
    body: bodyStyle(drafts),
    letters: Math.max(1, letters),
    sizes,
    styles,
    texts,
    outline: new Set(bookmarks.map((one) => normalise(one.title))),
    usualGap: gaps[gaps.length >> 1] ?? 1,
    left: edge((one) => one.box.x0, 0.05),
    right: edge((one) => one.box.x1, 0.95),
    top: edge((one) => one.box.y0, 0),
    bottom: edge((one) => one.box.y1, 1),
  };
}

function styleFeatures({ draft, style: key }: Candidate, around: Surroundings): Features {
  const { style } = draft;
  const { body, letters } = around;
  const use = around.styles.get(key);
  const size = Math.round(style.size * 2);
  let larger = 0;
  for (const [one, count] of around.sizes) if (one > size) larger += count;
  const count = use?.count ?? 1;
  return {
    size: Math.log(style.size / body.size),
    larger: larger / letters,
    ofSize: (around.sizes.get(size) ?? 0) / letters,
    ofStyle: (use?.letters ?? 0) / letters,
    headLike: (use?.headLike ?? 0) / Math.max(1, use?.letters ?? 1),
    styleCount: Math.log(count),
    styleLength: (use?.letters ?? 0) / count,
    styleGap: (use?.gaps ?? 0) / count,
    styleOverText: (use?.overText ?? 0) / count,
    bold: Number(style.bold) - Number(body.bold),
    italic: Number(style.italic) - Number(body.italic),
    capitals: Number(style.capitals),
    smallCapitals: Number(style.smallCapitals),
    underlined: Number(style.underlined),
    face: Number(style.font !== body.font),
    color: Number(style.color !== body.color),
  };
}

function spaceFeatures({ draft, index }: Candidate, around: Surroundings): Features {
  const above = Math.min(WIDE_GAP, draft.gapAbove);
  const next = around.drafts[index + 1];
  const room = next && next.pageIndex === draft.pageIndex ? (next.box.y0 - draft.box.y1) / draft.style.size : WIDE_GAP;
  const below = room < 0 ? WIDE_GAP : Math.min(WIDE_GAP, room);
  const width = Math.max(1, around.right - around.left);
  return {
    above: above,
    aboveUsual: above - around.usualGap,
    below: below,
    aboveLessBelow: above - below,
    columnTop: Number(draft.firstInColumn),
    columnBottom: Number(draft.lastInColumn),
    centred: Number(draft.centred),
    full: Number(draft.endsFull),
    indented: Number(draft.indented),
    left: (draft.box.x0 - around.left) / width,
    width: (draft.box.x1 - draft.box.x0) / width,
    height: (draft.box.y0 - around.top) / Math.max(1, around.bottom - around.top),
    page: Math.min(FIRST_PLACES, draft.pageIndex),
    index: Math.min(FIRST_PLACES, index),
  };
}

function wordFeatures({ draft, item }: Candidate, around: Surroundings): Features {
  const { text } = draft;
  const said = normalise(text);
  const words = text.split(/\s+/);
  const share = (pattern: RegExp) => (text.match(pattern)?.length ?? 0) / text.length;
  return {
    letters: text.length,
    words: words.length,
    lines: draft.lines,
    sentence: Number(endsSentence(text)),
    colon: Number(/[:：]$/.test(text)),
    question: Number(/[?!？！]$/.test(text)),
    lowerCase: Number(/^\p{Ll}/u.test(text)),
    titleCase: words.filter((word) => /^\p{Lu}/u.test(word)).length / words.length,
    digits: share(/\d/g),
    commas: text.match(/[,，、]/g)?.length ?? 0,
    signs: share(/[^\p{L}\p{N}\s.,:;?!'’“”"()-]/gu),
    caption: Number(isCaption(text)) + Number(isNumberedCaption(text)),
    item: Number(item),
    repeats: around.texts.get(said) ?? 1,
    // An outline may list figures and tables too.
    bookmarked: Number(around.outline.has(said) && !isFloatCaption(text)),
    outline: Math.min(1, around.outline.size),
  };
}

function sideFeatures(side: string, { draft }: Candidate, other: Draft | undefined, { body }: Surroundings): Features {
  const text = textOf(other);
  const here = other !== undefined && other.pageIndex === draft.pageIndex;
  return {
    [`${side}Running`]: Number(isRunning(other)),
    [`${side}Item`]: Number(other?.kind === 'item'),
    [`${side}Table`]: Number(here && other.kind === 'table'),
    [`${side}Figure`]: Number(here && other.kind === 'figure'),
    [`${side}Edge`]: Number(!here),
    [`${side}Size`]: text ? Math.log(draft.style.size / text.style.size) : 0,
    [`${side}Alike`]: Number(text !== undefined && fullKey(text.style) === fullKey(draft.style)),
    [`${side}Bold`]: text ? Number(draft.style.bold) - Number(text.style.bold) : 0,
    [`${side}Body`]: Number(text !== undefined && styleKey(text.style) === styleKey(body)),
    [`${side}Letters`]: Math.min(RUNNING * 2, text?.text.length ?? 0),
  };
}

/** Whether the number of a candidate carries on a series of such numbers over the document. */
function readSequences(candidates: readonly Candidate[], drafts: readonly Draft[]): Map<Candidate, Features> {
  const found = new Map<Candidate, { depth: number; follows: number; followed: number; apart: number }>();
  const last = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { numbering } = candidate;
    const series = { depth: numbering?.depth ?? 0, follows: 0, followed: 0, apart: 0 };
    found.set(candidate, series);
    if (!numbering) continue;
    const key = `${numbering.scheme} ${numbering.depth} ${candidate.item}`;
    const before = last.get(key);
    last.set(key, candidate);
    if (before?.numbering?.value !== numbering.value - 1) {
      // A first number begins a series.
      if (numbering.value === 1) series.follows = 0.5;
      continue;
    }
    // Items of a list stand close together, headings have text between them.
    const apart = Math.min(FAR_APART, countBetween(drafts, before.index, candidate.index) + 1);
    series.follows = 1;
    series.apart = apart;
    const earlier = found.get(before);
    if (earlier) {
      earlier.followed = 1;
      earlier.apart = Math.max(earlier.apart, apart);
    }
  }
  return found;
}

/** The drafts between two others, without the inner list of an item: what stands further in is a part of the item. */
function countBetween(drafts: readonly Draft[], from: number, to: number): number {
  const outer = drafts[from];
  const between = drafts.slice(from + 1, to);
  if (outer?.kind !== 'item') return between.length;
  return between.filter((one) => one.kind !== 'item' || one.indent <= outer.indent).length;
}
