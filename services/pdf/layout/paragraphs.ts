// Joins a column's lines into paragraphs, list items and code by spacing, indent, style and markers.
// Pages made by hand that need its rules: paragraph-rules.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import type { CodeDraft, DraftStyle, FormulaDraft, ListItemDraft, Marker, TextDraft } from '../text/blocks.ts';
import { composeRows, type FormulaRow, foldInlineFormulas } from '../text/formulas.ts';
import { inlineHtml, type Vocabulary } from '../text/inline.ts';
import { type Chunk, chunkText, makeChunk } from '../text/lines.ts';
import { isContentsEntry, numberingDepth, readMarker } from '../text/markers.ts';

/** One printed line of a column. */
interface Line {
  words: Word[];
  box: Box;
  baseline: number;
  size: number;
  bold: boolean;
  italic: boolean;
  monospace: boolean;
  /** It is set in small capitals: `size` is that of the larger letters. */
  smallCapitals: boolean;
  /** A rule stands under all of its words. */
  underlined: boolean;
  marker: Marker | undefined;
  /** Its type is larger than the text's. */
  larger: boolean;
  /** The line is a formula that stands alone, of whatever height. */
  formula?: FormulaRow;
}

/** Type this much larger than the text's is a heading's. */
const LARGER = 1.12;

/** Lines of a column: formulas that stand alone are one line each. */
export function makeLines(chunks: readonly Chunk[], rulings: readonly Ruling[], bodySize: number): Line[] {
  const bars = rulings.filter((one) => one.horizontal);
  return composeRows(chunks, rulings).map((row) => {
    const line = makeLine(row.chunks, bodySize, bars);
    return row.formula ? { ...line, marker: undefined, formula: row.formula } : line;
  });
}

/** @param bodySize type size of the document's text: a larger or bold numbered line is a heading, no list item */
export function makeLine(chunks: readonly Chunk[], bodySize = Infinity, bars: readonly Ruling[] = []): Line {
  const chunk = makeChunk(chunks.flatMap((one) => one.words));
  markSuperscripts(chunk);
  let letters = 0;
  let bold = 0;
  let italic = 0;
  let mono = 0;
  for (const word of chunk.words) {
    const n = word.text.length;
    letters += n;
    if (word.style.bold) bold += n;
    if (word.style.italic) italic += n;
    if (word.style.monospace) mono += n;
  }
  const allBold = bold >= letters * 0.9;
  const larger = chunk.size > bodySize * LARGER;
  const read = chunk.words.length > 1 ? readMarker((chunk.words[0] as Word).text) : undefined;
  const marker = read?.style !== 'bullet' && (allBold || larger) ? undefined : read;
  const large = smallCapitalsSize(chunk);
  return {
    words: foldInlineFormulas(chunk.words, chunk.baseline, chunk.size, bars),
    box: chunk.box,
    baseline: chunk.baseline,
    size: large ?? chunk.size,
    bold: allBold,
    italic: italic >= letters * 0.9,
    monospace: mono >= letters * 0.9,
    smallCapitals: large !== undefined,
    underlined: isUnderlined(chunk, bars),
    marker,
    larger,
  };
}

/** The larger letters of small capitals are at most this many times as large as the smaller ones: more is a drop capital. */
const SMALL_CAPITALS = 1.6;

/** The size of the larger letters of a line in small capitals: a word begins with one and goes on, without a space, in smaller type on the same baseline. */
function smallCapitalsSize({ words, size }: Chunk): number | undefined {
  let large: number | undefined;
  for (const [n, word] of words.entries()) {
    const next = words[n + 1];
    const ratio = word.style.size / size;
    if (ratio < 1.15) continue;
    if (ratio > SMALL_CAPITALS || word.superscript) return undefined;
    const goesOn =
      next && next.style.size < word.style.size * 0.9 && next.spaceBefore !== true && /^\p{Lu}$/u.test(word.text);
    if (goesOn && next.box.x0 - word.box.x1 < size * 0.2) large = word.style.size;
  }
  return large;
}

/** How far under the baseline an underline stands, in type sizes. */
const UNDERLINE_DEPTH = 0.35;
/** Least share of the words' width that has the rule under it: it may leave out descenders. */
const UNDERLINE_SHARE = 0.8;

function isUnderlined(chunk: Chunk, bars: readonly Ruling[]): boolean {
  const near = bars.filter(
    (bar) =>
      bar.at > chunk.baseline &&
      bar.at < chunk.baseline + chunk.size * UNDERLINE_DEPTH &&
      bar.start > chunk.box.x0 - chunk.size &&
      bar.end < chunk.box.x1 + chunk.size,
  );
  if (near.length === 0) return false;
  let width = 0;
  let covered = 0;
  for (const { box } of chunk.words) {
    width += box.x1 - box.x0;
    covered += near.reduce((sum, bar) => sum + Math.max(0, Math.min(bar.end, box.x1) - Math.max(bar.start, box.x0)), 0);
  }
  return covered > width * UNDERLINE_SHARE;
}

/** Smaller words whose foot stands clearly above the line's are raised. */
function markSuperscripts(chunk: Chunk): void {
  for (const word of chunk.words)
    if (
      word.style.size < chunk.size * 0.85 &&
      word.box.y1 - word.style.size * 0.22 < chunk.baseline - chunk.size * 0.18
    )
      word.superscript = true;
}

interface ColumnMeasure {
  left: number;
  right: number;
  /** Usual distance of baselines, by rounded type size. */
  leading: Map<number, number>;
}

/** Distance of baselines, in type sizes, where no text shows one. */
const USUAL_LEADING = 1.35;
/** Fewer distances than this may all be those between paragraphs. */
const FEW_GAPS = 3;

function measure(lines: readonly Line[]): ColumnMeasure {
  const rights = lines.map((line) => line.box.x1).sort((a, b) => a - b);
  const lefts = lines.map((line) => line.box.x0).sort((a, b) => a - b);
  const right = rights[Math.floor((rights.length - 1) * 0.95)] ?? 0;
  const gaps = new Map<number, number[]>();
  for (const [n, line] of lines.entries()) {
    const above = lines[n - 1];
    if (!above || Math.abs(above.size - line.size) > 0.6) continue;
    const gap = line.baseline - above.baseline;
    const next = (line.words[0] as Word).box;
    // A line with room for the next word is none that wrapped: below it may be space between paragraphs.
    if (right - above.box.x1 > next.x1 - next.x0 + line.size) continue;
    if (gap < line.size * 2.6) {
      const key = Math.round(line.size);
      const list = gaps.get(key);
      if (list) list.push(gap);
      else gaps.set(key, [gap]);
    }
  }
  const leading = new Map<number, number>();
  for (const [key, list] of gaps) {
    list.sort((a, b) => a - b);
    // The lower third: space between paragraphs widens the upper ones.
    const usual = list[Math.floor((list.length - 1) * 0.33)] ?? key * 1.2;
    leading.set(key, list.length < FEW_GAPS ? Math.min(usual, key * USUAL_LEADING) : usual);
  }
  return {
    left: lefts[Math.floor(lefts.length * 0.1)] ?? 0,
    right,
    leading,
  };
}

/** Lines of code this near, in type sizes, are of one listing: a blank line may stand between. */
const CODE_GAP = 3;

type Break = 'none' | 'paragraph';

/** Groups of lines, one a paragraph. */
function groupLinesIntoParagraphs(lines: readonly Line[]): Line[][] {
  const column = measure(lines);
  const groups: Line[][] = [];
  let group: Line[] = [];
  for (const line of lines) {
    const above = group.at(-1);
    if (above && breakBetween(group, above, line, column) === 'paragraph') {
      groups.push(group);
      group = [];
    }
    group.push(line);
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

function breakBetween(group: readonly Line[], above: Line, line: Line, column: ColumnMeasure): Break {
  const tagged = breakByTags(above, line);
  if (tagged) return tagged;
  if (above.formula || line.formula) return 'paragraph';
  const size = Math.max(above.size, line.size);
  const gap = line.baseline - above.baseline;
  if (Math.abs(above.size - line.size) > size * 0.1) return 'paragraph';
  const usual = column.leading.get(Math.round(line.size)) ?? size * 1.25;
  // A blank line inside code is code (fixtures/pdf/code-blank-line.pdf).
  if (above.monospace && line.monospace && gap < size * CODE_GAP) return 'none';
  const limit = Math.max(Math.min(usual * 1.28, size * 2.4), size * 1.05);
  if (gap > limit) return 'paragraph';
  if (isItemStart(line, above, group)) return 'paragraph';
  if (isContentsEntry(chunkText(above.words.slice(-12)))) return 'paragraph';
  if (above.bold !== line.bold) {
    // A bold line over plain text is a heading; bold words that begin or end a paragraph run on to the margin.
    const shortAbove = column.right - above.box.x1 > size * 2;
    // Another size, or room below it, tells a full bold line from bold words.
    const setApart = Math.abs(above.size - line.size) > 0.3 || gap > usual * 1.12;
    // A closing quote at the end of bold words that go on below ends nothing.
    const ended = opensInBold(line) ? /[.!?:;]$/.test(above.words.at(-1)?.text ?? '') : endsSentence(above);
    if (
      above.bold
        ? shortAbove || setApart || group.length > 1 || ended
        : endsSentence(above) || column.right - above.box.x1 > size * 3
    )
      return 'paragraph';
  }
  // Lines that each begin in bold and go on in plain type: times and names of an agenda, terms of a glossary.
  if (opensInBold(above) && opensInBold(line) && !above.words.at(-1)?.style.bold) return 'paragraph';
  if (above.italic !== line.italic && column.right - above.box.x1 > size * 3) return 'paragraph';
  // A line all in italics that stops short of the margin, before a sentence in the text's face.
  if (above.italic && !line.italic && column.right - above.box.x1 > size && /^\p{Lu}/u.test(line.words[0]?.text ?? ''))
    return 'paragraph';
  // A short line all in italics after a sentence that happens to end at the margin.
  if (line.italic && !above.italic && endsSentence(above) && column.right - line.box.x1 > size) return 'paragraph';
  if (above.monospace !== line.monospace) return 'paragraph';
  // Underlined words that end short of the margin, before a line without a rule, and the first of such lines.
  if (above.underlined !== line.underlined && (column.right - above.box.x1 > size * 2 || endsSentence(above)))
    return 'paragraph';
  const first = group[0] ?? above;
  if (!first.marker) {
    const indent = line.box.x0 - above.box.x0;
    // An indented line after full lines at the margin begins a paragraph; the second line of a hanging one does not.
    if (
      indent > size * 0.8 &&
      (group.length > 1 || endsSentence(above)) &&
      above.box.x0 - column.left < size * 6 &&
      !isCentred(line, above)
    )
      return 'paragraph';
    // Back at the margin after hanging lines: the next entry.
    if (indent < -size * 0.8 && group.length > 1 && !isCentred(line, above)) return 'paragraph';
  } else if (
    // Left of its marker an item goes on only where its first line alone is indented and full.
    line.box.x0 < first.box.x0 - size * 0.5 &&
    (group.length > 1
      ? line.box.x0 < above.box.x0 - size * 0.5
      : endsSentence(above) || column.right - above.box.x1 > size * 4)
  ) {
    return 'paragraph';
  }
  // The next word would have fitted on the line above: its end was meant.
  const next = (line.words[0] as Word).box;
  const room = column.right - above.box.x1;
  if (isField(above) && isField(line) && room > next.x1 - next.x0 + size) return 'paragraph';
  // Two lines with numbers of headings are two headings.
  if (isNumberedLine(above) && isNumberedLine(line) && room > next.x1 - next.x0 + size) return 'paragraph';
  // The lines of a title, in larger type, end where its author likes.
  if (!isCentred(line, above) && !line.larger && room > next.x1 - next.x0 + size * 1.5) {
    const width = column.right - column.left;
    if (endsSentence(above) || room > width * 0.5) return 'paragraph';
    // A numbered line that ends early, over a sentence's beginning: a heading in the type of the text.
    if (group.length === 1 && isNumberedLine(above) && /^[\p{Lu}“"‘']/u.test(line.words[0]?.text ?? ''))
      return 'paragraph';
  }
  return 'none';
}

/** Lines of one tagged heading belong together, as far apart as lines of one text may be; no other line belongs to them. */
function breakByTags(above: Line, line: Line): Break | undefined {
  const [upper, lower] = [tagOf([above.words]), tagOf([line.words])];
  if (typeof upper !== 'object' && typeof lower !== 'object') return undefined;
  if (upper === undefined || lower === undefined) return undefined;
  if (upper !== lower) return 'paragraph';
  return line.baseline - above.baseline < Math.max(above.size, line.size) * TITLE_LEADING ? 'none' : 'paragraph';
}

/** Distance of the baselines of a heading, in type sizes, at most. */
const TITLE_LEADING = 2.4;
/** Share of the letters of a text that must have the tag of the text: a mark or a number may be left out. */
const TAGGED_SHARE = 0.9;

/** The tag that nearly all letters of some lines have. */
function tagOf(lines: readonly (readonly Word[])[]): Word['tag'] {
  const counts = new Map<Word['tag'], number>();
  let all = 0;
  for (const line of lines)
    for (const { tag, text } of line) {
      all += text.length;
      counts.set(tag, (counts.get(tag) ?? 0) + text.length);
    }
  for (const [tag, count] of counts) if (count >= all * TAGGED_SHARE) return tag;
  return undefined;
}

/** Most words of the name of a field. */
const FIELD_NAME_WORDS = 4;

/** Whether a line is a name and its value, as in the head of a letter: `Date: 4 May`. */
function isField(line: Line): boolean {
  return line.words.slice(0, FIELD_NAME_WORDS).some((word) => /^[\p{L}\p{N}).-]+:$/u.test(word.text));
}

/** Whether a line begins with a heading's number and its first word a capital: `2.3 Results`. */
function isNumberedLine({ words, marker }: Line): boolean {
  return !marker && numberingDepth(chunkText(words.slice(0, 2))) > 0 && /^\p{Lu}/u.test(words[1]?.text ?? '');
}

function opensInBold(line: Line): boolean {
  return line.words[0]?.style.bold === true;
}

function isCentred(a: Line, b: Line): boolean {
  const left = a.box.x0 - b.box.x0;
  const right = b.box.x1 - a.box.x1;
  return Math.abs(left) > a.size * 0.5 && Math.abs(left - right) < a.size * 0.6;
}

function endsSentence(line: Line): boolean {
  return /[.!?:;”"')\]]$/.test(line.words.at(-1)?.text ?? '');
}

function isItemStart(line: Line, above: Line, group: readonly Line[]): boolean {
  const marker = line.marker;
  if (!marker) return false;
  const first = group[0]?.marker;
  if (first?.shape === marker.shape && first.style === marker.style && marker.value === first.value + 1) return true;
  // `1.` or `a)` inside prose: only where the line above does not run on into it.
  return marker.value === 1 || endsSentence(above) || above.box.x0 < line.box.x0 - line.size * 0.8;
}

interface ParagraphContext {
  pageIndex: number;
  vocabulary: Vocabulary;
  column: Box;
  /** Maps a box of the layout frame to the displayed frame. */
  toPage: (box: Box) => Box;
}

/** The drafts of a column's text lines, top to bottom. */
export function draftParagraphs(
  lines: readonly Line[],
  context: ParagraphContext,
): (TextDraft | ListItemDraft | CodeDraft | FormulaDraft)[] {
  const groups = groupLinesIntoParagraphs(lines);
  const column = measure(lines);
  return groups.map((group, index) => {
    const above = groups[index - 1]?.at(-1);
    const below = groups[index + 1]?.[0];
    return draftGroup(group, above, below, index, groups.length, column, context);
  });
}

function draftGroup(
  group: readonly Line[],
  above: Line | undefined,
  below: Line | undefined,
  index: number,
  count: number,
  column: ColumnMeasure,
  context: ParagraphContext,
): TextDraft | ListItemDraft | CodeDraft | FormulaDraft {
  const first = group[0] as Line;
  const last = group.at(-1) as Line;
  const inner = boundingBox(group.map((line) => line.box));
  const words = group.map((line) => line.words);
  const base = { pageIndex: context.pageIndex, box: context.toPage(inner), ocr: meanConfidence(words) };
  const endsFull = column.right - last.box.x1 < last.size * 2.5;
  const lastWord = last.words.at(-1)?.text ?? '';
  if (first.formula) return { kind: 'formula', ...base, text: first.formula.text, latex: first.formula.latex };
  if (group.every((line) => line.monospace) && group.length > 1)
    return { kind: 'code', ...base, text: codeText(group) };
  const asText = (): TextDraft => draftText(group, above, index, count, column, context);
  if (!first.marker || typeof tagOf(words) === 'object' || namesNextItem(group, first.marker, below)) return asText();
  const rest = [first.words.slice(1), ...words.slice(1)];
  return {
    kind: 'item',
    ...base,
    marker: first.marker,
    indent: first.box.x0,
    html: inlineHtml(rest, context.vocabulary),
    text: plainText(rest),
    size: first.size,
    endsFull,
    lastWord,
    ...(first.marker.style === 'bullet' || group.length > MAX_HEADING_LINES ? {} : { asText: asText() }),
  };
}

/** A numbered item of more lines is no heading. */
const MAX_HEADING_LINES = 3;

function draftText(
  group: readonly Line[],
  above: Line | undefined,
  index: number,
  count: number,
  column: ColumnMeasure,
  context: ParagraphContext,
): TextDraft {
  const first = group[0] as Line;
  const last = group.at(-1) as Line;
  const inner = boundingBox(group.map((line) => line.box));
  const words = group.map((line) => line.words);
  const tag = tagOf(words);
  const text = plainText(words);
  const html = inlineHtml(words, context.vocabulary);
  return {
    kind: 'text',
    pageIndex: context.pageIndex,
    box: context.toPage(inner),
    ocr: meanConfidence(words),
    ...(tag && { tag }),
    text,
    html,
    plainHtml: html.replace(/<\/?(?:em|strong)>/g, ''),
    style: groupStyle(group, text),
    lines: group.length,
    gapAbove: above ? (first.box.y0 - above.box.y1) / first.size : Infinity,
    firstInColumn: index === 0,
    lastInColumn: index === count - 1,
    endsFull: column.right - last.box.x1 < last.size * 2.5,
    indented: first.box.x0 - (group[1]?.box.x0 ?? column.left) > first.size * 0.8,
    centred:
      Math.abs(inner.x0 - context.column.x0 - (context.column.x1 - inner.x1)) < first.size &&
      inner.x0 - context.column.x0 > first.size * 2,
    lastWord: last.words.at(-1)?.text ?? '',
    firstWord: first.words[0]?.text ?? '',
  };
}

/** `1) this and 2) that` in a sentence is text, unless the second item follows on a line of its own (fixtures/pdf/jutting-table.pdf). */
function namesNextItem(group: readonly Line[], marker: Marker, below: Line | undefined): boolean {
  if (marker.value !== 1) return false;
  const isNext = (other: Marker | undefined) =>
    other !== undefined && other.style === marker.style && other.shape === marker.shape && other.value === 2;
  return (
    !isNext(below?.marker) && group.some((line) => line.words.slice(1).some((word) => isNext(readMarker(word.text))))
  );
}

function plainText(lines: readonly (readonly Word[])[]): string {
  return lines.map(chunkText).join(' ');
}

function groupStyle(group: readonly Line[], text: string): DraftStyle {
  const longest = group.flatMap((line) => line.words).reduce((a, b) => (b.text.length > a.text.length ? b : a));
  return {
    size: group[0]?.size ?? 0,
    bold: group.every((line) => line.bold),
    italic: group.every((line) => line.italic),
    monospace: group.every((line) => line.monospace),
    capitals: /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text),
    smallCapitals: group.some((line) => line.smallCapitals),
    underlined: group.every((line) => line.underlined),
    color: longest.style.color,
    font: longest.style.font,
  };
}

export function meanConfidence(lines: readonly (readonly Word[])[]): number | null {
  let sum = 0;
  let count = 0;
  for (const line of lines)
    for (const word of line)
      if (word.confidence !== undefined) {
        sum += word.confidence;
        count++;
      }
  return count === 0 ? null : sum / count;
}

/** Code keeps its lines and its indents, counted in the width of its own characters. */
function codeText(group: readonly Line[]): string {
  const left = Math.min(...group.map((line) => line.box.x0));
  const { box, text: first } = (group[0] as Line).words[0] as Word;
  const cell = (box.x1 - box.x0) / Math.max(1, first.length);
  const pace = Math.min(
    ...group.map((line, n) => (n === 0 ? Infinity : line.baseline - (group[n - 1] as Line).baseline)),
  );
  return group
    .map((line, n) => {
      const above = group[n - 1];
      const blank = above ? Math.round((line.baseline - above.baseline) / Math.max(1, pace)) - 1 : 0;
      let text = '';
      for (const word of line.words) {
        const at = Math.min(400, Math.round((word.box.x0 - left) / cell));
        text = at > text.length ? text.padEnd(at) : word.spaceBefore && text !== '' ? `${text} ` : text;
        text += word.text;
      }
      return '\n'.repeat(Math.max(0, Math.min(2, blank))) + text;
    })
    .join('\n');
}
