// Checks that npm `firecrawl`, the public SDK for JavaScript, works when only its API URL is set.
import assert from 'node:assert/strict';
import { Firecrawl, type ParseFormatString, type ParseOptions, type SdkError } from 'firecrawl';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { CONTENT, html, pdf, pdfOfSize } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, pause, SMALL_CSV } from './contract-case.ts';

const client = (product: Product, apiKey = product.key) => new Firecrawl({ apiKey, apiUrl: product.url });

const CSV = { data: Buffer.from(SMALL_CSV.file), filename: 'boats.csv', contentType: 'text/csv' };
const TIMEOUT = { timeout: REQUEST_LIMITS.timeoutMaxMs };

/** Asserts that the SDK rejects with this status and code. @returns the error */
async function rejection(call: Promise<unknown>, status: number, code: string): Promise<SdkError> {
  const error = await call.then(
    () => assert.fail(`expected ${status}`),
    (thrown: SdkError) => thrown,
  );
  assert.equal(error.status, status, error.message);
  assert.equal(error.code, code, error.message);
  return error;
}

/** Every option that the types of the SDK offer for parse. The compiler reports an option that a newer SDK adds. */
const EVERY_OPTION: Required<Omit<ParseOptions, 'profile'>> = {
  ...TIMEOUT,
  formats: ['markdown', { type: 'html' }, 'links', 'images', 'summary'],
  headers: { 'Accept-Language': 'de' },
  includeTags: ['main'],
  excludeTags: ['table'],
  onlyMainContent: false,
  parsers: [
    { type: 'pdf', mode: 'auto', maxPages: 2, pages: true, pageMarkdown: true, blocks: true, pageMarkers: true },
    { type: 'image' },
  ],
  skipTlsVerification: false,
  removeBase64Images: false,
  fastMode: false,
  useMock: '',
  blockAds: false,
  proxy: 'auto',
  redactPII: { mode: 'fast', entities: ['EMAIL'], replaceStyle: 'mask' },
  auditMetadata: { username: 'anna' },
  integration: 'tests',
  origin: 'tests',
  domainTools: false,
};

type Supported = 'markdown' | 'html' | 'rawHtml' | 'links' | 'images' | 'summary' | 'json';
/** The other formats of the SDK's types. The compiler reports a format that a newer SDK adds. */
const UNSUPPORTED: Record<Exclude<ParseFormatString, Supported>, RegExp> = {
  attributes: /`attributes`/,
  product: /`product`/,
  menu: /`menu`/,
};

export const cases: ContractCase[] = [
  {
    name: 'npm `firecrawl` parses a file with its default options',
    run: async (product) => {
      const document = await client(product).parse(CSV);
      assert.match(document.markdown ?? '', /seventeen herons/);
      assert.equal(document.metadata?.statusCode, 200);
      assert.equal(document.metadata?.sourceURL, 'boats.csv');
    },
  },
  {
    name: 'npm `firecrawl` sends every option that its types offer',
    run: async (product) => {
      const data = html({ ...CONTENT, paragraphs: ['Write to anna@example.com.'] });
      const document = await client(product).parse({ data, filename: 'page.html' }, EVERY_OPTION);
      assert.match(document.markdown ?? '', /Write to \*+/);
      assert.doesNotMatch(document.markdown ?? '', /Petrel/);
      assert.ok(document.html && document.links && document.images && document.summary);
    },
  },
  {
    name: 'npm `firecrawl` returns typed pages and blocks of a PDF',
    run: async (product) => {
      const data = await pdf([{ title: CONTENT.title, lines: ['One.'] }, { lines: ['Two.'] }]);
      const document = await client(product).parse(
        { data, filename: 'report.pdf', contentType: 'application/pdf' },
        { ...TIMEOUT, parsers: [{ type: 'pdf', mode: 'auto', pages: true, blocks: true, pageMarkers: true }] },
      );
      assert.match(document.markdown ?? '', /\n\n---\n\n<!-- page 2 -->\n\n/);
      assert.deepEqual(
        document.pages?.map(({ pageNumber }) => pageNumber),
        [1, 2],
      );
      const [block] = document.blocks?.[0]?.items ?? [];
      assert.ok(block?.markdownSpan && block.bbox);
      assert.equal(document.markdown?.slice(...block.markdownSpan), block.content);
    },
  },
  {
    name: 'npm `firecrawl` sends each type of file data, and file names in any script',
    run: async (product) => {
      const bytes = Buffer.from(SMALL_CSV.file);
      for (const data of [
        bytes,
        new Uint8Array(bytes),
        Uint8Array.from(bytes).buffer,
        new Blob([bytes]),
        SMALL_CSV.file,
      ]) {
        const document = await client(product).parse({ data, filename: 'Größe 文件 “tide”.csv' });
        assert.match(document.markdown ?? '', /seventeen herons/);
        assert.equal(document.metadata?.sourceURL, 'Größe 文件 “tide”.csv');
      }
    },
  },
  {
    name: 'npm `firecrawl` sends a file of exactly 50 MiB, and rejects with 413 for one more byte',
    run: async (product) => {
      const data = await pdfOfSize(REQUEST_LIMITS.fileBytes);
      const document = await client(product).parse({ data, filename: 'heavy.pdf' }, TIMEOUT);
      assert.match(document.markdown ?? '', /Heavy but short/);
      const larger = Buffer.concat([data, Buffer.from('\n')]);
      const error = await rejection(
        client(product).parse({ data: larger, filename: 'heavy.pdf' }, TIMEOUT),
        413,
        'PAYLOAD_TOO_LARGE',
      );
      assert.match(error.message, /50 MiB/);
    },
  },
  {
    name: 'npm `firecrawl` rejects with status, code, message and details of a 400',
    run: async (product) => {
      const unsupported = await rejection(
        client(product).parse({ data: Buffer.from('MZ'), filename: 'setup.exe' }),
        400,
        'UNSUPPORTED_FILE_TYPE',
      );
      assert.match(unsupported.message, /\.pdf/);
      const invalid = await rejection(client(product).parse(CSV, { timeout: 300_001 }), 400, 'BAD_REQUEST');
      assert.match(JSON.stringify(invalid.details), /"path":"timeout"/);
      const options = { profile: { name: 'x' } };
      const profile = await rejection(client(product).parse(CSV, options), 400, 'PARSE_UNSUPPORTED_OPTIONS');
      assert.match(profile.message, /profile/);
      for (const [type, named] of Object.entries(UNSUPPORTED)) {
        const formats = [{ type: type as keyof typeof UNSUPPORTED }];
        const error = await rejection(client(product).parse(CSV, { formats }), 400, 'PARSE_UNSUPPORTED_OPTIONS');
        assert.match(error.message, named);
      }
    },
  },
  {
    name: 'npm `firecrawl` rejects with 401 for a wrong key, 402 without credits, 422 for a corrupt file',
    run: async (product) => {
      await rejection(client(product, 'fc-not-a-key-000').parse(CSV), 401, 'UNAUTHORIZED');
      const poor = client(product, await product.createKey('--credits', '1'));
      await poor.parse(CSV);
      await rejection(poor.parse(CSV), 402, 'PAYMENT_REQUIRED');
      const corrupt = { data: Buffer.from('%PDF-1.7\nbroken'), filename: 'broken.pdf' };
      await rejection(client(product).parse(corrupt), 422, 'DOCUMENT_CORRUPT');
    },
  },
  {
    name: 'npm `firecrawl` reads the credits of a key, and the slots of its team',
    run: async (product) => {
      const own = client(product, await product.createKey('--credits', '5', '--concurrency', '2'));
      await own.parse(CSV);
      const { remainingCredits, planCredits } = await own.getCreditUsage();
      assert.deepEqual([remainingCredits, planCredits], [4, 5]);
      assert.deepEqual(await own.getConcurrency(), { concurrency: 0, maxConcurrency: 2 });
      assert.equal((await own.getQueueStatus()).maxConcurrency, 2);
    },
  },
  {
    name: 'npm `firecrawl` rejects with 429 without a retry, and is accepted after the seconds that the message names',
    run: async (product) => {
      const limited = client(product, await product.createKey('--rate', '20'));
      let refusal: SdkError | undefined;
      for (let sent = 0; sent < 200 && !refusal; sent++)
        await limited.parse(CSV, { timeout: 0.5 }).catch((error: SdkError) => {
          if (error.status === 429) refusal = error;
          else assert.equal(error.status, 400, error.message);
        });
      assert.equal(refusal?.code, 'RATE_LIMIT_EXCEEDED');
      const seconds = Number(/(\d+) s/.exec(refusal.message)?.[1]);
      assert.ok(seconds >= 1, refusal.message);
      await pause(seconds * 1000);
      assert.match((await limited.parse(CSV)).markdown ?? '', /seventeen herons/);
    },
  },
];
