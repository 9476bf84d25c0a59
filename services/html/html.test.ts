// Checks what the html service returns for complete files: web pages, charsets, XHTML and EPUB.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { test } from 'node:test';
import { ParseError } from '#shared/contract/errors.ts';
import type { ConvertJob, JobContext, RecordReport, RenderOptions } from '#shared/contract/jobs.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { handle } from './worker.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'html', 'rawHtml', 'links', 'images'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};
const context: JobContext = {
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  requestId: 'request-1',
  volatile: false,
  call: () => Promise.reject(new Error('the html service calls no other service')),
};

async function convert(
  fixture: string,
  options: Partial<RenderOptions> = {},
): Promise<RecordFields & { head: RecordReport }> {
  const job: ConvertJob = {
    kind: 'convert',
    requestId: 'test',
    fileName: basename(fixture),
    extension: extname(fixture),
    container: fixture.endsWith('.epub') ? 'zip' : 'markup',
    options: { ...OPTIONS, ...options },
  };
  const { reply, payload } = await handle(
    job,
    readFileSync(new URL(`../../fixtures/${fixture}`, import.meta.url)),
    context,
  );
  return { ...(JSON.parse(String(payload)) as RecordFields), head: reply as RecordReport };
}

test('returns the article of a web page with absolute addresses, footnotes and metadata', async () => {
  const { markdown = '', html, rawHtml, links, images, head } = await convert('html/news-article.html');
  assert.ok(markdown.startsWith('# Harbour ferry returns\n\nThe ferry *Marianne* sailed'));
  assert.ok(
    markdown.includes(
      'The [repair](https://post.example/2024/02/repair.html) cost more than planned; see the plan or [write to us](mailto:desk@post.example).[^1]',
    ),
  );
  assert.ok(markdown.includes('Sailings\n\n| Day | From |\n| --- | --- |\n| Saturday | 9:00 \\| 14:00 |'));
  assert.ok(markdown.includes('![The ferry at the pier](https://post.example/2024/03/ferry-1600.jpg)'));
  assert.ok(markdown.includes('![route sketch]()'));
  assert.ok(markdown.includes('```js\nconst tide = "high";\n```'));
  assert.ok(markdown.includes('3. Buy a ticket\n   - at the kiosk\n4. Board'));
  assert.ok(markdown.endsWith('[^1]: Council minutes, page 4.'));
  for (const removed of [
    'SOAP',
    'cookies',
    'Sport',
    'Most read',
    'Imprint',
    'hidden pixel',
    'enable JavaScript',
    'secret-tracker',
    'javascript:',
  ])
    assert.ok(!markdown.includes(removed), removed);
  assert.ok(html && !/<script|<style|<noscript|<meta|<head|onclick|javascript:|srcset|base64/i.test(html));
  assert.ok(rawHtml?.includes("track('secret-tracker')") && rawHtml.includes('<!doctype html>'));
  assert.deepEqual(links, [
    'https://post.example/2024/02/repair.html',
    'mailto:desk@post.example',
    'https://post.example/2024/03/#n1',
    'https://post.example/2024/03/#r1',
  ]);
  assert.deepEqual(images, ['https://post.example/2024/03/ferry-1600.jpg']);
  const { metadata } = head;
  assert.equal(metadata.title, 'Harbour ferry returns | The Tidewater Post');
  assert.equal(metadata.language, 'en-GB');
  assert.deepEqual(metadata.author, ['Ines Okafor', 'Pavel Lind']);
  assert.equal(metadata.statusCode, undefined);
  assert.equal(metadata.ogImage, 'https://post.example/img/ferry-card.jpg');
  assert.deepEqual(metadata.ogLocaleAlternate, ['de_DE']);
  assert.equal(metadata.publishedTime, '2024-03-02T08:00:00Z');
  assert.equal(metadata.favicon, 'https://post.example/favicon.ico');
});

test('returns the complete page with ads if both filters are off in the options', async () => {
  const { markdown = '' } = await convert('html/news-article.html', {
    onlyMainContent: false,
    blockAds: false,
    removeBase64Images: false,
  });
  for (const kept of ['SOAP', 'Sport', 'Imprint', 'data:image/gif;base64']) assert.ok(markdown.includes(kept), kept);
  assert.ok(!markdown.includes('secret-tracker'));
});

test('decodes windows-1252 without a declared charset', async () => {
  const { markdown, head } = await convert('html/undeclared-windows-1252.html');
  assert.equal(markdown, 'Crème brûlée – “fresh” naïve façade déjà vu');
  assert.equal(head.metadata.title, 'Café');
});

test('reads self-closing elements and CDATA of XHTML, and ignores the internal subset of its doctype', async () => {
  const { markdown, head } = await convert('html/strict.xhtml');
  assert.equal(markdown, '# Order\n\nOne\\\ntwo & 3 < 4');
  assert.equal(head.metadata.language, 'sv');
});

test('returns the chapters of an EPUB in spine order, with footnotes, images and boxes', async () => {
  const { markdown, head, images } = await convert('epub/spine-order-notes.epub');
  assert.equal(
    markdown,
    '# The Salt Road\n\nThey left at dawn[^1]; see [the inn](#c2-inn).\n\n![Map of the road]()\n\n[^1]: By the old calendar.\n\n## The Inn\n\nRain, **all night**.\n\nA boxed recipe.',
  );
  assert.deepEqual(images, []);
  assert.equal(head.metadata.title, 'The Salt Road');
  assert.deepEqual(head.metadata.author, ['Ada Brandt', 'Jon Vik']);
  assert.equal(head.metadata.keywords, 'travel');
});

test('returns images of an EPUB as data URLs if removeBase64Images is off', async () => {
  const { markdown = '' } = await convert('epub/spine-order-notes.epub', { removeBase64Images: false });
  assert.ok(markdown.includes(`![Map of the road](data:image/png;base64,${Buffer.from('PNG').toString('base64')})`));
});

test('rejects an EPUB with an encrypted chapter or without a package, but not one with an obfuscated font', async () => {
  await assert.rejects(
    convert('epub/locked-chapter-refused.epub'),
    (error) => error instanceof ParseError && error.code === 'DOCUMENT_ENCRYPTED',
  );
  assert.ok((await convert('epub/obfuscated-font-fine.epub')).markdown?.includes('all night'));
  await assert.rejects(
    convert('epub/no-package-corrupt.epub'),
    (error) => error instanceof ParseError && error.code === 'DOCUMENT_CORRUPT',
  );
});

test('rejects an invalid selector for HTML and EPUB', async () => {
  for (const fixture of ['html/news-article.html', 'epub/spine-order-notes.epub'])
    await assert.rejects(
      convert(fixture, { excludeTags: ['p', 'div[['] }),
      (error) =>
        error instanceof ParseError &&
        error.code === 'BAD_REQUEST' &&
        error.message.includes('div[[') &&
        error.details?.[0]?.path === 'excludeTags[1]',
    );
});
