// Tests that a log line contains its own fields only.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = `
  const { createLogger } = await import('#shared/runtime/log.ts');
  const log = createLogger({ logLevel: 'info' }, 'gateway');
  log.info({ secret: 'first', reason: 'no number' }, 'one');
  log.child({ requestId: 'second' }).warn({ code: 'LATE' }, 'two');
  log.error('three');
`;

test('a log line contains no fields of earlier lines', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => {
      const { time, pid, ...fields } = JSON.parse(line) as Record<string, unknown>;
      assert.ok(typeof time === 'string' && typeof pid === 'number');
      return fields;
    });
  assert.deepEqual(lines, [
    { level: 'info', service: 'gateway', secret: 'first', reason: 'no number', msg: 'one' },
    { level: 'warn', service: 'gateway', requestId: 'second', code: 'LATE', msg: 'two' },
    { level: 'error', service: 'gateway', msg: 'three' },
  ]);
});
