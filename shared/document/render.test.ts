// Checks what the render pipeline selects and writes: scope, addresses, metadata, pages and spans.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParseError } from '../contract/errors.ts';
import type { RenderOptions } from '../contract/jobs.ts';
import type { ConvertedDocument, PagedBlock, PagedPage } from './document.ts';
import { renderRecord } from './render.ts';
import { checkSelectors } from './selectors.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'html', 'links', 'images'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

const webpage = (html: string): ConvertedDocument => ({ genre: 'webpage', html, metadata: {}, warnings: [] });
const render = (document: ConvertedDocument, options: Partial<RenderOptions> = {}) =>
  renderRecord(document, { ...OPTIONS, ...options });

const PAGE =
  '<body><header>Site</header><nav><a href="https://a.example/nav">Nav</a></nav><main><h1>T</h1><p class="lead">Lead <a href="https://a.example/1">one</a></p><p id="x">More</p></main><footer>Foot</footer></body>';

test('returns only the requested fields', () => {
  assert.deepEqual(Object.keys(render(webpage(PAGE), { fields: ['links'] }).fields), ['links']);
  assert.deepEqual(render(webpage(PAGE), { fields: [] }).fields, {});
});

test('applies onlyMainContent, includeTags and excludeTags to every field', () => {
  assert.equal(render(webpage(PAGE)).fields.markdown, '# T\n\nLead [one](https://a.example/1)\n\nMore');
  assert.ok(render(webpage(PAGE), { onlyMainContent: false }).fields.markdown?.startsWith('Site\n\n[Nav]'));
  assert.equal(
    render(webpage(PAGE), { includeTags: ['footer', '.lead'] }).fields.markdown,
    'Lead [one](https://a.example/1)\n\nFoot',
  );
  const excluded = render(webpage(PAGE), { excludeTags: ['.lead', '#x'] }).fields;
  assert.equal(excluded.markdown, '# T');
  assert.deepEqual(excluded.links, []);
  assert.equal(
    render(webpage(PAGE), { includeTags: ['main'], excludeTags: ['p'] }).fields.html,
    '<main><h1>T</h1></main>',
  );
  const picked = render(webpage(PAGE), { includeTags: ['a'] }).fields;
  assert.equal(picked.markdown, '[Nav](https://a.example/nav)\n\n[one](https://a.example/1)');
  assert.equal(picked.html, '<a href="https://a.example/nav">Nav</a>\n<a href="https://a.example/1">one</a>');
  const nothing = render(webpage(PAGE), { includeTags: ['.absent'] });
  assert.equal(nothing.fields.markdown, '');
  assert.match(nothing.warnings.join(), /^No element of the document matches includeTags \(`\.absent`\)/);
});

test('warns with the selectors, in bounded length, if includeTags match nothing in a page or in a paged document', () => {
  const many = Array.from({ length: 200 }, (_, index) => `.${'x'.repeat(400)}${index}`);
  for (const document of [webpage(PAGE), PAGED]) {
    const nothing = render(document, { fields: ['markdown', 'html', 'links'], includeTags: ['string', '#absent'] });
    assert.match(nothing.warnings.join(), /includeTags \(`string`, `#absent`\), so its content was left out/);
    assert.equal(nothing.fields.markdown, '');
    assert.deepEqual(nothing.fields.links, []);
    const [warning = ''] = render(document, { includeTags: many }).warnings;
    assert.match(warning, / and 195 more\)/);
    assert.ok(warning.length < 600, `${warning.length} characters`);
    assert.deepEqual(render(document, { includeTags: ['string', 'h1'] }).warnings, []);
    assert.deepEqual(render(document, { excludeTags: ['body'] }).warnings, []);
  }
});

test('returns the text of a page that contains nothing but furniture (navigation, sidebars)', () => {
  assert.equal(render(webpage('<nav>Only this</nav>')).fields.markdown, 'Only this');
  assert.equal(
    render(webpage('<div class="sidebar"><p>The complete text of the page.</p></div>')).fields.markdown,
    'The complete text of the page.',
  );
});

test('removes furniture by class names and ids on a page without semantic elements', () => {
  const html =
    '<div class="header">Head</div><div id="sidebar">Side</div><p>text</p><div class="footer">A foot longer than the text</div>';
  assert.equal(render(webpage(html)).fields.markdown, 'text');
});

test('keeps a header that holds only the title, and the header of an article', () => {
  assert.equal(
    render(webpage('<header id="title-block-header"><h1>Doc</h1></header><p>text</p>')).fields.markdown,
    '# Doc\n\ntext',
  );
  assert.equal(
    render(webpage('<article><header><h1>Doc</h1></header><p>text</p></article>')).fields.markdown,
    '# Doc\n\ntext',
  );
});

test('removes only header, nav, footer and aside from the HTML of a converter', () => {
  const html =
    '<header><p>Running head</p></header><div class="sidebar"><p>text</p></div><aside class="notes"><p>say</p></aside><footer>7</footer>';
  assert.equal(render({ ...webpage(html), genre: 'document' }).fields.markdown, 'text\n\n> say');
  assert.equal(
    render({ ...webpage(html), genre: 'document' }, { onlyMainContent: false }).fields.markdown,
    'Running head\n\ntext\n\n> say\n\n7',
  );
});

test('removes ads and cookie pop-ups, but not classes that only contain such words', () => {
  const html =
    '<main><div class="ad-slot">Soap</div><div id="onetrust-banner-sdk">Cookies</div><p class="headline address shadow">Roads</p></main>';
  assert.equal(render(webpage(html)).fields.markdown, 'Roads');
  assert.equal(render(webpage(html), { includeTags: ['main'] }).fields.markdown, 'Roads');
  assert.equal(render(webpage(html), { includeTags: ['.ad-slot'] }).fields.markdown, 'Soap');
  assert.equal(render(webpage(html), { blockAds: false }).fields.markdown, 'Soap\n\nCookies\n\nRoads');
});

test('resolves addresses against base or the canonical link, and does not list relative ones without either', () => {
  const body =
    '<p><a href="b">x</a><a href="mailto:m@x.example">m</a><a href="data:text/html,1">d</a><a href="java\tscript:1">j</a><img src="i.png"></p>';
  const based = render(
    webpage(`<base href="https://x.example/d/"><link rel="canonical" href="https://y.example/">${body}`),
  ).fields;
  assert.deepEqual(based.links, ['https://x.example/d/b', 'mailto:m@x.example']);
  assert.deepEqual(based.images, ['https://x.example/d/i.png']);
  assert.deepEqual(render(webpage(`<link rel="canonical" href="https://y.example/q">${body}`)).fields.images, [
    'https://y.example/i.png',
  ]);
  const bare = render(webpage(body)).fields;
  assert.deepEqual(bare.links, ['mailto:m@x.example']);
  assert.ok(bare.html?.includes('<a href="b">x</a>') && !bare.html.includes('script:1'));
});

test('gives responsive images their largest variant', () => {
  const image = (attributes: string) => render(webpage(`<p>x<img ${attributes}></p>`)).fields.html;
  assert.ok(image('src="a.jpg" srcset="a.jpg 1x, c.jpg 3x, b.jpg 2x"')?.includes('<img src="c.jpg">'));
  assert.ok(image('src="a.jpg" srcset="w_1,h_2/a.jpg 100w,w_2,h_4/b.jpg 900w"')?.includes('src="w_2,h_4/b.jpg"'));
  assert.ok(image('src="data:image/gif;base64,AA" data-src="lazy.jpg"')?.includes('src="lazy.jpg"'));
  const picture = '<picture><source srcset="p.webp 2000w"><img src="p.jpg"></picture>';
  assert.equal(
    render(webpage(`<main>${picture}</main>`)).fields.html,
    '<main><picture><img src="p.webp"></picture></main>',
  );
});

test('ignores meta names of documented metadata fields and of prototype properties', () => {
  const { metadata } = render(
    webpage(
      '<html lang="fr"><title> A\n B </title><meta name="url" content="evil"><meta name="creditsUsed" content="0"><meta name="__proto__" content="p"><meta name="robots" content="index"><meta property="og:locale:alternate" content="de">',
    ),
  );
  assert.deepEqual(metadata, { title: 'A B', language: 'fr', ogLocaleAlternate: ['de'], robots: 'index' });
});

test('rejects invalid selectors and lists them', () => {
  assert.throws(
    () => checkSelectors(['p', '.ok', 'a[b=', ':nope', '', '..x', '#']),
    (error) => error instanceof ParseError && error.code === 'BAD_REQUEST' && error.details?.length === 5,
  );
  checkSelectors(['p', '.c', '#i', 'a > b:not(.c)', '[data-x="1"]', '[href=".#x"]', '.-a', '.--b', 'p:first']);
});

test('returns the Markdown of a converter unchanged, and reads its HTML only on request', () => {
  let read = 0;
  const document: ConvertedDocument = {
    genre: 'document',
    get html() {
      read++;
      return '<table><tr><td>a</td></tr></table>';
    },
    markdown: '| a |\n| --- |',
    metadata: {},
    warnings: [],
  };
  assert.deepEqual(render(document, { fields: ['markdown'] }).fields, { markdown: '| a |\n| --- |' });
  assert.equal(read, 0);
  assert.equal(render(document, { fields: ['html'] }).fields.html, '<table><tr><td>a</td></tr></table>');
});

const block = (html: string, extra: Partial<PagedBlock> = {}): PagedBlock => ({
  type: 'text',
  label: null,
  html,
  bbox: null,
  source: 'native_text',
  confidence: { layout: null, ocr: null },
  furniture: false,
  ...extra,
});
const page = (pageNumber: number, blocks: PagedBlock[]): PagedPage => ({
  pageNumber,
  width: 600,
  height: 800,
  status: 'ok',
  blocks,
});
const paged = (...pages: PagedPage[]): ConvertedDocument => ({
  genre: 'document',
  html: '',
  pages,
  metadata: {},
  warnings: [],
});
const PAGED = paged(
  page(1, [
    block('<h1>T</h1>', { type: 'title' }),
    block('<p>The long</p>'),
    block('<p>1</p>', { type: 'page_number', furniture: true }),
  ]),
  page(2, [
    block('<p>sentence ends.</p>', { continues: ' ' }),
    block('<p>Own <a href="https://x.example/">link</a></p>'),
  ]),
  page(3, []),
  page(4, [block('<p>Last</p>')]),
);

test('writes page markers, and spans and single pages that match the Markdown of the document', () => {
  const { fields } = render(PAGED, {
    fields: ['markdown', 'pages', 'blocks', 'links'],
    pdf: { ...OPTIONS.pdf, pages: true, blocks: true, pageMarkers: true },
  });
  assert.equal(
    fields.markdown,
    '# T\n\nThe long sentence ends.\n\n---\n\n<!-- page 2 -->\n\nOwn [link](https://x.example/)\n\n---\n\n<!-- page 4 -->\n\nLast',
  );
  assert.deepEqual(fields.pages, [
    { pageNumber: 1, markdown: '# T\n\nThe long' },
    { pageNumber: 2, markdown: 'sentence ends.\n\nOwn [link](https://x.example/)' },
    { pageNumber: 3, markdown: '' },
    { pageNumber: 4, markdown: 'Last' },
  ]);
  const items = fields.blocks?.flatMap((one) => one.items) ?? [];
  assert.deepEqual(
    items.map((item) => item.id),
    ['p1.b0', 'p1.b1', 'p1.b2', 'p2.b0', 'p2.b1', 'p4.b0'],
  );
  for (const item of items) {
    if (item.type === 'page_number') assert.equal(item.markdownSpan, null);
    else assert.equal(fields.markdown?.slice(...(item.markdownSpan ?? [0, 0])), item.content);
  }
  assert.deepEqual(fields.links, ['https://x.example/']);
});

test('shows furniture of pages without onlyMainContent, and applies selectors inside blocks', () => {
  assert.ok(render(PAGED, { fields: ['markdown'], onlyMainContent: false }).fields.markdown?.includes('The long\n\n1'));
  assert.equal(render(PAGED, { fields: ['markdown'], includeTags: ['h1'] }).fields.markdown, '# T');
  assert.equal(render(PAGED, { fields: ['markdown'], excludeTags: ['p'] }).fields.markdown, '# T');
  assert.ok(
    render(PAGED, { fields: ['html'] }).fields.html?.startsWith(
      '<section data-page="1">\n<h1>T</h1>\n<p>The long</p>\n</section>',
    ),
  );
});
