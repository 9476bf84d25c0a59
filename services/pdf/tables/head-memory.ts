// Remembers how tables were cut into columns by the words of their heads: a part after a page or column break repeats the head over rows that may tell less.
// Its rules are tested in head-memory.test.ts.
import { type ColumnCut, rowWords, type TextRow } from './alignment.ts';

/** Heads that are remembered, those that came last. */
const MOST_HEADS = 32;
/** Widths of the parts agree to this share. */
const SAME_WIDTH = 0.06;

interface KnownHead {
  text: string;
  width: number;
  /** From the table's left edge on. */
  cut: ColumnCut;
}

export class HeadMemory {
  #heads: KnownHead[] = [];

  /** The columns of the table that began with the same words, where it had more than `columns` (fixtures/pdf/table-broken-rows.pdf). */
  recall(rows: readonly TextRow[], x0: number, width: number, columns: number): ColumnCut | undefined {
    const text = headText(rows);
    const known = this.#heads.find((head) => head.text === text && Math.abs(head.width - width) < width * SAME_WIDTH);
    return known && known.cut.separators.length + 1 > columns ? shift(known.cut, x0) : undefined;
  }

  learn(rows: readonly TextRow[], x0: number, width: number, cut: ColumnCut): void {
    const text = headText(rows);
    // A head that names every column: others stand over unlike tables too.
    if (rows[0]?.segments.length !== cut.separators.length + 1) return;
    this.#heads = [{ text, width, cut: shift(cut, -x0) }, ...this.#heads].slice(0, MOST_HEADS);
  }
}

function headText(rows: readonly TextRow[]): string {
  return rowWords(rows.slice(0, 1))
    .map((word) => word.text.toLowerCase())
    .join(' ');
}

function shift({ separators, extents }: ColumnCut, by: number): ColumnCut {
  return {
    separators: separators.map((x) => x + by),
    extents: extents.map(({ x0, x1 }) => ({ x0: x0 + by, x1: x1 + by })),
  };
}
