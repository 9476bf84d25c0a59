// Tests that KEDA scales OCR from zero pods and back, and that no page is lost when pods are killed or drained or when NATS restarts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { ClientPod, type Reply } from './client-pod.ts';
import { attempt, kubectl, waitFor } from './command.ts';
import { type Pod, Release, waitForPods } from './release.ts';

const PAGES = 40;
const release = new Release('parsemesh', 'parsemesh-scaling');
const { namespace } = release;
const scan = await scannedLog(PAGES, { lines: 12, dpi: 150 });
let client: ClientPod;
let key = '';

before(async () => {
  await release.apply({
    services: {
      ocr: {
        concurrency: 1,
        autoscaling: {
          kind: 'keda',
          minReplicas: 0,
          maxReplicas: 4,
          jobsPerReplica: 1,
          pollingSeconds: 2,
          cooldownSeconds: 15,
        },
      },
    },
  });
  key = await release.firstKey();
  client = await ClientPod.start(namespace);
  await client.putFiles({ 'scan.pdf': scan.bytes });
});
after(async () => {
  await kubectl('uncordon', '--all').catch(() => undefined);
  await release.remove();
});

const parseScan = (): Promise<Reply[]> =>
  client.send([
    { url: release.url, key, name: 'scan.pdf', options: { timeout: 300_000, parsers: [{ type: 'pdf', pages: true }] } },
  ]);

/** Asserts that the response has every page in order with its words. */
function checkPages([reply]: Reply[]): void {
  assert.equal(reply?.status, 200, reply?.text.slice(0, 1_000));
  const { data } = JSON.parse(reply.text) as {
    data: { warning?: string; pages: { pageNumber: number; markdown: string }[] };
  };
  assert.equal(data.pages.length, PAGES);
  scan.pages.forEach((truth, index) => {
    const found = wordsFound(truth, data.pages[index]?.markdown ?? '');
    assert.ok(found > 0.9, `page ${index + 1}: ${Math.round(found * 100)} % of its words; ${data.warning}`);
  });
}

const waitForZeroPods = (): Promise<Pod[]> => waitForPods(release, 'ocr', 0, 180);
const waitForReadyPods = (count: number): Promise<Pod[]> =>
  waitFor(`${count} ready pods of ocr`, 120, async () => {
    const ready = (await release.pods('ocr')).filter((pod) =>
      pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    return ready.length >= count ? ready : undefined;
  });

test('a scan of 40 pages scales OCR from zero pods to at least three and back to zero', async () => {
  await waitForZeroPods();
  const answer = parseScan();
  const pods = await waitForReadyPods(3);
  checkPages(await answer);
  console.log(`${pods.length} pods of ocr`);
  await waitForZeroPods();
});

test('no page is lost when an OCR pod is killed during the scan', async () => {
  const answer = parseScan();
  const [victim] = await waitForReadyPods(2);
  await sleep(1_000);
  await kubectl('delete', 'pod', victim?.metadata.name ?? '', '-n', namespace, '--grace-period=0', '--force');
  checkPages(await answer);
});

test('no page is lost when the node is drained, and the disruption budget evicts one OCR pod at a time', async () => {
  const answer = parseScan();
  // The budget compares with the desired replicas, so it allows an eviction only after all pods are ready.
  const before = await waitForReadyPods(4);
  const node = before[0]?.spec.nodeName ?? '';
  const selector = `app.kubernetes.io/instance=${release.name},app.kubernetes.io/component=ocr`;
  // There is no other node, so an evicted pod is not replaced, and the budget blocks the next eviction.
  const drained = await attempt('kubectl', [
    'drain',
    node,
    `--pod-selector=${selector}`,
    '--delete-emptydir-data',
    '--timeout=20s',
  ]);
  const left = await release.pods('ocr');
  await kubectl('uncordon', node);
  assert.match(`${drained.stdout}${drained.stderr}`, /evicting pod/);
  const known = new Set(left.map((pod) => pod.metadata.uid));
  assert.ok(
    before.some((pod) => !known.has(pod.metadata.uid)),
    'a pod must be evicted',
  );
  checkPages(await answer);
});

test('no page is lost when the NATS pod restarts', async () => {
  const answer = parseScan();
  await waitForReadyPods(2);
  await kubectl('delete', 'pod', `${release.name}-nats-0`, '-n', namespace);
  checkPages(await answer);
  await waitForZeroPods();
});

test('a scan with zero data retention scales OCR up from zero pods', async () => {
  await waitForZeroPods();
  const request = { url: release.url, key, name: 'scan.pdf' };
  const [reply] = await client.send([
    { ...request, options: { timeout: 300_000, zeroDataRetention: true, parsers: [{ type: 'pdf', maxPages: 4 }] } },
  ]);
  assert.equal(reply?.status, 200, reply?.text);
});
