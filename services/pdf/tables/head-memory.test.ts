// Holds when the columns of a table are those of an earlier one that began with the same words, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTexts, pageOf, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import { buildChunks } from '../text/lines.ts';
import { findAlignedTables } from './aligned.ts';
import { HeadMemory } from './head-memory.ts';

const TOP = 300;
const XS = [105, 150, 305];
interface Part {
  cells: readonly (readonly string[])[];
  xs?: readonly number[];
  /** Of the rules above and below it. */
  end?: number;
}

/** The cells of the last of some tables, each on a page of its own, that one reading comes by. */
function last(...parts: readonly Part[]): string[][] | undefined {
  const memory = new HeadMemory();
  const tables = parts.map(({ cells, xs = XS, end = 400 }) => {
    const words = rows(xs, TOP, cells, 14);
    const rulings = [TOP - 10, TOP + 4, TOP - 10 + cells.length * 14].map((y) => rule(y, 100, end));
    return findAlignedTables(pageOf(words, { rulings }), buildChunks(words), new Set(), memory).map(cellTexts);
  });
  return tables.at(-1)?.[0];
}

const HEAD = ['Bird', 'Spring', 'Autumn'];
const BIRDS = [HEAD, ['Gull', '41', '57'], ['Tern', '12', '9']];
const LONG = [
  ['Lighthouse gulls', '41'],
  ['Lighthouse terns', '12'],
];

test('a part that repeats the head of a table has its columns, though its own rows tell fewer', () => {
  const fewer = [HEAD, ...Array.from({ length: 6 }, () => ['Gull', '41', ''])];
  assert.deepEqual(last({ cells: fewer })?.[0], ['Bird', 'Spring Autumn']);
  assert.deepEqual(last({ cells: BIRDS }, { cells: fewer })?.[0], HEAD);
});

test('tables with other heads, or of another width, have columns of their own', () => {
  const once = [['Bird', 'Counted', ''], ...Array.from({ length: 6 }, () => ['Gull', '41', '']), ['Tern', '12', 'few']];
  const told = ['Tern', '12 few'];
  assert.deepEqual(last({ cells: once })?.at(-1), told, 'one row of eight');
  assert.deepEqual(last({ cells: BIRDS }, { cells: once })?.at(-1), told, 'another head');
  const over = [['Bird', 'Counted', ''], ...BIRDS.slice(1)];
  assert.deepEqual(last({ cells: over }, { cells: once })?.at(-1), told, 'a head that does not name every column');
  const narrow = [['Bird', 'Spring Autumn'], ...LONG];
  assert.deepEqual(last({ cells: BIRDS }, { cells: narrow, xs: [105, 205], end: 300 }), narrow, 'another width');
});

test('a part that tells its columns itself is cut by its own, as its labels may be longer', () => {
  const longer = [HEAD, ['Lighthouse gull', '41', '57'], ['Lighthouse tern', '12', '9']];
  assert.deepEqual(last({ cells: BIRDS }, { cells: longer, xs: [105, 205, 305] }), longer);
});
