// Checks how responses travel over HTTP (docs/api.md, "Compression" and "Cross-origin requests").
import assert from 'node:assert/strict';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { csv } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import type { ContractCase } from './contract-case.ts';

const ORIGIN = 'https://app.example.com';
const ROWS = `Boat,Length\r\n${'Petrel,42\r\n'.repeat(2_000)}`;

/** A parse by a client that decompresses, as browsers and `curl --compressed` do. */
function parseWith(
  product: Product,
  headers: Record<string, string>,
  file: string | Uint8Array = ROWS,
): Promise<Response> {
  const form = new FormData();
  form.append('file', new File([typeof file === 'string' ? file : new Uint8Array(file)], 'boats.csv'));
  return fetch(`${product.url}/v2/parse`, {
    method: 'POST',
    headers: { authorization: `Bearer ${product.key}`, ...headers },
    body: form,
  });
}

export const cases: ContractCase[] = [
  {
    name: 'a response is compressed with gzip or Brotli if the client accepts it, and has the same content',
    run: async (product) => {
      const markdown = async (acceptEncoding: string) => {
        const response = await parseWith(product, { 'accept-encoding': acceptEncoding, accept: 'text/markdown' });
        assert.equal(response.status, 200);
        assert.match(response.headers.get('vary') ?? '', /Accept-Encoding/);
        return { encoding: response.headers.get('content-encoding'), text: await response.text() };
      };
      const plain = await markdown('identity');
      assert.equal(plain.encoding, null);
      assert.ok(plain.text.length > 20_000);
      for (const [header, encoding] of [
        ['gzip', 'gzip'],
        ['br', 'br'],
        ['gzip, deflate, br', 'br'],
        ['gzip, br;q=0.1', 'gzip'],
      ] as const)
        assert.deepEqual(await markdown(header), { encoding, text: plain.text }, header);
    },
  },
  {
    name: 'small bodies, errors and event streams are not compressed; the API reference is',
    run: async (product) => {
      const encodingOf = async (response: Response | Promise<Response>) => {
        const { headers, body } = await response;
        await body?.cancel();
        return headers.get('content-encoding');
      };
      const accepted = { 'accept-encoding': 'gzip' };
      assert.equal(await encodingOf(parseWith(product, accepted, csv())), null);
      assert.equal(await encodingOf(parseWith(product, { ...accepted, authorization: 'Bearer unknown' })), null);
      assert.equal(await encodingOf(parseWith(product, { ...accepted, accept: 'text/event-stream' })), null);
      for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js'])
        assert.equal(await encodingOf(fetch(`${product.url}${path}`, { headers: accepted })), 'gzip', path);
    },
  },
  {
    name: 'a preflight request is answered with 204, without a key and at no cost',
    run: async (product) => {
      const key = await product.createKey('--rate', '1', '--credits', '1');
      for (let n = 0; n < 3; n++) {
        const response = await fetch(`${product.url}/v2/parse`, {
          method: 'OPTIONS',
          headers: {
            origin: ORIGIN,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,content-type,accept,x-request-id',
          },
        });
        assert.equal(response.status, 204);
        assert.equal(await response.text(), '');
        assert.equal(response.headers.get('access-control-allow-origin'), '*');
        assert.match(response.headers.get('access-control-allow-methods') ?? '', /POST/);
        const names = (response.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/);
        for (const name of ['authorization', 'content-type', 'accept', 'x-request-id']) assert.ok(names.includes(name));
        assert.ok(Number(response.headers.get('access-control-max-age')) >= 600);
      }
      const parsed = await parseWith(product, { authorization: `Bearer ${key}`, origin: ORIGIN }, csv());
      assert.equal(parsed.status, 200);
    },
  },
  {
    name: 'scripts of every origin may read responses and their headers, of errors too',
    run: async (product) => {
      const limited = await product.createKey('--rate', '1');
      const parse = (headers: Record<string, string>, file: string | Uint8Array = csv()) =>
        parseWith(product, { origin: ORIGIN, ...headers }, file);
      const oneTooLarge = Buffer.alloc(REQUEST_LIMITS.fileBytes + 1, 'a,b\n');
      const statuses: number[] = [];
      for (const answer of [
        () => parse({}),
        () => parse({ accept: 'text/event-stream' }),
        () => parse({ authorization: 'Bearer unknown' }),
        () => parse({}, ''),
        () => parse({}, oneTooLarge),
        () => parse({ authorization: `Bearer ${limited}` }),
        () => parse({ authorization: `Bearer ${limited}` }),
        () => fetch(`${product.url}/v2/parse`, { headers: { origin: ORIGIN } }),
        () => fetch(`${product.url}/v2/nothing`, { headers: { origin: ORIGIN } }),
      ]) {
        const { status, headers, body } = await answer();
        await body?.cancel();
        statuses.push(status);
        assert.equal(headers.get('access-control-allow-origin'), '*', String(status));
        assert.equal(headers.get('access-control-allow-credentials'), null);
        assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
        const exposed = headers.get('access-control-expose-headers') ?? '';
        for (const name of ['X-Request-Id', 'Retry-After', 'Server-Timing', 'X-Warning'])
          assert.ok(exposed.includes(name));
      }
      assert.deepEqual(statuses, [200, 200, 401, 400, 413, 200, 429, 405, 404]);
    },
  },
];
