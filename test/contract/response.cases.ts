// Checks the fields of docs/api.md, "Record", its HTML (docs/api.md, "Formats"), and docs/api.md, "Links and images".
import assert from 'node:assert/strict';
import { parse } from '../harness/client.ts';
import { html, pdf, sample } from '../harness/documents.ts';
import { type ContractCase, expectSuccess, htmlPage, SMALL_CSV } from './contract-case.ts';

const ABSENT = [
  'rawBase64',
  'screenshot',
  'audio',
  'video',
  'answer',
  'highlights',
  'actions',
  'branding',
  'changeTracking',
  'menu',
  'product',
];

export const cases: ContractCase[] = [
  {
    name: 'a successful response has only `success` and `data`',
    run: async (product) => {
      const answer = await parse(product, SMALL_CSV);
      assert.deepEqual(Object.keys(answer.body as object).sort(), ['data', 'success']);
    },
  },
  {
    name: '`markdown` has the headings, paragraphs and tables of an HTML file',
    run: async (product) => {
      const data = await expectSuccess(product, { file: html(), fileName: 'report.html' });
      assert.equal(
        (data.markdown ?? '').trim().replace(/ +/g, ' ').replace(/-{3,}/g, '---'),
        '# Harbour report\n\nThe lighthouse keeper counted seventeen herons.\n\nA second boat came in before the storm.\n\n| Boat | Length |\n| --- | --- |\n| Petrel | 42 |\n| Kittiwake | 57 |',
      );
    },
  },
  {
    name: '`html` has no script, style, noscript, meta and head',
    run: async (product) => {
      const upload = htmlPage(
        '<main><style>p{color:red}</style><script>alert(1)</script><noscript>No script</noscript><p onclick="x()">Words</p></main>',
        '<meta name="a" content="b"><style>x{}</style><title>T</title>',
      );
      const { html: cleaned = '' } = await expectSuccess(product, { ...upload, options: { formats: ['html'] } });
      assert.match(cleaned ?? '', /Words/);
      assert.doesNotMatch(cleaned ?? '', /<script|<style|<noscript|<meta|<head\b|alert\(1\)|color:red|No script/i);
    },
  },
  {
    name: 'relative URLs are resolved against `<base href>`',
    run: async (product) => {
      const upload = htmlPage(
        '<main><a href="../log?x=1#y">Log</a><img alt="m" src="/map.png"></main>',
        '<base href="https://example.com/docs/a/">',
      );
      const data = await expectSuccess(product, {
        ...upload,
        options: { formats: ['html', 'markdown', 'links', 'images'] },
      });
      assert.match(data.html ?? '', /href="https:\/\/example\.com\/docs\/log\?x=1#y"/);
      assert.match(data.html ?? '', /src="https:\/\/example\.com\/map\.png"/);
      assert.match(data.markdown ?? '', /\[Log\]\(https:\/\/example\.com\/docs\/log\?x=1#y\)/);
      assert.deepEqual(
        [data.links, data.images],
        [['https://example.com/docs/log?x=1#y'], ['https://example.com/map.png']],
      );
    },
  },
  {
    name: 'relative URLs are resolved against the canonical link when there is no `<base href>`',
    run: async (product) => {
      const upload = htmlPage(
        '<main><a href="log">Log</a></main>',
        '<link rel="canonical" href="https://example.org/harbour/">',
      );
      const data = await expectSuccess(product, { ...upload, options: { formats: ['markdown', 'links'] } });
      assert.deepEqual(data.links, ['https://example.org/harbour/log']);
    },
  },
  {
    name: 'without a base, URLs stay relative and are omitted from `links` and `images`',
    run: async (product) => {
      const upload = htmlPage(
        '<main><a href="log.html">Log</a><a href="https://example.com/x">X</a><img alt="m" src="map.png"></main>',
      );
      const data = await expectSuccess(product, {
        ...upload,
        options: { formats: ['markdown', 'html', 'links', 'images'] },
      });
      assert.match(data.markdown ?? '', /\[Log\]\(log\.html\)/);
      assert.match(data.html ?? '', /href="log\.html"/);
      assert.deepEqual([data.links, data.images], [['https://example.com/x'], []]);
      assert.doesNotMatch(JSON.stringify(data), /file:\/\//);
    },
  },
  {
    name: '`html` reduces `srcset` to its largest image',
    run: async (product) => {
      const upload = htmlPage(
        '<main><img alt="m" src="https://example.com/s.png" srcset="https://example.com/s.png 320w, https://example.com/l.png 1280w, https://example.com/m.png 640w"></main>',
      );
      const data = await expectSuccess(product, { ...upload, options: { formats: ['html', 'images'] } });
      assert.match(data.html ?? '', /src="https:\/\/example\.com\/l\.png"/);
      assert.ok(data.images?.includes('https://example.com/l.png'));
    },
  },
  {
    name: '`onlyMainContent`, `includeTags` and `excludeTags` apply to `html`',
    run: async (product) => {
      const upload = htmlPage('<nav>Menu</nav><main><p class="a">Alpha</p><p class="b">Beta</p></main>');
      const of = async (options: object) =>
        (await expectSuccess(product, { ...upload, options: { formats: ['html'], ...options } })).html ?? '';
      assert.doesNotMatch(await of({}), /Menu/);
      assert.match(await of({ onlyMainContent: false }), /Menu/);
      const [included, excluded] = [await of({ includeTags: ['.a'] }), await of({ excludeTags: ['.a'] })];
      assert.ok(included.includes('Alpha') && !included.includes('Beta'), included);
      assert.ok(excluded.includes('Beta') && !excluded.includes('Alpha'), excluded);
    },
  },
  {
    name: '`rawHtml` of an HTML file is the unmodified upload',
    run: async (product) => {
      const upload = htmlPage('<nav>Menu</nav><script>alert(1)</script><p>Words &amp; more</p><!-- note -->');
      assert.equal(
        (await expectSuccess(product, { ...upload, options: { formats: ['rawHtml'], excludeTags: ['nav'] } })).rawHtml,
        upload.file,
      );
    },
  },
  {
    name: '`rawHtml` of an HTML file is decoded by its meta charset (windows-1252)',
    run: async (product) => {
      const file = Buffer.from(
        '<html><head><meta charset="windows-1252"></head><body><p>na\xefve caf\xe9 \x93quoted\x94</p></body></html>',
        'latin1',
      );
      const data = await expectSuccess(product, {
        file,
        fileName: 'old.html',
        options: { formats: ['rawHtml', 'markdown'] },
      });
      assert.match(data.rawHtml ?? '', /naïve café “quoted”/);
      assert.match(data.markdown ?? '', /naïve café “quoted”/);
    },
  },
  {
    name: "`rawHtml` of a .docx is the converter's HTML",
    run: async (product) => {
      const { bytes, fileName } = await sample('.docx');
      assert.match(
        (await expectSuccess(product, { file: bytes, fileName, options: { formats: ['rawHtml'] } })).rawHtml ?? '',
        /<h1[^>]*>.*Harbour report/s,
      );
    },
  },
  {
    name: '`links` has absolute URLs in document order, once each, without javascript: and data: URLs',
    run: async (product) => {
      const upload = htmlPage(
        '<main><a href="https://example.com/b">B</a><a href="https://example.com/a">A</a><a href="https://example.com/b">B again</a><a href="javascript:alert(1)">J</a><a href="data:text/plain,x">D</a></main>',
      );
      const data = await expectSuccess(product, { ...upload, options: { formats: ['links', 'markdown', 'html'] } });
      assert.deepEqual(data.links, ['https://example.com/b', 'https://example.com/a']);
    },
  },
  {
    name: '`images` has absolute URLs in document order, once each, without data: URLs',
    run: async (product) => {
      const upload = htmlPage(
        '<main><img alt="b" src="https://example.com/b.png"><img alt="a" src="https://example.com/a.png"><img alt="b" src="https://example.com/b.png"><img alt="i" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>',
      );
      assert.deepEqual((await expectSuccess(product, { ...upload, options: { formats: ['images'] } })).images, [
        'https://example.com/b.png',
        'https://example.com/a.png',
      ]);
    },
  },
  {
    name: 'fields of unsupported formats are absent, not null',
    run: async (product) => {
      const data: Record<string, unknown> = await expectSuccess(product, {
        ...SMALL_CSV,
        options: { formats: ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary'] },
      });
      for (const field of ABSENT) assert.ok(!(field in data), field);
    },
  },
  {
    name: 'only the requested fields, metadata and warning are present',
    run: async (product) => {
      const { warning: _, ...data } = await expectSuccess(product, {
        file: await pdf([{ lines: ['Words'] }]),
        fileName: 'a.pdf',
        options: { formats: ['links'] },
      });
      assert.deepEqual(Object.keys(data).sort(), ['links', 'metadata']);
    },
  },
  {
    name: '`pages` and `blocks` are absent when they are not requested',
    run: async (product) => {
      const data = await expectSuccess(product, { file: await pdf([{ lines: ['Words'] }]), fileName: 'a.pdf' });
      assert.ok(!('pages' in data) && !('blocks' in data));
    },
  },
];
