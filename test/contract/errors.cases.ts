// Checks the error format and each status (docs/api.md, "Errors"), and docs/api.md, "Order of checks".
import assert from 'node:assert/strict';
import { EXTENSIONS, formatByExtension } from '#shared/contract/formats.ts';
import { errorBody, parse, send } from '../harness/client.ts';
import { packageWithoutMainPart, zip } from '../harness/documents.ts';
import { type ContractCase, expectError, expectServing, SMALL_CSV } from './contract-case.ts';
import { readPdfFixture } from './pdf-documents.ts';

const shape: ContractCase[] = [
  {
    name: 'every error is JSON with only `success`, `error`, `code` and `details`, and has an X-Request-Id header',
    run: async (product) => {
      for (const answer of [
        await send(product),
        await send(product, { key: null }),
        await send(product, { method: 'GET' }),
        await send(product, { path: '/nothing' }),
      ]) {
        const body = errorBody(answer, answer.status);
        assert.deepEqual(
          Object.keys(body)
            .filter((key) => key !== 'details')
            .sort(),
          ['code', 'error', 'success'],
        );
      }
    },
  },
  {
    name: '`details` of a validation error has `path`, `message` and `code` for each field',
    run: async (product) => {
      const { details = [] } = await expectError(
        product,
        { ...SMALL_CSV, options: { timeout: 'x' } },
        400,
        'BAD_REQUEST',
      );
      assert.equal(details[0]?.path, 'timeout');
      assert.ok((details[0]?.message ?? '').length > 3 && (details[0]?.code ?? '').length > 0);
    },
  },
  {
    name: 'X-Request-Id is different for each request',
    run: async (product) => {
      const ids = await Promise.all(
        [1, 2, 3].map(async () => (await send(product, { key: null })).headers['x-request-id']),
      );
      assert.equal(new Set(ids).size, 3);
    },
  },
  {
    name: 'returns 400 BAD_REQUEST with "multipart form-data request" in the message for a text/plain body',
    run: async (product) =>
      assert.match(
        errorBody(await send(product, { body: 'x', headers: { 'content-type': 'text/plain' } }), 400, 'BAD_REQUEST')
          .error,
        /multipart form-data request/i,
      ),
  },
  {
    name: '`details` of a 400 has the path of the invalid field',
    run: async (product) =>
      assert.equal(
        (await expectError(product, { ...SMALL_CSV, options: { proxy: 'stealth' } }, 400, 'BAD_REQUEST')).details?.[0]
          ?.path,
        'proxy',
      ),
  },
  {
    name: 'returns 404 `Not Found` for an unknown path',
    run: async (product) =>
      assert.equal(
        errorBody(await send(product, { method: 'GET', path: '/v2/nothing' }), 404, 'NOT_FOUND').error,
        'Not Found',
      ),
  },
  {
    name: 'returns 405 for the methods PROPFIND and TRACE',
    run: async (product) => {
      for (const method of ['PROPFIND', 'TRACE']) errorBody(await send(product, { method }), 405, 'METHOD_NOT_ALLOWED');
    },
  },
  {
    name: 'returns 408 `Request Timeout` when parsing takes longer than `timeout`, and keeps serving',
    run: async (product) => {
      const request = {
        file: await readPdfFixture('scanned-harbour-report.pdf'),
        fileName: 'scan.pdf',
        options: { timeout: 20, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      };
      // The first request starts the worker, so that the timeout of the second one ends its work, not its start.
      await expectError(product, { ...request, file: '%PDF-1.7\nbroken', options: {} }, 422);
      assert.match((await expectError(product, request, 408, 'REQUEST_TIMEOUT')).error, /^Request Timeout/);
      await expectServing(product);
    },
  },
  ...([{ type: 'nothing' }, { type: 'object', properties: 7 }] as const).map(
    (schema): ContractCase => ({
      name: `returns 422 SCHEMA_INVALID for an invalid JSON Schema (${JSON.stringify(schema)})`,
      run: async (product) =>
        void (await expectError(
          product,
          { ...SMALL_CSV, options: { formats: [{ type: 'json', schema }] } },
          422,
          'SCHEMA_INVALID',
        )),
    }),
  ),
  ...(
    [
      ['a list of 19,000 objects', { enum: Array.from({ length: 19_000 }, (_, a) => ({ a })) }, /1000 items/],
      ['more parts than the limit', { enum: Array.from({ length: 900 }, () => Array(20).fill(0)) }, /10000 objects/],
      ['a long pattern', { pattern: 'a'.repeat(1_001) }, /1000 characters/],
    ] as const
  ).map(
    ([name, schema, limit]): ContractCase => ({
      name: `returns 422 SCHEMA_INVALID, with the limit, for a JSON Schema with ${name}`,
      run: async (product) => {
        const $schema = 'http://json-schema.org/draft-07/schema#';
        const options = { formats: [{ type: 'json', schema: { $schema, ...schema } }] };
        assert.match((await expectError(product, { ...SMALL_CSV, options }, 422, 'SCHEMA_INVALID')).error, limit);
        await expectServing(product);
      },
    }),
  ),
  {
    name: 'returns 200, 400 or 422, never 500, for random bytes after the correct magic bytes of each format',
    run: async (product) => {
      const noise = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251));
      const zipNoise = Buffer.from(
        zip([
          { name: '[Content_Types].xml', content: noise },
          { name: 'word/document.xml', content: noise },
          { name: 'xl/workbook.xml', content: noise },
          { name: 'ppt/presentation.xml', content: noise },
        ]),
      );
      const magic: Record<string, Buffer> = {
        '.pdf': Buffer.from('%PDF-1.4\n'),
        '.rtf': Buffer.from('{\\rtf1 '),
        '.doc': Buffer.from('d0cf11e0a1b11ae1', 'hex'),
        '.xls': Buffer.from('d0cf11e0a1b11ae1', 'hex'),
        '.ppt': Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      };
      for (const extension of EXTENSIONS) {
        const file = magic[extension]
          ? Buffer.concat([magic[extension], noise])
          : ['text', 'markup'].includes(formatByExtension(extension)?.container ?? '')
            ? noise
            : zipNoise;
        const answer = await parse(product, { file, fileName: `noise${extension}` });
        assert.ok([200, 400, 422].includes(answer.status), `${extension}: ${answer.text.slice(0, 300)}`);
        if (answer.status !== 200) errorBody(answer, answer.status);
      }
      await expectServing(product);
    },
  },
];

const documents: ContractCase[] = [
  {
    name: 'returns 422 DOCUMENT_CORRUPT for packages without their main part',
    run: async (product) => {
      for (const [extension, main] of [
        ['.docx', 'word/document.xml'],
        ['.xlsx', 'xl/workbook.xml'],
        ['.pptx', 'ppt/presentation.xml'],
      ] as const)
        await expectError(
          product,
          { file: packageWithoutMainPart(main), fileName: `no-main-part${extension}` },
          422,
          'DOCUMENT_CORRUPT',
        );
      for (const [extension, mime] of [
        ['.odt', 'application/vnd.oasis.opendocument.text'],
        ['.epub', 'application/epub+zip'],
      ] as const) {
        await expectError(
          product,
          { file: zip([{ name: 'mimetype', content: mime }]), fileName: `no-main-part${extension}` },
          422,
          'DOCUMENT_CORRUPT',
        );
      }
      await expectServing(product);
    },
  },
];

const order: ContractCase[] = [
  {
    name: 'returns 401 before the body is checked',
    run: async (product) =>
      void errorBody(await send(product, { key: 'fc-unknown-key-000', body: 'not multipart' }), 401),
  },
  {
    name: 'returns 403 before credits, rate and body are checked',
    run: async (product) => {
      const key = await product.createKey('--allow', 'audit', '--credits', '0', '--rate', '1');
      for (let attempt = 0; attempt < 3; attempt++)
        errorBody(await send(product, { key, body: 'not multipart' }), 403, 'FORBIDDEN');
    },
  },
  {
    name: 'returns 402 before rate and body are checked',
    run: async (product) => {
      const key = await product.createKey('--credits', '0', '--rate', '1');
      for (let attempt = 0; attempt < 3; attempt++)
        errorBody(await send(product, { key, body: 'not multipart' }), 402, 'PAYMENT_REQUIRED');
    },
  },
  {
    name: 'returns 429 before the body is checked',
    run: async (product) => {
      const key = await product.createKey('--rate', '1');
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 4; attempt++)
        statuses.push((await send(product, { key, body: 'not multipart' })).status);
      assert.equal(statuses[0], 400);
      assert.equal(statuses.at(-1), 429);
    },
  },
];

export const cases: ContractCase[] = [...shape, ...documents, ...order];
