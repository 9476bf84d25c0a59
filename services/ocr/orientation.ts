// Tells a page that stands on its head, first from the shapes of its words (nearly free), then by reading a few lines both ways.
import type { Engine, LaidLine, ReadingOptions, ReadLine } from './engine.ts';
import {
  cropImage,
  type GreyImage,
  type QuarterTurn,
  sampleGreys,
  splitGreys,
  stackImages,
  turnImage,
} from './pixels.ts';

const WORDS_LOOKED_AT = 400;
const LINES_PROBED = 2;

interface UprightSign {
  /** Mean place of the ink in its word, 0 to 1 from the top, less one half: over 0 where words stand on their feet. */
  lean: number;
  /** The same in standard errors: how sure the sign is. */
  certainty: number;
}

/**
 * Words of a bicameral script have more strokes that rise (b, d, f, h, k, l, t, capitals) than strokes that hang (g, p, q, y), so
 * that a word's ink lies in the lower part of its box while it stands on its feet.
 */
export function weighWords(image: GreyImage, lines: readonly LaidLine[]): UprightSign {
  const words = lines
    .flatMap((line) => line.words)
    .filter(({ box }) => box[2] - box[0] > box[3] - box[1] && box[3] - box[1] >= 6);
  const { threshold } = splitGreys(sampleGreys(image));
  const every = Math.max(1, Math.floor(words.length / WORDS_LOOKED_AT));
  const leans: number[] = [];
  for (let index = 0; index < words.length; index += every) {
    const lean = inkCentre(image, words[index]!.box, threshold);
    if (lean !== undefined) leans.push(lean - 0.5);
  }
  if (leans.length < 2) return { lean: 0, certainty: 0 };
  const mean = leans.reduce((sum, lean) => sum + lean, 0) / leans.length;
  const variance = leans.reduce((sum, lean) => sum + (lean - mean) ** 2, 0) / (leans.length - 1);
  return { lean: mean, certainty: mean / Math.sqrt(variance / leans.length + 1e-9) };
}

function inkCentre(image: GreyImage, [x0, y0, x1, y1]: readonly number[], threshold: number): number | undefined {
  let ink = 0;
  let weighted = 0;
  for (let y = y0!; y < y1!; y++) {
    let row = 0;
    for (let index = y * image.width + x0!, end = y * image.width + x1!; index < end; index++)
      if (image.pixels[index]! <= threshold) row += 1;
    ink += row;
    weighted += row * (y - y0! + 0.5);
  }
  const height = y1! - y0!;
  // A box full of ink is a picture or light print on dark, not a word.
  return ink === 0 || ink > 0.7 * height * (x1! - x0!) ? undefined : weighted / ink / height;
}

/** Mean confidence of the words weighted by their length, 0 to 1; 0 without words. */
export function meanConfidence(lines: readonly ReadLine[]): number {
  let letters = 0;
  let sum = 0;
  for (const line of lines)
    for (const word of line.words) {
      letters += word.text.length;
      sum += word.confidence * word.text.length;
    }
  return letters === 0 ? 0 : sum / letters;
}

/** A few of the wordiest lines of print of a usual size, cut out and put under each other: enough to tell how a page reads, at a fraction of its cost. */
export function sampleLines(image: GreyImage, lines: readonly LaidLine[]): GreyImage | undefined {
  const heights = lines.map((line) => line.box[3] - line.box[1]).sort((a, b) => a - b);
  const usual = heights[heights.length >> 1];
  if (usual === undefined) return undefined;
  const fit = lines.filter(
    ({ box, words }) => words.length > 0 && box[3] - box[1] <= 2 * usual && box[3] - box[1] >= usual / 2,
  );
  const chosen = fit.sort((a, b) => b.words.length - a.words.length).slice(0, LINES_PROBED);
  if (chosen.length === 0) return undefined;
  const margin = Math.ceil(usual / 6);
  const { light } = splitGreys(sampleGreys(image));
  const cuts = chosen.map(({ box }) =>
    cropImage(image, [box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin]),
  );
  return stackImages(cuts, Math.round(light), Math.ceil(usual / 2));
}

/** How surely the engine reads the sample when it is turned clockwise by `turn`. */
export async function probe(
  engine: Engine,
  sample: GreyImage,
  turn: QuarterTurn,
  options: ReadingOptions,
): Promise<number> {
  return meanConfidence(await engine.read(turnImage(sample, turn), { ...options, layout: 'block' }));
}
