// Tests that OCR uses the model folder and the languages of its two variables, and that the start fails if a model is missing.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { errorBody, parse, successData } from '../harness/client.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';

/** The path of the installed English model. The test copies it under the name of a language that does not exist. */
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
  /** A folder with two models. */
  let both: string;
  let product: Product | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-models-'));
    await copyFile(await englishModel(), join(folder, 'harbourish.traineddata'));
    both = await mkdtemp(join(tmpdir(), 'parsemesh-models-'));
    for (const name of ['eng', 'harbourish']) await copyFile(await englishModel(), join(both, `${name}.traineddata`));
  });
  after(async () => {
    await product?.stop();
    for (const one of [folder, both]) await rm(one, { recursive: true, force: true });
  });
  const start = (languages: string) =>
    startProduct({ transport: 'memory', env: { TESSDATA_PREFIX: folder, OCR_LANGUAGES: languages } });

  test('TESSDATA_PREFIX: reads a scan with a model that only this folder has', async () => {
    product = await start('harbourish');
    const scan = await scannedLog(1, { lines: 6, dpi: 150 });
    const answer = await parse(product, { file: scan.bytes, fileName: 'log.pdf' });
    const { markdown = '' } = successData(answer);
    assert.ok(wordsFound(scan.pages[0] ?? '', markdown) >= 0.95, markdown);
  });

  for (const transport of TRANSPORTS)
    test(`language: requests with different languages take turns, over ${transport}`, {
      skip: skipReason(transport),
    }, async () => {
      const multilingual = await startProduct({ transport, env: { TESSDATA_PREFIX: both, OCR_LANGUAGES: 'eng' } });
      try {
        const scan = await scannedLog(1, { lines: 6, dpi: 150 });
        const read = (language: string | undefined) =>
          parse(multilingual, {
            file: scan.bytes,
            fileName: 'log.pdf',
            options: { timeout: 300_000, ...(language === undefined ? {} : { language }) },
          });
        for (const language of ['harbourish', undefined, 'harbourish+eng', 'harbourish', 'eng+harbourish', undefined]) {
          const { markdown = '' } = successData(await read(language));
          assert.ok(wordsFound(scan.pages[0] ?? '', markdown) >= 0.95, `${language}: ${markdown}`);
        }
        const { error } = errorBody(await read('eng+deu'), 400, 'BAD_REQUEST');
        assert.match(error, /`deu` is not installed on this server\. Installed languages: eng, harbourish/);
      } finally {
        await multilingual.stop();
      }
    });

  for (const languages of ['eng', 'harbourish+deu', '../harbourish'])
    test(`OCR_LANGUAGES=${languages}: the start fails and names the missing model, the folder and its models`, async () => {
      const missing = languages.split('+').at(-1);
      await assert.rejects(start(languages), (error: Error) => {
        assert.match(error.message, /configuration: OCR_LANGUAGES/);
        assert.ok(error.message.includes(`no ${missing}.traineddata in ${folder}`), error.message);
        assert.match(error.message, /which has harbourish\./);
        return true;
      });
    });
});
