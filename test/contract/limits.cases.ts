// Checks docs/api.md, "Limits" at their exact boundaries, and the gateway's memory during large uploads.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { DOCUMENT_LIMITS, REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { BOUNDARY, errorBody, parse, send, sendParts, successData } from '../harness/client.ts';
import { sharedStringBomb } from '../harness/documents/hostile-parts.ts';
import { pdf, pdfOfSize } from '../harness/documents.ts';
import { type Product, residentMemory } from '../harness/product.ts';
import { type ContractCase, expectError, expectServing, expectSuccess, pause, SMALL_CSV } from './contract-case.ts';

const head = (fileName: string) =>
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: application/pdf\r\n\r\n`,
  );
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Streams a file in 64 KB chunks without a Content-Length. */
async function* streamed(file: Buffer, { tail = true } = {}): AsyncGenerator<Uint8Array> {
  yield head('heavy.pdf');
  for (let at = 0; at < file.length; at += 65_536) yield file.subarray(at, at + 65_536);
  if (tail) yield TAIL;
}

/** Peak resident memory of the gateway process while `work` runs, minus its memory before, in bytes. */
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

export const cases: ContractCase[] = [
  {
    name: 'returns 422 for a small xlsx whose cells share one long text, with each format',
    run: async (product) => {
      const file = sharedStringBomb();
      assert.ok(file.length < 8_192, `${file.length} bytes`);
      for (const options of [{}, { formats: ['html'] }, { includeTags: ['td'] }]) {
        const refused = await parse(product, { file, fileName: 'shared.xlsx', options });
        assert.match(errorBody(refused, 422, 'DOCUMENT_TOO_COMPLEX').error, /characters/);
      }
      await expectServing(product);
    },
  },
  {
    name: 'returns 422 for an rtf with too much text before LibreOffice reads it',
    run: async (product) => {
      const file = `{\\rtf1 ${'word \\par\n'.repeat(Math.ceil(DOCUMENT_LIMITS.rtfTextBytes / 10))}}`;
      const refused = await parse(product, { file, fileName: 'long.rtf' });
      assert.match(errorBody(refused, 422, 'DOCUMENT_TOO_COMPLEX').error, /Rich Text.*\.docx/);
    },
  },
  {
    name: 'accepts a file of exactly 50 MiB and returns 413 for one more byte before the upload ends',
    alone: 'last',
    run: async (product) => {
      const exact = await pdfOfSize(REQUEST_LIMITS.fileBytes);
      assert.equal(exact.length, 52_428_800);
      const accepted = await send(product, { body: streamed(exact), headers: MULTIPART });
      assert.match(successData(accepted).markdown ?? '', /Heavy but short/);
      // This body never ends, so the response shows that the server checks the size during the upload.
      const over = Buffer.concat([exact, Buffer.from(' ')]);
      const answered = Promise.withResolvers<void>();
      const endless = (async function* () {
        yield* streamed(over, { tail: false });
        await answered.promise;
      })();
      const answer = await send(product, { body: endless, headers: MULTIPART }).finally(answered.resolve);
      const body = errorBody(answer, 413, 'PAYLOAD_TOO_LARGE');
      assert.match(body.error, /50/);
      await expectServing(product);
    },
  },
  {
    name: 'returns 413 for a Content-Length far over the limit',
    alone: 'last',
    run: async (product) => {
      const answer = await send(product, {
        body: streamed(Buffer.alloc(60 * 1024 * 1024, 0x20)),
        headers: { ...MULTIPART, 'content-length': String(head('heavy.pdf').length + 60 * 1024 * 1024 + TAIL.length) },
      });
      errorBody(answer, 413, 'PAYLOAD_TOO_LARGE');
      await expectServing(product);
    },
  },
  {
    name: 'ten parallel uploads of 50 MiB use less than 100 MB of additional gateway memory',
    // Runs first, because the memory is compared with that of an idle gateway.
    alone: 'first',
    run: async (product, context) => {
      const file = await pdfOfSize(REQUEST_LIMITS.fileBytes);
      await expectServing(product);
      const options = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="options"\r\n\r\n{"timeout":300000,"parsers":[{"type":"pdf","mode":"fast"}]}\r\n`;
      const upload = async function* (isRead: boolean): AsyncGenerator<Uint8Array> {
        yield Buffer.from(options);
        yield* streamed(file, { tail: isRead });
        if (!isRead) yield Buffer.from(`\r\n${options}--${BOUNDARY}--\r\n`);
      };
      const above = await memoryAbove(product, async () => {
        const answers = await Promise.all(
          Array.from({ length: 10 }, async (_, index) => {
            // Over NATS other processes read the uploads, at 1 s of CPU time each. There all but one end with a second
            // options part, which the gateway refuses after it has stored the file.
            const isRead = product.transport === 'memory' || index === 0;
            return { isRead, answer: await send(product, { body: upload(isRead), headers: MULTIPART }) };
          }),
        );
        for (const { isRead, answer } of answers) {
          if (isRead) successData(answer);
          else errorBody(answer, 400, 'BAD_REQUEST');
        }
      });
      context.diagnostic(`${product.transport}: ${Math.round(above / 1024 / 1024)} MB above idle`);
      assert.ok(above < 100 * 1024 * 1024, `${Math.round(above / 1024 / 1024)} MB above idle`);
    },
  },
  {
    name: 'accepts `timeout` 300000 and returns 400 for 300001',
    run: async (product) => {
      await expectSuccess(product, { ...SMALL_CSV, options: { timeout: 300_000 } });
      assert.equal(
        (await expectError(product, { ...SMALL_CSV, options: { timeout: 300_001 } }, 400, 'BAD_REQUEST')).details?.[0]
          ?.path,
        'timeout',
      );
    },
  },
  {
    name: 'accepts `maxPages` 10000 and returns 400 for 10001 and 0',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }]);
      const withMaxPages = (maxPages: number) => ({
        file,
        fileName: 'one.pdf',
        options: { parsers: [{ type: 'pdf', maxPages }] },
      });
      await expectSuccess(product, withMaxPages(10_000));
      for (const wrong of [0, 10_001])
        assert.equal(
          (await expectError(product, withMaxPages(wrong), 400, 'BAD_REQUEST')).details?.[0]?.path,
          'parsers[0].maxPages',
        );
    },
  },
  {
    name: 'accepts an `auditMetadata.username` of 1024 characters and returns 400 for 1025',
    run: async (product) => {
      await expectSuccess(product, { ...SMALL_CSV, options: { auditMetadata: { username: 'é'.repeat(1024) } } });
      await expectError(
        product,
        { ...SMALL_CSV, options: { auditMetadata: { username: 'é'.repeat(1025) } } },
        400,
        'BAD_REQUEST',
      );
    },
  },
  {
    name: 'returns 408 for an upload that stalls for 30 s, and serves other requests meanwhile',
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
      });
      socket.write(
        `POST /v2/parse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${product.key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: 100000\r\n\r\n`,
      );
      socket.write(head('slow.pdf'));
      try {
        await expectServing(product);
        assert.match(await answer, /^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
        assert.ok(
          performance.now() - started > 20_000,
          'the server must wait at least 20 s before it closes a stalled upload',
        );
      } finally {
        socket.destroy();
      }
    },
  },
  {
    name: 'parses a file of one byte',
    run: async (product) => {
      const answer = await sendParts(product, [{ name: 'file', body: 'a', fileName: 'one.csv' }]);
      assert.equal(answer.status, 200, answer.text);
    },
  },
];
