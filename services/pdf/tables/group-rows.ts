// Tells the rows that hold one text over all columns: the heads of groups of rows, of which a short one would else be a label with empty cells.
// Its rules are tested in group-rows.test.ts.

import type { Box } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';

/** Words of one row that stand together, and the columns that they take. */
export interface PlacedSegment {
  words: Word[];
  from: number;
  to: number;
}

/** The extent of the text in every column. */
interface Columns {
  extents: readonly { x0: number; x1: number }[];
}

/** Places this close are the same, in points. */
const SAME_PLACE = 2;

interface Lone {
  segment: PlacedSegment;
  x0: number;
  middle: number;
}

/** The rows, with the pieces that are heads of groups over all columns. */
export function spanGroupRows(
  rows: readonly { box: Box }[],
  placed: readonly PlacedSegment[][],
  { extents }: Columns,
): PlacedSegment[][] {
  const last = extents.length - 1;
  const first = placed.findIndex((row) => row.length >= 2);
  const x0 = Math.min(...extents.map((extent) => extent.x0));
  const middle = (x0 + Math.max(...extents.map((extent) => extent.x1))) / 2;
  const lone = placed.map((segments, n): Lone | undefined => {
    const [segment] = segments;
    const { box } = rows[n] as { box: Box };
    return n > first && segment && segments.length === 1
      ? { segment, x0: box.x0, middle: (box.x0 + box.x1) / 2 }
      : undefined;
  });
  // Text that runs over the space between two columns is of no one column; it stands where the row begins, or in its middle.
  const over = lone.filter(
    (one) =>
      one !== undefined &&
      one.segment.to > one.segment.from &&
      (one.segment.from === 0 || Math.abs(one.middle - middle) <= SAME_PLACE),
  );
  if (over.length === 0) return [...placed];
  const label = styleOf(placed.find((row, n) => n > first && row.length >= 2)?.[0]);
  return placed.map((segments, n) => {
    const one = lone[n];
    const spans = over.some(
      (other) => one === other || (one && other && isAlike(one, other) && styleOf(one.segment) !== label),
    );
    return spans ? segments.map((segment) => ({ ...segment, from: 0, to: last })) : segments;
  });
}

function isAlike(one: Lone, other: Lone): boolean {
  const same = Math.abs(one.x0 - other.x0) <= SAME_PLACE || Math.abs(one.middle - other.middle) <= SAME_PLACE;
  return same && styleOf(one.segment) === styleOf(other.segment);
}

function styleOf(segment: PlacedSegment | undefined): string {
  const style = segment?.words[0]?.style;
  return style ? [style.bold, style.italic, style.size.toFixed(1)].join() : '';
}
