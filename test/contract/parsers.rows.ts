// SPEC 2.4: the PDF parser's fields, pages and page markers.
import assert from 'node:assert/strict';
import { blankPdf } from '../harness/documents.ts';
import { fixture, LOG, log, SENTENCES, scan } from './pdf-log.ts';
import { goesOn, parsed, type Row, refused, SMALL_CSV } from './row.ts';

export const rows: Row[] = [
  {
    name: '2.4 `parsers` default: a list holding pdf, mode auto; neither pages nor blocks nor markers',
    run: async (product) => {
      const data = await parsed(product, { file: await LOG, fileName: 'log.pdf' });
      for (const sentence of SENTENCES) assert.ok(data.markdown?.includes(sentence), sentence);
      assert.deepEqual(
        Object.keys(data)
          .filter((key) => key !== 'warning')
          .sort(),
        ['markdown', 'metadata'],
      );
      assert.doesNotMatch(data.markdown ?? '', /<!-- page/);
    },
  },
  ...[[], ['pdf'], [{ type: 'pdf' }]].map(
    (parsers): Row => ({
      name: `DECISIONS \`parsers: ${JSON.stringify(parsers)}\`: defaults apply`,
      run: async (product) => {
        const data = await parsed(product, { file: await LOG, fileName: 'log.pdf', options: { parsers } });
        for (const sentence of SENTENCES) assert.ok(data.markdown?.includes(sentence), sentence);
      },
    }),
  ),
  {
    name: '2.4 `parsers` on a file that is no PDF changes nothing',
    run: async (product) => {
      const data = await parsed(product, {
        ...SMALL_CSV,
        options: { parsers: [{ type: 'pdf', pages: true, blocks: true, maxPages: 1 }] },
      });
      assert.match(data.markdown ?? '', /seventeen herons/);
      assert.equal(data.pages ?? null, null);
      assert.equal(data.blocks ?? null, null);
    },
  },
  {
    name: '2.4 `mode: fast`: text only, a text PDF gives its text',
    run: async (product) =>
      assert.match((await log(product, { mode: 'fast' })).markdown ?? '', /Third page ends the log\./),
  },
  {
    name: 'DECISIONS `mode: fast` on a PDF without text: 200, empty, with a warning',
    run: async (product) => {
      const data = await scan(product, 'fast');
      assert.equal((data.markdown ?? '').trim(), '');
      assert.notEqual((data.warning ?? '').trim(), '');
    },
  },
  {
    name: '2.4 `mode: auto`: text first, OCR as fallback, an image-only page is read',
    run: async (product) =>
      assert.match((await scan(product, 'auto')).markdown ?? '', /lighthouse keeper counted seventeen herons/),
  },
  {
    name: '2.4 `mode: ocr`: OCR on every page, also of a text PDF',
    run: async (product) => {
      const data = await log(product, { mode: 'ocr', maxPages: 1, blocks: true });
      assert.match(data.markdown ?? '', /First page, first paragraph/);
      const blocks = data.blocks?.[0];
      assert.ok(blocks && blocks.items.length > 0);
      assert.ok(blocks.items.every((item) => item.source !== 'native_text'));
      assert.ok(
        blocks.items.some(
          (item) => typeof item.confidence.ocr === 'number' && item.confidence.ocr > 0.5 && item.confidence.ocr <= 1,
        ),
      );
      assert.ok((blocks.width ?? 0) > 0 && (blocks.height ?? 0) > 0, 'a rendered page has its size in px');
    },
  },
  {
    name: '2.4 `maxPages` caps the pages processed; numPages and totalPages say so',
    run: async (product) => {
      const data = await log(product, { maxPages: 2, pages: true });
      assert.match(data.markdown ?? '', /Second page/);
      assert.doesNotMatch(data.markdown ?? '', /Third page/);
      assert.deepEqual([data.metadata.numPages, data.metadata.totalPages, data.pages?.length], [2, 3, 2]);
    },
  },
  {
    name: '2.4 `pages`: physical per-page Markdown, and nothing more in the Markdown',
    run: async (product) => {
      const data = await log(product, { pages: true });
      assert.deepEqual(
        data.pages?.map((one) => one.pageNumber),
        [1, 2, 3],
      );
      for (const [index, sentence] of SENTENCES.entries())
        assert.ok(data.pages?.[index]?.markdown.includes(sentence), sentence);
      assert.equal(data.blocks, undefined);
    },
  },
  {
    name: '2.4 `pages` without the markdown format: pages alone',
    run: async (product) => {
      const data = await log(product, { pages: true }, { formats: ['html'] });
      assert.equal(data.pages?.length, 3);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: '2.4 `pageMarkers`: pages are joined by ---, a comment with the number, and blank lines; none before page 1',
    run: async (product) => {
      const { markdown = '' } = await log(product, { pageMarkers: true });
      const [first = '', second = '', third = '', ...rest] = markdown.split(/\n\n---\n\n<!-- page \d+ -->\n\n/);
      assert.deepEqual(rest, []);
      assert.match(first, /First page, first paragraph\./);
      assert.match(second, /Second page words/);
      assert.match(third, /Third page ends/);
      assert.deepEqual(
        [...markdown.matchAll(/<!-- page (\d+) -->/g)].map((match) => match[1]),
        ['2', '3'],
      );
      assert.doesNotMatch(markdown, /^\s*(---|<!--)/);
    },
  },
  {
    name: '2.4 `pageMarkers` adds no response field and no cost',
    run: async (product) => {
      const [plain, marked] = [await log(product), await log(product, { pageMarkers: true })];
      assert.deepEqual(Object.keys(marked).sort(), Object.keys(plain).sort());
      assert.equal(marked.metadata.creditsUsed, plain.metadata.creditsUsed);
    },
  },
  {
    name: '2.4 `pages` and `blocks` have no extra cost',
    run: async (product) =>
      assert.equal(
        (await log(product, { pages: true, blocks: true })).metadata.creditsUsed,
        (await log(product)).metadata.creditsUsed,
      ),
  },
  {
    name: 'DECISIONS encrypted PDF: 422 DOCUMENT_ENCRYPTED',
    run: async (product) => {
      await refused(
        product,
        { file: await fixture('encrypted-password-heron.pdf'), fileName: 'locked.pdf' },
        422,
        'DOCUMENT_ENCRYPTED',
      );
      await goesOn(product);
    },
  },
  {
    name: 'DECISIONS parser option of our own, `password`, opens an encrypted PDF',
    run: async (product) => {
      const file = await fixture('encrypted-password-heron.pdf');
      const data = await parsed(product, {
        file,
        fileName: 'locked.pdf',
        options: { parsers: [{ type: 'pdf', password: 'heron' }] },
      });
      assert.match(data.markdown ?? '', /seventeen herons/);
    },
  },
  {
    name: 'DECISIONS `password` that is wrong: 422 DOCUMENT_ENCRYPTED',
    run: async (product) => {
      const file = await fixture('encrypted-password-heron.pdf');
      await refused(
        product,
        { file, fileName: 'locked.pdf', options: { parsers: [{ type: 'pdf', password: 'crow' }] } },
        422,
        'DOCUMENT_ENCRYPTED',
      );
    },
  },
  {
    name: 'DECISIONS corrupt PDF: 422 DOCUMENT_CORRUPT, never 500',
    run: async (product) => {
      await refused(
        product,
        { file: '%PDF-1.7\nnot really a document\n%%EOF\n', fileName: 'broken.pdf' },
        422,
        'DOCUMENT_CORRUPT',
      );
      await goesOn(product);
    },
  },
  {
    name: 'a blank PDF: 200 with empty Markdown and its page counted',
    run: async (product) => {
      const data = await parsed(product, {
        file: await blankPdf(2),
        fileName: 'blank.pdf',
        options: { parsers: [{ type: 'pdf', pages: true, blocks: true }] },
      });
      assert.equal((data.markdown ?? '').trim(), '');
      assert.deepEqual(
        data.pages?.map((one) => one.markdown.trim()),
        ['', ''],
      );
      assert.deepEqual(
        data.blocks?.map((one) => one.items.length),
        [0, 0],
      );
    },
  },
];
