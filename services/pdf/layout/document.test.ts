// Holds what becomes of paragraphs, items, notes, tables and pictures as blocks of the document, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, draftPages, filled, line, MONO, PLAIN, prose, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Word } from '../source/page-model.ts';
import type { Draft } from '../text/blocks.ts';
import { assembleBlocks } from './document.ts';

const FULL = filled(60, 4);
const FRAME = { width: 600, height: 800, source: 'native_text' };
const assemble = (drafts: readonly Draft[], frame = FRAME) => {
  const { pages, title } = assembleBlocks(drafts, new Map([0, 1, 2].map((n) => [n, frame])), [], new Set());
  return { blocks: [...pages.values()].flat(), title };
};
const types = (drafts: readonly Draft[]) => assemble(drafts).blocks.map((one) => one.label ?? one.type);
const [PARAGRAPH] = draftPages([prose(50, 100, 3)]) as [Draft];
const at = { pageIndex: 0, box: { x0: 50, x1: 350, y0: 200, y1: 400 }, ocr: null };
const grid = { rows: [[{ html: 'a', text: 'a', column: 0, colspan: 1, rowspan: 1 }]], columns: 1, headerRows: 0 };
const ruled: Draft = { ...at, kind: 'table', grid, source: 'ruled', size: 10, letters: 1 };

test('a block says where it is, and whether OCR read it and how surely', () => {
  const [native] = assemble([PARAGRAPH]).blocks;
  assert.equal(native?.source, 'native_text');
  assert.deepEqual(native?.confidence, { layout: 0.9, ocr: null });
  const [read] = assemble([{ ...PARAGRAPH, ocr: 0.91234 }]).blocks;
  assert.equal(read?.source, 'layout_ocr');
  assert.deepEqual(read?.confidence, { layout: 0.9, ocr: 0.912 });
  assert.equal(native?.bbox?.[0], 0.08333);
  for (const none of [{ width: 0 }, { height: 0 }])
    assert.equal(assemble([PARAGRAPH], { ...FRAME, ...none }).blocks[0]?.bbox, null, 'a page without a size');
});

test('tables say how they were found, pictures what they show, formulas their LaTeX; the title is the first heading of all', () => {
  assert.deepEqual(types([ruled, { ...ruled, source: 'aligned' }]), ['ruled_table', 'aligned_table']);
  const html = (draft: Draft) => assemble([draft]).blocks[0]?.html;
  assert.equal(html({ ...at, kind: 'figure' }), '<figure></figure>');
  assert.equal(
    html({ ...at, kind: 'figure', description: 'A "gull"' }),
    '<figure><img alt="A &quot;gull&quot;"></figure>',
  );
  assert.equal(
    html({ ...at, kind: 'formula', text: 'x<y', latex: 'x < y' }),
    '<div data-latex="x &lt; y">x&lt;y</div>',
  );
  const titled = draftPages([[...line(50, 60, 'Harbours', sized(20)), ...prose(50, 100, 6)]]);
  assert.equal(assemble(titled).title, 'Harbours');
  assert.equal(assemble([PARAGRAPH]).title, undefined);
});

test('a list is one block on each of its pages', () => {
  const list = (text: string) => [...prose(50, 100, 4), ...line(50, 170, `• ${text}.`)];
  assert.equal(blocksOf([[...list('gulls')], [...line(50, 100, '• terns.'), ...prose(50, 140, 4)]]).length, 4);
});

test('a long caption stands beside its table or picture on its page', () => {
  const [caption] = draftPages([[...line(50, 100, `Table 3 ${filled(52)}`), ...prose(50, 112, 7)]]) as [Draft];
  assert.deepEqual(types([caption]), ['text']);
  const figure: Draft = { ...at, kind: 'figure' };
  assert.deepEqual(types([caption, ruled]), ['caption', 'ruled_table']);
  assert.deepEqual(types([figure, caption]), ['figure', 'caption']);
  assert.deepEqual(types([caption, { ...figure, pageIndex: 1 }]), ['text', 'figure'], 'on another page');
  const wide = Array.from({ length: 5 }, (_, n) => line(20, 112 + n * 12, filled(115, n * 3))).flat();
  assert.deepEqual(
    types(draftPages([[...line(20, 100, `Table 3 ${filled(107)}`), ...wide]])),
    ['text'],
    'six wide lines',
  );
});

/** Whether the second page begins with what the first page's last paragraph goes on with. */
const goesOn = (first: Word[], second: Word[]) => {
  const found = blocksOf([first, second]);
  return found.some((one) => one.startsWith('+'));
};
const ending = (last: string) => [...prose(50, 300, 5), ...line(50, 360, last)];
const beginning = (first: string, indent = 0) => [...line(50 + indent, 300, first), ...prose(50, 312, 5)];

test('a paragraph goes on over a page by its last line and the first of the next', () => {
  assert.ok(goesOn(ending(FULL), beginning(FULL)));
  assert.ok(!goesOn(ending('meadow-'), beginning(`lands ${filled(54)}`)), 'a short line with a hyphen');
  assert.ok(!goesOn(ending(FULL), beginning(`Heron ${filled(50)}`, 20)), 'an indented first line');
  assert.ok(!goesOn(ending(`${filled(59, 4)})`), beginning(`Heron ${filled(54)}`)), 'a bracket before a capital');
  const wide = (text: string) => [...prose(50, 200, 4), ...line(50, 272, text)];
  assert.ok(goesOn(wide(FULL), beginning(FULL)), 'a paragraph of one line');
  assert.ok(!goesOn(wide(FULL), beginning(`Heron ${filled(54)}`)), 'one line before a capital');
});

test('a paragraph goes on past notes at the foot, page numbers, captions and a page of pictures', () => {
  const notes = (text: string) => [...line(50, 420, text, sized(8)), ...line(50, 430, filled(50, 2), sized(8))];
  const number = line(297.5, 780, '7');
  assert.ok(goesOn([...ending(FULL), ...notes(filled(60, 2))], beginning(FULL)));
  assert.ok(goesOn([...ending(FULL), ...notes(`1. ${filled(57, 2)}`)], beginning(FULL)), 'numbered notes');
  assert.ok(goesOn([...ending(FULL), ...notes(filled(60, 2)), ...number], beginning(FULL)), 'over a page number');
  assert.ok(!goesOn([...ending(FULL), ...line(50, 420, '1. gulls and terns')], beginning(FULL)), 'a list of the text');
});

test('an item goes on over a page where its sentence does, also past a running head', () => {
  const pages = (last: string, first: Word[]) =>
    blocksOf([[...prose(50, 300, 5), ...line(50, 372, `• ${last}`)], first]).join('');
  const long = filled(58, 4);
  const joined = (...of: Parameters<typeof pages>) => /<li>(.*?)<\/li>/.exec(pages(...of))?.[1];
  assert.equal(joined(long, line(50, 300, 'gulls and terns.')), `${long} gulls and terns.`);
  assert.equal(joined(`${filled(51, 4)} meadow-`, line(50, 300, 'lands.')), `${filled(51, 4)} meadowlands.`);
  assert.equal(joined(`${filled(53, 4)} quay/`, line(50, 300, 'side.')), `${filled(53, 4)} quay/side.`);
  assert.equal(joined(`${filled(53, 4)} B12-`, line(50, 300, 'rich.')), `${filled(53, 4)} B12-rich.`);
  const head = [...line(200, 20, 'The log', sized(8)), ...line(50, 300, 'gulls and terns.'), ...prose(50, 340, 5)];
  assert.equal(joined(long, head), `${long} gulls and terns.`);
  assert.equal(joined('gulls', line(50, 300, 'and terns.')), 'gulls', 'a short item');
  assert.equal(joined(long, line(50, 300, 'Gulls and terns.')), long, 'a capital');
  assert.equal(
    joined(`${filled(57, 4)}.`, line(50, 300, 'gulls and terns.')),
    `${filled(57, 4)}.`,
    'a sentence that ended',
  );
  assert.equal(joined(long, line(50, 300, 'gulls and terns.', sized(8))), long, 'other type');
  const [below] = blocksOf([
    [...line(50, 300, `• ${long}`), ...line(50, 340, 'gulls and terns.'), ...prose(50, 380, 5)],
  ]);
  assert.ok(!below?.includes('terns'), 'what stands under it');
});

test('code and formulas end what goes on over a page', () => {
  const code = ['lamp.fill()', 'lamp.light()', 'lamp.turn()'].flatMap((text, n) => line(50, 400 + n * 12, text, MONO));
  assert.ok(!goesOn([...ending(FULL), ...code], beginning(FULL)));
  assert.ok(!goesOn(ending(FULL), [...line(50, 250, 'Harbours', sized(20, PLAIN)), ...beginning(FULL)]), 'a heading');
});
