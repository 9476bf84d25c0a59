// Checks every field of docs/api.md, "Metadata".
import assert from 'node:assert/strict';
import { parse, successData } from '../harness/client.ts';
import { CONTENT, pdf, sample } from '../harness/documents.ts';
import { type ContractCase, expectSuccess, htmlPage, SMALL_CSV } from './contract-case.ts';

const HEAD =
  '<title>Tide table</title><meta name="description" content="Tides of May"><meta name="keywords" content="tide, moon"><meta property="og:title" content="OG Tide"><meta property="og:description" content="OG words"><meta property="og:url" content="https://example.com/tide"><meta property="og:image" content="https://example.com/tide.png"><meta property="og:locale" content="en_GB"><meta property="og:locale:alternate" content="de_DE"><meta property="og:locale:alternate" content="fr_FR"><meta property="og:site_name" content="Harbour"><meta property="article:published_time" content="2024-05-01T00:00:00Z"><link rel="icon" href="https://example.com/favicon.ico"><meta name="author" content="Ana"><meta name="author" content="Ben"><meta name="robots" content="noindex"><meta name="statusCode" content="999"><meta name="contentType" content="evil"><meta name="creditsUsed" content="-5"><meta name="sourceURL" content="https://evil.example"><meta name="__proto__" content="x"><meta name="constructor" content="y">';
const TIDES = htmlPage('<main><p>High water at noon.</p></main>', HEAD);

export const cases: ContractCase[] = [
  {
    name: '`title`, `description` and `keywords` come from the HTML head, and `title` is a string',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, TIDES);
      assert.equal(found.title, 'Tide table');
      assert.equal(found.description, 'Tides of May');
      assert.match(String(found.keywords), /tide/);
    },
  },
  {
    name: '`language` comes from the document',
    run: async (product) => assert.equal((await expectSuccess(product, TIDES)).metadata.language, 'en'),
  },
  {
    name: '`sourceURL` and `url` are the file name',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, TIDES);
      assert.deepEqual([found.sourceURL, found.url], ['page.html', 'page.html']);
    },
  },
  {
    name: '`statusCode` is 200',
    run: async (product) => assert.equal((await expectSuccess(product, TIDES)).metadata.statusCode, 200),
  },
  {
    name: '`error` is absent or null after a successful parse',
    run: async (product) => assert.equal((await expectSuccess(product, TIDES)).metadata.error ?? null, null),
  },
  {
    name: '`ogLocaleAlternate` is an array of the alternate locales',
    run: async (product) =>
      assert.deepEqual((await expectSuccess(product, TIDES)).metadata.ogLocaleAlternate, ['de_DE', 'fr_FR']),
  },
  {
    name: '`ogLocaleAlternate` is an array when there is only one alternate locale',
    run: async (product) =>
      assert.deepEqual(
        (await expectSuccess(product, htmlPage('<p>x</p>', '<meta property="og:locale:alternate" content="de_DE">')))
          .metadata.ogLocaleAlternate,
        ['de_DE'],
      ),
  },
  {
    name: 'Open Graph fields are in camelCase, and `publishedTime` and `favicon` are filled',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, TIDES);
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
    name: 'other meta names are copied unchanged, and a repeated name becomes an array',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, TIDES);
      assert.equal(found.robots, 'noindex');
      assert.deepEqual(found.author, ['Ana', 'Ben']);
    },
  },
  {
    name: 'a meta name never replaces a documented field',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, TIDES);
      assert.deepEqual([found.statusCode, found.contentType, found.sourceURL], [200, 'text/html', 'page.html']);
      assert.ok(found.creditsUsed > 0);
    },
  },
  {
    name: '`creditsUsed` is a number and `concurrencyLimited` is always present',
    run: async (product) => {
      const { metadata: found } = await expectSuccess(product, SMALL_CSV);
      assert.equal(typeof found.creditsUsed, 'number');
      assert.equal(found.concurrencyLimited, false);
      assert.ok(!('concurrencyQueueDurationMs' in found));
    },
  },
  {
    name: '`numPages` and `totalPages` are present for PDF only',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }, { lines: ['Two'] }]);
      const { metadata: found } = await expectSuccess(product, { file, fileName: 'two.pdf' });
      assert.deepEqual([found.numPages, found.totalPages], [2, 2]);
      const other = (await expectSuccess(product, SMALL_CSV)).metadata;
      assert.ok(!('numPages' in other) && !('totalPages' in other));
    },
  },
  {
    name: '`title` of a PDF comes from its information dictionary',
    run: async (product) => {
      const file = await pdf([{ lines: ['One'] }], { title: 'Harbour log of 1902' });
      assert.equal((await expectSuccess(product, { file, fileName: 'one.pdf' })).metadata.title, 'Harbour log of 1902');
    },
  },
  {
    name: '`title` of an EPUB comes from its package document',
    run: async (product) => {
      const { bytes, fileName } = await sample('.epub');
      assert.equal((await expectSuccess(product, { file: bytes, fileName })).metadata.title, CONTENT.title);
    },
  },
  {
    name: '`requestId` equals the X-Request-Id header',
    run: async (product) => {
      const answer = await parse(product, SMALL_CSV);
      assert.equal(successData(answer).metadata.requestId, answer.headers['x-request-id']);
    },
  },
  {
    name: 'all metadata names are in camelCase, and `piiRedactions` is present with `redactPII`',
    run: async (product) => {
      const { metadata } = await expectSuccess(product, { ...SMALL_CSV, options: { redactPII: true } });
      for (const name of Object.keys(metadata)) assert.match(name, /^[a-z][A-Za-z0-9]*$/);
      assert.ok(metadata.piiRedactions !== undefined);
    },
  },
];
