// SPEC 2.6 and 2.8 with the response half of DECISIONS: the record's fields, its Markdown and HTML, and the metadata.
import assert from 'node:assert/strict';
import { parse } from '../harness/client.ts';
import { CONTENT, html, pdf, sample } from '../harness/documents.ts';
import { page, parsed, type Row, SMALL_CSV } from './row.ts';

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

const record: Row[] = [
  {
    name: '2.6 top level: `success` true and `data`, nothing else',
    run: async (product) => {
      const answer = await parse(product, SMALL_CSV);
      assert.deepEqual(Object.keys(answer.body as object).sort(), ['data', 'success']);
    },
  },
  {
    name: '2.6 `markdown`: the document in Markdown',
    run: async (product) => {
      const data = await parsed(product, { file: html(), fileName: 'report.html' });
      assert.equal(
        (data.markdown ?? '').trim().replace(/ +/g, ' ').replace(/-{3,}/g, '---'),
        '# Harbour report\n\nThe lighthouse keeper counted seventeen herons.\n\nA second boat came in before the storm.\n\n| Boat | Length |\n| --- | --- |\n| Petrel | 42 |\n| Kittiwake | 57 |',
      );
    },
  },
  {
    name: '2.6 `html`: script, style, noscript, meta and head are removed',
    run: async (product) => {
      const upload = page(
        '<main><style>p{color:red}</style><script>alert(1)</script><noscript>No script</noscript><p onclick="x()">Words</p></main>',
        '<meta name="a" content="b"><style>x{}</style><title>T</title>',
      );
      const { html: cleaned = '' } = await parsed(product, { ...upload, options: { formats: ['html'] } });
      assert.match(cleaned ?? '', /Words/);
      assert.doesNotMatch(cleaned ?? '', /<script|<style|<noscript|<meta|<head\b|alert\(1\)|color:red|No script/i);
    },
  },
  {
    name: '2.6 `html`: relative URLs made absolute (DECISIONS: against `<base href>`)',
    run: async (product) => {
      const upload = page(
        '<main><a href="../log?x=1#y">Log</a><img alt="m" src="/map.png"></main>',
        '<base href="https://example.com/docs/a/">',
      );
      const data = await parsed(product, { ...upload, options: { formats: ['html', 'markdown', 'links', 'images'] } });
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
    name: 'DECISIONS relative URLs: against the canonical link where there is no base',
    run: async (product) => {
      const upload = page(
        '<main><a href="log">Log</a></main>',
        '<link rel="canonical" href="https://example.org/harbour/">',
      );
      const data = await parsed(product, { ...upload, options: { formats: ['markdown', 'links'] } });
      assert.deepEqual(data.links, ['https://example.org/harbour/log']);
    },
  },
  {
    name: 'DECISIONS relative URLs: left relative without either, left out of links and images, never a file path',
    run: async (product) => {
      const upload = page(
        '<main><a href="log.html">Log</a><a href="https://example.com/x">X</a><img alt="m" src="map.png"></main>',
      );
      const data = await parsed(product, { ...upload, options: { formats: ['markdown', 'html', 'links', 'images'] } });
      assert.match(data.markdown ?? '', /\[Log\]\(log\.html\)/);
      assert.match(data.html ?? '', /href="log\.html"/);
      assert.deepEqual([data.links, data.images], [['https://example.com/x'], []]);
      assert.doesNotMatch(JSON.stringify(data), /file:\/\//);
    },
  },
  {
    name: '2.6 `html`: srcset is resolved to the largest variant',
    run: async (product) => {
      const upload = page(
        '<main><img alt="m" src="https://example.com/s.png" srcset="https://example.com/s.png 320w, https://example.com/l.png 1280w, https://example.com/m.png 640w"></main>',
      );
      const data = await parsed(product, { ...upload, options: { formats: ['html', 'images'] } });
      assert.match(data.html ?? '', /src="https:\/\/example\.com\/l\.png"/);
      assert.ok(data.images?.includes('https://example.com/l.png'));
    },
  },
  {
    name: '2.6 `html` honours onlyMainContent, includeTags, excludeTags',
    run: async (product) => {
      const upload = page('<nav>Menu</nav><main><p class="a">Alpha</p><p class="b">Beta</p></main>');
      const of = async (options: object) =>
        (await parsed(product, { ...upload, options: { formats: ['html'], ...options } })).html ?? '';
      assert.doesNotMatch(await of({}), /Menu/);
      assert.match(await of({ onlyMainContent: false }), /Menu/);
      const [included, excluded] = [await of({ includeTags: ['.a'] }), await of({ excludeTags: ['.a'] })];
      assert.ok(included.includes('Alpha') && !included.includes('Beta'), included);
      assert.ok(excluded.includes('Beta') && !excluded.includes('Alpha'), excluded);
    },
  },
  {
    name: '2.6 `rawHtml`: unmodified, no cleaning or filtering',
    run: async (product) => {
      const upload = page('<nav>Menu</nav><script>alert(1)</script><p>Words &amp; more</p><!-- note -->');
      assert.equal(
        (await parsed(product, { ...upload, options: { formats: ['rawHtml'], excludeTags: ['nav'] } })).rawHtml,
        upload.file,
      );
    },
  },
  {
    name: 'DECISIONS `rawHtml` of HTML is decoded text (windows-1252 in a meta charset)',
    run: async (product) => {
      const file = Buffer.from(
        '<html><head><meta charset="windows-1252"></head><body><p>na\xefve caf\xe9 \x93quoted\x94</p></body></html>',
        'latin1',
      );
      const data = await parsed(product, { file, fileName: 'old.html', options: { formats: ['rawHtml', 'markdown'] } });
      assert.match(data.rawHtml ?? '', /naïve café “quoted”/);
      assert.match(data.markdown ?? '', /naïve café “quoted”/);
    },
  },
  {
    name: "DECISIONS `rawHtml` of other kinds is the converter's HTML",
    run: async (product) => {
      const { bytes, fileName } = await sample('.docx');
      assert.match(
        (await parsed(product, { file: bytes, fileName, options: { formats: ['rawHtml'] } })).rawHtml ?? '',
        /<h1[^>]*>.*Harbour report/s,
      );
    },
  },
  {
    name: '2.6 `links`: absolute URLs in document order, once each, no javascript: or data: (DECISIONS)',
    run: async (product) => {
      const upload = page(
        '<main><a href="https://example.com/b">B</a><a href="https://example.com/a">A</a><a href="https://example.com/b">B again</a><a href="javascript:alert(1)">J</a><a href="data:text/plain,x">D</a></main>',
      );
      const data = await parsed(product, { ...upload, options: { formats: ['links', 'markdown', 'html'] } });
      assert.deepEqual(data.links, ['https://example.com/b', 'https://example.com/a']);
    },
  },
  {
    name: 'DECISIONS `images`: array of URL strings in document order, once each, no data:',
    run: async (product) => {
      const upload = page(
        '<main><img alt="b" src="https://example.com/b.png"><img alt="a" src="https://example.com/a.png"><img alt="b" src="https://example.com/b.png"><img alt="i" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>',
      );
      assert.deepEqual((await parsed(product, { ...upload, options: { formats: ['images'] } })).images, [
        'https://example.com/b.png',
        'https://example.com/a.png',
      ]);
    },
  },
  {
    name: '2.6 fields of formats that parse does not serve are absent, not null',
    run: async (product) => {
      const data: Record<string, unknown> = await parsed(product, {
        ...SMALL_CSV,
        options: { formats: ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary'] },
      });
      for (const field of ABSENT) assert.ok(!(field in data), field);
    },
  },
  {
    name: 'DECISIONS only what was asked for is present, besides metadata and warning',
    run: async (product) => {
      const { warning: _, ...data } = await parsed(product, {
        file: await pdf([{ lines: ['Words'] }]),
        fileName: 'a.pdf',
        options: { formats: ['links'] },
      });
      assert.deepEqual(Object.keys(data).sort(), ['links', 'metadata']);
    },
  },
  {
    name: '2.6 `pages` and `blocks` only for PDF, only when asked',
    run: async (product) => {
      const data = await parsed(product, { file: await pdf([{ lines: ['Words'] }]), fileName: 'a.pdf' });
      assert.ok(!('pages' in data) && !('blocks' in data));
    },
  },
];

const markdown: Row[] = [
  {
    name: 'DECISIONS a table is a pipe table',
    run: async (product) =>
      assert.match(
        (
          await parsed(
            product,
            page('<main><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2 | 3</td></tr></table></main>'),
          )
        ).markdown ?? '',
        /\| *A *\| *B *\|\n\| *-+ *\| *-+ *\|\n\| *1 *\| *2 \\\| 3 *\|/,
      ),
  },
  {
    name: 'DECISIONS an HTML table only where cells span',
    run: async (product) => {
      const text =
        (
          await parsed(
            product,
            page('<main><table><tr><th colspan="2">Both</th></tr><tr><td>1</td><td>2</td></tr></table></main>'),
          )
        ).markdown ?? '';
      assert.match(text, /<table[\s\S]*colspan="2"[\s\S]*Both[\s\S]*<\/table>/);
    },
  },
  {
    name: 'DECISIONS sheets are `## Sheet name` and a table',
    run: async (product) => {
      const { bytes, fileName } = await sample('.xlsx');
      assert.match((await parsed(product, { file: bytes, fileName })).markdown ?? '', /^## Boats\n\n\|/m);
    },
  },
  {
    name: 'DECISIONS slides are `<!-- Slide N -->` and `## Title`',
    run: async (product) => {
      const { bytes, fileName } = await sample('.pptx');
      assert.match(
        (await parsed(product, { file: bytes, fileName })).markdown ?? '',
        /<!-- Slide 1 -->\s+## Harbour report/,
      );
    },
  },
  {
    name: 'DECISIONS GitHub-flavoured: lists, code, emphasis, links, strikethrough, a fenced block',
    run: async (product) => {
      const text =
        (
          await parsed(
            product,
            page(
              '<main><ul><li>one</li><li>two</li></ul><ol><li>first</li></ol><p><b>bold</b> <i>slant</i> <code>x = 1</code> <del>gone</del> <a href="https://example.com/">there</a></p><pre><code>line 1\nline 2</code></pre><blockquote><p>said</p></blockquote></main>',
            ),
          )
        ).markdown ?? '';
      for (const pattern of [
        /^[-*] +one$/m,
        /^1\. +first$/m,
        /\*\*bold\*\*/,
        /[_*]slant[_*]/,
        /`x = 1`/,
        /~~?gone~~?/,
        /\[there\]\(https:\/\/example\.com\/\)/,
        /```\nline 1\nline 2\n```/,
        /^> said$/m,
      ])
        assert.match(text, pattern);
    },
  },
];

const HEAD =
  '<title>Tide table</title><meta name="description" content="Tides of May"><meta name="keywords" content="tide, moon"><meta property="og:title" content="OG Tide"><meta property="og:description" content="OG words"><meta property="og:url" content="https://example.com/tide"><meta property="og:image" content="https://example.com/tide.png"><meta property="og:locale" content="en_GB"><meta property="og:locale:alternate" content="de_DE"><meta property="og:locale:alternate" content="fr_FR"><meta property="og:site_name" content="Harbour"><meta property="article:published_time" content="2024-05-01T00:00:00Z"><link rel="icon" href="https://example.com/favicon.ico"><meta name="author" content="Ana"><meta name="author" content="Ben"><meta name="robots" content="noindex"><meta name="statusCode" content="999"><meta name="contentType" content="evil"><meta name="creditsUsed" content="-5"><meta name="sourceURL" content="https://evil.example"><meta name="__proto__" content="x"><meta name="constructor" content="y">';
const TIDES = page('<main><p>High water at noon.</p></main>', HEAD);

const metadata: Row[] = [
  {
    name: '2.8 `title`, `description`, `keywords` from the content; title always a string (DECISIONS)',
    run: async (product) => {
      const { metadata: found } = await parsed(product, TIDES);
      assert.equal(found.title, 'Tide table');
      assert.equal(found.description, 'Tides of May');
      assert.match(String(found.keywords), /tide/);
    },
  },
  {
    name: '2.8 `language` from the content',
    run: async (product) => assert.equal((await parsed(product, TIDES)).metadata.language, 'en'),
  },
  {
    name: "2.8 `sourceURL` and `url`: the file's name (DECISIONS)",
    run: async (product) => {
      const { metadata: found } = await parsed(product, TIDES);
      assert.deepEqual([found.sourceURL, found.url], ['page.html', 'page.html']);
    },
  },
  {
    name: '2.8 `statusCode` 200',
    run: async (product) => assert.equal((await parsed(product, TIDES)).metadata.statusCode, 200),
  },
  {
    name: '2.8 `error`: absent or null for a good page',
    run: async (product) => assert.equal((await parsed(product, TIDES)).metadata.error ?? null, null),
  },
  {
    name: '2.8 `ogLocaleAlternate`: array of alternate locales',
    run: async (product) =>
      assert.deepEqual((await parsed(product, TIDES)).metadata.ogLocaleAlternate, ['de_DE', 'fr_FR']),
  },
  {
    name: '2.8 `ogLocaleAlternate` is an array for one locale too',
    run: async (product) =>
      assert.deepEqual(
        (await parsed(product, page('<p>x</p>', '<meta property="og:locale:alternate" content="de_DE">'))).metadata
          .ogLocaleAlternate,
        ['de_DE'],
      ),
  },
  {
    name: 'DECISIONS Open Graph in camelCase, publishedTime, favicon',
    run: async (product) => {
      const { metadata: found } = await parsed(product, TIDES);
      const expected = {
        ogTitle: 'OG Tide',
        ogDescription: 'OG words',
        ogUrl: 'https://example.com/tide',
        ogImage: 'https://example.com/tide.png',
        ogLocale: 'en_GB',
        ogSiteName: 'Harbour',
        publishedTime: '2024-05-01T00:00:00Z',
        favicon: 'https://example.com/favicon.ico',
      };
      for (const [name, value] of Object.entries(expected)) assert.equal(found[name], value, name);
    },
  },
  {
    name: '2.8 any other key: every other meta name as it stands; a name given twice becomes an array (DECISIONS)',
    run: async (product) => {
      const { metadata: found } = await parsed(product, TIDES);
      assert.equal(found.robots, 'noindex');
      assert.deepEqual(found.author, ['Ana', 'Ben']);
    },
  },
  {
    name: 'DECISIONS no meta name overwrites a documented field',
    run: async (product) => {
      const { metadata: found } = await parsed(product, TIDES);
      assert.deepEqual([found.statusCode, found.contentType, found.sourceURL], [200, 'text/html', 'page.html']);
      assert.ok(found.creditsUsed > 0);
    },
  },
  {
    name: 'DECISIONS `creditsUsed` is a number, `concurrencyLimited` always there',
    run: async (product) => {
      const { metadata: found } = await parsed(product, SMALL_CSV);
      assert.equal(typeof found.creditsUsed, 'number');
      assert.equal(found.concurrencyLimited, false);
      assert.ok(!('concurrencyQueueDurationMs' in found));
    },
  },
  {
    name: '2.8 `numPages` and `totalPages`: for PDF; not for other kinds',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }, { lines: ['Two'] }]);
      const { metadata: found } = await parsed(product, { file, fileName: 'two.pdf' });
      assert.deepEqual([found.numPages, found.totalPages], [2, 2]);
      const other = (await parsed(product, SMALL_CSV)).metadata;
      assert.ok(!('numPages' in other) && !('totalPages' in other));
    },
  },
  {
    name: '2.8 `title` of a PDF from its information dictionary',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }], { title: 'Harbour log of 1902' });
      assert.equal((await parsed(product, { file, fileName: 'one.pdf' })).metadata.title, 'Harbour log of 1902');
    },
  },
  {
    name: '2.8 `title` of an EPUB from its package document',
    run: async (product) => {
      const { bytes, fileName } = await sample('.epub');
      assert.equal((await parsed(product, { file: bytes, fileName })).metadata.title, CONTENT.title);
    },
  },
];

export const rows: Row[] = [...record, ...markdown, ...metadata];
