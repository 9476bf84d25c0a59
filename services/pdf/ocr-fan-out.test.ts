// Holds how a scan's pages go to OCR: never more on the bus than workers take and a few ahead, each in its place again, and none after the document is given up.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PDFDocument, PDFName } from 'pdf-lib';
import { ParseError } from '#shared/contract/errors.ts';
import type { JobContext, OcrJob, OcrPage, RenderOptions } from '#shared/contract/jobs.ts';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { JobProgress } from '#shared/contract/progress.ts';
import { convertPdf } from './convert.ts';

/** A scan whose pages are small pictures: what is asked here is how many go when, not what they say. */
async function scan(count: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const image = document.context.register(
    document.context.flateStream(new Uint8Array(64 * 64).fill(90), {
      Type: 'XObject',
      Subtype: 'Image',
      Width: 64,
      Height: 64,
      ColorSpace: 'DeviceGray',
      BitsPerComponent: 8,
    }),
  );
  for (let n = 0; n < count; n++) {
    const page = document.addPage([64, 64]);
    page.node.setXObject(PDFName.of('Scan'), image);
    page.node.set(
      PDFName.of('Contents'),
      document.context.register(document.context.stream('q 64 0 0 64 0 0 cm /Scan Do Q')),
    );
  }
  return document.save();
}

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

function page(job: OcrJob): OcrPage {
  const { width, height, pageNumber } = job;
  const word = {
    text: `sheet${pageNumber}`,
    box: [4, 20, 60, 30] as [number, number, number, number],
    confidence: 0.9,
  };
  return { width, height, rotation: 0, confidence: 0.9, lines: [{ box: word.box, height: 8, words: [word] }] };
}

/** Workers that take pages in the order sent, each one at a time, and end them in any order. */
class Fleet {
  readonly #workers: number;
  readonly #answer: (job: OcrJob) => OcrPage;
  readonly #queue: (() => void)[] = [];
  #busy = 0;
  underWay = 0;
  most = 0;
  asked = 0;

  constructor(workers: number, answer = page) {
    this.#workers = workers;
    this.#answer = answer;
  }

  context(signal = new AbortController().signal): JobContext {
    return {
      signal,
      deadline: Date.now() + 600_000,
      requestId: 'request-1',
      volatile: false,
      call: async <Reply>(_queue: string, job: unknown, _pixels: Uint8Array, started?: () => void) => {
        this.asked += 1;
        this.underWay += 1;
        this.most = Math.max(this.most, this.underWay);
        try {
          await new Promise<void>((resolve) => {
            this.#queue.push(resolve);
            this.#next();
          });
          started?.();
          // A page that takes long ends after those behind it.
          const turns = (this.asked * 7) % 5;
          for (let turn = 0; turn <= turns; turn++) await new Promise((resolve) => setImmediate(resolve));
          return { reply: this.#answer(job as OcrJob) as Reply };
        } finally {
          this.underWay -= 1;
          this.#busy -= 1;
          this.#next();
        }
      },
    };
  }

  #next(): void {
    while (this.#busy < this.#workers) {
      const take = this.#queue.shift();
      if (!take) return;
      this.#busy += 1;
      take();
    }
  }
}

const convert = async (bytes: Uint8Array, context: JobContext) =>
  convertPdf({ bytes, fileName: 'scan.pdf', extension: '.pdf' }, OPTIONS, context);

for (const workers of [0, 1, 6])
  test(`a thousand scanned pages and ${workers} workers: a few wait ahead of them, no more`, async () => {
    const fleet = new Fleet(workers);
    const gone = new AbortController();
    const bytes = await scan(1_000);
    const converting = convert(bytes, fleet.context(gone.signal));
    if (workers === 0) {
      converting.catch(() => undefined);
      while (fleet.asked < TRANSPORT_LIMITS.ocrPagesWaiting) await pause(5);
      // Turns of the event loop, not milliseconds: a slow machine needs longer for them.
      for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(fleet.asked, TRANSPORT_LIMITS.ocrPagesWaiting, 'nobody takes a page, so no more are sent');
      return;
    }
    const { pages = [], warnings } = await converting;
    assert.ok(fleet.most > workers, 'pages wait, so that no worker does');
    assert.ok(fleet.most <= workers + TRANSPORT_LIMITS.ocrPagesWaiting, `${fleet.most} were on the bus at once`);
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      pages.map((one) => [one.pageNumber, one.status, one.blocks.map((block) => block.html.replace(/<[^>]+>/g, ''))]),
      Array.from({ length: 1_000 }, (_, index) => [index + 1, 'ok', [`sheet${index + 1}`]]),
    );
  });

test('however many workers there are, the pages on the bus are bounded', async () => {
  const fleet = new Fleet(10_000);
  await convert(await scan(300), fleet.context());
  assert.ok(fleet.most <= TRANSPORT_LIMITS.ocrPagesInFlight, `${fleet.most} were on the bus at once`);
});

test('reports the pages that are read, with stage ocr while a page is with OCR', async () => {
  const reports: JobProgress[] = [];
  const fleet = new Fleet(3);
  const context = { ...fleet.context(), progress: (report: JobProgress) => void reports.push(report) };
  const { pages = [] } = await convert(await scan(40), context);
  assert.equal(pages.length, 40);
  assert.deepEqual(reports[0], { stage: 'convert', pagesDone: 0, pages: 40 });
  assert.deepEqual(reports.at(-1), { stage: 'convert', pagesDone: 40, pages: 40 });
  assert.deepEqual([...new Set(reports.slice(1, -1).map(({ stage }) => stage))], ['ocr']);
  const done = reports.map(({ pagesDone }) => pagesDone ?? -1);
  assert.deepEqual(
    [...new Set(done)],
    Array.from({ length: 41 }, (_, count) => count),
    'each page is reported once it is read, and the number never goes back',
  );
});

test('one page that fails leaves the others', async () => {
  const fleet = new Fleet(3, (job) => {
    if (job.pageNumber === 5) throw new ParseError('DOCUMENT_TOO_COMPLEX', 'no page of text');
    return page(job);
  });
  const { pages = [], warnings } = await convert(await scan(12), fleet.context());
  assert.deepEqual(
    pages.map((one) => one.status),
    Array.from({ length: 12 }, (_, index) => (index === 4 ? 'failed' : 'ok')),
  );
  assert.deepEqual(warnings, ['page 5 could not be read by OCR']);
});

test('a page that was hard to read is partial, and said to be', async () => {
  const fleet = new Fleet(2, (job) => ({ ...page(job), confidence: job.pageNumber === 2 ? 0.4 : 0.9 }));
  const { pages = [], warnings } = await convert(await scan(3), fleet.context());
  assert.deepEqual(
    pages.map((one) => one.status),
    ['ok', 'partial', 'ok'],
  );
  assert.deepEqual(warnings, ['page 2 was hard to read by OCR: its text may be wrong in places']);
});

test('a document that meets its deadline sends no more pages', async () => {
  const fleet = new Fleet(1, (job) => {
    if (job.pageNumber === 20) throw new ParseError('REQUEST_TIMEOUT');
    return page(job);
  });
  await assert.rejects(convert(await scan(200), fleet.context()), { code: 'REQUEST_TIMEOUT' });
  assert.ok(fleet.asked < 40, `${fleet.asked} pages were sent`);
});

/** A context whose OCR answers the first pages at once, and the others never. */
function slowContext(first: number, timeoutMs: number): { context: JobContext; asked: () => number } {
  const signal = AbortSignal.timeout(timeoutMs);
  let asked = 0;
  const call = async <Reply>(_queue: string, job: unknown, _pixels: Uint8Array, started?: () => void) => {
    asked += 1;
    if ((job as OcrJob).pageNumber > first)
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new ParseError('REQUEST_TIMEOUT'))),
      );
    started?.();
    return { reply: page(job as OcrJob) as Reply };
  };
  const context = { signal, deadline: Date.now() + timeoutMs, requestId: 'request-1', volatile: false, call };
  return { context, asked: () => asked };
}

test('shortly before the deadline, a document is answered with the pages that are ready', async () => {
  const { context, asked } = slowContext(3, 4_000);
  const { pages = [], warnings, metadata } = await convert(await scan(40), context);
  assert.ok(Date.now() < context.deadline, 'the answer has time to be sent');
  assert.deepEqual(
    pages.map((one) => [one.pageNumber, one.status, one.blocks.length]),
    Array.from({ length: 40 }, (_, index) => (index < 3 ? [index + 1, 'ok', 1] : [index + 1, 'failed', 0])),
  );
  assert.equal(metadata.numPages, 3);
  assert.equal(metadata.totalPages, 40);
  assert.deepEqual(warnings, [
    '37 of 40 pages are missing because the time limit was reached: 4-40. Send the request with a longer `timeout`, or ask for fewer pages with `parsers[].pages`',
  ]);
  const sent = asked();
  assert.ok(sent <= 3 + TRANSPORT_LIMITS.ocrPagesWaiting, `${sent} pages were sent`);
  await pause(50);
  assert.equal(asked(), sent, 'no more pages are sent');
});

test('a document ends earlier if other stages follow', async () => {
  const { context } = slowContext(1, 6_000);
  const file = { bytes: await scan(2), fileName: 'scan.pdf', extension: '.pdf' };
  const { pages = [] } = await convertPdf(file, { ...OPTIONS, laterShare: 0.5 }, context);
  assert.ok(context.deadline - Date.now() > 3_000, 'half of the time is left');
  assert.deepEqual(
    pages.map(({ status }) => status),
    ['ok', 'failed'],
  );
});

test('the pages with a text layer are ready without OCR', async () => {
  const file = new URL('../../fixtures/pdf/scan-then-text.pdf', import.meta.url);
  const { context } = slowContext(0, 3_000);
  const { pages = [], warnings } = await convert(await readFile(file), context);
  assert.deepEqual(
    pages.map(({ status }) => status),
    ['failed', 'ok'],
  );
  assert.match(warnings[0] ?? '', /^1 of 2 pages are missing .*: 1\./);
});

test('a document without a page that is ready is a timeout', async () => {
  const { context } = slowContext(0, 1_000);
  await assert.rejects(convert(await scan(4), context), { code: 'REQUEST_TIMEOUT' });
});

test('a caller that leaves gets no pages, also if some are ready', async () => {
  const gone = new AbortController();
  const { context } = slowContext(2, 60_000);
  const call: JobContext['call'] = async (queue, job, pixels, started) => {
    if ((job as OcrJob).pageNumber <= 2) return context.call(queue, job, pixels, started);
    setImmediate(() => gone.abort());
    await new Promise((_, reject) =>
      gone.signal.addEventListener('abort', () => reject(new ParseError('REQUEST_TIMEOUT'))),
    );
    throw new Error('not reached');
  };
  await assert.rejects(
    convert(await scan(4), { ...context, signal: gone.signal, call }),
    (error) => error instanceof Error,
  );
  assert.ok(context.deadline - Date.now() > 30_000, 'it ends at once');
});

test('a caller that leaves stops the pages that were not sent', async () => {
  const gone = new AbortController();
  const fleet = new Fleet(2, (job) => {
    if (job.pageNumber === 10) gone.abort();
    return page(job);
  });
  await assert.rejects(convert(await scan(200), fleet.context(gone.signal)), { name: 'AbortError' });
  assert.ok(fleet.asked < 60, `${fleet.asked} pages were sent`);
});
