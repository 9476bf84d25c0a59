// Finds rows whose cells are centred against each other: their lines stand beside each other at different heights, unlike lines of text.
// Its rules are tested in centred.test.ts.

import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { Chunk } from '../text/lines.ts';
import { type ColumnCut, columnAt } from './alignment.ts';
import type { ColumnLine } from './stretch.ts';

/** Lines of a table, and what parts its columns and rows. */
export interface CentredRows {
  start: number;
  /** After the last line. */
  end: number;
  cut: ColumnCut;
  /** y between the rows, in points. */
  edges: number[];
}

/** White space between rows above that between the lines of a cell, in type sizes. */
const ROW_GAP = 0.1;
/** Two lines beside each other stand at different heights where they share more and less than these parts of theirs. */
const STAGGER = { least: 0.15, most: 0.85 } as const;
/** How far the middle of a cell may be from that of its row, in type sizes. */
const OFF_MIDDLE = 0.25;
/** A cell with fewer lines than the others of its row begins so far below them, and ends so far above them, in type sizes: columns of text end alike. */
const MIN_INSET = 0.3;
/** Narrowest white space between columns, and between two words of a head that stand in two of them, in type sizes. */
const COLUMN_GAP = 0.45;
export const HEAD_GAP = 0.33;
/** Type this much larger or smaller than that of the rows is a title's or a note's. */
const OTHER_SIZE = 1.13;
/** Rows with cells at different heights that a table has at least, and rows of any kind. */
const MIN_CENTRED = 2;
const MIN_ROWS = 3;
/** A line or a row with more pieces is no row of a table. Each piece is compared with all others. */
const MOST_PIECES = 300;
/** Words of a line of text. */
const MIN_WORDS = 3;

interface Span {
  x0: number;
  x1: number;
}

/** Lines between two stretches of white space that are wider than those between the lines of a cell. */
interface Band {
  start: number;
  end: number;
  chunks: Chunk[];
  box: Box;
  size: number;
}

/** The first such rows of a block of lines. */
export function findCentredRows(lines: readonly ColumnLine[]): CentredRows | undefined {
  const staggered = lines.filter(({ chunks }, n) =>
    isStaggered(chunks, [...(lines[n - 1]?.chunks ?? []), ...(lines[n + 1]?.chunks ?? [])]),
  );
  if (staggered.length === 0) return undefined;
  // The text around the table may be set wider.
  const bands = bandsOf(lines, lineGap(staggered.flatMap((line) => line.chunks)));
  const centred = bands.filter(isCentred);
  const first = centred[0];
  if (!first || centred.length < MIN_CENTRED) return undefined;
  let gaps = gapsBetween(centred.flatMap((band) => band.chunks)).filter(
    ({ x0, x1 }) => x1 - x0 >= first.size * COLUMN_GAP,
  );
  const takes = (band: Band | undefined): boolean => {
    const left = band && sameSize(band, first) ? gaps.flatMap((gap) => leftOf(gap, band) ?? []) : [];
    if (!band || left.length < gaps.length) return false;
    // Words into the white space may be a head, which has one for each column, or a line of text.
    const narrowed = left.some(({ x0, x1 }, n) => x0 !== gaps[n]?.x0 || x1 !== gaps[n]?.x1);
    if (filledColumns(band, left) < (narrowed ? left.length + 1 : 2)) return false;
    gaps = left;
    return true;
  };
  let end = bands.indexOf(first);
  let start = end;
  while (takes(bands[end])) end++;
  while (takes(bands[start - 1])) start--;
  const rows = bands.slice(start, end);
  // Rows next to these are of the same table, which is then read with them, or not here.
  if ([bands[start - 1], bands[end]].some((band) => band && sameSize(band, first) && holdsRow(band.chunks)))
    return undefined;
  if (gaps.length === 0 || rows.length < MIN_ROWS || rows.filter(isCentred).length < MIN_CENTRED) return undefined;
  const separators = gaps.map(({ x0, x1 }) => (x0 + x1) / 2);
  const words = rows.flatMap((row) => row.chunks.flatMap((chunk) => chunk.words));
  const extents = [...separators, Infinity].map((_, column) => {
    const own = words.filter(({ box }) => columnAt(separators, (box.x0 + box.x1) / 2) === column);
    return boundingBox(own.map((word) => word.box));
  });
  return {
    start: rows[0]?.start ?? 0,
    end: rows.at(-1)?.end ?? 0,
    cut: { separators, extents },
    edges: rows.slice(1).map((row, n) => ((rows[n]?.box.y1 ?? 0) + row.box.y0) / 2),
  };
}

/** Whether some of the pieces stand beside each other, or beside some of those near them, at another height. */
function isStaggered(chunks: readonly Chunk[], near: readonly Chunk[]): boolean {
  if (chunks.length + near.length > MOST_PIECES) return false;
  const all = [...near, ...chunks];
  return chunks.some(({ box }) =>
    all.some((other) => {
      const least = Math.min(box.y1 - box.y0, other.box.y1 - other.box.y0);
      const shared = overlap(box.y0, box.y1, other.box.y0, other.box.y1);
      return isBeside(box, other.box) && shared > least * STAGGER.least && shared < least * STAGGER.most;
    }),
  );
}

function isBeside(box: Box, other: Box): boolean {
  return other.x1 < box.x0 || other.x0 > box.x1;
}

/** Whether some pieces stand beside each other, each at whatever height of its own. */
function holdsRow(chunks: readonly Chunk[]): boolean {
  if (chunks.length > MOST_PIECES) return false;
  return chunks.some(({ box }) =>
    chunks.some((other) => isBeside(box, other.box) && overlap(box.y0, box.y1, other.box.y0, other.box.y1) > 0),
  );
}

/** @param inCell white space between the lines of a cell, in points */
function bandsOf(lines: readonly ColumnLine[], inCell: number): Band[] {
  const bands: Band[] = [];
  for (const [n, { chunks, box, size }] of lines.entries()) {
    const open = bands.at(-1);
    if (open && box.y0 - open.box.y1 <= inCell + size * ROW_GAP) {
      open.end = n + 1;
      open.chunks.push(...chunks);
      open.box = boundingBox([open.box, box]);
      open.size = Math.max(open.size, size);
    } else bands.push({ start: n, end: n + 1, chunks: [...chunks], box, size });
  }
  return bands;
}

/** The white space between a line and the next of its cell, in points: the first quarter, for it is the least. */
function lineGap(chunks: readonly Chunk[]): number {
  const gaps = chunks.flatMap(({ box }, n) => {
    const below = chunks.slice(n + 1).find((other) => overlap(box.x0, box.x1, other.box.x0, other.box.x1) > 0);
    return below ? [below.box.y0 - box.y1] : [];
  });
  return gaps.sort((a, b) => a - b)[gaps.length >> 2] ?? 0;
}

/** Whether a row's cells have their middles at one height, and lines at several. */
function isCentred(band: Band): boolean {
  const gaps = gapsBetween(band.chunks);
  const middle = (band.box.y0 + band.box.y1) / 2;
  const cells = [-Infinity, ...gaps.map(({ x0 }) => x0)].map((from, n) =>
    boundingBox(band.chunks.flatMap(({ box }) => (box.x1 > from && box.x0 < (gaps[n]?.x1 ?? Infinity) ? [box] : []))),
  );
  const inset = band.size * MIN_INSET;
  return (
    cells.length >= 2 &&
    cells.some(({ y0, y1 }) => y0 - band.box.y0 >= inset && band.box.y1 - y1 >= inset) &&
    isStaggered(band.chunks, []) &&
    band.chunks.filter(isWorded).length >= 2 &&
    cells.every(({ y0, y1 }) => Math.abs((y0 + y1) / 2 - middle) <= band.size * OFF_MIDDLE)
  );
}

/** The lines of a cell of text; the parts of formulas are centred against each other too. */
function isWorded({ words }: Chunk): boolean {
  return words.filter(({ text }) => /\p{L}{2}/u.test(text)).length >= MIN_WORDS;
}

/** The white space that runs down between pieces. */
function gapsBetween(chunks: readonly Chunk[]): Span[] {
  const gaps: Span[] = [];
  let x1 = Infinity;
  for (const { box } of chunks.toSorted((a, b) => a.box.x0 - b.box.x0)) {
    if (box.x0 > x1) gaps.push({ x0: x1, x1: box.x0 });
    x1 = Math.max(x1 === Infinity ? -Infinity : x1, box.x1);
  }
  return gaps;
}

/** What the words of a row leave of the white space between two columns. */
function leftOf({ x0, x1 }: Span, { chunks, size }: Band): Span | undefined {
  const left = { x0, x1 };
  for (const { box } of chunks.flatMap((chunk) => chunk.words)) {
    if (box.x1 <= left.x0 || box.x0 >= left.x1) continue;
    // A word goes on over one edge of the space, whichever is nearer.
    if (box.x0 < left.x0) left.x0 = box.x1;
    else left.x1 = box.x0;
    if (left.x1 - left.x0 < size * HEAD_GAP) return undefined;
  }
  return left;
}

function filledColumns({ chunks }: Band, gaps: readonly Span[]): number {
  const columns = chunks.flatMap((chunk) => chunk.words.map(({ box }) => gaps.filter(({ x1 }) => box.x0 >= x1).length));
  return new Set(columns).size;
}

function sameSize(one: Band, other: Band): boolean {
  return Math.max(one.size, other.size) <= Math.min(one.size, other.size) * OTHER_SIZE;
}
