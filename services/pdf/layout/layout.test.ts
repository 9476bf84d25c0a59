// Holds the pure steps of the layout on small hand-made input.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Word } from '../source/page-model.ts';
import { joinHyphenated } from '../text/inline.ts';
import { buildChunks, chunkText } from '../text/lines.ts';
import { numberingDepth, readMarker } from '../text/markers.ts';
import { cutColumns } from './columns.ts';
import { listHtml } from './lists.ts';

const style = { font: '', size: 10, bold: false, italic: false, monospace: false, color: 0 };

/** Words of 5 points a letter on one baseline, at the given x. */
function line(y: number, ...words: [x: number, text: string][]): Word[] {
  return words.map(([x, text], index) => ({
    text,
    box: { x0: x, x1: x + text.length * 5, y0: y - 8, y1: y + 2 },
    baseline: y,
    style,
    direction: 0,
    spaceBefore: index === 0 ? null : true,
    invisible: false,
    index,
  }));
}

test('a hyphen at a line end: dropped, or kept where the document writes the word with it', () => {
  assert.equal(joinHyphenated('meadow\u00ad', 'land', new Set()), 'meadow');
  assert.equal(joinHyphenated('mead-', 'ows', new Set()), 'mead');
  assert.equal(joinHyphenated('well-', 'known', new Set(['well-known'])), 'well-');
  assert.equal(joinHyphenated('anti-', 'German', new Set()), 'anti-');
  assert.equal(joinHyphenated('state-of-', 'art', new Set()), 'state-of-');
  assert.equal(joinHyphenated('plain', 'word', new Set()), undefined);
  assert.equal(joinHyphenated('2019-', '2020', new Set()), '2019-');
});

test('chunks end at wide gaps, but a justified line with even gaps is one', () => {
  const cells = buildChunks(line(20, [10, 'one'], [28, 'cell'], [90, 'next'], [113, 'cell']));
  assert.deepEqual(
    cells.map((chunk) => chunkText(chunk.words)),
    ['one cell', 'next cell'],
  );
  const justified = buildChunks(line(20, [10, 'wide'], [48, 'even'], [86, 'gaps'], [124, 'here']));
  assert.equal(justified.length, 1);
});

test('right-to-left words are read from the right', () => {
  const words = line(20, [60, 'שלום'], [36, 'עולם']);
  assert.deepEqual(
    buildChunks(words).map((chunk) => chunkText(chunk.words)),
    ['שלום עולם'],
  );
  const quoted = line(20, [10, 'say'], [28, 'עולם'], [51, 'שלום'], [74, 'twice']);
  assert.deepEqual(
    buildChunks(quoted).map((chunk) => chunkText(chunk.words)),
    ['say שלום עולם twice'],
  );
  // A long address does not turn the line in which it stands.
  const address = line(20, [10, 'keeper@harbour.example'], [126, 'נמל'], [144, 'שומר']);
  assert.deepEqual(
    buildChunks(address).map((chunk) => chunkText(chunk.words)),
    ['שומר נמל keeper@harbour.example'],
  );
});

test('columns of prose are cut, a heading over both stays first, short cells side by side are not cut', () => {
  const item = (x0: number, x1: number, y: number, words: number) => ({
    box: { x0, x1, y0: y, y1: y + 10 },
    words,
    size: 10,
    atom: false,
    name: `${x0},${y}`,
  });
  const rows = [20, 32, 44, 56, 68];
  const page = [item(50, 500, 0, 9), ...rows.flatMap((y) => [item(50, 265, y, 7), item(290, 500, y, 7)])];
  const order = cutColumns(page).flatMap((column) => column.items.map((one) => one.name));
  assert.deepEqual(order, ['50,0', ...rows.map((y) => `50,${y}`), ...rows.map((y) => `290,${y}`)]);
  const cells = rows.flatMap((y) => [item(50, 80, y, 1), item(290, 320, y, 1)]);
  assert.equal(cutColumns(cells).length, 1);
});

test('markers of list items and numbers of headings', () => {
  assert.deepEqual(readMarker('•'), { style: 'bullet', shape: '•', value: 1 });
  assert.deepEqual(readMarker('12.'), { style: 'decimal', shape: '.', value: 12 });
  assert.deepEqual(readMarker('(b)'), { style: 'lower-alpha', shape: '()', value: 2 });
  assert.deepEqual(readMarker('iv)'), { style: 'lower-roman', shape: ')', value: 4 });
  for (const word of ['2019.', 'word', 'Dr.', '3.5', '-5']) assert.equal(readMarker(word), undefined, word);
  assert.deepEqual(
    ['2 Results', '2.3 More', '2.3.1. Deep', 'Chapter IV', 'Results', '2019 was good'].map(numberingDepth),
    [1, 2, 3, 1, 0, 0],
  );
});

test('letters stay as text before the item, numbers that do not begin at one are kept', () => {
  const item = (marker: { style: 'decimal' | 'lower-alpha'; shape: string; value: number }, html: string) => ({
    kind: 'item' as const,
    pageIndex: 0,
    box: { x0: 0, y0: 0, x1: 1, y1: 1 },
    ocr: null,
    marker,
    indent: 10,
    html,
    text: html,
    size: 10,
    endsFull: false,
    lastWord: html,
  });
  assert.equal(
    listHtml([
      item({ style: 'decimal', shape: '.', value: 4 }, 'x'),
      item({ style: 'decimal', shape: '.', value: 5 }, 'y'),
    ]),
    '<ol start="4"><li>x</li><li>y</li></ol>',
  );
  const bullet = { style: 'bullet' as const, shape: '•', value: 1 };
  const uneven = [10, 12].map((indent) => ({ ...item({ ...bullet, style: 'decimal' }, 'x'), marker: bullet, indent }));
  assert.equal(listHtml(uneven), '<ul><li>x</li><li>x</li></ul>', 'indents that differ by a hair');
  assert.equal(listHtml([item({ style: 'lower-alpha', shape: '()', value: 2 }, 'x')]), '<ul><li>(b) x</li></ul>');
});
