// Holds how tables are read that a box surrounds, and tables that stand beside one another, on whole pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, grids, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling } from '../source/page-model.ts';

const upright = (at: number, start: number, end: number): Ruling => ({ ...rule(at, start, end), horizontal: false });
const boxed = (x0: number, x1: number, y0: number, y1: number): Ruling[] => [
  rule(y0, x0, x1),
  rule(y1, x0, x1),
  upright(x0, y0, y1),
  upright(x1, y0, y1),
];

test('a box with one line under the head has the rows and columns of its text', () => {
  const cells = [
    ['Bird', 'Spring', 'Autumn'],
    ...['Gull', 'Tern', 'Heron', 'Crane', 'Snipe'].map((bird, n) => [bird, `${n + 3}`, `${n * 7 + 11}`]),
  ];
  const words = rows([105, 205, 305], 310, cells);
  const rulings = [...boxed(95, 400, 298, 388), rule(315, 95, 400)];
  assert.deepEqual(grids(draftPages([words], { rulings })), [cells]);
});

test('tables beside one another are read from left to right, also where the left one begins lower', () => {
  const left = [
    ['Bird', 'Seen'],
    ['Gull', '41'],
    ['Tern', '12'],
  ];
  const right = [
    ['Port', 'Ships'],
    ['Oban', '7'],
    ['Cork', '9'],
  ];
  const grid = (x: number, y: number) => [
    ...boxed(x, x + 180, y, y + 60),
    upright(x + 90, y, y + 60),
    rule(y + 20, x, x + 180),
    rule(y + 40, x, x + 180),
  ];
  const words = [...rows([55, 145], 327, left, 20), ...rows([305, 395], 313, right, 20)];
  assert.deepEqual(grids(draftPages([words], { rulings: [...grid(50, 314), ...grid(300, 300)] })), [left, right]);
});
