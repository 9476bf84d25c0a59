// Holds what speaks for and against taking lines for one row of a table, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, line, PLAIN } from '#test/harness/documents/pdf-pages.ts';
import { boundingBox } from '../source/geometry.ts';
import { type CellLine, groupLinesIntoRows, holdsStackedRows } from './rows.ts';

const XS = [0, 150, 250, 350];
const PACE = 12;

interface Setting {
  /** Baselines; even ones where none are given. */
  ys?: readonly number[];
  bands?: readonly number[];
  bold?: readonly number[];
}

/** Lines of cells, one text a column; `>` before a text has it span the column after it too. */
const linesOf = (cells: readonly (readonly string[])[], { ys = [], bold = [] }: Setting = {}): CellLine[] =>
  cells.map((row, n) => {
    const own = row.flatMap((text, from) => {
      const words = line(XS[from] ?? 0, ys[n] ?? n * PACE, text.replace('>', ''), bold.includes(n) ? BOLD : PLAIN, 3);
      return text === '' ? [] : [{ words, from, to: from + (text.startsWith('>') ? 1 : 0) }];
    });
    return { cells: own, box: boundingBox(own.flatMap((cell) => cell.words.map((word) => word.box))), size: 10 };
  });
/** Lines of each row, as `0 12 3`. */
const read = (cells: readonly (readonly string[])[], setting: Setting = {}) =>
  groupLinesIntoRows(linesOf(cells, setting), cells[0]?.length ?? 0, setting.bands ?? cells.map(() => 0))
    .map((group) => group.join(''))
    .join(' ');

test('figures over figures are two rows, but for one that is broken', () => {
  assert.equal(
    read([
      ['Gull', '41'],
      ['', '12'],
    ]),
    '0 1',
  );
  assert.equal(
    read([
      ['Gull', '1931–'],
      ['', '32'],
    ]),
    '01',
  );
});

test('a line whose first word had room above is a row, one that had none or reads on is not', () => {
  const rows = (second: string) =>
    read([
      ['Gulls that come to the bay', '41'],
      [second, ''],
      ['Tern', '12'],
    ]);
  assert.equal(rows('Waders'), '0 1 2');
  assert.equal(rows('and to our islands here'), '01 2');
  assert.equal(
    read([
      ['Gulls that come', '41'],
      ['and rest', ''],
      ['Terns of all the islands', '12'],
    ]),
    '0 1 2',
  );
  const second = (end: string) =>
    read([
      [`Gulls that come in springs${end}`, '41'],
      ['Or autumns and all winters', ''],
      ['Tern', '12'],
    ]);
  assert.equal(second(''), '0 1 2', 'nothing tells that it wraps');
  assert.equal(second(','), '01 2');
});

test('lines of a label that wraps in other rows wrap here', () => {
  const wraps = (text: string) =>
    read([
      ['Gulls that come to us', '41'],
      ['Lamplighters and others', ''],
      ['Terns that come by us', '12'],
      [text, ''],
      ['Coot', '7'],
    ]);
  assert.equal(wraps('islands of the old bay'), '01 23 4');
  assert.equal(wraps('Islands of the old bay'), '0 1 2 3 4');
});

test('another type, another span, white space, or a band of its own end a row', () => {
  const two = [
    ['Gulls that come to the bay', 'many'],
    ['and rest on its islands', 'birds'],
    ['Tern', 'few'],
  ];
  assert.equal(read(two), '01 2');
  assert.equal(read(two, { bold: [0] }), '0 1 2');
  assert.equal(read(two, { ys: [0, 12, 32] }), '01 2');
  assert.equal(read(two, { ys: [0, 26, 52] }), '0 1 2');
  assert.equal(read(two, { bands: [0, 1, 2] }), '0 1 2');
  assert.equal(
    read([
      ['Bird', '>Counted from the light', ''],
      ['', 'spring', 'autumn'],
      ['Gull', '41', '57'],
      ['Tern', '12', '9'],
    ]),
    '0 1 2 3',
  );
});

test('lines that overlap are of one row, whatever stands in them', () => {
  assert.equal(
    read(
      [
        ['Gull', '41'],
        ['', '12'],
        ['Tern', '9'],
      ],
      { ys: [0, 5, 20] },
    ),
    '01 2',
  );
});

test('bands of figures over figures hold rows of their own', () => {
  const cells = [
    ['Bird', 'Seen'],
    ['Gull', '41'],
    ['Tern', '12'],
    ['Coot', '3'],
    ['Rail', '4'],
  ];
  const stacked = (bands: readonly number[], texts = cells) => holdsStackedRows(linesOf(texts), bands);
  assert.ok(stacked([0, 1, 1, 2, 2]));
  assert.ok(!stacked([0, 1, 2, 3, 4]), 'one line a band');
  const words = cells.map(([bird = ''], n) => [bird, n > 2 ? '4' : 'few']);
  assert.ok(!stacked([0, 1, 1, 1, 2], words), 'words over words');
});

test('figures stacked over one column, not beside each other, tell rows of their own', () => {
  const stacked = (cells: readonly (readonly string[])[]) =>
    holdsStackedRows(
      linesOf(cells),
      cells.map(() => 1),
    );
  assert.ok(
    stacked([
      ['Gull', '41', ''],
      ['Tern', '12', ''],
    ]),
  );
  assert.ok(
    !stacked([
      ['Gull', '41', ''],
      ['Tern', '', '12'],
    ]),
    'in two columns',
  );
  assert.ok(
    !stacked([
      ['Gull', 'few', ''],
      ['Tern', '12', ''],
    ]),
    'under a word',
  );
  assert.ok(
    !stacked([
      ['Gull', '>41', ''],
      ['Tern', '12', ''],
    ]),
    'of two widths',
  );
});

test('a dash for none is a figure, a hyphen alone breaks nothing', () => {
  assert.equal(
    read([
      ['Gull', '41'],
      ['', '–'],
      ['Tern', '12'],
    ]),
    '0 1 2',
  );
  assert.equal(
    read([
      ['Gull', '–'],
      ['', '12'],
      ['Tern', '9'],
    ]),
    '0 1 2',
  );
});

test('a line that ends with a small word goes on below', () => {
  const second = (end: string) =>
    read([
      [`Gulls that come in spring ${end}`, '41'],
      ['Autumns and all the winters', ''],
      ['Tern', '12'],
    ]);
  assert.equal(second('and'), '01 2');
  assert.equal(second('out'), '0 1 2');
});

test('a change of size between two lines of a cell ends its row as a change of weight does', () => {
  const cells = [
    ['Gulls that come to the bay', 'many'],
    ['and rest on its islands', 'birds'],
    ['Tern', 'few'],
  ];
  const lines = linesOf(cells).map((one, n) => ({
    ...one,
    cells: one.cells.map((cell) => ({
      ...cell,
      words: cell.words.map((word) => ({ ...word, style: { ...word.style, size: n === 0 ? 12 : 10 } })),
    })),
  }));
  const joined = (of: CellLine[]) =>
    groupLinesIntoRows(of, 2, [0, 0, 0])
      .map((group) => group.join(''))
      .join(' ');
  assert.equal(joined(linesOf(cells)), '01 2');
  assert.equal(joined(lines), '0 1 2');
});

/** Two lines of a label that fill their column and of which no letter tells that they are one. */
const SPRINGS = 'Gulls that come in springs';
const WINTERS = 'Or autumns and all winters';

test('a head wraps where no row below needs to: above a drawn line, or above the first figures', () => {
  const head = [
    [SPRINGS, 'Seen'],
    [WINTERS, ''],
  ];
  const words = [...head, ['Gull', 'few'], ['Tern', 'many']];
  assert.equal(read(words), '0 1 2 3', 'no head');
  assert.equal(read(words, { bands: [0, 0, 1, 1] }), '01 2 3');
  assert.equal(read([...head, ['Gull', '4'], ['Tern', '12']]), '01 2 3');
  const late = [['Coot', 'few'], ['Rail', 'none'], ['Teal', 'many'], ['Knot', 'some'], ...words];
  assert.equal(read([...late, ['Smew', '4']]), '0 1 2 3 4 5 6 7 8', 'figures after many lines');
});

test('no line goes on from the row over a drawn line, and what stands there tells nothing of how cells wrap', () => {
  const cells = [
    ['Gulls that come to us', '41'],
    ['lamplighters and others', '12'],
    ['Terns that come by us', '9'],
    ['Islands of the old bay', ''],
    ['Coot', '7'],
  ];
  assert.equal(read(cells), '0 1 23 4');
  assert.equal(read(cells, { bands: [0, 1, 2, 2, 2] }), '0 1 2 3 4');
});

test('how far apart lines stand is told by lines between the same two drawn lines that do not overlap', () => {
  const cells = [
    ['Bird', 'Spring', 'Autumn'],
    [SPRINGS, '41', '57'],
    [WINTERS, '', ''],
    ['Tern', '12', '9'],
  ];
  assert.equal(read(cells, { ys: [0, 20, 32, 44], bands: [0, 1, 1, 1] }), '0 1 2 3', 'white space at a drawn line');
  const labelled = [
    ['', 'seen in each'],
    ['Gull', ''],
    ['', 'month of it'],
    ['Tern of the bay', 'seen in each'],
    ['islands', 'month of it'],
  ];
  assert.equal(read(labelled, { ys: [0, 6.5, 13, 26, 39] }), '012 34', 'a label at half height');
});

test('where rows stand apart, lines that are tight are of one row', () => {
  const cells = [
    [SPRINGS, '41', '57'],
    [WINTERS, '', ''],
    ['Tern', '12', '9'],
    ['Coot', '3', '4'],
  ];
  assert.equal(read(cells), '0 1 2 3', 'all as tight');
  assert.equal(read(cells, { ys: [0, 12, 30, 48] }), '01 2 3');
  const looser = [['Rail', '7', '8'], ...cells];
  assert.equal(read(looser, { ys: [0, 12, 26.4, 40.8, 55.2] }), '0 1 2 3 4', 'not quite as tight');
});

test('a cell that reads on tells how its column wraps, but not one that had room above, and no other column', () => {
  const rest = [
    [SPRINGS, '7'],
    [WINTERS, ''],
    ['Coot', '3'],
  ];
  assert.equal(read([['Gulls that come to the bay', '41'], ['and rest on its islands', ''], ...rest]), '01 23 4');
  assert.equal(read([['Gull', '41'], ['and tern', ''], ...rest]), '0 1 2 3 4', 'it had room');
  const remarks = [
    ['Gull', 'seen in every single month of'],
    ['', 'the long year in all our bays'],
  ];
  assert.equal(read([...remarks, ...rest]), '01 2 3 4', 'another column');
});

test('names of which three and more take a second line, none with room on the first, wrap', () => {
  const names = (first: string) => [
    ['Rail', '2'],
    ...['41', '12', '7'].flatMap((figure) => [
      [first, figure],
      [WINTERS, ''],
    ]),
  ];
  assert.equal(read(names('Gulls that come here in springs')), '0 12 34 56');
  assert.equal(read(names(SPRINGS)), '0 1 2 3 4 5 6', 'room up to the next column');
});

test('a cell goes on one piece in its own columns, not a part of a wider cell, a wider one, or two pieces', () => {
  const under = (...second: string[]) =>
    read([['Bird', '>Counted in this year', ''], second, ['Gull', '41', '57'], ['Tern', '12', '9']]);
  assert.equal(under('', '>of all the keepers', ''), '01 2 3');
  assert.equal(under('', 'of spring', ''), '0 1 2 3');
  assert.equal(under('', '', 'of autumn'), '0 1 2 3');
  const lines = linesOf([
    ['Gulls that', 'few'],
    ['of the bay', ''],
  ]);
  const beside = { words: line(70, 0, 'Coots', PLAIN, 3), from: 0, to: 0 };
  const pieces = lines.map((one, n) => (n === 0 ? { ...one, cells: [...one.cells, beside] } : one));
  assert.deepEqual(groupLinesIntoRows(lines, 2, [0, 0]), [[0, 1]]);
  assert.deepEqual(groupLinesIntoRows(pieces, 2, [0, 0]), [[0], [1]]);
});

test('words under a figure go on its cell, and a year under words, but no figure under the head of its column', () => {
  assert.equal(
    read([
      ['Gulls that come to the bay', '41'],
      ['and rest on its islands', 'lighthouses'],
      ['Tern', '12'],
    ]),
    '01 2',
  );
  assert.equal(
    read([
      ['Gull', 'seen since'],
      ['', '1931'],
      ['Tern', 'few'],
    ]),
    '01 2',
  );
  const figures = [
    ['Gull', '41', '57'],
    ['Tern', '12', '9'],
    ['Coot', '3', '4'],
  ];
  assert.equal(read([['Bird', 'Counted', 'Counted'], ['', 'Springs', 'Autumns'], ...figures]), '01 2 3 4');
});

test('a word or a span of years that is broken goes on, whatever room it had', () => {
  assert.equal(
    read([
      ['Gull', '1931–'],
      ['', '32'],
      ['Tern', 'few years'],
    ]),
    '01 2',
  );
});

test('where a column holds one word a line, the second had no room and goes on', () => {
  assert.equal(
    read([
      ['Bridled', '41'],
      ['Guillemots', ''],
      ['Tern', '12'],
    ]),
    '01 2',
  );
});

test('white space in a column ends a row: its next line is another cell', () => {
  assert.equal(
    read([
      ['Gulls that come to us', 'seen'],
      ['and go over the bay', ''],
      ['terns that come by us', 'heard'],
    ]),
    '01 2',
  );
});

test('a row does not end where a cell reads on, though a short label had room', () => {
  assert.equal(
    read([
      ['Herring', 'seen by the keepers', '41'],
      ['Gull', 'of the lighthouse', ''],
      ['Black-headed gull', 'few', '12'],
    ]),
    '01 2',
  );
});

test('a line without a label is of the row above it; a label at half height has lines above and below it', () => {
  assert.equal(
    read([
      ['Tern', 'few'],
      ['Gull', 'Seen in the spring time'],
      ['', 'Heard in autumn nights'],
    ]),
    '0 12',
  );
  assert.equal(
    read([
      ['', 'Seen in the bays'],
      ['Gull', 'Heard from quays'],
      ['', 'Noted on islands'],
      ['', 'Seen in the moor'],
      ['Tern', 'Heard from hills'],
      ['', 'Noted on springs'],
    ]),
    '012 345',
  );
});

test('where tight lines go on cells and wide space parts rows, a number that the narrow column broke goes on too', () => {
  const row = (number: string, rest: string, figure: string, more: string): string[][] => [
    [number, 'Verify that the gulls of the bay', figure],
    [rest, 'and the terns are counted', more],
  ];
  const cells = ['2.1.7', '2.1.8', '2.1.9', '2.1.1'].flatMap((number, n) =>
    row(number, n === 3 ? '0' : '', '5.1', n === 3 ? '2' : ''),
  );
  const spaced = cells.map((_, n) => n * PACE + Math.floor(n / 2) * 8);
  assert.equal(read(cells, { ys: spaced }), '01 23 45 67');
  assert.equal(read(cells), '01 23 45 6 7', 'without the space');
  const figures = cells.map((_, n) => ['Gulls', String(n), '12']);
  assert.equal(read(figures, { ys: spaced }), '0 1 2 3 4 5 6 7', 'rows in pairs');
});
