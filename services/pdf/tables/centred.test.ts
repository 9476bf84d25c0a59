// Holds what tells rows whose cells are centred against each other from text, formulas and other tables, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTexts, line, pageOf, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { findCentredTables } from './whitespace.ts';

const PITCH = 12;
const XS = [50, 90, 330];
const LABELS = ['A', 'AA', 'AAA'];
const LONG = [
  'the keeper counts every ship that',
  'passes between two bells of a watch',
  'and notes it in his long grey book',
];
const SHORT = ['all ships under way by', 'day and under sail'];

/** Lines one below the other, centred on `y`. */
const centred = (x: number, y: number, lines: readonly string[], pitch = PITCH): Word[] =>
  lines.flatMap((text, n) => line(x, y + (n - (lines.length - 1) / 2) * pitch, text));
/** Rows of a label, three lines and two, by the white space between rows. */
const table = (gap: number, short = SHORT, shift = 0): Word[] =>
  LABELS.flatMap((label, n) => {
    const y = 300 + n * (2 * PITCH + 10 + gap);
    const [a = 0, b = 0, c = 0] = XS;
    return [...centred(a, y, [label]), ...centred(b, y, LONG), ...centred(c, y + shift, short)];
  });
const found = (words: Word[]) => findCentredTables(buildChunks(words), pageOf(words), new Set()).map(cellTexts);
const body = LABELS.map((label) => [label, LONG.join(' '), SHORT.join(' ')]);

test('rows with more white space between them than between the lines of their cells are a table, and the head over them', () => {
  assert.deepEqual(found(table(6)), [body]);
  const head = [...line(50, 270, 'Level', undefined, 4), ...line(90, 270, 'Duty'), ...line(330, 270, 'Ships')];
  assert.deepEqual(found([...head, ...table(6)]), [[['Level', 'Duty', 'Ships'], ...body]]);
  const over = (text: string, gap: number) => found([...line(50, 270, text, undefined, gap), ...table(6)]);
  assert.deepEqual(over('the lights of the bay are lit at dusk and put out by hand', 3), [body], 'text');
  assert.deepEqual(over('the lights of the bay are lit', 5), [body], 'text with wide spaces');
  assert.deepEqual(found([...line(50, 268, 'Birds', sized(14)), ...line(330, 268, 'Ships', sized(14)), ...table(6)]), [
    body,
  ]);
});

test('lines at one height, and those that are no middle of each other, are none', () => {
  assert.equal(found(table(6, [...SHORT, 'at the lock'])).length, 0, 'at one height');
  assert.equal(found(table(6, SHORT, -4)).length, 0, 'two columns of text');
  assert.equal(found(table(2)).length, 0, 'rows as close as lines');
  assert.equal(found(table(6).filter(({ box }) => box.y0 < 360)).length, 0, 'two rows');
  const beside = [0, 1, 2].flatMap((n) => [...centred(50, 300 + 44 * n, LONG), ...centred(330, 302 + 44 * n, LONG)]);
  assert.equal(found(beside).length, 0, 'columns of as many lines');
  const terms = ['x y', 'z w'];
  const sums = [0, 1, 2].flatMap((n) => [...centred(50, 300 + 50 * n, terms), ...line(90, 300 + 50 * n, '= 1')]);
  assert.equal(found(sums).length, 0, 'fractions');
});

test('a table that goes on in rows of another kind is left to those who read both', () => {
  const below = (...cells: [number, string][]) =>
    found([...table(6), ...cells.flatMap(([x, text]) => line(x, 408, text, undefined, 3))]);
  assert.deepEqual(below([50, 'seen from the light by the keeper and his son']), [body], 'text');
  assert.deepEqual(below([50, 'seen from the light by the keeper and his son'], [330, 'off the bar']), [], 'a row');
  const level = [0, 1, 2, 3].flatMap((n) => [...line(50, 422 + 14 * n, 'Bay'), ...line(90, 422 + 14 * n, '41')]);
  assert.deepEqual(found([...table(6), ...line(90, 408, 'Others'), ...level]), [], 'rows further down');
});
