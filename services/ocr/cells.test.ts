// Doubtful cells of a ruled table, read by the real engines: a word across a ruling comes back as the two that were written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PixelBox } from '#shared/contract/jobs.ts';
import { greyLetter } from '#test/harness/documents/grey-letter.ts';
import { rereadCells } from './cells.ts';
import type { ReadingOptions, ReadLine } from './engine.ts';
import { loadEngine } from './engines.ts';
import { configuredLanguages } from './languages.ts';
import { cropImage, type GreyImage } from './pixels.ts';
import { nativeVersion } from './tesseract-native.ts';

const OPTIONS: ReadingOptions = { dpi: 150, layout: 'page', threshold: 'global' };

/** A row of two cells with a piece of a page in each, close beside black rulings. */
function row(left: GreyImage, right: GreyImage): { image: GreyImage; rulings: PixelBox[]; words: PixelBox[] } {
  const height = Math.max(left.height, right.height) + 40;
  const edges = [10, 10 + left.width + 16, 10 + left.width + right.width + 32];
  const width = edges[2]! + 20;
  const image = { width, height, pixels: new Uint8Array(width * height).fill(255) };
  const rulings = edges.map((x): PixelBox => [x, 5, x + 3, height - 5]);
  for (const [x0, y0, x1, y1] of rulings)
    for (let y = y0; y < y1; y++) image.pixels.fill(0, y * width + x0, y * width + x1);
  const words = [left, right].map((piece, index): PixelBox => {
    const x = edges[index]! + 9;
    for (let y = 0; y < piece.height; y++)
      image.pixels.set(piece.pixels.subarray(y * piece.width, (y + 1) * piece.width), (y + 20) * width + x);
    return [x, 20, x + piece.width, 20 + piece.height];
  });
  return { image, rulings, words };
}

for (const setting of ['wasm', 'native'] as const)
  test(`engine ${setting} reads doubtful cells alone, and leaves sure ones`, {
    skip: setting === 'native' && !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
  }, async () => {
    const engine = await loadEngine(configuredLanguages(), setting);
    try {
      const page = greyLetter();
      const written = (await engine.read(page, OPTIONS)).flatMap((line) => line.words);
      const piece = (text: string) => {
        const word = written.find((one) => one.text === text);
        assert.ok(word, text);
        const [x0, y0, x1, y1] = word.box;
        return cropImage(page, [x0 - 2, y0 - 2, x1 + 2, y1 + 2]);
      };
      const { image, rulings, words } = row(piece('48'), piece('12'));
      const [left, right] = words as [PixelBox, PixelBox];
      const across: PixelBox = [left[0], left[1], right[2], right[3]];
      const line = (confidence: number): ReadLine => ({
        box: across,
        height: 14,
        block: 0,
        words: [{ text: 'yes', box: across, confidence }],
      });
      const [again] = await rereadCells(engine, image, [line(0.1)], rulings, OPTIONS);
      assert.deepEqual(
        again?.words.map((word) => word.text),
        ['48', '12'],
      );
      again?.words.forEach(({ box }, index) => {
        const [x0, y0, x1, y1] = words[index]!;
        assert.ok(
          box[0] >= x0 - 3 && box[1] >= y0 - 3 && box[2] <= x1 + 3 && box[3] <= y1 + 3,
          `${box} of ${words[index]}`,
        );
      });
      assert.deepEqual(await rereadCells(engine, image, [line(0.9)], rulings, OPTIONS), [line(0.9)]);
      assert.deepEqual(await rereadCells(engine, image, [line(0.1)], [], OPTIONS), [line(0.1)], 'no table');
    } finally {
      await engine.close();
    }
  });
