// Checks how responses travel over HTTP (docs/api.md, "Compression").
import assert from 'node:assert/strict';
import { csv } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import type { ContractCase } from './contract-case.ts';

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
];
