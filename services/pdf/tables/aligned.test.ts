// Holds each rule that finds a table by rules above and below it, or by every other row's shading, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cellTexts,
  filled,
  line,
  PLAIN,
  pageOf,
  painted,
  prose,
  rows,
  rule,
  sized,
} from '#test/harness/documents/pdf-pages.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { findAlignedTables } from './aligned.ts';
import { HeadMemory } from './head-memory.ts';

const AXES = [105, 205, 305];
const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
];
const TOP = 300;
const at = (cells: readonly (readonly string[])[] = BIRDS, y = TOP, xs = AXES) => rows(xs, y, cells, 14);
const found = (words: Word[], more: Partial<PageContent>) =>
  findAlignedTables(pageOf(words, more), buildChunks(words), new Set(), new HeadMemory()).map(cellTexts);
const rules = (...ys: readonly number[]) => ({ rulings: ys.map((y) => rule(y, 100, 400)) });
const ruled = (words: Word[], ...ys: readonly number[]) => found(words, rules(...ys));
/** Rules over the head, under it and under the last row. */
const BOOK = [TOP - 10, TOP + 4, TOP + 32];

test('two long rules of one width bound a table, lines cut by gaps make it', () => {
  assert.deepEqual(ruled(at(), ...BOOK), [BIRDS]);
  assert.deepEqual(ruled(at(), TOP - 10, TOP + 32), [BIRDS]);
  assert.equal(ruled(at(), TOP + 32).length, 0, 'one rule');
  assert.equal(found(at(), { rulings: [rule(TOP - 10, 100, 400), rule(TOP + 32, 100, 300)] }).length, 0, 'two widths');
  assert.equal(found(at(), { rulings: [rule(TOP - 10, 60, 400), rule(TOP + 32, 100, 400)] }).length, 0, 'two edges');
  const narrow = rows(
    [105, 120, 135],
    TOP,
    BIRDS.map((_, n) => [String(n), String(n), String(n)]),
    14,
  );
  const short = { rulings: [rule(TOP - 10, 100, 150), rule(TOP + 32, 100, 150)] };
  assert.equal(found(narrow, short).length, 0, 'short rules');
  assert.equal(found(narrow, { rulings: [rule(TOP - 10, 100, 180), rule(TOP + 32, 100, 180)] }).length, 1);
  assert.equal(ruled(at([['Gull', '41', '57']]), TOP - 10, TOP + 32).length, 0, 'one row');
  assert.equal(ruled(prose(100, TOP, 3), TOP - 10, TOP + 32).length, 0, 'prose');
  const one = [
    ['Counts', '', ''],
    ['Gull', '41', ''],
    ['Tern', '', ''],
  ];
  assert.equal(ruled(at(one), ...BOOK).length, 0, 'one row that is cut');
  assert.deepEqual(ruled([...at(), ...line(420, TOP, 'seen')], ...BOOK), [BIRDS], 'beside the rules');
  assert.deepEqual(ruled([...at(), ...line(60, TOP, 'seen')], ...BOOK), [BIRDS], 'left of the rules');
});

test('a heavy rule closes a table with a head; prose between two tables is no part of them', () => {
  const below = at(BIRDS, TOP + 60);
  const weighed = [BOOK[0], BOOK[2], TOP + 50, TOP + 92].map((y, n) => rule(y ?? 0, 100, 400, n % 4 === 9 ? 1 : 2));
  const light = [rule(TOP + 4, 100, 400), rule(TOP + 64, 100, 400)];
  assert.deepEqual(found([...at(), ...below], { rulings: [...weighed, ...light] }), [BIRDS, BIRDS]);
  const even = [...weighed, ...light].map((one) => ({ ...one, thickness: 1 }));
  assert.equal(found([...at(), ...below], { rulings: even }).length, 1, 'rules of one weight');
  const text = [...prose(100, TOP + 56, 4)];
  const next = TOP + 130;
  const apart = ruled([...at(), ...text, ...at(BIRDS, next)], ...BOOK, next - 10, next + 4, next + 32);
  assert.deepEqual(apart, [BIRDS, BIRDS]);
});

test('a caption between rules of one width parts two tables', () => {
  const next = TOP + 80;
  const between = (text: string) => {
    const caption = [
      ...line(105, TOP + 46, text),
      ...line(280, TOP + 46, 'of the bay'),
      ...line(105, TOP + 58, 'and rye'),
    ];
    return ruled([...at(), ...caption, ...at(BIRDS, next)], TOP - 10, TOP + 32, next - 10, next + 32);
  };
  assert.deepEqual(between('Table 7. Birds'), [BIRDS, BIRDS]);
  assert.equal(between('Birds and ships').length, 1);
});

test('long cells between the rules of their rows are cells', () => {
  const cells = [
    ['gulls that come to the old bay', 'they rest on the quay all day'],
    ['and leave it in the late autumn', 'until the boats are coming in'],
    ['when the wind has turned to west', 'and the light is lit once more'],
  ];
  const head = [['What we saw of the birds here', 'What the keeper says of them']];
  const words = [...at(head, TOP, [105, 285]), ...rows([105, 285], TOP + 14, cells, 12)];
  assert.deepEqual(ruled(words, TOP - 10, TOP + 4, TOP + 44)[0]?.length, 2);
});

test('rows that no rule closes go on below the head, up to white space or a line over the columns', () => {
  const open = (words: Word[] = [], ys = [TOP - 10, TOP + 4]) => ruled([...at(), ...words], ...ys)[0]?.length;
  const next = TOP + 42;
  assert.equal(open(), 3);
  assert.equal(open(at([['Coot', '3', '4']], next)), 4);
  assert.equal(open(at([['Coot', '3', '4']], next + 16)), 3, 'white space');
  assert.equal(open(line(105, next, 'Counted from the old light each day', undefined, 3)), 3, 'over the columns');
  assert.equal(open(line(420, next, 'seen', undefined, 3)), 3, 'beside the rules');
  const boxed = [...at(BIRDS.slice(0, 2)), ...line(105, TOP + 28, 'Counted')];
  assert.deepEqual(ruled(boxed, TOP - 10, TOP + 18), [BIRDS.slice(0, 2)], 'a note below two rows');
  const two = at(BIRDS.map((row) => row.slice(0, 2)));
  assert.equal(ruled(two, TOP - 10, TOP + 4).length, 0, 'two heads');
  const beside = (x: number) => ruled([...at(), ...line(x, TOP + 14, 'seen')], TOP - 10, TOP + 4);
  assert.deepEqual([beside(420), beside(60)], [[BIRDS], [BIRDS]], 'beside its rows');
});

test('rules inside the table that are shorter tell what a head spans', () => {
  const head = [...line(230, TOP - 14, 'Seen'), ...at()];
  const rulings = [TOP - 26, TOP + 4, TOP + 32].map((y) => rule(y, 100, 400));
  const [table] = findAlignedTables(
    pageOf(head, { rulings: [...rulings, rule(TOP - 11, 200, 345)] }),
    buildChunks(head),
    new Set(),
    new HeadMemory(),
  );
  assert.deepEqual(
    table?.grid.rows[0]?.map((cell) => cell.colspan),
    [1, 2],
  );
});

const GREY = 0xeeeeee;
const bars = (count: number, { x0 = 100, x1 = 400, height = 14, color = GREY } = {}) => ({
  regions: Array.from({ length: count }, (_, n) => painted(x0, TOP + 4 + n * 28, x1, TOP + 4 + n * 28 + height, color)),
});
const MORE = [...BIRDS, ['Coot', '3', '4'], ['Rail', '5', '6']];

test('shaded rows by turns are a table with the rows around and between them', () => {
  assert.deepEqual(found(at(MORE), bars(2)), [MORE]);
  assert.equal(found(at(MORE), bars(2, { color: 0xffffff })).length, 0, 'white');
  assert.equal(found(at(MORE), bars(2, { height: 5 })).length, 0, 'threads');
  const wide = [...bars(1).regions, painted(100, TOP + 32, 300, TOP + 46, GREY)];
  const two = at(MORE.map((row) => row.slice(0, 2)));
  assert.equal(found(two, bars(2)).length, 1);
  assert.equal(found(two, { regions: wide }).length, 0, 'two widths');
  const cells = bars(2).regions.flatMap(({ box, color }) => [
    painted(box.x0, box.y0, 199, box.y1, color),
    painted(202, box.y0, 399, box.y1, color),
  ]);
  assert.deepEqual(found(at(MORE), { regions: cells }), [MORE], 'cells with threads between them');
  const far = [...at(MORE), ...at([['Teal', '7', '8']], TOP + 90)];
  assert.deepEqual(found(far, bars(2)), [MORE], 'apart');
  const under = [...at(MORE), ...line(105, TOP + 70, 'Counted from the lighthouse')];
  assert.equal(found(under, bars(2))[0]?.length, 5);
});

test('one shaded row is a table only where it is cut into three cells and more', () => {
  assert.deepEqual(found(at(), bars(1)), [BIRDS]);
  assert.equal(found(at(BIRDS.map((row) => row.slice(0, 2))), bars(1)).length, 0, 'two cells');
  assert.equal(found(prose(105, TOP, 3), bars(1)).length, 0, 'a shaded line');
  const boxed = at(
    Array.from({ length: 6 }, () => ['Gull', '41', '57']),
    TOP + 14,
  );
  assert.equal(found(boxed, bars(1, { height: 90 })).length, 0, 'a shaded box of many rows');
  const note = [...prose(105, TOP + 14, 6, undefined, 12)];
  assert.equal(found(note, bars(1, { height: 80 })).length, 0, 'a shaded note');
});

test('rules are of one table where both ends agree; a table between heavy rules needs weights that differ', () => {
  const apart = [rule(TOP - 10, 100, 400), rule(TOP + 4, 107, 400), rule(TOP + 32, 100, 407)];
  assert.equal(found(at(), { rulings: apart }).length, 0, 'ends apart');
  const near = [rule(TOP - 10, 100, 400), rule(TOP + 4, 105, 400), rule(TOP + 32, 100, 405)];
  assert.deepEqual(found(at(), { rulings: near }), [BIRDS], 'ends nearly the same');
  for (const other of [rule(TOP + 32, 105, 400), rule(TOP + 32, 100, 405)])
    assert.deepEqual(found(at(), { rulings: [rule(TOP - 10, 100, 400), other] }), [BIRDS]);
  const upright = [...rules(TOP - 10).rulings, { ...rule(TOP + 32, 100, 400), horizontal: false }];
  assert.equal(found(at(), { rulings: upright }).length, 0, 'an upright line');
  const weights = (heavy: number, below: number) =>
    [BOOK[0], BOOK[2], TOP + 50, TOP + 92]
      .map((y) => rule(y ?? 0, 100, 400, heavy))
      .concat([TOP + 4, TOP + 64].map((y) => rule(y, 100, 400, below)));
  const two = [...at(), ...at(BIRDS, TOP + 60)];
  assert.equal(found(two, { rulings: weights(1.5, 1) }).length, 2);
  assert.equal(found(two, { rulings: weights(1.2, 1) }).length, 1, 'nearly of one weight');
  const head = [rule(TOP - 10, 100, 400, 2), rule(TOP - 9, 100, 400, 2), ...rules(TOP + 4, TOP + 32).rulings];
  assert.deepEqual(found(at(), { rulings: head }), [BIRDS], 'a double heavy rule');
  const under = [rule(TOP - 10, 100, 400), rule(TOP + 4, 100, 400, 2), rule(TOP + 32, 100, 400)];
  assert.deepEqual(found(at(), { rulings: under }), [BIRDS], 'a heavy rule under the head');
});

test('bars and cells of bars are of a size with rows of text, wide together, and of few colours', () => {
  const slim = at(
    MORE.map((row) => row.map((text) => text.slice(0, 1))),
    TOP,
    [102, 117, 132],
  );
  assert.equal(found(slim, bars(2, { x1: 145 })).length, 0, 'a narrow table');
  assert.equal(found(slim, bars(2, { x1: 180 })).length, 1, 'a wider one');
  const heat = bars(1).regions.concat(
    Array.from({ length: 13 }, (_, n) => painted(100, TOP + 32 + n * 28, 400, TOP + 46 + n * 28, 0xeeee00 + n)),
  );
  assert.equal(found(at(MORE), { regions: heat }).length, 0, 'colours by value');
  const tall = at(
    Array.from({ length: 30 }, () => ['Gull', '41', '57']),
    TOP,
  );
  const boxes = [0, 1].map((n) => painted(100, TOP + 4 + n * 180, 400, TOP + 172 + n * 180, GREY));
  assert.equal(found(tall, { regions: boxes }).length, 0, 'tall boxes');
  const high = [0, 1].map((n) => painted(100, TOP + n * 240, 400, TOP + 120 + n * 240, GREY));
  assert.equal(found(rows(AXES, TOP + 60, BIRDS, 120), { regions: high })[0]?.length, 3, 'high rows');
  const turned = bars(2).regions.flatMap(({ box, color }) => [
    painted(202, box.y0, 400, box.y1, color),
    painted(100, box.y0, 199, box.y1, color),
  ]);
  assert.deepEqual(found(at(MORE), { regions: turned }), [MORE], 'cells in any order');
  const gaps = turned.map(({ box, color }) => painted(box.x0, box.y0, box.x0 === 100 ? 180 : box.x1, box.y1, color));
  const left = at(MORE.map((row) => row.slice(0, 2)));
  assert.equal(found(left, { regions: gaps.slice(1, 2) }).length, 0, 'cells apart');
});

test('around shaded rows stand rows cut into cells, near and with the lines that wrap below', () => {
  const title = [...at(MORE), ...line(105, TOP - 14, 'Counts')];
  assert.deepEqual(found(title, bars(2)), [MORE], 'a title');
  const lower = [...at(MORE.slice(0, 4)), ...line(105, TOP + 56, 'Counted')];
  assert.deepEqual(found(lower, bars(2)), [MORE.slice(0, 4)], 'words alone below');
  const wrapped = found([...at(MORE), ...line(105, TOP + 67, 'of rye', undefined, 3)], bars(2))[0];
  assert.equal(wrapped?.at(-1)?.[0], 'Rail of rye');
  const far = [...at(MORE.slice(0, 4)), ...at(MORE.slice(4), TOP + 70)];
  assert.deepEqual(found(far, bars(2)), [MORE.slice(0, 4)], 'white space below');
  const high = [...at(MORE.slice(0, 1), TOP - 20), ...at(MORE.slice(1), TOP + 14)];
  assert.deepEqual(found(high, bars(2)), [MORE.slice(1)], 'white space above');
  const [head = [], ...rest] = MORE;
  const heads = (y: number, ...above: readonly string[]) =>
    found([...at([above], y), ...at([head], TOP), ...at(rest, TOP + 14)], bars(2))[0]?.[0];
  assert.deepEqual(
    heads(TOP - 13, 'The', 'In', 'In'),
    head.map((one, n) => `${n === 0 ? 'The' : 'In'} ${one}`),
  );
  assert.deepEqual(heads(TOP - 20, 'The', 'In', 'In'), head, 'a row far above the head');
  assert.deepEqual(heads(TOP - 13, 'The', '', ''), head, 'a line alone over the head');
});

test('the table is as high as its rules where they are near, and as wide as its text', () => {
  const boxOf = (words: Word[], ...ys: readonly number[]) =>
    findAlignedTables(pageOf(words, rules(...ys)), buildChunks(words), new Set(), new HeadMemory())[0]?.box;
  const box = boxOf(at(), ...BOOK);
  assert.deepEqual(box, { x0: 100, x1: 400, y0: TOP - 10, y1: TOP + 32 });
  const wide = boxOf(
    rows(
      [98, 205, 305],
      TOP,
      BIRDS.map((row) => [...row.slice(0, 2), 'Lighthouse keepers']),
    ),
    ...BOOK,
  );
  assert.equal(wide?.x0, 98);
  const two = at(BIRDS.map((row) => row.slice(0, 2)));
  const tall = boxOf(two, TOP - 40, TOP + 4, TOP + 60);
  assert.ok((tall?.y0 ?? 0) > TOP - 10 && (tall?.y1 ?? 999) < TOP + 32, 'rules far from the text');
});

test('lines between rules are rows where most are cut, or cut or short between three rules', () => {
  const mixed = [...at(BIRDS), ...[0, 1, 2].flatMap((n) => line(105, TOP + 42 + n * 14, 'Counted', undefined, 3))];
  const long = [...at(BIRDS), ...prose(105, TOP + 42, 4)];
  assert.equal(ruled(long, TOP - 10, TOP + 90).length, 0, 'prose below the rows');
  assert.equal(ruled(mixed, TOP - 10, TOP + 80).length, 1, 'half of them cut');
  const short = [...at(BIRDS), ...[0, 1, 2, 3, 4].flatMap((n) => line(105, TOP + 46 + n * 14, 'Counted'))];
  assert.equal(ruled(short, TOP - 10, TOP + 110).length, 0, 'short lines between two rules');
  assert.equal(ruled(short, TOP - 10, TOP + 4, TOP + 110).length, 1, 'short lines between three rules');
});

test('a table with shaded rows and a line under its head is one', () => {
  assert.deepEqual(found(at(MORE), { ...bars(2), rulings: [rule(TOP + 4, 100, 400)] }), [MORE]);
});

test('a heavy line above and below goes with thin ones between all rows', () => {
  const rulings = [2, 1, 1, 2].map((thickness, n) => rule(TOP - 10 + n * 14, 100, 400, thickness));
  assert.deepEqual(found(at(), { rulings }), [BIRDS]);
});

test('bars that begin elsewhere are none of the same table, tables beside each other are two', () => {
  const two = at(MORE.map((row) => row.slice(0, 2)));
  assert.equal(found(two, { regions: [...bars(1).regions, painted(150, TOP + 32, 400, TOP + 46, GREY)] }).length, 0);
  const left = rows([20, 90, 160], TOP, MORE);
  const right = rows([330, 400, 470], TOP, MORE);
  const regions = [...bars(2, { x0: 15, x1: 200 }).regions, ...bars(2, { x0: 325, x1: 510 }).regions];
  assert.deepEqual(found([...left, ...right], { regions }), [MORE, MORE]);
});

test('one shaded row is a table on a page of text, too', () => {
  assert.deepEqual(found([...at(), ...prose(105, TOP + 100, 6)], bars(1)), [BIRDS]);
});

test('rows that are painted one upon another have the height of one', () => {
  const regions = MORE.slice(1).map((_, n) =>
    painted(100, TOP + 10 + n * 14, 400, TOP + 24 + n * 14, n % 2 ? GREY : 0xdddddd),
  );
  const words = [...at(MORE.slice(0, 1)), ...at(MORE.slice(1), TOP + 20)];
  assert.deepEqual(found(words, { regions }), [MORE]);
});

test('a rule under every row makes each band a row, whose cells may stand in its middle, and what is close over the first the head', () => {
  const said = ['gulls', 'terns', 'coots', 'rails'].map((one) => `the ${one} of the bay and of the quay`);
  /** A band 30 high with two lines on its left and a figure in the middle on its right. */
  const band = (n: number, left: readonly string[], ...right: readonly string[]) => [
    ...left.flatMap((text, at) => line(105, TOP + 22 + n * 30 + at * 12, text, undefined, 3)),
    ...right.flatMap((text) => line(305, TOP + 28 + n * 30, text)),
  ];
  const cells = (n: number) => [said[n] ?? '', said[n + 1] ?? ''];
  const three = [0, 1, 2].flatMap((n) => band(n, cells(n), `${n}`));
  const edges = [0, 1, 2, 3].map((n) => TOP + 10 + n * 30);
  const head = (y = TOP, ...texts: readonly string[]) =>
    rows([105, 305], y, [texts.length > 0 ? texts : ['Bird', 'Seen']]);
  const read = [0, 1, 2].map((n) => [cells(n).join(' '), `${n}`]);
  assert.deepEqual(ruled([...head(), ...three], ...edges), [[['Bird', 'Seen'], ...read]]);
  assert.deepEqual(ruled([...head(TOP - 6), ...three], ...edges), [read], 'a line far over the rule');
  assert.deepEqual(ruled([...head(TOP - 19, 'Counts'), ...head(), ...three], ...edges), [[['Bird', 'Seen'], ...read]]);
  assert.deepEqual(ruled([...head(TOP - 12, 'The', 'Was'), ...head(), ...three], ...edges), [
    [['The Bird', 'Was Seen'], ...read],
  ]);
  assert.deepEqual(ruled([...head(TOP, 'Table 7', 'Birds'), ...three], ...edges), [read], 'a caption');
  const prose = [22, 34].flatMap((y) =>
    line(105, TOP + y, 'the keeper counts ships that pass by the old light', undefined, 3),
  );
  const pair = (n: number) => rows([105, 305], TOP + 28 + n * 30, [['gulls', `${n}`]]);
  const rest = [1, 2].flatMap(pair);
  const code = [0, 12, 24, 36].flatMap((up) => head(TOP - up, 'when', `${up}`));
  assert.deepEqual(
    ruled([...code, ...prose, ...rest], ...edges),
    [
      [
        ['gulls', '1'],
        ['gulls', '2'],
      ],
    ],
    'text under lines cut by gaps',
  );
  const once = [...pair(0), ...line(105, TOP + 58, 'terns'), ...band(2, cells(0))];
  assert.deepEqual(
    ruled(once, ...edges),
    [
      [
        ['gulls', '0'],
        ['terns', ''],
      ],
    ],
    'columns of one band alone',
  );
  const five = [0, 1, 2, 3, 4].flatMap(pair);
  const title = line(161, TOP, 'lamplighter lamplighter', undefined, 3);
  const all = [0, 1, 2, 3, 4, 5].map((n) => TOP + 10 + n * 30);
  assert.equal(ruled([...title, ...five], ...all)[0]?.[0]?.[0], 'gulls', 'a title over both columns');
  const middle = [0, 1, 2].flatMap((n) => [
    ...rows(
      [105, 345],
      TOP + 22 + n * 30,
      [
        ['gulls of', 'rare'],
        ['the bay', 'here'],
      ],
      12,
    ),
    ...line(225, TOP + 28 + n * 30, `${n}`),
  ]);
  assert.deepEqual(ruled(middle, ...edges)[0]?.[1], ['gulls of the bay', '1', 'rare here'], 'a column between lines');
});

test('above the first rule and below the last stands what is no row', () => {
  assert.deepEqual(ruled([...rows([105, 205], TOP - 14, [['Table 1', 'Birds of the bay']]), ...at()], ...BOOK), [
    BIRDS,
  ]);
  assert.deepEqual(ruled([...at(), ...line(105, TOP + 42, 'Counted')], ...BOOK), [BIRDS]);
  const noted = [...at(MORE), ...line(105, TOP + 78, 'Counted from the lighthouse')];
  assert.deepEqual(found(noted, bars(2)), [MORE], 'below shaded rows');
});

test('long words in wide cells are no running text, two lines of text between rules are no row', () => {
  const cells = [
    ['Nebelhornwaechterhaus', 'Leuchtturmwaerterin', 'Schifffahrtszeichen'],
    ['Hafenmeistereigebaeude', 'Hafenmeisterinnen', 'Seezeichenverwaltung'],
    ['Seenotrettungsstation', 'Seenotrettungskreuzer', 'Rettungsgesellschaft'],
    ['Wasserstandsmeldestelle', 'Gezeitenbeobachterin', 'Wasserschifffahrtsamt'],
  ].map((row) => row.slice(0, 2));
  const words = rows([105, 255], TOP, cells);
  assert.deepEqual(ruled(words, TOP - 10, TOP + 46), [cells]);
  const text = [0, 12].flatMap((y) => line(100, TOP + 42 + y, filled(60, y), undefined, 3));
  assert.deepEqual(ruled([...at(), ...text], ...BOOK, TOP + 62), [BIRDS]);
});

test('a wide line between two rules is the heading of the rows below it', () => {
  const group = line(105, TOP + 14, 'Counted from the old lighthouse by keepers', undefined, 3);
  const words = [...at(BIRDS.slice(0, 1)), ...group, ...at(BIRDS.slice(1), TOP + 28)];
  assert.equal(ruled(words, TOP - 10, TOP + 4, TOP + 18, TOP + 46)[0]?.length, 4);
});

test('a form to fill in has a head and labels; a list with two lines that are cut has neither', () => {
  const form = [
    BIRDS[0] ?? [],
    ...['Gulls at sea', 'Grey terns', 'All coots', 'Rails here'].map((bird) => [bird, '', '']),
  ];
  assert.deepEqual(ruled(at(form), TOP - 10, TOP + 4, TOP + 60), [form]);
  const list = ['Gulls', 'Terns', 'Coots', 'Rails', 'Teals', 'Loons', 'Ducks'].map((bird) => [bird, '', '']);
  const cut = [...list, ['Swans', '4', ''], ['Geese', '5', '']];
  assert.equal(ruled(at(cut), TOP - 10, TOP + 60, TOP + 130).length, 0);
});

test('an upright line says nothing of what the words beside it span', () => {
  const y = 200;
  const cells = [...BIRDS.slice(0, 2), ['Tern', '12', ''], ['Coot', '3', '4']];
  const words = at(cells, y);
  const level = [y - 10, y + 4, y + 46].map((one) => rule(one, 100, 400));
  const upright = { ...rule(y + 31, 100, 400), horizontal: false };
  const [table] = findAlignedTables(
    pageOf(words, { rulings: [...level, upright] }),
    buildChunks(words),
    new Set(),
    new HeadMemory(),
  );
  assert.deepEqual(
    table?.grid.rows.map((row) => row.map((cell) => cell.colspan).join('')),
    ['111', '111', '111', '111'],
  );
});

test('what stands under a table that a rule closes is none of its rows, wide as justification may open its spaces', () => {
  const cells = [...BIRDS, ['Skua', '3', '5'], ['Petrel', '17', '22']];
  const note = line(100, TOP + 80, 'NOTE: the count in the spring is of birds that breed on the island', PLAIN, 6);
  assert.deepEqual(ruled([...at(cells), ...note], TOP - 10, TOP + 62), [cells]);
});

test('a title in larger type between two rules parts what is above it from the table below', () => {
  const note = (size: number) => [
    ...rows(
      [105, 305],
      TOP - 70,
      [
        ['Ada Gull', 'Date: 3 May'],
        ['Quay Road', 'Bird no.: 57'],
        ['Rye Bay', ''],
      ],
      14,
    ),
    ...line(105, TOP - 24, 'Delivery Note', sized(size)),
    ...at(),
  ];
  const level = [TOP - 90, ...BOOK] as const;
  assert.deepEqual(ruled(note(14), ...level), [BIRDS]);
  assert.notDeepEqual(ruled(note(10), ...level), [BIRDS], 'in the type of the table');
});

test('a table with rules between its rows alone begins above the first and ends below the last', () => {
  const cells = [['Bird', 'Spring', 'Autumn'], ...['Gull', 'Tern', 'Coot', 'Rail'].map((bird) => [bird, '41', '57'])];
  const words = at(cells, TOP, AXES);
  const between = [4, 18, 32, 46].map((y) => TOP + y);
  assert.deepEqual(ruled(words, ...between), [cells]);
  const below = (...more: Word[]) => ruled([...words, ...more], ...between);
  assert.deepEqual(below(...line(105, TOP + 76, 'Counted')), [cells], 'a note below');
  assert.deepEqual(
    ruled([...at(cells.slice(0, 4)), ...rows(AXES, TOP + 70, cells.slice(4))], ...between),
    [cells.slice(0, 4)],
    'far below',
  );
  assert.deepEqual(
    ruled([...at(cells.slice(0, 4)), ...line(105, TOP + 56, 'Counted')], ...between),
    [cells.slice(0, 4)],
    'one cell',
  );
  const over = line(105, TOP + 56, 'Counted at the quay by the old lamp', undefined, 3);
  assert.deepEqual(ruled([...at(cells.slice(0, 4)), ...over], ...between), [cells.slice(0, 4)], 'over the columns');
});

test('a title tight above a head whose table has rules between rows alone is none of its lines', () => {
  const cells = [['Bird', 'Spring', 'Autumn'], ...['Gull', 'Tern', 'Coot', 'Rail'].map((bird) => [bird, '41', '57'])];
  const title = line(105, TOP - 13, 'Birds that we counted by day', sized(13), 4);
  assert.deepEqual(ruled([...title, ...at(cells)], ...[4, 18, 32, 46].map((y) => TOP + y)), [cells]);
});

test('text between two rules of one width is no table, whatever its lists and wide spaces seem to part', () => {
  const items = ['Gull and tern of the old bay', 'Coot', 'Rail and the lapwing by night'];
  const text = [
    ...prose(105, TOP, 3),
    ...rows(
      [105, 125],
      TOP + 40,
      items.map((item) => ['–', item]),
    ),
    ...prose(105, TOP + 84, 2),
    ...rows(
      [105, 125],
      TOP + 110,
      items.map((item) => ['–', item]),
    ),
  ];
  assert.deepEqual(ruled(text, TOP - 14, TOP + 150), []);
});

test('a paragraph from edge to edge between two rules is no row, though rows of a table stand in the same stretch', () => {
  const cells = Array.from({ length: 12 }, (_, n) => ['Gull', String(41 + n), '57']);
  const words = [...at(cells), ...prose(100, TOP + 190, 3), ...at(BIRDS, TOP + 250)];
  const lines = ruled(words, TOP - 14, TOP + 236, TOP + 254, TOP + 284);
  assert.deepEqual(lines, [BIRDS]);
});

test('a head over the first of two rules is read where the rows between them have its columns', () => {
  const cells = [['Bird', 'Spring', 'Autumn'], ...['Gull', 'Tern', 'Coot', 'Rail'].map((bird) => [bird, '41', '57'])];
  assert.deepEqual(ruled(at(cells), TOP + 4, TOP + 60), [cells]);
  const above = (text: string) =>
    ruled([...line(105, TOP, text, undefined, 3), ...at(cells.slice(1), TOP + 14)], TOP + 4, TOP + 60);
  assert.deepEqual(above('Counted at the quay by the old lamp'), [cells.slice(1)], 'a line over the columns');
  assert.deepEqual(above('Counts'), [cells.slice(1)], 'a line in one column');
});
