// Runs the browser cases in Chromium against one started product.
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Product, startProduct } from '../harness/product.ts';
import { cases as appearance } from './appearance.cases.ts';
import { type BrowserCase, browserSkipReason, startBrowser, Visit } from './browser-case.ts';
import { cases as code } from './code.cases.ts';
import { cases as failures } from './failures.cases.ts';
import { cases as firstMinute } from './first-minute.cases.ts';
import { cases as linking } from './linking.cases.ts';
import { cases as outputs } from './outputs.cases.ts';
import { cases as safety } from './safety.cases.ts';

const CASES: readonly BrowserCase[] = [
  ...firstMinute,
  ...linking,
  ...outputs,
  ...failures,
  ...code,
  ...safety,
  ...appearance,
];
const only = process.env.CASES === undefined ? undefined : new RegExp(process.env.CASES, 'i');

// Windows do not share storage, so cases run at the same time.
describe('the page in Chromium', { skip: browserSkipReason(), concurrency: 3 }, () => {
  let product: Product;
  let browser: Browser;
  before(async () => {
    [product, browser] = await Promise.all([startProduct({ transport: 'memory' }), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await product?.stop();
  });
  for (const { name, run } of CASES.filter((one) => only === undefined || only.test(one.name)))
    test(name, async () => {
      const visit = await Visit.create(browser, product);
      try {
        await run(visit);
      } catch (error) {
        await visit.context.close();
        throw error;
      }
      await visit.close();
    });
});
