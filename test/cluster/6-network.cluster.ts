// Each NetworkPolicy is tried in both directions: what it opens is open, and what it does not is shut.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { kubectl, run } from './command.ts';
import { Desk } from './desk.ts';
import { Release, untilPods } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-network');
const { namespace } = release;
const MONITORING = 'parsemesh-network-monitoring';
const KEDA = 'parsemesh-network-keda';
/** The component labels put a desk under the policies of a part, as a part taken over would be. */
const as = (component: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'parsemesh',
  'app.kubernetes.io/instance': release.name,
  'app.kubernetes.io/component': component,
});
const inNamespace = (name: string): object => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const desks = new Map<string, Desk>();
let addresses: Record<string, string> = {};

before(async () => {
  for (const name of [MONITORING, KEDA])
    await run('kubectl', ['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    });
  await release.apply({ networkPolicy: { monitoring: [inNamespace(MONITORING)], keda: [inNamespace(KEDA)] } });
  const open = async (who: string, space: string, labels: Record<string, string> = {}): Promise<void> => {
    desks.set(who, await Desk.open(space, `desk-${who}`, labels));
  };
  // A pod that calls itself one of ours would be sent requests, or be counted: it is never ready to Services of ours by its ports, and its name differs.
  await Promise.all([
    open('stranger', namespace),
    open('monitoring', MONITORING),
    open('keda', KEDA),
    open('pdf', namespace, as('pdf')),
    open('test', namespace, as('test')),
  ]);
  const ip = async (component: string): Promise<string> => {
    const pods = (await release.pods(component)).filter((pod) => !pod.metadata.name.startsWith('desk-'));
    return pods[0]?.status.podIP ?? '';
  };
  addresses = {
    gateway: await ip('gateway'),
    pdf: await ip('pdf'),
    enrich: await ip('enrich'),
    nats: (await untilPods(release, 'nats', 1, 30))[0]?.status.podIP ?? '',
    stranger: (await kubectl('get', 'pod', 'desk-stranger', '-n', namespace, '-o', 'jsonpath={.status.podIP}')).trim(),
  };
});
after(async () => {
  for (const name of [MONITORING, KEDA])
    await kubectl('delete', 'namespace', name, '--ignore-not-found', '--wait=false');
  await release.remove();
});

type Row = readonly [from: string, to: string, port: number, open: boolean];
const ROWS: readonly Row[] = [
  // The API is open to the cluster, and nothing else of the gateway is.
  ['stranger', 'gateway', 8080, true],
  ['test', 'gateway', 8080, true],
  ['stranger', 'gateway', 9090, false],
  ['monitoring', 'gateway', 9090, true],
  // A worker takes no connection but a scraper's.
  ['stranger', 'pdf', 9090, false],
  ['keda', 'pdf', 9090, false],
  ['monitoring', 'pdf', 9090, true],
  ['monitoring', 'enrich', 9090, true],
  // The bus is for the services, its monitoring for KEDA and the scraper.
  ['pdf', 'nats', 4222, true],
  ['stranger', 'nats', 4222, false],
  ['monitoring', 'nats', 4222, false],
  ['keda', 'nats', 4222, false],
  ['test', 'nats', 4222, false],
  ['keda', 'nats', 8222, true],
  ['monitoring', 'nats', 8222, true],
  ['stranger', 'nats', 8222, false],
  ['pdf', 'nats', 8222, false],
  // A worker that was taken over reaches the bus and nothing else.
  ['pdf', 'gateway', 8080, false],
  ['pdf', 'enrich', 9090, false],
  ['pdf', 'stranger', 7777, false],
  ['test', 'enrich', 9090, false],
  ['test', 'stranger', 7777, false],
];

for (const [from, to, port, open] of ROWS)
  test(`${from} ${open ? 'reaches' : 'does not reach'} port ${port} of ${to}`, async () => {
    const host = addresses[to];
    assert.ok(host, `${to} has an address`);
    const what = await desks.get(from)?.run<string>(`return await connect(${JSON.stringify(host)}, ${port});`);
    if (open) assert.equal(what, 'open');
    // Shut means that nothing answers at all; a refusal would have come from the other side.
    else assert.equal(what, 'shut');
  });

test('a worker may still ask for names', async () => {
  const address = await desks
    .get('pdf')
    ?.run<string>(
      `const { lookup } = await import('node:dns/promises'); return (await lookup('${release.name}-nats.${namespace}.svc.cluster.local')).address;`,
    );
  assert.match(address ?? '', /^\d+\.\d+\.\d+\.\d+$/);
});

test('without the policies the same ways are open, so it is they that shut them', async () => {
  await release.apply({ networkPolicy: { enabled: false } });
  for (const [from, to, port, open] of ROWS) {
    // Nothing listens there.
    if (open || port === 7777) continue;
    const what = await desks.get(from)?.run<string>(`return await connect(${JSON.stringify(addresses[to])}, ${port});`);
    assert.equal(what, 'open', `${from} to ${to}:${port}`);
  }
});
