// Holds each rule that tells a row with one text over all columns from a label with empty cells, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, line, PLAIN, pageOf, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { findAlignedTables } from './aligned.ts';
import { HeadMemory } from './head-memory.ts';

const AXES = [105, 205, 305];
const TOP = 300;
const HEAD = ['Bird', 'Spring', 'Autumn'];
const COUNTS = ['Gull', '41', '57'];
const LONG = 'Counted at the old quay of the bay';

/** For each row with one text, that text and the columns that it spans. */
function groups(heads: readonly [x: number, text: string][], style: TextStyle = BOLD): [string, number][] {
  const last = TOP + 14 * heads.length * 3;
  const words = [
    ...rows(AXES, TOP, [HEAD]),
    ...heads.flatMap(([x, text], n) => {
      const y = TOP + 14 + n * 42;
      return [...line(x, y, text, style, 3), ...rows(AXES, y + 14, [COUNTS, COUNTS])];
    }),
  ];
  const rulings = [TOP - 10, TOP + 4, last + 4].map((y) => rule(y, 100, 345));
  const [table] = findAlignedTables(pageOf(words, { rulings }), buildChunks(words), new Set(), new HeadMemory());
  return (table?.grid.rows ?? []).flatMap((row) => {
    const told = row.filter((cell) => cell.text !== '');
    const [only] = told;
    return only && told.length === 1 ? [[only.text, only.colspan] as [string, number]] : [];
  });
}

test('a text that runs over a column boundary from the row beginning, alone in its row, spans all columns', () => {
  assert.deepEqual(groups([[105, LONG]]), [[LONG, 3]]);
});

test('a short text alone in its row spans all columns where another of its type and place does', () => {
  const both: [number, string][] = [
    [105, LONG],
    [105, 'By night'],
  ];
  assert.deepEqual(groups(both), [
    [LONG, 3],
    ['By night', 3],
  ]);
  assert.deepEqual(groups(both, PLAIN)[1], ['By night', 1], 'in the type of the labels');
  assert.deepEqual(groups([[105, 'By night']]), [['By night', 1]], 'no other');
});

test('texts in the middle of the table span all columns where one runs over a boundary', () => {
  const middle = (text: string): [number, string] => [
    220 - (text.replaceAll(' ', '').length * 5 + (text.split(' ').length - 1) * 3) / 2,
    text,
  ];
  assert.deepEqual(groups([middle(LONG), middle('By night')]), [
    [LONG, 3],
    ['By night', 3],
  ]);
});
