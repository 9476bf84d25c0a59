// Tells headings from text by a document-wide view: the body's style, numbering, and bookmarks, which also give the levels.
// Pages and paragraphs made by hand that need its rules: heading-rules.test.ts, heading-drafts.test.ts; files that do are named where the rule stands.
import type { Bookmark } from '../source/page-model.ts';
import type { Draft, TextDraft } from '../text/blocks.ts';
import { isCaption, isNumberedCaption, numberingDepth } from '../text/markers.ts';
import { correctByTags, levelsAgree } from './tagged-headings.ts';

const MAX_LINES = 4;
const MAX_LENGTH = 220;

export interface HeadingMark {
  level: number;
  /** The document's title. */
  title: boolean;
}

interface BodyStyle {
  font: string;
  size: number;
  bold: boolean;
  italic: boolean;
}

/** What a letter of a table counts beside one of text: tables may be set smaller than the text between them. */
const TABLE_WEIGHT = 0.3;

/** The style of most of the document's characters. */
export function bodyStyle(drafts: readonly Draft[]): BodyStyle {
  const counts = new Map<string, { count: number; style: BodyStyle }>();
  for (const draft of drafts) {
    if (draft.kind !== 'text' && draft.kind !== 'item' && draft.kind !== 'table') continue;
    const style =
      draft.kind === 'text'
        ? {
            font: draft.style.font,
            size: Math.round(draft.style.size * 2) / 2,
            bold: draft.style.bold,
            italic: draft.style.italic,
          }
        : { font: '', size: Math.round(draft.size * 2) / 2, bold: false, italic: false };
    const key = `${style.size}|${style.bold}|${style.italic}`;
    const entry = counts.get(key) ?? { count: 0, style };
    // Items and tables do not say their face.
    if (entry.style.font === '') entry.style = style;
    // A page may be a heading and a table.
    entry.count += draft.kind === 'table' ? draft.letters * TABLE_WEIGHT : draft.text.length;
    counts.set(key, entry);
  }
  let best: { count: number; style: BodyStyle } | undefined;
  for (const entry of counts.values()) if (!best || entry.count > best.count) best = entry;
  return best?.style ?? { font: '', size: 10, bold: false, italic: false };
}

/** The headings of a document with their levels. */
export function markHeadings(drafts: readonly Draft[], bookmarks: readonly Bookmark[]): Map<TextDraft, HeadingMark> {
  const body = bodyStyle(drafts);
  const outline = new Map(bookmarks.map((bookmark) => [normalise(bookmark.title), bookmark.level]));
  // A bookmark names the line in a heading's type, not the same words in plain type.
  const shown = new Set(
    drafts.flatMap((draft) =>
      draft.kind === 'text' && (draft.style.bold || draft.style.size > body.size * 1.02) ? [normalise(draft.text)] : [],
    ),
  );
  const labels = figureLabels(drafts);
  const running = new Set(
    drafts.flatMap((draft) => (draft.kind === 'text' && runsOn(draft) ? [styleRank(draft.style)] : [])),
  );
  const found: TextDraft[] = [];
  drafts.forEach((draft, index) => {
    if (draft.kind !== 'text' || labels.has(draft)) return;
    if (isHeading(draft, body, outline, shown, drafts[index + 1], running) || isCentredCapitals(draft, drafts, index))
      found.push(draft);
  });
  const kept = correctByTags(dropRuns(found, drafts, body, outline), drafts, ({ style }) => styleRank(style));
  return setLevels(kept, outline, body, followsText(kept[0], drafts));
}

/** A line of capitals in the middle between paragraphs, in whatever face: a name stands under a title instead (fixtures/pdf/references.pdf). */
function isCentredCapitals(draft: TextDraft, drafts: readonly Draft[], index: number): boolean {
  const { style, text } = draft;
  const runs = (one: Draft | undefined) =>
    one?.kind === 'item' ||
    one?.kind === 'formula' ||
    (one?.kind === 'text' && !one.centred && (one.lines > 1 || /[.!?]$/.test(one.text)));
  return (
    style.capitals &&
    draft.centred &&
    text.length <= 60 &&
    !/[.,;:]$/.test(text) &&
    runs(drafts[index - 1]) &&
    runs(drafts[index + 1])
  );
}

/** Text that is set flush against a figure's left side, in several pieces of unlike length: a chart's categories (fixtures/pdf/upright-axis.pdf). */
function figureLabels(drafts: readonly Draft[]): ReadonlySet<Draft> {
  const labels = new Set<Draft>();
  for (const figure of drafts) {
    if (figure.kind !== 'figure') continue;
    const beside = drafts.filter(
      (draft): draft is TextDraft =>
        draft.kind === 'text' &&
        draft.pageIndex === figure.pageIndex &&
        draft.box.y0 > figure.box.y0 - draft.style.size &&
        draft.box.y1 < figure.box.y1 + draft.style.size &&
        draft.box.x1 <= figure.box.x0 + 1 &&
        figure.box.x0 - draft.box.x1 < draft.style.size * 3,
    );
    const ends = beside.map((draft) => draft.box.x1);
    const starts = beside.map((draft) => draft.box.x0);
    const size = beside[0]?.style.size ?? 0;
    if (
      beside.length >= 4 &&
      Math.max(...ends) - Math.min(...ends) < size * 0.3 &&
      Math.max(...starts) - Math.min(...starts) > size * 2
    )
      for (const draft of beside) labels.add(draft);
  }
  return labels;
}

/** Lines in a row that only look like headings: so many in small type, or in one larger style on a page. */
const RUN_SMALL = 4;
const RUN_LARGE = 5;

/** Lines in a row that only look like headings, with nothing under them: an address, a title page's small print, the points of a slide. */
function dropRuns(
  found: readonly TextDraft[],
  drafts: readonly Draft[],
  body: BodyStyle,
  outline: ReadonlyMap<string, number>,
): TextDraft[] {
  const marked = new Set<Draft>(found);
  const isMarked = (draft: Draft): draft is TextDraft => marked.has(draft);
  const dropped = new Set<Draft>();
  let run: TextDraft[] = [];
  const flush = () => {
    const small = run.every((draft) => draft.style.size < body.size * 1.25);
    if (run.length >= (small ? RUN_SMALL : RUN_LARGE)) for (const draft of run) dropped.add(draft);
    run = [];
  };
  for (const draft of drafts) {
    if (!isMarked(draft) || outline.has(normalise(draft.text)) || numberingDepth(draft.text) > 0) {
      flush();
      continue;
    }
    const last = run.at(-1);
    const large = draft.style.size >= body.size * 1.25;
    const wasLarge = (last?.style.size ?? 0) >= body.size * 1.25;
    const alike = last?.pageIndex === draft.pageIndex && styleRank(last.style) === styleRank(draft.style);
    if ((large || wasLarge) && !alike) flush();
    run.push(draft);
  }
  flush();
  return found.filter((draft) => !dropped.has(draft));
}

function normalise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/** Whether a text goes on for lines: what is set in its style is text, in whatever size up to half as large again as the body's (fixtures/pdf/formulas.pdf). */
function runsOn({ text, lines, style }: TextDraft): boolean {
  return text.length > 120 && (endsSentence(text) || (lines > 2 && !style.bold));
}

function endsSentence(text: string): boolean {
  return /[.,;]$/.test(text) && !/\b(?:etc|Inc|Ltd|Co)\.$/.test(text);
}

function isHeading(
  draft: TextDraft,
  body: BodyStyle,
  outline: ReadonlyMap<string, number>,
  shown: ReadonlySet<string>,
  next: Draft | undefined,
  running: ReadonlySet<string>,
): boolean {
  const { text, style } = draft;
  if (draft.lines > MAX_LINES || text.length > MAX_LENGTH || !/\p{L}{2}/u.test(text)) return false;
  if (style.monospace) return false;
  // A table's title in larger type, or in the outline, is still its caption (fixtures/pdf/loud-caption.pdf).
  if (isNumberedCaption(text)) return false;
  const ratio = style.size / body.size;
  const depth = numberingDepth(text);
  if (outline.has(normalise(text)) && (ratio > 1.02 || style.bold || !shown.has(normalise(text)))) return true;
  const runs = running.has(styleRank(style));
  if (ratio >= 1.17) return ratio >= 1.5 || !runs;
  if (isCaption(text)) return false;
  const alone = draft.gapAbove > 0.25;
  if (endsSentence(text) && depth === 0) return false;
  if (text.endsWith(':') && !style.bold) return false;
  if (style.bold && !body.bold && ratio >= 0.85) return text.length <= 160 && alone;
  if (draft.lines > 2 || !alone) return false;
  const carriesOn =
    next !== undefined && (next.kind === 'text' || next.kind === 'item') && next.pageIndex === draft.pageIndex;
  if (ratio >= 1.07 && carriesOn && draft.lines === 1 && !runs) return true;
  if (style.italic && !body.italic && carriesOn && ratio >= 0.85 && draft.gapAbove > 0.5)
    return !draft.endsFull && draft.lines === 1;
  // Capitals in the body's own face are a running head or a name as often as a heading.
  if (style.capitals && style.font !== body.font && carriesOn && ratio >= 0.8) return true;
  return (
    depth > 0 &&
    ratio >= 0.9 &&
    /^\S+\s+\p{Lu}/u.test(text) &&
    draft.lines === 1 &&
    draft.gapAbove > 0.6 &&
    text.length <= 90 &&
    carriesOn
  );
}

/** Letters before the first heading that tell a page out of the middle of a text. */
const TEXT_BEFORE = 400;

function followsText(first: TextDraft | undefined, drafts: readonly Draft[]): boolean {
  let letters = 0;
  for (const draft of drafts) {
    if (draft === first) break;
    if (draft.kind === 'text' || draft.kind === 'item') letters += draft.text.length;
  }
  return letters > TEXT_BEFORE;
}

function styleRank(style: TextDraft['style']): string {
  return `${Math.round(style.size * 2) / 2}|${style.bold ? 1 : 0}|${style.capitals ? 1 : 0}|${style.italic ? 1 : 0}`;
}

function setLevels(
  found: readonly TextDraft[],
  outline: ReadonlyMap<string, number>,
  body: BodyStyle,
  textFirst: boolean,
): Map<TextDraft, HeadingMark> {
  const marks = new Map<TextDraft, HeadingMark>();
  if (found.length === 0) return marks;
  const largest = Math.max(...found.map((draft) => draft.style.size));
  const first = found[0] as TextDraft;
  // The title: the first of the largest, near the beginning and larger than what follows.
  const titles = found.filter((draft) => draft.style.size >= largest - 0.3);
  const candidate = titles[0] as TextDraft;
  const title =
    candidate.pageIndex <= 1 &&
    // A page out of the middle of a work has no title, unless one stands out.
    (largest > body.size * 1.15 || !textFirst) &&
    (titles.length === 1 || candidate === first) &&
    (largest > body.size * 1.15 || candidate === first)
      ? candidate
      : undefined;
  const styles = new Map<string, { size: number; bold: boolean; capitals: boolean; italic: boolean; count: number }>();
  for (const draft of found) {
    if (draft === title) continue;
    const key = styleRank(draft.style);
    const entry = styles.get(key) ?? {
      size: draft.style.size,
      bold: draft.style.bold,
      capitals: draft.style.capitals,
      italic: draft.style.italic,
      count: 0,
    };
    entry.count++;
    styles.set(key, entry);
  }
  const ranks = [...styles]
    .sort(
      ([, a], [, b]) =>
        Math.round((b.size - a.size) * 2) ||
        Number(b.bold) - Number(a.bold) ||
        Number(b.capitals) - Number(a.capitals) ||
        Number(a.italic) - Number(b.italic),
    )
    .map(([key]) => key);
  const tagged = levelsAgree(found);
  for (const draft of found) {
    if (draft === title && !(tagged && typeof draft.tag === 'object')) {
      marks.set(draft, { level: 1, title: true });
      continue;
    }
    if (tagged && typeof draft.tag === 'object') {
      // An untagged title stands above the tagged headings.
      const { level } = draft.tag;
      const below = title && typeof title.tag !== 'object' ? 1 : 0;
      marks.set(draft, { level: Math.min(6, level + below), title: draft === title && level === 1 });
      continue;
    }
    const bookmarked = outline.get(normalise(draft.text));
    const depth = numberingDepth(draft.text);
    const ranked = 2 + Math.min(3, ranks.indexOf(styleRank(draft.style)));
    const level =
      bookmarked !== undefined
        ? bookmarked + (title && !outline.has(normalise(title.text)) ? 1 : 0)
        : depth > 1
          ? depth + 1
          : ranked;
    marks.set(draft, { level: Math.max(title ? 2 : 1, Math.min(6, level)), title: false });
  }
  return marks;
}
