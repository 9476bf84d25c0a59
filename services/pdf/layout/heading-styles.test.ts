// Holds what layout reads of a heading's type: small capitals, underlines, plain faces, and where a heading ends and text begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftPages, line, prose, rule, sized } from '#test/harness/documents/pdf-pages.ts';
import { readFontFace } from '../source/fonts.ts';
import type { Ruling, Word } from '../source/page-model.ts';

const drafts = (words: Word[], rulings: Ruling[] = []) =>
  draftPages([words], { rulings }).flatMap((draft) => (draft.kind === 'text' ? [draft] : []));

test('small capitals have the size of their larger letters, a drop capital and a raised mark have not', () => {
  const heading = (large: number) => {
    const [first, rest] = [line(50, 196, 'T', sized(large)), line(55.5, 196, 'erns', sized(10))];
    return drafts([
      ...prose(50, 100, 6),
      ...first,
      ...rest.map((word) => ({ ...word, spaceBefore: false })),
      ...prose(50, 230, 6),
    ]);
  };
  const [, small] = heading(14);
  assert.equal(small?.style.smallCapitals, true);
  assert.equal(small?.style.size, 14);
  assert.ok(heading(30).every((draft) => !draft.style.smallCapitals));
});

test('an underlined line is told from text below it, a rule under a part of it is no underline', () => {
  const words = [...prose(50, 100, 4), ...line(50, 166, 'The old light'), ...prose(50, 178, 4)];
  const end = Math.max(...line(50, 166, 'The old light').map((word) => word.box.x1));
  const baseline = Math.max(...line(50, 166, 'The old light').map((word) => word.box.y1));
  const under = (to: number) => drafts(words, [rule(baseline - 0.5, 50, to)]);
  const found = under(end).find((draft) => draft.text === 'The old light');
  assert.equal(found?.style.underlined, true);
  assert.equal(
    under(end - 40).some((draft) => draft.style.underlined),
    false,
  );
});

test('a numbered line that ends early, in the type and the pace of the text, stands alone', () => {
  const words = [...prose(50, 100, 4), ...line(50, 166, '2.1 The old light'), ...prose(50, 178, 4)];
  const capital = words.map((word) => (word.box.y0 > 167 && word.box.x0 < 51 ? { ...word, text: 'Keepers' } : word));
  assert.ok(drafts(capital).some((draft) => draft.text === '2.1 The old light'));
});

test('a face whose name says that it is the plain one is not bold, whatever weight is guessed', () => {
  assert.equal(readFontFace('ABCDEF+NotoSans-Regular', 32, 700).bold, false);
  assert.equal(readFontFace('NotoSans', 32, 700).bold, true);
  assert.equal(readFontFace('NotoSans-Bold', 32, 400).bold, true);
});
