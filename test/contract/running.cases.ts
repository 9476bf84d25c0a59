// Checks the endpoints, variables and scripts that operators rely on (docs/api.md, "Running").
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { errorBody, send } from '../harness/client.ts';
import { type ContractCase, expectServing, expectSuccess, SMALL_CSV } from './contract-case.ts';

async function get(url: string) {
  const response = await fetch(url);
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}

const SCRIPTS = ['start', 'test', 'check', 'service', 'keys', 'quality'] as const;

export const cases: ContractCase[] = [
  {
    name: '`/livez` returns 200 without a key',
    run: async (product) => assert.equal((await get(`${product.opsUrl}/livez`)).status, 200),
  },
  {
    name: '`/readyz` returns 200 without a key while the gateway accepts requests',
    run: async (product) => assert.equal((await get(`${product.opsUrl}/readyz`)).status, 200),
  },
  {
    name: '`/metrics` returns Prometheus text with request counters',
    run: async (product) => {
      await expectServing(product);
      const { status, type, text } = await get(`${product.opsUrl}/metrics`);
      assert.equal(status, 200);
      assert.match(type, /^text\/plain|^application\/openmetrics-text/);
      assert.match(text, /^# TYPE \w+ counter$/m);
      assert.match(text, /^\w*request\w*\{.*\} [1-9]/m);
    },
  },
  {
    name: '`OPS_PORT` moves `/livez`, `/readyz` and `/metrics` to another port',
    run: async (product) => {
      for (const path of ['/livez', '/readyz', '/metrics']) {
        const { status } = await get(`${product.url}${path}`);
        assert.equal(status, product.opsUrl === product.url ? 200 : 404, path);
      }
    },
  },
  {
    name: '`/openapi.json` is OpenAPI 3.1 and has every option and status of the parse operation',
    run: async (product) => {
      const { status, text } = await get(`${product.url}/openapi.json`);
      assert.equal(status, 200);
      const document = JSON.parse(text);
      assert.match(document.openapi, /^3\.1/);
      const operation = document.paths['/v2/parse'].post;
      assert.ok(operation.requestBody.content['multipart/form-data']);
      for (const code of ['200', '400', '401', '402', '403', '408', '413', '422', '429', '500'])
        assert.ok(operation.responses[code], code);
      for (const option of [
        'auditMetadata',
        'blockAds',
        'excludeTags',
        'formats',
        'headers',
        'includeTags',
        'integration',
        'onlyMainContent',
        'origin',
        'parsers',
        'proxy',
        'redactPII',
        'removeBase64Images',
        'skipTlsVerification',
        'timeout',
        'zeroDataRetention',
        'maxPages',
        'pageMarkers',
        'replaceStyle',
        'markdownSpan',
        'concurrencyQueueDurationMs',
      ])
        assert.ok(text.includes(`"${option}"`), option);
      assert.match(text, /"scheme":\s*"bearer"/);
    },
  },
  {
    name: '`/docs` is HTML that loads only from this server',
    run: async (product) => {
      const { status, type, text } = await get(`${product.url}/docs`);
      assert.equal(status, 200);
      assert.match(type, /^text\/html/);
      assert.doesNotMatch(text, /(?:src|href)="(?:https?:)?\/\//);
      for (const [, path = ''] of text.matchAll(/(?:src|href)="([^"#]+)"/g))
        assert.equal((await get(new URL(path, `${product.url}/docs`).href)).status, 200, path);
    },
  },
  {
    name: '`KEYS_FILE` has no plain keys',
    run: async (product) => {
      const key = await product.createKey('--team', 'harbour');
      const text = await readFile(product.keysFile, 'utf8');
      assert.ok(text.includes('harbour'));
      assert.ok(!text.includes(key) && !text.includes(product.key));
    },
  },
  {
    name: '`npm run keys -- create` accepts every flag and prints only the new key on its last line',
    run: async (product) => {
      const key = await product.createKey(
        '--team',
        'harbour',
        '--rate',
        '1000',
        '--concurrency',
        '3',
        '--queue',
        '2',
        '--credits',
        '10',
        '--allow',
        'parse,zdr,audit',
      );
      assert.match(key, /^\S{16,}$/);
      await expectSuccess(product, {
        ...SMALL_CSV,
        key,
        options: { zeroDataRetention: true, auditMetadata: { username: 'ana' } },
      });
    },
  },
  {
    name: 'the key of `API_KEY` is valid after the first start',
    run: (product) => expectServing(product),
  },
  {
    name: 'package.json has the documented npm scripts',
    run: async () => {
      const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
      for (const script of SCRIPTS) assert.ok(scripts[script], script);
    },
  },
  {
    name: '`LOG_LEVEL=warn` logs no info, debug and trace messages',
    run: async (product) => {
      await expectServing(product);
      // Audit events are written at every log level.
      const logged = product.output().replace(/^.*"msg":"audit".*$/gm, '');
      assert.doesNotMatch(logged, /"level":"(?:info|debug|trace)"/);
    },
  },
  {
    name: 'the operations endpoints reject parse requests',
    run: async (product) => {
      const { status } = await send({ ...product, url: product.opsUrl }, { path: '/livez' });
      assert.ok(status === 405 || status === 404);
      if (product.opsUrl !== product.url) assert.equal((await send({ ...product, url: product.opsUrl })).status, 404);
      else errorBody(await send(product, { path: '/livez' }), 405, 'METHOD_NOT_ALLOWED');
    },
  },
];
