// Tests that the NetworkPolicies allow exactly the documented connections.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ClientPod } from './client-pod.ts';
import { kubectl, run } from './command.ts';
import { Release, waitForPods } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-network');
const { namespace } = release;
const MONITORING = 'parsemesh-network-monitoring';
const KEDA = 'parsemesh-network-keda';
/** Labels that put a client pod under the policies of a component, like a compromised pod of that component. */
const labelsOf = (component: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'parsemesh',
  'app.kubernetes.io/instance': release.name,
  'app.kubernetes.io/component': component,
});
const inNamespace = (name: string): object => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const clients = new Map<string, ClientPod>();
let addresses: Record<string, string> = {};

before(async () => {
  for (const name of [MONITORING, KEDA])
    await run('kubectl', ['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    });
  await release.apply({ networkPolicy: { monitoring: [inNamespace(MONITORING)], keda: [inNamespace(KEDA)] } });
  const start = async (name: string, space: string, labels: Record<string, string> = {}): Promise<void> => {
    clients.set(name, await ClientPod.start(space, `client-${name}`, labels));
  };
  // A client pod with the labels of a component listens on no port, so no Service sends it requests. `ip` excludes these pods by name.
  await Promise.all([
    start('other', namespace),
    start('monitoring', MONITORING),
    start('keda', KEDA),
    start('pdf', namespace, labelsOf('pdf')),
    start('test', namespace, labelsOf('test')),
  ]);
  const ip = async (component: string): Promise<string> => {
    const pods = (await release.pods(component)).filter((pod) => !pod.metadata.name.startsWith('client-'));
    return pods[0]?.status.podIP ?? '';
  };
  addresses = {
    gateway: await ip('gateway'),
    pdf: await ip('pdf'),
    enrich: await ip('enrich'),
    nats: (await waitForPods(release, 'nats', 1, 30))[0]?.status.podIP ?? '',
    other: (await kubectl('get', 'pod', 'client-other', '-n', namespace, '-o', 'jsonpath={.status.podIP}')).trim(),
  };
});
after(async () => {
  for (const name of [MONITORING, KEDA])
    await kubectl('delete', 'namespace', name, '--ignore-not-found', '--wait=false');
  await release.remove();
});

type Connection = readonly [from: string, to: string, port: number, allowed: boolean];
/** `other` is a pod without labels of the chart. */
const CONNECTIONS: readonly Connection[] = [
  // Only the API port of the gateway is open to the entire cluster.
  ['other', 'gateway', 8080, true],
  ['test', 'gateway', 8080, true],
  ['other', 'gateway', 9090, false],
  ['monitoring', 'gateway', 9090, true],
  // A worker accepts connections only from metrics scrapers.
  ['other', 'pdf', 9090, false],
  ['keda', 'pdf', 9090, false],
  ['monitoring', 'pdf', 9090, true],
  ['monitoring', 'enrich', 9090, true],
  // The client port of NATS is open to services, its monitoring port to KEDA and metrics scrapers.
  ['pdf', 'nats', 4222, true],
  ['other', 'nats', 4222, false],
  ['monitoring', 'nats', 4222, false],
  ['keda', 'nats', 4222, false],
  ['test', 'nats', 4222, false],
  ['keda', 'nats', 8222, true],
  ['monitoring', 'nats', 8222, true],
  ['other', 'nats', 8222, false],
  ['pdf', 'nats', 8222, false],
  // A compromised worker can connect to NATS only.
  ['pdf', 'gateway', 8080, false],
  ['pdf', 'enrich', 9090, false],
  ['pdf', 'other', 7777, false],
  ['test', 'enrich', 9090, false],
  ['test', 'other', 7777, false],
];

for (const [from, to, port, allowed] of CONNECTIONS)
  test(`${from} ${allowed ? 'can' : 'cannot'} connect to port ${port} of ${to}`, async () => {
    const host = addresses[to];
    assert.ok(host, `${to} must have an address`);
    const result = await clients.get(from)?.run<string>(`return await connect(${JSON.stringify(host)}, ${port});`);
    // A policy drops packets, so a forbidden connection times out. "ECONNREFUSED" would come from the target.
    assert.equal(result, allowed ? 'open' : 'timeout');
  });

test('a worker can resolve DNS names', async () => {
  const address = await clients
    .get('pdf')
    ?.run<string>(
      `const { lookup } = await import('node:dns/promises'); return (await lookup('${release.name}-nats.${namespace}.svc.cluster.local')).address;`,
    );
  assert.match(address ?? '', /^\d+\.\d+\.\d+\.\d+$/);
});

test('without the policies the forbidden connections are open', async () => {
  await release.apply({ networkPolicy: { enabled: false } });
  for (const [from, to, port, allowed] of CONNECTIONS) {
    // No process listens on port 7777.
    if (allowed || port === 7777) continue;
    const script = `return await connect(${JSON.stringify(addresses[to])}, ${port});`;
    assert.equal(await clients.get(from)?.run<string>(script), 'open', `${from} to ${to}:${port}`);
  }
});
