// SPEC 7 and DECISIONS "Errors": the shape of every error, what each status means, and the order of the checks.
import assert from 'node:assert/strict';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { errorBody, parse, send } from '../harness/client.ts';
import { hollowPackage, zip } from '../harness/documents.ts';
import { fixture } from './pdf-log.ts';
import { goesOn, type Row, refused, SMALL_CSV } from './row.ts';

const shape: Row[] = [
  {
    name: '7.1 every non-2xx is JSON: success false, error, code, nothing else; X-Request-Id in the header',
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
    name: '7.1 `details`: structured per-field validation errors with path, message and code',
    run: async (product) => {
      const { details = [] } = await refused(product, { ...SMALL_CSV, options: { timeout: 'x' } }, 400, 'BAD_REQUEST');
      assert.equal(details[0]?.path, 'timeout');
      assert.ok((details[0]?.message ?? '').length > 3 && (details[0]?.code ?? '').length > 0);
    },
  },
  {
    name: 'X-Request-Id: another one for every request',
    run: async (product) => {
      const ids = await Promise.all(
        [1, 2, 3].map(async () => (await send(product, { key: null })).headers['x-request-id']),
      );
      assert.equal(new Set(ids).size, 3);
    },
  },
  {
    name: '7.2 400: `success` false, `code` BAD_REQUEST, the message of an invalid multipart body says so',
    run: async (product) =>
      assert.match(
        errorBody(await send(product, { body: 'x', headers: { 'content-type': 'text/plain' } }), 400, 'BAD_REQUEST')
          .error,
        /multipart form-data request/i,
      ),
  },
  {
    name: '7.3 400 validation: details name the field',
    run: async (product) =>
      assert.equal(
        (await refused(product, { ...SMALL_CSV, options: { proxy: 'stealth' } }, 400, 'BAD_REQUEST')).details?.[0]
          ?.path,
        'proxy',
      ),
  },
  {
    name: '7.3 404 `Not Found`',
    run: async (product) =>
      assert.equal(
        errorBody(await send(product, { method: 'GET', path: '/v2/nothing' }), 404, 'NOT_FOUND').error,
        'Not Found',
      ),
  },
  {
    name: '7.3 405 for an unknown method word and an unusual one',
    run: async (product) => {
      for (const method of ['PROPFIND', 'TRACE']) errorBody(await send(product, { method }), 405, 'METHOD_NOT_ALLOWED');
    },
  },
  {
    name: '7.3 408 `Request Timeout`: the page took longer than the request timeout; the server goes on',
    run: async (product) => {
      const request = {
        file: await fixture('scanned-harbour-report.pdf'),
        fileName: 'scan.pdf',
        options: { timeout: 20, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      };
      // The worker is up; what is measured is its work, not its start.
      await refused(product, { ...request, file: '%PDF-1.7\nbroken', options: { timeout: 60_000 } }, 422);
      const started = performance.now();
      assert.match((await refused(product, request, 408, 'REQUEST_TIMEOUT')).error, /^Request Timeout/);
      assert.ok(performance.now() - started < 5_000, 'the answer comes soon after the deadline');
      await goesOn(product);
    },
  },
  ...([{ type: 'nothing' }, { type: 'object', properties: 7 }] as const).map(
    (schema): Row => ({
      name: `7.3 422: a schema that is not valid JSON Schema (${JSON.stringify(schema)})`,
      run: async (product) =>
        void (await refused(
          product,
          { ...SMALL_CSV, options: { formats: [{ type: 'json', schema }] } },
          422,
          'SCHEMA_INVALID',
        )),
    }),
  ),
  {
    name: '7.3 422 for every kind: a document of noise behind the right magic bytes is never a 500',
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
          : /html?$|csv$/.test(extension)
            ? noise
            : zipNoise;
        const answer = await parse(product, { file, fileName: `noise${extension}` });
        assert.ok([200, 400, 422].includes(answer.status), `${extension}: ${answer.text.slice(0, 300)}`);
        if (answer.status !== 200) errorBody(answer, answer.status);
      }
      await goesOn(product);
    },
  },
];

const documents: Row[] = [
  {
    name: 'DECISIONS corrupt or empty-inside documents: 422 DOCUMENT_CORRUPT, never 500',
    run: async (product) => {
      for (const [extension, main] of [
        ['.docx', 'word/document.xml'],
        ['.xlsx', 'xl/workbook.xml'],
        ['.pptx', 'ppt/presentation.xml'],
      ] as const)
        await refused(product, { file: hollowPackage(main), fileName: `hollow${extension}` }, 422, 'DOCUMENT_CORRUPT');
      for (const [extension, mime] of [
        ['.odt', 'application/vnd.oasis.opendocument.text'],
        ['.epub', 'application/epub+zip'],
      ] as const) {
        await refused(
          product,
          { file: zip([{ name: 'mimetype', content: mime }]), fileName: `hollow${extension}` },
          422,
          'DOCUMENT_CORRUPT',
        );
      }
      await goesOn(product);
    },
  },
];

const order: Row[] = [
  {
    name: 'DECISIONS order: 401 before the body is looked at',
    run: async (product) =>
      void errorBody(await send(product, { key: 'fc-unknown-key-000', body: 'not multipart' }), 401),
  },
  {
    name: 'DECISIONS order: 403 before credits, rate and the body',
    run: async (product) => {
      const key = await product.createKey('--allow', 'audit', '--credits', '0', '--rate', '1');
      for (let attempt = 0; attempt < 3; attempt++)
        errorBody(await send(product, { key, body: 'not multipart' }), 403, 'FORBIDDEN');
    },
  },
  {
    name: 'DECISIONS order: 402 before rate and the body',
    run: async (product) => {
      const key = await product.createKey('--credits', '0', '--rate', '1');
      for (let attempt = 0; attempt < 3; attempt++)
        errorBody(await send(product, { key, body: 'not multipart' }), 402, 'PAYMENT_REQUIRED');
    },
  },
  {
    name: 'DECISIONS order: 429 before the body',
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

export const rows: Row[] = [...shape, ...documents, ...order];
