// Holds what makes a heading of a paragraph and gives its level, on paragraphs made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bookmark } from '../source/page-model.ts';
import type {
  Draft,
  DraftStyle,
  FigureDraft,
  FormulaDraft,
  ListItemDraft,
  TableDraft,
  TextDraft,
} from '../text/blocks.ts';
import { markHeadings } from './headings.ts';

const STYLE: DraftStyle = {
  size: 10,
  bold: false,
  italic: false,
  monospace: false,
  capitals: false,
  font: 'a',
};
const BOLD = { bold: true };
const BOX = { x0: 50, x1: 350, y0: 100, y1: 110 };
/** A paragraph set apart from what is above it. */
const text = (said: string, style: Partial<DraftStyle> = {}, more: Partial<TextDraft> = {}): TextDraft => ({
  kind: 'text',
  pageIndex: 0,
  box: BOX,
  ocr: null,
  text: said,
  html: said,
  plainHtml: said,
  style: { ...STYLE, ...style },
  lines: 1,
  gapAbove: 2,
  firstInColumn: false,
  lastInColumn: false,
  endsFull: false,
  indented: false,
  centred: false,
  lastWord: said.split(' ').at(-1) ?? '',
  firstWord: said.split(' ')[0] ?? '',
  ...more,
});
const prose = (letters = 300, more: Partial<TextDraft> = {}) =>
  text(`${'the keeper counts every ship '.repeat(40).slice(0, letters - 1)}.`, {}, { lines: 5, gapAbove: 1, ...more });
const item = (letters: number, size: number): ListItemDraft => ({
  ...{ kind: 'item', pageIndex: 0, box: BOX, ocr: null, indent: 50, html: '', endsFull: false, lastWord: '' },
  marker: { style: 'bullet', shape: '•', value: 1 },
  text: 'x'.repeat(letters),
  size,
});
const table = (letters: number, size: number): TableDraft => ({
  ...{ kind: 'table', pageIndex: 0, box: BOX, ocr: null, source: 'ruled', letters, size },
  grid: { rows: [], columns: 0, headerRows: 0 },
});
const figure = (more: Partial<FigureDraft> = {}): FigureDraft => ({
  ...{ kind: 'figure', pageIndex: 0, box: { x0: 150, x1: 400, y0: 100, y1: 300 }, ocr: null },
  ...more,
});
const formula: FormulaDraft = { kind: 'formula', pageIndex: 0, box: BOX, ocr: null, text: 'x', latex: 'x' };

const heads = (drafts: readonly Draft[], ...bookmarks: readonly (readonly [title: string, level: number])[]) => {
  const outline = bookmarks.map(([title, level]): Bookmark => ({ title, level, pageIndex: 0 }));
  return [...markHeadings(drafts, outline)].map(([draft, { level }]) => `${level} ${draft.text}`);
};
/** Whether a paragraph between two of prose is a heading. */
const isHead = (draft: TextDraft, after: Draft = prose()) => heads([prose(), draft, after]).length > 0;

test('capitals in the middle are a heading between paragraphs and formulas, not among names, notices and titles', () => {
  const capitals = (said = 'THANKS TO ALL') => text(said, { capitals: true }, { centred: true });
  const between = (above: readonly Draft[], draft: TextDraft, below: Draft = prose()) =>
    heads([...above, draft, below]).length === 1;
  assert.ok(between([prose()], capitals()));
  assert.ok(between([formula], capitals()), 'under a formula');
  assert.ok(between([prose()], capitals(), item(20, 10)), 'over a list');
  assert.ok(!between([], capitals()), 'with nothing above it');
  assert.ok(!between([table(9, 10)], capitals()), 'under a table');
  assert.ok(!between([prose(90, { centred: true })], capitals()), 'under lines in the middle');
  assert.ok(!between([prose()], capitals(), text('K. Heron', {}, { centred: true })), 'over a name');
  assert.ok(!between([prose()], capitals('THANKS TO ALL,')), 'that goes on');
  assert.ok(!between([prose()], text('Thanks to all', {}, { centred: true })), 'no capitals');
  assert.ok(!between([prose()], capitals(`NO ENTRY ${'BEYOND THE PIER '.repeat(4)}`)), 'a long notice');
});

test('words set flush against a chart are its categories, not headings', () => {
  const labels = (
    count: number,
    more: (n: number) => Partial<TextDraft['box']> = () => ({}),
    pageIndex = 0,
    chart: Draft = figure(),
  ) =>
    heads([
      prose(),
      ...Array.from({ length: count }, (_, n) => [
        text(`Gulls ${'of the bay '.repeat(n % 2)}here`, BOLD, {
          pageIndex,
          box: { x0: n % 2 === 0 ? 90 : 40, x1: 145, y0: 110 + n * 40, y1: 120 + n * 40, ...more(n) },
        }),
        prose(60, { pageIndex }),
      ]).flat(),
      chart,
      prose(),
    ]).length;
  assert.equal(labels(4), 0);
  assert.equal(labels(3), 3, 'three of them');
  assert.equal(
    labels(4, () => ({}), 1),
    4,
    'on another page',
  );
  assert.equal(
    labels(4, (n) => ({ y0: 20 + n * 40, y1: 30 + n * 40 })),
    4,
    'above its top',
  );
  assert.equal(
    labels(4, (n) => ({ y0: 190 + n * 40, y1: 200 + n * 40 })),
    4,
    'below its foot',
  );
  assert.equal(
    labels(4, (n) => ({ x0: n % 2 === 0 ? 190 : 140, x1: 245 })),
    4,
    'inside it',
  );
  assert.equal(
    labels(4, (n) => ({ x0: n % 2 === 0 ? 50 : 0, x1: 105 })),
    4,
    'far from it',
  );
  assert.equal(
    labels(4, (n) => ({ x0: 60, x1: n % 2 === 0 ? 120 : 145 })),
    4,
    'flush on the other side',
  );
  assert.equal(
    labels(4, () => ({ x0: 90 })),
    4,
    'of one length',
  );
  const ragged = (n: number) => (n % 2 === 0 ? { x0: 60, x1: 130 } : { x0: 20, x1: 145 });
  assert.equal(labels(4, ragged), 4, 'of unlike ends');
  const beside = { box: { x0: 150, x1: 400, y0: 100, y1: 300 } };
  assert.equal(labels(4, undefined, 0, prose(300, beside)), 4, 'beside a paragraph');
  assert.equal(
    heads([...Array.from({ length: 4 }, () => [text('Gulls', BOLD), prose()]).flat()]).length,
    4,
    'no chart',
  );
});

test('four bold lines with nothing under them are an address, unless numbers or bookmarks tell, whatever faces they are in', () => {
  const four = ['The Harbour', 'Quay Street', 'Oban by the Bay', 'Post Box'];
  const lines = (style: (n: number) => Partial<DraftStyle> = () => BOLD, names = four) =>
    names.map((one, n) => text(one, style(n)));
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
  assert.equal(found([...lines(), text('Gulls', { size: 16 })]), 1, 'over a chapter');
  assert.equal(found([text('Gulls', { size: 16 }), ...lines()]), 1, 'under a chapter');
});

test('a bookmark names a line in larger type or bold, however near to the text, or plain where there is no such line', () => {
  const near = { gapAbove: 0.1 };
  const named = (...drafts: readonly TextDraft[]) => heads([prose(), ...drafts, prose()], ['Gulls', 2]).length;
  assert.equal(named(text('Gulls', BOLD, near)), 1);
  assert.equal(named(text('Gulls', { size: 10.5 }, near)), 1);
  assert.equal(named(text('Gulls', {}, near)), 1);
  assert.equal(named(text('Gulls', { size: 14 }), prose(), text('Gulls', {}, near)), 1, 'the words again');
});

test('long texts in larger type are headings where they are bold or short, or do not end as a sentence', () => {
  const long = (letters: number, more: Partial<TextDraft>, style: Partial<DraftStyle> = {}, end = 'x') =>
    isHead(
      text(`${'counted from the old light '.repeat(9).slice(0, letters - 1)}${end}`, { size: 12, ...style }, more),
    );
  assert.ok(long(150, { lines: 2 }));
  assert.ok(!long(150, { lines: 2 }, {}, '.'), 'a sentence');
  assert.ok(long(100, { lines: 2 }, {}, '.'), 'a short sentence');
  assert.ok(!long(150, { lines: 3 }), 'three lines');
  assert.ok(long(150, { lines: 3 }, BOLD), 'three bold lines');
  assert.ok(long(150, { lines: 4 }, { size: 16 }), 'a title');
  assert.ok(!long(230, { lines: 4 }, { size: 16 }), 'a paragraph');
});

test('a line in larger type is text where a longer text is set in it', () => {
  const larger = { style: { ...STYLE, size: 11 } };
  const set = (more: Partial<TextDraft>) =>
    heads([prose(600), text('Gulls', { size: 11 }), prose(150, more), prose(600)]);
  assert.deepEqual(set(larger), []);
  assert.deepEqual(set({}), ['2 Gulls'], "in the text's own");
  assert.deepEqual(set({ style: { ...larger.style, italic: true } }), ['2 Gulls'], 'in italics');
});

test('a caption, a numbered sentence, and a colon in bold', () => {
  assert.ok(!isHead(text('Figure 3 Gulls of the bay', BOLD)));
  const loud = text('Table 14. Gulls of the bay', { size: 14 });
  assert.ok(!isHead(loud), 'a caption in large type');
  assert.deepEqual(heads([prose(), loud, prose()], ['Table 14. Gulls of the bay', 2]), [], 'in the outline');
  assert.ok(isHead(text('2. The old light.', BOLD)));
  assert.ok(isHead(text('The birds are:', BOLD)));
  assert.ok(!isHead(text('The birds are:', {})));
});

test('a line a little larger, in italics or in capitals is a heading only where text comes under it on its page', () => {
  const kinds: TextDraft[] = [
    text('The old light', { size: 11.5 }),
    text('The old light', { italic: true }),
    text('THE OLD LIGHT', { capitals: true, font: 'c' }),
  ];
  for (const draft of kinds) {
    assert.ok(isHead(draft));
    assert.ok(isHead(draft, item(30, 10)), 'a list');
    assert.ok(!isHead(draft, figure()), 'a picture');
    assert.ok(!isHead(draft, prose(300, { pageIndex: 1 })), 'on the next page');
  }
  assert.ok(!isHead(text('THE OLD LIGHT', { capitals: true, font: 'c', size: 7 })), 'small print in capitals');
  assert.ok(!isHead(text('THE OLD LIGHT', { capitals: true, font: 'c' }, { lines: 3 })), 'a notice');
  assert.ok(!isHead(text('2 The old light', {}, { lines: 2 })), 'two numbered lines in plain type');
  const italics = [0, 1].map(() => ({ ...prose(), style: { ...STYLE, italic: true } }));
  const [above, below] = italics as [TextDraft, TextDraft];
  assert.deepEqual(heads([above, text('The old light', { italic: true }), below]), [], 'in a text in italics');
});

test('the type of the text is that of most letters: tables count less, and neither they nor items say its face', () => {
  assert.equal(heads([text('The old light'), table(500, 8)]).length, 1);
  assert.deepEqual(heads([prose(400), text('Gulls'), prose(100), item(600, 9)]), [], 'references');
  const name = text('OLD LIGHT', { capitals: true });
  assert.deepEqual(heads([item(40, 10), prose(), name, prose()]), [], 'capitals in the face of the text');
});

test('levels: italics come under upright type; a chapter stands out of any text; the title may be bookmarked or not', () => {
  const chapter = text('Harbours', { size: 16 });
  const under = (first: Partial<DraftStyle>, second: Partial<DraftStyle>) =>
    heads([chapter, prose(), text('Gulls', first), prose(), text('Terns', second), prose()]).slice(1);
  assert.deepEqual(under(BOLD, { bold: true, italic: true }), ['2 Gulls', '3 Terns']);
  assert.deepEqual(under({ bold: true, italic: true }, BOLD), ['3 Gulls', '2 Terns']);
  assert.deepEqual(heads([prose(), prose(), chapter, prose()]), ['1 Harbours'], 'in the middle of a work');
  assert.deepEqual(heads([text('Gulls', { size: 12 }), prose(), chapter, prose()]), ['2 Gulls', '1 Harbours']);
  assert.deepEqual(heads([chapter, prose(), text('Gulls', { size: 16 }), prose()]), ['1 Harbours', '2 Gulls']);
  assert.deepEqual(heads([text('Gulls', BOLD), prose(), prose()]), ['1 Gulls'], 'a heading over all of the text');
  const gulls = text('Gulls', BOLD);
  const titled = [chapter, prose(), gulls, prose()];
  assert.deepEqual(heads(titled, ['Harbours', 1], ['Gulls', 2]), ['1 Harbours', '2 Gulls']);
  assert.deepEqual(heads(titled, ['Harbours', 1], ['Gulls', 1]), ['1 Harbours', '2 Gulls'], 'one title');
  assert.deepEqual(heads([prose(), prose(), gulls, prose()], ['Gulls', 1]), ['1 Gulls'], 'no title');
});
