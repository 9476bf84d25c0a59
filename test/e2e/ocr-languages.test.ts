// OCR reads with the models of the folder and the languages that its two variables name, and says at the start which model is missing.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, successData } from '../harness/client.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { type Product, startProduct } from '../harness/product.ts';

/** Where this machine keeps the English model, which stands in for one of another language under a name of its own. */
async function englishModel(): Promise<string> {
  const debian = '/usr/share/tesseract-ocr';
  const versions = existsSync(debian) ? await readdir(debian) : [];
  const folders = [
    process.env.TESSDATA_PREFIX ?? '',
    ...versions.map((version) => join(debian, version, 'tessdata')),
    '/usr/share/tessdata',
  ];
  const found = folders.map((folder) => join(folder, 'eng.traineddata')).find(existsSync);
  assert.ok(found, 'the English model is installed (Debian: apt-get install tesseract-ocr-eng)');
  return found;
}

describe('languages of OCR', () => {
  let folder: string;
  let product: Product | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-models-'));
    await copyFile(await englishModel(), join(folder, 'harbourish.traineddata'));
  });
  after(async () => {
    await product?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const start = (languages: string) =>
    startProduct({ transport: 'memory', env: { TESSDATA_PREFIX: folder, OCR_LANGUAGES: languages } });

  test('a language that no system has is read from the folder that is named', async () => {
    product = await start('harbourish');
    const scan = await scannedLog(1, { lines: 6, dpi: 150 });
    const answer = await parse(product, { file: scan.bytes, fileName: 'log.pdf' });
    const { markdown = '' } = successData(answer);
    assert.ok(wordsFound(scan.pages[0] ?? '', markdown) >= 0.95, markdown);
  });

  for (const languages of ['eng', 'harbourish+deu', '../harbourish'])
    test(`OCR_LANGUAGES=${languages}: the start is refused, naming the model, the folder and what it has`, async () => {
      const missing = languages.split('+').at(-1);
      await assert.rejects(start(languages), (error: Error) => {
        assert.match(error.message, /configuration: OCR_LANGUAGES/);
        assert.ok(error.message.includes(`no ${missing}.traineddata in ${folder}`), error.message);
        assert.match(error.message, /which has harbourish\./);
        return true;
      });
    });
});
