// Holds page layout to what our fixtures of margins, cards and accents show, from bytes to drafts.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { layoutBatch } from '../convert.ts';
import { openPageSource } from '../source/open-page-source.ts';
import type { Draft } from './blocks.ts';

/** The drafts of each page of a fixture. */
async function draftPages(name: string): Promise<Draft[][]> {
  const source = await openPageSource(
    await readFile(new URL(`../../../fixtures/pdf/${name}`, import.meta.url)),
    undefined,
  );
  try {
    const pages: Draft[][] = [];
    for (let index = 0; index < source.pageCount; index++) {
      const content = await source.readPage(index);
      pages.push(
        layoutBatch(
          [{ content, source: 'native_text', status: 'ok', renderWidth: null, renderHeight: null }],
          new Set(),
        ),
      );
    }
    return pages;
  } finally {
    await source.close();
  }
}

const textOf = (draft: Draft) => ('text' in draft ? draft.text : '');

test('one page tells its own head, foot and stamp: by a text that goes on, by type and place, and up the margin', async () => {
  const [drafts = []] = await draftPages('margin-stamp.pdf');
  const furniture = drafts.filter((draft) => draft.kind === 'furniture').map(textOf);
  assert.deepEqual(furniture.sort(), [
    '212 HARBOURS OF THE WEST. [Ch. XIX.',
    '7',
    'Downloaded from harbours.example at 6:51 on Monday',
    'Harbour congress',
  ]);
  assert.equal(drafts.filter((draft) => draft.kind === 'text').length, 6);
});

test('cards are read by rows where the stream paints them so, by columns where it or their numbers say so', async () => {
  const titles = (drafts: Draft[]) => drafts.map(textOf).filter((text) => /\blight$/.test(text));
  const [byRows = [], byColumns = [], numbered = []] = await draftPages('cards-in-rows.pdf');
  const compass = ['North light', 'East light', 'South light', 'West light'];
  assert.deepEqual(titles(byRows), compass);
  assert.deepEqual(titles(byColumns), compass);
  assert.deepEqual(titles(numbered), ['1. North light', '2. South light', '3. East light', '4. West light']);
});

test('accents that are painted over letters become one with them, before or after the letter', async () => {
  const [drafts = []] = await draftPages('painted-accents.pdf');
  assert.equal(drafts.map(textOf).join(' '), 'Ján met Nguyên and Zoë An accent ´ alone stays alone.');
});

test('four columns whose lines stand at unlike heights are read one after the other', async () => {
  const [drafts = []] = await draftPages('four-columns.pdf');
  const stories = drafts
    .map(textOf)
    .flatMap((text) => [...text.matchAll(/Story (\d+)/g)].map((match) => Number(match[1])));
  assert.deepEqual(
    stories,
    Array.from({ length: 16 }, (_, n) => n + 1),
  );
});

test('letters past U+FFFF are read, as the letters they look like', async () => {
  const [drafts = []] = await draftPages('equation-letters.pdf');
  assert.equal(drafts.map(textOf).join(' '), 'The speed c is the length times the frequency: c = λf');
});

test('formulas are LaTeX: alone with limits, scripts, a fraction and their number, and inside a line', async () => {
  const [drafts = []] = await draftPages('formulas.pdf');
  assert.deepEqual(
    drafts.flatMap((draft) => (draft.kind === 'formula' ? [draft.latex] : [])),
    ['\\lambda_{n} = \\sum_{k =1}^{n} x_{k}^{2} + \\frac{a}{b} \\tag{1}'],
  );
  const inline = drafts.flatMap((draft) => (draft.kind === 'text' ? [draft.html] : [])).join(' ');
  assert.match(inline, /in books, so that the whole of them is/);
  assert.match(inline, /Where <span data-latex="x\^\{2\} \\in \\mathbb\{R\}">[^<]+<\/span> the rest is plain/);
});

test('a blank line inside a listing is part of it', async () => {
  const [drafts = []] = await draftPages('code-blank-line.pdf');
  assert.deepEqual(
    drafts.flatMap((draft) => (draft.kind === 'code' ? [draft.text] : [])),
    ['def light(lamp):\n    lamp.fill()\n\n    return lamp'],
  );
});

test('vertical lines are read from the top down and from right to left, as paragraphs', async () => {
  const [drafts = []] = await draftPages('vertical-japanese.pdf');
  assert.deepEqual(drafts.map(textOf), [
    '春の港に船が来る。灯台の守り 人は船の数を帳面に書き、朝の 鐘が鳴るまで眠らない。',
    '冬には風が強く、船は来ない。 町の人は魚を干して春を待つ。',
  ]);
});

test('Hebrew is read from the right, its right column first; numbers and Latin names inside it as they are', async () => {
  const [drafts = []] = await draftPages('right-to-left.pdf');
  const [title = '', right = '', left = ''] = drafts.map(textOf);
  assert.equal(drafts.length, 3);
  assert.equal(title, 'יומן המגדלור');
  assert.match(
    right,
    /^הספינה הגיעה אל הנמל בבוקר והשומר כתב והשומר כתב Grey Heron ביומן המגדלור .* 1931 .*המגדלור\.$/,
  );
  assert.match(left, /^הנמל בבוקר והשומר כתב .* Grey Heron .* 1932 .*הגיעה\.$/);
  const [first, second] = drafts.slice(1).map((draft) => draft.box.x0);
  assert.ok((first ?? 0) > 295 && (second ?? 0) < 200, 'boxes are those of the page as it is shown');
});
