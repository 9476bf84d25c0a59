// SPEC 2.7: every field of the blocks, by reading a PDF whose layout is known.
import assert from 'node:assert/strict';
import { BLOCK_TYPES } from '#shared/contract/response.ts';
import { scanOf } from '../harness/documents/scans.ts';
import { CONTENT, pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { log, SENTENCES, scan } from './pdf-log.ts';
import { parsed, type Row } from './row.ts';

/** Blocks of the log with the Markdown they belong to. */
async function blocksOf(
  product: Product,
  parserFields: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
) {
  const data = await log(product, { blocks: true, ...parserFields }, options);
  const pages = data.blocks ?? [];
  return {
    data,
    pages,
    items: pages.flatMap((one) => one.items.map((item) => ({ ...item, pageNumber: one.pageNumber }))),
    markdown: data.markdown ?? '',
  };
}

export const rows: Row[] = [
  {
    name: '2.7 one item a page; `pageNumber` is the 1-based physical page',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).pages.map((one) => one.pageNumber),
        [1, 2, 3],
      ),
  },
  {
    name: '2.7 `width` and `height`: positive numbers or null',
    run: async (product) => {
      for (const one of (await blocksOf(product)).pages)
        for (const size of [one.width, one.height]) assert.ok(size === null || size > 0);
    },
  },
  {
    name: '2.7 `status`: ok for pages that could be read',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).pages.map((one) => one.status),
        ['ok', 'ok', 'ok'],
      ),
  },
  {
    name: '2.7 `items`: every page with text has blocks',
    run: async (product) => assert.ok((await blocksOf(product)).pages.every((one) => one.items.length > 0)),
  },
  {
    name: '2.7 `id`: `p<page>.b<index in reading order>`, unique',
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
    name: '2.7 `id` is stable: the same request gives the same ids',
    run: async (product) =>
      assert.deepEqual(
        (await blocksOf(product)).items.map((item) => item.id),
        (await blocksOf(product)).items.map((item) => item.id),
      ),
  },
  {
    name: '2.7 `type`: known types; a large first line is a title or header, a ruled grid a table, a sentence text',
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
    name: '2.7 `label`: string or null on every block',
    run: async (product) => {
      for (const item of (await blocksOf(product)).items)
        assert.ok(item.label === null || typeof item.label === 'string');
    },
  },
  {
    name: '2.7 `content`: Markdown fragments, a table as a pipe table',
    run: async (product) => {
      const { items } = await blocksOf(product);
      assert.match(items.find((item) => item.type === 'table')?.content ?? '', /\| *Petrel *\| *42 *\|/);
      assert.match(items.find((item) => item.content.includes('Harbour log'))?.content ?? '', /^#+ Harbour log/);
    },
  },
  {
    name: '2.7 `bbox`: four numbers from 0 to 1 in order, and where the words are',
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
    name: '2.7 `readingOrder`: integers that rise through each page',
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
    name: '2.7 `markdownSpan`: [start, end) cuts exactly the content out of the document Markdown',
    run: async (product) => {
      const { items, markdown } = await blocksOf(product);
      assert.ok(items.some((item) => item.markdownSpan));
      for (const item of items)
        if (item.markdownSpan) assert.equal(markdown.slice(...item.markdownSpan), item.content, item.id);
    },
  },
  {
    name: '2.7 `markdownSpan` with page markers between the pages',
    run: async (product) => {
      const { items, markdown } = await blocksOf(product, { pageMarkers: true });
      assert.match(markdown, /<!-- page 2 -->/);
      for (const item of items)
        if (item.markdownSpan) assert.equal(markdown.slice(...item.markdownSpan), item.content, item.id);
    },
  },
  {
    name: 'DECISIONS `markdownSpan` counts UTF-16 units of the final Markdown, after redaction',
    run: async (product) => {
      const file = await pdf([
        { title: 'Crew', lines: ['Write to anna.keller@example.com today.', 'The last line is untouched.'] },
      ]);
      const data = await parsed(product, {
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
    name: '2.7 `source`: the path that made the block, native_text for a text layer',
    run: async (product) =>
      assert.ok(
        (await blocksOf(product)).items.every(
          (item) => item.source === 'native_text' || item.source === null || item.source.length > 0,
        ),
      ),
  },
  {
    name: '2.7 `confidence`: layout and ocr are numbers from 0 to 1 or null; ocr null for a text layer',
    run: async (product) => {
      for (const { confidence } of (await blocksOf(product)).items) {
        assert.ok(confidence.layout === null || (confidence.layout >= 0 && confidence.layout <= 1));
        assert.equal(confidence.ocr, null);
      }
    },
  },
  {
    name: '2.7 blocks are there without the markdown format too',
    run: async (product) => {
      const data = await log(product, { blocks: true }, { formats: ['links'] });
      assert.equal(data.blocks?.length, 3);
      assert.equal(data.markdown, undefined);
    },
  },
  {
    name: '2.7 every word of the Markdown belongs to a block',
    run: async (product) => {
      const { items } = await blocksOf(product);
      const text = items.map((item) => item.content).join('\n');
      for (const words of [...SENTENCES, 'Harbour log', 'Closing', 'Petrel']) assert.ok(text.includes(words), words);
    },
  },
  {
    name: '2.7 blocks of an OCR page: confidence.ocr is there, spans exact',
    run: async (product) => {
      const data = await scan(product, 'auto', { blocks: true });
      const items = data.blocks?.flatMap((one) => one.items) ?? [];
      assert.ok(items.some((item) => item.content.includes('herons') && typeof item.confidence.ocr === 'number'));
      for (const item of items)
        if (item.markdownSpan) assert.equal((data.markdown ?? '').slice(...item.markdownSpan), item.content);
      assert.ok(data.markdown?.includes(CONTENT.title));
    },
  },
  {
    name: '2.7 `status`: a page that OCR reads at very low confidence is `partial` and named in `warning`; the others are `ok`',
    run: async (product) => {
      const lines = ['The keeper counts herons before the evening storm', 'and writes careful notes about every boat.'];
      const data = await parsed(product, {
        file: await scanOf([lines, lines], 150, [1]),
        fileName: 'mirrored-page.pdf',
        options: { timeout: 120_000, parsers: [{ type: 'pdf', blocks: true }] },
        patienceMs: 130_000,
      });
      assert.deepEqual(
        data.blocks?.map(({ pageNumber, status }) => [pageNumber, status]),
        [
          [1, 'ok'],
          [2, 'partial'],
        ],
      );
      const sureness = data.blocks?.map(({ items }) => Math.max(...items.map((item) => item.confidence.ocr ?? 0)));
      assert.ok((sureness?.[0] ?? 0) > 0.8 && (sureness?.[1] ?? 1) < 0.7, String(sureness));
      assert.match(data.markdown ?? '', /counts herons before/);
      assert.match(data.warning ?? '', /\bpage 2 was hard to read by OCR\b/);
      assert.doesNotMatch(data.warning ?? '', /\bpage 1\b/);
    },
  },
];
