// Files and bodies made to exhaust a server: each is answered in its time with a right answer or a documented refusal, no process outgrows its cap, and the next request is served.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { ERROR_CODES } from '#shared/contract/errors.ts';
import type { Extension } from '#shared/contract/formats.ts';
import { isQueueName, WORKER_SERVICES } from '#shared/contract/services.ts';
import { descendants, processFacts } from '../bench/process-tree.ts';
import { type Answer, BOUNDARY, errorBody, parse, send, sendRaw, successData } from '../harness/client.ts';
import { HOSTILE } from '../harness/documents/hostile.ts';
import { sample } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';

const MiB = 1024 * 1024;
const TIMEOUT = 6_000;
/** A busy machine may be late; what hangs is later than any of this. */
const SLACK = 15_000;
/** The process that holds the edge streams uploads and parses nothing. */
const EDGE_MIB = 600;
/** A cap is watched, not enforced by the system: what one look finds too large may have grown since the last. */
const OVERSHOOT = 1.25;
const SAMPLE_MS = 100;

/** MiB that each conversion process holds, with all that it started, and the edge by itself. */
function residentByService(root: number): Map<string, number> {
  const below = descendants(root);
  const found = new Map<string, number>([['edge', (processFacts(root)?.residentBytes ?? 0) / MiB]]);
  for (const worker of below.filter(({ parent }) => parent === root)) {
    let line = '';
    try {
      line = readFileSync(`/proc/${worker.pid}/cmdline`, 'latin1');
    } catch {
      continue;
    }
    const queue = /services\/(\w+)\/worker\.ts/.exec(line)?.[1] ?? '';
    if (!isQueueName(queue)) continue;
    const own = [worker, ...descendants(worker.pid)].reduce((sum, { residentBytes }) => sum + residentBytes, 0) / MiB;
    found.set(queue, Math.max(found.get(queue) ?? 0, own));
  }
  return found;
}

describe('hostile uploads', () => {
  let product: Product;
  const highest = new Map<string, number>();
  let sampler: NodeJS.Timeout;

  before(async () => {
    product = await startProduct({ transport: 'memory' });
    sampler = setInterval(() => {
      for (const [name, held] of residentByService(product.gatewayPid))
        highest.set(name, Math.max(highest.get(name) ?? 0, held));
    }, SAMPLE_MS);
  });
  after(async () => {
    clearInterval(sampler);
    await product?.stop();
  });

  const withinCaps = (): void => {
    for (const [name, held] of highest) {
      const cap = isQueueName(name) ? WORKER_SERVICES[name].memoryMiB * OVERSHOOT : EDGE_MIB;
      assert.ok(held <= cap, `${name} held ${Math.round(held)} MiB of ${cap}`);
    }
  };
  const served = async (extension: Extension): Promise<void> => {
    const { bytes, fileName } = await sample(extension);
    const { markdown } = successData(await parse(product, { file: bytes, fileName, options: { timeout: 60_000 } }));
    assert.ok(
      markdown?.includes('Petrel') || markdown?.includes('herons'),
      `${fileName} after it: ${markdown?.slice(0, 200)}`,
    );
  };
  const documented = (answer: Answer): void => {
    if (answer.status === 200) return void successData(answer);
    assert.ok([400, 408, 413, 422].includes(answer.status), `${answer.status}: ${answer.text.slice(0, 300)}`);
    const { code } = errorBody(answer, answer.status);
    assert.ok(code !== undefined && Object.hasOwn(ERROR_CODES, code), code);
  };

  for (const { what, fileName, make, options } of HOSTILE)
    test(`${fileName.slice(1)}: ${what}`, async (t) => {
      const file = make();
      const started = performance.now();
      const answer = await parse(product, {
        file,
        fileName,
        options: { timeout: TIMEOUT, ...options },
        patienceMs: 120_000,
      });
      const elapsed = performance.now() - started;
      documented(answer);
      assert.ok(elapsed < TIMEOUT + SLACK, `answered after ${Math.round(elapsed)} ms`);
      assert.equal(answer.text.includes('root:x:'), false, 'a file of the server is in the answer');
      const extension = `.${fileName.split('.').at(-1)}` as Extension;
      await served(extension);
      withinCaps();
      const held = residentByService(product.gatewayPid);
      t.diagnostic(
        `${answer.status} ${answer.status === 200 ? '' : String((answer.body as { code?: string }).code)} ${Math.round(elapsed)} ms; ${[...held].map(([name, size]) => `${name} ${Math.round(size)}`).join(', ')} MiB`,
      );
    });

  const bodies: readonly (readonly [what: string, make: () => Promise<string | Answer>])[] = [
    [
      'a part with a header of a megabyte',
      () =>
        multipartOf([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\nX-Long: ${'x'.repeat(MiB)}\r\n\r\na,b`,
        ]),
    ],
    [
      'a part with a hundred thousand headers',
      () =>
        multipartOf([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\n${'X-A: b\r\n'.repeat(100_000)}\r\na,b`,
        ]),
    ],
    [
      'ten thousand parts',
      () =>
        multipartOf(Array.from({ length: 10_000 }, (_, i) => `Content-Disposition: form-data; name="p${i}"\r\n\r\nx`)),
    ],
    [
      'a part name of a megabyte',
      () => multipartOf([`Content-Disposition: form-data; name="${'n'.repeat(MiB)}"\r\n\r\nx`]),
    ],
    [
      'a boundary that almost comes, three hundred thousand times',
      () =>
        multipartOf([
          `Content-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(300_000)}`,
        ]),
    ],
    [
      'a file name of quotes and backslashes',
      () =>
        multipartOf([`Content-Disposition: form-data; name="file"; filename="${'\\"'.repeat(100_000)}"\r\n\r\na,b`]),
    ],
    [
      'a content type of semicolons',
      () =>
        send(product, { body: 'x', headers: { 'content-type': `multipart/form-data${';'.repeat(7_000)} boundary=` } }),
    ],
    [
      'headers of the request without end',
      () => sendRaw(product, `POST /v2/parse HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(100_000)}`),
    ],
    [
      'chunks with endless extensions',
      () =>
        sendRaw(
          product,
          `POST /v2/parse HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x=y;'.repeat(500_000)}\r\n-\r\n`,
        ),
    ],
  ];
  const multipartOf = (parts: readonly string[]): Promise<Answer> => {
    const body = `${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`;
    return send(product, { body, headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } });
  };
  for (const [what, make] of bodies)
    test(`a request: ${what}`, async () => {
      const answer = await make();
      if (typeof answer === 'string') assert.match(answer, /^(HTTP\/1\.1 4\d\d |$)/);
      else documented(answer);
      await served('.csv');
      withinCaps();
    });

  test('no process outgrew its cap at any moment', (t) => {
    withinCaps();
    t.diagnostic([...highest].map(([name, held]) => `${name}: ${Math.round(held)} MiB`).join(', '));
    for (const name of ['edge', 'pdf', 'office', 'html', 'csv', 'pii'])
      assert.ok(highest.has(name), `${name} was never seen`);
  });
});
