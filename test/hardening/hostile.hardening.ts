// Tests that files and request bodies that try to exhaust the server get a documented response in time and within the memory limits, and do not affect the next request.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { ERROR_CODES } from '#shared/contract/errors.ts';
import type { Extension } from '#shared/contract/formats.ts';
import { isQueueName, QUEUES } from '#shared/contract/services.ts';
import { descendants, processFacts } from '../bench/process-tree.ts';
import { type Answer, BOUNDARY, errorBody, parse, send, sendRaw, successData } from '../harness/client.ts';
import { HOSTILE } from '../harness/documents/hostile.ts';
import { HOSTILE_IMAGES } from '../harness/documents/hostile-images.ts';
import { HOSTILE_MAIL } from '../harness/documents/hostile-mail.ts';
import { sample } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';

const MiB = 1024 * 1024;
const TIMEOUT_MS = 6_000;
/** Additional time on a busy machine. A request that hangs takes longer. */
const SLACK_MS = 15_000;
/** Limit of the gateway process, which streams uploads and parses no documents. */
const GATEWAY_MIB = 600;
/** A process can exceed its limit for a short time, because the limit is checked at intervals. */
const OVERSHOOT = 1.25;
const SAMPLE_MS = 100;

/** Resident MiB of the gateway process, and of each isolated process with its descendants. */
function residentMiBByService(root: number): Map<string, number> {
  const processes = descendants(root);
  const found = new Map<string, number>([['gateway', (processFacts(root)?.residentBytes ?? 0) / MiB]]);
  for (const worker of processes.filter(({ parent }) => parent === root)) {
    let command = '';
    try {
      command = readFileSync(`/proc/${worker.pid}/cmdline`, 'latin1');
    } catch {
      continue;
    }
    const [, service = '', lane = service] = /services\/(\w+)\/(?:(\w+)-)?worker\.ts/.exec(command) ?? [];
    const queue = lane;
    if (!isQueueName(queue)) continue;
    const bytes = [worker, ...descendants(worker.pid)].reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    found.set(queue, Math.max(found.get(queue) ?? 0, bytes / MiB));
  }
  return found;
}

describe('hostile uploads', () => {
  let product: Product;
  const peaks = new Map<string, number>();
  let sampler: NodeJS.Timeout;

  before(async () => {
    product = await startProduct({ transport: 'memory' });
    sampler = setInterval(() => {
      for (const [name, size] of residentMiBByService(product.gatewayPid))
        peaks.set(name, Math.max(peaks.get(name) ?? 0, size));
    }, SAMPLE_MS);
  });
  after(async () => {
    clearInterval(sampler);
    await product?.stop();
  });

  const expectWithinLimits = (): void => {
    for (const [name, size] of peaks) {
      const limit = isQueueName(name) ? QUEUES[name].memoryMiB * OVERSHOOT : GATEWAY_MIB;
      assert.ok(size <= limit, `${name} used ${Math.round(size)} MiB, more than ${limit} MiB`);
    }
  };
  const expectServing = async (extension: Extension): Promise<void> => {
    const { bytes, fileName } = await sample(extension);
    const { markdown } = successData(await parse(product, { file: bytes, fileName, options: { timeout: 60_000 } }));
    assert.ok(
      markdown?.includes('Petrel') || markdown?.includes('herons'),
      `the Markdown of ${fileName} after the test: ${markdown?.slice(0, 200)}`,
    );
  };
  const expectDocumented = (answer: Answer): void => {
    if (answer.status === 200) return void successData(answer);
    assert.ok([400, 408, 413, 422].includes(answer.status), `${answer.status}: ${answer.text.slice(0, 300)}`);
    const { code } = errorBody(answer, answer.status);
    assert.ok(code !== undefined && Object.hasOwn(ERROR_CODES, code), code);
  };

  for (const { what, fileName, make, options } of [...HOSTILE, ...HOSTILE_IMAGES, ...HOSTILE_MAIL])
    test(`${fileName.slice(1)}, ${what}: the response is documented and in time`, async (t) => {
      const file = make();
      const started = performance.now();
      const answer = await parse(product, {
        file,
        fileName,
        options: { timeout: TIMEOUT_MS, ...options },
        clientTimeoutMs: 120_000,
      });
      const elapsed = performance.now() - started;
      expectDocumented(answer);
      assert.ok(elapsed < TIMEOUT_MS + SLACK_MS, `the response took ${Math.round(elapsed)} ms`);
      assert.equal(answer.text.includes('root:x:'), false, 'the response contains a file of the server');
      const extension = `.${fileName.split('.').at(-1)}` as Extension;
      await expectServing(extension);
      expectWithinLimits();
      const sizes = residentMiBByService(product.gatewayPid);
      t.diagnostic(
        `${answer.status} ${answer.status === 200 ? '' : String((answer.body as { code?: string }).code)} ${Math.round(elapsed)} ms; ${[...sizes].map(([name, size]) => `${name} ${Math.round(size)}`).join(', ')} MiB`,
      );
    });

  const requests: readonly (readonly [what: string, send: () => Promise<string | Answer>])[] = [
    [
      'a part header of 1 MiB',
      () =>
        sendMultipart([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\nX-Long: ${'x'.repeat(MiB)}\r\n\r\na,b`,
        ]),
    ],
    [
      'a part with 100,000 headers',
      () =>
        sendMultipart([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\n${'X-A: b\r\n'.repeat(100_000)}\r\na,b`,
        ]),
    ],
    [
      '10,000 parts',
      () =>
        sendMultipart(
          Array.from({ length: 10_000 }, (_, i) => `Content-Disposition: form-data; name="p${i}"\r\n\r\nx`),
        ),
    ],
    [
      'a part name of 1 MiB',
      () => sendMultipart([`Content-Disposition: form-data; name="${'n'.repeat(MiB)}"\r\n\r\nx`]),
    ],
    [
      '300,000 boundaries without their last character',
      () =>
        sendMultipart([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(300_000)}`,
        ]),
    ],
    [
      'a file name of 100,000 escaped quotes',
      () =>
        sendMultipart([`Content-Disposition: form-data; name="file"; filename="${'\\"'.repeat(100_000)}"\r\n\r\na,b`]),
    ],
    [
      'a content type with 7,000 semicolons',
      () =>
        send(product, { body: 'x', headers: { 'content-type': `multipart/form-data${';'.repeat(7_000)} boundary=` } }),
    ],
    [
      '100,000 request headers',
      () => sendRaw(product, `POST /v2/parse HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(100_000)}`),
    ],
    [
      'a chunk with 500,000 extensions',
      () =>
        sendRaw(
          product,
          `POST /v2/parse HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x=y;'.repeat(500_000)}\r\n-\r\n`,
        ),
    ],
  ];
  const sendMultipart = (parts: readonly string[]): Promise<Answer> => {
    const body = `${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`;
    return send(product, { body, headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } });
  };
  for (const [what, sendRequest] of requests)
    test(`a request with ${what} is rejected or parsed, and the server keeps serving`, async () => {
      const answer = await sendRequest();
      if (typeof answer === 'string') assert.match(answer, /^(HTTP\/1\.1 4\d\d |$)/);
      else expectDocumented(answer);
      await expectServing('.csv');
      expectWithinLimits();
    });

  test('no process exceeded its memory limit at any time', (t) => {
    expectWithinLimits();
    t.diagnostic([...peaks].map(([name, size]) => `${name}: ${Math.round(size)} MiB`).join(', '));
    for (const name of ['gateway', 'pdf', 'office', 'html', 'csv', 'pii'])
      assert.ok(peaks.has(name), `${name} must be measured`);
  });
});
