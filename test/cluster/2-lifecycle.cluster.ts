// Tests install, helm test, upgrade, rollback, autoscaling and uninstall of the chart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { get, helm, kubectl, waitFor } from './command.ts';
import { Release, waitForPods } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-lifecycle');
const { namespace } = release;

interface Named {
  items: { kind: string; metadata: { name: string } }[];
}
interface Deployment {
  metadata: { managedFields: { manager: string; fieldsV1: { 'f:spec'?: { 'f:replicas'?: object } } }[] };
  spec: { replicas: number; template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
}

/** All objects in the namespace, without those that Kubernetes creates in every namespace. */
async function contents(): Promise<string[]> {
  const types = (await kubectl('api-resources', '--namespaced', '--verbs=list', '-o', 'name')).trim().split('\n');
  const listed = types.filter((type) => !/^(events|endpoints$|localsubject|bindings)|metrics/.test(type));
  const { items } = await get<Named>(listed.join(','), '-n', namespace);
  return items
    .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
    .filter((name) => !/^(ServiceAccount\/default|ConfigMap\/kube-root-ca\.crt|Event\/.*)$/.test(name))
    .sort();
}

const logLevel = async (): Promise<string | undefined> =>
  (await get<Deployment>('deployment', 'parsemesh-html', '-n', namespace)).spec.template.spec.containers[0]?.env.find(
    ({ name }) => name === 'LOG_LEVEL',
  )?.value;

/** The replicas of the html Deployment, and the managers that own this field. */
const replicas = async (): Promise<{ count: number; owners: string[] }> => {
  const { metadata, spec } = await get<Deployment>(
    ...['deployment', 'parsemesh-html', '-n', namespace, '--show-managed-fields'],
  );
  const owning = metadata.managedFields.filter(({ fieldsV1 }) => fieldsV1['f:spec']?.['f:replicas']);
  return { count: spec.replicas, owners: owning.map(({ manager }) => manager) };
};

before(() => release.openNamespace());
after(() => release.remove());

let key = '';

test('after an install every pod is ready, and the notes explain how to connect and read the key', async () => {
  const notes = await release.apply({});
  assert.match(notes, /port-forward service\/parsemesh/);
  assert.match(notes, /get secret parsemesh-first-key/);
  for (const service of [...SERVICE_NAMES, 'nats']) await waitForPods(release, service, 1, 5);
  key = await release.firstKey();
  assert.match(key, /^pm-[A-Za-z0-9]{43}$/);
});

test('helm test succeeds', async () => {
  assert.match(await helm('test', release.name, '-n', namespace, '--timeout', '3m'), /Phase:\s+Succeeded/);
});

test('an upgrade with other values changes the Deployments and keeps the first key', async () => {
  await release.apply({ logLevel: 'warn', services: { html: { replicas: 2 } } });
  await waitForPods(release, 'html', 2, 60);
  assert.deepEqual(await replicas(), { count: 2, owners: ['helm'] });
  assert.equal(await logLevel(), 'warn');
  assert.equal(await release.firstKey(), key);
  assert.match(await helm('test', release.name, '-n', namespace, '--timeout', '3m'), /Phase:\s+Succeeded/);
});

test('a rollback restores the replicas and the log level', async () => {
  await helm('rollback', release.name, '1', '-n', namespace, '--wait', '--timeout', '8m');
  await waitForPods(release, 'html', 1, 120);
  assert.equal(await logLevel(), 'info');
  assert.equal(await release.firstKey(), key);
  assert.match(await helm('test', release.name, '-n', namespace, '--timeout', '3m'), /Phase:\s+Succeeded/);
});

test('after an upgrade to an autoscaler, Helm does not own the replicas, and the next upgrade keeps them', async () => {
  // Minimum and maximum are equal, because the CPU usage of starting pods depends on the machine.
  const scaled = { services: { html: { autoscaling: { kind: 'hpa', minReplicas: 3, maxReplicas: 3 } } } };
  await release.apply(scaled);
  await waitForPods(release, 'html', 3, 120);
  await release.apply(scaled, { logLevel: 'error' });
  assert.equal(await logLevel(), 'error');
  const { count, owners } = await replicas();
  assert.equal(count, 3);
  assert.ok(!owners.includes('helm'), `replicas must not be owned by helm, but are owned by ${owners}`);
});

test('an uninstall leaves no objects in the namespace', async () => {
  assert.ok((await contents()).length > 30);
  await release.uninstall();
  // The volume claim is deleted after its StatefulSet, and Helm does not wait for that.
  await waitFor('an empty namespace', 120, async () => (await contents()).length === 0).catch(() => undefined);
  assert.deepEqual(await contents(), []);
});
