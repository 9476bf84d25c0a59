// SPEC 7 and 8 with DECISIONS "Errors": the shape and order of errors, sizes, times, rate, concurrency, credits and Retry-After.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { type Answer, BOUNDARY, errorBody, parse, send, sendParts, successData } from '../harness/client.ts';
import { pdf, zip } from '../harness/documents.ts';
import { type Product, residentMemory } from '../harness/product.ts';
import { goesOn, parsed, pause, type Row, refused, retryAfter, SMALL_CSV } from './row.ts';

const scan = () => readFile(new URL('../../fixtures/pdf/scanned-harbour-report.pdf', import.meta.url));
const EMPTY = { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: '--b--\r\n' };

/** A PDF of exactly `size` bytes that converts in no time: what follows its end is padding. */
async function pdfOfSize(size: number): Promise<Buffer> {
  const small = Buffer.from(await pdf([{ lines: ['Heavy but short.'] }]));
  // A comment before the end keeps the trailer where readers look for it (ISO 32000-1, 7.2.3).
  const at = small.lastIndexOf('startxref');
  return Buffer.concat([
    small.subarray(0, at),
    Buffer.from('%'),
    Buffer.alloc(size - small.length - 2, 0x20),
    Buffer.from('\n'),
    small.subarray(at),
  ]);
}

const head = (fileName: string) =>
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: application/pdf\r\n\r\n`,
  );
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Streams a file in 64 KB pieces without a length. */
async function* streamed(file: Buffer, { tail = true } = {}): AsyncGenerator<Uint8Array> {
  yield head('heavy.pdf');
  for (let at = 0; at < file.length; at += 65_536) yield file.subarray(at, at + 65_536);
  if (tail) yield TAIL;
}

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
        file: await scan(),
        fileName: 'scan.pdf',
        options: { timeout: 20, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      };
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

const plans: Row[] = [
  {
    name: '7.2 and 7.3 402 `Payment Required: Insufficient credits`: credits exhausted',
    run: async (product) => {
      const key = await product.createKey('--credits', '2');
      await parsed(product, { ...SMALL_CSV, key });
      await parsed(product, { ...SMALL_CSV, key });
      assert.equal(
        (await refused(product, { ...SMALL_CSV, key }, 402, 'PAYMENT_REQUIRED')).error,
        'Payment Required: Insufficient credits',
      );
    },
  },
  {
    name: 'DECISIONS credits: nothing for a failed request',
    run: async (product) => {
      const key = await product.createKey('--credits', '1');
      await refused(product, { file: 'words', fileName: 'notes.txt', key }, 400);
      await refused(product, { file: '%PDF-1.7\nbroken', fileName: 'broken.pdf', key }, 422);
      await parsed(product, { ...SMALL_CSV, key });
      await refused(product, { ...SMALL_CSV, key }, 402);
    },
  },
  {
    name: 'DECISIONS credits: 1 a document, and 1 a page for PDF',
    run: async (product) => {
      const pages = [{ lines: ['One'] }, { lines: ['Two'] }, { lines: ['Three'] }];
      assert.equal((await parsed(product, SMALL_CSV)).metadata.creditsUsed, 1);
      const file = await pdf(pages);
      assert.equal((await parsed(product, { file, fileName: 'three.pdf' })).metadata.creditsUsed, 4);
      assert.equal(
        (await parsed(product, { file, fileName: 'three.pdf', options: { parsers: [{ type: 'pdf', maxPages: 1 }] } }))
          .metadata.creditsUsed,
        2,
      );
    },
  },
  {
    name: 'DECISIONS credits: unlimited where a key names none',
    run: async (product) => {
      const key = await product.createKey();
      for (let index = 0; index < 5; index++) await parsed(product, { ...SMALL_CSV, key });
    },
  },
  {
    name: '7.2, 7.3 and 8 429 `Rate limit exceeded`, with a Retry-After that is true',
    run: async (product) => {
      const key = await product.createKey('--rate', '60');
      let refusal: Answer | undefined;
      for (let sent = 0; sent < 200 && !refusal; sent++) {
        const answer = await send(product, { ...EMPTY, key });
        if (answer.status === 429) refusal = answer;
        else assert.equal(answer.status, 400);
      }
      assert.ok(refusal, 'the limit was reached');
      const body = errorBody(refusal, 429, 'RATE_LIMIT_EXCEEDED');
      assert.match(body.error, /rate limit exceeded/i);
      await pause(retryAfter(refusal) * 1000);
      assert.notEqual((await send(product, { ...EMPTY, key })).status, 429, 'a client that waits that long is let in');
    },
  },
  {
    name: '8 the rate of one key is not that of another',
    run: async (product) => {
      const [one, other] = [await product.createKey('--rate', '1'), await product.createKey('--rate', '1')];
      for (let attempt = 0; attempt < 3; attempt++) await send(product, { ...EMPTY, key: one });
      assert.equal((await send(product, { ...EMPTY, key: one })).status, 429);
      assert.equal((await send(product, { ...EMPTY, key: other })).status, 400);
    },
  },
  {
    name: '7.3 and 8 429 `Concurrency limit reached` with a Retry-After that is true',
    run: async (product) => {
      const key = await product.createKey('--concurrency', '1', '--queue', '0');
      const file = await scan();
      let running = true;
      const first = parse(product, {
        file,
        fileName: 'scan.pdf',
        key,
        options: { timeout: 20_000, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      }).finally(() => {
        running = false;
      });
      let refusal: Answer | undefined;
      while (running && !refusal) {
        const answer = await parse(product, { ...SMALL_CSV, key });
        if (answer.status === 429) refusal = answer;
        await pause(10);
      }
      assert.ok(refusal, 'a second request met the first');
      assert.match(errorBody(refusal, 429, 'CONCURRENCY_LIMIT_REACHED').error, /^Concurrency limit reached/);
      const seconds = retryAfter(refusal);
      await Promise.all([first, pause(seconds * 1000)]);
      await parsed(product, { ...SMALL_CSV, key });
    },
  },
  {
    name: '2.8 and 8 a request that waited for a place: concurrencyLimited true and concurrencyQueueDurationMs above 0',
    run: async (product) => {
      const key = await product.createKey('--concurrency', '1', '--queue', '8');
      const file = await scan();
      const answers = await Promise.all(
        [1, 2].map(() =>
          parse(product, {
            file,
            fileName: 'scan.pdf',
            key,
            options: { timeout: 60_000, parsers: [{ type: 'pdf', mode: 'ocr' }] },
          }),
        ),
      );
      const waited = answers
        .map((answer) => successData(answer).metadata)
        .filter((metadata) => metadata.concurrencyLimited);
      assert.equal(waited.length, 1);
      assert.ok((waited[0]?.concurrencyQueueDurationMs ?? 0) > 0);
    },
  },
  {
    name: 'DECISIONS keys of one team share its concurrency',
    run: async (product) => {
      const flags = ['--team', `crew-${product.transport}`, '--concurrency', '1', '--queue', '8'];
      const [one, other] = [await product.createKey(...flags), await product.createKey(...flags)];
      const file = await scan();
      const answers = await Promise.all(
        [one, other].map((key) =>
          parse(product, {
            file,
            fileName: 'scan.pdf',
            key,
            options: { timeout: 60_000, parsers: [{ type: 'pdf', mode: 'ocr' }] },
          }),
        ),
      );
      assert.equal(answers.filter((answer) => successData(answer).metadata.concurrencyLimited).length, 1);
    },
  },
];

/** Highest resident memory of the gateway's process while `work` runs, above what it was before, in bytes. */
async function memoryAbove(product: Product, work: () => Promise<void>): Promise<number> {
  const idle = (await residentMemory(product.gatewayPid)).now;
  let highest = idle;
  let watching = true;
  const watch = (async () => {
    while (watching) {
      highest = Math.max(highest, (await residentMemory(product.gatewayPid)).now);
      await pause(25);
    }
  })();
  try {
    await work();
  } finally {
    watching = false;
    await watch;
  }
  return highest - idle;
}

const sizes: Row[] = [
  {
    name: '8 and 7.3 50 MB accepted to the byte, one byte more refused with 413 while it streams',
    alone: true,
    run: async (product) => {
      const exact = await pdfOfSize(REQUEST_LIMITS.fileBytes);
      assert.equal(exact.length, 52_428_800);
      const accepted = await send(product, { body: streamed(exact), headers: MULTIPART });
      assert.match(successData(accepted).markdown ?? '', /Heavy but short/);
      // The body never ends, so only a limit that is watched while it streams can answer.
      const over = Buffer.concat([exact, Buffer.from(' ')]);
      const answered = Promise.withResolvers<void>();
      const endless = (async function* () {
        yield* streamed(over, { tail: false });
        await answered.promise;
      })();
      const answer = await send(product, { body: endless, headers: MULTIPART, patienceMs: 15_000 }).finally(
        answered.resolve,
      );
      const body = errorBody(answer, 413, 'PAYLOAD_TOO_LARGE');
      assert.match(body.error, /50/);
      await goesOn(product);
    },
  },
  {
    name: '7.3 413: a Content-Length far past the limit is refused as well',
    alone: true,
    run: async (product) => {
      const answer = await send(product, {
        body: streamed(Buffer.alloc(60 * 1024 * 1024, 0x20)),
        headers: { ...MULTIPART, 'content-length': String(head('heavy.pdf').length + 60 * 1024 * 1024 + TAIL.length) },
      });
      errorBody(answer, 413, 'PAYLOAD_TOO_LARGE');
      await goesOn(product);
    },
  },
  {
    name: '8 ten uploads of 50 MB at once leave the gateway less than 100 MB above idle',
    alone: true,
    run: async (product, context) => {
      const file = await pdfOfSize(REQUEST_LIMITS.fileBytes);
      await goesOn(product);
      const above = await memoryAbove(product, async () => {
        const options = Buffer.from(
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name="options"\r\n\r\n{"timeout":120000,"parsers":[{"type":"pdf","mode":"fast"}]}\r\n`,
        );
        const answers = await Promise.all(
          Array.from({ length: 10 }, () =>
            send(product, {
              body: (async function* () {
                yield options;
                yield* streamed(file);
              })(),
              headers: MULTIPART,
              patienceMs: 180_000,
            }),
          ),
        ); // prettier-ignore
        for (const answer of answers) successData(answer);
      });
      context.diagnostic(`${product.transport}: ${Math.round(above / 1024 / 1024)} MB above idle`);
      assert.ok(above < 100 * 1024 * 1024, `${Math.round(above / 1024 / 1024)} MB above idle`);
    },
  },
  {
    name: '8 `timeout`: 300000 accepted, 300001 refused by name',
    run: async (product) => {
      await parsed(product, { ...SMALL_CSV, options: { timeout: 300_000 } });
      assert.equal(
        (await refused(product, { ...SMALL_CSV, options: { timeout: 300_001 } }, 400, 'BAD_REQUEST')).details?.[0]
          ?.path,
        'timeout',
      );
    },
  },
  {
    name: '8 PDF `maxPages`: 10000 accepted, 10001 and 0 refused by name',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }]);
      const asked = (maxPages: number) => ({
        file,
        fileName: 'one.pdf',
        options: { parsers: [{ type: 'pdf', maxPages }] },
      });
      await parsed(product, asked(10_000));
      for (const wrong of [0, 10_001])
        assert.equal(
          (await refused(product, asked(wrong), 400, 'BAD_REQUEST')).details?.[0]?.path,
          'parsers[0].maxPages',
        );
    },
  },
  {
    name: '8 `auditMetadata.username`: 1024 characters accepted, 1025 refused by name',
    run: async (product) => {
      await parsed(product, { ...SMALL_CSV, options: { auditMetadata: { username: 'é'.repeat(1024) } } });
      await refused(
        product,
        { ...SMALL_CSV, options: { auditMetadata: { username: 'é'.repeat(1025) } } },
        400,
        'BAD_REQUEST',
      );
    },
  },
  {
    name: '8 an upload that stalls is cut with 408 after 30 s, others unhurt meanwhile',
    run: async (product) => {
      const { hostname, port } = new URL(product.url);
      const started = performance.now();
      const socket = connect({ host: hostname, port: Number(port) });
      const answer = new Promise<string>((resolve, reject) => {
        let text = '';
        socket.setEncoding('latin1');
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('close', () => resolve(text));
        socket.on('error', reject);
        setTimeout(() => reject(new Error('a stalled upload was not cut in 45 s')), 45_000).unref();
      });
      socket.write(
        `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: 100000\r\n\r\n`,
      );
      socket.write(head('slow.pdf'));
      try {
        await goesOn(product);
        assert.match(await answer, /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
        assert.ok(performance.now() - started > 20_000, 'a short pause is not a stall');
      } finally {
        socket.destroy();
      }
    },
  },
  {
    name: '8 a file of one byte is no fault of the limit',
    run: async (product) => {
      const answer = await sendParts(product, [{ name: 'file', body: 'a', fileName: 'one.csv' }]);
      assert.equal(answer.status, 200, answer.text);
    },
  },
];

export const rows: Row[] = [...shape, ...order, ...plans, ...sizes];
