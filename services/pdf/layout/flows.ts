// Gives the pieces of a page that OCR read in OCR's own reading order, since it saw the page's white space before it saw words.
// Pieces made by hand that need its rules: flows.test.ts.
import { type Box, boundingBox, overlap, unionBox } from '../source/geometry.ts';
import type { LayoutItem } from './column-sides.ts';
import type { Column } from './columns.ts';

/** Lines of a column begin or end within this many type sizes of each other, or lie inside its width. */
const SAME_EDGE = 3;

/** Where OCR read an item; undefined for a figure. */
export interface FlowPlace {
  block: number;
  line: number;
}

/**
 * The columns of a page whose words have places, in reading order.
 * @param placeOf the first place of a piece of text or a table
 */
export function followOcr<T extends LayoutItem>(
  items: readonly T[],
  placeOf: (item: T) => FlowPlace | undefined,
): Column<T>[] {
  const placed = items
    .flatMap((item) => {
      const place = placeOf(item);
      return place ? [{ item, place }] : [];
    })
    .sort((a, b) => a.place.line - b.place.line || a.item.box.x0 - b.item.box.x0);
  const columns: Column<T>[] = [];
  let open: { column: Column<T>; last: { item: T; place: FlowPlace } } | undefined;
  for (const one of placed) {
    if (open && goesOn(open.column, open.last, one)) {
      const { column } = open;
      column.items.push(one.item);
      column.box = unionBox(column.box, one.item.box);
      open = { column, last: one };
    } else {
      open = { column: { items: [one.item], box: one.item.box }, last: one };
      columns.push(open.column);
    }
  }
  joinCutColumns(columns);
  for (const item of items) if (!placeOf(item)) insertFigure(columns, item);
  return columns;
}

/** Lines of one column stand no farther apart than this, in the distance that is usual in it. */
const SAME_PITCH = 1.3;
/** Sides of a column's lines differ by less than this, in type sizes. */
const SAME_SIDE = 2;

/**
 * OCR cuts a column where print begins beside it, and reads that first: a piece that goes on below another without white space is one column with
 * it, which is read after what stands on its left and before what stands on its right (flows.test.ts, a column that OCR cut).
 */
function joinCutColumns<T extends LayoutItem>(columns: Column<T>[]): void {
  for (let at = 0; at + 2 < columns.length; at++) {
    const upper = columns[at] as Column<T>;
    const next = columns.findIndex((lower, n) => n > at + 1 && lineUp(upper, lower));
    const lower = columns[next];
    if (!lower) continue;
    const { x0, x1 } = unionBox(lower.box, (upper.items.at(-1) as T).box);
    const slack = SAME_SIDE * (lower.items[0]?.size ?? 0);
    const above = upper.items.findLastIndex(({ box }) => box.x0 < x0 - slack || box.x1 > x1 + slack);
    const items = [...upper.items.slice(above + 1), ...lower.items];
    const joined = { items, box: boundingBox(items.map((item) => item.box)) };
    const between = columns.slice(at + 1, next);
    if (!between.every(({ box }) => overlap(box.y0, box.y1, joined.box.y0, joined.box.y1) > 0)) continue;
    const before = between.every(({ box }) => box.x1 <= x0);
    if (!before && !between.every(({ box }) => box.x0 >= x1)) continue;
    const rest = upper.items.slice(0, above + 1);
    const kept = rest.length === 0 ? [] : [{ items: rest, box: boundingBox(rest.map((item) => item.box)) }];
    columns.splice(at, next - at + 1, ...kept, ...(before ? [...between, joined] : [joined, ...between]));
  }
}

/** Whether the first line of one piece stands where the next line of the other would. */
function lineUp<T extends LayoutItem>(upper: Column<T>, lower: Column<T>): boolean {
  const [last, first] = [upper.items.at(-1), lower.items[0]];
  const previous = upper.items.at(-2);
  if (!last || !first || !previous) return false;
  const middle = ({ box }: T) => (box.y0 + box.y1) / 2;
  const pitch = middle(last) - middle(previous);
  const size = Math.max(last.size, first.size);
  const step = middle(first) - middle(last);
  if (step < pitch / SAME_PITCH || step > pitch * SAME_PITCH) return false;
  return Math.min(last.size, first.size) >= size * 0.9 && Math.abs(last.box.x0 - first.box.x0) <= size * SAME_SIDE;
}

/** Whether a piece stands below what the column has, within its width. */
function goesOn<T extends LayoutItem>(
  column: Column<T>,
  last: { item: T; place: FlowPlace },
  next: { item: T; place: FlowPlace },
): boolean {
  if (last.place.line === next.place.line) return true;
  const above = last.item.box;
  const { box } = next.item;
  if ((box.y0 + box.y1) / 2 <= (above.y0 + above.y1) / 2) return false;
  if (last.place.block === next.place.block) return true;
  if (box.y0 < column.box.y1 - (box.y1 - box.y0) * 0.5) return false;
  const size = Math.max(8, next.item.size, last.item.size) * SAME_EDGE;
  const wider = box.x0 < column.box.x0 - size || box.x1 > column.box.x1 + size;
  const narrower = column.items.length > 2 && overlap(box.x0, box.x1, column.box.x0, column.box.x1) <= 0;
  return !narrower && (!wider || column.items.length <= 2);
}

/** A figure comes after the last column that begins above it and shares its width; in a column of text it is put by height. */
function insertFigure<T extends LayoutItem>(columns: Column<T>[], item: T): void {
  const shares = (box: Box) => overlap(box.x0, box.x1, item.box.x0, item.box.x1) > 0;
  const index = columns.findLastIndex((column) => column.box.y0 <= item.box.y0 && shares(column.box));
  const column = columns[index];
  if (column && item.box.y1 <= column.box.y1 + 1) {
    column.items.push(item);
    column.box = boundingBox([column.box, item.box]);
  } else columns.splice(index + 1, 0, { items: [item], box: item.box });
}
