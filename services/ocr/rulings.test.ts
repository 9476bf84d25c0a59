// Holds the search for drawn lines by pages with tables drawn on them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greyLetter } from '#test/harness/documents/grey-letter.ts';
import { type GreyImage, tiltImage } from './pixels.ts';
import { findRulings } from './rulings.ts';

const DPI = 150;

/** A table of 3 x 2 cells drawn in grey on white or on the letter's foot. */
function withTable({ width, height, pixels }: GreyImage, grey: number): GreyImage {
  const drawn = Uint8Array.from(pixels);
  const fill = (x0: number, y0: number, x1: number, y1: number) => {
    for (let y = y0; y < y1; y++) drawn.fill(grey, y * width + x0, y * width + x1);
  };
  const left = Math.floor(width * 0.2);
  const top = Math.floor(height * 0.75);
  for (let row = 0; row <= 2; row++) fill(left, top + row * 60, left + 450, top + row * 60 + 2);
  for (let column = 0; column <= 3; column++) fill(left + column * 150, top, left + column * 150 + 2, top + 122);
  return { width, height, pixels: drawn };
}

const across = (box: readonly number[]) => box[2]! - box[0]! > box[3]! - box[1]!;

test('text has no rulings', () => {
  assert.deepEqual(findRulings(greyLetter(), DPI), []);
});

for (const grey of [0, 150])
  test(`the lines of a table drawn in grey ${grey} are found, and nothing else`, () => {
    const page = withTable(greyLetter(), grey);
    const found = findRulings(page, DPI);
    assert.deepEqual([found.filter(across).length, found.filter((box) => !across(box)).length], [3, 4]);
    const first = found.find(across);
    const left = Math.floor(page.width * 0.2);
    assert.deepEqual(first, [left, Math.floor(page.height * 0.75), left + 452, Math.floor(page.height * 0.75) + 2]);
  });

test('lines that still slope a little, or that noise breaks, are found whole', () => {
  const page = tiltImage(withTable(greyLetter(), 60), 0.004);
  let seed = 1;
  for (let n = 0; n < page.pixels.length; n++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    page.pixels[n] = Math.min(255, Math.max(0, page.pixels[n]! + ((seed >>> 16) % 41) - 20));
  }
  const found = findRulings(page, DPI);
  assert.equal(found.filter(across).length, 3);
  assert.ok(found.filter(across).every((box) => box[2] - box[0] > 430));
  assert.equal(found.filter((box) => !across(box)).length, 4);
});

test('a black page, a blank page and a screen of dots have none and take no time', () => {
  const page = (grey: (n: number) => number): GreyImage => ({
    width: 1200,
    height: 1600,
    pixels: Uint8Array.from({ length: 1200 * 1600 }, (_, n) => grey(n)),
  });
  assert.deepEqual(
    findRulings(
      page(() => 0),
      DPI,
    ),
    [],
  );
  assert.deepEqual(
    findRulings(
      page(() => 255),
      DPI,
    ),
    [],
  );
  assert.deepEqual(
    findRulings(
      page((n) => (n % 7 === 0 ? 0 : 255)),
      DPI,
    ),
    [],
  );
});
