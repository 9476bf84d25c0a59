// Looks at a shrunk page before anything is read: a blank page needs no engine, and a crooked, lying or tiny one reads far better once it is put right.
import type { PixelBox } from '#shared/contract/jobs.ts';
import { type GreyImage, greyHistogram, shrinkImage, splitGreys } from './pixels.ts';

/** Pixels that the longer side is shrunk to: lines of 8 pt print stay apart, a page takes some 15 ms. */
const WORKING_SIDE = 1000;
const MAX_POINTS = 120_000;
const DEGREE = Math.PI / 180;
const RANGE = 7 * DEGREE;
const COARSE = 0.5 * DEGREE;
const FINE = 0.1 * DEGREE;
/** Greys off the ground that make a mark, and marks that make a page worth reading. */
const MARK_CONTRAST = 30;
const MARKS = 8;
/** Paper that is left around the print, as a share of the page's longer side, and the share of the page above which nothing is cut. */
const ROOM = 0.02;
const WORTH_CUTTING = 0.9;

export interface Survey {
  /** Nothing stands out from the ground. */
  blank: boolean;
  /** Slope of the text lines in radians: positive where they fall to the right once the page stands upright. */
  slope: number;
  /** How much sharper the profile is at this slope than at none, as a ratio of 1 or more. */
  gain: number;
  /** How much sharper the profile is for lines that run down the page than for lines across it; over 1 the page may lie on its side. */
  sideways: number;
  /** Pixels of the page from one text line to the next; 0 where no rhythm shows. */
  pitch: number;
  /** Everything that stands out from the ground, in pixels of the page, with room around it. */
  print: PixelBox;
}

interface Points {
  /** Places in the direction of the lines, and across it. */
  along: Float32Array;
  across: Float32Array;
  /** Room in the profile for what the steepest slope pushes over its ends. */
  margin: number;
  bins: Float64Array;
}

interface Slope {
  radians: number;
  best: number;
  level: number;
  points: Points;
}

function fillProfile({ along, across, margin, bins }: Points, radians: number): Float64Array {
  const slope = Math.tan(radians);
  bins.fill(0);
  for (let index = 0; index < along.length; index++) bins[(across[index]! - along[index]! * slope + margin) | 0]! += 1;
  return bins;
}

/** Sharpness of the ink's profile along one slope (after Postl 1986): the sum of the squared steps between neighbours. */
function sharpness(points: Points, radians: number): number {
  const bins = fillProfile(points, radians);
  let sum = 0;
  for (let bin = 1; bin < bins.length; bin++) sum += (bins[bin]! - bins[bin - 1]!) ** 2;
  return sum;
}

function searchSlope(along: Float32Array, across: Float32Array, length: number, depth: number): Slope {
  const margin = Math.ceil(length * Math.tan(RANGE + COARSE)) + 1;
  const points: Points = { along, across, margin, bins: new Float64Array(depth + 2 * margin + 1) };
  const level = sharpness(points, 0);
  let radians = 0;
  let best = level;
  const look = (from: number, to: number, step: number) => {
    for (let angle = from; angle <= to + 1e-9; angle += step) {
      const found = sharpness(points, angle);
      if (found > best) {
        best = found;
        radians = angle;
      }
    }
  };
  look(-RANGE, RANGE, COARSE);
  look(radians - COARSE + FINE, radians + COARSE - FINE, FINE);
  return { radians, best, level, points };
}

/** The ink of an image as points, whichever of ink and ground is darker. */
function inkPoints(image: GreyImage, histogram: Uint32Array): { x: Float32Array; y: Float32Array } {
  const { threshold } = splitGreys(histogram);
  let dark = 0;
  for (let grey = 0; grey <= threshold; grey++) dark += histogram[grey]!;
  const inkIsDark = dark * 2 <= image.pixels.length;
  const count = inkIsDark ? dark : image.pixels.length - dark;
  const every = Math.max(1, Math.ceil(count / MAX_POINTS));
  const x = new Float32Array(Math.ceil(count / every));
  const y = new Float32Array(x.length);
  let seen = 0;
  for (let row = 0, index = 0; row < image.height; row++) {
    for (let column = 0; column < image.width; column++, index++) {
      if (image.pixels[index]! <= threshold !== inkIsDark) continue;
      if (seen % every === 0) {
        x[seen / every] = column;
        y[seen / every] = row;
      }
      seen += 1;
    }
  }
  return { x, y };
}

/** The commonest grey's neighbourhood (the median). */
function groundOf(histogram: Uint32Array, total: number): number {
  let ground = 0;
  for (let seen = histogram[0]!; seen * 2 < total; seen += histogram[ground]!) ground += 1;
  return ground;
}

/** Pixels that differ clearly from the ground. */
function countMarks(histogram: Uint32Array, ground: number): number {
  let marks = 0;
  histogram.forEach((count, grey) => {
    if (Math.abs(grey - ground) > MARK_CONTRAST) marks += count;
  });
  return marks;
}

/** The box of all marks; one that has no other above or below it is noise. */
function boxMarks({ width, height, pixels }: GreyImage, ground: number): PixelBox {
  const box: PixelBox = [width, height, 0, 0];
  const isMark = (index: number) => Math.abs(pixels[index]! - ground) > MARK_CONTRAST;
  for (let y = 1, index = width; y < height; y++)
    for (let x = 0; x < width; x++, index++) {
      if (!isMark(index) || !isMark(index - width)) continue;
      if (x < box[0]) box[0] = x;
      if (x >= box[2]) box[2] = x + 1;
      if (y <= box[1]) box[1] = y - 1;
      box[3] = y + 1;
    }
  return box;
}

/** The distance at which a profile repeats itself: the first clear peak of its autocorrelation, 0 where there is none. */
function findPitch(profile: Float64Array): number {
  const mean = profile.reduce((sum, value) => sum + value, 0) / profile.length;
  const centred = profile.map((value) => value - mean);
  const farthest = Math.min(120, centred.length >> 2);
  const likeness: number[] = [];
  for (let lag = 0; lag <= farthest; lag++) {
    let sum = 0;
    for (let index = lag; index < centred.length; index++) sum += centred[index]! * centred[index - lag]!;
    likeness.push(sum);
  }
  const whole = likeness[0]!;
  for (let lag = 4; lag < farthest; lag++) {
    const here = likeness[lag]!;
    if (here > 0.25 * whole && here > likeness[lag - 1]! && here >= likeness[lag + 1]!) return lag;
  }
  return 0;
}

/** A box of the shrunk page on the page, with room on all sides; the whole page where there is hardly less. */
function withRoom([x0, y0, x1, y1]: PixelBox, factor: number, whole: PixelBox): PixelBox {
  const [, , width, height] = whole;
  const room = Math.max(width, height) * ROOM;
  const box: PixelBox = [
    Math.max(0, Math.floor(x0 * factor - room)),
    Math.max(0, Math.floor(y0 * factor - room)),
    Math.min(width, Math.ceil(x1 * factor + room)),
    Math.min(height, Math.ceil(y1 * factor + room)),
  ];
  const area = (box[2] - box[0]) * (box[3] - box[1]);
  return x1 <= x0 || y1 <= y0 || area > WORTH_CUTTING * width * height ? whole : box;
}

/** What a page looks like from afar. Slopes within 7 degrees are found, to a tenth of a degree. */
export function surveyPage(image: GreyImage): Survey {
  const factor = Math.max(1, Math.ceil(Math.max(image.width, image.height) / WORKING_SIDE));
  const small = shrinkImage(image, factor);
  const histogram = greyHistogram(small);
  const ground = groundOf(histogram, small.pixels.length);
  const whole: PixelBox = [0, 0, image.width, image.height];
  if (countMarks(histogram, ground) < MARKS)
    return { blank: true, slope: 0, gain: 1, sideways: 0, pitch: 0, print: whole };
  const { x, y } = inkPoints(small, histogram);
  const standing = searchSlope(x, y, small.width, small.height);
  const lying = searchSlope(y, x, small.height, small.width);
  const isLying = lying.best > standing.best;
  const chosen = isLying ? lying : standing;
  return {
    blank: false,
    // Lines that run down a page and lean to the right are, turned upright, lines that rise.
    slope: isLying ? -chosen.radians : chosen.radians,
    gain: chosen.level > 0 ? chosen.best / chosen.level : 1,
    sideways: lying.best / Math.max(1, standing.best),
    pitch: findPitch(fillProfile(chosen.points, chosen.radians)) * factor,
    print: withRoom(boxMarks(small, ground), factor, whole),
  };
}
