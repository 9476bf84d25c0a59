// Tests that the OCR service reads the same words as the public API of tesseract.js, because it uses only its WebAssembly core.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createWorker, OEM, PSM, type Worker } from 'tesseract.js';
import { findModels } from '#services/ocr/tesseract-models.ts';
import { close, handle } from '#services/ocr/worker.ts';
import type { OcrJob, OcrPage } from '#shared/contract/jobs.ts';
import { createJobContext } from './office-markdown.ts';

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

async function parsemeshWords(pgm: Buffer): Promise<string[]> {
  const header = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(pgm.subarray(0, 64).toString('latin1'));
  assert.ok(header, 'the fixture must be a PGM image');
  const [width, height] = [Number(header[1]), Number(header[2])];
  const job: OcrJob = { kind: 'ocr', requestId: 'oracle', pageNumber: 1, width, height, dpi: DPI, languages: ['eng'] };
  const page = (await handle(job, new Uint8Array(pgm.subarray(header[0].length)), createJobContext())).reply as OcrPage;
  return page.lines.flatMap((line) => line.words.map((word) => word.text));
}

describe('the OCR service', { skip }, () => {
  let worker: Worker | undefined;
  after(async () => {
    await worker?.terminate();
    await close();
  });

  async function tesseractJsWords(pgm: Buffer): Promise<string[]> {
    if (!worker) {
      // With a folder as langPath and without a cache, tesseract.js downloads and writes nothing.
      worker = await createWorker('eng', OEM.LSTM_ONLY, { langPath: folder ?? '', gzip: false, cacheMethod: 'none' });
      await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO, user_defined_dpi: String(DPI) });
    }
    const { data } = await worker.recognize(pgm);
    return data.text.split(/\s+/).filter((word) => word !== '');
  }

  for (const name of ['letter', 'two-columns'])
    test(`reads the same words as tesseract.js on ${name}`, async () => {
      const image = pageImage(name);
      const expected = await tesseractJsWords(image);
      assert.ok(expected.length > 20, 'tesseract.js must read the page');
      assert.deepEqual(await parsemeshWords(image), expected);
    });

  test('reads at least as many words of tiny-print as tesseract.js, because it enlarges the page first', async () => {
    const image = pageImage('tiny-print');
    const truth = new Set(await parsemeshWords(pageImage('letter')));
    const countCorrect = (words: readonly string[]) => words.filter((word) => truth.has(word)).length;
    const [ours, theirs] = [countCorrect(await parsemeshWords(image)), countCorrect(await tesseractJsWords(image))];
    assert.ok(ours >= theirs && ours > truth.size / 2, `${ours} correct words, tesseract.js ${theirs}`);
  });
});
