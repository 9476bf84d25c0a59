// Holds our way of driving tesseract's core to tesseract.js' public API: the same page, the same words.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createWorker, OEM, PSM, type Worker } from 'tesseract.js';
import { findModels } from '#services/ocr/tesseract-models.ts';
import { close, handle } from '#services/ocr/worker.ts';
import type { OcrJob, OcrPage } from '#shared/contract/jobs.ts';
import { context } from './our-way.ts';

const DPI = 150;

function modelFolder(): string | undefined {
  try {
    return dirname(findModels(['eng']).get('eng') ?? '');
  } catch {
    return undefined;
  }
}
const folder = modelFolder();
const skip = folder !== undefined || process.env.CI ? false : 'the OCR language data `eng` is not installed';

const pageImage = (name: string) =>
  gunzipSync(readFileSync(new URL(`../../fixtures/ocr/${name}.pgm.gz`, import.meta.url)));

async function ourWords(pgm: Buffer): Promise<string[]> {
  const head = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(pgm.subarray(0, 64).toString('latin1'));
  assert.ok(head, 'the fixture is a PGM');
  const [width, height] = [Number(head[1]), Number(head[2])];
  const job: OcrJob = { kind: 'ocr', requestId: 'oracle', pageNumber: 1, width, height, dpi: DPI, languages: ['eng'] };
  const page = (await handle(job, new Uint8Array(pgm.subarray(head[0].length)), context())).reply as OcrPage;
  return page.lines.flatMap((line) => line.words.map((word) => word.text));
}

describe('tesseract.js and we read the same', { skip }, () => {
  let worker: Worker | undefined;
  after(async () => {
    await worker?.terminate();
    await close();
  });

  async function theirWords(pgm: Buffer): Promise<string[]> {
    if (!worker) {
      // A folder as langPath and no cache: nothing is fetched, nothing is written.
      worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath: folder ?? '', gzip: false, cacheMethod: 'none' });
      await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, user_defined_dpi: String(DPI) });
    }
    const { data } = await worker.recognize(pgm);
    return data.text.split(/\s+/).filter((word) => word !== '');
  }

  for (const name of ['letter', 'two-columns'])
    test(name, async () => {
      const image = pageImage(name);
      const theirs = await theirWords(image);
      assert.ok(theirs.length > 20, 'tesseract.js read the page');
      assert.deepEqual(await ourWords(image), theirs);
    });

  test('tiny-print: what we enlarge first we read better, and lose nothing', async () => {
    const image = pageImage('tiny-print');
    const truth = new Set(await ourWords(pageImage('letter')));
    const known = (words: readonly string[]) => words.filter((word) => truth.has(word)).length;
    const [ours, theirs] = [known(await ourWords(image)), known(await theirWords(image))];
    assert.ok(ours >= theirs && ours > truth.size / 2, `${ours} known words, tesseract.js ${theirs}`);
  });
});
