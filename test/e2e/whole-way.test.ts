// The whole way of real files through the started product, the same over both transports: every kind, every stage at once, cancel and drain.
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
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits until the work behind `running` holds the one place of its key. @throws Error where it ends before */
async function untilBusy(product: Product, key: string, running: Promise<Answer>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  running.then(end, end);
  // A body that is refused takes no place from the work it waits for.
  while ((await send(product, { key })).status !== 429) {
    if (ended) throw new Error('the work ended before it was seen to run');
    await pause(20);
  }
}

/** Bodies by question, for the comparison of the transports. */
const answers = new Map<TransportName, Map<string, unknown>>();

/** The body without what differs from request to request. */
function comparable(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (key, value) =>
    key === 'requestId' || key === 'concurrencyQueueDurationMs' ? undefined : value,
  );
}

for (const transport of TRANSPORTS)
  describe(`whole way over ${transport}`, { skip: skipReason(transport) }, () => {
    let product: Product;
    let model: ModelServer;
    const kept = new Map<string, unknown>();
    answers.set(transport, kept);
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

    /** Counters of the process that runs OCR; `pagesRead` counts from now on. */
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

    describe('every kind', { concurrency: 4 }, () => {
      for (const extension of EXTENSIONS)
        test(`${extension} to markdown, html, rawHtml, links and images`, async () => {
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
          kept.set(extension, comparable(answer.body));
        });
    });

    test('an image-only PDF through the PDF and the OCR service', async () => {
      const answer = await parse(product, {
        file: await scan(),
        fileName: 'scan.pdf',
        options: { parsers: [{ type: 'pdf', pages: true, blocks: true }] },
      });
      const data = successData(answer);
      for (const words of WORDS) assert.ok(data.markdown?.includes(words), data.markdown);
      assert.match(data.pages?.[0]?.markdown ?? '', /herons/);
      assert.ok(data.blocks?.[0]?.items.some((item) => (item.confidence.ocr ?? 0) > 0.5));
      kept.set('scan', comparable(answer.body));
    });

    test('redaction, summary, pages and blocks at once: every stage sees the redacted text alone', async () => {
      const file = await pdf([
        {
          title: 'Crew list',
          lines: ['Write to anna.keller@example.com about the storm.', 'The harbour stays closed until noon.'],
        },
        { lines: ['Second page names ben@example.org too.'] },
      ]);
      const asked = model.prompts.length;
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
      const prompts = model.prompts.slice(asked).join('\n');
      assert.match(prompts, /harbour stays closed/);
      assert.doesNotMatch(prompts, /anna\.keller|ben@/);
      kept.set('everything', comparable(answer.body));
    });

    test('json by a schema through the model; 4 credits more', async () => {
      const answer = await parse(product, {
        ...SMALL,
        options: { formats: ['markdown', { type: 'json', prompt: 'List the boats', schema: SCHEMA }] },
      });
      const data = successData(answer);
      assert.deepEqual(data.json, ANSWERS.boats);
      assert.equal(data.metadata.creditsUsed, 5);
      assert.match(data.markdown ?? '', /Petrel/);
    });

    test('json by a prompt alone, without the markdown that it was made from', async () => {
      const data = successData(
        await parse(product, {
          ...SMALL,
          options: { formats: [{ type: 'json', prompt: 'List the boats' }] },
        }),
      );
      assert.deepEqual(data.json, ANSWERS.boats);
      assert.equal(data.markdown, undefined);
    });

    test('a wrong answer is repaired once', async () => {
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

    test('a model that gives no conforming result after a repair: 422 EXTRACTION_FAILED', async () => {
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
      test(`a schema that cannot be used: 422 (${JSON.stringify(schema)})`, async () => {
        errorBody(
          await parse(product, { ...SMALL, options: { formats: [{ type: 'json', schema }] } }),
          422,
          'SCHEMA_INVALID',
        );
      });

    test('a model endpoint that fails: 502 in the documented shape', async () => {
      errorBody(
        await parse(product, {
          ...SMALL,
          options: { formats: [{ type: 'json', prompt: ANSWERS.fault }] },
        }),
        502,
        'BAD_GATEWAY',
      );
    });

    test('summary by the model has no warning about a missing one', async () => {
      const data = successData(await parse(product, { ...SMALL, options: { formats: ['summary'] } }));
      assert.equal(data.summary, ANSWERS.summary);
      assert.equal(data.warning ?? null, null);
    });

    test('a client that leaves frees its slot, and the work on its document stops', async () => {
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

    test('a deadline stops the work too', async () => {
      const { pagesRead, opsUrl } = await ocrCounters();
      const file = await repeatedScan(LONG_PAGES);
      errorBody(
        await parse(product, { file, fileName: 'long.pdf', options: { timeout: 1_000 } }),
        408,
        'REQUEST_TIMEOUT',
      );
      const answer = await parse(product, { file: await scan(), fileName: 'scan.pdf', options: OCR });
      assert.match(successData(answer).markdown ?? '', /herons/);
      await untilIdle(opsUrl);
      assert.ok((await pagesRead()) < LONG_PAGES, 'most pages of the first document are never read');
    });

    test('SIGTERM: running work is answered, new work is refused, every process exits with 0', async () => {
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
      assert.ok(late === undefined || late.status === 503, `new work is refused: ${late?.status}`);
      assert.match(successData(await running).markdown ?? '', /herons/);
      for (const { service, code, signal } of await stopping)
        assert.deepEqual([service, code, signal], [service, 0, null]);
    });
  });

describe('both transports answer the same', { skip: answers.size < 2 || skipReason('nats') }, () => {
  for (const question of [...EXTENSIONS, 'scan', 'everything'])
    test(`${question}: the same body apart from ids and times`, () => {
      const [one, other] = [...answers.values()].map((kept) => kept.get(question));
      assert.ok(one !== undefined && other !== undefined, 'both answered');
      assert.deepEqual(one, other);
    });
});
