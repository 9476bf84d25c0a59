// Holds where a caption ends the text beside a table or a figure, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, filled, line, prose, rows, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';

/** A ruled table from 200 to 246, with text in the rows given. */
const RULES = [200, 216, 246].map((y) => rule(y, 50, 350));
const CELLS = rows([55, 155, 255], 212, [
  ['Bird', 'Spring', 'Autumn'],
  ['Gull', '41', '57'],
  ['Tern', '12', '9'],
]);

/** The texts of the paragraphs and list items of a page, without the page's first six lines. */
function read(...words: readonly Word[][]): string[] {
  const drafts = draftPages([[...prose(50, 60, 6), ...words.flat(), ...CELLS]], { rulings: RULES });
  assert.ok(drafts.some((draft) => draft.kind === 'table'));
  return drafts.flatMap((draft) => (draft.kind === 'text' || draft.kind === 'item' ? [draft.text] : [])).slice(1);
}
const sentence = `${filled(59, 4)}.`;

test('a caption over a table ends the paragraph and the list item above it, in any language', () => {
  for (const caption of ['TABLE 6 Birds of the harbour', 'Abb. 2.1: Vögel am Hafen', 'Табл. 3 Птицы гавани'])
    for (const above of [sentence, `3. ${sentence}`])
      assert.equal(read(line(50, 180, above), line(50, 192, caption)).at(-1), caption);
  assert.equal(read(line(50, 180, filled(60, 4)), line(50, 192, 'TABLE 6 Birds', sized(9.5))).at(-1), 'TABLE 6 Birds');
});

test('a sentence over a table that goes on with a name and a number stays whole', () => {
  assert.equal(read(line(50, 180, filled(60, 4)), line(50, 192, 'Table 6 and others')).length, 1);
  assert.equal(read(line(50, 180, sentence), line(50, 192, `March 1999 ${filled(40)}`)).length, 1, 'a year');
});

test('a short caption with a line of its own under it stays apart from it', () => {
  const over = read(line(50, 180, 'Table 6: Birds of the harbour'), line(50, 192, 'In pairs.'));
  assert.deepEqual(over, ['Table 6: Birds of the harbour', 'In pairs.']);
});

test('a caption under a table in a type of its own ends where the text begins', () => {
  const small = sized(9.5);
  const caption = `Fig. 2 ${filled(53, 5)}`;
  const under = read(line(50, 260, caption, small), prose(50, 272, 4));
  assert.equal(under[0], caption);
  const head = line(50, 290, 'Of ships', sized(14));
  const short = read(line(50, 260, 'Fig. 2 Birds'), line(50, 272, sentence), head, prose(50, 310, 4));
  assert.deepEqual(short.slice(0, 2), ['Fig. 2 Birds', sentence]);
  assert.equal(under.length, 2);
});
