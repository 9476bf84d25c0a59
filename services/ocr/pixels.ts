// Pure functions on 8-bit grey images, so that a page can be turned, straightened and scaled without an image library or a PNG on the way.
import type { PixelBox } from '#shared/contract/jobs.ts';

/** Row by row from the top left, one byte a pixel, 0 black. */
export interface GreyImage {
  width: number;
  height: number;
  pixels: Uint8Array;
}

export type QuarterTurn = 0 | 90 | 180 | 270;

const wholeBox = ({ width, height }: Pick<GreyImage, 'width' | 'height'>): PixelBox => [0, 0, width, height];

/** Where a box of an image lies once the image is turned clockwise. */
export function turnBox(
  [x0, y0, x1, y1]: PixelBox,
  { width, height }: Pick<GreyImage, 'width' | 'height'>,
  turn: QuarterTurn,
): PixelBox {
  if (turn === 90) return [height - y1, x0, height - y0, x1];
  if (turn === 180) return [width - x1, height - y1, width - x0, height - y0];
  return turn === 270 ? [y0, width - x1, y1, width - x0] : [x0, y0, x1, y1];
}

/** The image turned clockwise. A turn of 0 gives the same image, not a copy. */
export function turnImage(image: GreyImage, turn: QuarterTurn): GreyImage {
  if (turn === 0) return image;
  const { width, height, pixels } = image;
  const turned = new Uint8Array(width * height);
  if (turn === 180) {
    turned.set(pixels.subarray(0, width * height));
    turned.reverse();
    return { width, height, pixels: turned };
  }
  // Square tiles keep both the rows read and the rows written in the processor's cache.
  const tile = 32;
  for (let top = 0; top < height; top += tile) {
    const bottom = Math.min(top + tile, height);
    for (let left = 0; left < width; left += tile) {
      const right = Math.min(left + tile, width);
      for (let y = top; y < bottom; y++) {
        const row = y * width;
        for (let x = left; x < right; x++) {
          const target = turn === 90 ? x * height + (height - 1 - y) : (width - 1 - x) * height + y;
          turned[target] = pixels[row + x]!;
        }
      }
    }
  }
  return { width: height, height: width, pixels: turned };
}

/** The mean of each `factor` by `factor` square; rests at the right and the bottom edge are left out. */
export function shrinkImage(image: GreyImage, factor: number): GreyImage {
  if (factor <= 1) return image;
  const width = Math.max(1, Math.floor(image.width / factor));
  const height = Math.max(1, Math.floor(image.height / factor));
  const columns = Math.min(factor, image.width);
  const rows = Math.min(factor, image.height);
  const shrunk = new Uint8Array(width * height);
  const sums = new Uint32Array(width);
  const { pixels } = image;
  const share = 1 / (columns * rows);
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (let dy = 0; dy < rows; dy++) {
      let source = (y * factor + dy) * image.width;
      // The usual factors without an inner loop, which would cost more than it adds up.
      if (factor === 2 && columns === 2)
        for (let x = 0; x < width; x++, source += 2) sums[x]! += pixels[source]! + pixels[source + 1]!;
      else if (factor === 3 && columns === 3)
        for (let x = 0; x < width; x++, source += 3)
          sums[x]! += pixels[source]! + pixels[source + 1]! + pixels[source + 2]!;
      else
        for (let x = 0; x < width; x++, source += factor)
          for (let dx = 0; dx < columns; dx++) sums[x]! += pixels[source + dx]!;
    }
    for (let x = 0, target = y * width; x < width; x++, target++) shrunk[target] = sums[x]! * share + 1e-6;
  }
  return { width, height, pixels: shrunk };
}

/** Shares of the four pixels around a place that lies `part` of the way from the second to the third (cubic convolution, Keys 1981). */
function cubicShares(part: number): readonly [number, number, number, number] {
  const square = part * part;
  const cube = square * part;
  return [
    square - (part + cube) / 2,
    1 - 2.5 * square + 1.5 * cube,
    part / 2 + 2 * square - 1.5 * cube,
    (cube - square) / 2,
  ];
}

/** A whole number of times as wide and high, with values between the pixels that keep its strokes sharp: tiny print has no grey to lose. */
export function enlargeImage(image: GreyImage, factor: number): GreyImage {
  const { width, height, pixels } = image;
  const wide = width * factor;
  const enlarged = new Uint8ClampedArray(wide * height * factor);
  // The shares repeat with every pixel; those of the first half of a pixel begin one pixel earlier.
  const steps = Array.from({ length: factor }, (_, step) => {
    const place = (step + 0.5) / factor - 0.5;
    return { before: place < 0 ? 2 : 1, shares: cubicShares(place < 0 ? place + 1 : place) };
  });
  // One row with its edges repeated, and the rows around the place, widened once each.
  const padded = new Uint8Array(width + 5);
  const widened = Array.from({ length: 5 }, () => ({ row: -1, values: new Float32Array(wide) }));
  const widen = (y: number): Float32Array => {
    const row = Math.min(height - 1, Math.max(0, y));
    const kept = widened[row % 5]!;
    if (kept.row === row) return kept.values;
    kept.row = row;
    padded.fill(pixels[row * width]!, 0, 2);
    padded.set(pixels.subarray(row * width, (row + 1) * width), 2);
    padded.fill(pixels[(row + 1) * width - 1]!, width + 2);
    steps.forEach(({ before, shares: [a, b, c, d] }, step) => {
      for (let x = 0, from = 2 - before, target = step; x < width; x++, from++, target += factor)
        kept.values[target] = a * padded[from]! + b * padded[from + 1]! + c * padded[from + 2]! + d * padded[from + 3]!;
    });
    return kept.values;
  };
  for (let y = 0, target = 0; y < height * factor; y++) {
    const { before, shares } = steps[y % factor]!;
    const [a, b, c, d] = shares;
    const top = Math.floor(y / factor) - before;
    const [first, second, third, fourth] = [widen(top), widen(top + 1), widen(top + 2), widen(top + 3)];
    for (let x = 0; x < wide; x++, target++)
      enlarged[target] = a * first[x]! + b * second[x]! + c * third[x]! + d * fourth[x]!;
  }
  return { width: wide, height: height * factor, pixels: new Uint8Array(enlarged.buffer) };
}

/**
 * The image turned about its centre by a small angle, on a canvas of the same size; what comes in from outside repeats the edge.
 * @param radians clockwise.
 * @param box the part of the turned image that is wanted, in whole pixels inside of it.
 */
export function tiltImage(image: GreyImage, radians: number, box: PixelBox = wholeBox(image)): GreyImage {
  const { width, height, pixels } = image;
  const [left, top, right, bottom] = box;
  const wide = right - left;
  const tilted = new Uint8Array(wide * (bottom - top));
  // Fixed point with 14 binary places keeps the path to the source pixel in 32-bit integers, a tenth of a pixel exact over 4000.
  const one = 1 << 14;
  const cos = Math.round(Math.cos(radians) * one);
  const sin = Math.round(Math.sin(radians) * one);
  const centreX = (width - 1) / 2;
  const centreY = (height - 1) / 2;
  const lastX = width - 1;
  const lastY = height - 1;
  for (let y = top; y < bottom; y++) {
    let sourceX = (Math.round(centreX * one - centreX * cos + (y - centreY) * sin) + left * cos) | 0;
    let sourceY = (Math.round(centreY * one + centreX * sin + (y - centreY) * cos) - left * sin) | 0;
    for (let target = (y - top) * wide, end = target + wide; target < end; target++) {
      const wholeX = sourceX >> 14;
      const wholeY = sourceY >> 14;
      if (wholeX >= 0 && wholeY >= 0 && wholeX < lastX && wholeY < lastY) {
        const partX = (sourceX >> 6) & 255;
        const partY = (sourceY >> 6) & 255;
        const index = wholeY * width + wholeX;
        const upper = (pixels[index]! << 8) + (pixels[index + 1]! - pixels[index]!) * partX;
        const lower = (pixels[index + width]! << 8) + (pixels[index + width + 1]! - pixels[index + width]!) * partX;
        tilted[target] = ((upper << 8) + (lower - upper) * partY + 32768) >> 16;
      } else {
        const nearX = Math.min(lastX, Math.max(0, wholeX));
        const nearY = Math.min(lastY, Math.max(0, wholeY));
        tilted[target] = pixels[nearY * width + nearX]!;
      }
      sourceX += cos;
      sourceY -= sin;
    }
  }
  return { width: wide, height: bottom - top, pixels: tilted };
}

/** The part of an image inside a box (clamped to the image), at least one pixel. All of it is the same image, not a copy. */
export function cropImage(image: GreyImage, box: readonly [number, number, number, number]): GreyImage {
  const left = Math.min(image.width - 1, Math.max(0, Math.floor(box[0])));
  const top = Math.min(image.height - 1, Math.max(0, Math.floor(box[1])));
  const width = Math.max(1, Math.min(image.width, Math.ceil(box[2])) - left);
  const height = Math.max(1, Math.min(image.height, Math.ceil(box[3])) - top);
  if (width === image.width && height === image.height) return image;
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const start = (top + y) * image.width + left;
    pixels.set(image.pixels.subarray(start, start + width), y * width);
  }
  return { width, height, pixels };
}

/** Images under each other, on a ground of one grey, with room around each. */
export function stackImages(images: readonly GreyImage[], ground: number, gap: number): GreyImage {
  const width = Math.max(1, ...images.map((image) => image.width)) + 2 * gap;
  const height = images.reduce((sum, image) => sum + image.height + gap, gap);
  const pixels = new Uint8Array(width * height).fill(ground);
  let top = gap;
  for (const image of images) {
    for (let y = 0; y < image.height; y++)
      pixels.set(image.pixels.subarray(y * image.width, (y + 1) * image.width), (top + y) * width + gap);
    top += image.height + gap;
  }
  return { width, height, pixels };
}

/** Pixels that are enough to know a page's greys by. */
const ENOUGH_PIXELS = 250_000;

/** How many pixels have each grey. */
export function greyHistogram({ pixels }: GreyImage, step = 1): Uint32Array {
  const histogram = new Uint32Array(256);
  for (let index = 0; index < pixels.length; index += step) histogram[pixels[index]!]! += 1;
  return histogram;
}

/** The same for an evenly spread part of a large image; the odd step walks over all columns of any usual width. */
export function sampleGreys(image: GreyImage): Uint32Array {
  return greyHistogram(image, Math.floor(image.pixels.length / ENOUGH_PIXELS) | 1);
}

/** Otsu's threshold (1979): the grey that parts ink from ground, and the means of the two sides. */
export function splitGreys(histogram: Uint32Array): { threshold: number; dark: number; light: number } {
  let total = 0;
  let weighted = 0;
  for (let grey = 0; grey < 256; grey++) {
    total += histogram[grey]!;
    weighted += grey * histogram[grey]!;
  }
  let best = { threshold: 127, dark: weighted / Math.max(1, total), light: weighted / Math.max(1, total) };
  let bestSpread = 0;
  let below = 0;
  let belowSum = 0;
  for (let grey = 0; grey < 255; grey++) {
    below += histogram[grey]!;
    belowSum += grey * histogram[grey]!;
    const above = total - below;
    if (below === 0 || above === 0) continue;
    const dark = belowSum / below;
    const light = (weighted - belowSum) / above;
    const spread = below * above * (light - dark) ** 2;
    if (spread > bestSpread) {
      bestSpread = spread;
      best = { threshold: grey, dark, light };
    }
  }
  return best;
}

const BITMAP_HEAD = 54 + 1024;

/** An 8-bit BMP: the uncompressed file that leptonica decodes fastest (it reads a PGM pixel by pixel), and one that holds a resolution. */
export function greyBitmap(image: GreyImage, dpi: number): Uint8Array {
  const { width, height, pixels } = image;
  const stride = (width + 3) & ~3;
  const file = new Uint8Array(BITMAP_HEAD + stride * height);
  const head = new DataView(file.buffer);
  file[0] = 0x42;
  file[1] = 0x4d;
  head.setUint32(2, file.length, true);
  head.setUint32(10, BITMAP_HEAD, true);
  head.setUint32(14, 40, true);
  head.setInt32(18, width, true);
  head.setInt32(22, height, true);
  head.setUint16(26, 1, true);
  head.setUint16(28, 8, true);
  head.setUint32(34, stride * height, true);
  const dotsPerMetre = Math.round(dpi / 0.0254);
  head.setInt32(38, dotsPerMetre, true);
  head.setInt32(42, dotsPerMetre, true);
  head.setUint32(46, 256, true);
  for (let grey = 0; grey < 256; grey++) head.setUint32(54 + 4 * grey, grey * 0x010101, true);
  for (let y = 0; y < height; y++)
    file.set(pixels.subarray(y * width, (y + 1) * width), BITMAP_HEAD + (height - 1 - y) * stride);
  return file;
}
