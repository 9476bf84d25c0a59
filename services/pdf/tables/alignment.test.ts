// Holds each rule that cuts rows of text into columns and cells by the white space between them, on rows made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line, PLAIN, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { findColumns, numericShare, placeRow, readAligned, textRows } from './alignment.ts';

const AXES = [100, 200, 300];
const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
  ['Coot', '3', '4'],
];
const TOP = 300;
const at = (cells: readonly (readonly string[])[], xs = AXES, y = TOP) => rows(xs, y, cells, 14);
const birds = () => at(BIRDS);
const columns = (words: Word[]) => (findColumns(textRows(words))?.separators.length ?? 0) + 1;
const times = (n: number, ...row: string[]) => Array.from({ length: n }, () => row);
const read = (words: Word[], { edges = [] as number[], rowRules = false, rules = [] as Ruling[] } = {}) =>
  readAligned(textRows(words), { edges, rowRules }, rules, new Set())?.grid.rows.map((row) =>
    row.map((cell) => (cell.colspan > 1 ? `${cell.text} ${cell.colspan}` : cell.text)),
  );

test('figures are numbers with their signs and units, and dashes for none; first cells name the row', () => {
  const share = (...cells: string[]) => numericShare(textRows(at([['1', ...cells]])));
  assert.equal(share('41%', '–'), 1);
  assert.equal(share('€4.50', 'Gull'), 0.5);
  assert.equal(share('Gull', '4b'), 0);
});

test('columns are parted by white space that some rows have text on both sides of', () => {
  assert.equal(columns(birds()), 3);
  assert.equal(columns(at(times(4, 'Gull', '', ''))), 1, 'one cell a row');
  assert.equal(columns(at([['Bird', 'Spring', 'Autumn'], ...times(6, 'Gull', '41', '')])), 2, 'one row of seven');
  assert.equal(
    columns([...birds(), ...line(100, TOP + 56, 'Gulls and terns and coots counted', undefined, 3)]),
    3,
    'a line over all',
  );
  const near = [...rows([100], TOP, times(4, 'lamplighters')), ...rows([164], TOP, times(4, '41'))];
  assert.equal(columns(near), 1, 'a space is no gap');
});

test('a few heads over several columns hide no white space, but half of the rows do', () => {
  const over = (heads: number, body: number) => [
    ...at(times(heads, 'Bird', 'Counted from the lights', '')).flat(),
    ...at(times(body, 'Gull', '41', '57'), AXES, TOP + heads * 14),
  ];
  assert.equal(columns(over(1, 8)), 3);
  assert.equal(columns(over(1, 2)), 2, 'of three rows');
  assert.equal(columns(over(4, 5)), 2, 'four of nine');
});

test('heads at the left and figures at the right of one column are one; labels left of all cells are a column', () => {
  const right = [...at(BIRDS.slice(0, 1)), ...rows([100, 260, 360], TOP + 14, BIRDS.slice(1), 14)];
  assert.equal(columns(right), 3);
  const form = [...rows([20], TOP, times(4, 'Name'), 28), ...rows([100, 200], TOP + 14, times(4, 'Gull', '41'), 28)];
  assert.equal(columns(form), 3);
  const one = [...line(20, TOP - 14, 'Name'), ...rows([100, 200], TOP, times(4, 'Gull', '41'), 14)];
  assert.equal(columns(one), 2, 'one label');
});

test('a gap inside a few cells is no column where a line of text runs over it, nor is a mark before one row', () => {
  const remarks = [
    ...at(times(5, 'Gull', 'few', ''), [100, 200, 270]),
    ...at(times(3, 'Tern', 'seen', 'twice'), [100, 200, 270], TOP + 70),
    ...at([['Coot', 'counted from the old light', '']], [100, 200, 270], TOP + 112),
  ];
  assert.equal(columns(remarks), 2);
  assert.equal(columns(at([['*', 'Gull', '41'], ...times(8, '', 'Tern', '12')], [60, 100, 200])), 2);
});

test('a head between two columns that no row has both of is of the nearer one', () => {
  const headed = (x: number) =>
    read([
      ...at([['No', 'Seen']], [20, x]),
      ...at(
        BIRDS.slice(1).map((row, n) => [`${n + 1}`, row[0] ?? '', row[1] ?? '']),
        [20, 100, 300],
        TOP + 14,
      ),
    ])?.slice(0, 2);
  assert.deepEqual(headed(240), [
    ['No', '', 'Seen'],
    ['1', 'Gull', '41'],
  ]);
  assert.deepEqual(headed(150), [
    ['No', 'Seen', ''],
    ['1', 'Gull', '41'],
  ]);
});

test('a heading of a group that stands between two columns is of both', () => {
  const body = (y: number) => at(times(2, 'Gull', '41'), [100, 300], y);
  assert.deepEqual(read([...body(TOP), ...line(195, TOP + 28, 'Summer'), ...body(TOP + 42)])?.[2], ['Summer 2']);
});

test('the lines of a label that wraps show how far its column reaches', () => {
  const words = [...birds(), ...rows([100], TOP + 56, [['and the rest of it']])];
  const [first] = findColumns(textRows(words))?.separators ?? [];
  assert.ok(first !== undefined && first > 190);
});

test('words over a separator span, and a rule under a head says how far, but not over its neighbour', () => {
  const body = at([...BIRDS.slice(1), ...BIRDS.slice(1)], AXES, TOP + 14);
  assert.deepEqual(
    read([...at([['Bird']]), ...line(205, TOP, 'Counted in the whole year', undefined, 3), ...body])?.[0],
    ['Bird', 'Counted in the whole year 2'],
  );
  const head = [...at([['Bird']]), ...line(215, TOP, 'Seen'), ...body];
  const under = (start: number, end: number, y = TOP + 3) => read(head, { rules: [rule(y, start, end)] })?.[0];
  assert.deepEqual(under(195, 330), ['Bird', 'Seen 2']);
  assert.deepEqual(under(195, 260), ['Bird', 'Seen', ''], 'under one column');
  assert.deepEqual(under(195, 330, TOP - 20), ['Bird', 'Seen', ''], 'above it');
  assert.deepEqual(under(195, 330, TOP + 40), ['Bird', 'Seen', ''], 'far below');
  assert.deepEqual(under(60, 330), ['Bird', 'Seen 2'], 'over its neighbour');
  assert.deepEqual(under(95, 140), ['Bird', 'Seen', ''], 'under its neighbour');
});

test('a rule over two columns is so however far the heads reach that span them', () => {
  const xs = [100, 200, 260, 320];
  const words = [
    ...line(100, TOP - 28, 'Bird'),
    ...line(205, TOP - 28, 'Counted from the old lighthouses', undefined, 3),
    ...line(245, TOP - 14, 'Spring'),
    ...at([['', 'Day', 'Night', 'All'], ...times(8, 'Gull', '41', '57', '98')], xs),
  ];
  assert.deepEqual(read(words, { rules: [rule(TOP - 11, 195, 275)] })?.slice(0, 3), [
    ['Bird', 'Counted from the old lighthouses 3'],
    ['Spring 2', 'All'],
    ['Day', 'Night'],
  ]);
});

test('where the label of a row stands lower than its first cell, the row begins with the label all the same', () => {
  const cells = [
    ['Bird', 'Seen'],
    ['', 'Many'],
    ['Gull', 'Few'],
    ['Tern', 'None'],
  ];
  assert.deepEqual(read(at(cells), { edges: [TOP + 4, TOP + 32], rowRules: true })?.[1], ['Gull', 'Many Few']);
});

test('where each row has a line of its own, all between two lines is one row, unless figures are stacked there', () => {
  const cells = [
    ['Bird', 'Spring', 'Autumn'],
    ['Gull', 'Many', 'Few'],
    ['Tern', 'Some', 'None'],
    ['Coot', 'One', 'Two'],
  ];
  const edges = [TOP + 4, TOP + 32];
  assert.equal(read(at(cells), { edges })?.length, 4);
  assert.deepEqual(read(at(cells), { edges, rowRules: true })?.[1], ['Gull Tern', 'Many Some', 'Few None']);
  assert.equal(read(birds(), { edges, rowRules: true })?.length, 4);
});

const placed = (words: Word[], separators: number[]) =>
  textRows(words).map((row) =>
    placeRow(row, { separators, extents: [...separators, 0].map(() => ({ x0: 0, x1: 0 })) }, []).map(
      (one) => `${one.words.map((word) => word.text).join(' ')} ${one.from}-${one.to}`,
    ),
  )[0];

test('words of a piece go to their columns: a hair over the middle is no span, a word over it joins its neighbours', () => {
  const words = line(100, TOP, 'Gull Tern', undefined, 3);
  assert.deepEqual(placed(words, [121.5]), ['Gull Tern 0-1']);
  assert.deepEqual(placed(words, [135]), ['Gull Tern 0-1'], 'the second runs over');
  assert.deepEqual(placed(words, [121, 123.5]), ['Gull 0-0', 'Tern 2-2'], 'a column between them');
  assert.deepEqual(placed(line(100, TOP, 'Lighthouses'), [130]), ['Lighthouses 0-1']);
  assert.deepEqual(placed(line(100, TOP, 'Gull'), [119.5]), ['Gull 0-0'], 'a hair over it');
  assert.deepEqual(placed(line(100, TOP, 'Gull'), [100.5]), ['Gull 1-1'], 'a hair before it');
  assert.deepEqual(placed([...words, ...line(146, TOP, 'Coot', undefined, 3)], [135, 160]), ['Gull Tern Coot 0-2']);
  assert.deepEqual(placed([...line(100, TOP, 'Gull'), ...line(200, TOP, 'Tern')], [150]), ['Gull 0-0', 'Tern 1-1']);
});

test('a space of type of one pitch parts no cells, two of them do; in other type the same white space does', () => {
  const pieces = (words: Word[]) =>
    textRows(words)[0]?.segments.map((segment) => segment.words.map((word) => word.text).join(' '));
  assert.deepEqual(pieces(line(100, TOP, 'fares paid ashore', PLAIN, 6)), ['fares paid ashore']);
  assert.deepEqual(pieces(line(100, TOP, 'fares paid ashore', PLAIN, 10)), ['fares', 'paid', 'ashore'], 'two spaces');
  const uneven = line(100, TOP, 'fares paid ashore', PLAIN, 6);
  for (const { box } of uneven.slice(0, 1)) box.x0 -= 4;
  assert.deepEqual(pieces(uneven), ['fares', 'paid', 'ashore'], 'letters of several widths');
  assert.deepEqual(
    pieces(line(100, TOP, '57 41 12', PLAIN, 6)),
    ['57', '41', '12'],
    'figures, of one width in all type',
  );
});
