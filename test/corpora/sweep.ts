// Runs `npm run sweep`: sends every file of the corpora to the product and checks each response for 5xx, timeouts and wrong outcomes.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { type Answer, parse } from '../harness/client.ts';
import { startProduct, type TransportName } from '../harness/product.ts';
import { checkAnswer, expectationOf, type SweepResult } from './expectation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 120_000;
/** The client gives up 30 s after the timeout of the request. */
const CLIENT_TIMEOUT_MS = TIMEOUT_MS + 30_000;
const MAX_ATTEMPTS_ON_429 = 20;
const HELP = `npm run sweep -- (--url URL --key KEY | --start memory|nats|both)
  --corpora DIR   folder of the corpora (default: CORPORA, else ../shared/corpora)
  --jobs N        requests at the same time (2)
  --only EXT,...  only files with these extensions (pdf,docx)
  --match TEXT    only files whose path contains TEXT
  --out FILE      write a JSON report`;

interface Target {
  url: string;
  key: string;
}

interface Row extends SweepResult {
  file: string;
  extension: string;
  status: number;
  ms: number;
}

/** Sorted paths of the files to send, without those in folders named `truth`. */
export function listInputs(corpora: string): string[] {
  const known: readonly string[] = EXTENSIONS;
  return readdirSync(corpora, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && known.includes(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(corpora, path).split(sep).includes('truth'))
    .sort();
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

async function send(target: Target, path: string): Promise<Answer> {
  const request = {
    file: readFileSync(path),
    fileName: basename(path),
    options: { timeout: TIMEOUT_MS },
    clientTimeoutMs: CLIENT_TIMEOUT_MS,
  };
  for (let attempt = 1; ; attempt++) {
    const answer = await parse(target, request);
    if (answer.status !== 429 || attempt === MAX_ATTEMPTS_ON_429) return answer;
    await pause(1000 * Math.max(1, Number(answer.headers['retry-after']) || 1));
  }
}

async function sendFile(target: Target, path: string, corpora: string): Promise<Row> {
  const start = performance.now();
  const extension = extname(path).toLowerCase();
  const row = { file: relative(corpora, path), extension, status: 0 };
  try {
    const answer = await send(target, path);
    const ms = Math.round(performance.now() - start);
    return { ...row, status: answer.status, ms, ...checkAnswer(answer, expectationOf(path)) };
  } catch (error) {
    const note =
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);
    const ms = Math.round(performance.now() - start);
    return {
      ...row,
      ms,
      kind: 'failed',
      note: ms >= CLIENT_TIMEOUT_MS ? `no response within ${CLIENT_TIMEOUT_MS} ms` : `no response: ${note}`,
    };
  }
}

async function sweep(target: Target, paths: readonly string[], corpora: string, jobs: number): Promise<Row[]> {
  const rows: Row[] = [];
  let next = 0;
  const client = async () => {
    while (next < paths.length) {
      const path = paths[next++]!;
      const row = await sendFile(target, path, corpora);
      rows.push(row);
      if (row.kind === 'failed') console.error(`  ${rows.length}/${paths.length} FAILED ${row.file}: ${row.note}`);
      else if (rows.length % 50 === 0) console.error(`  ${rows.length}/${paths.length}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, client));
  return rows.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The quantile `share` (0 to 1) of sorted numbers, or 0 without numbers. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function printTable(rows: readonly Row[]): void {
  const line = (...cells: (string | number)[]) =>
    console.log(cells.map((cell, index) => String(cell)[index === 0 ? 'padEnd' : 'padStart'](8)).join(' '));
  line('format', 'files', '200', '4xx', 'empty', 'failed', 'p50 ms', 'p95 ms');
  const extensions = [...new Set(rows.map((row) => row.extension))].sort();
  for (const extension of [...extensions, 'all']) {
    const selected = rows.filter((row) => extension === 'all' || row.extension === extension);
    const count = (test: (row: Row) => boolean) => selected.filter(test).length;
    const times = selected.map((row) => row.ms).sort((a, b) => a - b);
    line(
      extension,
      selected.length,
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
  const running =
    values.url !== undefined && values.key !== undefined ? { url: values.url, key: values.key } : undefined;
  if (values.help || (transports.length === 0 && !running)) {
    console.error(HELP);
    return values.help ? 0 : 2;
  }
  const corpora = resolve(values.corpora ?? process.env.CORPORA ?? join(ROOT, '../shared/corpora'));
  if (!existsSync(corpora)) {
    console.error(`There are no corpora in ${corpora}. Set --corpora or CORPORA to their folder.`);
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
  if (running) await run(running.url, running);
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
