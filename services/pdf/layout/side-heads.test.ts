// Holds what makes a side head and where it is read, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutColumns } from './columns.ts';

const item = (x0: number, x1: number, y: number, words = 9) => ({
  box: { x0, x1, y0: y, y1: y + 10 },
  words,
  size: 10,
  atom: false,
});
/** A paragraph whose last line is short. */
const paragraph = (y: number) => [0, 12, 24, 36].map((down) => item(150, down === 36 ? 300 : 450, y + down));
const text = [...paragraph(20), ...paragraph(68), ...paragraph(116)];
const tops = (...heads: ReturnType<typeof item>[]) =>
  cutColumns([...text, ...heads]).map(({ items }) => items.map(({ box }) => (box.x0 < 150 ? 'head' : box.y0)));

test('a side head is read before the paragraph that begins beside it', () => {
  const first = [20, 32, 44, 56, 68, 80, 92, 104];
  const rest = [116, 128, 140, 152];
  assert.deepEqual(tops(item(50, 110, 116, 2)), [first, ['head'], rest]);
  assert.deepEqual(tops(item(50, 110, 124, 2)), [first, ['head'], rest], 'a little lower');
  assert.deepEqual(tops(item(50, 110, 116, 2), item(50, 90, 128, 1)), [first, ['head', 'head'], rest], 'two lines');
});

test('a mark near the text, a figure and a line beside the inside of a paragraph are no side heads', () => {
  assert.equal(tops(item(130, 140, 116, 1)).length, 1, 'near');
  assert.equal(tops(item(50, 110, 116, 0)).length, 1, 'a figure');
  assert.equal(tops(item(50, 110, 152, 2)).length, 1, 'at the last line');
});
