// Tests that a process with a clock offset, and its child processes, have the wrong time.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { clockOffset } from './clock-offset.ts';

const OWN_TIME = 'process.stdout.write(JSON.stringify([Date.now(), new Date().getTime(), new Date(5).getTime()]))';
const TIME_OF_CHILD = `import { spawn } from 'node:child_process';
spawn(process.execPath, ['-e', ${JSON.stringify(OWN_TIME)}], { stdio: 'inherit', env: {} });`;

for (const [name, script] of [
  ['the process', OWN_TIME],
  ['a child process with an environment of its own', TIME_OF_CHILD],
] as const)
  test(`${name} is an hour ahead`, async () => {
    const before = Date.now();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, ...clockOffset(3_600) },
    });
    const after = Date.now();
    const [now, date, fixed] = JSON.parse(stdout) as number[];
    for (const time of [now, date])
      assert.ok(time !== undefined && time >= before + 3_600_000 && time <= after + 3_600_000);
    assert.equal(fixed, 5, 'a given time is not shifted');
  });
