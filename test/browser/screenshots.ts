// `npm run screenshots`: takes the picture of the page for the README, or pictures of all its states into a folder.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { scannedLog } from '../harness/documents/scans.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { startBrowser, Visit } from './browser-case.ts';
import { PERSONAL, SAMPLE } from './documents.ts';

const README_PICTURE = fileURLToPath(new URL('../../docs/images/page.png', import.meta.url));
const USAGE = `npm run screenshots -- [--all FOLDER]
  without options  writes docs/images/page.png
  --all FOLDER     writes pictures of the states of the page, light and dark, wide and narrow`;

interface State {
  name: string;
  prepare: (visit: Visit) => Promise<void>;
}

const STATES: readonly State[] = [
  { name: 'start', prepare: async () => undefined },
  { name: 'result', prepare: showSample },
  {
    name: 'redactions',
    prepare: async (visit) => {
      await visit.page.check('#redact');
      await visit.parse('contacts.html', PERSONAL);
      await visit.result();
    },
  },
  {
    name: 'tables',
    prepare: async (visit) => {
      await showSample(visit);
      await visit.tab('Tables').click();
    },
  },
  {
    name: 'code',
    prepare: async (visit) => {
      await showSample(visit);
      await visit.tab('Code').click();
    },
  },
  {
    name: 'error',
    prepare: async (visit) => {
      await visit.page.fill('[name=maxPages]', '0');
      await visit.parse('sample.pdf', SAMPLE);
      await visit.page.locator('.failure').waitFor();
    },
  },
  {
    name: 'progress',
    prepare: async (visit) => {
      const { bytes } = await scannedLog(20, { lines: 20, dpi: 100 });
      await visit.page.selectOption('[name=mode]', 'ocr');
      await visit.parse('scan.pdf', bytes);
      await visit.page.locator('#progress-text', { hasText: /[2-9] of 20 pages/ }).waitFor();
    },
  },
];

/** The sample document with its table chosen. */
async function showSample(visit: Visit): Promise<void> {
  await visit.parse('sample.pdf', SAMPLE);
  await visit.page.locator('.page canvas').first().waitFor();
  await visit.page.locator('.block[data-type=table]').click();
  await visit.page.locator('.linked.marked').waitFor();
}

async function takeAll(browser: Browser, product: Product, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      for (const { name, prepare } of STATES) {
        const visit = await Visit.create(browser, product, { theme, width });
        await visit.open();
        await prepare(visit);
        const path = join(folder, `${name}-${width}-${theme}.png`);
        await visit.page.screenshot({ path, fullPage: width < 1000 });
        console.log(path);
        await visit.close();
      }
}

async function takeReadmePicture(browser: Browser, product: Product): Promise<void> {
  const visit = await Visit.create(browser, product, { width: 1360, height: 820 });
  await visit.open();
  await showSample(visit);
  await visit.page.screenshot({ path: README_PICTURE });
  console.log(README_PICTURE);
  await visit.close();
}

const { values } = parseArgs({ options: { all: { type: 'string' }, help: { type: 'boolean', default: false } } });
if (values.help) console.log(USAGE);
else {
  const [product, browser] = await Promise.all([startProduct({ transport: 'memory' }), startBrowser()]);
  try {
    if (values.all === undefined) await takeReadmePicture(browser, product);
    else await takeAll(browser, product, values.all);
  } finally {
    await browser.close();
    await product.stop();
  }
}
