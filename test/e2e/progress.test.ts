// Tests the progress of a parse over NATS with two workers of each kind: a worker that is killed, and a client that disconnects.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Mesh } from '../chaos/mesh.ts';
import { repeatedScan } from '../harness/documents/scans.ts';
import { collectEvents, openEvents, type StreamEvent } from '../harness/events.ts';
import { jobsInWork, ocrPagesDone } from '../harness/metrics.ts';
import { skipReason } from '../harness/product.ts';

const PAGES = 12;
/** Pages of a scan that takes minutes to read. */
const LONG_PAGES = 400;

const pagesDone = ({ data }: StreamEvent): number => (JSON.parse(data) as { pagesDone?: number }).pagesDone ?? 0;

describe('progress from two workers of each kind', { skip: skipReason('nats') }, () => {
  let mesh: Mesh;
  before(async () => {
    const env = { OCR_CONCURRENCY: '1', PDF_CONCURRENCY: '1', LOG_LEVEL: 'warn' };
    mesh = await Mesh.start({ copies: { gateway: 1, pdf: 2, ocr: 2 }, env });
  });
  after(() => mesh.stop());

  const gateway = () => {
    const url = mesh.running('gateway')[0]?.product.url;
    assert.ok(url);
    return { url, key: mesh.key };
  };

  /** Reads events until at least `count` pages are done. */
  async function readUntil(events: AsyncGenerator<StreamEvent>, count: number): Promise<StreamEvent[]> {
    const read: StreamEvent[] = [];
    for (;;) {
      const { value } = await events.next();
      assert.equal(value?.name, 'progress', 'the parse still runs');
      read.push(value);
      if (pagesDone(value) >= count) return read;
    }
  }

  test('a client that disconnects cancels the document on every worker', async () => {
    const ocr = mesh.running('ocr').map(({ product }) => product.opsUrl);
    const pdf = mesh.running('pdf').map(({ product }) => product.opsUrl);
    const leaving = new AbortController();
    const file = await repeatedScan(LONG_PAGES);
    const { events } = await openEvents(gateway(), { file, fileName: 'long.pdf', signal: leaving.signal });
    await readUntil(events, 3);
    leaving.abort();
    const inWork = async () =>
      (
        await Promise.all([...ocr.map((url) => jobsInWork(url, 'ocr')), ...pdf.map((url) => jobsInWork(url, 'pdf'))])
      ).some((count) => count > 0);
    while (await inWork()) await pause(20);
    const read = (await Promise.all(ocr.map(ocrPagesDone))).reduce((sum, count) => sum + count, 0);
    assert.ok(read >= 3 && read < LONG_PAGES, `${read} pages were read`);
  });

  test('the progress starts again when the worker of the document is killed, and the result is complete', async () => {
    const response = await openEvents(gateway(), { file: await repeatedScan(PAGES), fileName: 'scan.pdf' });
    const read = await readUntil(response.events, 2);
    const workers = await Promise.all(
      mesh.running('pdf').map(async (worker) => ({ worker, jobs: await jobsInWork(worker.product.opsUrl, 'pdf') })),
    );
    const [victim, ...others] = workers.filter(({ jobs }) => jobs > 0);
    assert.ok(victim && others.length === 0, 'one worker has the document');
    await mesh.kill(victim.worker.member);
    const { progress, result, error } = await collectEvents(response);
    assert.equal(error, undefined);
    const counted = progress.flatMap((event) => (event.pagesDone === undefined ? [] : [event.pagesDone]));
    assert.ok(Math.max(...read.map(pagesDone)) > Math.min(...counted), 'the second attempt starts at the first page');
    const { data } = JSON.parse(result ?? '');
    assert.equal(data.metadata.numPages, PAGES);
    assert.equal(data.warning ?? null, null);
  });
});
