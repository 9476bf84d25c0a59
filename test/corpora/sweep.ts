// Sends every file of the corpora through the product and holds each answer to its truth: no 5xx, no hang, no shape of its own.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { type Answer, parse } from '../harness/client.ts';
import { startProduct, type TransportName } from '../harness/product.ts';
import { expectationOf, judge, type Verdict } from './expectation.ts';
import { wrapScan } from './scan.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 120_000;
/** Past the request's own deadline by this much, the server hangs. */
const PATIENCE_MS = TIMEOUT_MS + 30_000;
const SCANS: readonly string[] = ['.tif', '.tiff', '.png'];
const TRIES_ON_429 = 20;
const HELP = `node test/corpora/sweep.ts (--url URL --key KEY | --start memory|nats|both)
  --corpora DIR   default: env CORPORA, else ../shared/corpora
  --jobs N        requests at once (2)
  --only EXT,...  these extensions alone (pdf,docx)
  --match TEXT    files whose path holds TEXT alone
  --out FILE      JSON report`;

interface Target {
  url: string;
  key: string;
}

export interface Row extends Verdict {
  file: string;
  extension: string;
  status: number;
  ms: number;
}

/** Files to send, sorted; folders of truths are left out. */
export function listInputs(corpora: string): string[] {
  const known: readonly string[] = [...EXTENSIONS, ...SCANS];
  return readdirSync(corpora, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && known.includes(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(corpora, path).split(sep).includes('truth'))
    .sort();
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

async function send(target: Target, path: string): Promise<Answer> {
  const extension = extname(path).toLowerCase();
  const bytes = readFileSync(path);
  const scan = SCANS.includes(extension);
  const file = scan ? await wrapScan(bytes, extension) : bytes;
  const fileName = scan ? `${basename(path, extname(path))}.pdf` : basename(path);
  const request = { file, fileName, options: { timeout: TIMEOUT_MS }, patienceMs: PATIENCE_MS };
  for (let attempt = 1; ; attempt++) {
    const answer = await parse(target, request);
    if (answer.status !== 429 || attempt === TRIES_ON_429) return answer;
    await pause(1000 * Math.max(1, Number(answer.headers['retry-after']) || 1));
  }
}

async function visit(target: Target, path: string, corpora: string): Promise<Row> {
  const start = performance.now();
  const extension = extname(path).toLowerCase();
  const row = { file: relative(corpora, path), extension, status: 0 };
  try {
    const answer = await send(target, path);
    const ms = Math.round(performance.now() - start);
    return { ...row, status: answer.status, ms, ...judge(answer, expectationOf(path)) };
  } catch (error) {
    const note =
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);
    const ms = Math.round(performance.now() - start);
    return {
      ...row,
      ms,
      kind: 'failed',
      note: ms >= PATIENCE_MS ? `no answer in ${PATIENCE_MS} ms` : `no answer: ${note}`,
    };
  }
}

async function sweep(target: Target, paths: readonly string[], corpora: string, jobs: number): Promise<Row[]> {
  const rows: Row[] = [];
  let next = 0;
  const lane = async () => {
    while (next < paths.length) {
      const path = paths[next++]!;
      const row = await visit(target, path, corpora);
      rows.push(row);
      if (row.kind === 'failed') console.error(`  ${rows.length}/${paths.length} FAILED ${row.file}: ${row.note}`);
      else if (rows.length % 50 === 0) console.error(`  ${rows.length}/${paths.length}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, lane));
  return rows.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The value below which a share of sorted numbers lies; 0 without numbers. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function printTable(rows: readonly Row[]): void {
  const line = (...cells: (string | number)[]) =>
    console.log(cells.map((cell, index) => String(cell)[index === 0 ? 'padEnd' : 'padStart'](8)).join(' '));
  line('kind', 'files', '200', '4xx', 'empty', 'failed', 'p50 ms', 'p95 ms');
  const extensions = [...new Set(rows.map((row) => row.extension))].sort();
  for (const extension of [...extensions, 'all']) {
    const of = rows.filter((row) => extension === 'all' || row.extension === extension);
    const count = (test: (row: Row) => boolean) => of.filter(test).length;
    const times = of.map((row) => row.ms).sort((a, b) => a - b);
    line(
      extension,
      of.length,
      count((row) => row.status === 200),
      count((row) => row.status >= 400 && row.status < 500),
      count((row) => row.kind === 'empty'),
      count((row) => row.kind === 'failed'),
      quantile(times, 0.5),
      quantile(times, 0.95),
    );
  }
  const failures = rows.filter((row) => row.kind === 'failed');
  console.log(failures.length === 0 ? '\nno failures' : `\n${failures.length} failures:`);
  for (const row of failures) console.log(`  ${row.file}  [${row.status}, ${row.ms} ms]  ${row.note}`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      start: { type: 'string' },
      corpora: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      only: { type: 'string' },
      match: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const transports: TransportName[] =
    values.start === 'both'
      ? ['memory', 'nats']
      : values.start === 'memory' || values.start === 'nats'
        ? [values.start]
        : [];
  const given = values.url !== undefined && values.key !== undefined ? { url: values.url, key: values.key } : undefined;
  if (values.help || (transports.length === 0 && !given)) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const corpora = resolve(values.corpora ?? process.env.CORPORA ?? join(ROOT, '../shared/corpora'));
  if (!existsSync(corpora)) {
    console.error(`No corpora in ${corpora}: name their folder with --corpora or CORPORA.`);
    return 2;
  }
  const only = values.only?.split(',').map((name) => `.${name.replace(/^\./, '').toLowerCase()}`);
  const paths = listInputs(corpora).filter(
    (path) =>
      (!only || only.includes(extname(path).toLowerCase())) && relative(corpora, path).includes(values.match ?? ''),
  );
  const runs: { name: string; rows: Row[] }[] = [];
  const run = async (name: string, target: Target) => {
    console.log(`\n${name}: ${paths.length} files`);
    const rows = await sweep(target, paths, corpora, Math.max(1, Number(values.jobs) || 1));
    printTable(rows);
    runs.push({ name, rows });
  };
  if (given) await run(given.url, given);
  for (const transport of transports) {
    const product = await startProduct({ transport });
    try {
      await run(transport, product);
    } finally {
      await product.stop();
    }
  }
  if (values.out) writeFileSync(values.out, `${JSON.stringify(runs, undefined, 1)}\n`);
  const failures = runs.flatMap(({ rows }) => rows).filter((row) => row.kind === 'failed').length;
  return failures > 0 || paths.length === 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
