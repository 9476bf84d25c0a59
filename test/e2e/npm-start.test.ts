// Tests the first steps of a new user: `npm start` in a checkout, then the printed curl command in a shell.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseResponseSchema } from '#shared/contract/response.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

describe('npm start', () => {
  let folder: string;
  let product: ChildProcess;
  let printed = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-npm-start-'));
    // A new user has no keys and sets no variables. These two only keep this product apart from others on the machine.
    product = spawn('npm', ['start', '--silent'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', KEYS_FILE: join(folder, 'keys.json') },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    product.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    while (!/^\s*curl .*$/m.test(printed)) {
      assert.equal(product.exitCode, null, `npm start exited before it printed a curl command:\n${printed}`);
      await pause(50);
    }
  });

  after(async () => {
    // npm passes the signal on and exits before the processes that it started. 'close' comes when all of them have exited.
    if (product.pid !== undefined && product.exitCode === null && product.signalCode === null) {
      const closed = once(product, 'close');
      process.kill(-product.pid, 'SIGTERM');
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  });

  test('prints an address, a key and a curl command that parses a PDF without changes', async () => {
    assert.match(printed, /http:\/\/127\.0\.0\.1:\d+/);
    const curl = /^\s*(curl .*)$/m.exec(printed)?.[1] ?? '';
    const { stdout } = await run('sh', ['-c', curl], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
    const { data } = parseResponseSchema.parse(JSON.parse(stdout));
    assert.match(data.markdown ?? '', /^# A short guide to tide tables/m);
    assert.match(data.markdown ?? '', /\| High water \| 04:12 \| 3\.9 \|/);
    assert.equal(data.metadata.numPages, 2);
  });
});
