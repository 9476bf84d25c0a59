// Finds the lines of a text that the engine lost or mixed up: rows of ink between, above or below lines of a block that it read well.
import type { PixelBox } from '#shared/contract/jobs.ts';
import { baselineOf } from './drop-caps.ts';
import type { ReadLine } from './engine.ts';
import { sureness } from './patches.ts';
import type { GreyImage } from './pixels.ts';

/** Mean confidence of a line below which it was not read. */
const DOUBT = 0.7;
/** A word this much higher than its line's letters reaches into another line; what it says is believed only where it is sure. */
const TALL = 1.9;
const TALL_SURE = 0.9;
/** A word this much higher is no word of that line at all. */
const REACHES = 3;
/** Lines that a block must have to be measured by them. */
const MEASURED = 2;
/** Where letters end above and below the baseline, in the height of ascenders. */
const ABOVE = 1.15;
const BELOW = 0.4;
/** The body of a row of letters, in the same. */
const BODY = [0.35, 1.15] as const;
/** Distances of lines at which a text goes on. */
const GOES_ON = 1.5;
/** Share of a row's ink, at its fullest, that still is its body; and of the width, that is ink at all. */
const FULL = 0.4;
const INKED = 0.02;

/** A stretch of a block without lines that read well. */
export interface Gap {
  block: number;
  height: number;
  rows: Row[];
}

/** A row of print, from the head of its letters to their tails. */
interface Row {
  box: PixelBox;
  /** The line that was read from it, if any. */
  line: ReadLine | undefined;
}

const isDoubtful = (line: ReadLine): boolean =>
  sureness(line.words) < DOUBT ||
  line.words.some(({ box, confidence }) => box[3] - box[1] > line.height * TALL && confidence < TALL_SURE);

/** Width of unread ink beside the words of a line, in the height of ascenders, and the share of its body that such a column fills at least. */
const UNREAD = 0.6;
const UNREAD_COLUMN = 0.15;

/** Whether a line has ink on its row, within its block, that none of its words covers. */
function leavesInk(
  image: GreyImage,
  line: ReadLine,
  [left, right]: readonly [number, number],
  drawn: readonly PixelBox[],
  limit: number,
): boolean {
  const { height, words } = line;
  const baseline = baselineOf(line);
  const [top, bottom] = [
    Math.max(0, Math.floor(baseline - height * 0.6)),
    Math.min(image.height, Math.floor(baseline)),
  ];
  const known = [...words.map((word) => word.box), ...drawn.filter((box) => box[1] < bottom && box[3] > top)];
  const least = Math.max(2, (bottom - top) * UNREAD_COLUMN);
  let unread = 0;
  let last = -Infinity;
  for (let x = Math.max(0, Math.floor(left)); x < Math.min(image.width, right); x++) {
    const over = known.find((box) => x >= box[0] - 2 && x < box[2] + 2);
    if (over) {
      x = Math.max(x, Math.ceil(over[2]) + 1);
      unread = 0;
      continue;
    }
    let ink = 0;
    for (let y = top; y < bottom; y++) if (image.pixels[y * image.width + x]! <= limit) ink++;
    if (ink < least) continue;
    if (x - last > height * 0.4) unread = 0;
    unread++;
    last = x;
    if (unread >= height * UNREAD) return true;
  }
  return false;
}

const sharesWidth = (a: PixelBox, b: PixelBox): boolean => a[0] < b[2] && a[2] > b[0];

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/**
 * @param limit grey up to which a pixel is ink.
 * @param drawn boxes that are no lines of text (rulings, large letters).
 */
export function findGaps(
  image: GreyImage,
  lines: readonly ReadLine[],
  limit: number,
  drawn: readonly PixelBox[],
): Gap[] {
  const taken: PixelBox[] = [];
  // A mark of several lines' height is no unread ink of one of them.
  const reaching = lines.flatMap(({ words, height }) =>
    words.map(({ box }) => box).filter((box) => box[3] - box[1] > height * REACHES),
  );
  // Rows of a ruled table are read again by their cells.
  const isRuled = ([x0, y0, x1, y1]: PixelBox) =>
    drawn.some(
      (box) => box[3] - box[1] > (box[2] - box[0]) * 4 && box[0] > x0 && box[2] < x1 && box[1] <= y0 && box[3] >= y1,
    );
  return [...Map.groupBy(lines, (line) => line.block)].flatMap(([block, own]) => {
    const sides = [Math.min(...own.map(({ box }) => box[0])), Math.max(...own.map(({ box }) => box[2]))] as const;
    const doubtful = own.filter(
      (line) =>
        !isRuled(line.box) && (isDoubtful(line) || leavesInk(image, line, sides, [...drawn, ...reaching], limit)),
    );
    const sure = own.filter((line) => !doubtful.includes(line)).map((line) => ({ line, baseline: baselineOf(line) }));
    sure.sort((a, b) => a.baseline - b.baseline);
    if (own.length < MEASURED) return [];
    const height = median(own.map((line) => line.height));
    const feet = own.map(baselineOf).sort((a, b) => a - b);
    const pitch = median(feet.slice(1).map((foot, n) => foot - feet[n]!));
    if (height < 6 || pitch < height * 1.05 || pitch > height * 3) return [];
    const [left, right] = sides;
    const others = lines
      .filter((line) => line.block !== block || !doubtful.includes(line))
      .map((line) => ({ line, baseline: baselineOf(line) }));
    const reach = (line: ReadLine) => (line.box[1] + line.box[3]) / 2;
    // Each stretch from the foot of one line to the head of the next; at the ends, as far as a text goes on.
    return [undefined, ...sure].flatMap((upper, n): Gap[] => {
      const lower = sure[n];
      const inside = doubtful.filter(
        (line) => reach(line) > (upper?.baseline ?? -Infinity) && reach(line) < (lower?.baseline ?? Infinity),
      );
      const heads = inside.map(({ box }) => box[1]);
      const ends = inside.map(({ box }) => box[3]);
      const top = upper
        ? upper.baseline + height * 0.25
        : Math.min(lower ? lower.baseline - pitch * GOES_ON : Infinity, ...heads) - height;
      const bottom = lower
        ? lower.baseline - height * 1.1
        : Math.max(upper ? upper.baseline + pitch * GOES_ON : -Infinity, ...ends) + height * BELOW;
      if (bottom - top < height * 0.8) return [];
      const rows = rowsOf(image, [left, top, right, bottom], height, limit).filter((row) => {
        const baseline = row[3] - height * BELOW;
        const middle = baseline - height * 0.4;
        return (
          !isRuled([row[0], middle, row[2], baseline]) &&
          !others.some(
            (one) =>
              sharesWidth(one.line.box, row) &&
              (Math.abs(one.baseline - baseline) < height * 0.5 ||
                (middle < one.baseline && middle > one.baseline - one.line.height)),
          ) &&
          !taken.some((one) => Math.abs(one[3] - row[3]) < height * 0.5 && sharesWidth(one, row))
        );
      });
      if (rows.length === 0) return [];
      taken.push(...rows);
      const clear = rows.map((row): PixelBox => {
        const beside = drawn.filter((box) => box[1] < row[3] && box[3] > row[1] && box[0] < (row[0] + row[2]) / 2);
        return [Math.max(row[0], ...beside.map((box) => box[2] + 1)), row[1], row[2], row[3]];
      });
      const middles = rows.map((row) => row[3] - height * (BELOW + 0.4));
      const lineOf = (n: number) =>
        inside.find((line) => {
          const away = middles.map((middle) => Math.abs(middle - (baselineOf(line) - height * 0.4)));
          return away[n] === Math.min(...away) && away[n]! < pitch * GOES_ON;
        });
      return [{ block, height, rows: clear.map((box, index) => ({ box, line: lineOf(index) })) }];
    });
  });
}

/** The rows of letters within a box: where ink is as dense and as high as the body of letters. */
function rowsOf(image: GreyImage, box: PixelBox, height: number, limit: number): PixelBox[] {
  const [left, right] = [Math.max(0, Math.floor(box[0])), Math.min(image.width, Math.ceil(box[2]))];
  const [top, bottom] = [Math.max(0, Math.floor(box[1])), Math.min(image.height, Math.ceil(box[3]))];
  const ink: number[] = [];
  for (let y = top; y < bottom; y++) {
    let count = 0;
    for (let at = y * image.width + left, end = y * image.width + right; at < end; at++)
      if (image.pixels[at]! <= limit) count++;
    ink.push(count);
  }
  const least = Math.max(3, (right - left) * INKED);
  const rows: PixelBox[] = [];
  const reach = Math.round(height / 2);
  for (let at = 0; at < ink.length; at++) {
    const peak = ink[at]!;
    if (peak < least || ink.slice(Math.max(0, at - reach), at + reach + 1).some((count) => count > peak)) continue;
    let [first, last] = [at, at];
    while (first > 0 && ink[first - 1]! >= peak * FULL) first--;
    while (last + 1 < ink.length && ink[last + 1]! >= peak * FULL) last++;
    const body = last + 1 - first;
    if (body < height * BODY[0] || body > height * BODY[1]) continue;
    const baseline = top + last + 1;
    rows.push([left - height * 0.3, baseline - height * ABOVE, right + height * 0.3, baseline + height * BELOW]);
    at = last + 1;
  }
  return rows;
}
