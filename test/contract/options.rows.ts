// SPEC 2.2 to 2.5: every field of the options, its default, its valid values and what they do, and every way it can be wrong.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { namesField, page, parsed, type Row, refused, SMALL_CSV } from './row.ts';

interface Field {
  section: string;
  /** As `details` names it. */
  path: string;
  valid: readonly unknown[];
  invalid: readonly unknown[];
  /** Lays a value into the options object; by default `{[path]: value}`. */
  at?: (value: unknown) => Record<string, unknown>;
}

const inParser = (name: string) => (value: unknown) => ({ parsers: [{ type: 'pdf', [name]: value }] });
const inRedact = (name: string) => (value: unknown) => ({ redactPII: { [name]: value } });
const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)]);

/** Values that must pass and values that must be refused by name, field by field. */
const FIELDS: readonly Field[] = [
  {
    section: '2.2',
    path: 'auditMetadata',
    valid: [{ username: 'ana' }, { username: '' }, { username: 'x'.repeat(1024) }],
    invalid: ['ana', [], 7, {}, { username: 7 }, { username: 'x'.repeat(1025) }, { username: 'ana', team: 'x' }],
  },
  { section: '2.2', path: 'blockAds', valid: [true, false], invalid: ['true', 1, 'yes', []] },
  {
    section: '2.2',
    path: 'excludeTags',
    valid: [[], ['nav'], ['.ad', '#x', 'div > p']],
    invalid: ['nav', [7], [['nav']], { tag: 'nav' }, Array.from({ length: 500 }, () => 'p')],
  },
  {
    section: '2.2',
    path: 'formats',
    valid: [[], ['markdown'], [{ type: 'markdown' }], ['html', { type: 'links' }]],
    invalid: [
      'markdown',
      { type: 'markdown' },
      [7],
      [{}],
      [null],
      ['pdf'],
      [{ type: 'nothing' }],
      [{ type: 'markdown', prompt: 'x' }],
      Array.from({ length: 200 }, () => 'markdown'),
    ],
  },
  {
    section: '2.2',
    path: 'headers',
    valid: [{}, { 'X-Trace': 'abc' }],
    invalid: ['X: y', [], 7, { 'X-Trace': 7 }, { 'X-Trace': ['a'] }],
  },
  {
    section: '2.2',
    path: 'includeTags',
    valid: [[], ['main'], ['article', '.body']],
    invalid: ['main', [false], { tag: 'main' }],
  },
  { section: '2.2', path: 'integration', valid: ['zapier', null], invalid: [7, {}, ['zapier'], true] },
  { section: '2.2', path: 'onlyMainContent', valid: [true, false], invalid: ['true', 0, 'no', {}] },
  { section: '2.2', path: 'origin', valid: ['api', 'js-sdk@4.42.0'], invalid: [7, {}, [], true] },
  {
    section: '2.2',
    path: 'parsers',
    valid: [[], ['pdf'], [{ type: 'pdf' }]],
    invalid: ['pdf', { type: 'pdf' }, [7], ['docx'], [{}], [null]],
  },
  { section: '2.2', path: 'proxy', valid: ['basic', 'auto'], invalid: ['stealth', 'enhanced', 7, ['auto'], {}] },
  { section: '2.2', path: 'redactPII', valid: [true, false, {}], invalid: ['true', 1, [], 'accurate'] },
  { section: '2.2', path: 'removeBase64Images', valid: [true, false], invalid: ['true', 1, {}] },
  { section: '2.2', path: 'skipTlsVerification', valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.2',
    path: 'timeout',
    valid: [20_000, 300_000],
    invalid: [0, -1, 300_001, 1.5, '30000', true, 1e12, []],
  },
  { section: '2.2', path: 'zeroDataRetention', valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.4',
    path: 'parsers[0].type',
    at: (value) => ({ parsers: [{ type: value }] }),
    valid: ['pdf'],
    invalid: ['docx', 7, null, 'PDF'],
  },
  {
    section: '2.4',
    path: 'parsers[0].mode',
    at: inParser('mode'),
    valid: ['fast', 'auto', 'ocr'],
    invalid: ['slow', 7, null, ['fast'], 'OCR'],
  },
  {
    section: '2.4',
    path: 'parsers[0].maxPages',
    at: inParser('maxPages'),
    valid: [1, 10_000],
    invalid: [0, -1, 10_001, 1.5, '3', true],
  },
  { section: '2.4', path: 'parsers[0].pages', at: inParser('pages'), valid: [true, false], invalid: ['true', 1, []] },
  { section: '2.4', path: 'parsers[0].blocks', at: inParser('blocks'), valid: [true, false], invalid: ['true', 1, {}] },
  {
    section: '2.4',
    path: 'parsers[0].pageMarkers',
    at: inParser('pageMarkers'),
    valid: [true, false],
    invalid: ['true', 1, {}],
  },
  {
    section: '2.5',
    path: 'redactPII.entities',
    at: inRedact('entities'),
    valid: [[], ['EMAIL'], ['PERSON', 'EMAIL', 'PHONE', 'LOCATION', 'FINANCIAL', 'SECRET']],
    invalid: ['EMAIL', ['NAME'], ['email'], [7], {}],
  },
  {
    section: '2.5',
    path: 'redactPII.mode',
    at: inRedact('mode'),
    valid: ['accurate', 'aggressive', 'fast'],
    invalid: ['slow', 7, [], 'FAST'],
  },
  {
    section: '2.5',
    path: 'redactPII.replaceStyle',
    at: inRedact('replaceStyle'),
    valid: ['tag', 'mask', 'remove'],
    invalid: ['hash', 7, [], 'TAG'],
  },
]; // prettier-ignore

const show = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const fieldRows = FIELDS.flatMap((field): Row[] => {
  const at = field.at ?? ((value: unknown) => ({ [field.path]: value }));
  return [
    {
      name: `${field.section} \`${field.path}\`: accepted values are accepted (${field.valid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.valid) await parsed(product, { ...SMALL_CSV, options: at(value) });
      },
    },
    {
      name: `${field.section} \`${field.path}\`: other values are refused by name (${field.invalid.map(show).join(' ')})`,
      run: async (product) => {
        for (const value of field.invalid) {
          const body = await refused(product, { ...SMALL_CSV, options: at(value) }, 400, 'BAD_REQUEST');
          assert.ok(body.details && body.details.length > 0, `details for ${show(value)}`);
          namesField(body, field.path);
        }
      },
    },
  ];
});

const UNKNOWN: readonly (readonly [section: string, options: Record<string, unknown>, path: string])[] = [
  ['2.2', { format: ['markdown'] }, 'format'],
  ['2.2', { only_main_content: true }, 'only_main_content'],
  ['2.2 auditMetadata', { auditMetadata: { username: 'ana', role: 'x' } }, 'auditMetadata.role'],
  ['2.3', { formats: [{ type: 'markdown', pretty: true }] }, 'formats[0].pretty'],
  ['2.3 json', { formats: [{ type: 'json', prompt: 'x', model: 'y' }] }, 'formats[0].model'],
  ['2.4', { parsers: [{ type: 'pdf', dpi: 300 }] }, 'parsers[0].dpi'],
  ['2.5', { redactPII: { style: 'tag' } }, 'redactPII.style'],
];

const unknownRows = UNKNOWN.map(
  ([section, options, path]): Row => ({
    name: `${section}: no other properties (\`${path}\`), 400 with details naming it`,
    run: async (product) => {
      const body = await refused(product, { ...SMALL_CSV, options }, 400, 'BAD_REQUEST');
      assert.deepEqual(
        body.details?.map((issue) => issue.path),
        [path],
      );
    },
  }),
);

const CHROME =
  '<header><p>Top banner</p></header><nav><a href="/a">Menu entry</a></nav><main><h1>Story</h1><p>The story has enough words to be the main content of this page, and then some more words.</p></main><aside><p>Side note</p></aside><footer><p>Foot note</p></footer>';
const ADS =
  '<main><h1>Story</h1><p>The story itself.</p></main><div class="advertisement"><p>Buy our rope</p></div><ins class="adsbygoogle">Sponsored rope</ins><div id="cookie-banner"><p>We use cookies</p><button>Accept all</button></div>';
const TAGGED =
  '<main><h1>Story</h1><p class="keep">Kept words</p><p class="drop">Dropped words</p><div id="inner"><p>Inner words</p></div></main><footer><p class="keep">Footer words</p></footer>';
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const effects: Row[] = [
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

const SILENT: readonly (readonly [name: string, nothing: readonly unknown[], something: unknown])[] = [
  ['mobile', [false, null], true],
  ['fastMode', [false, null], true],
  ['waitFor', [0, null], 1000],
  ['maxAge', [0, null], 60_000],
  ['minAge', [0, null], 1],
  ['storeInCache', [false, null], true],
  ['lockdown', [false, null], true],
  ['location', [null, {}], { country: 'DE' }],
  ['useMock', [null, false], 'mock'],
  ['actions', [[], null], [{ type: 'wait', milliseconds: 5 }]],
];

const sdkDefaults = SILENT.flatMap(([name, nothing, something]): Row[] => [
  {
    name: `DECISIONS \`${name}\` of the SDKs' scrape defaults: accepted where it asks for nothing`,
    run: async (product) => {
      for (const value of nothing) await parsed(product, { ...SMALL_CSV, options: { [name]: value } });
    },
  },
  {
    name: `DECISIONS \`${name}\`: refused by name where it asks for something`,
    run: async (product) => {
      const body = await refused(
        product,
        { ...SMALL_CSV, options: { [name]: something } },
        400,
        'PARSE_UNSUPPORTED_OPTIONS',
      );
      assert.match(body.error, new RegExp(name));
    },
  },
]);

export const rows: Row[] = [...fieldRows, ...unknownRows, ...effects, ...sdkDefaults];
