// Holds the way from what OCR answers to the page model, and from there to blocks in OCR's reading order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OcrLine, OcrPage, PixelBox } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { layoutBatch } from '../convert.ts';
import type { PageContent } from '../source/page-model.ts';
import { ocrContent, ocrResolution } from './ocr-page.ts';

const EMPTY: PageContent = {
  index: 0,
  width: 600,
  height: 800,
  words: [],
  rulings: [],
  regions: [],
  images: [],
  objects: 1,
  glyphs: 0,
  unmappedGlyphs: 0,
};

/** A line of 20-pixel print at 72 dpi: letters are 10 wide and stand on `y`. */
function line(block: number, x: number, y: number, text: string): OcrLine {
  let at = x;
  const words = text.split(' ').map((word) => {
    const box: PixelBox = [at, y - 15, at + word.length * 10, /[gjpqy,]/.test(word) ? y + 5 : y];
    at = box[2] + 6;
    return { text: word, box, confidence: 0.9 };
  });
  return { box: [x, y - 15, at - 6, y + 5], height: 15, block, words };
}

const ocr = (lines: OcrLine[], more: Partial<OcrPage> = {}): OcrPage => ({
  width: 600,
  height: 800,
  rotation: 0,
  confidence: 0.9,
  lines,
  ...more,
});

const wordsOf = (page: OcrPage) => ocrContent(EMPTY, page, 72).words;
const draftsOf = (page: OcrPage) =>
  layoutBatch(
    [{ content: ocrContent(EMPTY, page, 72), source: 'layout_ocr', status: 'ok', renderWidth: 1, renderHeight: 1 }],
    new Set(),
  );
const textOf = (page: OcrPage) => draftsOf(page).map((draft) => ('text' in draft ? draft.text : draft.kind));

test('a line stands on the foot of its letters, not of its commas and tails', () => {
  for (const word of wordsOf(ocr([line(0, 50, 100, 'gulls, rest on harbour quays')]))) assert.equal(word.baseline, 100);
});

test('blocks are read in the order of OCR, even where a line reaches over the gutter', () => {
  const left = ['Gulls rest on the old quay', 'until the boats come back in.'];
  const right = ['Terns dive for fish beyond', 'the wall and never stay long.'];
  const lines = [
    ...left.map((text, n) => line(0, 30, 100 + n * 24, text)),
    ...right.map((text, n) => line(1, 340, 100 + n * 24, text)),
    line(2, 30, 200, 'Both are counted every year.'),
  ];
  assert.deepEqual(textOf(ocr(lines)), [left.join(' '), right.join(' '), 'Both are counted every year.']);
});

test('a column that OCR cut where print begins beside it is whole, after what stands on its left', () => {
  const left = ['Gulls rest on the old quay', 'until the boats come back in.'];
  const upper = ['Terns dive for fish beyond', 'the wall and never stay long', 'where the ebb has left pools'];
  const lower = ['and the water is as shallow', 'as a plate until the evening.'];
  const pieces = (space: number) => [
    ...upper.map((text, n) => line(0, 340, 100 + n * 24, text)),
    ...left.map((text, n) => line(1, 30, 172 + space + n * 24, text)),
    ...lower.map((text, n) => line(2, 340, 172 + space + n * 24, text)),
  ];
  assert.deepEqual(textOf(ocr(pieces(0))), [left.join(' '), [...upper, ...lower].join(' ')]);
  // Where white space parts the two pieces, they stay where OCR read them.
  assert.deepEqual(textOf(ocr(pieces(20))), [upper.join(' '), left.join(' '), lower.join(' ')]);
});

test('rulings of a scan make a table, and strokes read from them are no letters', () => {
  const cells = [
    ['Bird', 'Count'],
    ['Gull', '41'],
    ['Tern', '7'],
  ];
  const lines = cells.flatMap((row, n) => row.map((text, column) => line(0, 110 + column * 200, 230 + n * 40, text)));
  const stroke = { text: '|', box: [299, 215, 302, 232] as PixelBox, confidence: 0.4 };
  lines[0]?.words.push(stroke);
  const rulings: PixelBox[] = [
    ...[200, 240, 280, 320].map((y): PixelBox => [100, y, 500, y + 2]),
    ...[100, 300, 500].map((x): PixelBox => [x, 200, x + 2, 322]),
  ];
  const [table, ...rest] = draftsOf(ocr(lines, { rulings }));
  assert.equal(rest.length, 0);
  assert.deepEqual(table?.kind === 'table' && table.grid.rows.map((row) => row.map((cell) => cell.text)), cells);
});

test('a word read across a ruling is the two words of its cells', () => {
  const one = line(0, 100, 100, '10/8');
  const rulings: PixelBox[] = [[123, 60, 126, 140]];
  assert.deepEqual(
    wordsOf(ocr([one], { rulings })).map((word) => word.text),
    ['10', '8'],
  );
  assert.deepEqual(
    wordsOf(ocr([one])).map((word) => word.text),
    ['10/8'],
  );
});

test('blocks of a page that OCR straightened lie where the sloping page shows them', () => {
  const [draft] = draftsOf(ocr([line(0, 400, 400, 'far right')], { skew: 5 }));
  assert.ok(draft);
  // Clockwise, the right half of the page sinks.
  assert.ok(draft.box.y0 > 392 && draft.box.y1 > 410, JSON.stringify(draft.box));
});

test('a running head in three pieces over a full page of text is no part of it', () => {
  const body = Array.from({ length: 14 }, (_, n) =>
    line(1, 50, 140 + n * 30, 'every day the gulls return to the same quay again'),
  );
  const head = [line(0, 50, 60, '460'), line(0, 220, 60, 'BIRDS OF THE BAY'), line(0, 444, 60, 'Ch. IV')];
  const drafts = draftsOf(ocr([...head, ...body]));
  assert.deepEqual(
    drafts.filter((draft) => draft.kind === 'furniture').map((draft) => draft.text),
    ['460 BIRDS OF THE BAY Ch. IV'],
  );
  const letter = draftsOf(ocr([...head, ...body.slice(0, 3)]));
  assert.equal(
    letter.filter((draft) => draft.kind === 'furniture').length,
    0,
    'a letter with few lines keeps its head',
  );
});

test('a scan is rendered at its own pixels, other pages at 200 dpi, and none past the cap', () => {
  const scan = (pixelWidth: number, pixelHeight: number, width = 600, height = 800) =>
    Math.round(
      ocrResolution({
        ...EMPTY,
        width,
        height,
        images: [{ box: { x0: 0, y0: 0, x1: width, y1: height }, pixelWidth, pixelHeight }],
      }),
    );
  assert.equal(scan(1250, 1667), 150);
  assert.equal(scan(600, 800), 72, 'made-up pixels read worse');
  assert.equal(scan(1667, 1250), 150, 'a turned page');
  assert.equal(scan(6000, 8000), 360);
  assert.equal(scan(6000, 8000, 300, 400), 400);
  assert.equal(ocrResolution(EMPTY), 200);
  const poster = { ...EMPTY, width: 6_000, height: 8_000 };
  assert.ok((ocrResolution(poster) / 72) ** 2 * 48e6 <= DOCUMENT_LIMITS.ocrPagePixels + 1);
});
