// Holds the joining of tables over page and column breaks to pages made by hand: broken rows, parts that tell too little, parts beside each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, filled, grids, line, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { mergeTables } from './continuation.ts';

const row = (y: number, cells: readonly string[]) => rows([50, 210, 370], y, [cells]);
const HEAD = row(120, ['Light', 'Keeper', 'Duty']);
/** Above and below the head, and under the table. */
const rules = (bottom: number) => [110, 126, bottom].map((at) => rule(at, 50, 550));

const tables = (pages: readonly Word[][], rulings: Ruling[]) =>
  grids(mergeTables(draftPages(pages, { rulings }), new Set()));

test('a row that a page break went through is one row, a row that begins after it is another', () => {
  const first = [
    ...HEAD,
    ...row(140, ['North', 'A. Heron', 'Trims.']),
    ...row(170, ['South', 'B. Stork', 'notes every ship']),
  ];
  const after = (label: string, keeper: string) => [
    ...HEAD,
    ...row(140, [label, keeper, 'that passes']),
    ...row(170, ['West', 'C. Crane', 'lights the lamp']),
  ];
  assert.deepEqual(tables([first, after('', '')], rules(300)), [
    [
      ['Light', 'Keeper', 'Duty'],
      ['North', 'A. Heron', 'Trims.'],
      ['South', 'B. Stork', 'notes every ship that passes'],
      ['West', 'C. Crane', 'lights the lamp'],
    ],
  ]);
  const [whole = []] = tables([first, after('East', 'D. Gull.')], rules(300));
  assert.deepEqual(
    whole.map(([light]) => light),
    ['Light', 'North', 'South', 'East', 'West'],
  );
});

test('a part whose first column is nearly empty has the columns of the part whose head it repeats', () => {
  const first = [...HEAD, ...row(140, ['North', 'A. Heron', 'Trims']), ...row(170, ['South', 'B. Stork', 'Writes'])];
  const long = Array.from({ length: 18 }, (_, n) =>
    row(140 + n * 12, [n === 0 ? 'East' : '', filled(24, n), filled(24, n + 3)]),
  );
  const columns = draftPages([first, [...HEAD, ...long.flat()]], { rulings: rules(380) }).map((draft) =>
    draft.kind === 'table' ? draft.grid.columns : 0,
  );
  assert.deepEqual(columns, [3, 3]);
});

test('a table goes on at the top of the next column, beside its first part', () => {
  const half = (left: number, names: readonly string[]) =>
    [['Light', 'Days'], ...names.map((name, n) => [name, String(n + 10)])].flatMap(([name = '', days = ''], n) => [
      ...line(left, 120 + n * 20, name),
      ...line(left + 120, 120 + n * 20, days),
    ]);
  const page = [...half(50, ['North', 'East', 'South', 'West']), ...half(330, ['Upper', 'Lower', 'Inner'])];
  const sides = [50, 330].flatMap((left) => [110, 126, 230].map((y) => rule(y, left, left + 220)));
  const [table = [], ...others] = tables([page], sides);
  assert.deepEqual(others, []);
  assert.deepEqual(
    table.map(([light]) => light),
    ['Light', 'North', 'East', 'South', 'West', 'Upper', 'Lower', 'Inner'],
  );
});
