// Tests that a gateway without workers refuses each request at its timeout with a retryable error, and never hangs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { errorBody, parse, send } from '../harness/client.ts';
import { sample } from '../harness/documents.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';

describe('a gateway without workers', { skip: skipReason('nats') }, () => {
  let product: Product;
  before(async () => {
    product = await startProduct({ transport: 'nats', services: ['gateway'], waitFor: 'live' });
  });
  after(async () => {
    await product?.stop();
  });

  const parseSample = async (extension: '.csv' | '.html' | '.pdf' | '.docx', timeout: number) => {
    const { bytes, fileName } = await sample(extension);
    return parse(product, { file: bytes, fileName, options: { timeout } });
  };

  describe('files whose queue has no worker', { concurrency: 4 }, () => {
    for (const extension of ['.csv', '.html', '.pdf', '.docx'] as const)
      test(`${extension}: returns 503 or 504 in the documented shape, with a Retry-After of whole seconds`, async () => {
        // Enough time to publish the job: with too little, the error would be 408.
        const answer = await parseSample(extension, 8_000);
        assert.ok(answer.status === 503 || answer.status === 504, `${answer.status}: ${answer.text}`);
        errorBody(answer, answer.status, answer.status === 503 ? 'SERVICE_UNAVAILABLE' : 'GATEWAY_TIMEOUT');
        if (answer.headers['retry-after'] !== undefined)
          assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
      });
  });

  test('answers requests in the order of their timeouts', async () => {
    // The order of two timers of one process does not depend on the speed of the machine. `npm run chaos` measures the delay.
    const timeouts = [500, 1_500, 3_000];
    const order: number[] = [];
    await Promise.all(
      timeouts.map(async (timeout) => {
        await parseSample('.csv', timeout);
        order.push(timeout);
      }),
    );
    assert.deepEqual(order, timeouts);
  });

  test('answers requests that need no worker', async () => {
    errorBody(await send(product), 400, 'BAD_REQUEST');
    errorBody(await send(product, { key: null }), 401, 'UNAUTHORIZED');
    assert.equal((await send(product, { method: 'GET', path: '/openapi.json' })).status, 200);
  });

  test('exits with 0 after SIGTERM', async () => {
    assert.deepEqual(await product.stop(), [{ service: 'gateway', code: 0, signal: null }]);
  });
});
