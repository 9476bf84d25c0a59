// SPEC 2.8 and what DECISIONS adds to it: every field of the metadata.
import assert from 'node:assert/strict';
import { parse, successData } from '../harness/client.ts';
import { CONTENT, pdf, sample } from '../harness/documents.ts';
import { page, parsed, type Row, SMALL_CSV } from './row.ts';

const HEAD =
  '<title>Tide table</title><meta name="description" content="Tides of May"><meta name="keywords" content="tide, moon"><meta property="og:title" content="OG Tide"><meta property="og:description" content="OG words"><meta property="og:url" content="https://example.com/tide"><meta property="og:image" content="https://example.com/tide.png"><meta property="og:locale" content="en_GB"><meta property="og:locale:alternate" content="de_DE"><meta property="og:locale:alternate" content="fr_FR"><meta property="og:site_name" content="Harbour"><meta property="article:published_time" content="2024-05-01T00:00:00Z"><link rel="icon" href="https://example.com/favicon.ico"><meta name="author" content="Ana"><meta name="author" content="Ben"><meta name="robots" content="noindex"><meta name="statusCode" content="999"><meta name="contentType" content="evil"><meta name="creditsUsed" content="-5"><meta name="sourceURL" content="https://evil.example"><meta name="__proto__" content="x"><meta name="constructor" content="y">';
const TIDES = page('<main><p>High water at noon.</p></main>', HEAD);

export const rows: Row[] = [
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
  {
    name: 'DECISIONS `requestId`: the id of the X-Request-Id header',
    run: async (product) => {
      const answer = await parse(product, SMALL_CSV);
      assert.equal(successData(answer).metadata.requestId, answer.headers['x-request-id']);
    },
  },
  {
    name: 'DECISIONS additions of ours are camelCase',
    run: async (product) => {
      const { metadata } = await parsed(product, { ...SMALL_CSV, options: { redactPII: true } });
      for (const name of Object.keys(metadata)) assert.match(name, /^[a-z][A-Za-z0-9]*$/);
      assert.ok(metadata.piiRedactions !== undefined);
    },
  },
];
