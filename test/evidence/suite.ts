// Runs a test file and collects its results from the events of Node's test runner.
import { relative } from 'node:path';
import { run } from 'node:test';
import type { StepResult } from './step.ts';

interface TestEvent {
  name: string;
  file?: string;
  nesting: number;
  skip?: string | boolean;
  todo?: string | boolean;
  details: { duration_ms: number; type?: string; error?: Error };
}
interface RunEvent {
  type: string;
  data: TestEvent;
}

/** The longest time of one file, in milliseconds. */
const TIMEOUT_MS = 1_800_000;

const firstLine = (error: Error | undefined): string => {
  const cause = error?.cause instanceof Error ? error.cause : error;
  return (cause?.message ?? 'failed').split('\n', 1)[0] ?? '';
};

/**
 * Runs every test of a file. A test that is skipped is a problem too, because then nothing was shown.
 * @param claim what the tests show
 */
export async function runSuite(root: string, file: string, claim: string): Promise<StepResult> {
  const rows: string[][] = [];
  const problems: string[] = [];
  const path: string[] = [];
  const isFile = ({ name, nesting }: TestEvent): boolean =>
    nesting === 0 && (name === file || name === relative(root, file));
  const record = (test: TestEvent, passed: boolean): void => {
    const { details, nesting } = test;
    const name = [...path.slice(0, nesting), test.name].join(' > ');
    if (isFile(test)) {
      if (!passed) problems.push(`${name}: ${firstLine(details.error)}`);
      return;
    }
    const isSkipped = (test.skip ?? false) !== false || (test.todo ?? false) !== false;
    if (details.type === 'suite' && !isSkipped) return;
    rows.push([name, isSkipped ? 'SKIPPED' : passed ? 'PASS' : 'FAIL', (details.duration_ms / 1_000).toFixed(1)]);
    if (isSkipped) problems.push(`${name}: not run (${String(test.skip ?? test.todo)})`);
    else if (!passed) problems.push(`${name}: ${firstLine(details.error)}`);
  };
  const events = run({
    cwd: root,
    files: [file],
    concurrency: 1,
    timeout: TIMEOUT_MS,
    execArgv: ['--import', new URL('../harness/open-handles.ts', import.meta.url).href, `--test-timeout=${TIMEOUT_MS}`],
  });
  for await (const { type, data } of events as AsyncIterable<RunEvent>) {
    if (type === 'test:start') path[data.nesting] = data.name;
    if (type === 'test:pass' || type === 'test:fail') record(data, type === 'test:pass');
  }
  if (rows.length === 0) problems.push(`${relative(root, file)} ran no test`);
  return { claim, problems, facts: { head: ['test', 'result', 'seconds'], rows } };
}
