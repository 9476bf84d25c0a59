// Finds side heads, which stand in a narrow column left of the text: each is read before the paragraph that begins beside it.
// Pages made by hand that need its rules: side-heads.test.ts.
import { boundingBox, overlap } from '../source/geometry.ts';
import { GUTTER, isProse, type LayoutItem, leftMargins, readSide } from './column-sides.ts';

/** From the left edge of the heads to that of the text, in type sizes: marks of lists stand nearer. */
const MIN_WIDTH = 5;
/** The column of heads is narrower than the text by this factor. */
const MAX_WIDTH = 0.6;
/** Lines of one head. */
const MAX_LINES = 4;
/** Lines of all heads, as a share of the lines of the text: terms beside their meanings are more. */
const MAX_SHARE = 1 / 3;
/** White space between lines of one head, in type sizes. */
const LINE_GAP = 0.9;
/** A head stands at most this far under the top of its paragraph, in type sizes: a frame or space may be around it. */
const MAX_DROP = 3;
/** More than the usual step from line to line, by this factor, parts paragraphs. */
const PARAGRAPH_STEP = 1.15;
/** A line that ends this share of the width before the others is a paragraph's last. */
const SHORT = 0.15;
/** Heights agree to this, in type sizes. */
const SAME_HEIGHT = 0.5;

interface Section<T> {
  head: T[];
  text: T[];
}

/** The text from one side head to the next; undefined where there are none. @param items sorted by their top */
export function partAtSideHeads<T extends LayoutItem>(items: readonly T[]): Section<T>[] | undefined {
  for (const { x, size } of leftMargins(items)) {
    const heads = sideHeads(items, x, size);
    const starts = heads && headedLines(items, heads, x, size);
    if (starts) return sections(items, heads, starts);
  }
  return undefined;
}

/** Groups of lines that end before the margin and have text beside them. */
function sideHeads<T extends LayoutItem>(items: readonly T[], x: number, size: number): T[][] | undefined {
  const text = items.filter((item) => item.box.x0 >= x - 0.6);
  const groups: T[][] = [];
  for (const item of items) {
    if (item.atom || item.box.x1 > x - size * GUTTER) continue;
    const group = groups.at(-1);
    const bottom = Math.max(...(group ?? []).map((one) => one.box.y1));
    if (group && item.box.y0 - bottom < size * LINE_GAP) group.push(item);
    else groups.push([item]);
  }
  const heads = groups.filter((group) => {
    const box = boundingBox(group.map((item) => item.box));
    return text.some((item) => overlap(item.box.y0, item.box.y1, box.y0, box.y1) > 0);
  });
  const left = heads.flat();
  if (left.length === 0) return undefined;
  const top = Math.min(...left.map((item) => item.box.y0)) - size * MAX_DROP;
  const beside = readSide(text.filter((item) => item.box.y0 >= top));
  const column = boundingBox(left.map((item) => item.box));
  const width = x - column.x0;
  const lines = heads.map((head) => readSide(head).lines);
  const fits =
    width > size * MIN_WIDTH &&
    width < (beside.box.x1 - x) * MAX_WIDTH &&
    heads.every((head) => head.every((item) => item.words > 0)) &&
    lines.every((count) => count <= MAX_LINES) &&
    lines.reduce((sum, count) => sum + count, 0) <= beside.lines * MAX_SHARE &&
    isProse(beside, false);
  return fits ? heads : undefined;
}

/** The first line of each head's paragraph; undefined where one stands beside the inner lines of a paragraph. */
function headedLines<T extends LayoutItem>(
  items: readonly T[],
  heads: readonly (readonly T[])[],
  x: number,
  size: number,
): T[] | undefined {
  const text = items.filter((item) => item.box.x0 >= x - 0.6);
  const edge = Math.max(...text.map((item) => item.box.x1));
  const steps = text.slice(1).map((item, n) => item.box.y0 - (text[n]?.box.y0 ?? 0));
  const usual = steps.filter((step) => step > size * SAME_HEIGHT).sort((a, b) => a - b);
  const step = usual[usual.length >> 1] ?? size;
  const begins = text.filter((item, n) => {
    const before = text[n - 1];
    if (!before || before.atom || item.atom) return true;
    const down = item.box.y0 - before.box.y0;
    if (down < size * SAME_HEIGHT) return false;
    return down > step * PARAGRAPH_STEP || before.box.x1 < edge - (edge - x) * SHORT || item.box.x0 > x + size;
  });
  const starts = heads.map((head) => {
    const top = Math.min(...head.map((item) => item.box.y0));
    const start = begins.filter((item) => item.box.y0 < top + size * SAME_HEIGHT).at(-1);
    return start && top - start.box.y0 < size * MAX_DROP ? start : undefined;
  });
  return starts.every((start) => start !== undefined) ? starts : undefined;
}

function sections<T extends LayoutItem>(
  items: readonly T[],
  heads: readonly T[][],
  starts: readonly LayoutItem[],
): Section<T>[] {
  const apart = new Set(heads.flat());
  const found: Section<T>[] = [{ head: [], text: [] }];
  for (const item of items) {
    if (apart.has(item)) continue;
    starts.forEach((start, n) => {
      if (start === item) found.push({ head: heads[n] ?? [], text: [] });
    });
    found.at(-1)?.text.push(item);
  }
  return found;
}
