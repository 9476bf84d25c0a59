// Holds pictures and what OCR read in them, and pages that OCR read whole, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, draftPages, line, prose, rows, rule } from '#test/harness/documents/pdf-pages.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';

const figures = (more: Partial<PageContent>) =>
  draftPages([prose(50, 100, 5)], more).flatMap((draft) => (draft.kind === 'figure' ? [draft] : []));
const image = (y0: number, y1: number, description?: string) => ({
  box: { x0: 100, x1: 300, y0, y1 },
  pixelWidth: 9,
  pixelHeight: 9,
  ...(description !== undefined && { description }),
});
/** Where OCR read words. */
const placed = (words: Word[], block: number, at: number): Word[] =>
  words.map((word) => ({ ...word, place: { block, line: at }, confidence: 0.8 }));

test('a picture has the descriptions of its strips, each once, and none where the file gives none', () => {
  const described = (...images: ReturnType<typeof image>[]) => figures({ images }).map((draft) => draft.description);
  assert.deepEqual(described(image(300, 400)), [undefined]);
  assert.deepEqual(described(image(300, 350, 'a light'), image(351, 400, 'a light')), ['a light']);
  assert.deepEqual(described(image(300, 350, 'a light'), image(351, 400, 'a quay')), ['a light a quay']);
  assert.deepEqual(described(image(300, 350), image(351, 400, 'a quay')), ['a quay']);
});

test('what OCR read in a picture are its blocks; a table drawn in it is one, and its words are said once', () => {
  const box = { x0: 100, x1: 400, y0: 300, y1: 500 };
  const cells = [
    ['Bird', 'Seen'],
    ['Gull', '41'],
    ['Tern', '12'],
  ];
  const words = [
    ...placed(line(110, 320, 'Counts < of May'), 0, 0),
    ...placed(line(110, 332, 'and June'), 0, 1),
    ...cells.flatMap((row, n) => placed(rows([110, 210], 360 + n * 16, [row]), 1, 2 + n)),
    ...placed(line(110, 450, 'by the keeper'), 2, 5),
  ];
  const level = [348, 364, 380, 396].map((y) => rule(y, 105, 300));
  const upright = [105, 200, 300].map((x): Ruling => ({ ...rule(x, 348, 396), horizontal: false }));
  const found = figures({ figures: [{ box, words, rulings: [...level, ...upright] }], images: [image(310, 490)] });
  assert.equal(found.length, 1, 'in place of the picture');
  assert.equal(found[0]?.ocr?.toFixed(2), '0.80');
  const html = found[0]?.html ?? '';
  assert.match(html, /^<p>Counts &lt; of May and June<\/p><table>.*<\/table><p>by the keeper<\/p>$/s);
  assert.equal(html.match(/Gull/g)?.length, 1);
});

test('a page that OCR read is read in its order; a table stands where its first line was read', () => {
  const right = [0, 1, 2].flatMap((n) => placed(line(310, 100 + n * 12, `right ${n} of the harbour light`), 0, n));
  const left = [0, 1, 2].flatMap((n) => placed(line(50, 100 + n * 12, `left ${n} of the harbour light`), 1, n + 3));
  const read = blocksOf([[...left, ...right]]);
  assert.match(read[0] ?? '', /right 0 .* right 2/);
  assert.match(read[1] ?? '', /left 0 .* left 2/);
});

test('how sure OCR was is told of what it read, of nothing else', () => {
  assert.deepEqual(
    draftPages([[...placed(line(50, 100, 'gulls and terns'), 0, 0)]]).map((draft) => draft.ocr?.toFixed(2)),
    ['0.80'],
  );
  assert.deepEqual(
    draftPages([prose(50, 100, 3)]).map((draft) => draft.ocr),
    [null],
  );
});
