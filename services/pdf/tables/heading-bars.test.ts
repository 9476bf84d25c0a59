// Holds what tells a heading on a painted bar from a painted row of a table, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filled, line, PLAIN, pageOf, painted, rows } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';
import { paintedCells } from './shaded.ts';

const bar = (y: number, x1 = 400) => painted(100, y - 10, x1, y + 4);
const kept = (words: Word[], ...bars: ReturnType<typeof bar>[]) =>
  paintedCells(pageOf(words, { regions: bars })).length;
/** A line whose words stand as close as in running text. */
const text = (x: number, y: number, words: string) => line(x, y, words, PLAIN, 3);
const prose = (x: number, y: number, lines: number) =>
  Array.from({ length: lines }, (_, n) => text(x, y + n * 12, filled(60, n * 3))).flat();
const head = (y: number) => text(104, y, 'The second watch');
const BIRDS = [
  ['Gull', '41'],
  ['Tern', '12'],
];

test('a bar with one piece of text over prose or a list is the bar of a heading', () => {
  const section = (y: number) => [...head(y), ...prose(100, y + 20, 4)];
  assert.equal(kept([...section(100), ...section(200)], bar(100), bar(200)), 0);
  const item = [...line(100, 120, '(1)'), ...text(140, 120, 'counts every ship'), ...prose(140, 132, 1)];
  assert.equal(kept([...head(100), ...item], bar(100)), 0, 'over an item of a list');
});

test('a bar is a row where it holds several pieces, or nothing, or stands over a row of cells or wider text', () => {
  const cells = rows([104, 300], 120, BIRDS);
  assert.equal(kept([...head(100), ...cells], bar(100)), 1, 'over cells');
  assert.equal(kept([...rows([104, 300], 100, [['Bird', 'Seen']]), ...prose(100, 120, 2)], bar(100)), 1, 'two pieces');
  assert.equal(kept(prose(100, 120, 2), bar(100)), 1, 'without text');
  assert.equal(kept([...head(100), ...prose(100, 120, 2)], bar(100, 300)), 1, 'over wider text');
  assert.equal(kept(head(100), bar(100)), 1, 'over nothing');
  assert.equal(kept([...prose(104, 100, 3), ...prose(100, 160, 2)], painted(100, 90, 410, 130)), 1, 'three lines');
});

test('bars close to each other are the rows of a table', () => {
  const list = [0, 1, 2, 3].flatMap((n) => head(100 + n * 14));
  assert.equal(kept(list, bar(100), bar(128)), 2);
});
