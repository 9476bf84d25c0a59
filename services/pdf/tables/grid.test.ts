// Holds how cells become rows: what is left out, how many rows are the head, and which empty cells a head takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line } from '#test/harness/documents/pdf-pages.ts';
import { buildGrid, type RawCell, tableConfidence } from './grid.ts';

/** Cells by rows, one a column; `>` before a text has it span two columns, `>>` three, `_` two rows, `~` leaves the place to another cell. */
const raw = (rows: readonly (readonly string[])[]): RawCell[] =>
  rows.flatMap((texts, row) =>
    texts.flatMap((text, column): RawCell[] => {
      if (text === '~') return [];
      const colspan = 1 + (/^>*/.exec(text)?.[0].length ?? 0);
      const rowspan = 1 + (/^_*/.exec(text)?.[0].length ?? 0);
      const own = text.replace(/^[>_]+/, '');
      return [{ row, column, colspan, rowspan, words: own === '' ? [] : line(100 * column, 14 * row, own) }];
    }),
  );
const grid = (rows: readonly (readonly string[])[], edges: 'drawn' | 'open' = 'open', cells = raw(rows)) =>
  buildGrid(cells, rows.length, rows[0]?.length ?? 0, new Set(), edges);
const shown = (...of: Parameters<typeof grid>) =>
  grid(...of).rows.map((row) =>
    row
      .map(
        (cell) =>
          `${cell.text}${cell.colspan > 1 ? `>${cell.colspan}` : ''}${cell.rowspan > 1 ? `_${cell.rowspan}` : ''}`,
      )
      .join('|'),
  );
const BODY = [
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
];

test('rows and columns in which nothing stands are left out, and the parts of spans over them', () => {
  assert.deepEqual(
    shown([
      ['Bird', '', 'Seen'],
      ['', '', ''],
      ['Gull', '', '41'],
    ]),
    ['Bird|Seen', 'Gull|41'],
  );
  assert.deepEqual(
    shown(
      [
        ['Bird', '>Seen', '~'],
        ['Gull', '41', ''],
      ],
      'drawn',
    ),
    ['Bird|Seen', 'Gull|41'],
  );
  assert.deepEqual(
    shown(
      [
        ['_Bird', 'Seen'],
        ['~', ''],
        ['Gull', '41'],
      ],
      'drawn',
    ),
    ['Bird|Seen', 'Gull|41'],
  );
});

test('cells stand in the order of their columns, however they were found', () => {
  const cells = raw([
    ['Bird', 'Seen'],
    ['Gull', '41'],
  ]).reverse();
  assert.deepEqual(
    shown(
      [
        ['', ''],
        ['', ''],
      ],
      'open',
      cells,
    ),
    ['Bird|Seen', 'Gull|41'],
  );
});

test('the head is the first row, what its tall cells reach, and what stands under a head over several columns', () => {
  const heads = (...rows: string[][]) => grid([...rows, ...BODY], 'drawn').headerRows;
  assert.equal(heads(['Bird', 'Spring', 'Autumn']), 1);
  assert.equal(heads(['_Bird', 'Spring', 'Autumn'], ['~', '1', '2']), 2, 'a tall cell');
  assert.equal(heads(['Bird', '>Seen', '~'], ['', 'Spring', 'Autumn']), 2, 'a head over two columns');
  assert.equal(heads(['>>Counts', '~', '~'], ['Bird', 'Spring', 'Autumn']), 1, 'a title over all columns');
  assert.equal(heads(['Bird', '>', '~'], ['', 'Spring', 'Autumn']), 1, 'an empty cell over two columns');
  const group = ['Bird', '>Seen', '~'];
  assert.equal(heads(group, group, group, group, group, group), 4, 'four rows at most');
  assert.equal(grid([group, ['Gull', '41', '57']], 'drawn').headerRows, 1, 'not the last row');
});

test('a head takes the empty cells below and above it, where no line shows where it ends', () => {
  const under = [['Bird', '>Seen', '~'], ['', 'Spring', 'Autumn'], ...BODY];
  assert.deepEqual(shown(under).slice(0, 2), ['Bird_2|Seen>2', 'Spring|Autumn']);
  assert.deepEqual(shown(under, 'drawn').slice(0, 2), ['Bird|Seen>2', '|Spring|Autumn'], 'lines');
  const over = [['', '>Seen', '~'], ['Bird', 'Spring', 'Autumn'], ...BODY];
  assert.deepEqual(shown(over).slice(0, 2), ['Bird_2|Seen>2', 'Spring|Autumn']);
  const plain = [
    ['Bird', '', 'Autumn'],
    ['', '41', '57'],
    ['Tern', '12', '9'],
  ];
  assert.deepEqual(shown(plain), ['Bird||Autumn', '|41|57', 'Tern|12|9'], 'one row of heads');
  const last = [['Bird', '>Seen', '~'], ['Kind', 'Spring', 'Autumn'], ['', '41', '57'], ...BODY];
  assert.deepEqual(shown(last)[2], '|41|57', 'a row below the head');
  const free = [['', '>Seen', '~'], ['', '', 'Autumn'], ...BODY];
  assert.deepEqual(shown(free).slice(0, 2), ['|Seen>2', '||Autumn'], 'no text, and a head over two columns');
});

test('the confidence of a table is that of the words whose own is known', () => {
  const words = line(0, 0, 'Gull Tern Coot').map((word, n) => (n < 2 ? { ...word, confidence: 0.4 + n * 0.4 } : word));
  assert.ok(Math.abs((tableConfidence(words) ?? 0) - 0.6) < 1e-9);
  assert.equal(tableConfidence(words.slice(2)), null);
});
