// Tests the output of `npm test`: what a green run and a failed run print, and that no failure is lost.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Report, type RunEvent } from './report.ts';

const ROOT = '/checkout';
const files = Array.from({ length: 150 }, (_, index) => `${ROOT}/test/number-${index}.test.ts`);

/** The events of one file with one test. */
function fileEvents(file: string, outcome: 'test:pass' | 'test:fail', fields: object = {}): RunEvent[] {
  const details = { duration_ms: 1, type: 'test', ...(outcome === 'test:fail' ? { error: new Error('broken') } : {}) };
  const data = { name: 'a test', nesting: 0, file, line: 7, details, ...fields };
  return [
    { type: 'test:stdout', data: { file, message: `output of ${file}\n` } },
    { type: 'test:start', data },
    { type: outcome, data },
    { type: 'test:summary', data: { file, success: outcome === 'test:pass' } },
    {
      type: 'test:complete',
      data: { ...data, name: file, details: { duration_ms: Number(/\d+/.exec(file)?.[0]), type: 'test' } },
    },
  ];
}

function print(events: readonly RunEvent[], options: Partial<ConstructorParameters<typeof Report>[0]> = {}) {
  const report = new Report({ files, root: ROOT, ...options });
  const text = events.map((event) => report.add(event)).join('') + report.end();
  return { text, lines: text.trimEnd().split('\n'), failed: report.failed };
}

const allPass = files.flatMap((file) => fileEvents(file, 'test:pass'));

describe('a green run', () => {
  test('prints at most 60 lines, and the counts alone on the last line', () => {
    const { lines, failed } = print(allPass);
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    assert.equal(lines.at(-1), '150 passed, 0 failed');
    assert.equal(failed, 0);
  });

  test('prints the ten slowest files, the slowest one first', () => {
    const { lines } = print(allPass);
    const slowest = lines.filter((line) => / s {2}test\//.test(line)).map((line) => line.replace(/.* /, ''));
    assert.deepEqual(
      slowest,
      Array.from({ length: 10 }, (_, index) => `test/number-${149 - index}.test.ts`),
    );
  });

  test('prints nothing of what the files write', () => {
    assert.doesNotMatch(print(allPass).text, /output of/);
  });

  test('counts skipped tests and prints their reasons, but no more than ten different ones', () => {
    const skipped = files.flatMap((file, index) => fileEvents(file, 'test:pass', { skip: `reason ${index}` }));
    const { text, lines } = print(skipped);
    assert.match(text, /^ {2}1 {2}reason 0$/m);
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    assert.equal(lines.at(-1), '0 passed, 0 failed, 150 skipped');
  });

  test('prints every test and all output with `verbose`', () => {
    const { text } = print(allPass, { verbose: true });
    assert.equal(text.match(/^✔ a test \(1 ms\)$/gm)?.length, 150);
    assert.equal(text.match(/^output of/gm)?.length, 150);
  });
});

describe('a failed run', () => {
  test('prints the place, the error and the output of the file that failed', () => {
    const [first = '', second = ''] = files;
    const { text, lines, failed } = print([...fileEvents(first, 'test:pass'), ...fileEvents(second, 'test:fail')], {
      files: [first, second],
    });
    assert.match(text, /^✖ test\/number-1\.test\.ts:7\n {2}a test\n {4}Error: broken$/m);
    assert.match(text, /\| output of .*number-1/);
    assert.doesNotMatch(text, /\| output of .*number-0/);
    assert.equal(lines.at(-1), '1 passed, 1 failed');
    assert.equal(failed, 1);
  });

  test('fails a file whose process ended before its tests', () => {
    const { text, lines } = print(allPass.slice(0, -2));
    assert.match(text, /number-149\.test\.ts\n {4}the file has no tests, or its process exited/);
    assert.equal(lines.at(-1), '150 passed, 1 failed');
  });

  test('fails a run without test files', () => {
    assert.equal(print([], { files: [] }).lines.at(-1), '0 passed, 1 failed');
  });
});

/** Runs fixture suites through the command of `npm test`. */
async function runSuites(...suites: string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const paths = suites.map((suite) => fileURLToPath(new URL(`./suites/${suite}.suite.ts`, import.meta.url)));
  const child = spawn(process.execPath, [fileURLToPath(new URL('./run.ts', import.meta.url)), ...paths], { env });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, output, errors, last: output.trimEnd().split('\n').at(-1) };
}

describe('the command of `npm test`', { concurrency: 2 }, () => {
  test('exits with 0 and hides the output of a file that passes', async () => {
    const { code, output, errors, last } = await runSuites('passing');
    assert.equal(last, '1 passed, 0 failed, 1 skipped');
    assert.match(output, /1 {2}the tool is not installed/);
    assert.doesNotMatch(output + errors, /noise/);
    assert.equal(code, 0);
  });

  test('exits with 1 and prints each failure', async () => {
    const { code, output, last } = await runSuites(
      'passing',
      'failing',
      'without-tests',
      'exits-early',
      'does-not-load',
      'late-error',
    );
    assert.match(
      output,
      /failing\.suite\.ts:7\n {2}a suite > fails with a diff\n[\s\S]*\n {4}\+ {3}boats: 2\n {4}- {3}boats: 3/,
    );
    assert.match(output, /a suite whose before hook fails\n {4}Error: the before hook failed/);
    assert.match(output, /a suite whose after hook fails\n {4}Error: the after hook failed/);
    assert.match(output, /times out\n.*timed out after 20ms/);
    assert.match(output, /\| text that explains the failure/);
    assert.match(output, /Cancelled because their suite failed or timed out: 1 test\n/);
    assert.match(output, /without-tests\.suite\.ts\n {4}the file has no tests/);
    assert.match(output, /exits-early\.suite\.ts\n {4}the file has no tests, or its process exited/);
    assert.match(output, /does-not-load\.suite\.ts\n[\s\S]*\| Error: the file does not load/);
    assert.match(output, /\| Error: Test "passes" .*thrown too late[\s\S]*late-error\.suite\.ts\n/);
    assert.doesNotMatch(output, /noise/);
    // The runner may lose the result of the test before the early exit.
    assert.match(last ?? '', /^[56] passed, 9 failed, 1 skipped$/);
    assert.equal(code, 1);
  });

  test('exits with 1 if no file matches', async () => {
    const { code, last } = await runSuites('missing');
    assert.equal(last, '0 passed, 1 failed');
    assert.equal(code, 1);
  });
});
