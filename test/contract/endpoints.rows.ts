// SPEC 4, 5 and 9: the endpoint with its 20 extensions, the endpoints that do not exist here, keys, and the version in the path.
import assert from 'node:assert/strict';
import { EXTENSIONS, formatByExtension } from '#shared/contract/formats.ts';
import { errorBody, parse, send, sendRaw } from '../harness/client.ts';
import { sample, TABLE_WORDS, WITHOUT_TABLE, WORDS } from '../harness/documents.ts';
import { goesOn, parsed, pause, type Row, refused, SMALL_CSV } from './row.ts';

const extensions = EXTENSIONS.map(
  (extension): Row => ({
    name: `4.1 \`${extension}\`: 200, its words and table in the Markdown, its MIME type in the metadata`,
    run: async (product) => {
      const { bytes, fileName } = await sample(extension);
      const data = await parsed(product, { file: bytes, fileName });
      for (const words of WORDS) assert.ok(data.markdown?.includes(words), `${words}\n${data.markdown}`);
      if (!WITHOUT_TABLE.has(extension)) {
        for (const words of TABLE_WORDS) assert.ok(data.markdown?.includes(words), `${words}\n${data.markdown}`);
        assert.match(data.markdown ?? '', /\| *Petrel *\| *42 *\|/);
      }
      assert.equal(data.metadata.contentType, formatByExtension(extension)?.mimeTypes[0]);
      assert.equal(data.metadata.url, fileName);
    },
  }),
);

const byContentType = EXTENSIONS.filter((extension) => extension !== '.htm').map(
  (extension): Row => ({
    name: `4.1 \`${extension}\` by its MIME type alone, without an extension`,
    run: async (product) => {
      const { bytes } = await sample(extension);
      const data = await parsed(product, {
        file: bytes,
        fileName: 'harbour-report',
        contentType: formatByExtension(extension)?.mimeTypes[0],
      });
      assert.match(data.markdown ?? '', /seventeen herons/);
    },
  }),
);

const METHODS = ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;
const OTHERS = [
  '/v2/scrape',
  '/v2/search',
  '/v2/crawl',
  '/v2/map',
  '/v2/agent',
  '/v2/batch/scrape',
  '/v2/monitor',
  '/v2/interact',
  '/v2/extract',
] as const;
const OTHER_VERSIONS = [
  '/v1/parse',
  '/v3/parse',
  '/parse',
  '/v2',
  '/',
  '/v2/parse/extra',
  '/V2/PARSE',
  '/v2//parse',
  '/..%2f..%2fetc/passwd',
] as const;

const endpoints: Row[] = [
  ...METHODS.map(
    (method): Row => ({
      name: `4.1 and DECISIONS \`${method} /v2/parse\`: 405 with Allow`,
      run: async (product) => {
        const answer = await send(product, { method });
        errorBody(answer, 405, 'METHOD_NOT_ALLOWED');
        assert.match(String(answer.headers.allow), /\bPOST\b/);
      },
    }),
  ),
  {
    name: '405 with Allow for a known path of GET alone',
    run: async (product) => {
      const answer = await send(product, { path: '/openapi.json' });
      errorBody(answer, 405, 'METHOD_NOT_ALLOWED');
      assert.match(String(answer.headers.allow), /\bGET\b/);
    },
  },
  ...OTHERS.map(
    (path): Row => ({
      name: `4.2 \`POST ${path}\` is another operation of the provider: 404 here, as JSON`,
      run: async (product) => {
        errorBody(
          await send(product, {
            path,
            body: '{"url":"https://example.com"}',
            headers: { 'content-type': 'application/json' },
          }),
          404,
          'NOT_FOUND',
        );
      },
    }),
  ),
  {
    name: '4.2 and 7.4 `GET /v2/agent/{jobId}`: 404, as JSON',
    run: async (product) =>
      void errorBody(await send(product, { method: 'GET', path: '/v2/agent/not-a-uuid' }), 404, 'NOT_FOUND'),
  },
  ...OTHER_VERSIONS.map(
    (path): Row => ({
      name: `9 the version is the path prefix: \`${path}\` is 404, as JSON`,
      run: async (product) => void errorBody(await send(product, { path }), 404, 'NOT_FOUND'),
    }),
  ),
  {
    name: '9 an unknown path is 404 without a key too',
    run: async (product) => {
      const { status } = await send(product, { path: '/v1/parse', key: null });
      assert.ok(status === 404 || status === 401);
    },
  },
  {
    name: '4.1 a query string on the path changes nothing',
    run: async (product) => {
      const { body, contentType } = (await import('../harness/client.ts')).multipart([
        { name: 'file', body: SMALL_CSV.file, fileName: SMALL_CSV.fileName },
      ]);
      const answer = await send(product, {
        path: '/v2/parse?origin=test',
        body,
        headers: { 'content-type': contentType },
      });
      assert.equal(answer.status, 200, answer.text);
    },
  },
  {
    name: '4.1 `Expect: 100-continue` is honoured',
    run: async (product) => {
      const text = await sendRaw(
        product,
        `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n`,
        500,
      );
      assert.match(text, /^HTTP\/1\.1 (100|400) /);
      await goesOn(product);
    },
  },
];

const UNAUTHORIZED: readonly (readonly [name: string, header: string | undefined])[] = [
  ['missing', undefined],
  ['empty', ''],
  ['the scheme alone', 'Bearer'],
  ['the scheme and a blank', 'Bearer '],
  ['a wrong scheme (Basic)', 'Basic dXNlcjpwYXNz'],
  ['the key without a scheme', 'KEY'],
  ['an unknown key', 'Bearer fc-0000000000000000'],
  ['two keys', 'Bearer KEY KEY'],
  ['a key of 100 KB... cut to what a header may hold', `Bearer ${'x'.repeat(8_000)}`],
  ['a key that is a prefix of a real one', 'Bearer PREFIX'],
  ['a key with other case', 'Bearer UPPER'],
  ['a name of Object.prototype', 'Bearer __proto__'],
];

const auth: Row[] = [
  {
    name: '5.1 `Authorization: Bearer <API_KEY>` opens',
    run: (product) => goesOn(product),
  },
  ...UNAUTHORIZED.map(
    ([name, header]): Row => ({
      name: `5.4 and 7.3 401 \`Unauthorized: Invalid token\`: key ${name}`,
      run: async (product) => {
        const value = header
          ?.replace('KEY KEY', `${product.key} ${product.key}`)
          .replace(/^KEY$/, product.key)
          .replace('PREFIX', product.key.slice(0, -1))
          .replace('UPPER', product.key.toUpperCase());
        const answer = await parse(product, {
          ...SMALL_CSV,
          key: null,
          ...(value === undefined ? {} : { headers: { authorization: value } }),
        });
        assert.equal(errorBody(answer, 401, 'UNAUTHORIZED').error, 'Unauthorized: Invalid token');
      },
    }),
  ),
  {
    name: '5.1 a key in the query or another header does not open',
    run: async (product) => {
      errorBody(
        await send(product, {
          path: `/v2/parse?api_key=${product.key}`,
          key: null,
          headers: { 'x-api-key': product.key },
        }),
        401,
        'UNAUTHORIZED',
      );
    },
  },
  {
    name: '5.4 and DECISIONS a created key opens; revoked, it stops working within a second',
    run: async (product) => {
      const key = await product.createKey();
      await parsed(product, { ...SMALL_CSV, key });
      await product.revokeKey(key);
      const revokedAt = performance.now();
      while ((await send(product, { key })).status !== 401) {
        assert.ok(performance.now() - revokedAt < 1_000, 'a revoked key still works after a second');
        await pause(20);
      }
      await refused(product, { ...SMALL_CSV, key }, 401, 'UNAUTHORIZED');
      await goesOn(product);
    },
  },
  {
    name: '5.4 a key without permission for the endpoint: 403',
    run: async (product) => {
      const key = await product.createKey('--allow', 'audit');
      assert.match((await refused(product, { ...SMALL_CSV, key }, 403, 'FORBIDDEN')).error, /^Forbidden/);
    },
  },
  {
    name: '5.4 and DECISIONS zeroDataRetention without permission: 403; the same key parses without it',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse');
      await refused(product, { ...SMALL_CSV, key, options: { zeroDataRetention: true } }, 403, 'FORBIDDEN');
      await parsed(product, { ...SMALL_CSV, key, options: { zeroDataRetention: false } });
    },
  },
  {
    name: '2.2 zeroDataRetention with permission: 200, and nothing of it in the logs',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse,zdr');
      const data = await parsed(product, {
        file: 'name\nxylophone-4711\n',
        fileName: 'secret.csv',
        key,
        options: { zeroDataRetention: true },
      });
      assert.match(data.markdown ?? '', /xylophone-4711/);
      assert.doesNotMatch(product.output(), /xylophone-4711/);
    },
  },
  {
    name: '2.2 auditMetadata on a key without audit events is accepted',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse');
      await parsed(product, { ...SMALL_CSV, key, options: { auditMetadata: { username: 'ana' } } });
    },
  },
  {
    name: 'no key and no content of a document stands in the logs',
    alone: 'last',
    run: async (product) => {
      await goesOn(product);
      assert.ok(
        !product
          .output()
          .replace(/curl .*/g, '')
          .replace(/New API key.*/g, '')
          .includes(product.key),
      );
      assert.doesNotMatch(product.output(), /seventeen herons/);
    },
  },
];

export const rows: Row[] = [...extensions, ...byContentType, ...endpoints, ...auth];
