// Checks the effect of each field of docs/api.md, "Parsers".
import assert from 'node:assert/strict';
import { blankPdf } from '../harness/documents.ts';
import { type ContractCase, expectError, expectServing, expectSuccess, SMALL_CSV } from './contract-case.ts';
import { PAGE_SENTENCES, parseScannedPdf, parseThreePagePdf, readPdfFixture, THREE_PAGE_PDF } from './pdf-documents.ts';

export const cases: ContractCase[] = [
  {
    name: 'a PDF is parsed without `pages`, `blocks` and page markers by default',
    run: async (product) => {
      const data = await expectSuccess(product, { file: await THREE_PAGE_PDF, fileName: 'log.pdf' });
      for (const sentence of PAGE_SENTENCES) assert.ok(data.markdown?.includes(sentence), sentence);
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
    (parsers): ContractCase => ({
      name: `uses the defaults for \`parsers: ${JSON.stringify(parsers)}\``,
      run: async (product) => {
        const data = await expectSuccess(product, {
          file: await THREE_PAGE_PDF,
          fileName: 'log.pdf',
          options: { parsers },
        });
        for (const sentence of PAGE_SENTENCES) assert.ok(data.markdown?.includes(sentence), sentence);
      },
    }),
  ),
  {
    name: 'ignores `parsers` for a file that is not a PDF',
    run: async (product) => {
      const data = await expectSuccess(product, {
        ...SMALL_CSV,
        options: { parsers: [{ type: 'pdf', pages: true, blocks: true, maxPages: 1 }] },
      });
      assert.match(data.markdown ?? '', /seventeen herons/);
      assert.equal(data.pages ?? null, null);
      assert.equal(data.blocks ?? null, null);
    },
  },
  {
    name: '`mode: fast` reads the text layer',
    run: async (product) =>
      assert.match((await parseThreePagePdf(product, { mode: 'fast' })).markdown ?? '', /Third page ends the log\./),
  },
  {
    name: '`mode: fast` returns 200 with empty Markdown and a warning for a PDF without a text layer',
    run: async (product) => {
      const data = await parseScannedPdf(product, 'fast');
      assert.equal((data.markdown ?? '').trim(), '');
      assert.notEqual((data.warning ?? '').trim(), '');
    },
  },
  {
    name: '`mode: auto` reads a page without a text layer by OCR',
    run: async (product) =>
      assert.match(
        (await parseScannedPdf(product, 'auto')).markdown ?? '',
        /lighthouse keeper counted seventeen herons/,
      ),
  },
  {
    name: '`mode: ocr` reads a page with a text layer by OCR',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { mode: 'ocr', maxPages: 1, blocks: true });
      assert.match(data.markdown ?? '', /First page, first paragraph/);
      const blocks = data.blocks?.[0];
      assert.ok(blocks && blocks.items.length > 0);
      assert.ok(blocks.items.every((item) => item.source !== 'native_text'));
      assert.ok(
        blocks.items.some(
          (item) => typeof item.confidence.ocr === 'number' && item.confidence.ocr > 0.5 && item.confidence.ocr <= 1,
        ),
      );
      assert.ok((blocks.width ?? 0) > 0 && (blocks.height ?? 0) > 0, 'a rendered page has its size in pixels');
    },
  },
  {
    name: '`maxPages` limits the pages read, `numPages` and the items of `pages`, but not `totalPages`',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { maxPages: 2, pages: true });
      assert.match(data.markdown ?? '', /Second page/);
      assert.doesNotMatch(data.markdown ?? '', /Third page/);
      assert.deepEqual([data.metadata.numPages, data.metadata.totalPages, data.pages?.length], [2, 3, 2]);
    },
  },
  {
    name: '`pages: "3,1"` reads pages 1 and 3 only: in `markdown`, `pages`, `blocks`, page markers, page counts and credits',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: '3,1', blocks: true, pageMarkers: true });
      const [first = '', second = '', third = ''] = PAGE_SENTENCES;
      const markdown = data.markdown ?? '';
      assert.ok(markdown.indexOf(first) < markdown.indexOf(third) && !markdown.includes(second), markdown);
      assert.deepEqual(markdown.match(/<!-- page \d+ -->/g), ['<!-- page 3 -->']);
      assert.deepEqual(
        data.pages?.map((page) => page.pageNumber),
        [1, 3],
      );
      assert.deepEqual(
        data.blocks?.map((page) => page.pageNumber),
        [1, 3],
      );
      assert.deepEqual(
        [...new Set(data.blocks?.flatMap((page) => page.items.map((item) => item.id.split('.')[0])))],
        ['p1', 'p3'],
      );
      const { numPages, totalPages, creditsUsed } = data.metadata;
      assert.deepEqual([numPages, totalPages, creditsUsed], [2, 3, 3]);
      assert.equal(data.warning ?? undefined, undefined);
    },
  },
  ...(['option', 'parser'] as const).map(
    (place): ContractCase => ({
      name: `\`language\` (${place}) chooses the languages of OCR; the error for one that is not installed lists the others`,
      run: async (product) => {
        const request = async (language: string, mode = 'ocr') => ({
          file: await readPdfFixture('scanned-harbour-report.pdf'),
          fileName: 'scan.pdf',
          options: {
            parsers: [{ type: 'pdf', mode, ...(place === 'parser' ? { language } : {}) }],
            ...(place === 'option' ? { language } : { language: 'xxx' }),
          },
        });
        assert.match((await expectSuccess(product, await request('eng'))).markdown ?? '', /\w{4}/);
        const { error, details } = await expectError(product, await request('eng+tlh'), 400, 'BAD_REQUEST');
        assert.match(error, /`tlh` is not installed on this server\. Installed languages: .*\beng\b/);
        assert.equal(details?.[0]?.path, 'language');
        // The language matters only where OCR reads.
        await expectSuccess(product, await request('tlh', 'fast'));
      },
    }),
  ),
  {
    name: '`maxPages` counts the pages that `pages` selects',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: '2-', maxPages: 1 });
      assert.deepEqual(
        data.pages?.map((page) => page.pageNumber),
        [2],
      );
    },
  },
  {
    name: 'selected pages past the end are ignored with a `warning`',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: '3-5,9' });
      assert.deepEqual(
        data.pages?.map((page) => page.pageNumber),
        [3],
      );
      assert.match(data.warning ?? '', /has 3 pages, so selected pages past the end were ignored \(4-5, 9\)/);
    },
  },
  {
    name: 'returns 400 if none of the selected pages exists',
    run: async (product) => {
      const request = {
        file: await THREE_PAGE_PDF,
        fileName: 'log.pdf',
        options: { parsers: [{ type: 'pdf', pages: '4-6' }] },
      };
      const { error, details } = await expectError(product, request, 400, 'BAD_REQUEST');
      assert.match(error, /none of the selected pages \(4-6\) exists\. The document has 3 pages/);
      assert.equal(details?.[0]?.path, 'parsers');
    },
  },
  {
    name: '`pages: "2"` with `mode: ocr` reads one page of a PDF by OCR',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: '2', mode: 'ocr', blocks: true });
      assert.match(data.markdown ?? '', /Second page words stand here/);
      assert.deepEqual(
        data.blocks?.map((page) => page.pageNumber),
        [2],
      );
      assert.equal(data.metadata.numPages, 1);
    },
  },
  {
    name: '`pages` has the Markdown of each physical page',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: true });
      assert.deepEqual(
        data.pages?.map((one) => one.pageNumber),
        [1, 2, 3],
      );
      for (const [index, sentence] of PAGE_SENTENCES.entries())
        assert.ok(data.pages?.[index]?.markdown.includes(sentence), sentence);
      assert.equal(data.blocks, undefined);
    },
  },
  {
    name: '`pages` is returned when the `markdown` format is not requested',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { pages: true }, { formats: ['html'] });
      assert.equal(data.pages?.length, 3);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: '`pageMarkers` puts `---` and `<!-- page N -->` between pages and nothing before page 1',
    run: async (product) => {
      const { markdown = '' } = await parseThreePagePdf(product, { pageMarkers: true });
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
    name: '`pageMarkers` adds no response field and no credits',
    run: async (product) => {
      const [plain, marked] = [
        await parseThreePagePdf(product),
        await parseThreePagePdf(product, { pageMarkers: true }),
      ];
      assert.deepEqual(Object.keys(marked).sort(), Object.keys(plain).sort());
      assert.equal(marked.metadata.creditsUsed, plain.metadata.creditsUsed);
    },
  },
  {
    name: '`pages` and `blocks` cost no additional credits',
    run: async (product) =>
      assert.equal(
        (await parseThreePagePdf(product, { pages: true, blocks: true })).metadata.creditsUsed,
        (await parseThreePagePdf(product)).metadata.creditsUsed,
      ),
  },
  {
    name: 'returns 422 DOCUMENT_ENCRYPTED for an encrypted PDF',
    run: async (product) => {
      await expectError(
        product,
        { file: await readPdfFixture('encrypted-password-heron.pdf'), fileName: 'locked.pdf' },
        422,
        'DOCUMENT_ENCRYPTED',
      );
      await expectServing(product);
    },
  },
  {
    name: '`password` opens an encrypted PDF',
    run: async (product) => {
      const file = await readPdfFixture('encrypted-password-heron.pdf');
      const data = await expectSuccess(product, {
        file,
        fileName: 'locked.pdf',
        options: { parsers: [{ type: 'pdf', password: 'heron' }] },
      });
      assert.match(data.markdown ?? '', /seventeen herons/);
    },
  },
  {
    name: 'returns 422 DOCUMENT_ENCRYPTED for a wrong `password`',
    run: async (product) => {
      const file = await readPdfFixture('encrypted-password-heron.pdf');
      await expectError(
        product,
        { file, fileName: 'locked.pdf', options: { parsers: [{ type: 'pdf', password: 'crow' }] } },
        422,
        'DOCUMENT_ENCRYPTED',
      );
    },
  },
  {
    name: 'returns 422 DOCUMENT_CORRUPT for a corrupt PDF',
    run: async (product) => {
      await expectError(
        product,
        { file: '%PDF-1.7\nnot really a document\n%%EOF\n', fileName: 'broken.pdf' },
        422,
        'DOCUMENT_CORRUPT',
      );
      await expectServing(product);
    },
  },
  {
    name: 'returns 200 with empty Markdown and one item per page for a blank PDF',
    run: async (product) => {
      const data = await expectSuccess(product, {
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
