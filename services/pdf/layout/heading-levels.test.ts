// Holds what gives headings their levels: outline, numbers and styles of the whole document, on paragraphs made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bookmark } from '../source/page-model.ts';
import { textDraft } from '../testing/drafts.ts';
import type { DraftStyle, TextDraft } from '../text/blocks.ts';
import { setLevels } from './headings/levels.ts';
import { readNumbers } from './headings/numbers.ts';
import { ORDER_WEIGHTS } from './headings/weights.ts';

const text = (said: string, style: Partial<DraftStyle> = {}): TextDraft => textDraft(said, { bold: true, ...style });
const PROSE = () => text('The keeper counts every ship of the bay. '.repeat(12), { bold: false });
/** The levels of headings in this order, with text under each. */
function levels(
  headings: readonly TextDraft[],
  outline: Readonly<Record<string, number>> = {},
  before: readonly TextDraft[] = [],
): string {
  const drafts = [...before, ...headings.flatMap((one) => [one, PROSE()])];
  const bookmarks = Object.entries(outline).map(([title, level]): Bookmark => ({ title, level, pageIndex: 0 }));
  const marks = setLevels(headings, drafts, bookmarks, ORDER_WEIGHTS);
  return headings.map((one) => marks.get(one)?.level).join('');
}
const all = (style: Partial<DraftStyle>, ...said: string[]) => said.map((one) => text(one, style));

test('a title that the outline leaves out is above the headings of the outline, also where it looks like them', () => {
  const heads = (title: number) => [text('Harbours', { size: title }), ...all({ size: 13 }, 'Gulls', 'Terns', 'Boats')];
  const outline = { Gulls: 1, Terns: 2, Boats: 1 };
  for (const size of [12, 13, 16]) assert.equal(levels(heads(size), outline), '1232');
  assert.equal(levels(heads(13), { Harbours: 1, ...outline }), '2232', 'the outline names it');
  const larger = { ...text('Port of the West', { size: 16 }), pageIndex: 0 };
  assert.equal(levels(heads(13), outline, [larger]), '2232', 'another line is the title');
});

test('a heading is one level under the one above it, whatever rare styles lie between the two elsewhere', () => {
  const title = text('Harbours', { size: 24 });
  const chapters = ['North', 'South', 'West'].flatMap((name) => [
    text(name, { size: 16 }),
    ...all({ size: 11 }, `${name} gulls`, `${name} terns`),
  ]);
  const rare = [text('Boats', { size: 14 }), text('Keepers', { size: 12.5, color: 255 })];
  assert.equal(levels([title, ...chapters]), '1233233233');
  assert.equal(levels([title, ...chapters, ...rare]), '123323323334');
});

test('headings of the middle of a work, with nothing above them, are still lower than those in larger type', () => {
  const heads = [...all({ size: 11 }, 'Gulls', 'Terns'), text('South', { size: 16 }), text('West', { size: 16 })];
  assert.equal(levels(heads), '3322');
});

test('headings without a number between the numbered ones of their style are parts of these, others are their equals', () => {
  const title = text('Harbours', { size: 16 });
  const inner = ['1 Gulls', 'Purpose', '2 Terns', 'Purpose', '3 Boats', 'Purpose'];
  assert.equal(levels([title, ...all({}, ...inner)]), '1232323');
  assert.equal(levels([title, ...all({}, 'Preface', '1 Gulls', '2 Terns', '3 Boats', 'Sources')]), '122222');
  assert.equal(levels([title, ...all({}, 'Step 1', 'Rest', 'Step 2', 'Rest', 'Step 3')]), '122222', 'a word');
});

test('sections with letters are above those of their letter, in whatever type', () => {
  const heads = [text('A. Gulls'), text('A.1 Terns', { capitals: true }), text('A.2 Boats', { capitals: true })];
  assert.equal(levels([text('Harbours', { size: 16 }), ...heads, text('B. Keepers')]), '12332');
});

test('the number of a heading is read with those of the others', () => {
  const read = (...texts: readonly string[]) =>
    readNumbers(texts).map((one) => (one ? `${one.scheme} ${one.depth} ${one.value}` : ''));
  const tail = (...texts: readonly string[]) => read(...texts).at(-1);
  assert.equal(tail('A. Gulls', 'B. Terns'), 'letter 1 2');
  assert.equal(tail('A. Gulls', 'A.1 Terns', 'B. Boats'), 'letter 1 2');
  assert.equal(tail('Gulls', 'A. Heron'), '', 'one letter alone begins a name');
  assert.equal(tail('I. Gulls'), 'roman 1 1');
  assert.equal(tail('I. Gulls', 'II. Terns', 'A. Boats', 'B. Keepers', 'III. Lamps', 'V. Ropes'), 'roman 1 5');
  assert.equal(tail(...[...'ABCDEFGHI'].map((letter) => `${letter}. Gulls`)), 'letter 1 9');
  assert.equal(tail(...[...'ABCDEFGI'].map((letter) => `${letter}. Gulls`)), 'letter 1 9', 'H. was not found');
  assert.deepEqual(read('I. Gulls', 'A. Terns', 'B. Boats'), ['roman 1 1', 'letter 1 1', 'letter 1 2']);
  assert.deepEqual(read('Schritt 1: Gulls', 'Schritt 2'), ['schritt 1 1', 'schritt 1 2']);
  assert.deepEqual(read('Gulls 1', 'Terns 2', 'Boats 7.1', 'Boats 7.2'), ['', '', '', '']);
  assert.deepEqual(read('1: Gulls', '1：海鸥', '§ 2 Terns', '(2.1) Boats'), [
    'decimal 1 1',
    'decimal 1 1',
    '§decimal 1 2',
    '(decimal 2 1',
  ]);
  assert.deepEqual(read('12:30 Gulls', '12 1'), ['', 'decimal 1 12']);
});
