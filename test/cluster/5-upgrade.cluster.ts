// Tests that no request fails while every pod is replaced, and what requests get while NATS restarts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sample } from '../harness/documents.ts';
import { ClientPod, type Reply } from './client-pod.ts';
import { kubectl } from './command.ts';
import { Release } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-upgrade');
const { namespace } = release;
let client: ClientPod;
let key = '';

before(async () => {
  await release.apply({});
  key = await release.firstKey();
  client = await ClientPod.start(namespace);
  const files = await Promise.all((['.html', '.docx', '.pdf'] as const).map(sample));
  await client.putFiles(Object.fromEntries(files.map(({ fileName, bytes }) => [fileName, bytes])));
});
after(() => release.remove());

/** Sends requests continuously while `change` runs. */
async function withLoad(change: () => Promise<unknown>): Promise<Reply[]> {
  const loads = ['html', 'docx', 'pdf'].map((extension) =>
    client.load({ url: release.url, key, name: `harbour-report.${extension}`, options: { timeout: 120_000 } }, 2),
  );
  try {
    await change();
  } finally {
    // Some requests must run after the change.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  return (await Promise.all(loads.map((load) => load.stop()))).flat();
}

const uids = async (): Promise<Set<string>> => {
  const all = await Promise.all(['gateway', 'pdf', 'office', 'html', 'pii'].map((service) => release.pods(service)));
  return new Set(all.flat().map((pod) => pod.metadata.uid));
};

test('every request gets 200 during an upgrade that replaces every pod', async () => {
  const before = await uids();
  const replies = await withLoad(() =>
    release.apply({ defaults: { podAnnotations: { 'example.com/revision': '2' } } }),
  );
  for (const uid of await uids()) assert.ok(!before.has(uid), 'every pod must be replaced');
  const failed = replies.filter(({ status }) => status !== 200);
  console.log(`${replies.length} requests, ${failed.length} without status 200`);
  assert.ok(replies.length > 50);
  assert.deepEqual(failed, []);
});

test('every request gets 200 during a rollback', async () => {
  const replies = await withLoad(() => release.rollback());
  assert.deepEqual(
    replies.filter(({ status }) => status !== 200),
    [],
  );
  assert.ok(replies.length > 20);
});

test('every request gets 200 or 503 while NATS restarts', async () => {
  const replies = await withLoad(async () => {
    await kubectl('rollout', 'restart', `statefulset/${release.name}-nats`, '-n', namespace);
    await kubectl('rollout', 'status', `statefulset/${release.name}-nats`, '-n', namespace, '--timeout=180s');
  });
  const unexpected = replies.filter(({ status }) => status !== 200 && status !== 503);
  console.log(`${replies.length} requests, ${replies.filter(({ status }) => status === 503).length} with status 503`);
  assert.deepEqual(unexpected, []);
});
