// OCR stands still at no pods, grows with a scan's pages, shrinks back to none, and loses no page whatever happens to its pods or the bus on the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { attempt, kubectl, until } from './command.ts';
import { Desk, type Reply } from './desk.ts';
import { type Pod, Release, untilPods } from './release.ts';

const PAGES = 40;
const release = new Release('parsemesh', 'parsemesh-scaling');
const { namespace } = release;
const scan = await scannedLog(PAGES, { lines: 12, dpi: 150 });
let desk: Desk;
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
  desk = await Desk.open(namespace);
  await desk.put({ 'scan.pdf': scan.bytes });
});
after(async () => {
  await kubectl('uncordon', '--all').catch(() => undefined);
  await release.remove();
});

const ask = (): Promise<Reply[]> =>
  desk.send([
    { url: release.url, key, name: 'scan.pdf', options: { timeout: 300_000, parsers: [{ type: 'pdf', pages: true }] } },
  ]);

/** Every page is there, in its place, with its words. */
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

const rested = (): Promise<Pod[]> => untilPods(release, 'ocr', 0, 180);
const growing = (count: number): Promise<Pod[]> =>
  until(`${count} pods of ocr`, 120, async () => {
    const ready = (await release.pods('ocr')).filter((pod) =>
      pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    return ready.length >= count ? ready : undefined;
  });

test('a scan of 40 pages takes OCR from no pod to many and back to none', async () => {
  await rested();
  const answer = ask();
  const pods = await growing(3);
  checkPages(await answer);
  console.log(`${pods.length} pods of ocr`);
  await rested();
});

test('no page is lost when a pod of OCR is killed under it', async () => {
  const answer = ask();
  const [victim] = await growing(2);
  await sleep(1_000);
  await kubectl('delete', 'pod', victim?.metadata.name ?? '', '-n', namespace, '--grace-period=0', '--force');
  checkPages(await answer);
});

test('no page is lost when the node is drained of OCR, and the disruption budget lets one go at a time', async () => {
  const answer = ask();
  // The budget counts the pods that are wanted, so one may go only once all of them are there.
  const before = await growing(4);
  const node = before[0]?.spec.nodeName ?? '';
  const selector = `app.kubernetes.io/instance=${release.name},app.kubernetes.io/component=ocr`;
  // There is no other node, so a pod that goes is not replaced, and the budget holds back the next.
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
    'a pod went',
  );
  checkPages(await answer);
});

test('no page is lost when NATS is started again', async () => {
  const answer = ask();
  await growing(2);
  await kubectl('delete', 'pod', `${release.name}-nats-0`, '-n', namespace);
  checkPages(await answer);
  await rested();
});

test('a scan without data retention wakes OCR too', async () => {
  await rested();
  const request = { url: release.url, key, name: 'scan.pdf' };
  const [reply] = await desk.send([
    { ...request, options: { timeout: 300_000, zeroDataRetention: true, parsers: [{ type: 'pdf', maxPages: 4 }] } },
  ]);
  assert.equal(reply?.status, 200, reply?.text);
});
