// Checks the effect of each option of docs/api.md, "Options", by default and when set.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

import {
  type ContractCase,
  expectError,
  expectFieldInDetails,
  expectSuccess,
  htmlPage,
  SMALL_CSV,
} from './contract-case.ts';
import { THREE_PAGE_PDF } from './pdf-documents.ts';

const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)]);
const CHROME =
  '<header><p>Top banner</p></header><nav><a href="/a">Menu entry</a></nav><main><h1>Story</h1><p>The story has enough words to be the main content of this page, and then some more words.</p></main><aside><p>Side note</p></aside><footer><p>Foot note</p></footer>';
const ADS =
  '<main><h1>Story</h1><p>The story itself.</p></main><div class="advertisement"><p>Buy our rope</p></div><ins class="adsbygoogle">Sponsored rope</ins><div id="cookie-banner"><p>We use cookies</p><button>Accept all</button></div>';
const TAGGED =
  '<main><h1>Story</h1><p class="keep">Kept words</p><p class="drop">Dropped words</p><div id="inner"><p>Inner words</p></div></main><footer><p class="keep">Footer words</p></footer>';
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const cases: ContractCase[] = [
  {
    name: '`onlyMainContent` removes headers, navigation and footers by default',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, htmlPage(CHROME));
      assert.match(markdown, /# Story/);
      assert.doesNotMatch(markdown, /Top banner|Menu entry|Foot note/);
    },
  },
  {
    name: '`onlyMainContent: false` keeps headers, navigation and footers',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(CHROME),
        options: { onlyMainContent: false },
      });
      for (const words of ['Top banner', 'Menu entry', 'Story', 'Foot note'])
        assert.ok(markdown.includes(words), words);
    },
  },
  {
    name: '`blockAds` removes advertisements and cookie banners by default',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, { ...htmlPage(ADS), options: { onlyMainContent: false } });
      assert.match(markdown, /The story itself/);
      assert.doesNotMatch(markdown, /Sponsored rope|We use cookies/);
    },
  },
  {
    name: '`blockAds: false` keeps advertisements and cookie banners',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(ADS),
        options: { onlyMainContent: false, blockAds: false },
      });
      assert.match(markdown, /Sponsored rope/);
      assert.match(markdown, /We use cookies/);
    },
  },
  {
    name: '`excludeTags` removes matching tags and selectors from Markdown and HTML',
    run: async (product) => {
      const { markdown = '', html } = await expectSuccess(product, {
        ...htmlPage(TAGGED),
        options: { excludeTags: ['.drop', 'h1'], formats: ['markdown', 'html'] },
      });
      assert.match(markdown, /Kept words/);
      for (const text of [markdown, html ?? '']) assert.doesNotMatch(text, /Dropped words|Story/);
    },
  },
  {
    name: '`includeTags` keeps only the matching elements',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(TAGGED),
        options: { includeTags: ['#inner'] },
      });
      assert.equal(markdown.trim(), 'Inner words');
    },
  },
  {
    name: '`includeTags` that match nothing return empty Markdown and a `warning` with the selectors (html, csv, pdf)',
    run: async (product) => {
      const options = { includeTags: ['string', '.absent'] };
      for (const file of [htmlPage('<p>words</p>'), SMALL_CSV, { file: await THREE_PAGE_PDF, fileName: 'a.pdf' }]) {
        const data = await expectSuccess(product, { ...file, options });
        assert.equal(data.markdown, '', file.fileName);
        assert.match(data.warning ?? '', /No element .* matches includeTags \(`string`, `\.absent`\)/, file.fileName);
      }
    },
  },
  {
    name: '`includeTags` overrides `onlyMainContent`',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(TAGGED),
        options: { includeTags: ['.keep'], onlyMainContent: true },
      });
      assert.match(markdown, /Kept words/);
      assert.match(markdown, /Footer words/);
      assert.doesNotMatch(markdown, /Dropped words|Inner words/);
    },
  },
  {
    name: '`excludeTags` removes elements inside the elements of `includeTags`',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(TAGGED),
        options: { includeTags: ['main'], excludeTags: ['.drop'] },
      });
      assert.match(markdown, /Kept words/);
      assert.doesNotMatch(markdown, /Dropped words|Footer words/);
    },
  },
  ...(['includeTags', 'excludeTags'] as const).flatMap((option) =>
    ['p[', '..x', 'div >> p', ':not(', '#'].map(
      (selector): ContractCase => ({
        name: `returns 400 for the invalid selector "${selector}" in \`${option}\``,
        run: async (product) => {
          const body = await expectError(
            product,
            { ...htmlPage(TAGGED), options: { [option]: ['p', selector] } },
            400,
            'BAD_REQUEST',
          );
          assert.match(body.error, /selector|Tags/i);
        },
      }),
    ),
  ),
  {
    name: '`removeBase64Images` replaces embedded images by their alternative text by default',
    run: async (product) => {
      const { markdown = '', html } = await expectSuccess(product, {
        ...htmlPage(`<p>See</p><img alt="A petrel" src="${PIXEL}">`),
        options: { formats: ['markdown', 'html'] },
      });
      assert.match(markdown, /!\[A petrel\]\(\)/);
      assert.doesNotMatch(`${markdown}${html}`, /base64/);
    },
  },
  {
    name: '`removeBase64Images: false` keeps embedded images',
    run: async (product) => {
      const { markdown = '' } = await expectSuccess(product, {
        ...htmlPage(`<p>See</p><img alt="A petrel" src="${PIXEL}">`),
        options: { removeBase64Images: false },
      });
      assert.ok(markdown.includes(PIXEL));
    },
  },
  {
    name: 'accepts `headers`, `proxy` and `skipTlsVerification`, and parsing an upload sends no requests',
    run: async (product) => {
      let requests = 0;
      const server = createServer((_, response) => {
        requests++;
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
      const body = `<link rel="stylesheet" href="${origin}/style.css"><img alt="far" src="${origin}/image.png"><iframe src="${origin}/frame"></iframe><script src="${origin}/script.js"></script><p>Words</p>`;
      try {
        await expectSuccess(product, {
          ...htmlPage(body),
          options: {
            headers: { 'X-Trace': 'abc' },
            proxy: 'auto',
            skipTlsVerification: false,
            formats: ['markdown', 'html', 'images', 'links'],
          },
        });
        assert.equal(requests, 0);
      } finally {
        server.close();
      }
    },
  },
  {
    name: 'the OpenAPI document has the default and the maximum of `timeout`',
    run: async (product) => {
      const document = JSON.stringify(await (await fetch(`${product.url}/openapi.json`)).json());
      assert.match(document, new RegExp(`"default":${REQUEST_LIMITS.timeoutDefaultMs}`));
      assert.match(document, new RegExp(`"maximum":${REQUEST_LIMITS.timeoutMaxMs}`));
    },
  },
  {
    name: '`details` names `auditMetadata.username` when it has more than 1024 characters',
    run: async (product) =>
      expectFieldInDetails(
        await expectError(product, { ...SMALL_CSV, options: { auditMetadata: { username: 'x'.repeat(1025) } } }, 400),
        'auditMetadata.username',
      ),
  },
  {
    name: '`details` lists every invalid field',
    run: async (product) => {
      const options = {
        timeout: 'soon',
        onlyMainContent: 'yes',
        parsers: [{ type: 'pdf', maxPages: 0, mode: 'slow' }],
        unknownThing: 1,
      };
      const body = await expectError(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
      for (const path of ['timeout', 'onlyMainContent', 'parsers[0].maxPages', 'parsers[0].mode', 'unknownThing'])
        expectFieldInDetails(body, path);
    },
  },
  {
    name: 'returns 400 for a JSON Schema nested 2,000 levels deep',
    run: async (product) => {
      await expectError(
        product,
        { ...SMALL_CSV, options: { formats: [{ type: 'json', schema: { deep: nested(2000) } }] } },
        400,
      );
    },
  },
];
