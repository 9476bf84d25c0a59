// Holds each rule that joins lines to paragraphs, items and code, and paragraphs over columns and pages, on a page made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BOLD,
  blocksOf,
  draftPages,
  filled,
  ITALIC,
  line,
  MONO,
  PLAIN,
  prose,
  sized,
  texts,
} from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { joinHyphenated } from './inline.ts';
import { buildChunks, chunkText, groupRows, spaceBetween } from './lines.ts';

/** Two lines 12 points apart, under ten full lines that give the column and its leading. */
const pair = (
  [above, first = PLAIN]: readonly [string, TextStyle?],
  [below, second = PLAIN]: readonly [string, TextStyle?],
  { pace = 12, indent = 0 } = {},
) =>
  texts([...prose(50, 100, 10), ...line(50, 300, above, first), ...line(50 + indent, 300 + pace, below, second)])
    .length - 1;
const split = (...of: Parameters<typeof pair>) => pair(...of) === 2;

const FULL = filled(60, 4);
const ENDED = `${filled(59, 4)}.`;
/** Seven tenths of the line: room for the next word, but no verse. */
const MOST = filled(42, 4);

test('spacing: a wider gap than usual is a break; the usual one is that of most lines, not of paragraphs', () => {
  assert.ok(!split([FULL], [FULL]));
  assert.ok(split([FULL], [FULL], { pace: 20 }));
  const tops = [0, 12, 24, 42, 60, 78, 96];
  assert.equal(texts(tops.flatMap((y, n) => line(50, 100 + y, filled(60, n)))).length, 5);
  const doubled = [...prose(50, 100, 6, PLAIN, 22), ...prose(50, 235, 3, PLAIN, 22)];
  assert.equal(texts(doubled).length, 2, 'lines set far apart');
});

test('size and faces: another size, a bold or italic line that stops short, code', () => {
  assert.ok(split([FULL, sized(13)], [FULL]));
  assert.ok(split([MOST, BOLD], [FULL]), 'a bold line that stops short');
  assert.ok(split([FULL, BOLD], [FULL], { pace: 14 }), 'a bold line with room under it');
  assert.ok(!split([FULL, BOLD], [FULL]), 'bold words that run on');
  assert.ok(split([ENDED], [FULL, BOLD]), 'a bold line after a sentence');
  const two = [...prose(50, 100, 10), ...line(50, 300, FULL, BOLD), ...line(50, 312, FULL, BOLD)];
  assert.equal(texts([...two, ...line(50, 324, FULL)]).length, 3, 'two bold lines');
  assert.ok(split([MOST], [FULL, ITALIC]), 'italics after a line that stops short');
  assert.ok(split([filled(56, 4), ITALIC], [`The ${filled(50)}`]), 'an italic line before a sentence');
  assert.ok(split([ENDED], [MOST, ITALIC]), 'an italic line after a sentence');
  assert.ok(split([FULL], [FULL, MONO]));
});

test('line ends: a table of contents, a sentence that ends short, a verse; a large heading may break anywhere', () => {
  assert.ok(split([`gulls ${'.'.repeat(52)} 3`], [FULL]));
  assert.ok(split([`${MOST}.`], [FULL]));
  assert.ok(!split([MOST], [FULL]));
  assert.ok(split([filled(20)], [FULL]));
  const title = [...line(50, 100, 'the light:', sized(20)), ...line(50, 124, filled(40), sized(20))];
  assert.equal(texts([...title, ...prose(50, 200, 10)]).length, 2);
});

test('indents: a first line, a hanging one, a centred one', () => {
  const lines = (...indents: number[]) =>
    texts([
      ...prose(50, 100, 10),
      ...indents.flatMap((indent, n) => line(50 + indent, 300 + n * 12, filled(60 - indent / 5, n))),
    ]).length - 1;
  assert.equal(lines(0, 0, 20, 0), 2, 'a first line');
  assert.equal(lines(0, 20, 20), 1, 'a hanging entry');
  assert.equal(lines(0, 20, 20, 0, 20), 2, 'hanging entries');
  assert.equal(lines(80, 80, 100, 100), 1, 'far from the margin');
  const centred = [0, 20, 40].flatMap((indent, n) => line(50 + indent, 300 + n * 12, filled(60 - indent / 2.5, n)));
  assert.equal(texts([...prose(50, 100, 10), ...centred]).length, 2, 'centred lines');
});

test('markers: an item begins where its number counts on, not at a number in running text or at a larger one', () => {
  const kinds = (words: Word[]) => draftPages([words]).map((draft) => draft.kind);
  const below = (...more: readonly (readonly [number, string])[]) =>
    kinds([...prose(50, 100, 10), ...more.flatMap(([x, text], n) => line(x, 300 + n * 12, text))]).slice(1);
  assert.deepEqual(below([50, FULL], [50, '3. gulls and terns']), ['text']);
  assert.deepEqual(below([50, `1. ${filled(57)}`], [50, '7. gulls and terns']), ['item']);
  assert.deepEqual(below([50, '1. gulls'], [50, '2. terns']), ['item', 'item']);
  assert.deepEqual(
    below([100, `• ${filled(48)}`], [110, filled(48)], [60, filled(50)]),
    ['item', 'text'],
    'what is left of its marker',
  );
  const large = [...prose(50, 100, 10), ...line(50, 300, '1. Birds', sized(12))];
  assert.deepEqual(kinds(large), ['text', 'text']);
  assert.deepEqual(
    kinds([...prose(50, 100, 10), ...line(50, 300, 'lamp.fill()', MONO)]),
    ['text', 'text'],
    'one line of code',
  );
});

test('raised words are smaller and short', () => {
  const raised = (text: string, style: TextStyle) =>
    blocksOf([[...prose(50, 100, 3), ...line(50, 160, 'gulls of the bay', sized(12)), ...line(135, 155, text, style)]])
      .join('')
      .includes('<sup>');
  assert.ok(raised('7', sized(7)));
  assert.ok(!raised('7', sized(12)));
  assert.ok(!raised('lamplightersday', sized(7)));
});

test('a paragraph or an item goes on over a page where its sentence does', () => {
  const pages = (last: string, first: string, style = PLAIN) =>
    blocksOf([
      [...prose(50, 300, 5), ...line(50, 360, last)],
      [...line(50, 300, first, style), ...prose(50, 312, 5, style)],
    ]);
  const goesOn = (...of: Parameters<typeof pages>) => pages(...of)[1]?.startsWith('+') ?? false;
  assert.ok(goesOn(FULL, FULL));
  assert.ok(!goesOn(ENDED, FULL));
  assert.ok(!goesOn(MOST, FULL), 'a line that stops short');
  assert.ok(goesOn(FULL, `Heron ${filled(54)}`), 'a name');
  assert.ok(!goesOn(FULL, FULL, sized(11)), 'other type');
  assert.match(pages(`${filled(53)} meadow-`, `lands ${filled(54)}`).join(''), /meadow<\/p>\+text <p>lands/);
  const item = blocksOf([
    [...prose(50, 300, 5), ...line(50, 372, `• ${filled(58)}`)],
    [...line(50, 300, FULL), ...line(50, 312, 'gulls and terns.')],
  ]);
  assert.equal(item.length, 2);
});

test('a caption is short', () => {
  const types = (lines: number) =>
    blocksOf([[...line(50, 100, `Table 3 ${filled(52)}`), ...prose(50, 112, lines)]]).map((one) => one.split(' ')[0]);
  assert.deepEqual(types(2), ['caption']);
  assert.deepEqual(types(8), ['text']);
});

test('hyphens, slashes, scripts without spaces, and emphasis on a mark alone', () => {
  assert.equal(joinHyphenated('quay/', 'side', new Set()), 'quay/');
  assert.equal(joinHyphenated('light-', 'house', new Set(['lighthouse', 'light-house'])), 'light');
  const japanese = [...line(50, 100, '春の港に船が来る灯台の守り'), ...line(50, 112, '人は船の数を帳面に書き朝の')];
  assert.match(blocksOf([japanese]).join(''), /守り人は/);
  const marked = [...line(50, 100, 'gulls'), ...line(75, 100, ',', BOLD), ...line(85, 100, 'terns')];
  assert.doesNotMatch(blocksOf([marked]).join(''), /<strong>/);
});

test('words and chunks: by gaps, raised numbers and the order of the stream', () => {
  const cut = (...words: [number, string, number?][]) =>
    buildChunks(words.flatMap(([x, text, y = 20]) => line(x, y, text))).map((chunk) => chunkText(chunk.words));
  assert.deepEqual(cut([10, 'one'], [28, 'cell'], [63, 'next'], [86, 'cell']), ['one cell', 'next cell']);
  assert.deepEqual(cut([10, 'a'], [55, 'b'], [100, 'c']), ['a', 'b', 'c'], 'even gaps wider than any justified line');
  assert.deepEqual(cut([10, 'one'], [10, 'below', 40], [28, 'two']), ['one two', 'below']);
  const box = (y0: number, y1: number) => ({ box: { x0: 0, x1: 5, y0, y1 } });
  assert.equal(groupRows([box(10, 16), box(10.5, 20.5), box(12, 22)]).length, 1);
  const [word] = line(10, 20, 'bay');
  const near = (gap: number, more: Partial<Word>) =>
    word && spaceBetween(word, { ...word, box: { ...word.box, x0: word.box.x1 + gap }, spaceBefore: null, ...more });
  assert.equal(near(1.5, { superscript: true, style: sized(6) }), false);
  assert.equal(near(1.8, { spaceBefore: false }), false);
  assert.equal(near(1.8, {}), true);
});

test('lines that each begin in bold are paragraphs of their own; bold words that run over a line’s end are not', () => {
  const agenda = [
    [...line(50, 100, '6:00', BOLD), ...line(75, 100, 'Welcome to all who came')],
    [...line(50, 112, '6:15', BOLD), ...line(75, 112, 'Report of the keeper of the light')],
    [...line(50, 124, '6:45', BOLD), ...line(75, 124, 'What is to be done in the winter')],
  ];
  assert.equal(texts(agenda.flat()).length, 3);
  const run = [
    ...line(50, 100, 'The', BOLD),
    ...line(70, 100, filled(50)),
    ...line(325, 100, 'grey', BOLD),
    ...line(50, 112, 'heron', BOLD),
    ...line(80, 112, filled(40)),
  ];
  assert.equal(texts(run).length, 1);
});

test('bold words that end with a quote at the margin go on below in bold', () => {
  const item = (next: string) =>
    texts([
      ...line(50, 100, `${filled(53)} "light"`, BOLD),
      ...line(50, 112, next, BOLD),
      ...line(100, 112, filled(40)),
      ...prose(50, 124, 6),
    ]);
  assert.equal(item('Keepers:').length, 1);
});
