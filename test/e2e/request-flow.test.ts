// Tests complete requests over both transports: every format, all stages in one request, cancellation, deadlines and shutdown.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { type Answer, errorBody, parse, send, successData } from '../harness/client.ts';
import { repeatedScan } from '../harness/documents/scans.ts';
import { csv, pdf, sample, WORDS } from '../harness/documents.ts';
import { ocrPagesDone, ocrPagesInWork } from '../harness/metrics.ts';
import { type Product, skipReason, startProduct, TRANSPORTS, type TransportName } from '../harness/product.ts';
import { ANSWERS, type ModelServer, startModelServer } from './model-server.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    boats: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, length: { type: 'integer' } },
        required: ['name'],
      },
    },
  },
  required: ['boats'],
  additionalProperties: false,
};
const scan = () => readFile(new URL('../../fixtures/pdf/scanned-harbour-report.pdf', import.meta.url));
const SMALL = { file: csv(), fileName: 'boats.csv' };
const OCR = { parsers: [{ type: 'pdf', mode: 'ocr' }] };
/** Pages of a scan that takes minutes to read. */
const LONG_PAGES = 400;
/** Time in which a few of these pages are read, also on a machine that is busy, ms. */
const READ_SOME_MS = 12_000;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits until the request `running` uses the only slot of its key. @throws Error if it ends before that */
async function untilBusy(product: Product, key: string, running: Promise<Answer>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  running.then(end, end);
  // Without a body, this request is refused before it could use the slot itself.
  while ((await send(product, { key })).status !== 429) {
    if (ended) throw new Error('the request ended before it was seen to use the slot');
    await pause(20);
  }
}

/** Response bodies by request, to compare the transports. */
const bodies = new Map<TransportName, Map<string, unknown>>();

/** The body without the fields that differ between two equal requests. */
function comparable(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (key, value) =>
    key === 'requestId' || key === 'concurrencyQueueDurationMs' ? undefined : value,
  );
}

for (const transport of TRANSPORTS)
  describe(`a request over ${transport}`, { skip: skipReason(transport) }, () => {
    let product: Product;
    let model: ModelServer;
    const bodiesHere = new Map<string, unknown>();
    bodies.set(transport, bodiesHere);
    before(async () => {
      model = await startModelServer();
      product = await startProduct({
        transport,
        env: { LLM_BASE_URL: model.url, LLM_API_KEY: 'model-key', LLM_MODEL: 'small' },
      });
    });
    after(async () => {
      await product?.stop();
      await model?.stop();
    });

    /** Counters of the process that runs OCR. `pagesRead` counts from now. */
    const ocrCounters = async () => {
      const opsUrl = product.opsUrls.get(transport === 'nats' ? 'ocr' : 'start') ?? '';
      const before = await ocrPagesDone(opsUrl);
      return {
        opsUrl,
        pagesInWork: () => ocrPagesInWork(opsUrl),
        pagesRead: async () => (await ocrPagesDone(opsUrl)) - before,
      };
    };
    const untilIdle = async (opsUrl: string) => {
      while ((await ocrPagesInWork(opsUrl)) > 0) await pause(20);
    };

    describe('each format', { concurrency: 4 }, () => {
      for (const extension of EXTENSIONS)
        test(`${extension}: returns markdown, html, rawHtml, links and images`, async () => {
          const { bytes, fileName } = await sample(extension);
          const answer = await parse(product, {
            file: bytes,
            fileName,
            options: { formats: ['markdown', 'html', 'rawHtml', 'links', 'images'] },
          });
          const data = successData(answer);
          for (const words of WORDS)
            for (const text of [data.markdown, data.html, data.rawHtml])
              assert.ok(text?.includes(words), `${words}: ${text}`);
          assert.deepEqual([data.links, data.images], [[], []]);
          bodiesHere.set(extension, comparable(answer.body));
        });
    });

    test('a scanned PDF: the pdf service gets its text from the ocr service', async () => {
      const answer = await parse(product, {
        file: await scan(),
        fileName: 'scan.pdf',
        options: { parsers: [{ type: 'pdf', pages: true, blocks: true }] },
      });
      const data = successData(answer);
      for (const words of WORDS) assert.ok(data.markdown?.includes(words), data.markdown);
      assert.match(data.pages?.[0]?.markdown ?? '', /herons/);
      assert.ok(data.blocks?.[0]?.items.some((item) => (item.confidence.ocr ?? 0) > 0.5));
      bodiesHere.set('scan', comparable(answer.body));
    });

    test('redaction, summary, pages and blocks in one request: each stage gets only the redacted text', async () => {
      const file = await pdf([
        {
          title: 'Crew list',
          lines: ['Write to anna.keller@example.com about the storm.', 'The harbour stays closed until noon.'],
        },
        { lines: ['Second page names ben@example.org too.'] },
      ]);
      const promptsBefore = model.prompts.length;
      const answer = await parse(product, {
        file,
        fileName: 'crew.pdf',
        options: {
          formats: ['markdown', 'html', 'summary'],
          redactPII: { entities: ['EMAIL'] },
          parsers: [{ type: 'pdf', pages: true, blocks: true, pageMarkers: true }],
        },
      });
      const data = successData(answer);
      assert.equal(data.summary, ANSWERS.summary);
      assert.doesNotMatch(answer.text, /anna\.keller|ben@/);
      for (const text of [data.markdown, data.html, data.pages?.[0]?.markdown]) assert.match(text ?? '', /EMAIL/);
      for (const item of data.blocks?.flatMap((page) => page.items) ?? [])
        if (item.markdownSpan) assert.equal((data.markdown ?? '').slice(...item.markdownSpan), item.content);
      const prompts = model.prompts.slice(promptsBefore).join('\n');
      assert.match(prompts, /harbour stays closed/);
      assert.doesNotMatch(prompts, /anna\.keller|ben@/);
      bodiesHere.set('all stages', comparable(answer.body));
    });

    test('json with a schema: returns the answer of the model, for 4 more credits', async () => {
      const answer = await parse(product, {
        ...SMALL,
        options: { formats: ['markdown', { type: 'json', prompt: 'List the boats', schema: SCHEMA }] },
      });
      const data = successData(answer);
      assert.deepEqual(data.json, ANSWERS.boats);
      assert.equal(data.metadata.creditsUsed, 5);
      assert.match(data.markdown ?? '', /Petrel/);
    });

    test('json with only a prompt: returns no markdown', async () => {
      const data = successData(
        await parse(product, {
          ...SMALL,
          options: { formats: [{ type: 'json', prompt: 'List the boats' }] },
        }),
      );
      assert.deepEqual(data.json, ANSWERS.boats);
      assert.equal(data.markdown, undefined);
    });

    test('json: asks the model again after an answer that does not match the schema', async () => {
      const data = successData(
        await parse(product, {
          ...SMALL,
          options: {
            formats: [{ type: 'json', prompt: `List the boats ${ANSWERS.repair}`, schema: SCHEMA }],
          },
        }),
      );
      assert.deepEqual(data.json, ANSWERS.boats);
    });

    test('json: returns 422 EXTRACTION_FAILED if the second answer of the model does not match the schema either', async () => {
      errorBody(
        await parse(product, {
          ...SMALL,
          options: { formats: [{ type: 'json', prompt: ANSWERS.nonsense, schema: SCHEMA }] },
        }),
        422,
        'EXTRACTION_FAILED',
      );
    });

    for (const schema of [{ type: 'nothing' }, { $ref: '#/missing' }])
      test(`json: returns 422 SCHEMA_INVALID for the schema ${JSON.stringify(schema)}`, async () => {
        errorBody(
          await parse(product, { ...SMALL, options: { formats: [{ type: 'json', schema }] } }),
          422,
          'SCHEMA_INVALID',
        );
      });

    test('json: returns 502 if the endpoint of the model fails', async () => {
      errorBody(
        await parse(product, {
          ...SMALL,
          options: { formats: [{ type: 'json', prompt: ANSWERS.fault }] },
        }),
        502,
        'BAD_GATEWAY',
      );
    });

    test('summary: the model writes it, without a warning', async () => {
      const data = successData(await parse(product, { ...SMALL, options: { formats: ['summary'] } }));
      assert.equal(data.summary, ANSWERS.summary);
      assert.equal(data.warning ?? null, null);
    });

    test('a client that disconnects frees its slot, and its document is no longer processed', async () => {
      const key = await product.createKey('--concurrency', '1', '--queue', '0');
      const leaving = new AbortController();
      const { pagesInWork, pagesRead, opsUrl } = await ocrCounters();
      const file = await repeatedScan(LONG_PAGES);
      const first = parse(product, { file, fileName: 'long.pdf', key, signal: leaving.signal });
      first.catch(() => undefined);
      await untilBusy(product, key, first);
      while ((await pagesInWork()) === 0) await pause(20);
      leaving.abort();
      await assert.rejects(first);
      const second = { file: await scan(), fileName: 'scan.pdf', key, options: OCR };
      let answer = await parse(product, second);
      // The slot becomes free when the gateway sees that the connection is closed.
      while (answer.status === 429) {
        await pause(50);
        answer = await parse(product, second);
      }
      assert.match(successData(answer).markdown ?? '', /herons/);
      await untilIdle(opsUrl);
      assert.ok((await pagesRead()) < LONG_PAGES, 'most pages of the first document are never read');
    });

    test('after the deadline, a document is no longer processed', async () => {
      const { pagesRead, opsUrl } = await ocrCounters();
      const file = await repeatedScan(LONG_PAGES);
      errorBody(
        await parse(product, { file, fileName: 'long.pdf', options: { timeout: 500 } }),
        408,
        'REQUEST_TIMEOUT',
      );
      const answer = await parse(product, { file: await scan(), fileName: 'scan.pdf', options: OCR });
      assert.match(successData(answer).markdown ?? '', /herons/);
      await untilIdle(opsUrl);
      assert.ok((await pagesRead()) < LONG_PAGES, 'most pages of the first document are never read');
    });

    test('before the deadline, a long scan is answered with the pages that are ready', async () => {
      const { opsUrl } = await ocrCounters();
      const data = successData(
        await parse(product, {
          file: await repeatedScan(LONG_PAGES),
          fileName: 'long.pdf',
          options: { timeout: READ_SOME_MS, parsers: [{ type: 'pdf', mode: 'ocr', pages: true, blocks: true }] },
        }),
      );
      assert.match(data.markdown ?? '', /herons/);
      const statuses = (data.blocks ?? []).map(({ status }) => status);
      const missing = statuses.filter((status) => status === 'failed').length;
      assert.deepEqual([statuses.length, data.pages?.length], [LONG_PAGES, LONG_PAGES]);
      assert.ok(missing > 0 && missing < LONG_PAGES, `${missing} pages are missing`);
      assert.equal(data.metadata.numPages, LONG_PAGES - missing);
      assert.equal(data.metadata.creditsUsed, 1 + LONG_PAGES - missing);
      assert.ok(
        data.warning?.startsWith(`${missing} of ${LONG_PAGES} pages are missing`),
        data.warning ?? 'no warning',
      );
      await untilIdle(opsUrl);
    });

    test('SIGTERM: running requests are answered, new ones are refused, and every process exits with 0', async () => {
      const file = await repeatedScan(3);
      const key = await product.createKey('--concurrency', '1', '--queue', '0');
      const running = parse(product, { file, fileName: 'long.pdf', key, options: OCR });
      await untilBusy(product, key, running);
      const stopping = product.stop();
      // It accepts requests until it has seen the signal: 400, because this one has no body.
      let late = await send(product).catch(() => undefined);
      while (late?.status === 400) {
        await pause(20);
        late = await send(product).catch(() => undefined);
      }
      assert.ok(
        late === undefined || late.status === 503,
        `a new request must be refused, not answered with ${late?.status}`,
      );
      assert.match(successData(await running).markdown ?? '', /herons/);
      for (const { service, code, signal } of await stopping)
        assert.deepEqual([service, code, signal], [service, 0, null]);
    });
  });

describe('both transports', { skip: bodies.size < 2 || skipReason('nats') }, () => {
  for (const request of [...EXTENSIONS, 'scan', 'all stages'])
    test(`${request}: return the same body, except for ids and times`, () => {
      const [one, other] = [...bodies.values()].map((bodiesOfOne) => bodiesOfOne.get(request));
      assert.ok(one !== undefined && other !== undefined, 'both transports returned a body');
      assert.deepEqual(one, other);
    });
});
