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
  const across = joinRuns(runsAcross(image, limit, Math.max(24, dpi * SHORTEST_ACROSS)), thickest);
  const down = joinRuns(runsDown(image, limit, Math.max(24, dpi * SHORTEST_DOWN)), thickest);
  return [
    ...across
      .filter((one) => standsFree(image, limit, one, true, thickest))
      .map((one): PixelBox => [one.start, one.first, one.end, one.last + 1]),
    ...down
      .filter((one) => standsFree(image, limit, one, false, thickest))
      .map((one): PixelBox => [one.first, one.start, one.last + 1, one.end]),
  ];
}

function runsAcross({ width, height, pixels }: GreyImage, limit: number, shortest: number): Run[] {
  const runs: Run[] = [];
  for (let y = 0; y < height && runs.length < MAX_LINES * 8; y++) {
    const row = y * width;
    let start = -1;
    let last = -1;
    let ink = 0;
    for (let x = 0; x < width; x++) {
      if (pixels[row + x]! > limit) continue;
      if (start < 0 || x - last > BROKEN + 1) {
        if (start >= 0 && last - start >= shortest && ink >= (last - start) * SOLID)
          runs.push({ at: y, start, end: last + 1 });
        start = x;
        ink = 0;
      }
      last = x;
      ink++;
    }
    if (start >= 0 && last - start >= shortest && ink >= (last - start) * SOLID)
      runs.push({ at: y, start, end: last + 1 });
  }
  return runs;
}

/** The same down the page, row by row with one open run a column, since columns of pixels lie far apart in memory. */
function runsDown({ width, height, pixels }: GreyImage, limit: number, shortest: number): Run[] {
  const runs: Run[] = [];
  const start = new Int32Array(width).fill(-1);
  const last = new Int32Array(width);
  const ink = new Int32Array(width);
  const close = (x: number) => {
    const length = last[x]! - start[x]!;
    if (start[x]! >= 0 && length >= shortest && ink[x]! >= length * SOLID && runs.length < MAX_LINES * 8)
      runs.push({ at: x, start: start[x]!, end: last[x]! + 1 });
  };
  for (let y = 0, index = 0; y < height; y++)
    for (let x = 0; x < width; x++, index++) {
      if (pixels[index]! > limit) continue;
      if (start[x]! < 0 || y - last[x]! > BROKEN + 1) {
        close(x);
        start[x] = y;
        ink[x] = 0;
      }
      last[x] = y;
      ink[x]!++;
    }
  for (let x = 0; x < width; x++) close(x);
  return runs.sort((a, b) => a.at - b.at || a.start - b.start);
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
