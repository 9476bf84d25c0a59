// Tests that the product starts without LibreOffice and OCR data, reads the other formats, and names the package to install.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { errorBody, parse, successData } from '../harness/client.ts';
import { csv } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';

const fixture = (path: string): Promise<Buffer> => readFile(new URL(`../../fixtures/${path}`, import.meta.url));

describe('without LibreOffice and OCR data', () => {
  let product: Product;
  before(async () => {
    product = await startProduct({
      transport: 'memory',
      env: { LIBREOFFICE_FOLDER: '/nowhere/program', TESSDATA_PREFIX: '/nowhere/tessdata' },
    });
  });
  after(() => product.stop());

  const unreadable: readonly [string, string, RegExp][] = [
    ['a .doc', 'doc/harbour-report.doc', /apt-get install libreoffice-writer-nogui/],
    ['an .xls', 'xls/harbour-report.xls', /apt-get install libreoffice-writer-nogui/],
    ['a scan', 'pdf/scanned-harbour-report.pdf', /apt-get install tesseract-ocr-eng/],
  ];
  for (const [name, path, advice] of unreadable)
    test(`${name}: returns 503 with the package to install`, async () => {
      const answer = await parse(product, { file: await fixture(path), fileName: path.replace(/.*\//, '') });
      const error = errorBody(answer, 503, 'SERVICE_UNAVAILABLE');
      assert.match(error.error, advice);
    });

  test('reads a PDF with text and a CSV', async () => {
    const answer = await parse(product, { file: await fixture('pdf/sample.pdf'), fileName: 'sample.pdf' });
    assert.match(String(successData(answer).markdown), /tide table/);
    assert.equal((await parse(product, { file: csv(), fileName: 'boats.csv' })).status, 200);
  });
});
