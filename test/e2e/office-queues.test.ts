// Tests that office files that the product reads itself do not wait for LibreOffice, also when the name of a file is wrong.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { descendants } from '../bench/process-tree.ts';
import { parse, successData } from '../harness/client.ts';
import { CONTENT, docx, rtf, xlsb } from '../harness/documents.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';

const DOC = new URL('../../fixtures/doc/report.doc', import.meta.url);
const XLS = new URL('../../fixtures/xls/harbour-report.xls', import.meta.url);

/** Process ids of every LibreOffice of the product. */
const libreOffices = (product: Product): number[] =>
  [...product.pids.values()]
    .flatMap(descendants)
    .filter(({ command }) => command === 'soffice.bin')
    .map(({ pid }) => pid);

for (const transport of TRANSPORTS)
  describe(`office files over ${transport}`, { skip: skipReason(transport) }, () => {
    let product: Product;
    before(async () => {
      product = await startProduct({ transport, env: { OFFICE_CONCURRENCY: '1', LIBREOFFICE_CONCURRENCY: '2' } });
    });
    after(() => product?.stop());

    const markdownOf = async (file: Uint8Array | string, fileName: string, timeout = 300_000) =>
      successData(await parse(product, { file, fileName, options: { timeout } })).markdown ?? '';

    test('two files that make LibreOffice hang do not delay files that do not need it', async () => {
      const doc = await readFile(DOC);
      const stopped = new Set<number>();
      // LibreOffice is stopped as soon as it starts, and so is each one that replaces it.
      const stopper = setInterval(() => {
        for (const pid of libreOffices(product)) {
          try {
            process.kill(pid, 'SIGSTOP');
            stopped.add(pid);
          } catch {
            // It has just exited.
          }
        }
      }, 20);
      const client = new AbortController();
      const hung = [1, 2].map((number) =>
        parse(product, { file: doc, fileName: `hung-${number}.doc`, signal: client.signal }).catch(() => undefined),
      );
      try {
        while (stopped.size < 2) await pause(20);
        for (const number of [1, 2, 3])
          assert.match(await markdownOf(docx(CONTENT), `native-${number}.docx`), /seventeen herons/);
      } finally {
        clearInterval(stopper);
        client.abort();
        await Promise.all(hung);
      }
      for (const pid of stopped) while (libreOffices(product).includes(pid)) await pause(20);
    });

    test('a legacy file with the name of a modern format is converted by LibreOffice', async () => {
      assert.match(await markdownOf(await readFile(XLS), 'sheet.xlsx'), /Petrel/);
      assert.match(await markdownOf(await readFile(DOC), 'report.docx'), /Field report/);
      assert.match(await markdownOf(xlsb(CONTENT), 'binary.xlsx'), /Petrel/);
      assert.match(await markdownOf(rtf(), 'text.docx'), /seventeen herons/);
    });

    test('a modern file with the name of a legacy format is converted', async () => {
      assert.match(await markdownOf(docx(CONTENT), 'report.doc'), /seventeen herons/);
      assert.match(await markdownOf(docx(CONTENT), 'report.rtf'), /seventeen herons/);
    });
  });
