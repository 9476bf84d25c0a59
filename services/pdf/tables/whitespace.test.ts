// Holds each rule that tells a table which nothing but white space marks from prose, lists and labels, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, cellTexts, line, PLAIN, pageOf, rows, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { buildChunks, chunkText } from '../text/lines.ts';
import { splitTables } from './whitespace.ts';

const AXES = [200, 300, 400];
const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
];
const TOP = 300;
const next = TOP + 3 * 14;
const WIDE = rule(TOP + 4, 195, 440);
const found = (words: Word[], rulings: Ruling[] = []) =>
  splitTables(buildChunks(words), pageOf(words, { rulings }), new Set()).flatMap(({ table }) =>
    table ? [cellTexts(table)] : [],
  );
const count = (...of: Parameters<typeof found>) => found(...of).length;
const at = (y: number, cells: readonly (readonly string[])[] = BIRDS, xs = AXES) => rows(xs, y, cells, 14);
const times = (n: number, ...row: string[]) => Array.from({ length: n }, () => row);

test('three rows with cells side by side, or two with a line over most of their width', () => {
  assert.deepEqual(found(at(TOP)), [BIRDS]);
  const two = at(TOP, BIRDS.slice(0, 2));
  assert.equal(count(two), 0);
  assert.equal(count(two, [WIDE]), 1);
  assert.equal(count(two, [rule(TOP + 4, 195, 250)]), 0, 'a short line');
  assert.equal(count(two, [rule(TOP - 40, 195, 440)]), 0, 'a line far above');
  assert.equal(count(two, [rule(TOP + 60, 195, 440)]), 0, 'a line far below');
  assert.equal(count(two, [{ ...WIDE, horizontal: false }]), 0, 'an upright line');
});

test('a table ends at white space, at a line of prose, and takes a wrapped label with it', () => {
  assert.equal(count([...at(TOP), ...at(next)]), 1);
  assert.equal(count([...at(TOP), ...at(next + 25)]), 2, 'white space');
  assert.equal(count([...at(TOP), ...at(next, [['•', '', '']]), ...at(next + 14)]), 1, 'a mark alone');
  const between = (text: string) => [...at(TOP), ...line(200, next, text, undefined, 3), ...at(next + 14)];
  assert.equal(count(between('Counted from the old light each morning')), 2, 'prose');
  assert.equal(count(between('Counted at the lighthouses, unweighted')), 1, 'few words');
  assert.equal(count(between('as told by one of us')), 1, 'not wide');
  const label = (text: string, y = next - 2, x = 200) =>
    found([...at(TOP), ...line(x, y, text, undefined, 3)])[0]?.at(-1)?.[0];
  assert.equal(label('of the bay'), 'of the bay');
  assert.equal(label('of the bay', next + 2), 'Tern', 'not tight');
  assert.equal(label('of the bay', next - 2, 220), 'Tern', 'further in');
  assert.equal(label('of the bay by the quay'), 'Tern', 'up to the next column');
  assert.equal(label('lamplighters lamplighters'), 'Tern', 'under two columns');
});

test('two rows are a table below a caption of one or above it', () => {
  const two = (...words: Word[]) => count([...at(TOP, BIRDS.slice(0, 2)), ...words]);
  const caption = (y: number, text = 'Table 7. Birds') => line(200, y, text);
  assert.equal(two(...caption(TOP - 14)), 1);
  assert.equal(two(...caption(TOP - 36)), 0, 'far above');
  assert.equal(two(...caption(TOP + 28)), 1);
  assert.equal(two(...caption(TOP + 54)), 0, 'far below');
  assert.equal(two(...line(200, TOP - 14, 'Birds'), ...line(200, TOP + 28, 'Tables')), 0, 'other lines');
  assert.equal(two(...caption(TOP - 14, 'Figure 7. Birds')), 0);
  assert.equal(two(...caption(TOP - 14, 'Table 7 holds birds')), 0, 'a sentence');
  const below = (n: number) => two(...caption(TOP - 14 * n), ...at(TOP - 14 * (n - 1), times(n - 1, '', 'Seen', '')));
  assert.equal(below(4), 1, 'over a head of three lines');
  assert.equal(below(5), 0, 'over four lines');
});

test('a lone line close under a cell that is not the first of its row goes on it', () => {
  const around = (space: number, ...cells: readonly string[]) => {
    const long = rows(AXES, next, times(5, ...cells), space);
    return found([...at(TOP), ...long, ...at(next + 5 * space)]).length;
  };
  assert.equal(around(14, '', 'by the bay', ''), 1);
  assert.equal(around(14, '', '', 'by the bay'), 1, 'the last cell');
  assert.equal(around(14, '', 'by the bay or at the old quay', ''), 2, 'lines over the next column');
  const first = [...at(TOP, [['Gull', '41', '57']]), ...at(TOP + 14, times(4, '', 'seen', '')), ...at(TOP + 70)];
  assert.deepEqual(found(first), [[['Gull', '41 seen seen seen seen', '57'], ...BIRDS]], 'under the first row');
});

const LETTERHEAD = [
  ['Ada Gull', 'Date: 3 May'],
  ['Tern and Sons', 'Our ref.: 41'],
  ['9 Quay Road', 'Bird no.: 57'],
  ['Coot Harbour', ''],
];
const told = (words: Word[]) =>
  splitTables(buildChunks(words), pageOf(words), new Set()).map(({ table, chunks = [] }) =>
    table ? 'table' : chunks.map((chunk) => chunkText(chunk.words)).join(' '),
  );

test('the two sides of a letterhead are no table: the left is read to its end, then the right', () => {
  const sides = ['Ada Gull Tern and Sons 9 Quay Road Coot Harbour', 'Date: 3 May Our ref.: 41 Bird no.: 57'];
  assert.deepEqual(told(at(TOP, LETTERHEAD, [100, 300])), sides);
  const keys = LETTERHEAD.slice(0, 3).map((row, n) => [`${['Name', 'Firm', 'Place'][n]}:`, row[0] ?? '']);
  assert.equal(told(at(TOP, keys, [100, 300])).length, 1, 'keys and values are read line by line');
  const form = LETTERHEAD.slice(0, 3).map((row, n) => [['Full name', 'Sent from', 'Now at'][n] ?? '', row[0] ?? '']);
  assert.equal(told(at(TOP, form, [100, 300])).length, 1, 'a label beside each value of a form');
});

test('a title in larger type between a letterhead and a table is of neither', () => {
  const title = line(100, TOP + 64, 'Delivery Note', sized(14));
  const words = [...at(TOP, LETTERHEAD, [100, 300]), ...title, ...at(TOP + 84, BIRDS, [100, 240, 320])];
  assert.deepEqual(told(words).slice(1), ['Date: 3 May Our ref.: 41 Bird no.: 57', 'Delivery Note', 'table']);
});

test('a line of text above a table is none of its rows, however wide the space between them', () => {
  const tight = rows(AXES, TOP, BIRDS, 11);
  for (const space of [12, 18, 24]) {
    const words = [...line(200, TOP - space, 'Counted by hand on all of the days'), ...tight];
    assert.deepEqual(told(words), ['Counted by hand on all of the days', 'table']);
  }
});

test('a cell in the middle of its row, whose neighbours wrap, stays in it', () => {
  const row = (y: number, name: string, text: string, figure: string) => [
    ...line(100, y, name),
    ...rows([200], y - 6, [[text.slice(0, text.indexOf(','))], [text.slice(text.indexOf(',') + 2)]], 12),
    ...line(400, y, figure),
  ];
  const words = [
    ...rows([100, 200, 400], TOP, [['Bird', 'Seen', 'Count']]),
    ...row(TOP + 26, 'Gull', 'by the old quay, and out at sea', '41'),
    ...row(TOP + 56, 'Tern', 'on the long bar, of the wide bay', '57'),
    ...row(TOP + 86, 'Coot', 'in all the pools, of the low land', '12'),
  ];
  assert.deepEqual(
    found(words)[0]?.map((cells) => cells.join('|')),
    [
      'Bird|Seen|Count',
      'Gull|by the old quay and out at sea|41',
      'Tern|on the long bar of the wide bay|57',
      'Coot|in all the pools of the low land|12',
    ],
  );
});

test('a narrow gap without a space parts cells where the file writes its spaces', () => {
  const cells = (y: number, left: string, right: string, spaceBefore: boolean | null) => [
    ...line(120, y, 'Gulls of the bay and of the sea', undefined, 3),
    ...line(320, y, left),
    ...line(320 + left.length * 5 + 4.8, y, right).map((word) => ({ ...word, spaceBefore })),
  ];
  const table = (spaceBefore: boolean | null) =>
    found([...[0, 1, 2, 3].flatMap((n) => cells(TOP + n * 14, '1,041', '1,057', spaceBefore))])[0]?.[1];
  assert.deepEqual(table(null), ['Gulls of the bay and of the sea', '1,041', '1,057']);
  assert.deepEqual(table(true), ['Gulls of the bay and of the sea', '1,041 1,057']);
});

test('legends over several columns are of a chart', () => {
  const axis = ['Jan-08', 'Jul-08', 'Jan-09', 'Jul-09', 'Jan-10'];
  const xs = [100, 160, 220, 280, 340];
  const legend = (y: number) => line(130, y, 'Spread of five years and yield', undefined, 3);
  const chart = [0, 1, 2].flatMap((n) => [...legend(TOP + n * 28 - 14), ...rows(xs, TOP + n * 28, [axis])]);
  assert.equal(count(chart), 0);
});

test('a caption parts two tables', () => {
  const caption = (text: string) => [...at(TOP), ...line(200, next, text), ...at(next + 14)];
  assert.deepEqual(found(caption('Table 7. Birds')), [BIRDS, BIRDS]);
  assert.equal(found(caption('Birds')).length, 1);
  const cut = [...line(200, next, 'Table 7. Birds'), ...line(360, next, 'of the bay')];
  assert.deepEqual(found([...at(TOP), ...cut, ...at(next + 14)]), [BIRDS, BIRDS], 'cut by justified type');
});

test('a run that is no table is none in its last rows either', () => {
  const prose = times(5, ...times(3, 'it is as it is in it').flat());
  const words = [...at(TOP, prose, [40, 200, 360]), ...at(TOP + 70, BIRDS, [40, 200, 360])];
  assert.equal(count(words), 0);
});

test('labels strewn about, figures without a word, and columns that line up nowhere are no table', () => {
  const strewn = Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: 8 }, (_, column) => (column === n || column === (n + 1) % 8 ? '41' : '')),
  );
  const spots = [40, 100, 160, 220, 280, 340, 400, 460];
  const heads = times(1, 'Gull', 'Tern', 'Coot', 'Teal', 'Rail', 'Knot', 'Ruff', 'Smew');
  assert.equal(count([...at(TOP - 14, heads, spots), ...rows(spots, TOP, strewn, 14)]), 0);
  const figures = times(6, '41', '12', '9');
  assert.equal(count(at(TOP, figures)), 0);
  assert.equal(count(at(TOP, figures), [WIDE]), 1, 'with a line');
  assert.equal(count([...at(TOP - 14, [['Gulls', 'Terns', 'Coots']]), ...at(TOP, figures)]), 1, 'with a head');
  assert.equal(count(at(TOP, times(3, 'Gull', '41', '12'))), 1, 'with labels');
  const drifting = Array.from({ length: 6 }, (_, n) =>
    rows([200, 300 + n * 11], TOP + n * 14, [['Gull', '41']]),
  ).flat();
  assert.equal(count(drifting), 0);
});

test('two columns: figures, or five rows of few words, nearly all of them of two cells; no list', () => {
  const two = (n: number, ...row: string[]) => at(TOP, times(n, ...row), [200, 300]);
  assert.equal(count(two(3, 'Gull', '41')), 1);
  assert.equal(count(two(4, 'Gull', 'grey')), 0);
  assert.equal(count(two(5, 'Gull', 'grey')), 1);
  assert.equal(count(rows([150, 300], TOP, times(5, 'The gulls of our bay', 'Are grey and white'), 20)), 0);
  assert.equal(count(rows([150, 300], TOP, times(5, 'the old gulls', 'are all grey'), 11)), 0, 'one row that wraps');
  assert.equal(count(two(3, 'Gull', '—')), 1, 'dashes');
  assert.equal(count(two(3, 'Gull', 'grey'), [WIDE]), 1, 'with a line');
  assert.equal(count(two(5, '1.', 'Gulls')), 0, 'a list');
  assert.equal(count(at(TOP, times(5, '1.', 'Gulls', '41'))), 1, 'three columns');
  assert.equal(count(two(5, '1. Gulls', '41')), 1, 'numbered labels');
});

test('columns of long cells without a line are prose', () => {
  const cells = times(4, 'The old gulls of bay', 'Rest on the quay all', 'Day until it is dark');
  assert.equal(count(at(TOP, cells, [60, 200, 340])), 0);
  assert.equal(count(at(TOP, cells, [60, 200, 340]), [rule(TOP + 4, 55, 440)]), 1);
  const short = times(4, 'Gull of sea', 'Tern of bay', 'Coot of rye');
  assert.equal(count(at(TOP, short, [60, 200, 340])), 1, 'a cell is of its own column alone');
});

test('two rows and the second line of a label are two rows', () => {
  const words = [...at(TOP, BIRDS.slice(0, 2)), ...line(200, TOP + 26, 'of the bay', undefined, 3)];
  assert.equal(count(words), 0);
  assert.equal(count(words, [WIDE]), 1, 'with a line');
});

test('text above and below a table stays', () => {
  const words = [...line(200, TOP - 50, 'Counts'), ...at(TOP), ...line(200, TOP + 80, 'Sources')];
  const parts = splitTables(buildChunks(words), pageOf(words), new Set());
  const told = parts.map(({ table, chunks = [] }) =>
    table ? 'table' : chunks.map((chunk) => chunkText(chunk.words)).join(' '),
  );
  assert.deepEqual(told, ['Counts', 'table', 'Sources']);
});

test('a line over the table or under it parts no rows, and one from edge to edge is of no one cell', () => {
  const cells = [
    ['Bird', 'Spring', 'Autumn'],
    ['Gull', 'Many', 'Few'],
    ['Tern', 'Some', 'None'],
    ['Coot', 'One', 'Two'],
  ];
  const lines = (...ys: readonly number[]) => found(at(TOP, cells), [...ys.map((y) => rule(TOP + y, 195, 440))]);
  assert.deepEqual(lines(4, 32), [cells]);
  assert.deepEqual(lines(-12, 4, 32), [cells], 'over it');
  assert.deepEqual(lines(4, 32, 48), [cells], 'under it');
  const sums = [...BIRDS.slice(0, 2), ['Tern', '12', ''], ['Sum', '53', '57']];
  assert.deepEqual(found(at(TOP, sums), [rule(TOP + 32, 195, 440)]), [sums], 'over a sum');
});

test('a cell that stands alone in its column makes no table of a list of terms', () => {
  const terms = (third: string) => [
    ['Gull', 'Grey and white', ''],
    ['Tern', 'White and grey', third],
    ['Coot', 'Black all over', third],
    ['Rail', 'Seen by no one', 'Rare'],
  ];
  assert.equal(count(at(TOP, terms(''))), 0);
  assert.equal(count(at(TOP, terms('Common'))), 1);
});

test('two lines whose pieces have no column in common are no table, though a line is drawn between them', () => {
  const xs = [200, 260, 320, 380];
  assert.equal(
    count(
      at(
        TOP,
        [
          ['Gull', 'seen', '', ''],
          ['', '', 'Tern', 'heard'],
        ],
        xs,
      ),
      [WIDE],
    ),
    0,
  );
  const six = at(TOP, [['Gull', 'Tern', 'Coot', 'Teal', 'Rail', 'Knot']], [200, 240, 280, 320, 360, 400]);
  const two = rows([205, 325], TOP + 14, [['counted in springs', 'and in the autumns']], 14);
  assert.equal(count([...six, ...two], [WIDE]), 0);
});

test('a numbered list close under a table is none of its rows', () => {
  const items = rows(
    [205, 225],
    TOP + 46,
    ['Mix the grain with the meal by hand', 'Leave it out for an hour at noon'].map((text, n) => [`${n + 3}.`, text]),
  );
  assert.deepEqual(found([...at(TOP), ...items]), [BIRDS]);
});

test('a mark in a column of marks begins a row, and a list under rows of other columns stays one', () => {
  const key = (x: number) => [
    ...rows(
      [200, 240],
      TOP,
      [
        ['Mark', 'Meaning'],
        ['o', 'Counted'],
        ['x', 'Heard'],
      ],
      14,
    ),
    ...rows([205, x], next, [['✓', 'Seen']], 14),
  ];
  assert.deepEqual(found(key(240), [WIDE])[0]?.at(-1), ['✓', 'Seen']);
  assert.equal(found(key(230), [WIDE])[0]?.length, 3, 'text that begins elsewhere');
});

test('a head beside an empty corner stands over the cells of its column, as close as rows are', () => {
  const body = [
    ['Gull', '41.5'],
    ['Tern', '12.0'],
    ['Rail', '57.5'],
    ['Coot', '30.0'],
  ];
  const head = (text: string, x: number, y = TOP - 14, style = BOLD) =>
    found([...line(x, y, text, style), ...rows([200, 300], TOP, body, 14)])[0]?.[0];
  assert.deepEqual(head('Seen', 300), ['', 'Seen'], 'at the left of its cells');
  assert.deepEqual(head('Tons', 300), ['', 'Tons'], 'at the right of its cells');
  assert.deepEqual(head('Seen', 300, TOP - 22), body[0], 'not close');
  assert.deepEqual(head('Seen', 320), body[0], 'beside its cells');
  assert.deepEqual(head('Seen', 200), body[0], 'a heading over the labels');
  assert.deepEqual(head('Seen', 300, TOP - 14, sized(12, BOLD)), body[0], 'in larger type');
  assert.deepEqual(head('Seen', 300, TOP - 14, PLAIN), body[0], 'in the type of its cells');
});
