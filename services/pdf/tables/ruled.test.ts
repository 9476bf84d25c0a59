// Holds each rule that reads a table from the lines drawn around its cells, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, cellTexts, line, PLAIN, pageOf, rows, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, TextStyle, Word } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { findRuledTables } from './ruled.ts';

const XS = [100, 200, 300, 400];
const YS = [300, 320, 340, 360];
const AXES = [105, 205, 305];
const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
];
const upright = (at: number, start: number, end: number): Ruling => ({ ...rule(at, start, end), horizontal: false });
const level = (ys: readonly number[], x0 = 100, x1 = 400) => ys.map((y) => rule(y, x0, x1));
const down = (xs: readonly number[], y0 = 300, y1 = 360) => xs.map((x) => upright(x, y0, y1));
const GRID = [...level(YS), ...down(XS)];
const birds = () => rows(AXES, 313, BIRDS, 20);
const tables = (words: Word[], rulings: Ruling[], sideways: Word[] = []) =>
  findRuledTables(pageOf(words, { rulings }), buildChunks(words), sideways, new Set());
const found = (...of: Parameters<typeof tables>) => tables(...of).map(cellTexts);
const spans = (...of: Parameters<typeof tables>) =>
  tables(...of)[0]?.grid.rows.map((row) => row.map((cell) => `${cell.text} ${cell.colspan}x${cell.rowspan}`));

test('lines that cross, or miss each other by a little, make a grid; double lines are one, open sides end with the lines', () => {
  assert.deepEqual(found(birds(), GRID), [BIRDS]);
  assert.deepEqual(found(birds(), [...level(YS, 102, 398), ...down(XS)]), [BIRDS], 'a little short');
  assert.deepEqual(found(birds(), [...level(YS, 110, 390), ...down([100, 400])]), [], 'far too short');
  assert.deepEqual(found(birds(), [...level(YS.flatMap((y) => [y, y + 2])), ...down(XS)]), [BIRDS], 'double');
  assert.deepEqual(found(birds(), [...level(YS), ...down(XS.slice(1, 3))]), [BIRDS], 'open at the sides');
  assert.deepEqual(found(birds(), [...level(YS.slice(1, 3)), ...down(XS)]), [BIRDS], 'open above and below');
  const second = [...level([500, 520, 540]), ...down(XS, 500, 540)];
  const ports = [
    ['Port', 'One', 'Two'],
    ['Oban', '1', '2'],
  ];
  assert.deepEqual(found([...birds(), ...rows(AXES, 513, ports, 20)], [...GRID, ...second]), [BIRDS, ports]);
});

test('a box, a row of boxes, a drawing, and a grid with next to no text are no tables', () => {
  assert.equal(found(birds(), [...level([300, 360]), ...down([100, 400])]).length, 0, 'a box');
  assert.equal(found(birds(), [...level([300]), ...down(XS)]).length, 0, 'one level line');
  assert.equal(found(birds(), level(YS)).length, 0, 'no upright line');
  const many = [...GRID, ...Array.from({ length: 2_500 }, (_, n) => rule(700, n, n + 1))];
  assert.equal(found(birds(), many).length, 0, 'a drawing');
  assert.equal(found(birds(), many.slice(0, 2_000)).length, 1, 'many lines elsewhere');
  assert.equal(found(birds(), [...level([300, 360]), ...down(XS)].slice(0, 3)).length, 0, 'three lines');
  assert.equal(found(rows(AXES, 313, [['Gull', '41', '']], 20), GRID).length, 0, 'two words');
  const first = BIRDS.map((row) => row.slice(0, 1));
  assert.equal(found(rows(AXES, 313, first, 20), GRID).length, 0, 'one column with text');
  assert.equal(found(rows(AXES, 313, BIRDS.slice(0, 1), 20), GRID).length, 0, 'one row with text');
  const wide = Array.from({ length: 9 }, (_, n) => 100 + n * 30);
  const sparse = [...level(YS, 100, 340), ...down(wide)];
  assert.equal(
    found(
      rows(
        [105, 135],
        313,
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
        20,
      ),
      sparse,
    ).length,
    0,
    'little text',
  );
});

test('cells that no line parts are one, half a line parts none, and a span takes no part of what is parted below it', () => {
  const head = [...level(YS), ...down([100, 200, 400]), upright(300, 320, 360)];
  const words = [...rows([105, 285], 313, [['Bird', 'Seen']]), ...rows(AXES, 333, BIRDS.slice(1), 20)];
  assert.deepEqual(spans(words, head)?.[0], ['Bird 1x1', 'Seen 2x1']);
  const half = [...head, upright(300, 300, 310)];
  assert.deepEqual(spans(words, half)?.[0], ['Bird 1x1', 'Seen 2x1'], 'half a line');
  const open = [...level([300, 340, 360]), rule(320, 100, 200), ...down([100, 200, 400]), upright(300, 320, 360)];
  assert.deepEqual(spans(words, open)?.[0], ['Bird 1x1', 'Seen 2x1'], 'no line under the head');
  const tall = [...level([300, 320, 360]), rule(340, 200, 400), ...down(XS)];
  assert.deepEqual(spans(birds(), tall)?.[1]?.[0], 'Gull Tern 1x2');
});

test('words that stand sideways in a cell are its text', () => {
  const [turned] = line(105, 313, 'Bird').map((word) => ({ ...word, direction: 90 as const }));
  const words = birds().filter((word) => word.text !== 'Bird');
  assert.deepEqual(found(words, GRID, turned ? [turned] : []), [BIRDS]);
  assert.equal(
    found(words, GRID, turned ? [{ ...turned, box: { x0: 5, x1: 15, y0: 5, y1: 15 } }] : [])[0]?.[0]?.[0],
    '',
  );
});

test('words that stand sideways in a cell are read in their own direction, line after line', () => {
  // Turned left: a line runs up the page, the next line stands to its right.
  const up = line(0, 0, 'first line of the label').map((word) => ({ ...word, lineX: 110 }));
  const next = line(0, 0, 'second line').map((word) => ({ ...word, lineX: 125 }));
  const label: Word[] = [...up, ...next].map(({ lineX, ...word }) => ({
    ...word,
    direction: 270,
    box: { x0: lineX, x1: lineX + 10, y0: 490 - word.box.x1, y1: 490 - word.box.x0 },
  }));
  const grid = [...level([300, 500, 520]), ...down(XS, 300, 520)];
  const words = [...rows(AXES.slice(1), 400, [['Spring', 'Autumn']]), ...rows(AXES, 513, [['Gull', '41', '57']])];
  assert.equal(found(words, grid, label)[0]?.[0]?.[0], 'first line of the label second line');
});

test('lines between columns alone: each line of text is a row where they are full, a cell that wraps is not', () => {
  const columns = [...level([300, 320, 400]), ...down(XS, 300, 400)];
  const body = [...BIRDS.slice(1), ['Coot', '3', '4'], ['Rail', '5', '6']];
  const words = [...rows(AXES, 313, BIRDS.slice(0, 1)), ...rows(AXES, 333, body, 15)];
  assert.deepEqual(found(words, columns), [[BIRDS[0], ...body]]);
  const wrapped = [
    ['Gull', 'on the quay of', '41'],
    ['', 'the old harbour', ''],
    ['', 'and on its', ''],
    ['', 'islands', ''],
  ];
  const cell = [...rows(AXES, 313, BIRDS.slice(0, 1)), ...rows(AXES, 333, wrapped, 15)];
  assert.equal(found(cell, columns)[0]?.length, 2);
  const stripes = [
    ...rows(
      [105, 205],
      333,
      [
        ['Gulls', 'come with'],
        ['grey', 'the wind'],
      ],
      12,
    ),
    ...rows(
      [105, 205],
      375,
      [
        ['Terns', 'rest on'],
        ['white', 'the quay'],
      ],
      12,
    ),
  ];
  const striped = [...level([300, 320, 400], 100, 300), ...down([100, 200, 300], 300, 400)];
  assert.equal(
    found([...rows([105, 205], 313, [['Bird', 'Way']]), ...stripes], striped)[0]?.length,
    3,
    'white stripes',
  );
});

test('figures over figures between two lines are rows, however many lines are drawn', () => {
  const many = [300, 320, 340, 360, 380, 410];
  const rulings = [...level(many), ...down(XS, 300, 410)];
  const words = [
    ...rows(AXES, 313, [...BIRDS, ['Coot', '3', '4']], 20),
    ...rows(
      AXES,
      391,
      [
        ['5', '6', '7'],
        ['8', '9', '1'],
      ],
      13,
    ),
  ];
  assert.equal(found(words, rulings)[0]?.length, 6);
  const worded = [
    ...rows(AXES, 313, [...BIRDS, ['Coot', '3', '4']], 20),
    ...rows(
      AXES,
      391,
      [
        ['Rails', 'on', 'the'],
        ['there', 'it', 'quay'],
      ],
      13,
    ),
  ];
  assert.equal(found(worded, rulings)[0]?.length, 5);
});

test('two columns of figures between two lines are two in all of four rows and more', () => {
  const ys = [300, 320, 340, 360, 380, 400];
  const rulings = [...level(ys, 100, 300), ...down([100, 200, 300], 300, 400)];
  const cells = ['Gull', 'Tern', 'Coot', 'Rail', 'Teal'].map((bird, n) => [bird, String(n + 1), String(n + 3)]);
  const columns = (text: readonly (readonly string[])[]) =>
    found(rows([105, 205, 255], 313, text, 20), rulings)[0]?.[0]?.length;
  assert.equal(columns(cells), 3);
  assert.equal(columns(cells.map((row, n) => (n < 3 ? row : row.slice(0, 2)))), 2, 'three rows of five');
  assert.equal(columns(cells.map((row) => [row[0] ?? '', 'on', 'quay'])), 2, 'words');
});

test('tables that stand beside each other, or aslant, are two', () => {
  const ports = [
    ['Port', 'One', 'Two'],
    ['Oban', '1', '2'],
    ['Mull', '3', '4'],
  ];
  const right = rows([455, 505, 555], 313, ports, 20);
  const beside = [...level(YS, 450, 600), ...down([450, 500, 550, 600])];
  assert.deepEqual(found([...birds(), ...right], [...GRID, ...beside]), [BIRDS, ports]);
  const upper = rows(
    [305, 325, 345],
    113,
    [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
    ],
    20,
  );
  const lower = rows(
    [105, 125, 145],
    313,
    [
      ['k', 'l', 'm'],
      ['n', 'o', 'p'],
      ['q', 'r', 's'],
    ],
    20,
  );
  const high = [...level([100, 120, 140, 160], 300, 360), ...down([300, 320, 340, 360], 100, 160)];
  const low = [...level(YS, 100, 160), ...down([100, 120, 140, 160])];
  assert.equal(found([...upper, ...lower], [...high, ...low]).length, 2);
});

test('a table that is drawn inside a cell is read with the cell', () => {
  const inner = [...level([304, 318, 332], 210, 290), ...down([210, 250, 290], 304, 332)];
  const outer = [...level([300, 340, 360, 380, 400]), ...down(XS, 300, 400)];
  const words = [
    ...rows([105, 305], 320, [['Bird', 'Autumn']]),
    ...rows([215, 255], 314, [
      ['on', 'sea'],
      ['at', 'quay'],
    ]),
    ...rows(AXES, 353, [...BIRDS.slice(1), ['Coot', '3', '4']], 20),
  ];
  const all = found(words, [...outer, ...inner]);
  assert.equal(all.length, 1);
  assert.equal(all[0]?.[0]?.[1], 'on sea at quay');
});

test('cells that have a border each are the cells of one grid', () => {
  const borders = [
    ...level(
      YS.flatMap((y) => [y - 1.5, y + 1.5]),
      98,
      402,
    ),
    ...down(
      XS.flatMap((x) => [x - 1.5, x + 1.5]),
      298,
      362,
    ),
  ];
  assert.deepEqual(found(birds(), borders), [BIRDS]);
});

test('squared paper is no table, however much is written on it', () => {
  const places = Array.from({ length: 203 }, (_, n) => n * 10);
  const paper = [...level(places, 0, 2_020), ...down(places, 0, 2_020)];
  const words = Array.from({ length: 10_000 }, (_, n) =>
    line(2 + (n % 200) * 10, 8 + Math.floor(n / 200) * 10, '1'),
  ).flat();
  assert.deepEqual(found(words, paper), []);
});

test('a corner over two columns and two rows is one cell; where lines are missing aslant no cells overlap', () => {
  const corner = [
    rule(300, 100, 400),
    rule(320, 300, 400),
    ...level([340, 360]),
    upright(100, 300, 360),
    upright(200, 340, 360),
    upright(300, 300, 360),
    upright(400, 300, 360),
  ];
  const words = [
    ...line(105, 313, 'Bird of passage', undefined, 3),
    ...rows(
      AXES,
      313,
      [
        ['', '', 'Seen'],
        ['', '', 'Autumn'],
        ['Gull', '41', '57'],
      ],
      20,
    ),
  ];
  assert.deepEqual(spans(words, corner)?.[0], ['Bird of passage 2x2', 'Seen 1x1']);
  const aslant = [
    rule(300, 100, 400),
    rule(320, 100, 200),
    rule(320, 300, 400),
    ...level([340, 360]),
    upright(100, 300, 360),
    upright(200, 300, 320),
    upright(200, 340, 360),
    upright(300, 300, 360),
    upright(400, 300, 360),
  ];
  const cells = tables(birds(), aslant)[0]?.grid.rows.flat() ?? [];
  assert.equal(
    cells.reduce((sum, cell) => sum + cell.colspan * cell.rowspan, 0),
    9,
  );
});

test('lines between columns alone: full rows of words are rows, a cell of sentences is one, with white space in it or not', () => {
  const three = (words: Word[], bottom = 400) =>
    found(
      [...rows(AXES, 313, BIRDS.slice(0, 1)), ...words],
      [...level([300, 320, bottom]), ...down(XS, 300, bottom)],
    )[0]?.length;
  const worded = [
    ['Gull', 'Harbour', 'Anna'],
    ['Tern', 'Islands', 'Bert'],
    ['Coot', 'Lake', 'Carl'],
    ['Rail', 'Marsh', 'Dora'],
  ];
  assert.equal(three(rows(AXES, 333, worded, 15)), 5);
  const sentences = [
    ['Gull', 'Rests here.', '41'],
    ['', 'Feeds there.', ''],
    ['', 'Leaves then.', ''],
    ['', 'Comes again.', ''],
  ];
  assert.equal(three(rows(AXES, 333, sentences, 15)), 2);
  const paragraphs = [...rows(AXES, 333, sentences.slice(0, 2), 12), ...rows(AXES, 375, sentences.slice(2), 12)];
  assert.equal(three(paragraphs), 2);
});

test('however many lines are drawn, white space through all columns parts rows of words', () => {
  const many = [300, 320, 340, 360, 380, 460];
  const rulings = [...level(many), ...down(XS, 300, 460)];
  const upper = rows(AXES, 313, [...BIRDS, ['Coot', '3', '4']], 20);
  const rails = rows(
    AXES,
    391,
    [
      ['Rails', 'on the', 'seen by'],
      ['of the', 'old quay', 'Anna'],
    ],
    12,
  );
  const teals = rows(
    AXES,
    430,
    [
      ['Teals', 'on the', 'seen by'],
      ['there', 'islands', 'Bert'],
    ],
    12,
  );
  assert.equal(found([...upper, ...rails, ...teals], rulings)[0]?.length, 6);
});

test('two columns of figures between two lines need four rows, nearly all of them parted', () => {
  const cells = Array.from({ length: 7 }, (_, n) => ['Gull', String(n + 1), String(n + 3)]);
  const columns = (text: readonly (readonly string[])[]) => {
    const ys = Array.from({ length: text.length + 1 }, (_, n) => 300 + n * 20);
    const rulings = [...level(ys, 100, 300), ...down([100, 200, 300], 300, ys.at(-1))];
    return found(rows([105, 205, 255], 313, text, 20), rulings)[0]?.[0]?.length;
  };
  assert.equal(columns(cells), 3);
  assert.equal(columns(cells.slice(0, 3)), 2, 'three rows');
  assert.equal(columns(cells.map((row, n) => (n < 4 ? row : row.slice(0, 2)))), 2, 'four of seven');
});

test('a head over two columns of figures, with its own mark, spans them', () => {
  const ys = Array.from({ length: 8 }, (_, n) => 300 + n * 20);
  const rulings = [...level(ys, 100, 300), ...down([100, 200, 300], 300, 440)];
  const body = Array.from({ length: 6 }, (_, n) => ['Gull', String(n + 10), String(n + 30)]);
  const head = [...line(105, 313, 'Bird'), ...line(205, 313, 'Seen in 1990s', undefined, 3), ...line(275, 313, '*')];
  const words = [...head, ...rows([105, 205, 265], 333, body, 20)];
  assert.deepEqual(spans(words, rulings)?.slice(0, 2), [
    ['Bird 1x1', 'Seen in 1990s * 2x1'],
    ['Gull 1x1', '10 1x1', '30 1x1'],
  ]);
});

test('lines that end a hair before the next are one grid, tables a line of small type apart are two', () => {
  const pieces = (ends: readonly number[]) => ends.slice(1).map((end, n) => [(ends[n] ?? 0) + 2.5, end - 2.5] as const);
  const uprights = pieces(YS).flatMap(([y0, y1]) => down(XS, y0, y1));
  assert.deepEqual(found(birds(), [...level(YS), ...uprights]), [BIRDS]);
  const levels = pieces(XS).flatMap(([x0, x1]) => level(YS, x0, x1));
  assert.deepEqual(found(birds(), [...levels, ...down(XS)]), [BIRDS]);
  const ports = [
    ['Port', 'One', 'Two'],
    ['Oban', '1', '2'],
    ['Mull', '3', '4'],
  ];
  const below = [...level(YS.map((y) => y + 64)), ...down(XS, 364, 424)];
  assert.deepEqual(found([...birds(), ...rows(AXES, 377, ports, 20)], [...GRID, ...below]), [BIRDS, ports]);
  const beside = [...level(YS, 404, 554), ...down([404, 454, 504, 554])];
  assert.deepEqual(found([...birds(), ...rows([409, 459, 509], 313, ports, 20)], [...GRID, ...beside]), [BIRDS, ports]);
});

test('a drawn row of several cells alone is a table where nothing stands under it', () => {
  const head = [...level([300, 320]), ...down(XS, 300, 320)];
  const words = rows(AXES, 313, BIRDS.slice(0, 1));
  assert.deepEqual(found(words, head), [BIRDS.slice(0, 1)]);
  assert.deepEqual(found(birds(), head), [], 'the head of open rows');
  const below = (style: TextStyle) =>
    found([...words, ...line(100, 334, 'Counts of the old autumn light', style)], head);
  assert.deepEqual(below(sized(14)), [BIRDS.slice(0, 1)], 'a heading in larger type below');
  assert.deepEqual(below(BOLD), [BIRDS.slice(0, 1)], 'a heading in bold type below');
  assert.deepEqual(below(PLAIN), [], 'text below');
  const pair = [...level([300, 320]), ...down([100, 200, 400], 300, 320)];
  assert.deepEqual(found(rows(AXES.slice(0, 2), 313, [['Bird', 'Spring']]), pair), [], 'two cells');
});

test('the column lines of a drawn head go on through a body without them, down to the line that closes it', () => {
  const head = [...level([300, 320]), ...down(XS, 300, 320)];
  assert.deepEqual(found(birds(), [...head, ...level([360])]), [BIRDS], 'one line at the end');
  assert.deepEqual(found(birds(), [...head, ...level([340, 360])]), [BIRDS], 'a line under each row');
  assert.deepEqual(found(birds(), [...head, ...level([340, 360, 500])]), [BIRDS], 'a line without text above it');
  assert.deepEqual(found(birds(), [...head, ...level([360], 100, 300)]), [], 'a line of another width');
  const framed = [...level([300, 320, 360]), ...down([100, 400]), ...down([200, 300], 300, 320)];
  assert.deepEqual(found(birds(), framed), [BIRDS], 'in a frame');
  const grouped = [...birds(), ...line(105, 373, 'waders of the northern and the southern shore of the bay', PLAIN, 3)];
  const more = [...grouped, ...rows(AXES, 393, [['Ruff', '7', '8']]), ...rows(AXES, 413, [['Knot', '5', '6']])];
  const texts = ['waders of the northern and the southern shore of the bay'];
  assert.deepEqual(
    found(more, [...head, ...level([340, 360, 380, 400, 420])]),
    [[...BIRDS, texts, ['Ruff', '7', '8'], ['Knot', '5', '6']]],
    'a row over the columns',
  );
});

test('column lines do not go on through sentences, nor over the lines of another table', () => {
  const head = [...level([300, 320]), ...down(XS, 300, 320)];
  const names = rows(AXES, 313, BIRDS.slice(0, 1));
  const text = [
    'The gulls of the northern shore were counted in the',
    'spring and in the autumn of both years by all of us',
  ];
  const prose = text.flatMap((one, n) => line(105, 333 + n * 14, one, PLAIN, 3));
  assert.deepEqual(found([...names, ...prose], [...head, ...level([360])]), [], 'under the head');
  const framed = [...level([300, 320, 360]), ...down([100, 400]), ...down([200, 300], 300, 320)];
  assert.deepEqual(found([...names, ...prose], framed), [[BIRDS[0], [text.join(' ')]]], 'in a frame');
  const second = [...level([345, 365]), ...down(XS, 345, 365)];
  const both = [...names, ...rows(AXES, 358, BIRDS.slice(0, 1)), ...rows(AXES, 378, BIRDS.slice(1), 20)];
  assert.deepEqual(found(both, [...head, ...second, ...level([405])]), [BIRDS.slice(0, 1), BIRDS], 'two heads');
});
