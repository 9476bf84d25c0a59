// Holds what tells two tables beside each other from one, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTexts, line, pageOf, rows } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';
import { buildChunks } from '../text/lines.ts';
import { splitTables } from './whitespace.ts';

const BIRDS = [
  ['Bird', 'Seen'],
  ['Gull', '41'],
  ['Tern', '12'],
  ['Rail', '57'],
  ['Coot', '30'],
];
const SHIPS = [
  ['Ship', 'Tons'],
  ['Brig', '310'],
  ['Sloop', '120'],
  ['Barque', '540'],
];
const found = (words: Word[]) =>
  splitTables(buildChunks(words), pageOf(words), new Set()).flatMap(({ table }) => (table ? [cellTexts(table)] : []));
const left = (cells = BIRDS) => rows([100, 160], 300, cells, 14);
const right = (cells = SHIPS, pace = 14) => rows([240, 310], 300, cells, pace);
const count = (...of: Word[][]) => found(of.flat()).length;

test('tables beside each other are two where one ends two rows before the other, or their rows are at other heights', () => {
  const short = SHIPS.slice(0, 3);
  assert.deepEqual(found([...left(), ...right(short)]), [BIRDS, short]);
  assert.equal(count(left(), right(SHIPS)), 1, 'a row that is not full');
  assert.deepEqual(found([...left(), ...right(SHIPS, 18)]), [BIRDS, SHIPS]);
});

test('a table of pairs, or with one head over its halves, is one', () => {
  const short = SHIPS.slice(0, 3);
  assert.equal(count(left(), right([BIRDS[0] ?? [], ...short.slice(1)])), 1, 'folded into halves');
  assert.equal(count(left(), right(short.map(([ship = '', tons = '']) => [tons, ship]))), 1, 'figures after figures');
  const words = BIRDS.map(([bird = '', seen = ''], n) => [bird, n === 0 ? seen : 'often']);
  assert.equal(count(left(words), right(short)), 1, 'words before words');
  assert.equal(count(left(), right(SHIPS.slice(0, 2))), 1, 'two rows');
  const over = (text: string, x: number) => {
    const [first = [], ...rest] = BIRDS;
    return count(left([first, [], ...rest]), right([SHIPS[0] ?? [], [], ...short.slice(1)]), line(x, 314, text));
  };
  assert.equal(over('By sail', 100), 2, 'a group of one');
  assert.equal(over('By sail and by oar', 180), 1, 'a group of both');
});
