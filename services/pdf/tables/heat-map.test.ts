// Holds tables whose cells are painted by their values to pages made by hand: the paint is no sign of rows or columns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, grids, painted, rows, rule } from '#test/harness/documents/pdf-pages.ts';

const LIGHTS = [
  ['Light', 'Spring', 'Summer', 'Autumn'],
  ...['North', 'East', 'South', 'West', 'Upper', 'Lower'].map((name, n) => [
    name,
    `0.${n}7`,
    `0.${n + 1}4`,
    `0.${9 - n}2`,
  ]),
];
const AXES = [80, 200, 280, 360];

test('cells in many colours are no tables of their own', () => {
  const words = rows(AXES, 200, LIGHTS, 12);
  const rulings = [188, 203, 277].map((at) => rule(at, 75, 420));
  // The cells of two columns, row by row, each in a colour of its own.
  const regions = LIGHTS.slice(1).flatMap((_, n) =>
    [195, 355].map((x, column) => painted(x, 204 + n * 12, x + 60, 216 + n * 12, 0xff0000 + (n * 2 + column) * 0x0a0a)),
  );
  assert.equal(new Set(regions.map(({ color }) => color)).size, 12);
  const more = [...regions, painted(275, 204, 335, 216, 0xffcccc)];
  assert.deepEqual(grids(draftPages([words], { rulings, regions: more })), [LIGHTS]);
});
