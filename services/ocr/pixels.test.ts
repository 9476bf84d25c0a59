// Holds the pixel arithmetic on images small enough to write down.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cropImage,
  enlargeImage,
  greyBitmap,
  shrinkImage,
  splitGreys,
  stackImages,
  tiltImage,
  turnBox,
  turnImage,
} from './pixels.ts';

const image = (width: number, ...pixels: number[]) => ({
  width,
  height: pixels.length / width,
  pixels: Uint8Array.from(pixels),
});

test('a turn moves every pixel clockwise', () => {
  const page = image(3, 1, 2, 3, 4, 5, 6);
  assert.deepEqual(turnImage(page, 90), image(2, 4, 1, 5, 2, 6, 3));
  assert.deepEqual(turnImage(page, 180), image(3, 6, 5, 4, 3, 2, 1));
  assert.deepEqual(turnImage(page, 270), image(2, 3, 6, 2, 5, 1, 4));
  assert.equal(turnImage(page, 0), page);
});

test('two opposite turns give the page back, also over tile borders', () => {
  const page = {
    width: 67,
    height: 41,
    pixels: Uint8Array.from({ length: 67 * 41 }, (_, index) => (index * 31) % 251),
  };
  assert.deepEqual(turnImage(turnImage(page, 90), 270), page);
  assert.deepEqual(turnImage(turnImage(page, 180), 180), page);
});

test('shrinking means each square, and drops the rest', () => {
  assert.deepEqual(shrinkImage(image(5, 0, 20, 100, 100, 9, 40, 60, 100, 100, 9), 2), image(2, 30, 100));
  assert.deepEqual(shrinkImage(image(2, 10, 30), 4), image(1, 20));
});

test('doubling keeps flat parts flat and edges where they are, and as sharp', () => {
  const row = [0, 0, 0, 200, 200, 200];
  const doubled = enlargeImage(image(6, ...row, ...row), 2);
  assert.equal(doubled.width, 12);
  assert.equal(doubled.height, 4);
  // Keys' shares at a quarter and three quarters of the way: -9/128, 111/128, 29/128, -3/128 and the same the other way round.
  const sharp = [0, 0, 0, 0, 0, 41, 159, 214, 205, 200, 200, 200];
  for (let y = 0; y < 4; y++) assert.deepEqual([...doubled.pixels.subarray(y * 12, (y + 1) * 12)], sharp);
});

test('a tilt turns clockwise about the centre and repeats the edge outside', () => {
  const side = 101;
  const line = { width: side, height: side, pixels: new Uint8Array(side * side).fill(255) };
  for (let x = 0; x < side; x++) line.pixels[50 * side + x] = 0;
  const tilted = tiltImage(line, Math.atan(0.1));
  const darkest = (x: number) => {
    const column = Array.from({ length: side }, (_, y) => tilted.pixels[y * side + x]!);
    return column.indexOf(Math.min(...column));
  };
  assert.equal(darkest(50), 50);
  assert.ok(Math.abs(darkest(90) - 54) <= 1, 'the right end falls');
  assert.ok(Math.abs(darkest(10) - 46) <= 1, 'the left end rises');
  assert.equal(tilted.pixels[0], 255);
});

test('a cut is clamped to the image, and a stack leaves room', () => {
  assert.deepEqual(cropImage(image(3, 1, 2, 3, 4, 5, 6), [1, -5, 9, 1]), image(2, 2, 3));
  assert.deepEqual(cropImage(image(2, 1, 2), [7, 7, 8, 8]), image(1, 2));
  assert.deepEqual(stackImages([image(1, 5), image(2, 6, 7)], 0, 1).pixels.length, 4 * 5);
});

test('Otsu parts two heaps of greys', () => {
  const histogram = new Uint32Array(256);
  histogram[20] = 50;
  histogram[30] = 50;
  histogram[220] = 900;
  const { threshold, dark, light } = splitGreys(histogram);
  assert.ok(threshold >= 30 && threshold < 220);
  assert.equal(Math.round(dark), 25);
  assert.equal(Math.round(light), 220);
});

test('the bitmap stores rows from the bottom, padded to four bytes', () => {
  const file = greyBitmap(image(3, 1, 2, 3, 4, 5, 6), 200);
  assert.equal(file.length, 54 + 1024 + 8);
  assert.equal(new DataView(file.buffer).getInt32(38, true), 7874, 'dots a metre');
  assert.deepEqual([...file.subarray(54 + 1024)], [4, 5, 6, 0, 1, 2, 3, 0]);
});

test('part of a tilted image is what the whole tilted image has there', () => {
  const page = {
    width: 90,
    height: 70,
    pixels: Uint8Array.from({ length: 90 * 70 }, (_, index) => (index * index * 31) % 251),
  };
  for (const radians of [-0.1, 0.01, 0.1])
    for (const box of [
      [0, 0, 90, 70],
      [11, 5, 64, 70],
      [0, 33, 1, 34],
    ] as const)
      assert.deepEqual(tiltImage(page, radians, [...box]), cropImage(tiltImage(page, radians), box));
});

test('a box turns with its image', () => {
  const page = image(3, 1, 2, 3, 4, 5, 6);
  for (const turn of [0, 90, 180, 270] as const)
    assert.deepEqual(
      cropImage(turnImage(page, turn), turnBox([1, 0, 3, 1], page, turn)).pixels,
      turnImage(image(2, 2, 3), turn).pixels,
    );
});
