// Tests `pages` with page ranges: which pages are read, counted and sent to OCR, and that text is not joined over left-out pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import type { JobContext, OcrJob, OcrPage, RenderOptions } from '#shared/contract/jobs.ts';
import { parsePageRanges } from '#shared/contract/page-ranges.ts';
import type { JobProgress } from '#shared/contract/progress.ts';
import type { ConvertedDocument } from '#shared/document/document.ts';
import { convertPdf } from './convert.ts';

interface Recorded {
  document: ConvertedDocument;
  progress: JobProgress[];
  /** Physical numbers of the pages that were sent to OCR. */
  ocrPages: number[];
}

/** A PDF in which each string is the paragraph of one page, broken into lines by the caller. */
async function pdfOf(pages: readonly (readonly string[])[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const lines of pages) {
    const page = document.addPage([400, 400]);
    lines.forEach((line, index) => {
      page.drawText(line, { x: 40, y: 340 - index * 14, size: 10, font });
    });
  }
  return document.save();
}

async function convert(
  bytes: Uint8Array,
  selection: string,
  pdf: Partial<RenderOptions['pdf']> = {},
): Promise<Recorded> {
  const pageRanges = parsePageRanges(selection);
  assert.ok(pageRanges);
  const progress: JobProgress[] = [];
  const ocrPages: number[] = [];
  const context: JobContext = {
    signal: new AbortController().signal,
    deadline: Date.now() + 600_000,
    requestId: 'request-1',
    volatile: false,
    progress: (report) => void progress.push(report),
    async call<Reply>(_queue: string, job: unknown) {
      const { pageNumber, width, height } = job as OcrJob;
      ocrPages.push(pageNumber);
      const blank: OcrPage = { width, height, rotation: 0, confidence: 0, lines: [] };
      return { reply: blank as Reply };
    },
  };
  const options: RenderOptions = {
    fields: ['markdown', 'pages'],
    includeTags: [],
    excludeTags: [],
    onlyMainContent: true,
    blockAds: true,
    removeBase64Images: true,
    pdf: { mode: 'auto', pages: true, blocks: false, pageMarkers: false, pageRanges, ...pdf },
  };
  const document = await convertPdf({ bytes, fileName: 'x.pdf', extension: '.pdf' }, options, context);
  return { document, progress, ocrPages };
}

const numbers = ({ document }: Recorded) => document.pages?.map((page) => page.pageNumber);
const html = ({ document }: Recorded) =>
  (document.pages ?? []).flatMap((page) => page.blocks.map((block) => block.html));
const counted = (count: number) => pdfOf(Array.from({ length: count }, (_, index) => [`Words of page ${index + 1}.`]));

test('only the selected pages are read, in the order of the document, with their physical numbers', async () => {
  const read = await convert(await counted(6), '5, 2-3, 3');
  assert.deepEqual(numbers(read), [2, 3, 5]);
  assert.deepEqual(html(read), ['<p>Words of page 2.</p>', '<p>Words of page 3.</p>', '<p>Words of page 5.</p>']);
  assert.equal(read.document.metadata.numPages, 3);
  assert.equal(read.document.metadata.totalPages, 6);
  assert.deepEqual(read.document.warnings, []);
  assert.deepEqual(read.progress.at(-1), { stage: 'convert', pagesDone: 3, pages: 3 });
});

test('maxPages counts selected pages', async () => {
  const read = await convert(await counted(6), '2,4-', { maxPages: 2 });
  assert.deepEqual(numbers(read), [2, 4]);
  assert.equal(read.document.metadata.numPages, 2);
});

test('OCR gets the selected pages only', async () => {
  const read = await convert(await counted(6), '1,4-5', { mode: 'ocr' });
  assert.deepEqual(read.ocrPages.toSorted(), [1, 4, 5]);
});

test('pages past the end are ignored with a warning; a selection without any page is a 400', async () => {
  const bytes = await counted(3);
  const read = await convert(bytes, '2-5,9');
  assert.deepEqual(numbers(read), [2, 3]);
  assert.deepEqual(read.document.warnings, [
    'The document has 3 pages, so selected pages past the end were ignored (4-5, 9).',
  ]);
  await assert.rejects(convert(bytes, '4,7-'), {
    code: 'BAD_REQUEST',
    message: 'Bad Request: none of the selected pages (4, 7-) exists. The document has 3 pages.',
  });
});

test('the last pages of a long document are read without those before them', async () => {
  const read = await convert(await counted(400), '38,399-');
  assert.deepEqual(html(read), ['<p>Words of page 38.</p>', '<p>Words of page 399.</p>', '<p>Words of page 400.</p>']);
});

test('a paragraph goes on at the next page, but not over pages that were left out', async () => {
  const bytes = await pdfOf([
    [
      'The harbour master wrote every evening about the boats that came in, and',
      'about the wind and the weather of the day and about the people who had',
    ],
    [
      'been on the quay since the morning and waited for the boats that had not',
      'come back from the sea since the storm of the day before, and he wrote',
    ],
    [
      'also about the lamp that was lit at dusk, and about the men who lit it and',
      'who came from the village behind the dunes.',
    ],
  ]);
  const joins = ({ document }: Recorded) =>
    (document.pages ?? []).flatMap((page) => page.blocks.map((block) => block.continues !== undefined));
  assert.deepEqual(joins(await convert(bytes, '1-3')), [false, true, true]);
  assert.deepEqual(joins(await convert(bytes, '1,3')), [false, false]);
  assert.deepEqual(joins(await convert(bytes, '2-3')), [false, true]);
});
