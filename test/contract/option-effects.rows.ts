// SPEC 2.2: what each option does to the answer, by default and when set.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { namesField, page, parsed, type Row, refused, SMALL_CSV } from './row.ts';

const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)]);
const CHROME =
  '<header><p>Top banner</p></header><nav><a href="/a">Menu entry</a></nav><main><h1>Story</h1><p>The story has enough words to be the main content of this page, and then some more words.</p></main><aside><p>Side note</p></aside><footer><p>Foot note</p></footer>';
const ADS =
  '<main><h1>Story</h1><p>The story itself.</p></main><div class="advertisement"><p>Buy our rope</p></div><ins class="adsbygoogle">Sponsored rope</ins><div id="cookie-banner"><p>We use cookies</p><button>Accept all</button></div>';
const TAGGED =
  '<main><h1>Story</h1><p class="keep">Kept words</p><p class="drop">Dropped words</p><div id="inner"><p>Inner words</p></div></main><footer><p class="keep">Footer words</p></footer>';
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const rows: Row[] = [
  {
    name: '2.2 `onlyMainContent`: true by default, headers, navigation and footers are left out',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, page(CHROME));
      assert.match(markdown, /# Story/);
      assert.doesNotMatch(markdown, /Top banner|Menu entry|Foot note/);
    },
  },
  {
    name: '2.2 `onlyMainContent: false` keeps them',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, { ...page(CHROME), options: { onlyMainContent: false } });
      for (const words of ['Top banner', 'Menu entry', 'Story', 'Foot note'])
        assert.ok(markdown.includes(words), words);
    },
  },
  {
    name: '2.2 `blockAds`: true by default, ads and cookie pop-ups are left out',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, { ...page(ADS), options: { onlyMainContent: false } });
      assert.match(markdown, /The story itself/);
      assert.doesNotMatch(markdown, /Sponsored rope|We use cookies/);
    },
  },
  {
    name: '2.2 `blockAds: false` keeps them',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, {
        ...page(ADS),
        options: { onlyMainContent: false, blockAds: false },
      });
      assert.match(markdown, /Sponsored rope/);
      assert.match(markdown, /We use cookies/);
    },
  },
  {
    name: '2.2 `excludeTags`: tags and selectors excluded from output',
    run: async (product) => {
      const { markdown = '', html } = await parsed(product, {
        ...page(TAGGED),
        options: { excludeTags: ['.drop', 'h1'], formats: ['markdown', 'html'] },
      });
      assert.match(markdown, /Kept words/);
      for (const text of [markdown, html ?? '']) assert.doesNotMatch(text, /Dropped words|Story/);
    },
  },
  {
    name: '2.2 `includeTags`: only these are in the output',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, { ...page(TAGGED), options: { includeTags: ['#inner'] } });
      assert.equal(markdown.trim(), 'Inner words');
    },
  },
  {
    name: 'DECISIONS `includeTags` wins over onlyMainContent',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, {
        ...page(TAGGED),
        options: { includeTags: ['.keep'], onlyMainContent: true },
      });
      assert.match(markdown, /Kept words/);
      assert.match(markdown, /Footer words/);
      assert.doesNotMatch(markdown, /Dropped words|Inner words/);
    },
  },
  {
    name: '2.2 `includeTags` and `excludeTags` together',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, {
        ...page(TAGGED),
        options: { includeTags: ['main'], excludeTags: ['.drop'] },
      });
      assert.match(markdown, /Kept words/);
      assert.doesNotMatch(markdown, /Dropped words|Footer words/);
    },
  },
  ...(['includeTags', 'excludeTags'] as const).flatMap((option) =>
    ['p[', '..x', 'div >> p', ':not(', '#'].map(
      (selector): Row => ({
        name: `DECISIONS a bad selector in \`${option}\`: 400 (${selector})`,
        run: async (product) => {
          const body = await refused(
            product,
            { ...page(TAGGED), options: { [option]: ['p', selector] } },
            400,
            'BAD_REQUEST',
          );
          assert.match(body.error, /selector|Tags/i);
        },
      }),
    ),
  ),
  {
    name: '2.2 `removeBase64Images`: true by default, inline images become alt-text placeholders',
    run: async (product) => {
      const { markdown = '', html } = await parsed(product, {
        ...page(`<p>See</p><img alt="A petrel" src="${PIXEL}">`),
        options: { formats: ['markdown', 'html'] },
      });
      assert.match(markdown, /!\[A petrel\]\(\)/);
      assert.doesNotMatch(`${markdown}${html}`, /base64/);
    },
  },
  {
    name: '2.2 `removeBase64Images: false` keeps them',
    run: async (product) => {
      const { markdown = '' } = await parsed(product, {
        ...page(`<p>See</p><img alt="A petrel" src="${PIXEL}">`),
        options: { removeBase64Images: false },
      });
      assert.ok(markdown.includes(PIXEL));
    },
  },
  {
    name: '2.2 `headers`, `proxy`, `skipTlsVerification`: carried, and parsing an upload makes no request',
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
        await parsed(product, {
          ...page(body),
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
    name: '2.2 `timeout`: the default of 30000 ms and the maximum stand in the OpenAPI document',
    run: async (product) => {
      const document = JSON.stringify(await (await fetch(`${product.url}/openapi.json`)).json());
      assert.match(document, new RegExp(`"default":${REQUEST_LIMITS.timeoutDefaultMs}`));
      assert.match(document, new RegExp(`"maximum":${REQUEST_LIMITS.timeoutMaxMs}`));
    },
  },
  {
    name: '2.2 `auditMetadata.username` past 1024 characters is named in details',
    run: async (product) =>
      namesField(
        await refused(product, { ...SMALL_CSV, options: { auditMetadata: { username: 'x'.repeat(1025) } } }, 400),
        'auditMetadata.username',
      ),
  },
  {
    name: 'DECISIONS validation lists every wrong field',
    run: async (product) => {
      const options = {
        timeout: 'soon',
        onlyMainContent: 'yes',
        parsers: [{ type: 'pdf', maxPages: 0, mode: 'slow' }],
        unknownThing: 1,
      };
      const body = await refused(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
      for (const path of ['timeout', 'onlyMainContent', 'parsers[0].maxPages', 'parsers[0].mode', 'unknownThing'])
        namesField(body, path);
    },
  },
  {
    name: 'DECISIONS options of a deep nesting in a json schema are refused, not followed',
    run: async (product) => {
      await refused(
        product,
        { ...SMALL_CSV, options: { formats: [{ type: 'json', schema: { deep: nested(2000) } }] } },
        400,
      );
    },
  },
];
