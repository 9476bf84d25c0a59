// Runs the test files for `npm test`, each in a process of its own, and keeps compiled code for the processes that follow.
import { glob } from 'node:fs/promises';
import { resolve } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Report, type RunEvent } from './report.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATTERNS = ['shared/**/*.test.ts', 'services/**/*.test.ts', 'test/**/*.test.ts'];
const USAGE = `npm test -- [--verbose] [--concurrency N] [FILE or PATTERN ...]
  --verbose        print every test, and everything that the tests write
  --concurrency N  files that run at the same time (2)`;
/** For a file and for a test: it only ends what hangs. */
const TIMEOUT_MS = 900_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      concurrency: { type: 'string', default: '2' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  // Type stripping and compilation are half of the CPU time of a short test file, and of each process of the product.
  process.env.NODE_COMPILE_CACHE ??= resolve(ROOT, 'node_modules/.cache/compiled');
  const files: string[] = [];
  for await (const path of glob(positionals.length > 0 ? positionals : PATTERNS, { cwd: ROOT }))
    files.push(resolve(ROOT, path));
  files.sort();

  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  const report = new Report({ files, root: ROOT, verbose: values.verbose });
  if (files.length > 0) {
    const events = run({
      cwd: ROOT,
      files,
      concurrency: Number(values.concurrency),
      timeout: TIMEOUT_MS,
      signal: stopped.signal,
      execArgv: ['--import', new URL('./open-handles.ts', import.meta.url).href, `--test-timeout=${TIMEOUT_MS}`],
    });
    for await (const event of events as AsyncIterable<RunEvent>) process.stdout.write(report.add(event));
  }
  process.stdout.write(report.end());
  if (report.failed > 0 || stopped.signal.aborted) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  // Printed here, because the test runner handles uncaught exceptions of this process and does not print them.
  const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `${error.message}\n${USAGE}` : error);
  process.exitCode = isUsage ? 2 : 1;
}
