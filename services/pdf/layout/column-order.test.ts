// Holds the order in which columns are read, and how far a page is cut, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutColumns } from './columns.ts';

type Place = readonly [x0: number, x1: number, y: number, more?: object];
/** Lines by name in the order in which they are painted; each column as the names of its lines. */
const columns = (places: Record<string, Place>): string[] =>
  cutColumns(
    Object.entries(places).map(([name, [x0, x1, y, more = {}]], order) => ({
      box: { x0, x1, y0: y, y1: y + 10 },
      words: 7,
      size: 10,
      atom: false,
      order,
      letters: 40,
      name,
      ...more,
    })),
  ).map((column) => column.items.map((one) => one.name).join(''));
const read = (places: Record<string, Place>) => columns(places).join('');
/** A picture, which has no letters and no place in the stream. */
const picture = (x0: number, x1: number, y0: number, y1: number): Place => [
  x0,
  x1,
  y0,
  { box: { x0, x1, y0, y1 }, words: 0, size: 0, atom: true, order: undefined, letters: undefined },
];
/** Lines 12 points apart under each other, named by letters. */
const lines = (names: string, x0: number, x1: number, y: number, pace = 12, more = {}): Record<string, Place> =>
  Object.fromEntries([...names].map((name, n) => [name, [x0, x1, y + n * pace, more]]));

test('cards in rows are read row by row, also a last row of one card', () => {
  const two = { ...lines('abc', 50, 260, 20), ...lines('def', 290, 500, 20) };
  const under = { ...lines('ghi', 50, 260, 80), ...lines('jkl', 290, 500, 80) };
  assert.equal(read({ ...two, ...under }), 'abcdefghijkl');
  assert.equal(read({ ...two, ...lines('ghi', 50, 260, 80) }), 'abcdefghi');
  const byColumn = { ...lines('abc', 50, 260, 20), ...lines('ghi', 50, 260, 80), ...lines('def', 290, 500, 20) };
  assert.equal(read({ ...byColumn, ...lines('jkl', 290, 500, 80) }), 'abcghidefjkl', 'columns with white space');
});

test('a row of cards is whole where its left one comes before its right one, and it before what is below', () => {
  const mixed = { ...lines('def', 290, 500, 20), ...lines('abc', 50, 260, 20) };
  const under = { ...lines('ghi', 50, 260, 80), ...lines('jkl', 290, 500, 80) };
  assert.equal(read({ ...mixed, ...under }), 'abcghidefjkl');
});

test('pictures over or under columns of text are no row of cards: they are read with their columns', () => {
  const text = { ...lines('abc', 50, 260, 80), ...lines('def', 290, 500, 80) };
  const over = { P: picture(50, 260, 20, 60), Q: picture(290, 500, 20, 60) };
  assert.equal(read({ ...over, ...text }), 'PabcQdef');
  const under = { P: picture(50, 260, 130, 170), Q: picture(290, 500, 130, 170) };
  assert.equal(read({ ...text, ...under }), 'abcPdefQ');
  const tall = { ...lines('abcghi', 50, 260, 20, 20), P: picture(290, 500, 20, 130), ...lines('jk', 290, 500, 135) };
  assert.equal(read(tall), 'abcghiPjk', 'white space between lines beside a picture');
});

test('numbers that count on down both columns tell their order whatever the stream says', () => {
  const item = (number: number) => ({ number });
  const rows = (...numbers: readonly number[]): Record<string, Place> => ({
    a: [50, 260, 20, item(numbers[0] ?? 0)],
    b: [50, 260, 32],
    c: [290, 500, 20, item(numbers[1] ?? 0)],
    d: [290, 500, 32],
    e: [50, 260, 80, item(numbers[2] ?? 0)],
    f: [50, 260, 92],
    g: [290, 500, 80, item(numbers[3] ?? 0)],
    h: [290, 500, 92],
  });
  assert.equal(read(rows(5, 7, 6, 8)), 'abefcdgh', 'from five on');
  assert.equal(read(rows(1, 2, 3, 4)), 'abcdefgh', 'along the rows');
});

test('the gutter beside which most of the page stands is cut first, not the margin of most lines', () => {
  const side = { ...lines('abcde', 50, 150, 20, 20) };
  const middle = { ...lines('fgh', 170, 270, 20), ...lines('lm', 170, 390, 90) };
  const dense = lines('opqrstu', 290, 390, 20, 7, { size: 5 });
  assert.equal(read({ ...side, ...middle, ...dense }), 'abcdefghopqrstulm');
});

test('a gutter is as long as its longest part: columns within a column do not go before it', () => {
  const head = { ...lines('abc', 50, 265, 20), ...lines('def', 290, 500, 20) };
  const within = {
    ...lines('hijklmnopq', 50, 265, 80),
    ...lines('rstuv', 290, 500, 80),
    ...lines('wxyz1', 290, 385, 140),
    ...lines('23456', 410, 500, 140),
  };
  const all = 'hijklmnopqrstuvwxyz123456';
  assert.equal(read({ ...head, g: [50, 500, 62], ...within }), `abcdefg${all}`);
  const foot = { ...lines('abc', 50, 265, 240), ...lines('def', 290, 500, 240) };
  assert.equal(read({ ...within, g: [50, 500, 215], ...foot }), `${all}gabcdef`);
});

test('one line beside a paragraph is no column; a table that juts into the gutter closes none', () => {
  const upper = { ...lines('abcd', 50, 265, 20), e: [290, 500, 32] as const };
  const under = { ...lines('ghij', 50, 265, 100), k: [290, 500, 112] as const };
  assert.equal(columns({ ...upper, f: [50, 500, 80], ...under }).length, 1);
  const left = { ...lines('ab', 50, 265, 20), P: picture(50, 287, 46, 70), ...lines('cd', 50, 265, 80) };
  assert.equal(columns({ ...left, ...lines('efghi', 290, 500, 20, 14) }).length, 2);
});

test('a picture beside a text is read with it where the stream goes on below with both', () => {
  const row = { P: picture(50, 260, 20, 60), ...lines('abc', 290, 500, 20) };
  assert.equal(read({ ...row, ...lines('def', 50, 260, 90), ...lines('ghi', 290, 500, 90) }), 'Pabcdefghi');
});

test('pictures make no column of theirs less one of text: under them few words, or pictures alone', () => {
  const right = lines('efghij', 290, 500, 20);
  const few = { P: picture(50, 265, 20, 50), ...lines('abc', 50, 265, 56, 12, { words: 3 }) };
  assert.equal(columns({ ...few, ...right }).length, 2);
  const portraits = { P: picture(50, 100, 20, 40), Q: picture(50, 100, 80, 95) };
  assert.equal(
    columns({ ...portraits, ...right, ...lines('klm', 290, 500, 92) }).length,
    2,
    'white space between them',
  );
});

test('a page is cut into some columns, not into as many as its words could make', () => {
  /** Columns of so many lines, each column lower than the one before it by so much. */
  const beside = (count: number, rows: string, pace: number, lower: number) =>
    columns(
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => lines(rows, 50 + n * 120, 150 + n * 120, 20 + n * lower, pace)).flatMap(
          (one, n) => Object.entries(one).map(([name, place]) => [`${name}${n}`, place] as const),
        ),
      ),
    ).length;
  assert.equal(beside(16, 'abcd', 12, 0), 14, 'one beside the other');
  assert.equal(beside(8, 'abcd', 102, 6), 8, 'at different heights');
  assert.ok(beside(17, 'abcd', 102, 6) < 17, 'too many of them');
});
