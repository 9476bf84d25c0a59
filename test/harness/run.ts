// `npm test`: runs the test files, each in a process of its own, and keeps compiled code for the processes that follow.

import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATTERNS = ['shared/**/*.test.ts', 'services/**/*.test.ts', 'test/**/*.test.ts'];
/** Per file and per test: only ends what hangs. */
const TIMEOUT_MS = 900_000;

// Type stripping and compilation are half of the CPU time of a short test file, and of each process of the product.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', `file://${ROOT}`));

const patterns = process.argv.slice(2);
const events = run({
  cwd: ROOT,
  globPatterns: patterns.length > 0 ? patterns : PATTERNS,
  concurrency: 2,
  timeout: TIMEOUT_MS,
  execArgv: ['--import', new URL('./ends.ts', import.meta.url).href, `--test-timeout=${TIMEOUT_MS}`],
});
events.on('test:fail', () => {
  process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
