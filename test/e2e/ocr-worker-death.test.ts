// One scan over two OCR workers, of which one is killed inside a page: the answer has every page, in order, with its own words.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Mesh } from '../chaos/mesh.ts';
import { parse, successData } from '../harness/client.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { ocrPagesDone, ocrPagesInWork } from '../harness/metrics.ts';
import { skipReason } from '../harness/product.ts';

const PAGES = 8;

describe('the death of an OCR worker', { skip: skipReason('nats') }, () => {
  let mesh: Mesh;
  before(async () => {
    const env = { OCR_CONCURRENCY: '1', PDF_CONCURRENCY: '1', LOG_LEVEL: 'warn' };
    mesh = await Mesh.start({ copies: { gateway: 1, pdf: 1, ocr: 2 }, env });
  });
  after(() => mesh.stop());

  test('loses no page', async () => {
    const scan = await scannedLog(PAGES, { lines: 14, dpi: 110 });
    const gateway = mesh.running('gateway')[0]?.product;
    const [victim, survivor] = mesh.running('ocr');
    assert.ok(gateway && victim && survivor);
    const options = { parsers: [{ type: 'pdf', pages: true, blocks: true }] };
    const answer = parse({ url: gateway.url, key: mesh.key }, { file: scan.bytes, fileName: 'log.pdf', options });
    let answered = false;
    const settled = () => {
      answered = true;
    };
    answer.then(settled, settled);
    const { opsUrl } = victim.product;
    // Inside its second page: the first proves that it answers.
    let read = 0;
    while (read < 1 || (await ocrPagesInWork(opsUrl)) < 1) {
      assert.ok(!answered, 'the worker that is to die was never seen inside its second page');
      await pause(5);
      read = await ocrPagesDone(opsUrl);
    }
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
    // Between the look and the kill it may have ended one more.
    assert.ok((await ocrPagesDone(survivor.product.opsUrl)) >= PAGES - read - 1, 'the other worker took over');
  });
});
