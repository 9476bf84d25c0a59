// Holds what makes a gutter, and columns within columns, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutColumns } from './columns.ts';

const item = (x0: number, x1: number, y: number, words = 7, more = {}) => ({
  box: { x0, x1, y0: y, y1: y + 10 },
  words,
  size: 10,
  atom: false,
  ...more,
});
const picture = (x0: number, x1: number, y0: number, y1: number, more = {}) => ({
  ...item(x0, x1, y0, 0, { atom: true, size: 0, ...more }),
  box: { x0, x1, y0, y1 },
});
const ROWS = [20, 32, 44, 56];
const left = ROWS.map((y) => item(50, 265, y));
const count = (...items: ReturnType<typeof item>[]) => cutColumns(items).length;

test('a gutter is as wide as most of a letter is high', () => {
  const upTo = (x1: number) => count(...ROWS.flatMap((y) => [item(50, x1, y), item(290, 500, y)]));
  assert.equal(upTo(281), 2);
  assert.equal(upTo(285), 1);
});

test('lines of a few words are columns where three of them stand beside each other, two only where they are full', () => {
  const beside = (rows: readonly number[], x1: number, words: number) =>
    count(...rows.flatMap((y, n) => [item(50, n === 0 ? 265 : x1, y, words), item(290, 500, y, words)]));
  assert.equal(beside([20, 32, 44], 265, 3), 2);
  assert.equal(beside([20, 32], 265, 7), 2);
  assert.equal(beside([20, 32], 265, 3), 1, 'two of few words');
  const short = [item(50, 265, 20), item(50, 180, 32, 9), item(290, 500, 20), item(290, 500, 32)];
  assert.equal(count(...short), 1, 'one of two stops short');
});

test('three columns whose lines lie at different heights are columns within a column', () => {
  const staggered = (rows: readonly number[]) =>
    count(...rows.flatMap((y) => [item(50, 150, y), item(290, 390, y), item(170, 270, y + 6)]));
  assert.equal(staggered(ROWS), 3);
  assert.equal(staggered([20, 32]), 1, 'of two lines each');
});

test('a column begins at one margin, give or take a hair; centred lines have none', () => {
  const at = (...xs: number[]) => count(...left, ...xs.map((x, n) => item(x, 500, ROWS[n] ?? 0)));
  assert.equal(at(290, 290.8, 291.4, 292), 2);
  assert.equal(at(290, 295, 300, 305), 1);
});

test('a line over both columns is read before them, and one under them after them', () => {
  const columns = ROWS.flatMap((y) => [item(50, 265, y), item(290, 500, y)]);
  assert.equal(count(item(50, 500, 0), ...columns, item(50, 500, 80)), 4);
});

test('two lines beside a picture are too few to be a column', () => {
  const beside = (rows: readonly number[]) => count(picture(50, 265, 20, 60), ...rows.map((y) => item(290, 500, y)));
  assert.equal(beside([20, 32]), 1);
  assert.equal(beside([20, 32, 44]), 2);
});

/** Items by name in the order in which they are painted, and read. */
const read = (places: Record<string, readonly [x0: number, x1: number, y: number]>) =>
  cutColumns(
    Object.entries(places).map(([name, [x0, x1, y]], order) => ({
      ...item(x0, x1, y, 7, { order, letters: 40 }),
      name,
    })),
  )
    .flatMap((column) => column.items.map((one) => one.name))
    .join('');

test('the gutter that parts most lines is cut first', () => {
  const left = { a: [50, 150, 20], b: [50, 150, 32], c: [50, 150, 44], d: [50, 150, 56], e: [50, 150, 68] } as const;
  const middle = { f: [170, 270, 20], g: [170, 270, 32], h: [170, 270, 44] } as const;
  const right = { i: [290, 390, 20], j: [290, 390, 32], k: [290, 390, 44] } as const;
  const under = { l: [170, 390, 56], m: [170, 390, 68] } as const;
  assert.equal(read({ ...left, ...middle, ...right, ...under }), 'abcdefghijklm');
});

test('rows with one line on a side are no cards: their columns are read one after the other', () => {
  const one = { a: [50, 260, 20], b: [290, 500, 20], c: [290, 500, 32] } as const;
  const other = { d: [50, 260, 60], e: [290, 500, 60], f: [290, 500, 72] } as const;
  assert.equal(read({ ...one, ...other }), 'adbcef');
  const mirrored = { a: [50, 260, 20], b: [50, 260, 32], c: [290, 500, 20] } as const;
  const again = { d: [50, 260, 60], e: [50, 260, 72], f: [290, 500, 60] } as const;
  assert.equal(read({ ...mirrored, ...again }), 'abdecf');
});

test('columns go on below a heading over both, where indented lines hide their margin', () => {
  const heading = item(180, 400, 80, 4);
  const below = [110, 122, 134, 146];
  const again = below.map((y) => item(50, 265, y));
  const indented = below.map((y, n) => item([302, 290, 314, 326][n] ?? 0, 500, y));
  const above = ROWS.flatMap((y) => [item(50, 265, y), item(290, 500, y)]);
  assert.equal(count(...above, heading, ...again, ...indented), 5);
  assert.equal(count(heading, ...again, ...indented), 1, 'with no columns above');
});
