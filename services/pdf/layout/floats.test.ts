// Holds how a sentence goes on past notes, pictures and tables, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutBatch } from '#services/pdf/convert.ts';
import { BOLD, filled, line, pageOf, rows, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import { assembleBlocks } from './document.ts';

const SMALL = sized(8);
type Page = readonly [words: Word[], more?: Partial<PageContent>];

/** First words of each block in reading order, or its type; `+` before one that carries on the block before it. */
function read(...pages: readonly Page[]): string[] {
  const batch = pages.map(([words, more], index) => ({
    content: pageOf(words, { index, ...more }),
    source: 'native_text' as const,
    status: 'ok' as const,
    renderWidth: null,
    renderHeight: null,
  }));
  const { pages: blocks } = assembleBlocks(layoutBatch(batch, new Set()), new Map(), [], new Set());
  return [...blocks.values()].flat().map(({ type, html, continues }) => {
    const text = type === 'text' ? (/>([^<>]+)</.exec(html)?.[1]?.split(' ')[0] ?? '') : type;
    return `${continues === undefined ? '' : '+'}${text}`;
  });
}

/** Full lines in a column of 250 points; the first begins with a word of its own. */
const column = (x: number, y: number, count: number, first: string, style = sized(10)): Word[] =>
  Array.from({ length: count }, (_, n) =>
    line(x, y + n * style.size * 1.2, n === 0 ? `${first} ${filled(49 - first.length, 4)}` : filled(50, n * 3), style),
  ).flat();
const left = (...more: Word[][]) => [...column(40, 100, 12, 'Text'), ...more.flat()];
const note = (first = 'Note') => column(40, 260, 3, first, SMALL);
const RIGHT = column(310, 100, 15, 'on');
const image = (x0: number, y0: number, x1: number, y1: number) => ({
  images: [{ box: { x0, y0, x1, y1 }, pixelWidth: 9, pixelHeight: 9 }],
});

test('a sentence goes on in the next column past the notes under it', () => {
  assert.deepEqual(read([[...left(note()), ...RIGHT]]), ['Text', '+on', 'Note']);
  const items = [...line(40, 260, `1. ${filled(47)}`, SMALL), ...line(40, 270, '2. gulls', SMALL)];
  assert.deepEqual(read([[...left(items), ...RIGHT]]), ['Text', '+on', filled(47).split(' ')[0]], 'in a list');
});

test('small text with a heading over it, or with the text’s own size under it, is no note', () => {
  const head = line(40, 262, 'References', BOLD);
  const small = [...line(40, 280, 'Entry of the log.', SMALL), ...column(40, 300, 3, 'Second', SMALL)];
  const rest = column(310, 100, 5, 'goes', SMALL);
  assert.deepEqual(read([[...left(head, small), ...rest]]), ['Text', 'section_header', 'Entry', 'Second', '+goes']);
  const own = column(40, 310, 4, 'Own');
  assert.deepEqual(read([[...left(note(), own), ...RIGHT]]), ['Text', 'Note', 'Own', '+on']);
});

test('notes end where the next column begins, also with small text, a picture or a table, and at the page’s end', () => {
  const small = column(310, 100, 3, 'small', SMALL);
  assert.deepEqual(read([[...left(note()), ...small, ...column(310, 150, 12, 'on')]]), ['Text', 'Note', 'small', 'on']);
  const under = column(310, 200, 10, 'on');
  assert.deepEqual(read([[...left(note()), ...under], image(310, 90, 560, 180)]), ['Text', '+on', 'Note', 'figure']);
  const cells = rows([312, 400, 480], 110, [
    ['Bird', 'Spring', 'Autumn'],
    ['Gull', '41', '57'],
    ['Tern', '12', '9'],
  ]);
  const rulings = [98, 113, 145].map((y) => rule(y, 310, 560));
  assert.deepEqual(read([[...left(note()), ...cells, ...under], { rulings }]), ['Text', '+on', 'Note', 'table']);
  const next = column(40, 100, 12, 'on');
  assert.deepEqual(read([left(note())], [next]), ['Note', 'Text', '+on']);
});

test('a paragraph of three pages stays over the picture under its second part', () => {
  const first = column(40, 100, 12, 'Text');
  const second = column(40, 100, 12, 'goes');
  const third = column(40, 100, 12, 'on');
  const picture = image(40, 300, 300, 500);
  assert.deepEqual(read([first], [second, picture], [third]), ['Text', '+goes', 'figure', 'on']);
  assert.deepEqual(read([first, picture], [second]), ['figure', 'Text', '+goes']);
});
