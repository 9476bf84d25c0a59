// Cases of hostile documents: nothing in a document runs, loads or leads anywhere without the user.
import assert from 'node:assert/strict';
import type { BrowserCase, Visit } from './browser-case.ts';

const HOSTILE = `<script>window.ran = 1</script>

<img src="x" onerror="window.ran = 2">

<svg onload="window.ran = 3"><animate onbegin="window.ran = 4" attributeName="x" dur="1s"/></svg>

[run](javascript:window.ran=5) [data](data:text/html,<script>window.ran=6</script>) <a href="JaVaScRiPt:window.ran=7">upper</a>

<iframe src="https://example.com/"></iframe> <object data="https://example.com/"></object> <embed src="https://example.com/">

<style>body { display: none }</style> <p style="position:fixed;inset:0" id="request" class="primary">over the page</p>

<form action="https://example.com/"><input name="key"><button formaction="https://example.com/">send</button></form>

![tracker](https://example.com/tracker.png) <img srcset="https://example.com/a.png 2x" alt="set">

<math><mtext><table><mglyph><style><img src=x onerror="window.ran=8"></style></mglyph></table></mtext></math>

| a | b |
| - | - |
| <img src=x onerror="window.ran=9"> | [link](https://example.com/page) |

The end of the document.
`;

async function expectHarmless({ page }: Visit): Promise<void> {
  await page.locator('.prose', { hasText: 'The end of the document.' }).waitFor();
  // A text that is rendered in one piece runs its handlers before the browser paints twice.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  assert.equal(await page.evaluate('window.ran'), undefined);
  const dangerous =
    '.prose .section :is(script, iframe, object, embed, form, input, style, svg, [style], [id], [onerror])';
  assert.equal(await page.locator(dangerous).count(), 0);
  for (const link of await page.locator('.prose a[href]').all()) {
    assert.match(String(await link.getAttribute('href')), /^https:\/\/example\.com\//);
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
  }
  assert.ok(await page.locator('#parse').isVisible());
}

export const cases: readonly BrowserCase[] = [
  {
    name: 'a hostile Markdown file does not run in the page, and loads nothing from another server',
    async run(visit) {
      await visit.open();
      await visit.parse('hostile.md', HOSTILE);
      await expectHarmless(visit);
      for (const tab of ['Markdown', 'Tables']) {
        await visit.tab(tab).click();
        assert.equal(await visit.page.evaluate('window.ran'), undefined);
      }
    },
  },
  {
    name: 'the page does not trust the Markdown of the API either',
    async run(visit) {
      // DOMPurify parses the text in a document that runs no scripts. Chromium reports what the policy blocks there.
      visit.expectProblems(
        /^console error: .* violates the following Content Security Policy directive .*dompurify\.js\)$/,
      );
      await visit.open();
      // The server removes most of this from a document. The page must not rely on that.
      await visit.page.route('**/v2/parse', async (route) => {
        const response = await route.fetch({ headers: { ...route.request().headers(), accept: 'application/json' } });
        const body = (await response.json()) as { data: { markdown: string } };
        body.data.markdown = HOSTILE;
        await route.fulfill({ response, json: body });
      });
      await visit.parse('page.html', '<p>Harmless');
      await expectHarmless(visit);
      assert.ok((await visit.page.locator('.prose .picture-link').count()) > 0);
    },
  },
];
