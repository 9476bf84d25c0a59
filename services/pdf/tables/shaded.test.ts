// Holds each rule that reads a table from cells painted one by one, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTexts, line, pageOf, painted, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { findShadedTables } from './shaded.ts';

const XS = [100, 200, 300, 400];
const AXES = [105, 205, 305];
const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
  ['Heron', '3', '4'],
];
const TOP = 300;
type Regions = ReturnType<typeof painted>[];
/** A row of cells painted side by side. */
const row = (y0: number, y1 = y0 + 14, xs = XS, color = 0xeeeeff): Regions =>
  xs.slice(1).map((x1, n) => painted(xs[n] ?? 0, y0, x1, y1, color));
const HEAD = row(TOP - 10);
const found = (words: Word[], regions: Regions, rulings: Ruling[] = []) =>
  findShadedTables(pageOf(words, { regions, rulings }), words, new Set()).map(cellTexts);
const birds = (y = TOP) => rows(AXES, y, BIRDS);

test('cells side by side, painted in few colours and neither specks nor threads, give the columns', () => {
  assert.deepEqual(found(birds(), HEAD), [BIRDS]);
  assert.equal(found(birds(), row(TOP - 10, TOP + 4, XS, 0xffffff)).length, 0, 'white');
  assert.equal(found(birds(), row(TOP - 10, TOP - 5)).length, 0, 'threads');
  const bars = row(TOP - 10, TOP + 4, [100, 110, 120, 130]);
  assert.equal(
    found(
      rows(
        [101, 111, 121],
        TOP,
        [...'123'].map((n) => [n, n, n]),
      ),
      bars,
    ).length,
    0,
    'bars',
  );
  const heat = Array.from({ length: 13 }, (_, n) => row(TOP - 10 + n * 14, TOP + 4 + n * 14, XS, 0xeeee00 + n)).flat();
  assert.equal(found(birds(), heat).length, 0, 'colours by value');
  assert.equal(found(birds(), heat.slice(0, 30)).length, 1, 'ten colours of rows');
  assert.equal(found(birds(), [painted(100, TOP - 10, 400, TOP + 4)]).length, 0, 'one piece');
  const apart = [painted(100, TOP - 10, 195, TOP + 4), painted(205, TOP - 10, 400, TOP + 4)];
  assert.equal(found(birds(), apart).length, 0, 'not side by side');
  const heights = [...row(TOP - 10).slice(0, 1), ...row(TOP - 7).slice(1, 2), ...row(TOP - 4).slice(2)];
  assert.equal(found(birds(), heights).length, 0, 'at unlike heights');
});

test('what is painted once more inside a cell is no cell, a cell over several columns is a head of them', () => {
  const nested = row(TOP - 10).map(({ box }) => painted(box.x0 + 5, box.y0 + 2, box.x1 - 5, box.y1 - 2));
  assert.deepEqual(found(birds(), [...HEAD, ...nested]), [BIRDS]);
  const wide = [painted(100, TOP - 24, 200, TOP - 10), painted(200, TOP - 24, 400, TOP - 10)];
  const words = [...line(280, TOP - 14, 'Seen'), ...birds()];
  const [table] = findShadedTables(pageOf(words, { regions: [...wide, ...HEAD] }), words, new Set());
  assert.deepEqual(
    table?.grid.rows[0]?.map((cell) => [cell.text, cell.colspan]),
    [
      ['Bird', 1],
      ['Seen', 2],
    ],
  );
});

test('two tables of one width have their own columns, and words of their own', () => {
  const other = [100, 160, 220, 280, 340, 400];
  const cells = [
    ['Port', 'One', 'Two', 'Six', 'Ten'],
    ['Oban', '1', '2', '6', '9'],
  ];
  const below = rows(
    other.map((x) => x + 5),
    TOP + 100,
    cells,
  );
  assert.deepEqual(found([...birds(), ...below], [...HEAD, ...row(TOP + 90, TOP + 104, other)]), [BIRDS, cells]);
});

test('text close beside the paint, over its edges, or cut further than it, tells another table', () => {
  assert.equal(found([...birds(), ...line(402, TOP, 'more')], HEAD).length, 0, 'at the right');
  assert.equal(found([...birds(), ...line(88, TOP, 'No')], HEAD).length, 0, 'at the left');
  assert.equal(found([...birds(), ...line(440, TOP, 'more')], HEAD).length, 1, 'further away');
  assert.equal(found([...birds(), ...line(402, TOP + 14, 'more')], HEAD).length, 1, 'beside another line');
  const full = Array.from({ length: 4 }, (_, n) => row(TOP - 10 + n * 14)).flat();
  const over = [...rows([105, 305], TOP, [['Bird', 'Autumn']]), ...line(160, TOP, 'lamplighters'), ...birds(TOP + 14)];
  assert.equal(found(over, full).length, 0, 'a word over an edge');
  const fine = rows([105, 135, 165, 205, 235, 265, 305], TOP, [
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
  ]);
  assert.equal(found(fine, full.slice(0, 6)).length, 0, 'bands of colour over several columns');
  assert.equal(found([], HEAD).length, 0, 'no text');
  const one = rows(AXES, TOP, [['Bird'], ['Gull']]);
  assert.equal(found(one, HEAD).length, 0, 'one column with text');
  assert.equal(found(rows(AXES, TOP, BIRDS.slice(0, 1)), HEAD).length, 0, 'one row');
});

test('the table goes on over unpainted lines until white space, a line over its columns, or words alone', () => {
  const height = (words: Word[], rulings: Ruling[] = []) => found([...birds(), ...words], HEAD, rulings)[0]?.length;
  const next = TOP + 56;
  const coot = (y: number) => rows(AXES, y, [['Coot', '7', '8']]);
  assert.equal(height(coot(next)), 5);
  assert.equal(height(coot(next + 16)), 5, 'a little white space');
  assert.equal(height(coot(next + 20)), 4, 'white space');
  assert.equal(height(coot(next + 20), [rule(next + 30, 98, 402)]), 5, 'with a line below it');
  assert.equal(height(coot(next + 31), [rule(next + 41, 98, 402)]), 5, 'with a line further below');
  assert.equal(height(coot(next + 51), [rule(next + 61, 98, 402)]), 4, 'with a line far below');
  assert.equal(height(coot(next + 20), [rule(next + 30, 98, 250)]), 4, 'with a short line below it');
  assert.equal(height(line(105, next, 'Counted from the lighthouses', undefined, 3)), 4, 'over its columns');
  const above = (words: Word[]) => found([...words, ...birds()], HEAD)[0]?.[0]?.[0];
  assert.equal(above(rows(AXES, TOP - 14, [['Log', 'Light', 'Light']])), 'Log');
  assert.equal(above(line(105, TOP - 14, 'Counts')), 'Bird', 'its title');
});

const tableOf = (words: Word[], regions: Regions) => findShadedTables(pageOf(words, { regions }), words, new Set())[0];
const spansOf = (words: Word[], regions: Regions) =>
  tableOf(words, regions)?.grid.rows.map((cells) => cells.map((cell) => cell.colspan).join(''));

test('a paragraph painted at the top of its cell is none; cells beside, above and below a larger one are', () => {
  const nested = HEAD.map(({ box }) => painted(box.x0 + 5, box.y0 + 1, box.x1 - 5, box.y1 - 1));
  assert.deepEqual(found(birds(), [...HEAD, ...nested]), [BIRDS]);
  assert.deepEqual(found(rows([105, 205, 295], TOP, BIRDS), row(TOP - 10, TOP + 4, [100, 200, 290, 380])), [BIRDS]);
  assert.deepEqual(found(rows([105, 195, 285], TOP, BIRDS), row(TOP - 10, TOP + 4, [100, 190, 280, 380])), [BIRDS]);
  const two = XS.slice(0, 3);
  assert.deepEqual(found(birds(), [...HEAD, ...row(TOP + 4, TOP + 46, two)]), [BIRDS], 'above larger cells');
  const last = row(TOP + 32, TOP + 46);
  assert.deepEqual(found(birds(), [...row(TOP - 10, TOP + 32, two), ...last]), [BIRDS], 'below larger cells');
});

test('cells of one row begin at nearly one height and meet, threads and crowds of cells are none', () => {
  const uneven = HEAD.map(({ box }, n) => painted(box.x0, box.y0 - n * 0.6, box.x1, box.y1));
  assert.deepEqual(found(birds(), uneven), [BIRDS]);
  const hairs = HEAD.map(({ box }) => painted(box.x0 + 1.2, box.y0, box.x1, box.y1));
  assert.deepEqual(found(birds(), hairs), [BIRDS], 'hairs between them');
  const apart = XS.slice(0, 3).map((x) => painted(x, TOP - 10, x + 90, TOP + 4));
  assert.equal(found(birds(), apart).length, 0, 'gaps');
  assert.equal(found(birds(), row(TOP - 5, TOP)).length, 0, 'threads behind the text');
  assert.equal(found(birds(), row(TOP - 7, TOP + 1)).length, 1, 'low cells');
  const crowd = Array.from({ length: 1_500 }, (_, n) => {
    const [x, y] = [20 + (n % 40) * 14, 420 + Math.floor(n / 40) * 9];
    return painted(x, y, x + 13, y + 8);
  });
  assert.equal(found(birds(), [...HEAD, ...crowd]).length, 0, 'a crowd');
  assert.equal(found(birds(), [...HEAD, ...crowd.slice(0, 1_100)]).length, 1, 'many cells');
});

test('rows are of one table where their ends agree and one parts the columns of the other', () => {
  const far = rows(AXES, TOP + 110, [['Coot', '7', '8']]);
  const band = painted(100, TOP + 100, 400, TOP + 114);
  assert.deepEqual(found([...birds(), ...far], [...HEAD, band]), [[...BIRDS, ['Coot', '7', '8']]], 'a band over all');
  const other = [60, 100, 200, 300, 400, 460];
  const ports = [
    ['Port', 'One', 'Two', 'Six', 'Ten'],
    ['Oban', '1', '2', '6', '9'],
  ];
  const below = rows(
    other.map((x) => x + 5),
    TOP + 100,
    ports,
  );
  assert.deepEqual(found([...birds(), ...below], [...HEAD, ...row(TOP + 90, TOP + 104, other)]), [BIRDS, ports]);
  const right = [...row(TOP - 24, TOP - 10, [100, 200, 400]), ...row(TOP - 10, TOP + 4, [200, 300, 400])];
  const seen = [...rows([105, 280], TOP - 14, [['Bird', 'Seen']]), ...rows(AXES, TOP, [['', 'Spring', 'Autumn']])];
  const body = rows(AXES, TOP + 14, BIRDS.slice(1));
  assert.deepEqual(spansOf([...seen, ...body], right), ['12', '11', '111', '111', '111'], 'the right part parted');
  const left = [...row(TOP - 24, TOP - 10, [100, 300, 400]), ...row(TOP - 10, TOP + 4, [100, 200, 300])];
  const marked = [...rows([180, 305], TOP - 14, [['Seen', 'Bird']]), ...rows(AXES, TOP, [['Spring', 'Autumn', '']])];
  assert.deepEqual(spansOf([...marked, ...body], left), ['21', '11', '111', '111', '111'], 'the left part parted');
});

test('a painted cell over several columns says how far its own words reach, no others', () => {
  const words = rows(AXES, TOP, [['Bird', 'Seen'], ...BIRDS.slice(1), ['Rail', '5']]);
  const last = rows(AXES, TOP, [...BIRDS, ['Rail', '5']]);
  const wide = (y: number) => row(y, y + 14, [100, 200, 400]);
  assert.deepEqual(spansOf(words, [...wide(TOP - 10), ...row(TOP + 18)]), ['12', '111', '111', '111', '111']);
  assert.deepEqual(spansOf(last, [...row(TOP + 4), ...wide(TOP + 46)]), ['111', '111', '111', '111', '12']);
});

test('words may run over the edges of other rows, in a cell that reaches over them', () => {
  const note = (y: number) => line(105, y, 'Counted from the lighthouses', undefined, 3);
  const words = [...birds(), ...note(TOP + 56), ...rows(AXES, TOP + 70, BIRDS.slice(1, 2))];
  const full = [0, 14, 42, 70].flatMap((y) => row(TOP - 10 + y));
  const band = (x0: number, x1: number, y = TOP + 46) => painted(x0, y, x1, y + 14);
  assert.equal(found(words, [...full, band(100, 400)])[0]?.length, 6);
  assert.equal(found(words, [...full, band(100, 200)]).length, 0, 'not as far');
  assert.equal(found(words, [...full, band(200, 400)]).length, 0, 'not from the first edge');
  const before = [0, 14, 28, 42].flatMap((y) => row(TOP - 10 + y));
  assert.equal(found(words, [...before, band(100, 400, TOP + 60)]).length, 0, 'above it');
});

test('words beside the table are none of its words, one column is none, its box holds paint and text', () => {
  assert.deepEqual(found([...birds(), ...line(440, TOP + 14, 'more')], HEAD), [BIRDS], 'at the right');
  assert.deepEqual(found([...birds(), ...line(60, TOP + 14, 'No')], HEAD), [BIRDS], 'at the left');
  assert.equal(found(rows(AXES, TOP, [['Bird'], ['Gull'], ['Tern']]), HEAD).length, 0, 'one column');
  const box = tableOf(birds(), HEAD)?.box;
  assert.deepEqual([box?.x0, box?.x1, box?.y0], [100, 400, TOP - 10]);
  assert.ok((box?.y1 ?? 0) > TOP + 42, 'text below the paint');
  const log = [...rows([99, 205, 305], TOP - 14, [['Log', 'Light', 'Lighthouse keepers']]), ...birds()];
  const all = tableOf(
    log,
    [0, 14, 28, 42].flatMap((y) => row(TOP - 10 + y, TOP + 10 + y)),
  )?.box;
  assert.deepEqual([all?.x0, all?.y1], [99, TOP + 52]);
  assert.ok((all?.y0 ?? TOP) < TOP - 20, 'text above the paint');
});

test('unpainted lines follow one another without white space on both sides, labels alone below', () => {
  assert.equal(found(rows(AXES, TOP, BIRDS, 28), HEAD)[0]?.length, 4);
  const logs = [
    ['Log', 'Light', 'Light'],
    ['Of', 'One', 'Two'],
  ];
  assert.equal(found([...rows(AXES, TOP - 56, logs, 28), ...birds()], HEAD)[0]?.length, 6);
  assert.equal(found([...rows(AXES, TOP - 40, logs.slice(0, 1)), ...birds()], HEAD)[0]?.length, 4, 'white space');
  assert.equal(found([...birds(), ...line(105, TOP + 62, 'Rails')], HEAD)[0]?.length, 5, 'a label alone');
});

test('a row that is painted in other columns stands in one table, with no second one from the notes below', () => {
  const sum = rows(AXES, TOP + 56, [['Sum', '56', '70']]);
  const notes = rows([105, 160], TOP + 76, [
    ['a)', 'Counted from the old lighthouse'],
    ['b)', 'Heard on the quay from the harbour'],
  ]);
  const regions = [...HEAD, ...row(TOP + 46, TOP + 60, [100, 150, 400])];
  assert.deepEqual(found([...birds(), ...sum, ...notes], regions), [[...BIRDS, ['Sum', '56', '70']]]);
  const aside = [...HEAD, ...row(TOP + 46, TOP + 60, [100, 203, 303, 400])];
  assert.deepEqual(found([...birds(), ...sum], aside), [[...BIRDS, ['Sum', '56', '70']]], 'a little aside');
});

test('cells that are painted on a tinted ground are cells', () => {
  assert.deepEqual(found(birds(), [painted(90, TOP - 20, 410, TOP + 60), ...HEAD]), [BIRDS]);
  const two = BIRDS.map((cells) => cells.slice(0, 2));
  const ground = painted(95, TOP - 12, 395, TOP + 50);
  assert.deepEqual(found(rows([105, 295], TOP, two), [ground, ...row(TOP - 10, TOP + 4, [100, 290, 390])]), [two]);
});

test('rows that are painted nearly edge to edge have the same columns', () => {
  const regions = [0, 14, 28, 42].flatMap((y, n) =>
    row(TOP - 10 + y, TOP + 4 + y, n % 2 ? XS : [100, 201.2, 301.2, 400]),
  );
  const close = rows([105, 200.1, 305], TOP, BIRDS.slice(0, 2)).concat(rows(AXES, TOP + 28, BIRDS.slice(2)));
  assert.deepEqual(found(close, regions), [BIRDS]);
});

test('columns that are painted from top to bottom hold rows of their own', () => {
  const words = [
    ['Bird', 'Place', 'Keeper'],
    ['Gull', 'Harbour', 'Anna'],
    ['Tern', 'Islands', 'Bert'],
    ['Heron', 'Lake', 'Carl'],
  ];
  const columns = row(TOP - 10, TOP + 50).map(({ box }, n) =>
    painted(box.x0, box.y0, box.x1, box.y1, n % 2 ? 0xeeeeff : 0xddddff),
  );
  assert.deepEqual(found(rows(AXES, TOP, words), columns), [words]);
});

test('an upright line is no line between rows, a line under a whole row is no reach of its figures', () => {
  const regions = [...HEAD, ...row(TOP + 4, TOP + 32), ...row(TOP + 32, TOP + 46)];
  const wrapped = rows(AXES, TOP, [
    ['Bird', 'Seen', 'Place'],
    ['Gull', '41', 'on the quay'],
    ['', '', 'of the bay'],
    ['Tern', '12', 'at sea'],
  ]);
  const upright = { ...rule(TOP + 18, 60, 440), horizontal: false };
  assert.equal(found(wrapped, regions, [upright])[0]?.length, 3);
  const empty = rows(AXES, TOP, [...BIRDS.slice(0, 2), ['Tern', '12', ''], ['Heron', '3', '4']]);
  const under = [TOP + 4, TOP + 18, TOP + 32, TOP + 46].map((y) => rule(y, 100, 400));
  const [table] = findShadedTables(pageOf(empty, { regions: HEAD, rulings: under }), empty, new Set());
  assert.deepEqual(
    table?.grid.rows.map((cells) => cells.map((cell) => cell.colspan).join('')),
    ['111', '111', '111', '111'],
  );
});

test('text further away at the left is not of the table, a cell above a line does not reach over it', () => {
  assert.equal(found([...birds(), ...line(60, TOP, 'No')], HEAD).length, 1);
  const title = line(160, TOP - 14, 'Counts of the lamplighters');
  const notes = [0, 14].flatMap((y) => line(160, TOP + 14 + y, 'lamplighters'));
  const under = [...HEAD, ...row(TOP + 4), ...row(TOP + 18), ...row(TOP + 32)];
  const words = [...title, ...rows(AXES, TOP, BIRDS.slice(0, 1)), ...notes, ...rows(AXES, TOP + 42, BIRDS.slice(1, 2))];
  assert.equal(found(words, [painted(100, TOP - 24, 400, TOP - 10), ...under]).length, 0);
});

test('only a line beyond it ties a row above to the table over white space', () => {
  const log = rows(AXES, TOP - 36, [['Log', 'Light', 'Light']]);
  const height = (...ys: number[]) =>
    found(
      [...log, ...birds()],
      HEAD,
      ys.map((y) => rule(y, 98, 402)),
    )[0]?.length;
  assert.equal(height(TOP - 46), 5);
  assert.equal(height(TOP + 46), 4);
});

test('a note and the number of the page under a table are none of its rows, however many short lines they are', () => {
  const words = [...birds(), ...line(105, TOP + 60, 'Counted twice', undefined, 3), ...line(105, TOP + 76, '86')];
  assert.deepEqual(found(words, [...HEAD, ...row(TOP + 32)]), [BIRDS]);
});

test('a painted head alone says nothing of the rows under it', () => {
  const cells = [
    ['Bird', 'Place', 'Food'],
    ['Gull', 'A harbour wall', 'Old chips'],
    ['Tern', 'A quiet beach', 'Small fish'],
    ['Heron', 'A slow river', 'Large frogs'],
  ];
  assert.deepEqual(found(rows(AXES, TOP, cells), HEAD), [cells]);
});

test('cells painted twice are cells once', () => {
  const body = row(TOP + 4, TOP + 18);
  assert.deepEqual(found(birds(), [...HEAD, ...body, ...HEAD, ...body]), [BIRDS]);
});

test('rows painted as bands under a painted head have the columns of the head, lines that go on a cell too', () => {
  const cells = [
    ['Bird', 'Place', 'Food'],
    ['Gull', 'A wall or a', 'Old chips'],
    ['Tern', 'A quiet beach', 'Small fish'],
    ['Heron', 'A slow river', 'Large frogs'],
  ];
  const bands = [14, 40, 54].map((y, n) => painted(100, TOP - 10 + y, 400, TOP + (n === 0 ? 30 : 4 + y), 0xdddddd + n));
  const [head = [], gull = [], ...others] = cells;
  const words = [
    ...rows(AXES, TOP, [head, gull]),
    ...line(205, TOP + 26, 'roof behind it'),
    ...rows(AXES, TOP + 40, others),
  ];
  const told = cells.with(1, ['Gull', 'A wall or a roof behind it', 'Old chips']);
  assert.deepEqual(found(words, [...HEAD, ...bands]), [told]);
});

test('a line alone that stands apart under the last row is text', () => {
  assert.deepEqual(found([...birds(), ...rows([100], TOP + 62, [['Birds of the coast']])], HEAD), [BIRDS]);
});

test('a head again begins the next table, and what stands between the two is text', () => {
  const next = 90;
  const other = BIRDS.with(1, ['Crane', '5', '6']);
  const heading = line(100, TOP + next - 28, 'Marsh');
  const body = (y: number) => row(y + 4, y + 46);
  assert.deepEqual(
    found(
      [...birds(), ...heading, ...rows(AXES, TOP + next, other)],
      [...HEAD, ...body(TOP), ...row(TOP - 10 + next), ...body(TOP + next)],
    ),
    [BIRDS, other],
  );
});

test('one painted row under a head without paint says that each row has a band of its own', () => {
  const cells = [
    ['Bird', 'Place', 'Food'],
    ['Gull', 'A harbour wall', 'Old chips'],
    ['Tern', 'A quiet sandy', 'Small silver fish'],
  ];
  const words = [...rows(AXES, TOP, cells), ...rows(AXES.slice(1), TOP + 42, [['Beach', 'Some worms']])];
  const told = cells.with(2, ['Tern', 'A quiet sandy Beach', 'Small silver fish Some worms']);
  assert.deepEqual(found(words, row(TOP + 4)), [told]);
});

test('a frame closes the table, and lists of unlike length in it are one row', () => {
  const upright = (at: number): Ruling => ({ ...rule(at, TOP - 10, TOP + 130), horizontal: false });
  const lists = ['Gull', 'Tern', 'Heron', 'Crane', 'Snipe', 'Coot', 'Rail'];
  const words = [
    ...rows(AXES, TOP, [['Ringed', 'Seen', 'Heard']]),
    ...rows(
      AXES,
      TOP + 18,
      lists.map((bird, n) => [n === 0 ? 'Owl' : '', n === 0 ? 'Kite' : '', bird]),
      12,
    ),
    ...rows(AXES, TOP + 140, [['Page', 'of', 'birds']]),
  ];
  const frame = [upright(100), upright(400), rule(TOP - 10, 100, 400), rule(TOP + 130, 100, 400)];
  assert.deepEqual(found(words, HEAD, frame), [
    [
      ['Ringed', 'Seen', 'Heard'],
      ['Owl', 'Kite', lists.join(' ')],
    ],
  ]);
});
