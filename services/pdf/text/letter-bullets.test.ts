// Holds which letters are the bullets of a list, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, line, PLAIN } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';

const COURIER = { ...PLAIN, font: 'Courier' };
const item = (y: number, sign: string, style: TextStyle, x = 65): Word[] => [
  ...line(50, y, sign, style),
  ...line(x, y, 'Gulls of the harbour'),
];
const items = (...words: Word[][]) => blocksOf([words.flat()]).join(' ').split('<li>').length - 1;

test('an `o` before several lines is their bullet where it is set apart from them', () => {
  assert.equal(items(item(100, 'o', PLAIN), item(112, 'o', PLAIN)), 2);
  assert.equal(items(item(100, 'o', COURIER, 58), item(112, 'o', COURIER, 58)), 2, 'in another face');
  assert.equal(items(item(100, 'o', PLAIN, 58), item(112, 'o', PLAIN, 58)), 0, 'a word');
  assert.equal(items(item(100, 'o', PLAIN)), 0, 'once');
});

test('the letters of a symbol face are bullets', () => {
  const symbols = { ...PLAIN, font: 'Wingdings-Regular' };
  assert.equal(items(item(100, 'v', symbols), item(112, 'v', symbols)), 2);
  assert.equal(items(item(100, 'v', PLAIN), item(112, 'v', PLAIN)), 0, 'in another face');
});
