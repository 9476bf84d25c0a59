// Tests that a scan has all of its pages, in order, although one of two OCR workers is killed while it reads a page.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Mesh } from '../chaos/mesh.ts';
import { type Answer, parse, successData } from '../harness/client.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { ocrPagesDone, ocrPagesInWork } from '../harness/metrics.ts';
import { skipReason } from '../harness/product.ts';

const PAGES = 8;

describe('an OCR worker that is killed', { skip: skipReason('nats') }, () => {
  let mesh: Mesh;
  before(async () => {
    const env = { OCR_CONCURRENCY: '1', PDF_CONCURRENCY: '1', LOG_LEVEL: 'warn' };
    mesh = await Mesh.start({ copies: { gateway: 1, pdf: 1, ocr: 2 }, env });
  });
  after(() => mesh.stop());

  test('its pages are read by the other worker', async () => {
    const scan = await scannedLog(PAGES, { lines: 14, dpi: 110 });
    const gateway = mesh.running('gateway')[0]?.product;
    const [victim, survivor] = mesh.running('ocr');
    assert.ok(gateway && victim && survivor);
    const options = { parsers: [{ type: 'pdf', pages: true, blocks: true }] };
    const pagesOfSurvivor = () => ocrPagesDone(survivor.product.opsUrl);
    const { opsUrl } = victim.product;
    let answer: Promise<Answer>;
    let read: number;
    let readBySurvivor: number;
    let isAnswered: boolean;
    // Repeats the request if it ends before this process has seen the worker during its second page. The first page
    // proves that the answers of the worker arrive.
    do {
      readBySurvivor = await pagesOfSurvivor();
      const readBefore = await ocrPagesDone(opsUrl);
      isAnswered = false;
      const end = () => {
        isAnswered = true;
      };
      answer = parse({ url: gateway.url, key: mesh.key }, { file: scan.bytes, fileName: 'log.pdf', options });
      answer.then(end, end);
      do {
        await pause(5);
        read = (await ocrPagesDone(opsUrl)) - readBefore;
      } while (!isAnswered && (read < 1 || (await ocrPagesInWork(opsUrl)) < 1));
    } while (isAnswered);
    await mesh.kill(victim.member);

    const data = successData(await answer);
    assert.equal(data.warning ?? null, null);
    assert.deepEqual(
      data.blocks?.map(({ pageNumber, status }) => [pageNumber, status]),
      scan.pages.map((_, index) => [index + 1, 'ok']),
    );
    for (const [index, truth] of scan.pages.entries()) {
      const page = data.pages?.[index];
      assert.equal(page?.pageNumber, index + 1);
      assert.ok(wordsFound(truth, page.markdown) >= 0.95, `page ${index + 1} reads ${page.markdown}`);
    }
    // The killed worker may have answered one more page between the last look and the kill.
    const readAfter = (await pagesOfSurvivor()) - readBySurvivor;
    assert.ok(readAfter >= PAGES - read - 1, `the other worker read ${readAfter} pages, and the killed one ${read}`);
  });
});
