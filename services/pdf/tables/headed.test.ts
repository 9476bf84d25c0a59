// Holds each rule that tells the head and the rows of a table whose only line is under its head, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, cellTexts, line, pageOf, rows, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { findHeadedTables } from './headed.ts';

const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
  ['Heron', '3', '4'],
];
const AXES = [200, 300, 400];
const HEAD = 302;
const UNDER = rule(306, 195, 440);
const birds = (cells: readonly (readonly string[])[] = BIRDS) => rows(AXES, HEAD, cells);
const found = (words: Word[], rulings = [UNDER]) =>
  findHeadedTables(pageOf(words, { rulings }), words, new Set()).map(cellTexts);

test('the line is long, the head has three cells, and rows with cells side by side follow it', () => {
  assert.deepEqual(found(birds()), [BIRDS]);
  const narrow = rows(
    [200, 215, 230],
    HEAD,
    [...'123'].map((n) => [n, n, n]),
  );
  assert.equal(found(narrow, [rule(306, 190, 255)]).length, 1);
  assert.equal(found(narrow, [rule(306, 195, 240)]).length, 0, 'a short line');
  assert.equal(found(birds(BIRDS.map((row) => row.slice(0, 2)))).length, 0, 'two columns');
  assert.equal(found(birds(BIRDS.slice(0, 2))).length, 0, 'one row');
  const lone = [...BIRDS.slice(0, 3), ['Coot', '', ''], ['Teal', '', ''], ['Rail', '', '']];
  assert.equal(found(birds(lone)).length, 0, 'mostly lines alone');
});

test('another line at the table says that it is set otherwise, one beside it does not', () => {
  assert.equal(found(birds(), [UNDER, rule(352, 195, 440)]).length, 0);
  assert.equal(found(birds(), [UNDER, rule(285, 195, 440)]).length, 0);
  assert.equal(found(birds(), [UNDER, rule(352, 20, 150)]).length, 1);
  assert.equal(found(birds(), [UNDER, rule(500, 195, 440)]).length, 1, 'far below');
  const left = rows([20, 80, 140], HEAD, BIRDS);
  const two = [rule(306, 15, 180), UNDER];
  assert.deepEqual(found([...left, ...birds()], two), [BIRDS, BIRDS], 'each line has its own words');
});

test('the head is what stands tight on the line in one type, in up to four lines, and no wide line', () => {
  const head = (text: string, y = 290, x = 300) =>
    found([...line(x, y, text, undefined, 3), ...birds()])[0]?.[0]?.join('|');
  assert.equal(head('Counts'), 'Bird|Counts Spring|Autumn', 'a second line of the head');
  assert.equal(head('Counts', 284), 'Bird|Spring|Autumn', 'apart');
  assert.equal(head('Counted from the old lights', 290, 212), 'Bird|Spring|Autumn', 'a wide line');
  const lines = rows(
    AXES,
    HEAD - 60,
    Array.from({ length: 5 }, () => ['one', 'two', 'six']),
    12,
  );
  assert.equal(
    found([...lines, ...birds()])[0]
      ?.flat()
      .join(' ')
      .match(/one/g)?.length,
    3,
  );
});

test('the rows end at white space and at a line over two columns', () => {
  const under = (words: Word[]) => found([...birds(), ...words])[0]?.length;
  const next = HEAD + 56;
  assert.equal(under(rows(AXES, next, [['Coot', '7', '7']])), 5);
  assert.equal(under(rows(AXES, next + 16, [['Coot', '7', '7']])), 4, 'apart');
  assert.equal(under(line(200, next, 'Counted from the light, 41', undefined, 3)), 4, 'over two columns');
});

test('a line alone below the last row is none of the table, unless it goes on one of its cells', () => {
  const last = (y: number, style?: TextStyle) =>
    found([...birds(), ...line(200, y, 'Noted', style)])[0]
      ?.at(-1)
      ?.join('|');
  assert.equal(last(HEAD + 53), 'Heron Noted|3|4', 'close');
  assert.equal(last(HEAD + 60), 'Heron|3|4', 'apart');
  assert.equal(last(HEAD + 53, BOLD), 'Heron|3|4', 'in another type');
});

test('a heading in another type is no part of the head; the table reaches to the ends of its line, the only one near it', () => {
  const above = (style: TextStyle) => found([...line(300, 290, 'Counts', style, 3), ...birds()])[0]?.[0]?.join('|');
  assert.equal(above(BOLD), 'Bird|Spring|Autumn', 'bold');
  assert.equal(above(sized(11)), 'Bird|Spring|Autumn', 'larger');
  const [table] = findHeadedTables(pageOf(birds(), { rulings: [UNDER] }), birds(), new Set());
  assert.deepEqual([table?.box.x0, table?.box.x1], [195, 440]);
  assert.equal(found(birds(), [UNDER, rule(200, 195, 440)]).length, 1, 'a line far above');
  assert.equal(found(birds(), [{ ...UNDER, horizontal: false }]).length, 0, 'an upright line');
  const drawing = Array.from({ length: 200 }, (_, n) => rule(500 + n, 20, 150));
  assert.equal(found(birds(), [UNDER, ...drawing]).length, 0, 'a drawing');
  assert.equal(found(birds(), [UNDER, ...drawing.slice(0, 150)]).length, 1, 'lines elsewhere');
});

test('a table that is set close under another takes none of its rows for its head', () => {
  const log = [...BIRDS, ['Coot', '7', '8'], ['Rail', '5', '6'], ['Teal', '2', '1']];
  const upper = rows(AXES, HEAD, log);
  const heads = [
    ...line(200, HEAD + 98, 'Counted from the old harbour', undefined, 3),
    ...line(400, HEAD + 98, 'Lit', undefined, 3),
  ];
  const ports = [
    ['Port', 'Ships', 'Boats'],
    ['Oban', '1', '2'],
    ['Mull', '3', '4'],
    ['Iona', '5', '6'],
  ];
  const lower = rows(AXES, HEAD + 112, ports);
  const two = found([...upper, ...heads, ...lower], [UNDER, rule(HEAD + 116, 195, 440)]);
  assert.deepEqual(two[0], log);
  assert.equal(two[1]?.flat().filter((text) => /Rail|Teal/.test(text)).length, 0);
});

test('words left of the line are none of the table, gaps that run down nowhere are no columns', () => {
  assert.deepEqual(found([...birds(), ...line(60, HEAD + 14, 'seen')]), [BIRDS]);
  const gaps = [
    ...line(200, HEAD, 'The keeper'.replace(' ', '_')),
    ...line(257, HEAD, 'lights_the'),
    ...line(314, HEAD, 'lanterns_at'),
  ];
  const next = (y: number) => [...line(200, y, 'night_when_the_s'), ...line(290, y, 'come_home')];
  assert.equal(found([...gaps, ...next(HEAD + 14), ...next(HEAD + 28)], [rule(306, 195, 380)]).length, 0);
});

test('the columns that a row may not run over are those of the fullest row of the head', () => {
  const note = line(200, HEAD + 56, 'Counted from the light, 41', undefined, 3);
  const under = (...head: Word[]) => found([...head, ...birds(), ...note])[0]?.length;
  assert.equal(under(), 4);
  assert.equal(under(...line(300, HEAD - 12, 'Counts')), 4, 'a row of one head above it');
  const units = [
    ...rows(AXES, HEAD - 12, BIRDS.slice(0, 1)),
    ...rows(AXES, HEAD, [['', '', 'seen'], ...BIRDS.slice(1)]),
  ];
  assert.equal(
    found([...units, ...note])[0]
      ?.flat()
      .join(' ')
      .includes('light'),
    false,
    'a row of one head below it',
  );
});
