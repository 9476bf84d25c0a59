// Tests that the first start prints a new key once, and that later starts accept it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from '../harness/client.ts';
import { csv } from '../harness/documents.ts';
import { skipReason, startProduct } from '../harness/product.ts';

test('the key of the first start is printed only once and is valid after the next start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-first-'));
  const env = { KEYS_FILE: join(folder, 'keys.json'), API_KEY: '' };
  try {
    const first = await startProduct({ transport: 'memory', env });
    let key: string | undefined;
    try {
      key = /Bearer ([^"'\s]+)/.exec(first.output())?.[1];
      assert.ok(key, 'the key is printed');
      assert.equal((await parse(first, { file: csv(), fileName: 'boats.csv', key })).status, 200);
    } finally {
      await first.stop();
    }
    const second = await startProduct({ transport: 'memory', env });
    try {
      assert.ok(!second.output().includes(key), 'the key is not printed again');
      assert.equal((await parse(second, { file: csv(), fileName: 'boats.csv', key })).status, 200);
    } finally {
      await second.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the first start of a gateway over NATS prints its new key, for `docker compose logs`', {
  skip: skipReason('nats'),
}, async () => {
  const gateway = await startProduct({
    transport: 'nats',
    services: ['gateway'],
    waitFor: 'live',
    env: { API_KEY: '' },
  });
  try {
    // `/livez` can answer before the first key is made.
    const newKey = () => /^New API key \(it is shown only once\): (\S+)$/m.exec(gateway.output())?.[1];
    let key = newKey();
    for (; key === undefined; key = newKey()) await pause(50);
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v2/parse/formats`, { headers });
    await response.arrayBuffer();
    assert.equal(response.status, 200);
  } finally {
    await gateway.stop();
  }
});
