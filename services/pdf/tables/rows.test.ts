// Holds what speaks for and against taking lines for one row of a table, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, line, PLAIN } from '#test/harness/documents/pdf-pages.ts';
import { boundingBox } from '../source/geometry.ts';
import { type CellLine, groupLines, holdsStackedRows } from './rows.ts';

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
  groupLines(linesOf(cells, setting), cells[0]?.length ?? 0, setting.bands ?? cells.map(() => 0))
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
    groupLines(of, 2, [0, 0, 0])
      .map((group) => group.join(''))
      .join(' ');
  assert.equal(joined(linesOf(cells)), '01 2');
  assert.equal(joined(lines), '0 1 2');
});
