// Cases of colours, width and accessibility, in the light and the dark theme.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { BrowserCase, Visit } from './browser-case.ts';
import { PERSONAL, SAMPLE } from './documents.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Runs the rules of axe-core: WCAG 2.2 A and AA, and best practices. */
async function expectAccessible({ page }: Visit, state: string): Promise<void> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] };
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`),
    [],
    state,
  );
}

const background = 'getComputedStyle(document.body).backgroundColor';

export const cases: readonly BrowserCase[] = [
  {
    name: 'the theme follows the system, and the choice of the user wins and is kept',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      const light = await page.evaluate(background);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await page.evaluate(background);
      assert.notEqual(dark, light);
      await page.selectOption('#theme', 'light');
      assert.equal(await page.evaluate(background), light);
      await page.reload();
      assert.equal(await page.evaluate(background), light);
      assert.equal(await page.locator('#theme').inputValue(), 'light');
    },
  },
  ...(['light', 'dark'] as const).map(
    (theme): BrowserCase => ({
      name: `axe-core finds no problem in the ${theme} theme: start, options, result, redactions, error`,
      async run(visit) {
        const { page } = visit;
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await visit.open();
        await page.click('.more summary');
        for (const box of ['#redact', '[value=json]', '[value=images]']) await page.check(box);
        await expectAccessible(visit, 'start with all options');
        for (const box of ['[value=json]', '[value=images]']) await page.uncheck(box);
        await visit.parse('contacts.html', PERSONAL);
        await visit.result();
        await expectAccessible(visit, 'redactions');
        await page.uncheck('#redact');
        await visit.parse('sample.pdf', SAMPLE);
        await page.locator('.page .block').first().click();
        for (const tab of ['Text', 'Markdown', 'Tables', 'Metadata', 'Code']) {
          await visit.tab(tab).click();
          await expectAccessible(visit, tab);
        }
        await visit.parse('ship.dwg', 'AC1032');
        await page.locator('.failure').waitFor();
        await expectAccessible(visit, 'error');
      },
    }),
  ),
  {
    name: 'at a width of 360 pixels nothing is cut off, and the result is below the form',
    async run(visit) {
      const { page } = visit;
      await page.setViewportSize({ width: 360, height: 740 });
      await visit.open();
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      assert.equal(await page.evaluate(overflow), 0);
      await visit.parse('sample.pdf', SAMPLE);
      await page.locator('.page .block').first().waitFor();
      assert.equal(await page.evaluate(overflow), 0);
      await page.locator('.block[aria-label*="Most coasts"]').click();
      await page.locator('.linked.marked', { hasText: 'Most coasts' }).waitFor();
      // The text is below the pages, so the window scrolls to it.
      await visit.until("document.querySelector('.linked.marked').getBoundingClientRect().bottom < innerHeight");
      await expectAccessible(visit, 'result at 360 pixels');
    },
  },
];
