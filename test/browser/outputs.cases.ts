// Cases of what the page shows besides the text: tables, redactions, other outputs and timings.
import assert from 'node:assert/strict';
import type { BrowserCase } from './browser-case.ts';
import { PERSONAL, PICTURE, SAMPLE, TABLES } from './documents.ts';

const clipboard = 'navigator.clipboard.readText()';

export const cases: readonly BrowserCase[] = [
  {
    name: 'one click parses the sample document',
    async run(visit) {
      await visit.open();
      await visit.page.click('#sample-start');
      await visit.result();
      await visit.page.locator('.facts-line', { hasText: '2 pages' }).waitFor();
    },
  },
  {
    // The only case that uses the clipboard, because all windows share it.
    name: 'each table is shown, and copied as Markdown and as CSV; the code is copied as it is shown',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await visit.parse('tides.html', TABLES);
      await visit.result();
      await visit.tab('Tables 2').click();
      const [first, second] = [page.locator('.table-card').nth(0), page.locator('.table-card').nth(1)];
      await first.getByRole('button', { name: 'Copy CSV' }).click();
      await first.getByText('Copied').waitFor();
      assert.equal(await page.evaluate(clipboard), 'Tide,Time\r\n"High, spring",04:12\r\n"""Low""",10:31\r\n');
      await first.getByRole('button', { name: 'Copy Markdown' }).click();
      await first.getByText('Copied').nth(0).waitFor();
      await visit.until(`${clipboard}.then((text) => text.startsWith('| Tide | Time |\\n| --- | --- |'))`);
      await second.getByRole('button', { name: 'Copy CSV' }).click();
      await visit.until(`${clipboard}.then((text) => text === 'Heights,\\r\\n3.9,0.8\\r\\n')`);
      await visit.tab('Code').click();
      await page.locator('#panel-code').getByRole('button', { name: 'Copy' }).click();
      const shown = JSON.stringify(await page.locator('#panel-code .code-text').textContent());
      await visit.until(`${clipboard}.then((text) => text === ${shown})`);
    },
  },
  {
    name: 'redactions have a colour for each kind of data, and the legend counts them',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.check('#redact');
      await visit.parse('contacts.html', PERSONAL);
      await visit.result();
      const colours = new Set<unknown>();
      for (const entity of ['PERSON', 'EMAIL', 'PHONE', 'FINANCIAL']) {
        const mark = page.locator(`#panel-text mark[data-entity="${entity}"]`);
        assert.equal(await mark.textContent(), `<${entity}>`);
        colours.add(
          await page.evaluate(
            `getComputedStyle(document.querySelector('mark[data-entity=${entity}]')).backgroundColor`,
          ),
        );
        await page.locator('.redaction-legend li', { hasText: `${entity} 1` }).waitFor();
      }
      assert.equal(colours.size, 4, [...colours].join(' '));
      await visit.tab('Markdown').click();
      assert.equal(await page.locator('#panel-markdown mark').count(), await page.locator('#panel-text mark').count());
    },
  },
  {
    name: 'masked text is marked too, and removed text is only counted',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.check('#redact');
      await page.selectOption('[name=redactStyle]', 'mask');
      await visit.parse('contacts.html', PERSONAL);
      await visit.result();
      assert.equal(await page.locator('#panel-text mark').first().textContent(), '***********');
      await page.selectOption('[name=redactStyle]', 'remove');
      await page.click('#parse');
      await page.locator('.redaction-legend', { hasText: 'deleted from the text' }).waitFor();
      assert.equal(await page.locator('#panel-text mark').count(), 0);
    },
  },
  {
    name: 'every requested output has a tab, with the metadata, a warning and the timings',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      for (const format of ['html', 'links', 'images', 'summary']) await page.check(`[value=${format}]`);
      await visit.parse('tides.html', TABLES);
      await visit.result();
      for (const [tab, text] of [
        ['HTML', '<table>'],
        ['Links 1', 'https://example.org/tides'],
        ['Images 0', 'no images'],
        ['Summary', 'Between'],
        ['Metadata', 'requestId'],
      ] as const) {
        await visit.tab(tab).click();
        await page.locator('.panel:visible', { hasText: text }).waitFor();
      }
      await page.locator('.notice.warning', { hasText: 'model' }).waitFor();
      await page.click('.timings summary');
      const stages = ['Upload', 'Queue', 'Convert', 'Enrich', 'Total'];
      assert.deepEqual(await page.locator('.timings dt').allTextContents(), stages);
    },
  },
  {
    name: 'the pictures inside a document are part of its text',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.check('[value=images]');
      await page.check('[name=embedded]');
      await visit.parse('picture.html', PICTURE);
      await visit.result();
      await visit.until("document.querySelector('.prose img')?.naturalWidth > 0");
      assert.equal(await page.locator('.prose img').getAttribute('alt'), 'A blue field');
      await visit.tab('Images 1').click();
      await page.locator('#panel-images img').waitFor();
    },
  },
  {
    name: 'an image is shown with its blocks',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.setInputFiles('#file', new URL('../../fixtures/pdf/scanned-page.png', import.meta.url).pathname);
      await page.click('#parse');
      await page.locator('.page .block').first().waitFor();
      await visit.until("document.querySelector('.page img').naturalWidth > 100");
    },
  },
  {
    name: 'the options of the form are sent as the API expects them',
    async run(visit) {
      const { page } = visit;
      // Chromium does not report the body of an upload, so the page's own call is recorded.
      await page.addInitScript(`{
        const { append } = FormData.prototype;
        FormData.prototype.append = function (name, ...values) {
          if (name === 'options') globalThis.sentOptions = values[0];
          return append.call(this, name, ...values);
        };
      }`);
      await visit.open();
      await page.click('.more summary');
      await page.fill('[name=maxPages]', '1');
      await page.check('[name=pageMarkdown]');
      await page.check('[name=pageMarkers]');
      await page.fill('[name=timeout]', '120');
      await visit.parse('sample.pdf', SAMPLE);
      await visit.result();
      assert.deepEqual(JSON.parse(String(await page.evaluate('sentOptions'))), {
        parsers: [{ type: 'pdf', blocks: true, maxPages: 1, pages: true, pageMarkers: true }],
        timeout: 120_000,
      });
      await visit.tab('By page').click();
      await page.locator('#panel-pages', { hasText: 'Reading one day' }).waitFor();
      assert.equal(await page.locator('.page').count(), 1);
      await page.locator('.facts-line', { hasText: '1 of 2 pages' }).waitFor();
      await page.fill('[name=maxPages]', '');
      await page.fill('[name=pages]', '2');
      await page.click('#parse');
      await page.locator('.page[data-page="2"]').waitFor();
      assert.equal(await page.locator('.page').count(), 1);
    },
  },
];
