// Finds the consecutive lines that agree best on columns: where a table of white space begins, and where it ends.
// Its rules are tested in whitespace.test.ts.

import { type Box, boundingBox } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import { type Chunk, chunkText } from '../text/lines.ts';
import { readMarker } from '../text/markers.ts';
import {
  CELL_GAP,
  type ColumnCut,
  columnAt,
  findColumns,
  type Segment,
  segmentsOf,
  type TextRow,
  writesSpaces,
} from './alignment.ts';

/** A line of a column of the page, and the pieces that wide gaps make of it. */
export interface ColumnLine extends TextRow {
  chunks: Chunk[];
}

/** Lines that agree on columns, of those given to the search. */
export interface Stretch {
  start: number;
  /** After the last line. */
  end: number;
  lines: readonly ColumnLine[];
  cut: ColumnCut;
}

/** What a line says for a table of the columns at hand; the stretch with the greatest sum is taken. */
const VALUE = {
  /** A line with cells side by side, however few of the columns they fill. */
  row: 0.3,
  /** All columns filled, above that. */
  fill: 0.7,
  /** Words of a line that run over the white space between two columns. */
  crossing: -0.5,
  /** A piece alone, in the first column and in another, close under the line above. */
  label: -0.1,
  wrapped: -0.02,
  /** A piece alone with more white space above it than between the lines of a cell. */
  looseLabel: -0.4,
  /** A piece alone over several columns: the head of a group. */
  group: -0.5,
  /** The same below another such line: text between two tables, for rows stand below the head of a group. */
  text: -1.5,
  /** More white space above a line than the lines of this block have: two tables, or a table and text. */
  gap: -1.5,
} as const;

/** White space between the lines of one cell, in type sizes. */
const LINE_GAP = 0.55;
/** Lines up to which a cell goes on past the others of its row: those of cells in the middle of it stand between. */
const ROW_REACH = 3;
/** White space that parts two pieces of a page: so many times the usual, and so many type sizes. */
const WIDE_GAP = { usual: 1.8, sizes: 0.8 } as const;
/** Lines of prose have more words than this and take up more than this share of the width. */
const PROSE = { words: 5, width: 0.62 } as const;
/** Type this much larger or smaller than that of the rows is a heading's or a note's. */
const OTHER_SIZE = 1.13;
/** The search is made anew for the lines that it found, whose columns are clearer. */
const ROUNDS = 2;

/**
 * The lines of a column, cut into pieces; an item of a list is one piece, however far its marker stands from its text, unless it is a row of marks.
 */
export function columnLines(rows: readonly Chunk[][]): ColumnLine[] {
  const spaced = writesSpaces(rows.flatMap((chunks) => chunks.flatMap((chunk) => chunk.words)));
  const lines = rows.map((chunks) => {
    const [first] = chunks as [Chunk];
    // Gaps that justified type opened are no gaps between cells.
    const gap = chunks.length > 1 ? CELL_GAP : Infinity;
    const item = chunks.length === 2 && readMarker(chunkText(first.words)) !== undefined;
    const segments = item
      ? [joined(chunks)]
      : chunks.flatMap((chunk) =>
          segmentsOf(
            chunk.words.toSorted((a, b) => a.box.x0 - b.box.x0),
            gap,
            spaced,
          ),
        );
    return {
      chunks,
      segments,
      box: boundingBox(chunks.map((chunk) => chunk.box)),
      size: Math.max(...chunks.map((chunk) => chunk.size)),
    };
  });
  const above = nearestRows(lines);
  const below = nearestRows(lines.toReversed()).reverse();
  return lines.map((line, n) =>
    isMarkRow(line, [above[n], below[n]]) ? { ...line, segments: line.chunks.map((one) => joined([one])) } : line,
  );
}

/** A mark under or over the cells of a column, and text under or over those of the next, begin as near to these as this, in points. */
const SAME_EDGE = 2;

/** For each line, the nearest one before it that is no item. */
function nearestRows(lines: readonly ColumnLine[]): (ColumnLine | undefined)[] {
  let nearest: ColumnLine | undefined;
  return lines.map((line) => {
    const before = nearest;
    if (isNoItem(line)) nearest = line;
    return before;
  });
}

/** Whether an item's line has the cells of the nearest row, above or below, that is no item: a mark in a column of marks. */
function isMarkRow({ chunks, segments, size }: ColumnLine, others: readonly (ColumnLine | undefined)[]): boolean {
  const [mark, text] = chunks;
  if (!mark || !text || segments.length > 1) return false;
  return others.some((other) => {
    const [left, right] = other?.segments ?? [];
    if (!left || !right) return false;
    const under = mark.box.x1 > left.x0 - size && mark.box.x0 < left.x1 + size && left.x1 < text.box.x0;
    return under && Math.abs(right.x0 - text.box.x0) <= SAME_EDGE;
  });
}

const isNoItem = ({ chunks, segments }: ColumnLine) => chunks.length !== 2 || segments.length > 1;

function joined(chunks: readonly Chunk[]): Segment {
  const { x0, x1 } = boundingBox(chunks.map((chunk) => chunk.box));
  return { words: chunks.flatMap((chunk) => chunk.words), x0, x1 };
}

const isRow = (line: ColumnLine) => line.segments.length >= 2;

/** The stretch of lines that agree best on columns, or undefined where no two do. */
export function bestStretch(lines: readonly ColumnLine[]): Stretch | undefined {
  let start = lines.findIndex(isRow);
  let end = lines.findLastIndex(isRow) + 1;
  if (start < 0) return undefined;
  let found: Stretch | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const rows = lines.slice(start, end).filter(isRow);
    if (rows.length < 2) return found;
    const cut = findColumns(rows);
    if (!cut) return found;
    [start, end] = greatestSum(values(lines, rows, cut));
    if (end <= start) return found;
    start = withCornerHead(lines, start, end, cut);
    end = withWrappedEnd(lines, end, cut);
    found = { start, end, lines: lines.slice(start, end), cut };
  }
  return found;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

/** The gaps between rows are among the wider ones where cells wrap. */
function upperQuartile(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * 0.75)] ?? 0;
}

interface LineValue {
  /** What the line says for a table; no table goes over -Infinity. */
  value: number;
  /** What it costs that the table goes on over the white space above the line. */
  above: number;
}

/** What each line says for a table. */
function values(lines: readonly ColumnLine[], rows: readonly ColumnLine[], cut: ColumnCut): LineValue[] {
  const size = median(rows.map((row) => row.size));
  const gaps = lines.map((line, n) => line.box.y0 - (lines[n - 1]?.box.y1 ?? line.box.y0));
  const usual = upperQuartile(gaps.filter((gap, n) => gap > 0 && lines.slice(n - 1, n + 1).some(isRow)));
  const box = boundingBox(rows.map((row) => row.box));
  const valued = lines.map((line, n) => {
    const gap = gaps[n] ?? 0;
    const above = gap > Math.max(usual * WIDE_GAP.usual, line.size * WIDE_GAP.sizes) ? VALUE.gap : 0;
    return { above, value: isRow(line) ? rowValue(line, cut) : loneValue(line, gap, size, box, cut) };
  });
  return valued.map((own, n) =>
    own.value === VALUE.group && !isRow(lines[n] as ColumnLine) && isAcross(lines[n - 1], cut)
      ? { ...own, value: VALUE.text }
      : own,
  );
}

/** Whether a line is one piece over several columns. */
function isAcross(line: ColumnLine | undefined, { separators }: ColumnCut): boolean {
  if (!line || isRow(line)) return false;
  return columnAt(separators, line.box.x0 + 1) !== columnAt(separators, line.box.x1 - 1);
}

function rowValue({ segments }: ColumnLine, { separators }: ColumnCut): number {
  const filled = new Set<number>();
  let crossing = 0;
  for (const { x0, x1 } of segments) {
    const from = columnAt(separators, x0 + 1);
    const to = columnAt(separators, x1 - 1);
    filled.add(from);
    if (from !== to) crossing++;
  }
  if (filled.size < 2) return VALUE.crossing;
  return VALUE.row + (VALUE.fill * (filled.size - 1)) / separators.length + VALUE.crossing * crossing;
}

function loneValue(line: ColumnLine, gap: number, size: number, table: Box, cut: ColumnCut): number {
  const { x0, x1 } = line.box;
  const words = line.segments[0]?.words.length ?? 0;
  if (line.size > size * OTHER_SIZE || line.size * OTHER_SIZE < size) return -Infinity;
  const wide = words > PROSE.words && x1 - x0 > (table.x1 - table.x0) * PROSE.width;
  if (isAcross(line, cut)) return wide ? -Infinity : VALUE.group;
  if (gap > line.size * LINE_GAP) return VALUE.looseLabel;
  return columnAt(cut.separators, x0 + 1) === 0 ? VALUE.label : VALUE.wrapped;
}

/** The first and the end of the consecutive lines whose sum is greatest, and positive. */
function greatestSum(lines: readonly LineValue[]): [number, number] {
  let best: [number, number] = [0, 0];
  let most = 0;
  let sum = 0;
  let from = 0;
  for (const [n, { value, above }] of lines.entries()) {
    // White space above a table's first line costs nothing.
    if (sum + above > 0) sum += above + value;
    else {
      sum = value;
      from = n;
    }
    if (sum > most) {
      most = sum;
      best = [from, n + 1];
    }
  }
  return best;
}

/** A head and the cells of its column begin, end or have their middle as near to each other as this, in points. */
const SAME_PLACE = 2;

/**
 * The first of the lines that are the head of one column beside an empty corner: in bolder type than its cells, in their place, and as close to
 * them as rows are.
 */
function withCornerHead(lines: readonly ColumnLine[], start: number, end: number, { separators }: ColumnCut): number {
  const gapAbove = (n: number) => (lines[n]?.box.y0 ?? 0) - (lines[n - 1]?.box.y1 ?? 0);
  let widest = -Infinity;
  for (let n = start + 1; n < end; n++) widest = Math.max(widest, gapAbove(n));
  const cells = lines.slice(start, end).flatMap((line) => (isRow(line) ? line.segments : []));
  const size = lines[start]?.size ?? 0;
  for (let n = start - 1; n >= 0; n--) {
    const { box, segments, size: own } = lines[n] as ColumnLine;
    const column = columnAt(separators, box.x0 + 1);
    const inOne = segments.length === 1 && column > 0 && columnAt(separators, box.x1 - 1) === column;
    if (
      !inOne ||
      !isBold(segments[0]?.words ?? []) ||
      gapAbove(n + 1) > widest + SAME_PLACE ||
      Math.abs(own - size) > 0.5
    )
      return n + 1;
    const under = cells.filter(({ x0, x1 }) => columnAt(separators, (x0 + x1) / 2) === column);
    const level = under.filter(
      ({ words, x0, x1 }) =>
        !isBold(words) &&
        [x0 - box.x0, x1 - box.x1, (x0 + x1 - box.x0 - box.x1) / 2].some((off) => Math.abs(off) <= SAME_PLACE),
    );
    if (level.length * 2 <= under.length) return n + 1;
  }
  return 0;
}

const isBold = (words: readonly Word[]) => words.every((word) => word.style.bold);

/** After the lines that go on the cells of the last row: close under it, each in one column. */
function withWrappedEnd(lines: readonly ColumnLine[], end: number, { separators }: ColumnCut): number {
  for (let n = end; n < lines.length; n++) {
    const [above, line] = [lines[n - 1], lines[n]] as [ColumnLine, ColumnLine];
    const inOne = line.segments.every(({ x0, x1 }) => columnAt(separators, x0 + 1) === columnAt(separators, x1 - 1));
    const close = line.box.y0 - above.box.y1 <= line.size * LINE_GAP && Math.abs(line.size - above.size) < 0.5;
    const under = lines
      .slice(Math.max(0, n - ROW_REACH), n)
      .some(({ segments }) => segments.some(({ x0 }) => Math.abs(x0 - line.box.x0) < line.size));
    if (!inOne || !close || !under || isRow(line)) return n;
  }
  return lines.length;
}
