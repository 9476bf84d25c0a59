// Reads rows of text as a grid by the white space that runs down between their columns.
// Its rules are tested in alignment.test.ts, and with whole pages in ../layout/page.test.ts.

import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import type { TableGrid } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { groupRows } from '../text/lines.ts';
import { readMarker } from '../text/markers.ts';
import { buildGrid, type RawCell } from './grid.ts';
import { type PlacedSegment, spanGroupRows } from './group-rows.ts';
import { groupLinesIntoRows, holdsStackedRows } from './rows.ts';

/** Words of one row closer than this, in type sizes, belong to one cell. */
export const CELL_GAP = 0.5;
/** Narrowest white space between columns. */
const COLUMN_GAP = 0.45;

/** Words of one row that stand together. */
export interface Segment {
  words: Word[];
  x0: number;
  x1: number;
}

export interface TextRow {
  segments: Segment[];
  box: Box;
  size: number;
}

/** Rows of words, top to bottom, cut into segments at wide gaps. */
export function textRows(words: readonly Word[], gap = CELL_GAP, spaced = false): TextRow[] {
  return groupRows(words).map((row) => textRow(row, gap, spaced));
}

/** All words of rows, row by row. */
export function rowWords(rows: readonly TextRow[]): Word[] {
  return rows.flatMap((row) => row.segments.flatMap((segment) => segment.words));
}

/** All lines of a stretch of a table as one row: what stands one above the other is of one cell. */
export function stackedRow(words: readonly Word[]): TextRow {
  return textRow(words.toSorted((a, b) => a.box.x0 - b.box.x0));
}

/** @param words from left to right */
function textRow(words: readonly Word[], gap = CELL_GAP, spaced = false): TextRow {
  // A stretch of a hostile page may hold more words than a call takes arguments.
  const size = words.reduce((most, word) => Math.max(most, word.style.size), 0);
  return { segments: segmentsOf(words, gap, spaced), box: boundingBox(words.map((word) => word.box)), size };
}

/** Gap between two words that no space of the file parts, in type sizes, where the file writes its spaces: two cells. */
const UNSPACED_GAP = 0.25;
/** Gaps of this width, in type sizes, are those between words; so many of them have a space where a file writes its spaces. */
const WORD_SPACE = { least: 0.15, most: 0.6, share: 0.8 } as const;

/** Whether the file writes the spaces between words, and does not leave them to the reader. */
export function writesSpaces(words: readonly Word[]): boolean {
  let spaced = 0;
  let all = 0;
  for (const [n, word] of words.entries()) {
    const previous = words[n - 1];
    if (!previous || Math.abs(previous.baseline - word.baseline) > 1) continue;
    const gap = (word.box.x0 - previous.box.x1) / word.style.size;
    if (gap < WORD_SPACE.least || gap > WORD_SPACE.most) continue;
    all++;
    if (word.spaceBefore === true) spaced++;
  }
  return spaced > all * WORD_SPACE.share;
}

/** Cells in type of one pitch are further apart than this many letters: a space is one of them. */
const PITCH_GAP = 1.5;
/** Letters of one pitch differ in width by no more than this share. */
const SAME_PITCH = 0.02;

/** The width of each letter where all on the line have one, as typewriters and listings do; 0 in other type. */
function pitchOf(words: readonly Word[]): number {
  let least = Infinity;
  let most = 0;
  let lettered = false;
  for (const { text, box } of words) {
    const width = (box.x1 - box.x0) / text.length;
    least = Math.min(least, width);
    most = Math.max(most, width);
    lettered ||= /\p{L}{3}/u.test(text);
  }
  return lettered && words.length > 1 && most - least < most * SAME_PITCH ? least : 0;
}

/** Scripts that are written without spaces: a gap there comes from a change of type. */
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef]/u;

/**
 * The pieces of a line: words further apart than a gap, and words apart without a space where the file writes its spaces.
 * @param words from left to right
 * @param gap in type sizes
 */
export function segmentsOf(words: readonly Word[], gap: number, spaced: boolean): Segment[] {
  const size = words.reduce((most, word) => Math.max(most, word.style.size), 0);
  const segments: Segment[] = [];
  const widest = Math.max(size * gap, pitchOf(words) * PITCH_GAP);
  for (const word of words) {
    const open = segments.at(-1);
    const last = open?.words.at(-1);
    const joined = UNSPACED_SCRIPT.test(`${last?.text}${word.text}`) || (last && readMarker(last.text));
    const cells = spaced && word.spaceBefore === null && !joined;
    const limit = cells ? Math.min(widest, size * UNSPACED_GAP) : widest;
    if (open && word.box.x0 - open.x1 < limit) {
      open.words.push(word);
      open.x1 = Math.max(open.x1, word.box.x1);
    } else segments.push({ words: [word], x0: word.box.x0, x1: word.box.x1 });
  }
  return segments;
}

/** Share of segments, first column aside, that are figures. */
export function numericShare(rows: readonly TextRow[]): number {
  const segments = rows.flatMap((row) => row.segments.slice(1));
  const numeric = segments.filter((segment) =>
    /^[^\p{L}]*\d[^\p{L}]*%?$|^[-–—.]+$/u.test(segment.words.map((word) => word.text).join('')),
  ).length;
  return numeric / Math.max(1, segments.length);
}

export interface ColumnCut {
  /** Middles of the white stretches, left to right. */
  separators: number[];
  /** Extent of the text in every column. */
  extents: { x0: number; x1: number }[];
}

/** The columns that most rows agree on, or undefined where there are fewer than two. */
export function findColumns(rows: readonly TextRow[]): ColumnCut | undefined {
  const most = Math.max(...rows.map((row) => row.segments.length));
  if (most < 2) return undefined;
  const telling = rows.filter((row) => row.segments.length >= Math.max(2, most * 0.5));
  const size = telling.map((row) => row.size).sort((a, b) => a - b)[telling.length >> 1] ?? 10;
  const stretches = whiteStretches(telling, 0, size);
  // A head that spans columns hides the white space between them: a few rows may cross it where most have text on both sides.
  if (telling.length >= 5)
    for (const stretch of whiteStretches(telling, Math.max(1, Math.floor(telling.length * 0.15)), size))
      if (
        !stretches.some((known) => overlap(known.x0, known.x1, stretch.x0, stretch.x1) > -1) &&
        parts(telling, (stretch.x0 + stretch.x1) / 2, 0.6)
      )
        stretches.push(stretch);
  for (const row of rows) narrow(stretches, row);
  const separators = withoutHalves(
    telling,
    stretches
      .map((stretch) => (stretch.x0 + stretch.x1) / 2)
      .filter((x) => parts(telling, x, 0.2))
      .sort((left, right) => left - right),
  );
  const first = Math.min(...telling.map((row) => row.box.x0));
  const labels = rows.filter((row) => row.box.x1 < first - size * COLUMN_GAP);
  // Labels with nothing beside them, as in a form to fill in, are left of all that tells columns.
  if (labels.length >= 2) separators.unshift((first + Math.max(...labels.map((row) => row.box.x1))) / 2);
  if (separators.length === 0) return undefined;
  const extents = Array.from({ length: separators.length + 1 }, () => ({ x0: Infinity, x1: -Infinity }));
  for (const row of telling)
    for (const segment of row.segments) {
      const column = columnAt(separators, segment.x0);
      if (columnAt(separators, segment.x1) !== column) continue;
      const extent = extents[column] as { x0: number; x1: number };
      extent.x0 = Math.min(extent.x0, segment.x0);
      extent.x1 = Math.max(extent.x1, segment.x1);
    }
  return { separators, extents };
}

/** The lines of a label that wraps have no cell beside them to show how far the label's column reaches. */
function narrow(stretches: { x0: number; x1: number }[], row: TextRow): void {
  for (const segment of row.segments)
    for (const stretch of stretches)
      if (segment.x0 < stretch.x0 && segment.x1 > stretch.x0 && segment.x1 < stretch.x1 - 1) stretch.x0 = segment.x1;
}

/**
 * Without the separators on whose two sides no row has text at once, the closest first: heads at the left of their columns and figures at
 * the right are one column.
 */
function withoutHalves(rows: readonly TextRow[], separators: readonly number[]): number[] {
  const kept = [...separators];
  const isHalf = (x: number, n: number) => {
    const left = kept[n - 1] ?? -Infinity;
    const right = kept[n + 1] ?? Infinity;
    const before = rows.filter((row) => row.segments.some((s) => s.x0 >= left && s.x1 <= x));
    return !before.some((row) => row.segments.some((s) => s.x0 >= x && s.x1 <= right));
  };
  const gapAt = (x: number) => {
    const segments = rows.flatMap((row) => row.segments);
    const before = Math.max(...segments.map((s) => (s.x1 <= x ? s.x1 : -Infinity)));
    return Math.min(...segments.map((s) => (s.x0 >= x ? s.x0 : Infinity))) - before;
  };
  for (;;) {
    const [least] = kept.filter(isHalf).sort((a, b) => gapAt(a) - gapAt(b));
    if (least === undefined) return kept;
    kept.splice(kept.indexOf(least), 1);
  }
}

/** Stretches of x, between the first text and the last, that at most `tolerance` rows cross. */
function whiteStretches(rows: readonly TextRow[], tolerance: number, size: number): { x0: number; x1: number }[] {
  const events: { x: number; step: number }[] = [];
  for (const row of rows)
    for (const segment of row.segments) events.push({ x: segment.x0, step: 1 }, { x: segment.x1, step: -1 });
  events.sort((a, b) => a.x - b.x);
  const stretches: { x0: number; x1: number }[] = [];
  let covering = 0;
  let openAt = Infinity;
  for (const { x, step } of events) {
    covering += step;
    if (covering <= tolerance) openAt = Math.min(openAt, x);
    else {
      if (x - openAt >= size * COLUMN_GAP) stretches.push({ x0: openAt, x1: x });
      openAt = Infinity;
    }
  }
  return stretches;
}

/** Whether enough rows have text on both sides of `x`. */
export function parts(rows: readonly TextRow[], x: number, share: number): boolean {
  let both = 0;
  for (const row of rows) if (row.segments.some((s) => s.x1 <= x) && row.segments.some((s) => s.x0 >= x)) both++;
  return both >= Math.max(1, rows.length * share);
}

export function columnAt(separators: readonly number[], x: number): number {
  let column = 0;
  while (column < separators.length && x > (separators[column] ?? 0)) column++;
  return column;
}

/** A row's words by columns; what runs over a separator spans (alignment.test.ts: words of a piece). */
export function placeRow(row: TextRow, cut: ColumnCut, rules: readonly Ruling[]): PlacedSegment[] {
  const placed: PlacedSegment[] = [];
  for (const segment of row.segments) {
    let open: PlacedSegment | undefined;
    for (const word of segment.words) {
      // A word's own reach, shortened a little: a hair over the middle is no span.
      const from = columnAt(cut.separators, word.box.x0 + 1);
      const to = columnAt(cut.separators, word.box.x1 - 1);
      if (open && from <= open.to + 1) {
        open.words.push(word);
        open.to = Math.max(open.to, to);
      } else {
        open = { words: [word], from, to };
        placed.push(open);
      }
    }
  }
  return placed.map((one) => widen(one, placed, row, cut, rules));
}

/** A head that is centred over several columns spans them, as a rule under it or its own reach tells. */
function widen(
  one: PlacedSegment,
  all: readonly PlacedSegment[],
  row: TextRow,
  cut: ColumnCut,
  rules: readonly Ruling[],
): PlacedSegment {
  const x0 = Math.min(...one.words.map((word) => word.box.x0));
  const x1 = Math.max(...one.words.map((word) => word.box.x1));
  const rule = rules.find(
    (line) =>
      line.at > row.box.y1 - row.size * 0.4 &&
      line.at < row.box.y1 + row.size * 0.9 &&
      overlap(line.start, line.end, x0, x1) > (x1 - x0) * 0.6,
  );
  let { from, to } = one;
  if (rule) {
    cut.extents.forEach((extent, column) => {
      if (overlap(rule.start, rule.end, extent.x0, extent.x1) > (extent.x1 - extent.x0) * 0.5) {
        from = Math.min(from, column);
        to = Math.max(to, column);
      }
    });
  }
  // Never over a neighbour.
  for (const other of all) {
    if (other.to < one.from) from = Math.max(from, other.to + 1);
    if (other.from > one.to) to = Math.min(to, other.from - 1);
  }
  return { ...one, from, to };
}

/** How lines of text make up the rows of a table. */
interface RowBands {
  /** y of lines or shading edges that part rows; empty where only spacing tells. */
  edges: number[];
  /** Every row has its own band. */
  rowRules: boolean;
}

/** Groups of consecutive text rows, one a table row. */
function joinWrapped(
  rows: readonly TextRow[],
  placed: readonly PlacedSegment[][],
  columns: number,
  bands: RowBands,
): number[][] {
  const numbers = rows.map((row) => {
    const y = (row.box.y0 + row.box.y1) / 2;
    let n = 0;
    while (n < bands.edges.length && y > (bands.edges[n] ?? 0)) n++;
    return n;
  });
  const lines = rows.map((row, n) => ({ cells: placed[n] ?? [], box: row.box, size: row.size }));
  const read = groupLinesIntoRows(lines, columns, numbers);
  if (!bands.rowRules || holdsStackedRows(lines, numbers)) return read;
  const groups: number[][] = [];
  for (const group of read) {
    const band = numbers[group[0] ?? 0];
    const open = groups.at(-1);
    if (open && band === numbers[open[0] ?? 0]) open.push(...group);
    else groups.push(group);
  }
  return groups;
}

/** The grid of aligned rows, or undefined where they do not make one. */
export function readAligned(
  rows: readonly TextRow[],
  bands: RowBands,
  rules: readonly Ruling[],
  vocabulary: Vocabulary,
  known?: ColumnCut,
): { grid: TableGrid; cut: ColumnCut } | undefined {
  const cut = known ?? findColumns(rows);
  return cut && { grid: readCut(rows, cut, bands, rules, vocabulary), cut };
}

/** The grid of rows whose columns are known. */
export function readCut(
  rows: readonly TextRow[],
  cut: ColumnCut,
  bands: RowBands,
  rules: readonly Ruling[],
  vocabulary: Vocabulary,
): TableGrid {
  const placed = spanGroupRows(
    rows,
    rows.map((row) => placeRow(row, cut, rules)),
    cut,
  );
  const columns = cut.separators.length + 1;
  const groups = joinWrapped(rows, placed, columns, bands);
  const cells: RawCell[] = [];
  groups.forEach((group, row) => {
    const spans = mergeSpans(group.flatMap((n) => placed[n] ?? []));
    let column = 0;
    for (const span of spans) {
      for (; column < span.from; column++) cells.push({ row, column, rowspan: 1, colspan: 1, words: [] });
      cells.push({ row, column: span.from, rowspan: 1, colspan: span.to - span.from + 1, words: span.words });
      column = span.to + 1;
    }
    for (; column < columns; column++) cells.push({ row, column, rowspan: 1, colspan: 1, words: [] });
  });
  return buildGrid(cells, groups.length, columns, vocabulary, 'open');
}

/** Segments of a table row's lines that share columns are one cell. */
function mergeSpans(segments: readonly PlacedSegment[]): PlacedSegment[] {
  const sorted = [...segments].sort((a, b) => a.from - b.from);
  const merged: PlacedSegment[] = [];
  for (const segment of sorted) {
    const open = merged.at(-1);
    if (open && segment.from <= open.to) {
      open.to = Math.max(open.to, segment.to);
      open.words = [...open.words, ...segment.words];
    } else merged.push({ ...segment });
  }
  return merged;
}
