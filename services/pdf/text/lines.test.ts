// Holds which words of a page are one piece of a line, and in which order a piece is read, on words made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, line, PLAIN, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { buildChunks, chunkText, groupRows, makeChunk, spaceBetween } from './lines.ts';

type Piece = readonly [x: number, text: string, more?: Partial<Word>];
const words = (...pieces: readonly Piece[]): Word[] =>
  pieces.flatMap(([x, text, more = {}]) => line(x, more.baseline ?? 20, text).map((word) => ({ ...word, ...more })));
const cut = (...pieces: readonly Piece[]) => buildChunks(words(...pieces)).map((chunk) => chunkText(chunk.words));

test('a wide gap ends a piece, unless all gaps of a line are as wide', () => {
  assert.deepEqual(cut([10, 'one'], [32, 'cell'], [67, 'next']), ['one cell', 'next']);
  assert.deepEqual(cut([10, 'one'], [40, 'cell']), ['one', 'cell'], 'a single gap is like no other');
  const comma = [37, ',', { spaceBefore: false, style: BOLD }] as const;
  assert.deepEqual(cut([10, 'wide'], [44, 'even'], [78, 'gaps']), ['wide even gaps']);
  assert.deepEqual(
    cut([17, 'wide'], comma, [54, 'even'], [86, 'gaps']),
    ['wide, even gaps'],
    'a comma in another face',
  );
});

test('raised marks stand on the lines of their figures, in whatever order they come', () => {
  const raised = (x: number, text: string) => line(x, 16, text, sized(5.5));
  const items = [...raised(30, '1'), ...raised(90, '2'), ...line(10, 20, 'four'), ...line(70, 20, 'five')];
  const shown = (words: Word[]) => groupRows(words).map((row) => row.map(({ text }) => text).join(' '));
  assert.deepEqual(shown(items), ['four 1 five 2']);
  assert.deepEqual(shown([...line(10, 15, 'small', sized(6)), ...line(10, 24, 'large')]), ['small', 'large']);
});

test('lines that OCR read apart stay apart, however near they stand', () => {
  const place = (at: number) => ({ place: { block: at, line: at } });
  assert.deepEqual(cut([10, 'left', place(1)], [33, 'right', place(2)]), ['left', 'right']);
  assert.deepEqual(cut([10, 'left', place(1)], [33, 'side', place(1)]), ['left side']);
});

test('cells that run into each other are two', () => {
  const below = [10, 'below', { baseline: 40, box: { x0: 10, x1: 35, y0: 32, y1: 42 } }] as const;
  assert.deepEqual(cut([10, 'lamplighters'], below, [50, 'seven']), ['lamplighters', 'seven', 'below']);
});

test('a piece that is painted before the one on its left is joined to it over a normal space only', () => {
  assert.deepEqual(cut([30, 'two'], [12, 'one']), ['one two']);
  assert.deepEqual(cut([33, 'two'], [10, 'one']), ['one', 'two']);
});

test('a wide-set line that reads from the right is one, with its number in the middle', () => {
  assert.deepEqual(cut([80, 'שלום'], [62, '12'], [34, 'עולם']), ['שלום 12 עולם']);
});

test('the direction of a line is that of its words, not of its numbers or of the marks at them', () => {
  assert.deepEqual(cut([10, '1932'], [36, '12'], [52, 'שנת']), ['שנת 12 1932']);
  assert.deepEqual(cut([10, '(עולם'], [40, 'שלום,']), ['שלום, (עולם']);
  const quotes = cut(
    [10, 'he'],
    [23, 'says'],
    [46, 'ב'],
    [54, 'א'],
    [62, 'and'],
    [80, 'she'],
    [98, 'ד'],
    [106, 'ג'],
    [114, 'twice'],
  );
  assert.deepEqual(quotes, ['he says א ב and she ג ד twice'], 'two quotes');
});

test('a name in brackets in a line that reads from the right has its brackets and spaces', () => {
  const line = [
    [80, 'שלום'],
    [71, ')'],
    [60, 'AB'],
    [54, ')'],
    [31, 'עולם'],
  ] as const;
  assert.deepEqual(cut(...line), ['שלום (AB) עולם']);
});

test('on a page that reads from the right, so does a line that is mostly Latin', () => {
  // The frame of the page is mirrored.
  const mirrored = { mirrored: true };
  const line = [
    [10, 'שלום', mirrored],
    [35, 'three', mirrored],
    [65, 'two', mirrored],
    [85, 'one', mirrored],
  ] as const;
  assert.deepEqual(cut(...line), ['שלום one two three']);
});

test('a piece’s type and foot are those of the longest word in the size that most of its letters have', () => {
  const of = (...parts: readonly (readonly [text: string, y: number, style?: TextStyle])[]) =>
    makeChunk(parts.flatMap(([text, y, style = PLAIN], n) => line(10 + n * 60, y, text, style)));
  assert.equal(of(['*', 16], ['lamplight', 20]).baseline.toFixed(3), '20.000');
  assert.equal(of(['lamplight', 20], ['2', 24]).baseline.toFixed(3), '20.000');
  assert.equal(of(['No', 20, sized(14)], ['lamplight', 20]).size, 10);
});

test('white space between words: what the file says, and the gap where it is wide', () => {
  const [word] = line(10, 20, 'bay') as [Word];
  const after = (gap: number, spaceBefore: boolean | null) =>
    spaceBetween(word, { ...word, box: { ...word.box, x0: word.box.x1 + gap }, spaceBefore });
  assert.equal(after(0.5, true), true);
  assert.equal(after(1.8, false), false);
  assert.equal(after(2.5, false), true);
  assert.equal(after(0.5, null), false);
});
