// Checks credits, rate and concurrency of a key and their Retry-After (docs/api.md, "Errors" and docs/api.md, "Limits").
import assert from 'node:assert/strict';
import { type Answer, errorBody, parse, send, successData } from '../harness/client.ts';
import { pdf } from '../harness/documents.ts';
import { type ContractCase, expectError, expectSuccess, pause, readRetryAfter, SMALL_CSV } from './contract-case.ts';
import { readPdfFixture } from './pdf-documents.ts';

const readScannedPdf = () => readPdfFixture('scanned-harbour-report.pdf');
/** A request with an invalid body: 400, or 429 when a limit of the key is reached. */
const EMPTY = { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: '--b--\r\n' };

export const cases: ContractCase[] = [
  {
    name: 'returns 402 `Payment Required: Insufficient credits` when the credits are used up',
    run: async (product) => {
      const key = await product.createKey('--credits', '2');
      await expectSuccess(product, { ...SMALL_CSV, key });
      await expectSuccess(product, { ...SMALL_CSV, key });
      assert.equal(
        (await expectError(product, { ...SMALL_CSV, key }, 402, 'PAYMENT_REQUIRED')).error,
        'Payment Required: Insufficient credits',
      );
    },
  },
  {
    name: 'a failed request costs no credits',
    run: async (product) => {
      const key = await product.createKey('--credits', '1');
      await expectError(product, { file: 'words', fileName: 'notes.xyz', key }, 400);
      await expectError(product, { file: '%PDF-1.7\nbroken', fileName: 'broken.pdf', key }, 422);
      await expectSuccess(product, { ...SMALL_CSV, key });
      await expectError(product, { ...SMALL_CSV, key }, 402);
    },
  },
  {
    name: 'a document costs 1 credit, and a PDF 1 more for each page',
    run: async (product) => {
      const pages = [{ lines: ['One'] }, { lines: ['Two'] }, { lines: ['Three'] }];
      assert.equal((await expectSuccess(product, SMALL_CSV)).metadata.creditsUsed, 1);
      const file = await pdf(pages);
      assert.equal((await expectSuccess(product, { file, fileName: 'three.pdf' })).metadata.creditsUsed, 4);
      assert.equal(
        (
          await expectSuccess(product, {
            file,
            fileName: 'three.pdf',
            options: { parsers: [{ type: 'pdf', maxPages: 1 }] },
          })
        ).metadata.creditsUsed,
        2,
      );
    },
  },
  {
    name: 'a key without a credit limit has unlimited credits',
    run: async (product) => {
      const key = await product.createKey();
      for (let index = 0; index < 5; index++) await expectSuccess(product, { ...SMALL_CSV, key });
    },
  },
  {
    name: 'returns 429 `Rate limit exceeded`, and accepts a request that is sent after Retry-After seconds',
    run: async (product) => {
      const key = await product.createKey('--rate', '20');
      let refusal: Answer | undefined;
      for (let sent = 0; sent < 200 && !refusal; sent++) {
        const answer = await send(product, { ...EMPTY, key });
        if (answer.status === 429) refusal = answer;
        else assert.equal(answer.status, 400);
      }
      assert.ok(refusal, 'no request exceeded the rate limit');
      const body = errorBody(refusal, 429, 'RATE_LIMIT_EXCEEDED');
      assert.match(body.error, /rate limit exceeded/i);
      await pause(readRetryAfter(refusal) * 1000);
      assert.notEqual(
        (await send(product, { ...EMPTY, key })).status,
        429,
        'a request that is sent after Retry-After seconds must be accepted',
      );
    },
  },
  {
    name: 'the rate limit of one key does not affect another key',
    run: async (product) => {
      const [one, other] = [await product.createKey('--rate', '1'), await product.createKey('--rate', '1')];
      for (let attempt = 0; attempt < 3; attempt++) await send(product, { ...EMPTY, key: one });
      assert.equal((await send(product, { ...EMPTY, key: one })).status, 429);
      assert.equal((await send(product, { ...EMPTY, key: other })).status, 400);
    },
  },
  {
    name: 'returns 429 `Concurrency limit reached`, and accepts a request that is sent after Retry-After seconds',
    run: async (product) => {
      const key = await product.createKey('--concurrency', '1', '--queue', '0');
      const file = await readScannedPdf();
      let running = true;
      const first = parse(product, {
        file,
        fileName: 'scan.pdf',
        key,
        options: { timeout: 6_000, parsers: [{ type: 'pdf', mode: 'ocr' }] },
      }).finally(() => {
        running = false;
      });
      // A request with an invalid body does not use a concurrency slot.
      let refusal: Answer | undefined;
      while (running && !refusal) {
        const answer = await send(product, { ...EMPTY, key });
        if (answer.status === 429) refusal = answer;
        await pause(10);
      }
      assert.ok(refusal, 'no request was sent while the first one was running');
      assert.match(errorBody(refusal, 429, 'CONCURRENCY_LIMIT_REACHED').error, /^Concurrency limit reached/);
      const seconds = readRetryAfter(refusal);
      await Promise.all([first, pause(seconds * 1000)]);
      await expectSuccess(product, { ...SMALL_CSV, key });
    },
  },
  {
    name: 'a request that waited for a slot has `concurrencyLimited` true and `concurrencyQueueDurationMs` above 0',
    run: async (product) => {
      const key = await product.createKey('--concurrency', '1', '--queue', '8');
      const file = await readScannedPdf();
      const answers = await Promise.all(
        [1, 2].map(() =>
          parse(product, {
            file,
            fileName: 'scan.pdf',
            key,
            options: { parsers: [{ type: 'pdf', mode: 'ocr' }] },
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
    name: 'keys of one team share its concurrency limit',
    run: async (product) => {
      const flags = ['--team', `crew-${product.transport}`, '--concurrency', '1', '--queue', '8'];
      const [one, other] = [await product.createKey(...flags), await product.createKey(...flags)];
      const file = await readScannedPdf();
      const answers = await Promise.all(
        [one, other].map((key) =>
          parse(product, {
            file,
            fileName: 'scan.pdf',
            key,
            options: { parsers: [{ type: 'pdf', mode: 'ocr' }] },
          }),
        ),
      );
      assert.equal(answers.filter((answer) => successData(answer).metadata.concurrencyLimited).length, 1);
    },
  },
  {
    name: '`GET /v2/team/credit-usage` returns the credits that are left, and no plan for a key without a limit',
    run: async (product) => {
      const usage = async (key: string) => {
        const answer = await send(product, { method: 'GET', path: '/v2/team/credit-usage', key });
        assert.equal(answer.status, 200, answer.text);
        return (answer.body as { data: Record<string, unknown> }).data;
      };
      const key = await product.createKey('--credits', '5');
      const periods = { billingPeriodStart: null, billingPeriodEnd: null };
      assert.deepEqual(await usage(key), { remainingCredits: 5, planCredits: 5, ...periods });
      const file = await pdf([{ lines: ['One'] }, { lines: ['Two'] }]);
      await expectSuccess(product, { file, fileName: 'two.pdf', key });
      assert.deepEqual(await usage(key), { remainingCredits: 2, planCredits: 5, ...periods });
      // The last document may cost more than the credits that are left.
      await expectSuccess(product, { file, fileName: 'two.pdf', key });
      assert.deepEqual(await usage(key), { remainingCredits: 0, planCredits: 5, ...periods });
      const unlimited = await usage(await product.createKey());
      assert.deepEqual(unlimited, { remainingCredits: Number.MAX_SAFE_INTEGER, ...periods });
      errorBody(await send(product, { method: 'GET', path: '/v2/team/credit-usage', key: 'fc-x' }), 401);
    },
  },
  {
    name: '`GET /v2/team/queue-status` and `/v2/concurrency-check` count the running and waiting requests of the team',
    run: async (product) => {
      const key = await product.createKey('--concurrency', '1', '--queue', '8');
      const get = async (path: string) => (await send(product, { method: 'GET', path, key })).body;
      const idle = { success: true, jobsInQueue: 0, activeJobsInQueue: 0, waitingJobsInQueue: 0, maxConcurrency: 1 };
      assert.deepEqual(await get('/v2/team/queue-status'), { ...idle, mostRecentSuccess: null });
      const file = await readScannedPdf();
      const stopped = new AbortController();
      const running = [1, 2].map(() =>
        parse(product, {
          file,
          fileName: 'scan.pdf',
          key,
          options: { parsers: [{ type: 'pdf', mode: 'ocr' }] },
          signal: stopped.signal,
        }).catch(() => undefined),
      );
      let ended = false;
      void Promise.all(running).then(() => {
        ended = true;
      });
      const seen = new Set<string>();
      while (!ended) {
        const status = (await get('/v2/team/queue-status')) as Record<string, number>;
        seen.add(`${status.activeJobsInQueue}+${status.waitingJobsInQueue}=${status.jobsInQueue}`);
        const check = (await get('/v2/concurrency-check')) as Record<string, number>;
        assert.ok((check.concurrency ?? 2) <= 1);
        assert.equal(check.maxConcurrency, 1);
        if (seen.has('1+1=2')) stopped.abort();
        await pause(10);
      }
      assert.ok(seen.has('1+1=2'), [...seen].join(' '));
    },
  },
];
