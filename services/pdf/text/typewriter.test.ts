// Holds which monospaced lines are text and which are code, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, filled, kinds, line, MONO, prose } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';

const CODE = [
  'lamp.fill(oil);',
  'if (lamp.isLit()) {',
  'keeper.note(lamp, "lit") && lamp.turn();',
  'for (;;) { x += 2; }',
  '}',
];
const code = (y: number): Word[] => CODE.flatMap((text, n) => line(50, y + n * 12, text, MONO));

test('where all text is monospaced, lines of words are text', () => {
  assert.deepEqual(kinds(draftPages([[...prose(50, 100, 6, MONO), ...prose(50, 200, 6, MONO)]])), ['text', 'text']);
});

test('lines of code between typewritten paragraphs stay code', () => {
  const page = [...prose(50, 100, 10, MONO), ...code(250), ...prose(50, 340, 10, MONO)];
  assert.deepEqual(kinds(draftPages([page])), ['text', 'code', 'text']);
});

test('a listing stays code, also with some lines of words, and beside text in another face', () => {
  const comment = line(50, 90, filled(40), MONO);
  assert.deepEqual(kinds(draftPages([[...comment, ...code(102), ...code(162)]])), ['code']);
  assert.deepEqual(kinds(draftPages([[...prose(50, 100, 10), ...prose(50, 250, 3, MONO)]])), ['text', 'code']);
});

test('items of a typewritten list are items', () => {
  const items = ['1. gulls and terns on the pier', '2. herons in the cove and harbour', '3. nothing but fog and rain'];
  const page = [...prose(50, 100, 6, MONO), ...items.flatMap((text, n) => line(50, 190 + n * 12, text, MONO))];
  assert.deepEqual(kinds(draftPages([page])), ['text', 'item', 'item', 'item']);
});
