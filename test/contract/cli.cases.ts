// Checks that npm `firecrawl-cli`, the public command line client, works when only its API URL and key are set.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTENT, docx, pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { CLI, npmPackages, orSkip } from '../harness/published-packages.ts';
import type { ContractCase } from './contract-case.ts';

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `firecrawl ARGS`. */
type Firecrawl = (args: readonly string[], variables?: Record<string, string>) => Promise<Run>;

const cliCase = (
  name: string,
  check: (firecrawl: Firecrawl, folder: string, product: Product) => Promise<void>,
): ContractCase => ({
  name: `npm \`${CLI}\` ${name}`,
  run: async (product, context) => {
    const packages = await orSkip(context, npmPackages(CLI));
    if (packages === undefined) return;
    const folder = await mkdtemp(join(tmpdir(), 'parsemesh-cli-'));
    try {
      await writeFile(
        join(folder, 'report.pdf'),
        await pdf([{ title: CONTENT.title, lines: [...CONTENT.paragraphs] }]),
      );
      await check(commandLine(product, packages, folder), folder, product);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

/** The command in this folder, which is also its home folder, so that it finds no stored settings. */
function commandLine(product: Product, packages: string, folder: string): Firecrawl {
  const script = join(packages, 'node_modules/firecrawl-cli/dist/index.js');
  return (args, variables = {}) =>
    new Promise((resolve) => {
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        FIRECRAWL_API_URL: product.url,
        FIRECRAWL_API_KEY: product.key,
        ...variables,
      };
      execFile(process.execPath, [script, ...args], { cwd: folder, env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      );
    });
}

export const cases: ContractCase[] = [
  cliCase('parses a PDF and a Word file to stdout', async (firecrawl, folder) => {
    const { code, stdout, stderr } = await firecrawl(['parse', 'report.pdf']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^# Harbour report\n\nThe lighthouse keeper counted seventeen herons\./);
    await writeFile(join(folder, 'report.docx'), docx(CONTENT));
    assert.match((await firecrawl(['parse', 'report.docx', '--only-main-content'])).stdout, /seventeen herons/);
  }),
  cliCase('writes a file, and JSON with several formats', async (firecrawl, folder) => {
    assert.equal((await firecrawl(['parse', 'report.pdf', '-o', 'out/report.md'])).code, 0);
    assert.match(await readFile(join(folder, 'out/report.md'), 'utf8'), /seventeen herons/);
    const several = await firecrawl(['parse', 'report.pdf', '-f', 'markdown,html,links', '--pretty']);
    const data = JSON.parse(several.stdout);
    assert.match(data.html, /<h1>Harbour report<\/h1>/);
    assert.deepEqual([typeof data.markdown, data.links], ['string', []]);
    assert.equal((await firecrawl(['parse', 'report.pdf', '--json', '-o', 'report.json'])).code, 0);
    const written = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
    assert.equal(written.metadata.sourceURL, 'report.pdf');
  }),
  cliCase('takes URL and key as flags too', async (firecrawl, _folder, { url, key }) => {
    const unset = { FIRECRAWL_API_URL: '', FIRECRAWL_API_KEY: '' };
    const { stdout } = await firecrawl(['parse', 'report.pdf', '--api-url', url, '--api-key', key], unset);
    assert.match(stdout, /seventeen herons/);
  }),
  cliCase('prints the credits of a key, and the status of its team', async (firecrawl, _folder, product) => {
    const key = { FIRECRAWL_API_KEY: await product.createKey('--credits', '5', '--concurrency', '2') };
    await firecrawl(['parse', 'report.pdf'], key);
    const credits = await firecrawl(['credit-usage'], key);
    assert.match(credits.stdout, /Remaining Credits: 3\nPlan Credits: 5\nUsed Credits: 2/);
    const status = await firecrawl(['--status'], { ...key, NO_COLOR: '1' });
    assert.match(status.stdout, /0\/2 jobs/);
    assert.match(status.stdout, /3 \/ 5/);
    assert.match((await firecrawl(['credit-usage'])).stdout, /Remaining Credits: 9,007,199,254,740,991\n/);
  }),
  cliCase('prints the message of an error, and exits with 1', async (firecrawl, folder) => {
    await writeFile(join(folder, 'broken.pdf'), '%PDF-1.7\nbroken');
    for (const [args, variables, message] of [
      [['report.pdf'], { FIRECRAWL_API_KEY: 'fc-wrong' }, /^Error: Unauthorized: Invalid token\n$/],
      [['broken.pdf'], {}, /^Error: The PDF is damaged/],
      [['report.pdf', '--timeout', '300001'], {}, /^Error: Bad Request: invalid options: `timeout`/],
      [['report.pdf', '--query', 'Who counted herons?'], {}, /^Error: Unsupported options for parse: .*`query`/],
    ] as const) {
      const { code, stdout, stderr } = await firecrawl(['parse', ...args], variables);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    }
  }),
];
