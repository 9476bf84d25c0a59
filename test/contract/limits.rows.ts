// SPEC 8: sizes, times and counts to the last unit, and what the gateway costs while they are used up.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { BOUNDARY, errorBody, send, sendParts, successData } from '../harness/client.ts';
import { pdf } from '../harness/documents.ts';
import { type Product, residentMemory } from '../harness/product.ts';
import { goesOn, parsed, pause, type Row, refused, SMALL_CSV } from './row.ts';

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

export const rows: Row[] = [
  {
    name: '8 and 7.3 50 MB accepted to the byte, one byte more refused with 413 while it streams',
    alone: 'last',
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
    alone: 'last',
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
    // Before the others, so that what it is measured against is a gateway that has done nothing yet.
    alone: 'first',
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
        );
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
