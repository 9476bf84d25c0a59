// Checks every field of docs/api.md, "Blocks" on a PDF with a known layout.
import assert from 'node:assert/strict';
import { BLOCK_TYPES } from '#shared/contract/response.ts';
import { scanOf } from '../harness/documents/scans.ts';
import { CONTENT, pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, expectSuccess } from './contract-case.ts';
import { PAGE_SENTENCES, parseScannedPdf, parseThreePagePdf } from './pdf-documents.ts';

/** Parses the three-page PDF with `blocks`. */
async function blocksOf(
  product: Product,
  parserFields: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
) {
  const data = await parseThreePagePdf(product, { blocks: true, ...parserFields }, options);
  const pages = data.blocks ?? [];
  return {
    data,
    pages,
    items: pages.flatMap((one) => one.items.map((item) => ({ ...item, pageNumber: one.pageNumber }))),
    markdown: data.markdown ?? '',
  };
}

const LINES = ['The keeper counts herons before the evening storm', 'and writes careful notes about every boat.'];
let mirroredScan: Promise<Uint8Array> | undefined;
/** Two scanned pages, of which the second is mirrored. Made once for both transports. */
const mirroredPage = () => (mirroredScan ??= scanOf([LINES, LINES], 150, [1]));

export const cases: ContractCase[] = [
  {
    name: '`blocks` has one item per page, and `pageNumber` is the 1-based physical page number',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).pages.map((one) => one.pageNumber),
        [1, 2, 3],
      ),
  },
  {
    name: '`width` and `height` of a page in `blocks` are positive numbers or null',
    run: async (product) => {
      for (const one of (await blocksOf(product)).pages)
        for (const size of [one.width, one.height]) assert.ok(size === null || size > 0);
    },
  },
  {
    name: '`status` is `ok` for pages that were read without problems',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).pages.map((one) => one.status),
        ['ok', 'ok', 'ok'],
      ),
  },
  {
    name: '`items` is not empty for a page with text',
    run: async (product) => assert.ok((await blocksOf(product)).pages.every((one) => one.items.length > 0)),
  },
  {
    name: 'block `id` is `p<page>.b<index in reading order>` and unique',
    run: async (product) => {
      const { pages, items } = await blocksOf(product);
      for (const one of pages)
        assert.deepEqual(
          one.items.map((item) => item.id),
          one.items
            .map((_, index) => `p${one.pageNumber}.b${index}`)
            .map((id, index) => (one.items[0]?.id.endsWith('.b1') ? `p${one.pageNumber}.b${index + 1}` : id)),
        );
      assert.equal(new Set(items.map((item) => item.id)).size, items.length);
    },
  },
  {
    name: 'block ids are the same when the same request is sent again',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).items.map((item) => item.id),
        (await blocksOf(product)).items.map((item) => item.id),
      ),
  },
  {
    name: 'block `type` is `title` or `section_header` for a large first line, `table` for a ruled grid, `text` for a sentence',
    run: async (product) => {
      const { items } = await blocksOf(product);
      for (const item of items) assert.ok((BLOCK_TYPES as readonly string[]).includes(item.type), item.type);
      const typeOf = (words: string) => items.find((item) => item.content.includes(words))?.type;
      assert.ok(['title', 'section_header'].includes(typeOf('Harbour log') ?? ''), typeOf('Harbour log'));
      assert.equal(typeOf('Petrel'), 'table');
      assert.equal(typeOf('First page, first'), 'text');
    },
  },
  {
    name: 'block `label` is a string or null',
    run: async (product) => {
      for (const item of (await blocksOf(product)).items)
        assert.ok(item.label === null || typeof item.label === 'string');
    },
  },
  {
    name: 'block `content` is Markdown: a heading has `#` and a table is a pipe table',
    run: async (product) => {
      const { items } = await blocksOf(product);
      assert.match(items.find((item) => item.type === 'table')?.content ?? '', /\| *Petrel *\| *42 *\|/);
      assert.match(items.find((item) => item.content.includes('Harbour log'))?.content ?? '', /^#+ Harbour log/);
    },
  },
  {
    name: 'block `bbox` is [x0, y0, x1, y1] from 0 to 1 and encloses the drawn words',
    run: async (product) => {
      const { items } = await blocksOf(product);
      for (const { bbox, id } of items) {
        assert.ok(bbox, id);
        const [x0, y0, x1, y1] = bbox;
        assert.ok(x0 >= 0 && y0 >= 0 && x1 <= 1 && y1 <= 1 && x0 < x1 && y0 < y1, `${id}: ${bbox}`);
      }
      const title = items.find((item) => item.content.includes('Harbour log'))?.bbox;
      // Drawn at x 60 of 595 and baseline 770 of 842 from the bottom, 24 pt.
      assert.ok(
        title &&
          Math.abs(title[0] - 60 / 595) < 0.02 &&
          title[1] < 1 - 770 / 842 &&
          title[3] > 1 - 775 / 842 &&
          title[3] < 0.13,
        String(title),
      );
    },
  },
  {
    name: 'block `readingOrder` is an integer that increases through each page',
    run: async (product) => {
      for (const one of (await blocksOf(product)).pages) {
        const order = one.items.map((item) => item.readingOrder);
        assert.ok(
          order.every((value, index) => Number.isInteger(value) && (index === 0 || value > (order[index - 1] ?? 0))),
          String(order),
        );
      }
    },
  },
  {
    name: '`markdownSpan` [start, end) of the document Markdown equals the block content',
    run: async (product) => {
      const { items, markdown } = await blocksOf(product);
      assert.ok(items.some((item) => item.markdownSpan));
      for (const item of items)
        if (item.markdownSpan) assert.equal(markdown.slice(...item.markdownSpan), item.content, item.id);
    },
  },
  {
    name: '`markdownSpan` equals the block content when page markers are in the Markdown',
    run: async (product) => {
      const { items, markdown } = await blocksOf(product, { pageMarkers: true });
      assert.match(markdown, /<!-- page 2 -->/);
      for (const item of items)
        if (item.markdownSpan) assert.equal(markdown.slice(...item.markdownSpan), item.content, item.id);
    },
  },
  {
    name: '`markdownSpan` counts UTF-16 code units of the Markdown after redaction',
    run: async (product) => {
      const file = await pdf([
        { title: 'Crew', lines: ['Write to anna.keller@example.com today.', 'The last line is untouched.'] },
      ]);
      const data = await expectSuccess(product, {
        file,
        fileName: 'crew.pdf',
        options: {
          redactPII: { mode: 'fast', entities: ['EMAIL'] },
          parsers: [{ type: 'pdf', blocks: true, pages: true }],
        },
      });
      const markdown = data.markdown ?? '';
      assert.match(markdown, /<EMAIL>/);
      const items = data.blocks?.flatMap((one) => one.items) ?? [];
      assert.ok(items.find((item) => item.content.includes('untouched'))?.markdownSpan);
      for (const item of items) if (item.markdownSpan) assert.equal(markdown.slice(...item.markdownSpan), item.content);
      assert.doesNotMatch(JSON.stringify(data), /anna\.keller/);
    },
  },
  {
    name: 'block `source` is `native_text` for a text layer',
    run: async (product) => assert.ok((await blocksOf(product)).items.every((item) => item.source === 'native_text')),
  },
  {
    name: '`confidence.layout` is null or from 0 to 1, and `confidence.ocr` is null for a text layer',
    run: async (product) => {
      for (const { confidence } of (await blocksOf(product)).items) {
        assert.ok(confidence.layout === null || (confidence.layout >= 0 && confidence.layout <= 1));
        assert.equal(confidence.ocr, null);
      }
    },
  },
  {
    name: '`blocks` is returned when the `markdown` format is not requested',
    run: async (product) => {
      const data = await parseThreePagePdf(product, { blocks: true }, { formats: ['links'] });
      assert.equal(data.blocks?.length, 3);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: 'the blocks contain every heading, sentence and table of the document',
    run: async (product) => {
      const { items } = await blocksOf(product);
      const text = items.map((item) => item.content).join('\n');
      for (const words of [...PAGE_SENTENCES, 'Harbour log', 'Closing', 'Petrel'])
        assert.ok(text.includes(words), words);
    },
  },
  {
    name: 'blocks of an OCR page have `confidence.ocr` and exact `markdownSpan` offsets',
    run: async (product) => {
      const data = await parseScannedPdf(product, 'auto', { blocks: true });
      const items = data.blocks?.flatMap((one) => one.items) ?? [];
      assert.ok(items.some((item) => item.content.includes('herons') && typeof item.confidence.ocr === 'number'));
      for (const item of items)
        if (item.markdownSpan) assert.equal((data.markdown ?? '').slice(...item.markdownSpan), item.content);
      assert.ok(data.markdown?.includes(CONTENT.title));
    },
  },
  {
    name: '`status` is `partial` and `warning` names the page when OCR confidence is very low; other pages are `ok`',
    run: async (product) => {
      const data = await expectSuccess(product, {
        file: await mirroredPage(),
        fileName: 'mirrored-page.pdf',
        options: { parsers: [{ type: 'pdf', blocks: true }] },
      });
      assert.deepEqual(
        data.blocks?.map(({ pageNumber, status }) => [pageNumber, status]),
        [
          [1, 'ok'],
          [2, 'partial'],
        ],
      );
      const confidence = data.blocks?.map(({ items }) => Math.max(...items.map((item) => item.confidence.ocr ?? 0)));
      assert.ok((confidence?.[0] ?? 0) > 0.8 && (confidence?.[1] ?? 1) < 0.7, String(confidence));
      assert.match(data.markdown ?? '', /counts herons before/);
      assert.match(data.warning ?? '', /\bpage 2 was hard to read by OCR\b/);
      assert.doesNotMatch(data.warning ?? '', /\bpage 1\b/);
    },
  },
];
