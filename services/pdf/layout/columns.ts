// Cuts a page into columns and gives its pieces in reading order: an XY-cut that is driven by gutters with prose on both sides.
// Pages made by hand that need its rules: columns.test.ts, column-order.test.ts and page-rules.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import { GUTTER, isProse, type LayoutItem, leftMargins, type Margin, readSide, type Side } from './column-sides.ts';
import { partAtSideHeads } from './side-heads.ts';

/** Lines that a column has, unless two are full (columns.test.ts, lines of a few words). */
const MIN_LINES = 3;
/** Depth of cuts within cuts. */
const MAX_DEPTH = 12;

/** Gutters looked for within one side of a gutter, one in another: newspapers have few columns more. */
const MAX_NESTED = 3;

/** One column: its items belong together from top to bottom. */
export interface Column<T extends LayoutItem> {
  items: T[];
  box: Box;
}

/** The columns of a page in reading order. */
export function cutColumns<T extends LayoutItem>(items: readonly T[]): Column<T>[] {
  return cut(
    [...items].sort((a, b) => a.box.y0 - b.box.y0),
    0,
    [],
  );
}

function column<T extends LayoutItem>(items: T[]): Column<T>[] {
  return items.length === 0 ? [] : [{ items, box: boundingBox(items.map((item) => item.box)) }];
}

/** @param known left margins of columns that stand above or below: they go on where too few lines of this piece show them (columns.test.ts, indented lines) */
function cut<T extends LayoutItem>(items: T[], depth: number, known: readonly Margin[]): Column<T>[] {
  if (items.length < 4 || depth > MAX_DEPTH) return column(items);
  const gutter = bestGutter(items, known);
  const sections = gutter ? undefined : partAtSideHeads(items);
  if (sections) return sections.flatMap(({ head, text }) => [...column(head), ...cut(text, depth + 1, known)]);
  if (!gutter) return column(items);
  const above: T[] = [];
  const below: T[] = [];
  const left: T[] = [];
  const right: T[] = [];
  for (const item of items) {
    const middle = (item.box.y0 + item.box.y1) / 2;
    if (middle < gutter.top) above.push(item);
    else if (middle > gutter.bottom) below.push(item);
    else if ((item.box.x0 + item.box.x1) / 2 < gutter.x) left.push(item);
    else right.push(item);
  }
  const bands = streamBands(left, right);
  const beside = bands.flatMap((band) => [...cut(band.left, depth + 1, []), ...cut(band.right, depth + 1, [])]);
  const margins = [...known, gutter.margin];
  return [...cut(above, depth + 1, margins), ...beside, ...cut(below, depth + 1, margins)];
}

interface Band<T extends LayoutItem> {
  left: T[];
  right: T[];
}

/** White space across both columns, in type sizes, at which a row of cards may end. */
const BAND_GAP = 0.8;
/** Share of letters that may stand elsewhere in the stream than the order supposes. */
const STRAYS = 0.15;

/**
 * Two columns are read one after the other, unless white space crosses both and the content stream, which gives each column whole, goes on below
 * it only when both columns above it are done: cards in rows, a section whose columns were evened out (fixtures/pdf/cards-in-rows.pdf).
 */
function streamBands<T extends LayoutItem>(left: T[], right: T[]): Band<T>[] {
  const whole = [{ left, right }];
  const bands: Band<T>[] = [{ left: [], right: [] }];
  const isLeft = new Set(left);
  const sorted = [...left, ...right].sort((a, b) => a.box.y0 - b.box.y0);
  let bottom = sorted[0]?.box.y1 ?? 0;
  for (const item of sorted) {
    if (item.box.y0 - bottom > (item.size || 10) * BAND_GAP) bands.push({ left: [], right: [] });
    bottom = Math.max(bottom, item.box.y1);
    const band = bands.at(-1) as Band<T>;
    (isLeft.has(item) ? band.left : band.right).push(item);
  }
  if (countsOn(left, right)) return whole;
  const rows: Band<T>[] = [];
  let open: Band<T> = { left: [], right: [] };
  bands.forEach((band, n) => {
    open = { left: [...open.left, ...band.left], right: [...open.right, ...band.right] };
    const rest = bands.slice(n + 1).flatMap((one) => [...one.left, ...one.right]);
    if (rest.length > 0 && !(precedes(open.left, open.right) && precedes([...open.left, ...open.right], rest))) return;
    rows.push(open);
    open = { left: [], right: [] };
  });
  // Lines in pairs are no cards (columns.test.ts, rows with one line on a side).
  return rows.some((band) => band.left.length > 1 && band.right.length > 1) ? rows : whole;
}

/** Whether the numbers down both columns count on by one: they tell the order better than the stream. */
function countsOn<T extends LayoutItem>(left: readonly T[], right: readonly T[]): boolean {
  const numbers = [left, right].map((side) =>
    [...side].sort((a, b) => a.box.y0 - b.box.y0).flatMap((item) => (item.number === undefined ? [] : [item.number])),
  );
  const all = numbers.flat();
  return (
    numbers.every((side) => side.length > 0) && all.every((number, n) => n === 0 || number === (all[n - 1] ?? 0) + 1)
  );
}

/** Whether the letters of some items come before those of others in the content stream. */
function precedes(before: readonly LayoutItem[], after: readonly LayoutItem[]): boolean {
  const first = new Set(before);
  const weigh = (items: readonly LayoutItem[]) => items.reduce((sum, item) => sum + (item.letters ?? 0), 0);
  const early = weigh(before);
  const late = weigh(after);
  if (late === 0) return false;
  let left = early;
  let strays = 0;
  for (const item of [...before, ...after].sort((a, b) => (a.order ?? 0) - (b.order ?? 0))) {
    if (left <= 0) break;
    const letters = item.letters ?? 0;
    if (!first.has(item)) strays += Math.min(left, letters);
    left -= letters;
  }
  return strays <= Math.min(early, late) * STRAYS;
}

interface Gutter {
  x: number;
  /** Of the column on its right. */
  margin: Margin;
  top: number;
  bottom: number;
  score: number;
}

/** The gutter that parts most lines of prose (columns.test.ts, cut first). Items are sorted by their top. */
function bestGutter<T extends LayoutItem>(
  items: readonly T[],
  known: readonly Margin[] = [],
  nested = 0,
): Gutter | undefined {
  let best: Gutter | undefined;
  for (const candidate of [...leftMargins(items), ...known]) {
    const gutter = openGutter(items, candidate, nested);
    if (gutter && (!best || gutter.score > best.score)) best = gutter;
  }
  return best;
}

/** Share of a gutter, in the least that one must have, that a table's words may jut into from either side. */
const JUT = 0.8;

function shrink(box: Box, by: number): { x0: number; x1: number } {
  const inner = Math.min(by, (box.x1 - box.x0) / 4);
  return { x0: box.x0 + inner, x1: box.x1 - inner };
}

function openGutter<T extends LayoutItem>(items: readonly T[], margin: Margin, nested: number): Gutter | undefined {
  const { x } = margin;
  const width = margin.size * GUTTER;
  let best: Gutter | undefined;
  let left: T[] = [];
  let right: T[] = [];
  let top = -Infinity;
  const close = (bottom: number) => {
    const score = columnScore(left, right, nested);
    if (score > 0 && (!best || score > best.score)) best = { x: x - width / 2, margin, top, bottom, score };
    left = [];
    right = [];
  };
  for (const item of items) {
    // A table or figure that juts out into the gutter does not cross it (fixtures/pdf/jutting-table.pdf).
    const { x0, x1 } = item.atom ? shrink(item.box, width * JUT) : item.box;
    if (x0 < x - 0.6 && x1 > x - width) {
      close(item.box.y0);
      top = Math.max(top, item.box.y1);
    } else if (x0 >= x - 0.6) right.push(item);
    else left.push(item);
  }
  close(Infinity);
  return best;
}

/** Lines that stand beside each other in prose columns, or 0 where these are no columns. */
function columnScore<T extends LayoutItem>(left: readonly T[], right: readonly T[], nested: number): number {
  const leftSide = readSide(left);
  const rightSide = readSide(right);
  if (leftSide.lines < 2 || rightSide.lines < 2) return 0;
  const shared = overlap(leftSide.box.y0, leftSide.box.y1, rightSide.box.y0, rightSide.box.y1);
  const fewer = Math.min(leftSide.lines, rightSide.lines);
  const strict = fewer < MIN_LINES;
  if (!readsAsProse(left, leftSide, strict, nested) || !readsAsProse(right, rightSide, strict, nested)) return 0;
  return shared;
}

/** Columns that still stand beside each other on a side are prose too, though no line of one fills the side
 * (fixtures/pdf/four-columns.pdf; columns.test.ts, three columns whose lines lie at different heights). */
function readsAsProse<T extends LayoutItem>(items: readonly T[], side: Side, strict: boolean, nested: number): boolean {
  if (isProse(side, strict)) return true;
  if (strict || nested >= MAX_NESTED) return false;
  const gutter = bestGutter(items, [], nested + 1);
  return gutter !== undefined;
}
