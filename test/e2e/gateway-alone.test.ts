// The gateway with no worker behind it: a clear, retryable refusal within the request's time, never a hang.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { errorBody, parse, send } from '../harness/client.ts';
import { sample } from '../harness/documents.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';

describe('the gateway alone', { skip: skipReason('nats') }, () => {
  let product: Product;
  before(async () => {
    product = await startProduct({ transport: 'nats', services: ['gateway'], waitFor: 'live' });
  });
  after(async () => {
    await product?.stop();
  });

  describe('files that nobody takes', { concurrency: 4 }, () => {
    for (const extension of ['.csv', '.html', '.pdf', '.docx'] as const)
      test(`${extension}: 503 or 504 within the request's timeout, in the documented shape, with a Retry-After that can be kept`, async () => {
        const { bytes, fileName } = await sample(extension);
        const timeout = 5_000;
        const started = performance.now();
        const answer = await parse(product, {
          file: bytes,
          fileName,
          options: { timeout },
          clientTimeoutMs: timeout + 10_000,
        });
        const elapsed = performance.now() - started;
        assert.ok(answer.status === 503 || answer.status === 504, `${answer.status}: ${answer.text}`);
        errorBody(answer, answer.status, answer.status === 503 ? 'SERVICE_UNAVAILABLE' : 'GATEWAY_TIMEOUT');
        assert.ok(elapsed < timeout + 1_000, `answered after ${Math.round(elapsed)} ms`);
        if (answer.headers['retry-after'] !== undefined)
          assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
      });
  });

  test('what needs no worker is answered as ever', async () => {
    errorBody(await send(product), 400, 'BAD_REQUEST');
    errorBody(await send(product, { key: null }), 401, 'UNAUTHORIZED');
    assert.equal((await send(product, { method: 'GET', path: '/openapi.json' })).status, 200);
  });

  test('it drains and exits 0', async () => {
    assert.deepEqual(await product.stop(), [{ service: 'gateway', code: 0, signal: null }]);
  });
});
