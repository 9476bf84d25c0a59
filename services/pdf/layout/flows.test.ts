// Holds how pieces that OCR read follow one another, on pieces made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FlowPlace, followOcr } from './flows.ts';

interface Piece {
  name: string;
  box: { x0: number; x1: number; y0: number; y1: number };
  place: FlowPlace | undefined;
  words: number;
  size: number;
  atom: boolean;
}
let next = 0;
/** The next piece of OCR, unless its line is named. */
const piece = (name: string, x0: number, x1: number, y0: number, { block = 0, line = next++ } = {}): Piece => ({
  name,
  box: { x0, x1, y0, y1: y0 + 10 },
  place: { block, line },
  words: 3,
  size: 10,
  atom: false,
});
const figure = (name: string, x0: number, x1: number, y0: number, y1: number): Piece => ({
  ...piece(name, x0, x1, y0),
  box: { x0, x1, y0, y1 },
  place: undefined,
});
/** Names of the pieces of each column. */
const read = (...pieces: readonly Piece[]) =>
  followOcr(pieces, (one) => one.place).map((column) => column.items.map((one) => one.name).join(''));

test('pieces come in the order of OCR; above the one before, or beside what is there, another column begins', () => {
  const left = [piece('a', 50, 250, 20), piece('b', 50, 250, 32), piece('c', 50, 250, 44)];
  const right = [piece('d', 300, 500, 20), piece('e', 300, 500, 32)];
  assert.deepEqual(read(...right, ...left), ['abc', 'de']);
  assert.deepEqual(read(...left, piece('f', 300, 500, 56, { block: 1 })), ['abc', 'f'], 'beside its width');
  assert.deepEqual(read(...left, piece('f', 60, 240, 56, { block: 1 })), ['abcf']);
  assert.deepEqual(read(...left, piece('f', 50, 400, 56, { block: 1 })), ['abc', 'f'], 'far wider to the right');
  assert.deepEqual(read(...left, piece('f', 5, 250, 56, { block: 1 })), ['abc', 'f'], 'far wider to the left');
  const apart = [piece('f', 50, 400, 56, { block: 1 }), piece('g', 300, 500, 20, { block: 2 })];
  assert.deepEqual(read(...left, ...apart), ['abc', 'f', 'g'], 'and more to come');
  assert.deepEqual(read(...left, piece('f', 50, 270, 56, { block: 1 })), ['abcf'], 'a little wider');
  assert.deepEqual(read(...left.slice(0, 2), piece('f', 50, 400, 56, { block: 1 })), ['abf'], 'a title may be short');
});

test('a small piece just outside of a column of three lines is none of its lines', () => {
  const lines = [piece('a', 50, 250, 20), piece('b', 50, 250, 32), piece('c', 50, 250, 44)];
  const small = () => piece('n', 255, 275, 56, { block: 1 });
  assert.deepEqual(read(...lines, small()), ['abc', 'n']);
  assert.deepEqual(read(...lines.slice(0, 2), small()), ['abn']);
});

test('pieces of one line stay together, and lines of one block however they lie', () => {
  const at = 90;
  assert.deepEqual(read(piece('a', 50, 100, 20, { line: at }), piece('b', 200, 250, 20, { line: at })), ['ab']);
  assert.deepEqual(read(piece('b', 200, 250, 20, { line: at }), piece('a', 50, 100, 20, { line: at })), ['ab']);
  const lines = [
    piece('a', 50, 250, 20, { block: 7 }),
    piece('b', 50, 250, 32, { block: 7 }),
    piece('c', 50, 250, 44, { block: 7 }),
  ];
  assert.deepEqual(read(...lines, piece('d', 50, 400, 56, { block: 7 })), ['abcd']);
  assert.deepEqual(read(...lines, piece('d', 50, 250, 20, { block: 7 })), ['abc', 'd'], 'but not above the one before');
  const tall = [
    piece('a', 50, 250, 20),
    piece('b', 50, 100, 20, { line: 200 }),
    piece('c', 50, 250, 24, { line: 201, block: 3 }),
  ];
  assert.deepEqual(read(...tall), ['a', 'b', 'c'], 'overlapping lines of two blocks');
});

test('a picture is put by its height into the column that it stands in, or after the one above it', () => {
  const left = [piece('a', 50, 250, 20), piece('b', 50, 250, 200)];
  const right = [piece('c', 300, 500, 20), piece('d', 300, 500, 32)];
  assert.deepEqual(read(...left, ...right, figure('P', 60, 240, 60, 180)), ['abP', 'cd']);
  assert.deepEqual(read(...left, ...right, figure('P', 310, 490, 60, 180)), ['ab', 'cd', 'P']);
  assert.deepEqual(read(...left, ...right, figure('P', 60, 240, 220, 300)), ['ab', 'P', 'cd']);
  assert.deepEqual(read(...left, ...right, figure('P', 60, 240, 2, 18)), ['P', 'ab', 'cd'], 'above all');
});

test('a column that OCR cut where print begins beside it is one again, where its lines go on at one pitch, place and size', () => {
  const upper = () => [20, 32, 44].map((y, n) => piece('abc'[n] ?? '', 50, 250, y, { block: 1 }));
  const beside = (x0: number, x1: number, y = 56) => piece('d', x0, x1, y, { block: 2 });
  const lower = (y = 56, x0 = 50, x1 = 250, size = 10) =>
    [0, 12].map((down, n) => ({ ...piece('ef'[n] ?? '', x0, x1, y + down, { block: 3 }), size }));
  assert.deepEqual(read(...upper(), beside(300, 500), ...lower()), ['abcef', 'd'], 'on its right');
  assert.deepEqual(read(...upper(), beside(5, 40), ...lower()), ['d', 'abcef'], 'on its left');
  const cut = ['abc', 'd', 'ef'];
  assert.deepEqual(read(...upper(), beside(300, 500, 70), ...lower(64)), cut, 'white space between');
  assert.deepEqual(read(...upper(), beside(300, 500, 90), ...lower()), cut, 'nothing beside it');
  assert.deepEqual(read(...upper(), beside(300, 500), ...lower(56, 75, 250)), cut, 'another margin');
  assert.deepEqual(read(...upper(), beside(300, 500), ...lower(56, 50, 250, 12)), cut, 'another size');
  const title = () => piece('t', 50, 500, 8, { block: 1 });
  assert.deepEqual(read(title(), ...upper(), beside(5, 40), ...lower()), ['t', 'd', 'abcef'], 'under a title');
  const wide = () => piece('t', 5, 250, 8, { block: 1 });
  assert.deepEqual(
    read(wide(), ...upper(), beside(300, 500), ...lower()),
    ['t', 'abcef', 'd'],
    'that begins further left',
  );
  assert.deepEqual(
    read(...upper(), beside(5, 40), beside(300, 500), ...lower()),
    ['abc', 'd', 'd', 'ef'],
    'on both sides',
  );
  assert.deepEqual(read(...upper(), beside(300, 500, 20), ...lower(8)), ['abc', 'd', 'ef'], 'above it');
});
