// Holds what makes a heading of a paragraph, on paragraphs made by hand: for what no page made by hand shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bookmark } from '../source/page-model.ts';
import { textDraft } from '../testing/drafts.ts';
import type { Draft, DraftStyle, TextDraft } from '../text/blocks.ts';
import { markHeadings } from './headings.ts';

const BOLD = { bold: true };
const prose = (letters = 300, more: Partial<TextDraft> = {}) =>
  textDraft(
    `${'the keeper counts every ship '.repeat(40).slice(0, letters - 1)}.`,
    {},
    { lines: 5, gapAbove: 1, ...more },
  );

const heads = (drafts: readonly Draft[], ...bookmarks: readonly (readonly [title: string, level: number])[]) => {
  const outline = bookmarks.map(([title, level]): Bookmark => ({ title, level, pageIndex: 0 }));
  return [...markHeadings(drafts, outline)].map(([draft, { level }]) => `${level} ${draft.text}`);
};

test('four bold lines with nothing under them are an address, unless numbers or bookmarks tell, whatever faces they are in', () => {
  const four = ['The Harbour', 'Quay Street', 'Oban by the Bay', 'Post Box'];
  const lines = (style: (n: number) => Partial<DraftStyle> = () => BOLD, names = four) =>
    names.map((one, n) => textDraft(one, style(n)));
  const found = (drafts: readonly Draft[], ...bookmarks: readonly (readonly [string, number])[]) =>
    heads([prose(), ...drafts, prose()], ...bookmarks).length;
  assert.equal(found(lines()), 0);
  assert.equal(found(lines((n) => ({ bold: true, capitals: n === 0 }))), 0, 'a name in capitals');
  assert.equal(
    found(
      lines(
        undefined,
        four.map((one, n) => `${n + 1}.1 ${one}`),
      ),
    ),
    4,
    'numbered',
  );
  assert.equal(found(lines(), ...four.map((one) => [one, 1] as const)), 4, 'in the outline');
  assert.equal(found([...lines(), textDraft('Gulls', { size: 16 })]), 1, 'over a chapter');
  assert.equal(found([textDraft('Gulls', { size: 16 }), ...lines()]), 1, 'under a chapter');
});

test('a bookmark names a line in larger type or bold, however near to the text, or plain where there is no such line', () => {
  const near = { gapAbove: 0.1 };
  const named = (...drafts: readonly TextDraft[]) => heads([prose(), ...drafts, prose()], ['Gulls', 2]).length;
  assert.equal(named(textDraft('Gulls', BOLD, near)), 1);
  assert.equal(named(textDraft('Gulls', { size: 10.5 }, near)), 1);
  assert.equal(named(textDraft('Gulls', {}, near)), 1);
  assert.equal(named(textDraft('Gulls', { size: 14 }), prose(), textDraft('Gulls', {}, near)), 1, 'the words again');
});

test('a line in larger type is text where a longer text is set in it', () => {
  const larger = { style: textDraft('', { size: 11 }).style };
  const set = (more: Partial<TextDraft>) =>
    heads([prose(600), textDraft('Gulls', { size: 11 }), prose(150, more), prose(600)]);
  assert.deepEqual(set(larger), []);
  assert.deepEqual(set({}), ['2 Gulls'], "in the text's own");
  assert.deepEqual(set({ style: { ...larger.style, italic: true } }), ['2 Gulls'], 'in italics');
});

test('the caption of a figure or table is no heading though the outline lists it, a note is one', () => {
  const named = (said: string, style: Partial<DraftStyle>) =>
    heads(
      [prose(), textDraft('Gulls', { size: 14 }), prose(), textDraft(said, style), prose()],
      ['Gulls', 1],
      [said, 1],
    ).length;
  for (const style of [BOLD, { italic: true }])
    for (const said of ['Table 14. Gulls of the bay', 'Figure 3 Gulls of the bay', 'Abb. 2: Gulls of the bay'])
      assert.equal(named(said, style), 1, said);
  assert.equal(named('Note 1. Gulls of the bay', BOLD), 2);
});
