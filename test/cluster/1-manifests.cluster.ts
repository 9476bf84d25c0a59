// Tests that a real API server accepts the manifests of the chart, for every combination of values in its ci folder, and of the overlays.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { hashToken, randomToken } from '#services/gateway/auth/keys.ts';
import { attempt, helm, kubectl, run } from './command.ts';
import { CHART, Release } from './release.ts';
import { renderKustomize } from './render-base.ts';
import { installResourceTypes } from './resource-types.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const release = new Release('parsemesh', 'parsemesh-manifests');

before(async () => {
  await installResourceTypes();
  await release.openNamespace();
});
after(() => release.remove());

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec?: { replicas?: number; scaleTargetRef?: { name: string } };
}
const documents = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() ? [document.toJS() as Manifest] : []));

/** Applies manifests. @returns a line for each accepted manifest, and the warnings of the API server */
async function apply(text: string, ...flags: string[]): Promise<{ accepted: string[]; warnings: string }> {
  const args = ['apply', '--server-side', '--force-conflicts', '-n', release.namespace, '-f', '-', ...flags];
  const { code, stdout, stderr } = await attempt('kubectl', args, { input: text });
  assert.equal(code, 0, stderr.slice(0, 4_000));
  return { accepted: stdout.trim().split('\n'), warnings: stderr };
}

for (const file of (await readdir(join(CHART, 'ci'))).filter((name) => name.endsWith('-values.yaml'))) {
  const values = ['-f', join(CHART, 'ci', file)];

  test(`helm lint reports no error for ${file}`, async () => {
    assert.match(await helm('lint', CHART, '--strict', ...values), /0 chart\(s\) failed/);
  });

  test(`the API server accepts every manifest with ${file}, and autoscaled Deployments have no replicas`, async () => {
    const text = await helm(
      'template',
      release.name,
      CHART,
      '-n',
      release.namespace,
      '--api-versions',
      'keda.sh/v1alpha1',
      ...values,
    );
    const manifests = documents(text);
    // The API server accepts a pod, such as that of `helm test`, only if its service account exists.
    const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount');
    if (accounts.length > 0) await apply(accounts.map((account) => JSON.stringify(account)).join('\n---\n'));
    const { accepted, warnings } = await apply(text, '--dry-run=server');
    assert.equal(accepted.length, manifests.length, accepted.join('\n'));
    // These values add containers that do not meet the pod security standard.
    if (file !== 'all-values.yaml') assert.doesNotMatch(warnings, /PodSecurity/);
    const scaled = manifests.flatMap(({ kind, spec }) =>
      kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject' ? [spec?.scaleTargetRef?.name ?? ''] : [],
    );
    for (const { kind, metadata, spec } of manifests)
      if (kind === 'Deployment')
        assert.equal(spec?.replicas === undefined, scaled.includes(metadata.name), metadata.name);
  });
}

test('helm rejects values that are not in the schema', async () => {
  const { code, stderr } = await attempt('helm', ['template', CHART, '--set', 'replicas=2']);
  assert.notEqual(code, 0);
  assert.match(stderr, /replicas/);
});

test('an install fails with the name of a missing key Secret', async () => {
  const args = [
    'install',
    'x',
    CHART,
    '-n',
    release.namespace,
    '--dry-run=server',
    '--set',
    'keys.firstKey.existingSecret=none',
  ];
  const { code, stderr } = await attempt('helm', args);
  assert.notEqual(code, 0);
  assert.match(stderr, /there is no Secret none/);
});

test("the Secret of a user's own first key contains its hash and not its value", async () => {
  const key = randomToken();
  await kubectl('create', 'secret', 'generic', 'mine', '-n', release.namespace, `--from-literal=key=${key}`);
  const args = ['-n', release.namespace, '--dry-run=server', '--set', 'keys.firstKey.existingSecret=mine'];
  const rendered = await helm('install', 'x', CHART, ...args);
  assert.ok(rendered.includes(`sha256: ${hashToken(key)}`));
  assert.ok(!rendered.includes(key) && !rendered.includes(Buffer.from(key).toString('base64')));
});

test('the kustomize base equals what the chart renders', async () => {
  for (const [path, text] of await renderKustomize())
    assert.ok(
      (await readFile(join(ROOT, path), 'utf8')) === text,
      `${path}: run \`npm run k8s\` and commit the result`,
    );
});

for (const overlay of await readdir(join(ROOT, 'k8s/overlays')))
  test(`the API server accepts the overlay ${overlay}`, async () => {
    const text = await kubectl('kustomize', join(ROOT, 'k8s/overlays', overlay));
    const manifests = documents(text).filter(({ kind }) => kind !== 'Namespace');
    assert.ok(manifests.length > 30);
    // The namespace of the overlay does not exist, and a dry run does not create it.
    const input = text.replaceAll(/^( *namespace: )parsemesh$/gm, `$1${release.namespace}`);
    await run('kubectl', ['apply', '--server-side', '--dry-run=server', '-f', '-'], { input });
  });
