// Holds page layout to what our fixtures of margins, cards and accents show, from bytes to drafts.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { PagedBlock } from '#shared/document/document.ts';
import { layoutBatch } from '../convert.ts';
import { openPageSource } from '../source/open-page-source.ts';
import type { Draft } from '../text/blocks.ts';
import { assembleBlocks } from './document.ts';

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
    ['\\lambda_{n} = \\sum_{k = 1}^{n} x_{k}^{2} + \\frac{a}{b} \\tag{1}'],
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

/** The blocks of each page of a fixture, without bookmarks. */
async function blockPages(name: string): Promise<PagedBlock[][]> {
  const drafts = await draftPages(name);
  const placed = drafts.map((page, pageIndex) => page.map((draft) => ({ ...draft, pageIndex })));
  const { pages } = assembleBlocks(placed.flat(), new Map(), [], new Set());
  return drafts.map((_, pageIndex) => pages.get(pageIndex) ?? []);
}

const typeAndStart = (block: PagedBlock) =>
  `${block.label ?? block.type}: ${block.html.replace(/<[^>]+>/g, '').slice(0, 12)}`;

test('a table that juts into the gutter leaves two columns, its long caption is one, and a list in a sentence is text', async () => {
  const [blocks = []] = await blockPages('jutting-table.pdf');
  assert.deepEqual(blocks.slice(0, 7).map(typeAndStart), [
    'text: First, the b',
    'aligned_table: LightSpringS',
    'caption: Table 1: Shi',
    'text: Nobody on th',
    'text: waited for t',
    'text: The work was',
    'text: 1) dredging ',
  ]);
  assert.deepEqual(
    blocks.flatMap((block, n) => (block.continues === undefined ? [] : [n])),
    [4],
  );
});

test('a sentence goes on past the notes at a column’s foot, and past the picture that begins the next page', async () => {
  const [first = [], second = []] = await blockPages('column-notes.pdf');
  const all = [...first, ...second];
  const carried = all.flatMap((block, n) =>
    block.continues === undefined
      ? []
      : [`${all[n - 1]?.html.slice(-11, -4)}${block.continues}${block.html.slice(3, 12)}`],
  );
  assert.deepEqual(carried, ['nd they waited fo', 'the big ships had']);
  assert.deepEqual(
    first.filter((block) => /See the tables|counts from/.test(block.html)).map((block) => block.type),
    ['text', 'text'],
  );
  assert.deepEqual(
    second.slice(0, 3).map(({ type }) => type),
    ['text', 'figure', 'caption'],
  );
});

test('a number in the middle of the foot is the page’s, close under the text or beside a name', async () => {
  const pages = await draftPages('near-number.pdf');
  assert.deepEqual(
    pages.map((drafts) => drafts.filter((draft) => draft.kind === 'furniture').map(textOf)),
    [['14'], ['Annex B 14']],
  );
});

test('what stands beside and under a chart is no heading and no running head', async () => {
  const [blocks = []] = await blockPages('upright-axis.pdf');
  assert.deepEqual(
    blocks.filter((block) => block.furniture || block.label?.startsWith('h')),
    [],
  );
  assert.equal(blocks.filter((block) => /Pilots|1\.500/.test(block.html)).length, 2);
});

test('a table’s title in large type is a caption', async () => {
  const [blocks = []] = await blockPages('loud-caption.pdf');
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ['caption', 'table'],
  );
});

test('small capitals in the middle between paragraphs are headings, though references outweigh the text; none is a title', async () => {
  const [blocks = []] = await blockPages('references.pdf');
  assert.deepEqual(
    blocks.map((block) => block.label ?? block.type),
    ['text', 'text', 'h2', 'text', 'h2', 'list'],
  );
});

test('the lines of an address are no headings, though its street begins with a number', async () => {
  const [blocks = []] = await blockPages('address-lines.pdf');
  assert.deepEqual(
    blocks.filter(({ type }) => type === 'section_header' || type === 'title').map(({ html }) => html),
    ['<h1>Keeper’s Manual</h1>'],
  );
});

test('bullets that a browser draws are those of lists, nested by their indents; the keys of a legend are none', async () => {
  const blocks = (await blockPages('drawn-bullets.pdf')).flat();
  const lists = blocks
    .filter(({ html }) => html.startsWith('<ul>'))
    .map(({ html }) => html.replace(/, in cans[^<]*/, ''));
  const inner = '<ul><li>one of water,</li><li>one of apples.</li></ul>';
  const food = `<ul><li>flour and salt,</li><li>two barrels:${inner}</li></ul>`;
  const books = '<ul><li>the tide tables of the year.</li></ul>';
  assert.deepEqual(lists, [`<ul><li>Oil for the lamp</li><li>Food:${food}</li><li>Books:${books}</li></ul>`]);
  assert.deepEqual(
    blocks.filter(({ html }) => /light<|colours/.test(html)).map(({ html }) => html),
    ['<p>Red light</p>', '<p>Green light</p>', '<p>Blue light</p>', '<p>The colours are those of the chart.</p>'],
  );
});

test('a drawn bullet that is tagged as a label is one, also on a page of two lists', async () => {
  const blocks = (await blockPages('sample.pdf')).flat();
  assert.deepEqual(
    blocks.filter(({ html }) => /^<[uo]l>/.test(html)).map(({ html }) => html),
    [
      '<ul><li>One hour in summer, where the table keeps standard time.</li><li>About one centimetre for each hectopascal that the air pressure lies below 1013.</li><li>The surge that the weather service gives for an onshore wind.</li></ul>',
      '<ol><li>Take the range, the high water less the low water.</li><li>Count the hours since the last entry.</li><li>Add up the twelfths, and add them to the low water.</li></ol>',
    ],
  );
});

test('a tagged page: pictures have their descriptions, glyphs the word or the line that they stand for', async () => {
  const [blocks = []] = await blockPages('tagged-described.pdf');
  assert.deepEqual(
    blocks.map(({ html }) => html),
    [
      '<p>The harbour as it was drawn in the year of the flood, by the keeper of the light.</p>',
      '<figure><img alt="A photograph of the harbour at low tide"></figure>',
      '<figure><img alt="A chart of the channel"></figure>',
      '<p>The bird was a heron of the grey kind.</p>',
      '<p>Nobody ever saw it sleep</p>',
      '<p>The keeper kept a pet and fed it with small fish in the winter.</p>',
    ],
  );
});

test('heads that are set at an angle stand over their columns; a word across the page is no text of it', async () => {
  const [drafts = []] = await draftPages('slanted-heads.pdf');
  assert.deepEqual(
    drafts.map((draft) =>
      draft.kind === 'table' ? draft.grid.rows.map((row) => row.map((cell) => cell.text).join('|')) : textOf(draft),
    ),
    [
      'The keeper counts what passes the light, by the hour of the day.',
      [
        'Kind|Morning|Afternoon|Late evening|Night',
        'Ships|12|30|8|2',
        'Boats|41|57|16|0',
        'Birds|230|119|87|5',
        'Whales|1|0|2|1',
      ],
    ],
  );
});
