// Has the engine read pieces of a page, each by itself, in one reading: under each other with room between, so that none disturbs another.
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { Engine, ReadingOptions, ReadWord } from './engine.ts';
import { cropImage, type GreyImage, stackImages } from './pixels.ts';

/** A piece of a page that reads as one line. */
export interface Patch {
  image: GreyImage;
  /** Where its top left corner lies on the page, in pixels. */
  x: number;
  y: number;
}

export const cutPatch = (image: GreyImage, box: PixelBox): Patch => ({
  image: cropImage(image, box),
  x: Math.max(0, Math.floor(box[0])),
  y: Math.max(0, Math.floor(box[1])),
});

/** Mean confidence of words, by their letters. */
export function sureness(words: readonly ReadWord[]): number {
  const letters = lettersOf(words);
  return letters === 0 ? 0 : words.reduce((sum, word) => sum + word.confidence * word.text.length, 0) / letters;
}

export const lettersOf = (words: readonly ReadWord[]): number => words.reduce((sum, word) => sum + word.text.length, 0);

/**
 * The words of each patch from left to right, where they lie on the page.
 * @param paper grey of the room around them.
 * @throws BudgetError
 */
export async function readPatches(
  engine: Engine,
  patches: readonly Patch[],
  paper: number,
  options: ReadingOptions,
): Promise<ReadWord[][]> {
  const gap = Math.ceil(Math.max(...patches.map(({ image }) => image.height)) / 2);
  const stack = stackImages(
    patches.map(({ image }) => image),
    Math.round(paper),
    gap,
  );
  const lines = await engine.read(stack, { ...options, layout: 'block' });
  const tops: number[] = [];
  patches.reduce((top, { image }) => {
    tops.push(top);
    return top + image.height + gap;
  }, gap);
  const found: ReadWord[][] = patches.map(() => []);
  for (const word of lines.flatMap((line) => line.words)) {
    const middle = (word.box[1] + word.box[3]) / 2;
    const index = tops.findLastIndex((top) => middle >= top - gap / 2);
    const patch = patches[index];
    if (!patch) continue;
    const [dx, dy] = [patch.x - gap, patch.y - tops[index]!];
    const [x0, y0, x1, y1] = word.box;
    const box: PixelBox = [x0 + dx, y0 + dy, x1 + dx, y1 + dy];
    found[index]!.push({ ...word, box });
  }
  return found.map((words) => words.sort((a, b) => a.box[0] - b.box[0]));
}
