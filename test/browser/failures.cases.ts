// Cases of requests that fail, and of cancelling one.
import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scannedLog } from '../harness/documents/scans.ts';
import type { BrowserCase } from './browser-case.ts';
import { SAMPLE } from './documents.ts';

export const cases: readonly BrowserCase[] = [
  {
    name: 'a wrong key is refused in the words of the API, and the field asks for another one',
    async run(visit) {
      const { page, product } = visit;
      await visit.open('fc-wrong-key');
      await visit.parse('sample.pdf', SAMPLE);
      const alert = page.locator('.failure[role=alert]');
      await alert.getByText('Unauthorized: Invalid token').waitFor();
      for (const text of ['401', 'UNAUTHORIZED', 'npm run keys']) await alert.getByText(text).first().waitFor();
      assert.match((await alert.locator('.facts').textContent()) ?? '', /Request id[0-9a-f-]{36}$/);
      assert.equal(await visit.focused(), 'key');
      await page.fill('#key', product.key);
      await page.click('#parse');
      await visit.result();
    },
  },
  {
    name: 'the key of the address is saved and removed from the address, and it can be forgotten',
    async run(visit) {
      const { page, product } = visit;
      await visit.open();
      assert.equal(page.url(), `${product.url}/`);
      await page.reload();
      await page.getByRole('button', { name: 'Forget key' }).click();
      assert.equal(await visit.focused(), 'key');
      assert.equal(await page.evaluate('JSON.stringify(localStorage)'), '{}');
      await visit.parse('sample.pdf', SAMPLE);
      await page.locator('#form-message', { hasText: 'Paste an API key first.' }).waitFor();
    },
  },
  {
    name: 'a file of an unsupported kind, and a file that is too large, get an error that says what to do',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await visit.parse('ship.dwg', 'AC1032');
      await page.locator('.failure-message', { hasText: '.pdf' }).waitFor();
      await page.locator('.failure', { hasText: 'UNSUPPORTED_FILE_TYPE' }).waitFor();
      const folder = await mkdtemp(join(tmpdir(), 'parsemesh-browser-'));
      try {
        const path = join(folder, 'large.pdf');
        await writeFile(path, '');
        await truncate(path, 51 * 1024 * 1024);
        await page.click('#file-remove');
        await page.setInputFiles('#file', path);
        await page.click('#parse');
        await page.locator('.failure', { hasText: 'at most 50.0 MiB' }).waitFor();
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  },
  {
    name: 'an invalid option is explained: by the page before it is sent, and by the API with its details',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.check('[value=json]');
      await page.fill('[name=jsonSchema]', '{"type":');
      await visit.parse('sample.pdf', SAMPLE);
      await page.locator('#form-message', { hasText: 'not valid JSON' }).waitFor();
      assert.equal(await page.evaluate('document.activeElement.name'), 'jsonSchema');
      await page.uncheck('[value=json]');
      await page.click('.more summary');
      await page.fill('[name=maxPages]', '0');
      await page.fill('[name=timeout]', '900');
      await page.click('#parse');
      for (const field of ['parsers[0].maxPages', 'timeout'])
        await page.locator('.failure-details', { hasText: field }).waitFor();
    },
  },
  {
    name: 'a scan of 40 pages shows its pages as they are done, in the text, in the bar and for screen readers',
    async run(visit) {
      const { page } = visit;
      const { bytes } = await scannedLog(40, { lines: 2, dpi: 100, size: [300, 110] });
      // Records every text and every announcement, because a fast machine shows them for a moment only.
      await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
        globalThis.seen = { texts: [], announced: [], bars: [] };
        const watch = (id, list, read) => new MutationObserver(() => seen[list].push(read(document.getElementById(id))))
          .observe(document.getElementById(id), { childList: true, attributes: true, subtree: true });
        watch('progress-text', 'texts', (element) => element.textContent);
        watch('status', 'announced', (element) => element.textContent);
        watch('progress-bar', 'bars', (element) => element.position);
      })`);
      await visit.open();
      await page.selectOption('[name=mode]', 'ocr');
      await page.click('.more summary');
      await page.fill('[name=timeout]', '300');
      await visit.parse('scan.pdf', bytes);
      await visit.result();
      const seen = (await page.evaluate('seen')) as { texts: string[]; announced: string[]; bars: number[] };
      const counts = seen.texts.flatMap((text) => /OCR: (\d+) of 40 pages$/.exec(text)?.[1] ?? []).map(Number);
      const between = counts.filter((count) => count > 0 && count < 40);
      assert.ok(new Set(between).size >= 3, `pages done: ${counts.join(' ')}`);
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => a - b),
        'the count never decreases',
      );
      assert.ok(seen.texts.some((text) => text.startsWith('Uploading')));
      assert.ok(seen.bars.some((position) => position > 0.4 && position < 1));
      assert.ok(seen.announced.some((text) => text.includes('OCR')));
      assert.match(seen.announced.at(-1) ?? '', /^Done in .*40 pages/);
      await page.click('.timings summary');
      await page.locator('.timings dt', { hasText: 'OCR' }).waitFor();
    },
  },
  {
    name: 'Cancel ends the request, and the focus returns to Parse',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      const { bytes } = await scannedLog(12, { lines: 20, dpi: 100 });
      await page.selectOption('[name=mode]', 'ocr');
      await visit.parse('scan.pdf', bytes);
      await page.locator('#progress-text', { hasText: 'Reading' }).waitFor();
      await page.locator('#cancel').press('Enter');
      await page.locator('#form-message', { hasText: 'Cancelled.' }).waitFor();
      assert.equal(await visit.focused(), 'parse');
      assert.equal(await page.locator('#progress').isVisible(), false);
    },
  },
];
