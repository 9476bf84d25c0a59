// Cases of the first minute of a new user: the printed link, and the API reference.
import assert from 'node:assert/strict';
import type { BrowserCase } from './browser-case.ts';
import { SAMPLE } from './documents.ts';

export const cases: readonly BrowserCase[] = [
  {
    name: 'the link that `npm start` prints opens the page with the key, and one click parses the sample',
    async run({ page, product }) {
      const link = /Try it in a browser: (\S+)/.exec(product.output())?.[1] ?? '';
      assert.match(link, /#key=/);
      await page.goto(link);
      await page.click('#sample-start');
      await page.locator('.facts-line', { hasText: '2 pages' }).waitFor();
      assert.equal(page.url(), `${product.url}/`);
    },
  },
  {
    name: '`/docs` has examples that work: authorize, choose a file, Execute, and the response has Markdown',
    async run({ page, product }) {
      await page.goto(`${product.url}/docs`);
      await page.locator('button.authorize').first().click();
      await page.locator('.auth-container input').fill(product.key);
      await page.locator('.auth-btn-wrapper .authorize').click();
      await page.locator('.btn-done').click();
      const parse = page.locator('#operations-parse-parse');
      await parse.locator('.opblock-summary').click();
      await parse.locator('.try-out__btn').click();
      await parse.locator('input[type=file]').setInputFiles({
        name: 'sample.pdf',
        mimeType: 'application/pdf',
        buffer: SAMPLE,
      });
      await parse.locator('.execute').click();
      const response = parse.locator('.live-responses-table .response').first();
      await response.locator('.response-col_status', { hasText: '200' }).waitFor();
      assert.match((await response.textContent()) ?? '', /"markdown": "# A short guide to tide tables/);
    },
  },
];
