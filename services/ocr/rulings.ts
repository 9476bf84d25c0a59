// Finds the straight lines that are drawn on a page, so that tables of scans can be read by their cells.
import type { PixelBox } from '#shared/contract/jobs.ts';
import { type GreyImage, sampleGreys, splitGreys } from './pixels.ts';

/** Shortest line across and down the page, in inches: longer than the touching feet of a large word, than a letter is high. */
const SHORTEST_ACROSS = 0.3;
const SHORTEST_DOWN = 0.2;
/** Thickest line, in inches; what is thicker is a bar or a letter's stem. */
const THICKEST_INCHES = 0.035;
/** Share of the way from the paper's grey to the ink's at which a pixel counts: table lines are often grey. */
const FAINT_INK = 0.3;
/** Pixels of paper that noise may break a line by. */
const BROKEN = 3;
/** Share of a line's pixels that must be ink. */
const SOLID = 0.85;
/** Share of the pixels beside a line that may be ink: letters stand on text's strokes, paper on both sides of a line. */
const CROWDED = 0.35;
/** More lines than this are a drawing or a screen of dots; those found so far are given. */
const MAX_LINES = 3_000;

/** The highest bit of each of four bytes, as a signed number. */
const PAPER = 0x80808080 | 0;

/** A stretch of ink in one row of pixels (or column, for lines down the page). */
interface Run {
  at: number;
  start: number;
  end: number;
}

/** Runs in neighbouring rows that make one line. */
interface Stroke {
  start: number;
  end: number;
  first: number;
  last: number;
  /** Sum of the rows weighted by run lengths, and of the lengths: the line's middle. */
  weighted: number;
  length: number;
}

/**
 * The drawn lines of an upright page, as boxes of their ink.
 * @param image of dark ink on light paper, straightened.
 * @param dpi its resolution.
 */
export function findRulings(image: GreyImage, dpi: number): PixelBox[] {
  const { dark, light } = splitGreys(sampleGreys(image));
  if (light - dark < 30) return [];
  const limit = light - (light - dark) * FAINT_INK;
  const thickest = Math.max(3, Math.round(dpi * THICKEST_INCHES));
  const runs = findRuns(image, limit, {
    across: Math.max(24, dpi * SHORTEST_ACROSS),
    down: Math.max(24, dpi * SHORTEST_DOWN),
  });
  const across = joinRuns(runs.across, thickest);
  const down = joinRuns(runs.down, thickest);
  return [
    ...across
      .filter((one) => standsFree(image, limit, one, true, thickest))
      .map((one): PixelBox => [one.start, one.first, one.end, one.last + 1]),
    ...down
      .filter((one) => standsFree(image, limit, one, false, thickest))
      .map((one): PixelBox => [one.first, one.start, one.last + 1, one.end]),
  ];
}

/** Four pixels at once, wherever the image lies in its buffer. */
function asWords(pixels: Uint8Array): Uint32Array {
  const whole = pixels.length >> 2;
  return pixels.byteOffset % 4 === 0
    ? new Uint32Array(pixels.buffer, pixels.byteOffset, whole)
    : new Uint32Array(pixels.slice().buffer, 0, whole);
}

/** Long stretches of ink in rows and in columns, in one walk over the pixels: columns of pixels lie far apart in memory. */
function findRuns(
  { width, height, pixels }: GreyImage,
  limit: number,
  shortest: { across: number; down: number },
): { across: Run[]; down: Run[] } {
  const across: Run[] = [];
  const down: Run[] = [];
  const most = MAX_LINES * 8;
  const starts = new Int32Array(width).fill(-1);
  const lasts = new Int32Array(width);
  const inks = new Int32Array(width);
  const closeColumn = (x: number) => {
    const length = lasts[x]! - starts[x]!;
    if (starts[x]! >= 0 && length >= shortest.down && inks[x]! >= length * SOLID && down.length < most)
      down.push({ at: x, start: starts[x]!, end: lasts[x]! + 1 });
  };
  const closeRow = (y: number, start: number, last: number, ink: number) => {
    if (start >= 0 && last - start >= shortest.across && ink >= (last - start) * SOLID && across.length < most)
      across.push({ at: y, start, end: last + 1 });
  };
  // Most of a page is paper: four bytes are compared with the limit at once, by a carry into each byte's highest bit.
  const whole = Math.min(254, Math.max(0, Math.floor(limit)));
  const isHigh = whole >= 128;
  const carry = (isHigh ? 255 - whole : 127 - whole) * 0x01010101;
  const words = asWords(pixels);
  for (let y = 0, rowStart = 0; y < height; y++, rowStart += width) {
    let start = -1;
    let last = -1;
    let ink = 0;
    for (let index = rowStart, end = rowStart + width; index < end; index++) {
      if ((index & 3) === 0 && index + 4 <= end) {
        const four = words[index >> 2]!;
        const sum = (four & 0x7f7f7f7f) + carry;
        if (((isHigh ? four & sum : four | sum) & 0x80808080) === PAPER) {
          index += 3;
          continue;
        }
      }
      if (pixels[index]! > limit) continue;
      const x = index - rowStart;
      if (start < 0 || x - last > BROKEN + 1) {
        closeRow(y, start, last, ink);
        start = x;
        ink = 0;
      }
      last = x;
      ink++;
      if (starts[x]! < 0 || y - lasts[x]! > BROKEN + 1) {
        closeColumn(x);
        starts[x] = y;
        inks[x] = 0;
      }
      lasts[x] = y;
      inks[x]!++;
    }
    closeRow(y, start, last, ink);
  }
  for (let x = 0; x < width; x++) closeColumn(x);
  return { across, down: down.sort((a, b) => a.at - b.at || a.start - b.start) };
}

/** Runs that touch in neighbouring rows, overlapping or end to end (a line that still slopes a little steps from row to row). */
function joinRuns(runs: readonly Run[], thickest: number): Stroke[] {
  const done: Stroke[] = [];
  let open: Stroke[] = [];
  for (const run of runs) {
    open = open.filter((stroke) => {
      if (run.at - stroke.last <= 2) return true;
      done.push(stroke);
      return false;
    });
    const touching = open.filter((stroke) => run.start <= stroke.end + BROKEN && run.end >= stroke.start - BROKEN);
    const length = run.end - run.start;
    const joined: Stroke = { ...run, first: run.at, last: run.at, weighted: run.at * length, length };
    for (const stroke of touching) {
      joined.start = Math.min(joined.start, stroke.start);
      joined.end = Math.max(joined.end, stroke.end);
      joined.first = Math.min(joined.first, stroke.first);
      joined.weighted += stroke.weighted;
      joined.length += stroke.length;
    }
    open = open.filter((stroke) => !touching.includes(stroke));
    open.push(joined);
  }
  done.push(...open);
  // Ink over length is the thickness, however the line slopes.
  return done.filter((stroke) => stroke.length / (stroke.end - stroke.start) <= thickest).slice(0, MAX_LINES);
}

/** Whether most of what lies beside the line, on both its sides, is paper. */
function standsFree(image: GreyImage, limit: number, stroke: Stroke, across: boolean, thickest: number): boolean {
  const { width, height, pixels } = image;
  const middle = stroke.weighted / stroke.length;
  const slack = Math.max(thickest, (stroke.last - stroke.first + 1) / 2 + 2);
  const depth = across ? height : width;
  return [-slack, slack].every((distance) => {
    const at = Math.round(middle + distance);
    if (at < 0 || at >= depth) return true;
    let ink = 0;
    for (let along = stroke.start; along < stroke.end; along++)
      if (pixels[across ? at * width + along : along * width + at]! <= limit) ink++;
    return ink <= (stroke.end - stroke.start) * CROWDED;
  });
}
