// Checks every file extension and every path (docs/api.md, "Endpoints" and docs/api.md, "Versioning") and the keys (docs/api.md, "Authentication").
import assert from 'node:assert/strict';
import { EXTENSIONS, FORMATS, formatByExtension } from '#shared/contract/formats.ts';
import { errorBody, multipart, parse, send, sendRaw } from '../harness/client.ts';
import { sample, TABLE_WORDS, WITHOUT_TABLE, WORDS } from '../harness/documents.ts';
import { type ContractCase, expectError, expectServing, expectSuccess, pause, SMALL_CSV } from './contract-case.ts';

const extensions = EXTENSIONS.map(
  (extension): ContractCase => ({
    name: `parses \`${extension}\`: the Markdown has its text and table, the metadata its MIME type`,
    run: async (product) => {
      const { bytes, fileName } = await sample(extension);
      const data = await expectSuccess(product, { file: bytes, fileName });
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
  (extension): ContractCase => ({
    name: `parses \`${extension}\` content when the file name has no extension and the part has its MIME type`,
    run: async (product) => {
      const { bytes } = await sample(extension);
      const data = await expectSuccess(product, {
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

  '/v2/parse/extra',
  '/V2/PARSE',
  '/v2//parse',
  '/..%2f..%2fetc/passwd',
] as const;

const endpoints: ContractCase[] = [
  {
    name: '`GET /v2/parse/formats` lists every extension with its kind, `document` or `image`',
    run: async (product) => {
      const answer = await send(product, { method: 'GET', path: '/v2/parse/formats' });
      assert.equal(answer.status, 200, answer.text);
      const { data } = JSON.parse(answer.text) as { data: { formats: { kind: string; extensions: string[] }[] } };
      assert.deepEqual(
        data.formats
          .flatMap(({ kind, extensions: listed }) => listed.map((extension) => `${extension} ${kind}`))
          .sort(),
        FORMATS.map(({ extension, kind }) => `${extension} ${kind}`).sort(),
      );
    },
  },
  ...METHODS.map(
    (method): ContractCase => ({
      name: `returns 405 with an Allow header for \`${method} /v2/parse\``,
      run: async (product) => {
        const answer = await send(product, { method });
        errorBody(answer, 405, 'METHOD_NOT_ALLOWED');
        assert.match(String(answer.headers.allow), /\bPOST\b/);
      },
    }),
  ),
  {
    name: 'returns 405 with an Allow header for POST to `/openapi.json`',
    run: async (product) => {
      const answer = await send(product, { path: '/openapi.json' });
      errorBody(answer, 405, 'METHOD_NOT_ALLOWED');
      assert.match(String(answer.headers.allow), /\bGET\b/);
    },
  },
  ...OTHERS.map(
    (path): ContractCase => ({
      name: `returns a JSON 404 for \`POST ${path}\`, a Firecrawl operation that Parsemesh does not have`,
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
    name: 'returns a JSON 404 for `GET /v2/agent/{jobId}`',
    run: async (product) =>
      void errorBody(await send(product, { method: 'GET', path: '/v2/agent/not-a-uuid' }), 404, 'NOT_FOUND'),
  },
  ...OTHER_VERSIONS.map(
    (path): ContractCase => ({
      name: `returns a JSON 404 for the unknown path \`${path}\``,
      run: async (product) => void errorBody(await send(product, { path }), 404, 'NOT_FOUND'),
    }),
  ),
  {
    name: 'returns 404 or 401 for an unknown path without a key',
    run: async (product) => {
      const { status } = await send(product, { path: '/v1/parse', key: null });
      assert.ok(status === 404 || status === 401);
    },
  },
  {
    name: 'ignores the query string of the path',
    run: async (product) => {
      const { body, contentType } = multipart([{ name: 'file', body: SMALL_CSV.file, fileName: SMALL_CSV.fileName }]);
      const answer = await send(product, {
        path: '/v2/parse?origin=test',
        body,
        headers: { 'content-type': contentType },
      });
      assert.equal(answer.status, 200, answer.text);
    },
  },
  {
    name: 'answers `Expect: 100-continue` with 100, or with 400 for the invalid body',
    run: async (product) => {
      const text = await sendRaw(
        product,
        `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n`,
        { until: /\r\n\r\n/ },
      );
      assert.match(text, /^HTTP\/1\.1 (100|400) /);
      await expectServing(product);
    },
  },
];

const UNAUTHORIZED: readonly (readonly [name: string, header: string | undefined])[] = [
  ['a missing Authorization header', undefined],
  ['an empty Authorization header', ''],
  ['the scheme alone', 'Bearer'],
  ['the scheme and a space', 'Bearer '],
  ['a wrong scheme (Basic)', 'Basic dXNlcjpwYXNz'],
  ['the key without a scheme', 'KEY'],
  ['an unknown key', 'Bearer fc-0000000000000000'],
  ['two keys', 'Bearer KEY KEY'],
  ['a key of 8,000 characters', `Bearer ${'x'.repeat(8_000)}`],
  ['a key that is a prefix of a real one', 'Bearer PREFIX'],
  ['a key in upper case', 'Bearer UPPER'],
  ['the key `__proto__`', 'Bearer __proto__'],
];

const auth: ContractCase[] = [
  {
    name: 'accepts `Authorization: Bearer <API_KEY>`',
    run: (product) => expectServing(product),
  },
  ...UNAUTHORIZED.map(
    ([name, header]): ContractCase => ({
      name: `returns 401 \`Unauthorized: Invalid token\` for ${name}`,
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
    name: 'returns 401 for a key in the query string or in `X-Api-Key`',
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
    name: 'accepts a new key and returns 401 soon after the key is revoked',
    run: async (product) => {
      const key = await product.createKey();
      await expectSuccess(product, { ...SMALL_CSV, key });
      await product.revokeKey(key);
      // `npm run bench -- gateway` measures how long this takes.
      while ((await send(product, { key })).status !== 401) await pause(20);
      await expectError(product, { ...SMALL_CSV, key }, 401, 'UNAUTHORIZED');
      await expectServing(product);
    },
  },
  {
    name: 'accepts a key that expires later',
    run: async (product) => {
      const key = await product.createKey('--expires', '1d');
      await expectSuccess(product, { ...SMALL_CSV, key });
    },
  },
  {
    name: 'returns 403 for a key without permission for the endpoint',
    run: async (product) => {
      const key = await product.createKey('--allow', 'audit');
      assert.match((await expectError(product, { ...SMALL_CSV, key }, 403, 'FORBIDDEN')).error, /^Forbidden/);
    },
  },
  {
    name: 'returns 403 for `zeroDataRetention` without permission, and 200 for the same key without that option',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse');
      await expectError(product, { ...SMALL_CSV, key, options: { zeroDataRetention: true } }, 403, 'FORBIDDEN');
      await expectSuccess(product, { ...SMALL_CSV, key, options: { zeroDataRetention: false } });
    },
  },
  {
    name: 'returns 200 for `zeroDataRetention` with permission and writes no content to the logs',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse,zdr');
      const data = await expectSuccess(product, {
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
    name: 'accepts `auditMetadata` from a key without audit events',
    run: async (product) => {
      const key = await product.createKey('--allow', 'parse');
      await expectSuccess(product, { ...SMALL_CSV, key, options: { auditMetadata: { username: 'ana' } } });
    },
  },
  {
    name: 'writes neither API keys nor document content to the logs',
    alone: 'last',
    run: async (product) => {
      await expectServing(product);
      assert.ok(
        !product
          .output()
          .replace(/curl .*/g, '')
          .replace(/Try it in a browser: .*/g, '')
          .replace(/New API key.*/g, '')
          .includes(product.key),
      );
      assert.doesNotMatch(product.output(), /seventeen herons/);
    },
  },
];

export const cases: ContractCase[] = [...extensions, ...byContentType, ...endpoints, ...auth];
