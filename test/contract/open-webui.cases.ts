// Checks PUT /process, which Open WebUI calls as its external document loader (docs/api.md, "Open WebUI").
import assert from 'node:assert/strict';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type Answer, errorBody, send } from '../harness/client.ts';
import { pdf, sample } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, expectServing, expectSuccess, SMALL_CSV } from './contract-case.ts';

interface LoadedDocument {
  page_content: string;
  metadata: Record<string, unknown>;
}

interface Put {
  body: Uint8Array | string | AsyncIterable<Uint8Array>;
  fileName?: string;
  headers?: Record<string, string>;
  key?: string | null;
}

const put = (product: Product, { body, fileName, headers, key }: Put): Promise<Answer> =>
  send(product, {
    method: 'PUT',
    path: '/process',
    body,
    headers: { ...(fileName === undefined ? {} : { 'x-filename': encodeURIComponent(fileName) }), ...headers },
    ...(key === undefined ? {} : { key }),
  });

async function documents(product: Product, request: Put): Promise<LoadedDocument[]> {
  const answer = await put(product, request);
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  return [answer.body].flat() as LoadedDocument[];
}

const PAGES = [
  { title: 'One', lines: ['Write to anna@example.com.'] },
  { title: 'Two', lines: ['The end.'] },
];

export const cases: ContractCase[] = [
  {
    name: '`PUT /process` returns one document with the Markdown of `/v2/parse` for a file without pages',
    run: async (product) => {
      for (const extension of ['.csv', '.docx', '.html'] as const) {
        const { bytes, fileName } = await sample(extension);
        const expected = await expectSuccess(product, { file: bytes, fileName });
        const answer = await put(product, { body: bytes, fileName });
        assert.equal(answer.status, 200, answer.text);
        const document = answer.body as LoadedDocument;
        assert.equal(document.page_content, expected.markdown);
        assert.equal(document.metadata.source, fileName);
        assert.equal(document.metadata.contentType, expected.metadata.contentType);
        assert.equal(document.metadata.requestId, answer.headers['x-request-id']);
      }
    },
  },
  {
    name: '`PUT /process` returns one document with its page number for each page of a PDF',
    run: async (product) => {
      const body = await pdf(PAGES);
      const expected = await expectSuccess(product, {
        file: body,
        fileName: 'report.pdf',
        options: { parsers: [{ type: 'pdf', pages: true }] },
      });
      const loaded = await documents(product, { body, fileName: 'report.pdf' });
      assert.deepEqual(
        loaded.map(({ page_content }) => page_content),
        expected.pages?.map(({ markdown }) => markdown),
      );
      assert.deepEqual(
        loaded.map(({ metadata }) => [metadata.page, metadata.page_label, metadata.total_pages, metadata.source]),
        [
          [0, '1', 2, 'report.pdf'],
          [1, '2', 2, 'report.pdf'],
        ],
      );
    },
  },
  {
    name: '`PUT /process` returns one document for the page of an image',
    run: async (product) => {
      const { bytes, fileName } = await sample('.png');
      const loaded = await documents(product, { body: bytes, fileName });
      assert.equal(loaded.length, 1);
      assert.match(loaded[0]?.page_content ?? '', /seventeen herons/);
      assert.deepEqual([loaded[0]?.metadata.page, loaded[0]?.metadata.contentType], [0, 'image/png']);
    },
  },
  {
    name: '`PUT /process` reads the percent-encoded `X-Filename`, and the Content-Type if there is none',
    run: async (product) => {
      const [named] = await documents(product, { body: SMALL_CSV.file, fileName: 'Größe 文件.csv' });
      assert.equal(named?.metadata.source, 'Größe 文件.csv');
      const [unnamed] = await documents(product, { body: SMALL_CSV.file, headers: { 'content-type': 'text/csv' } });
      assert.equal(unnamed?.metadata.source, 'document.csv');
      assert.match(unnamed?.page_content ?? '', /seventeen herons/);
    },
  },
  {
    name: '`PUT /process` reads options from `X-Parse-Options`, for example redaction',
    run: async (product) => {
      const loaded = await documents(product, {
        body: await pdf(PAGES),
        fileName: 'report.pdf',
        headers: { 'x-parse-options': JSON.stringify({ redactPII: true }) },
      });
      assert.match(loaded[0]?.page_content ?? '', /<EMAIL>/);
      assert.doesNotMatch(JSON.stringify(loaded), /anna@/);
      const refused = await put(product, {
        body: SMALL_CSV.file,
        fileName: 'boats.csv',
        headers: { 'x-parse-options': '{"formats":["html"]}' },
      });
      assert.match(errorBody(refused, 400, 'BAD_REQUEST').error, /Markdown only/);
    },
  },
  {
    name: '`PUT /process` returns the errors of `/v2/parse`: 400, 401, 413, 422',
    run: async (product) => {
      errorBody(await put(product, { body: 'x', fileName: 'a.exe' }), 400, 'UNSUPPORTED_FILE_TYPE');
      errorBody(await put(product, { body: 'a,b', fileName: 'a.csv', key: null }), 401, 'UNAUTHORIZED');
      errorBody(await put(product, { body: '%PDF-1.7\nbroken', fileName: 'a.pdf' }), 422, 'DOCUMENT_CORRUPT');
      const block = Buffer.alloc(1024 * 1024, 'a,b\n');
      const tooLarge = async function* () {
        for (let sent = 0; sent <= REQUEST_LIMITS.fileBytes; sent += block.length) yield block;
      };
      errorBody(await put(product, { body: tooLarge(), fileName: 'a.csv' }), 413, 'PAYLOAD_TOO_LARGE');
      await expectServing(product);
    },
  },
  {
    name: '`PUT /process` charges the credits of the key: 402 when they are used up',
    run: async (product) => {
      const key = await product.createKey('--credits', '3');
      const [document] = await documents(product, { body: await pdf(PAGES), fileName: 'a.pdf', key });
      assert.equal(document?.metadata.creditsUsed, 3);
      errorBody(await put(product, { body: 'a,b', fileName: 'a.csv', key }), 402, 'PAYMENT_REQUIRED');
    },
  },
  {
    name: 'another method on `/process` returns 405 and names PUT',
    run: async (product) => {
      const answer = await send(product, { method: 'POST', path: '/process', body: 'x' });
      errorBody(answer, 405, 'METHOD_NOT_ALLOWED');
      assert.equal(answer.headers.allow, 'PUT');
    },
  },
];
