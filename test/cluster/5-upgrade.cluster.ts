// Every pod is replaced while requests keep coming, and each of them is answered.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sample } from '../harness/documents.ts';
import { kubectl } from './command.ts';
import { Desk, type Reply } from './desk.ts';
import { Release } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-upgrade');
const { namespace } = release;
let desk: Desk;
let key = '';

before(async () => {
  await release.apply({});
  key = await release.firstKey();
  desk = await Desk.open(namespace);
  const files = await Promise.all((['.html', '.docx', '.pdf'] as const).map(sample));
  await desk.put(Object.fromEntries(files.map(({ fileName, bytes }) => [fileName, bytes])));
});
after(() => release.remove());

/** Keeps all three kinds coming while `change` runs. */
async function under(change: () => Promise<unknown>): Promise<Reply[]> {
  const loads = ['html', 'docx', 'pdf'].map((kind) =>
    desk.load({ url: release.url, key, name: `harbour-report.${kind}`, options: { timeout: 120_000 } }, 2),
  );
  try {
    await change();
  } finally {
    // What runs is heard to its end.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  return (await Promise.all(loads.map((load) => load.stop()))).flat();
}

const uids = async (): Promise<Set<string>> => {
  const all = await Promise.all(['gateway', 'pdf', 'office', 'html', 'pii'].map((service) => release.pods(service)));
  return new Set(all.flat().map((pod) => pod.metadata.uid));
};

test('an upgrade that replaces every pod answers every request', async () => {
  const before = await uids();
  const replies = await under(() => release.apply({ defaults: { podAnnotations: { 'example.com/revision': '2' } } }));
  for (const uid of await uids()) assert.ok(!before.has(uid), 'every pod was replaced');
  const failed = replies.filter(({ status }) => status !== 200);
  console.log(`${replies.length} requests, ${failed.length} not answered with 200`);
  assert.ok(replies.length > 50);
  assert.deepEqual(failed, []);
});

test('a rollback under load answers every request too', async () => {
  const replies = await under(() => release.rollback());
  assert.deepEqual(
    replies.filter(({ status }) => status !== 200),
    [],
  );
  assert.ok(replies.length > 20);
});

test('while NATS is started again, requests wait or are told to come back, and none hangs', async () => {
  const replies = await under(async () => {
    await kubectl('rollout', 'restart', `statefulset/${release.name}-nats`, '-n', namespace);
    await kubectl('rollout', 'status', `statefulset/${release.name}-nats`, '-n', namespace, '--timeout=180s');
  });
  const strange = replies.filter(({ status }) => status !== 200 && status !== 503);
  console.log(`${replies.length} requests, ${replies.filter(({ status }) => status === 503).length} told to come back`);
  assert.deepEqual(strange, []);
});
