// Holds the layout of whole pages on small hand-made ones, each for one rule that tells tables, charts, prose and headings apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BOLD,
  draftPages,
  grids,
  ITALIC,
  kinds,
  PLAIN,
  painted,
  rows,
  rule,
  line as spaced,
} from '#test/harness/documents/pdf-pages.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import { isCaption } from '../text/markers.ts';

const line = (x: number, y: number, text: string, style = PLAIN, gap = 3) => spaced(x, y, text, style, gap);
const draftsOf = (words: Word[], more: Partial<PageContent> = {}) => draftPages([words], more);

const BIRDS = [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
  ['Heron', '3', '4'],
];
const AXES = [200, 300, 400];

test('rows of figures are a table, but not where a curve is drawn through them or a picture lies under them', () => {
  const words = () => rows(AXES, 300, BIRDS);
  assert.deepEqual(grids(draftsOf(words())), [BIRDS]);
  const slants = Array.from({ length: 40 }, (_, n) => [200 + n * 5, 300 + (n % 5) * 8]).flat();
  assert.deepEqual(grids(draftsOf(words(), { slants })), []);
  const parted = [293, 305].map((y) => rule(y, 195, 440));
  assert.deepEqual(grids(draftsOf(words(), { rulings: parted })), [BIRDS], 'between rules');
  assert.deepEqual(grids(draftsOf(words(), { rulings: parted, slants })), [], 'an axis and a line of the grid');
  const image = (x0: number) => ({ box: { x0, x1: x0 + 300, y0: 280, y1: 360 }, pixelWidth: 300, pixelHeight: 80 });
  assert.deepEqual(grids(draftsOf(words(), { images: [image(180)] })), []);
  assert.deepEqual(grids(draftsOf(words(), { images: [image(-250)] })), [BIRDS], 'a picture beside it changes nothing');
});

test('one shaded row of several cells makes a table with the rows above and below it, wrapped lines too', () => {
  const xs = [60, 140, 300];
  const words = [
    ...rows(
      xs,
      300,
      [
        ['Edition', 'Change', 'Chapters'],
        ['first', 'none', 'all'],
      ],
      16,
    ),
    ...rows(
      xs,
      332,
      [
        ['second', 'corrects the tides', 'the second'],
        ['', 'of every spring', 'and third'],
      ],
      11,
    ),
  ];
  const regions = [{ box: { x0: 55, x1: 420, y0: 305, y1: 321 }, color: 0xeeeeff }];
  assert.deepEqual(grids(draftsOf(words, { regions })), [
    [
      ['Edition', 'Change', 'Chapters'],
      ['first', 'none', 'all'],
      ['second', 'corrects the tides of every spring', 'the second and third'],
    ],
  ]);
});

test('lines without a line between their rows are rows by what had room on the line above: a label of two lines is one cell, a group\u2019s name none', () => {
  const cells = [
    ['Bird', 'Spring', 'Autumn'],
    ['Gulls that come to', '41', '57'],
    ['rest there', '', ''],
    ['Waders', '', ''],
    ['Tern', '12', '9'],
    ['Heron', '3', '4'],
  ];
  const words = rows([60, 200, 280], 300, cells, 12);
  const rulings = [290, 304, 364].map((y) => rule(y, 55, 330));
  assert.deepEqual(grids(draftsOf(words, { rulings })), [
    [
      ['Bird', 'Spring', 'Autumn'],
      ['Gulls that come to rest there', '41', '57'],
      ['Waders', '', ''],
      ['Tern', '12', '9'],
      ['Heron', '3', '4'],
    ],
  ]);
});

test('labels that stand on the line of their figures with their last words are whole', () => {
  const cells = [
    ['Party', 'Seats', 'Votes'],
    ['Dock', '4', '498'],
    ['Grand Old Party', '', ''],
    ['Of The Quay', '2', '435'],
    ['Fishers Society', '', ''],
    ['Of The Bay', '5', '425'],
    ['Western Gull Lot', '', ''],
    ['Of Islands', '1', '194'],
  ];
  const words = rows([60, 145, 225], 300, cells, 12);
  const rulings = [290, 304, 390].map((y) => rule(y, 55, 330));
  assert.deepEqual(
    grids(draftsOf(words, { rulings }))[0]?.map((row) => row[0]),
    ['Party', 'Dock', 'Grand Old Party Of The Quay', 'Fishers Society Of The Bay', 'Western Gull Lot Of Islands'],
  );
});

test('heads at the left of their columns over figures at the right are no columns of their own', () => {
  const xs = [60, 160, 260];
  const heads = rows(xs, 300, [['Bird', 'Spring', 'Autumn']]);
  const figures = ['4', '5', '6', '7'].flatMap((figure, n) => [
    ...line(60, 316 + n * 14, ['Gull', 'Tern', 'Heron', 'Coot'][n] ?? ''),
    ...line(220, 316 + n * 14, figure),
    ...line(320, 316 + n * 14, figure),
  ]);
  const rulings = [288, 304, 364].map((y) => rule(y, 55, 330));
  assert.deepEqual(grids(draftsOf([...heads, ...figures], { rulings }))[0]?.slice(0, 2), [
    ['Bird', 'Spring', 'Autumn'],
    ['Gull', '4', '4'],
  ]);
});

test('a head over several columns, and one that has its column to itself through all rows of the head', () => {
  const words = [
    ...line(60, 300, 'Bird'),
    ...line(190, 300, 'Counted from the light'),
    ...rows([180, 270], 314, [['Spring', 'Autumn']]),
    ...rows(
      [60, 180, 270],
      330,
      ['Gull', 'Tern', 'Heron', 'Coot', 'Teal'].map((bird) => [bird, '41', '57']),
    ),
  ];
  const rulings = [288, 318, 392].map((y) => rule(y, 55, 330));
  const [table] = draftsOf(words, { rulings }).filter((draft) => draft.kind === 'table');
  assert.deepEqual(
    table?.grid.rows.slice(0, 2).map((row) => row.map((cell) => [cell.text, cell.colspan, cell.rowspan])),
    [
      [
        ['Bird', 1, 2],
        ['Counted from the light', 2, 1],
      ],
      [
        ['Spring', 1, 1],
        ['Autumn', 1, 1],
      ],
    ],
  );
});

test('cells that are painted one by one give the columns of the rows between them, paragraphs painted in them once more do not', () => {
  const edges = [55, 140, 290, 420];
  const words = [
    ...rows([60, 145, 295], 300, [['Bird', 'Where it rests', 'Seen']]),
    ...rows([60, 145, 295], 316, [['Gull', 'on the old quay of', 'every day of the']]),
    ...rows([145, 295], 328, [['the harbour town', 'spring']]),
    ...rows([60, 145, 295], 346, [['Tern', 'on the bay islands', 'never']]),
  ];
  const regions = edges
    .slice(1)
    .flatMap((x1, n) => [painted(edges[n] ?? 0, 306, x1, 334), painted((edges[n] ?? 0) + 5, 308, x1 - 5, 320)]);
  assert.deepEqual(grids(draftsOf(words, { regions })), [
    [
      ['Bird', 'Where it rests', 'Seen'],
      ['Gull', 'on the old quay of the harbour town', 'every day of the spring'],
      ['Tern', 'on the bay islands', 'never'],
    ],
  ]);
});

test('labels before three columns of figures are no column of prose beside them', () => {
  const cells = [
    'Less than three months',
    'Three months to one year',
    'One year to three years',
    'More than ten years',
  ];
  const words = cells.flatMap((label, n) => [
    ...line(60, 300 + n * 12, label),
    ...rows([220, 320, 420], 300 + n * 12, [['4,448', '21.3%', '17.0%']]),
  ]);
  const heads = rows([60, 220, 320, 420], 288, [['Imprisonment terms', 'Clauses', 'Share', 'Total']]);
  assert.deepEqual(kinds(draftsOf([...heads, ...words])), ['table']);
});

test('a table whose only line is the one under its head keeps its head, and not the heading above it', () => {
  const words = [
    ...line(200, 288, 'Counts', { ...BOLD, size: 12 }),
    ...rows(AXES, 302, BIRDS),
    ...line(200, 376, 'Both were counted from the light every morning.'),
  ];
  const drafts = draftsOf(words, { rulings: [rule(306, 195, 440)] });
  assert.deepEqual(kinds(drafts), ['text', 'table', 'text']);
  assert.deepEqual(grids(drafts), [BIRDS]);
});

test('justified columns of prose between two tables whose rules have one width stay prose', () => {
  const xs = [50, 150, 250, 350, 450];
  const cells = [
    ['Year', 'Gulls', 'Terns', 'Herons', 'Total'],
    ['1931', '40', '7', '2', '49'],
    ['1932', '38', '9', '3', '50'],
  ];
  const prose = (x: number, y: number) =>
    [
      'the harbour master counts them',
      'from the old light each morn',
      'and notes the wind and the sky',
      'before any boat is let out now',
    ].flatMap((text, n) => line(x, y + n * 12, text, PLAIN, 13 - (text.length % 3)));
  const words = [...rows(xs, 100, cells), ...prose(50, 160), ...prose(310, 160), ...rows(xs, 230, cells)];
  const rulings = [88, 104, 135, 218, 234, 265].map((y) => rule(y, 45, 510));
  const drafts = draftsOf(words, { rulings });
  assert.deepEqual(kinds(drafts), ['table', 'text', 'text', 'table']);
  assert.deepEqual(grids(drafts), [cells, cells]);
});

const BODY = [
  'gulls come back to the quay when the wind turns west and',
  'rest there until the boats are out of sight again, every',
  'day of the long spring that the harbour is given.',
];
const paragraph = (y: number) => BODY.flatMap((text, n) => line(50, y + n * 12, text));

test('a bold line of another size, or an italic one after a full line, is no part of the paragraph at it', () => {
  const heading = line(50, 100, 'Counting all the birds of this bay from the light', { ...BOLD, size: 10.5 });
  assert.equal(draftsOf([...heading, ...paragraph(113)]).length, 2);
  const italic = line(50, 138, 'On the gulls of the spring', ITALIC);
  assert.equal(draftsOf([...paragraph(100), ...italic, ...paragraph(151)]).length, 3);
});

test('a caption has a number or a colon after its word', () => {
  for (const text of ['Table 3: Birds', 'Figure A.1 The bay', 'Fig. 2', 'Source: the log', 'TABLE IV'])
    assert.ok(isCaption(text), text);
  for (const text of ['Table of contents', 'Note that the book value', 'Map the coast first', 'Figures show it'])
    assert.ok(!isCaption(text), text);
});

test('lines of a table of contents stay apart, whatever their pages are called', () => {
  const entries = [
    'Lights of the coast .......... 12',
    'Bills of material ............ A',
    'Sounding tables ............ B-2',
  ];
  const drafts = draftsOf(entries.flatMap((text, n) => line(60, 300 + n * 12, text)));
  assert.deepEqual(
    drafts.map((draft) => ('text' in draft ? draft.text : draft.kind)),
    entries,
  );
});
