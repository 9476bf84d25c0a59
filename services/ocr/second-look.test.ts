// Lines that a first reading lost or mixed up, and a text's large first letter, read by the real engines.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PixelBox } from '#shared/contract/jobs.ts';
import { greyLetter } from '#test/harness/documents/grey-letter.ts';
import type { Engine, ReadingOptions, ReadLine } from './engine.ts';
import { loadEngine } from './engines.ts';
import { configuredLanguages } from './languages.ts';
import { cropImage, enlargeImage, type GreyImage } from './pixels.ts';
import { lookAgain } from './second-look.ts';
import { nativeVersion } from './tesseract-native.ts';

const OPTIONS: ReadingOptions = { dpi: 150, layout: 'page', threshold: 'global' };

const textOf = (lines: readonly ReadLine[]) => lines.map((line) => line.words.map((word) => word.text).join(' '));

function paste(onto: GreyImage, piece: GreyImage, x: number, y: number): void {
  for (let row = 0; row < piece.height; row++)
    onto.pixels.set(piece.pixels.subarray(row * piece.width, (row + 1) * piece.width), (y + row) * onto.width + x);
}

/** The page with the first letter of a word made three times as high, its head where it was, before three lines that begin behind it. */
function withLargeLetter(page: GreyImage, word: PixelBox, lines: readonly ReadLine[], width: number): GreyImage {
  const small = cropImage(page, [word[0] - 1, word[1] - 1, word[0] + width, word[3] + 1]);
  const large = enlargeImage(small, 3);
  const shift = large.width + 6;
  const made: GreyImage = {
    width: page.width + shift,
    height: page.height,
    pixels: new Uint8Array((page.width + shift) * page.height).fill(255),
  };
  const from = lines.findIndex(({ box }) => box[1] <= word[1] + 3 && box[3] >= word[3] - 3);
  const foot = lines[from + 2]!.box[3] + 2;
  paste(made, cropImage(page, [0, 0, page.width, word[1] - 4]), 0, 0);
  paste(made, cropImage(page, [0, word[1] - 4, page.width, foot]), shift, word[1] - 4);
  paste(made, cropImage(page, [0, foot, page.width, page.height]), 0, foot);
  // The small letter gives way to the large one.
  for (let y = word[1] - 1; y <= word[3]; y++)
    made.pixels.fill(255, y * made.width + shift + word[0] - 1, y * made.width + shift + word[0] + width);
  paste(made, large, word[0] + width - 4, word[1] - 3);
  return made;
}

for (const setting of ['wasm', 'native'] as const)
  describe(`engine ${setting}`, {
    skip: setting === 'native' && !nativeVersion() && !process.env.CI ? 'SKIPPED: no tesseract 5 is installed' : false,
  }, () => {
    const page = greyLetter();
    let engine: Engine;
    let lines: ReadLine[];
    before(async () => {
      engine = await loadEngine(configuredLanguages(), setting);
      lines = await engine.read(page, OPTIONS);
    });
    after(() => engine.close());

    test('a page that was read whole stays as it is', async () => {
      assert.deepEqual(await lookAgain(engine, page, lines, [], OPTIONS), lines);
    });

    test('a line that was lost from within a text or from its end is read, in its place', async () => {
      for (const lost of [3, lines.length - 1]) {
        const left = lines.filter((_, number) => number !== lost);
        assert.deepEqual(textOf(await lookAgain(engine, page, left, [], OPTIONS)), textOf(lines), `line ${lost}`);
      }
    });

    test('a line of two that were read as one is read alone; what was read surely stays', async () => {
      const garbled = lines.map((line, number): ReadLine => {
        if (number !== 3) return line;
        const box: PixelBox = [line.box[0], line.box[1], line.box[2], lines[4]!.box[3]];
        return { ...line, box, words: [{ text: 'acondtaliy', box, confidence: 0.1 }] };
      });
      assert.deepEqual(textOf(await lookAgain(engine, page, garbled, [], OPTIONS)), textOf(lines));
      const sure = lines.map((line, number) =>
        number === 3 ? { ...line, words: [{ text: 'acondtaliy', box: line.box, confidence: 0.99 }] } : line,
      );
      assert.deepEqual(await lookAgain(engine, page, sure, [], OPTIONS), sure);
    });

    test('a large letter that begins a text is the first of its first word', async () => {
      const word = lines[1]!.words[0]!;
      assert.equal(word.text, 'The');
      const stem = page.width;
      let width = 2;
      const inked = (x: number) =>
        Array.from({ length: word.box[3] - word.box[1] }, (_, y) => page.pixels[(word.box[1] + y) * stem + x]!).some(
          (grey) => grey < 128,
        );
      while (inked(word.box[0] + width)) width++;
      const made = withLargeLetter(page, word.box, lines, width);
      const read = await lookAgain(engine, made, await engine.read(made, OPTIONS), [], OPTIONS);
      const text = textOf(read).join('\n');
      assert.match(text, /The harbour office keeps a book/);
      assert.doesNotMatch(text, /(^|\n)(he|T) /);
    });
  });
