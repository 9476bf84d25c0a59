// Says what a row of a table costs by where its cells stand, while lines are added to it one by one: the reading of rows asks for every stretch of lines.
// Its rules are tested in rows.test.ts.
import type { Word } from '../source/page-model.ts';

/** Where the cells of one row stand against each other. */
type Alignment = 'top' | 'middle' | 'bottom';
export const ALIGNMENTS: readonly Alignment[] = ['top', 'middle', 'bottom'];

const COST = {
  /** A cell that is not where the alignment wants it. */
  misaligned: 0.7,
  /** A row without a cell, of which each column is its share. */
  empty: 1,
  /** A row whose first column is empty, and one with a label there. */
  noLabel: 0.6,
  label: -0.2,
} as const;

/** The columns and heights that a cell's piece on one line takes up. */
export interface Reach {
  from: number;
  to: number;
  y0: number;
  y1: number;
}

export function reachOf({ from, to, words }: { from: number; to: number; words: readonly Word[] }): Reach {
  let y0 = Infinity;
  let y1 = -Infinity;
  for (const { box } of words) {
    if (box.y0 < y0) y0 = box.y0;
    if (box.y1 > y1) y1 = box.y1;
  }
  return { from, to, y0, y1 };
}

/** A row while lines are added to it: what it costs by the places of its cells and by those it has not. */
export class OpenRow {
  readonly #tops: Float64Array;
  readonly #bottoms: Float64Array;
  #top = Infinity;
  #bottom = -Infinity;
  #size = 0;
  #filled = 0;

  constructor(columns: number) {
    this.#tops = new Float64Array(columns);
    this.#bottoms = new Float64Array(columns);
  }

  clear(): void {
    this.#tops.fill(Infinity);
    this.#bottoms.fill(-Infinity);
    this.#top = Infinity;
    this.#bottom = -Infinity;
    this.#size = 0;
    this.#filled = 0;
  }

  add(size: number, reaches: readonly Reach[]): void {
    this.#size = Math.max(this.#size, size);
    for (const { from, to, y0, y1 } of reaches) {
      if (y0 < this.#top) this.#top = y0;
      if (y1 > this.#bottom) this.#bottom = y1;
      for (let c = from; c <= to; c++) {
        if (this.#tops[c] === Infinity) this.#filled++;
        if (y0 < (this.#tops[c] ?? 0)) this.#tops[c] = y0;
        if (y1 > (this.#bottoms[c] ?? 0)) this.#bottoms[c] = y1;
      }
    }
  }

  misalignedCost(alignment: Alignment): number {
    const most = this.#size * 0.45;
    let cost = 0;
    for (let c = 0; c < this.#tops.length; c++) {
      const y0 = this.#tops[c] ?? Infinity;
      if (y0 === Infinity) continue;
      const y1 = this.#bottoms[c] ?? y0;
      const off =
        alignment === 'top'
          ? y0 - this.#top
          : alignment === 'bottom'
            ? this.#bottom - y1
            : Math.abs(y0 + y1 - this.#top - this.#bottom) / 2;
      if (off > most) cost += COST.misaligned;
    }
    return cost;
  }

  missingCost(): number {
    const columns = this.#tops.length;
    const cost = (1 - this.#filled / columns) * COST.empty;
    return cost + (this.#tops[0] === Infinity ? COST.noLabel : COST.label);
  }
}
