// Tells two tables that stand beside each other from one whose columns they seem to make: each has its own labels, and rows of its own.
// Its rules are tested in beside.test.ts.

import type { Word } from '../source/page-model.ts';
import { chunkText } from '../text/lines.ts';
import { type ColumnCut, columnAt, type TextRow, textRows } from './alignment.ts';

/** Rows that each table has at least. */
const MIN_ROWS = 3;
/** Lines of two tables are at one height in no more than this share of the shorter one. */
const SAME_HEIGHT = 0.6;
/** Baselines this close are of one row, in type sizes. */
const SAME_LINE = 0.2;
/** Rows by which one table ends before the other. */
const LONGER = 2;
/** Share of a column's cells that are of its kind: labels or figures. */
const MOST = 0.66;

interface Side {
  /** Top to bottom. */
  rows: TextRow[];
  /** Number of the first column. */
  from: number;
}

/** x between two tables whose rows were taken for those of one, or undefined where there is one. */
export function findTwoTables(rows: readonly TextRow[], { separators }: ColumnCut): number | undefined {
  const words = rows.flatMap((row) => row.segments.flatMap((segment) => segment.words));
  // Each has two columns at least.
  return separators.slice(1, -1).find((x, n) => {
    const [left, right] = sidesAt(words, x);
    if (left.length + right.length < words.length) return false;
    const sides = { left: { rows: textRows(left), from: 0 }, right: { rows: textRows(right), from: n + 2 } };
    return areTwo(sides.left, sides.right, separators);
  });
}

/** The words left and right of an x; a word over it is in neither. */
export function sidesAt(words: readonly Word[], x: number): [Word[], Word[]] {
  return [words.filter(({ box }) => box.x1 <= x), words.filter(({ box }) => box.x0 >= x)];
}

function areTwo(left: Side, right: Side, separators: readonly number[]): boolean {
  const fewer = Math.min(left.rows.length, right.rows.length);
  if (fewer < MIN_ROWS || headOf(left) === headOf(right)) return false;
  const last = cellsOf(left, right.from - 1, separators);
  const first = cellsOf(right, right.from, separators);
  if (share(last, isFigure) < MOST || share(first, isLabel) < MOST) return false;
  const size = left.rows[0]?.size ?? 10;
  const level = left.rows.filter((row) => right.rows.some((other) => near(row, other, size * SAME_LINE))).length;
  if (level < fewer * SAME_HEIGHT) return true;
  const [shorter, longer] = left.rows.length < right.rows.length ? [left, right] : [right, left];
  const end = shorter.rows.at(-1)?.box.y1 ?? 0;
  return longer.rows.filter((row) => row.box.y0 > end && row.segments.length > 1).length >= LONGER;
}

function near(one: TextRow, other: TextRow, by: number): boolean {
  return Math.abs(one.box.y1 - other.box.y1) <= by;
}

/** A table folded into halves repeats its head. */
function headOf({ rows }: Side): string {
  return chunkText(rows[0]?.segments.flatMap((segment) => segment.words) ?? []);
}

/** The texts of a column below its head. */
function cellsOf({ rows }: Side, column: number, separators: readonly number[]): string[] {
  return rows
    .slice(1)
    .flatMap(({ segments }) =>
      segments.flatMap(({ words, x0 }) => (columnAt(separators, x0 + 1) === column ? [textOf(words)] : [])),
    );
}

const textOf = (words: readonly Word[]) => words.map((word) => word.text).join(' ');
const isFigure = (text: string) => !/\p{L}{3}/u.test(text);
const isLabel = (text: string) => /\p{L}{2}/u.test(text);

function share(texts: readonly string[], test: (text: string) => boolean): number {
  return texts.filter(test).length / Math.max(1, texts.length);
}
