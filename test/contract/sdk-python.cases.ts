// Checks that PyPI `firecrawl-py`, the public SDK for Python, works when only its API URL is set.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { CONTENT, html, pdf, pdfOfSize } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { orSkip, PYTHON_SDK, pythonPackages } from '../harness/published-packages.ts';
import { type ContractCase, SMALL_CSV } from './contract-case.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('python/sdk.py', import.meta.url));

/** A document as the SDK returns it, or an error as `described` in the program prints it. */
interface Result {
  markdown?: string;
  html?: string;
  links?: string[];
  images?: string[];
  summary?: string;
  metadata?: Record<string, unknown>;
  pages?: { page_number: number; markdown: string }[];
  blocks?: { items: { content: string; bbox: number[]; markdown_span: [number, number] }[] }[];
  class?: string;
  status?: number;
  code?: string;
  message?: string;
  retryAfter?: string;
}

interface Results {
  sync: Record<string, Result> & {
    formats: { extensions: string[]; kind: string }[];
    credits: { remaining_credits: number };
    concurrency: number;
  };
  async: Record<string, Result>;
}

const results = new WeakMap<Product, Promise<Results>>();

/** Runs the program once for each product, because a Python process takes a second to load the SDK. */
function resultsFor(product: Product, python: string): Promise<Results> {
  const running = results.get(product) ?? runProgram(product, python);
  results.set(product, running);
  return running;
}

async function runProgram(product: Product, python: string): Promise<Results> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-python-'));
  try {
    const report = await pdf([{ title: CONTENT.title, lines: ['One.'] }, { lines: ['Two.'] }]);
    const page = html({ ...CONTENT, paragraphs: ['Write to anna@example.com.'] });
    await writeFile(join(folder, 'boats.csv'), SMALL_CSV.file);
    await writeFile(join(folder, 'page.html'), page);
    await writeFile(join(folder, 'report.pdf'), report);
    await writeFile(join(folder, 'heavy.pdf'), await pdfOfSize(REQUEST_LIMITS.fileBytes));
    const poor = await product.createKey('--credits', '1');
    const limited = await product.createKey('--rate', '20');
    const { stdout } = await run(python, [PROGRAM, product.url, product.key, poor, limited, folder], {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' },
      maxBuffer: 16 * 1024 * 1024,
      timeout: 600_000,
    });
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const pythonCase = (name: string, check: (found: Results) => void): ContractCase => ({
  name: `Python \`${PYTHON_SDK}\` ${name}`,
  run: async (product, context) => {
    const python = await orSkip(context, pythonPackages(PYTHON_SDK));
    if (python !== undefined) check(await resultsFor(product, python));
  },
});

function assertRefused(result: Result | undefined, className: string, status: number, code: string): void {
  assert.deepEqual([result?.class, result?.status, result?.code], [className, status, code], JSON.stringify(result));
}

export const cases: ContractCase[] = [
  pythonCase('sends bytes, a path and a stream, and file names in any script', ({ sync }) => {
    assert.match(sync.bytes?.markdown ?? '', /seventeen herons/);
    assert.equal(sync.bytes?.metadata?.source_url, 'Größe 文件 “tide”.csv');
    assert.equal(sync.path?.metadata?.source_url, 'report.pdf');
    assert.match(sync.stream?.markdown ?? '', /seventeen herons/);
  }),
  pythonCase('sends every option that its types offer', ({ sync }) => {
    const { options } = sync;
    assert.match(options?.markdown ?? '', /Write to \*+/);
    assert.doesNotMatch(options?.markdown ?? '', /Petrel/);
    assert.ok(options?.html && options.links && options.images && options.summary, JSON.stringify(options));
  }),
  pythonCase('returns typed pages and blocks of a PDF', ({ sync }) => {
    const { markdown, pages, blocks } = sync.path ?? {};
    assert.match(markdown ?? '', /\n\n---\n\n<!-- page 2 -->\n\n/);
    assert.deepEqual(
      pages?.map((page) => page.page_number),
      [1, 2],
    );
    const block = blocks?.[0]?.items[0];
    assert.equal(block?.bbox.length, 4);
    assert.equal(markdown?.slice(...block.markdown_span), block.content);
  }),
  pythonCase('lists the formats of the server, and reads credits and slots', ({ sync }) => {
    assert.equal(sync.credits.remaining_credits, Number.MAX_SAFE_INTEGER);
    assert.ok(sync.concurrency > 0);
    assert.deepEqual(sync.formats.flatMap(({ extensions }) => extensions).sort(), [...EXTENSIONS].sort());
  }),
  pythonCase('sends a file of exactly 50 MiB, and raises for one more byte', ({ sync }) => {
    assert.match(sync.heavy?.markdown ?? '', /Heavy but short/);
    assertRefused(sync.tooLarge, 'FirecrawlError', 413, 'PAYLOAD_TOO_LARGE');
  }),
  pythonCase('raises its error class for 400, 401, 402 and 422, with the code and the message', ({ sync }) => {
    assertRefused(sync.unsupported, 'BadRequestError', 400, 'UNSUPPORTED_FILE_TYPE');
    assert.match(sync.unsupported?.message ?? '', /\.pdf/);
    assertRefused(sync.invalid, 'BadRequestError', 400, 'BAD_REQUEST');
    assert.match(sync.invalid?.message ?? '', /timeout/);
    assertRefused(sync.wrongKey, 'UnauthorizedError', 401, 'UNAUTHORIZED');
    assert.match(sync.charged?.markdown ?? '', /seventeen herons/);
    assertRefused(sync.noCredits, 'PaymentRequiredError', 402, 'PAYMENT_REQUIRED');
    assertRefused(sync.corrupt, 'FirecrawlError', 422, 'DOCUMENT_CORRUPT');
  }),
  pythonCase('raises RateLimitError for 429 without a retry, and gives Retry-After', ({ sync }) => {
    assertRefused(sync.rateLimited, 'RateLimitError', 429, 'RATE_LIMIT_EXCEEDED');
    assert.match(sync.rateLimited?.retryAfter ?? '', /^[1-9]\d*$/);
  }),
  pythonCase('has an async client that does the same', (found) => {
    assert.match(found.async.bytes?.markdown ?? '', /seventeen herons/);
    assert.equal(found.async.bytes?.metadata?.source_url, 'Größe 文件 “tide”.csv');
    assert.equal(found.async.path?.markdown, found.sync.path?.markdown);
    assert.deepEqual(found.async.path?.blocks, found.sync.path?.blocks);
    assert.equal(found.async.options?.html, found.sync.options?.html);
    assertRefused(found.async.unsupported, 'BadRequestError', 400, 'UNSUPPORTED_FILE_TYPE');
    assertRefused(found.async.corrupt, 'FirecrawlError', 422, 'DOCUMENT_CORRUPT');
    assertRefused(found.async.wrongKey, 'UnauthorizedError', 401, 'UNAUTHORIZED');
  }),
];
