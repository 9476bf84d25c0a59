// Continues the column lines of a drawn head through a body that has none, where its words leave them free.
// Its rules are tested in ruled.test.ts.

import { boundingBox } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { type TextRow, textRows } from './alignment.ts';

/** Lines cross if they miss each other by no more than this, in points. */
export const CROSS = 3;
/** Lines closer than this are one (double rules, a cell's border on both sides). */
export const SAME = 3.5;
/** Share of the lines of text that have text on both sides of a line at least, and of those that run over it at most. */
const PARTED = 0.5;
const CROSSED = 0.25;
/** Text reaches over a line by more than this, in points, where it runs over it. */
const OVER = 2;

/** The level line below a drawn head that closes a body without column lines, and the head's lines through the body. */
export function closeOpenBody(
  head: readonly Ruling[],
  alone: readonly Ruling[],
  rulings: readonly Ruling[],
  words: readonly Word[],
): Ruling[] {
  const level = head.filter((line) => line.horizontal);
  const upright = head.filter((line) => !line.horizontal);
  if (level.length < 2 || upright.length < 3) return [];
  const x0 = Math.min(...level.map((line) => line.start));
  const x1 = Math.max(...level.map((line) => line.end));
  const top = Math.max(...level.map((line) => line.at), ...upright.map((line) => line.end));
  const same = ({ start, end }: Ruling) => Math.abs(start - x0) <= SAME && Math.abs(end - x1) <= SAME;
  const others = rulings.filter(
    (line) => !line.horizontal && line.start > top + CROSS && line.at > x0 + CROSS && line.at < x1 - CROSS,
  );
  const floor = Math.min(Infinity, ...others.map((line) => line.start));
  const closing = alone
    .filter((line) => same(line) && line.at > top + CROSS && line.at < floor)
    .sort((a, b) => a.at - b.at);
  const lines = upright.filter((line) => line.end > top - CROSS && line.at > x0 + CROSS && line.at < x1 - CROSS);
  let body: Ruling[] = [];
  let last = top;
  for (const [n, closer] of closing.entries()) {
    const band = textRows(words.filter((word) => isBetween(word, x0, x1, last, closer.at)));
    const all = textRows(words.filter((word) => isBetween(word, x0, x1, top, closer.at)));
    last = closer.at;
    const parted = (rows: readonly TextRow[]) =>
      rows.filter((row) => lines.some(({ at }) => hasBothSides(row, at, x0, x1))).length;
    const crossed = all.filter((row) => lines.some(({ at }) => runsOver(row, at))).length;
    if (parted(band) === 0 || parted(all) < all.length * PARTED || crossed > all.length * CROSSED) continue;
    const sides = [x0, x1].map((at) => upTo(at, top, closer.at));
    body = [...closing.slice(0, n + 1), ...sides, ...lines.flatMap((line) => around(all, line.at, top, closer.at))];
  }
  return body;
}

/** The lines between columns that are drawn above some rows only, continued through those rows. */
export function continueColumnLines(
  xs: readonly number[],
  ys: readonly number[],
  drawn: (line: number, row: number) => boolean,
  words: readonly Word[],
): Ruling[] {
  const added: Ruling[] = [];
  for (let n = 1; n + 1 < xs.length; n++) {
    const from = ys.findIndex((_, row) => row > 0 && drawn(n, row - 1) && !drawn(n, row));
    if (from < 0 || from + 1 >= ys.length) continue;
    const [x, left, right, top, bottom] = [xs[n], xs[n - 1], xs[n + 1], ys[from], ys.at(-1)] as [
      number,
      number,
      number,
      number,
      number,
    ];
    const rows = textRows(words.filter((word) => isBetween(word, xs[0] ?? 0, xs.at(-1) ?? 0, top, bottom)));
    const parted = rows.filter((row) => hasBothSides(row, x, left, right)).length;
    const crossed = rows.filter((row) => runsOver(row, x)).length;
    if (rows.length > 0 && parted >= rows.length * PARTED && crossed <= rows.length * CROSSED)
      added.push(...around(rows, x, top, bottom));
  }
  return added;
}

function isBetween({ box }: Word, x0: number, x1: number, y0: number, y1: number): boolean {
  const x = (box.x0 + box.x1) / 2;
  const y = (box.y0 + box.y1) / 2;
  return x > x0 && x < x1 && y > y0 && y < y1;
}

function hasBothSides(row: TextRow, x: number, left: number, right: number): boolean {
  const middles = row.segments.map((segment) => (segment.x0 + segment.x1) / 2);
  return middles.some((at) => at > left && at < x) && middles.some((at) => at > x && at < right);
}

function runsOver(row: TextRow, x: number): boolean {
  return row.segments.some((segment) => segment.x0 < x - OVER && segment.x1 > x + OVER);
}

/** A column line, left out at the lines of text that run over it. */
function around(rows: readonly TextRow[], x: number, top: number, bottom: number): Ruling[] {
  const over = rows.filter((row) => runsOver(row, x));
  const gaps = over.map((row) => boundingBox(row.segments.flatMap((one) => one.words.map((word) => word.box))));
  const ends = [top, ...gaps.flatMap(({ y0, y1 }) => [y0, y1]), bottom];
  return ends.flatMap((y, n) => (n % 2 === 0 ? [upTo(x, y, ends[n + 1] ?? y)] : []));
}

function upTo(at: number, start: number, end: number): Ruling {
  return { horizontal: false, at, start, end, thickness: 0, color: 0 };
}
