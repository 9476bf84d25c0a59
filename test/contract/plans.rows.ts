// SPEC 7.3 and 8 with DECISIONS "Errors": credits, rate and concurrency of a key, each with a Retry-After that is true.
import assert from 'node:assert/strict';
import { type Answer, errorBody, parse, send, successData } from '../harness/client.ts';
import { pdf } from '../harness/documents.ts';
import { fixture } from './pdf-log.ts';
import { parsed, pause, type Row, refused, retryAfter, SMALL_CSV } from './row.ts';

const scan = () => fixture('scanned-harbour-report.pdf');
const EMPTY = { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: '--b--\r\n' };

export const rows: Row[] = [
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
        options: { timeout: 6_000, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      }).finally(() => {
        running = false;
      });
      // A body that is refused takes no place from the first.
      let refusal: Answer | undefined;
      while (running && !refusal) {
        const answer = await send(product, { ...EMPTY, key });
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
