// Measures the pieces of a page that may be columns: where their lines begin, and whether they read as prose.
import { type Box, boundingBox } from '../source/geometry.ts';

/** Width of a gutter in type sizes (columns.test.ts, a gutter is as wide as most of a letter is high). */
export const GUTTER = 0.7;

/** What the cut moves: a line chunk, or a table or figure that stays whole. */
export interface LayoutItem {
  box: Box;
  /** Lines of text it stands for; an atom counts as one. */
  words: number;
  /** Type size; 0 for an atom. */
  size: number;
  atom: boolean;
  /** Place of its first word in the content stream, and its letters; undefined where there is none. */
  order?: number;
  letters?: number;
  /** The number that it begins with, as `2.` or `2)`. */
  number?: number;
}

/** Where the lines of a column begin, and their type size. */
export interface Margin {
  x: number;
  size: number;
}

/** Left edges that several lines share, most shared first, at most twelve (columns.test.ts, a column begins at one margin). */
export function leftMargins<T extends LayoutItem>(items: readonly T[]): Margin[] {
  const edges = items.map((item) => ({ x: item.box.x0, size: item.size || 10 })).sort((a, b) => a.x - b.x);
  const margins: { x: number; size: number; count: number }[] = [];
  for (const edge of edges) {
    const last = margins.at(-1);
    if (last && edge.x - last.x <= 2.5) {
      last.count++;
      last.size = Math.max(last.size, edge.size);
    } else margins.push({ ...edge, count: 1 });
  }
  margins.shift();
  return margins
    .filter((margin) => margin.count >= 2)
    .sort((a, b) => b.count - a.count)
    .slice(0, 12);
}

export interface Side {
  box: Box;
  lines: number;
  /** Median share of the column's width that a line fills. */
  fill: number;
  wordsPerLine: number;
  atomShare: number;
}

export function readSide<T extends LayoutItem>(items: readonly T[]): Side {
  const box = boundingBox(items.map((item) => item.box));
  const width = Math.max(1, box.x1 - box.x0);
  const atoms = items.filter((item) => item.atom);
  // By rows: a justified line with wide gaps comes in pieces.
  const rows: { y: number; x0: number; x1: number; words: number }[] = [];
  for (const item of items) {
    if (item.atom) continue;
    const y = (item.box.y0 + item.box.y1) / 2;
    const row = rows.at(-1);
    if (row && Math.abs(row.y - y) < (item.box.y1 - item.box.y0) * 0.45) {
      row.x0 = Math.min(row.x0, item.box.x0);
      row.x1 = Math.max(row.x1, item.box.x1);
      row.words += item.words;
    } else rows.push({ y, x0: item.box.x0, x1: item.box.x1, words: item.words });
  }
  // By words: short lines of formulas and names do not make prose a table (fixtures/pdf/cards-in-rows.pdf).
  const fills = rows
    .flatMap((row) => Array.from<number>({ length: row.words }).fill((row.x1 - row.x0) / width))
    .sort((a, b) => a - b);
  const atomHeight = atoms.reduce((sum, item) => sum + item.box.y1 - item.box.y0, 0);
  return {
    box,
    lines: rows.length + atoms.length * 3,
    fill: fills[fills.length >> 1] ?? 1,
    wordsPerLine: rows.length === 0 ? 5 : rows.reduce((sum, row) => sum + row.words, 0) / rows.length,
    atomShare: atomHeight / Math.max(1, box.y1 - box.y0),
  };
}

export function isProse(side: Side, strict: boolean): boolean {
  if (side.atomShare > 0.5) return true;
  if (strict) return side.fill > 0.75 && side.wordsPerLine >= 4;
  return side.fill >= 0.5 && side.wordsPerLine >= 2.6;
}
