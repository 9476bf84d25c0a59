// Tests that docs/data-flow.md names every stream of NATS with its real storage and age, and that security pages cite files that exist.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { connectNats } from '#shared/bus/nats.ts';
import { startNatsServer } from '../harness/nats-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = ['SECURITY.md', 'docs/threat-model.md', 'docs/data-flow.md', 'docs/audit.md', 'docs/keys.md'];
const page = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');

const UNITS: readonly (readonly [milliseconds: number, name: string])[] = [
  [24 * 3_600_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];

/** Such as `30 days`. */
function durationText(milliseconds: number): string {
  const [unit, name] = UNITS.find(([one]) => milliseconds % one === 0) ?? [1, 'millisecond'];
  const count = milliseconds / unit;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

test('the table of streams is what a NATS server has', async (t) => {
  const server = await startNatsServer();
  const transport = await connectNats({ url: server.url, name: 'data-flow-test' });
  t.after(async () => {
    await transport.close();
    await server.stop();
  });
  // The streams of a queue exist from its first use.
  await transport.bus.serve('ocr', { concurrency: 1, handler: () => Promise.reject(new Error('no job is sent')) });
  const connection = await connect({ servers: server.url });
  t.after(() => connection.close());
  const manager = await jetstreamManager(connection);
  const found: string[] = [];
  for await (const { config } of manager.streams.list())
    found.push(
      `${config.name.replace(/_OCR$/, '_QUEUE')} | ${config.storage === 'file' ? 'disk' : 'memory'} | ${durationText(config.max_age / 1e6)}`,
    );
  const documented = [
    ...(await page('docs/data-flow.md')).matchAll(/^\| `((?:PARSEMESH|KV)_[\w-]+)` \| (\w+) \| ([^|]+) \|/gm),
  ];
  assert.deepEqual(found.sort(), documented.map(([, ...cells]) => cells.join(' | ')).sort());
});

for (const path of PAGES)
  test(`every file that ${path} names exists`, async () => {
    const text = await page(path);
    const folder = path.includes('/') ? 'docs/' : '';
    const named = [...text.matchAll(/`((?:test|services|shared|charts|k8s|docs)\/[\w./-]*\w)(?:\/)?`/g)].map(
      ([, name]) => name,
    );
    const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, name]) => `${folder}${name}`);
    assert.deepEqual(
      [...named, ...linked].filter((name) => !existsSync(`${ROOT}${name}`)),
      [],
    );
  });
