// Cases of the link between the pages and the text, with the mouse and with the keyboard.
import assert from 'node:assert/strict';
import type { Block } from '#shared/contract/response.ts';
import { parse, successData } from '../harness/client.ts';
import type { BrowserCase, Visit } from './browser-case.ts';
import { longTextPdf, SAMPLE } from './documents.ts';

const BLOCKS = { parsers: [{ type: 'pdf', blocks: true }] };

/** Drops a file on the page, as a user does with the mouse. */
async function drop({ page }: Visit, name: string, bytes: Uint8Array): Promise<void> {
  const content = JSON.stringify(Buffer.from(bytes).toString('base64'));
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(${content}), (character) => character.charCodeAt(0));
    transfer.items.add(new File([bytes], ${JSON.stringify(name)}, { type: 'application/pdf' }));
    return transfer;
  })()`);
  for (const event of ['dragover', 'drop']) await page.dispatchEvent('#result', event, { dataTransfer });
}

/** The blocks of the sample as the API returns them. */
async function sampleBlocks({ product }: Visit): Promise<Block[]> {
  const data = successData(await parse(product, { file: SAMPLE, fileName: 'sample.pdf', options: BLOCKS }));
  return (data.blocks ?? []).flatMap(({ items }) => items);
}

const blockOf = ({ page }: Visit, text: string) => page.locator(`.block[aria-label*="${text}"]`);

/** Whether the element is inside the visible part of the pane that scrolls it. */
const isInView = (selector: string, pane: string): string =>
  `(() => {
    const inner = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    const outer = document.querySelector(${JSON.stringify(pane)}).getBoundingClientRect();
    return inner.top >= outer.top - 1 && inner.top < outer.bottom;
  })()`;

export const cases: readonly BrowserCase[] = [
  {
    name: 'a dropped PDF is drawn with its blocks, and a click on a block marks its span in the Markdown',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await drop(visit, 'sample.pdf', SAMPLE);
      await page.click('#parse');
      await page.locator('.page[data-page="2"] .block').first().waitFor({ state: 'attached' });
      const blocks = await sampleBlocks(visit);
      assert.equal(await page.locator('.block').count(), blocks.length);
      await page.locator('.page[data-page="1"] canvas').waitFor();
      const darkPixels = await page.evaluate(`(() => {
        const canvas = document.querySelector('.page canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, index) => index % 4 === 0 && value < 100).length;
      })()`);
      assert.ok(Number(darkPixels) > 500, 'the text of the page is drawn');

      await blockOf(visit, 'Most coasts').click();
      await page.locator('.linked.marked', { hasText: 'Most coasts have two high' }).waitFor();

      await visit.tab('Markdown').click();
      for (const { id, content } of blocks) {
        await page.locator(`.block[data-block-id="${id}"]`).click();
        assert.equal(await page.locator('#panel-markdown .marked').textContent(), content);
      }
    },
  },
  {
    name: 'the pointer on a block marks its text and scrolls to it, without a click',
    async run(visit) {
      const { page } = visit;
      await page.setViewportSize({ width: 1280, height: 620 });
      await visit.open();
      await visit.parse('sample.pdf', SAMPLE);
      await page.locator('.page[data-page="2"]').scrollIntoViewIfNeeded();
      await blockOf(visit, 'More on the method').hover();
      await page.locator('.linked.marked', { hasText: 'More on the method' }).waitFor();
      await visit.until(isInView('.linked.marked', '#panel-text'));
    },
  },
  {
    name: 'a click in the text outlines its block and scrolls the pages to it, in both views of the text',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await visit.parse('sample.pdf', SAMPLE);
      await visit.result();
      await page.locator('.linked', { hasText: 'The rule of twelfths' }).click();
      await page.locator('.block.marked[aria-label*="The rule of twelfths"]').waitFor();
      await visit.until(isInView('.block.marked', '.pages'));
      await visit.tab('Markdown').click();
      await page.locator('.span', { hasText: '# A short guide to tide tables' }).first().click();
      await page.locator('.block.marked[aria-label^="title"]').waitFor();
      await visit.until(isInView('.block.marked', '.pages'));
    },
  },
  {
    name: 'everything works with the keyboard alone, and the focus is never lost',
    async run(visit) {
      const { page, product } = visit;
      await visit.open(null);
      // Early: the browser learns asynchronously that a test answers the dialog, and a dialog that opens before would stay open.
      const chosen = page.waitForEvent('filechooser');
      chosen.catch(() => undefined);
      const press = async (key: string): Promise<string> => {
        await page.keyboard.press(key);
        const focused = await visit.focused();
        assert.notEqual(focused, 'body', `the focus is lost after ${key}`);
        return focused;
      };
      const tabTo = async (wanted: RegExp): Promise<void> => {
        for (let step = 0; step < 60; step++) if (wanted.test(await press('Tab'))) return;
        assert.fail(`${wanted} is not reachable with Tab`);
      };
      await tabTo(/^Skip to the result$/);
      await tabTo(/^key$/);
      await page.keyboard.type(product.key);
      await tabTo(/^file$/);
      assert.equal(await page.evaluate('localStorage.getItem("parsemesh.key")'), product.key);
      await page.keyboard.press('Space');
      const chooser = await chosen;
      await chooser.setFiles({ name: 'sample.pdf', mimeType: 'application/pdf', buffer: SAMPLE });
      await tabTo(/^parse$/);
      await press('Enter');
      await visit.result();
      assert.equal(await visit.focused(), 'parse');

      await tabTo(/^title, 1 of/);
      assert.match(await press('ArrowDown'), /^text, 2 of/);
      await page.locator('.linked.marked', { hasText: 'A tide table says' }).waitFor();
      assert.match(await press('End'), /More on the method/);
      assert.match(await press('Home'), /^title/);
      assert.match(await press('Enter'), /^Show this title on page 1/);
      assert.match(await press('ArrowDown'), /^Show this text on page 1/);
      assert.match(await press('Enter'), /^text, 2 of/);
      const ring = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
      assert.equal(ring, 'solid', 'the focus is visible');

      await tabTo(/^tab-text$/);
      assert.equal(await press('ArrowRight'), 'tab-markdown');
      assert.equal(await press('End'), 'tab-code');
      await page.locator('#panel-code').waitFor();
    },
  },
  {
    name: 'a PDF of 600 pages draws only the pages that are visible, and its last block is found from the text',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await visit.parse('long.pdf', await longTextPdf(600));
      await visit.result();
      assert.equal(await page.locator('.page').count(), 600);
      await page.locator('.page canvas').first().waitFor();
      assert.ok((await page.locator('canvas').count()) < 10, 'pages out of view are not drawn');
      await page.locator('.page').last().scrollIntoViewIfNeeded();
      await page.locator('.page[data-page="600"] .block').last().click();
      await page.locator('.linked.marked', { hasText: 'page 600' }).waitFor();
      await page.locator('.page[data-page="600"] canvas').waitFor();
      assert.ok((await page.locator('canvas').count()) <= 25, 'pages that were drawn are dropped');
    },
  },
];
