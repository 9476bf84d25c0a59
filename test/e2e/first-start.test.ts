// What a newcomer does: start it, paste the curl that it prints, and start it again another day.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from '../harness/client.ts';
import { csv } from '../harness/documents.ts';
import { startProduct } from '../harness/product.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the first start prints a URL, a key and a curl that parses a real PDF as pasted; the key still opens after the next start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-first-'));
  const env = { KEYS_FILE: join(folder, 'keys.json'), API_KEY: '' };
  try {
    const first = await startProduct({ transport: 'memory', env });
    let key: string | undefined;
    try {
      assert.ok(first.output().includes(first.url), 'the URL is printed');
      const curl = /^\s*(curl .*)$/m.exec(first.output())?.[1] ?? '';
      key = /Bearer ([^"'\s]+)/.exec(curl)?.[1];
      assert.ok(key && first.output().split(key).length > 2, 'the key is printed beside the curl');
      const { stdout } = await run('sh', ['-c', curl], { cwd: ROOT, timeout: 60_000 });
      const answer = JSON.parse(stdout);
      assert.equal(answer.success, true);
      assert.ok(answer.data.markdown.length > 100);
    } finally {
      await first.stop();
    }
    const second = await startProduct({ transport: 'memory', env });
    try {
      assert.ok(!second.output().includes(key), 'a key is shown once');
      assert.equal((await parse(second, { file: csv(), fileName: 'boats.csv', key })).status, 200);
    } finally {
      await second.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
