// Does what a newcomer does: `npm start` in a checkout, then the printed curl, pasted into a shell.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseResponseSchema } from '#shared/contract/response.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const shell = promisify(execFile);
const START_MS = 120_000;

describe('npm start', () => {
  let folder: string;
  let product: ChildProcess;
  let printed = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-newcomer-'));
    // A newcomer has no keys yet and sets no variable; only what would disturb another test is set here.
    product = spawn('npm', ['start', '--silent'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', KEYS_FILE: join(folder, 'keys.json') },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    product.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    const end = Date.now() + START_MS;
    while (!/^\s*curl .*$/m.test(printed)) {
      assert.ok(Date.now() < end && product.exitCode === null, `no curl was printed:\n${printed}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  after(async () => {
    // npm passes the signal on and then ends by it itself; what is waited for is the end of all that it started.
    if (product.pid !== undefined && product.exitCode === null && product.signalCode === null) {
      const gone = once(product, 'close');
      process.kill(-product.pid, 'SIGTERM');
      await gone;
    }
    await rm(folder, { recursive: true, force: true });
  });

  test('prints an address, a key, and a curl that parses a real PDF as it is pasted', async () => {
    assert.match(printed, /http:\/\/127\.0\.0\.1:\d+/);
    const curl = /^\s*(curl .*)$/m.exec(printed)?.[1] ?? '';
    const { stdout } = await shell('sh', ['-c', curl], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
    const { data } = parseResponseSchema.parse(JSON.parse(stdout));
    assert.match(data.markdown ?? '', /^# A short guide to tide tables/m);
    assert.match(data.markdown ?? '', /\| High water \| 04:12 \| 3\.9 \|/);
    assert.equal(data.metadata.numPages, 2);
  });
});
