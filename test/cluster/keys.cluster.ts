// Tests keys from Secrets of a real API server: creation, revocation, invalid Secrets, and failures of the connection to the API server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { KEYS_LIMITS } from '#shared/contract/limits.ts';
import { errorBody, parse, send, successData } from '../harness/client.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { type ApiServerProxy, startApiServerProxy } from './api-server-proxy.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const FILE = { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv' };
/** A key must be rejected within this time after the API server has accepted its revocation. */
const SECOND = 1_000;
/** The Kubernetes client closes a watch that has received no bytes for this time. */
const WATCH_SILENCE_MS = 30_000;

describe('keys in Secrets', () => {
  const namespace = `parsemesh-keys-${randomBytes(4).toString('hex')}`;
  let folder = '';
  let core: CoreV1Api;
  let proxy: ApiServerProxy;
  let product: Product;

  const runKeys = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(
      process.execPath,
      [join(ROOT, 'services/keys.ts'), ...args, '--kubernetes', '--namespace', namespace],
      { cwd: folder, env: { ...process.env, KEYS_SOURCE: 'file' } },
    );
    return stdout.trim();
  };
  const createKey = async (...flags: string[]): Promise<string> =>
    (await runKeys('create', ...flags)).split('\n').at(-1) ?? '';
  const statusOf = async (key: string): Promise<number> =>
    (await send({ url: product.url, key }, { method: 'GET', path: '/v2/parse/formats' })).status;
  const expectStatusWithin = async (ms: number, key: string, status: number): Promise<void> => {
    const until = Date.now() + ms;
    let seen = 0;
    do {
      seen = await statusOf(key);
      if (seen === status) return;
      await sleep(20);
    } while (Date.now() < until);
    assert.fail(`the status is ${seen}, not ${status}, after ${ms} ms`);
  };
  /** Waits up to one second, because the output of the product may arrive after its responses. */
  const expectOutput = async (pattern: RegExp): Promise<void> => {
    const until = Date.now() + SECOND;
    while (!pattern.test(product.output()) && Date.now() < until) await sleep(20);
    assert.match(product.output(), pattern);
  };
  const secretOf = async (key: string): Promise<string> => {
    const { createHash } = await import('node:crypto');
    const hash = createHash('sha256').update(key).digest('base64');
    const { items } = await core.listNamespacedSecret({ namespace });
    const found = items.find(
      ({ data }) =>
        Buffer.from(data?.sha256 ?? '', 'base64').toString() === Buffer.from(hash, 'base64').toString('hex'),
    );
    return found?.metadata?.name ?? assert.fail('the key has no Secret');
  };
  const patchSecret = async (name: string, fields: Record<string, string>): Promise<void> => {
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    await core.patchNamespacedSecret({ name, namespace, body: { stringData: fields } }, merge);
  };

  /** Creates a service account that can only list and watch Secrets of the namespace. @returns its token */
  const createReader = async (kubeConfig: KubeConfig): Promise<string> => {
    const rbac = kubeConfig.makeApiClient(RbacAuthorizationV1Api);
    const metadata = { name: 'gateway', namespace };
    await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
    await rbac.createNamespacedRole({
      namespace,
      body: { metadata, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }] },
    });
    await rbac.createNamespacedRoleBinding({
      namespace,
      body: {
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'gateway' },
        subjects: [{ kind: 'ServiceAccount', name: 'gateway', namespace }],
      },
    });
    const request = { spec: { audiences: [], expirationSeconds: 3_600 } };
    const { status } = await core.createNamespacedServiceAccountToken({ name: 'gateway', namespace, body: request });
    return status?.token ?? assert.fail('the API server returned no token');
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-cluster-'));
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromDefault();
    core = kubeConfig.makeApiClient(CoreV1Api);
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    const cluster = kubeConfig.getCurrentCluster() ?? assert.fail('KUBECONFIG names no cluster');
    const ca = cluster.caFile
      ? await readFile(cluster.caFile)
      : cluster.caData && Buffer.from(cluster.caData, 'base64');
    proxy = await startApiServerProxy(cluster.server, ca || undefined);
    const kubeconfig = join(folder, 'kubeconfig');
    const token = await createReader(kubeConfig);
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: proxy.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
        'current-context': 'x',
      }),
    );
    proxy.setMode('disconnect');
    product = await startProduct({
      transport: 'memory',
      waitFor: 'live',
      env: { API_KEY: '', KEYS_SOURCE: 'kubernetes', KUBECONFIG: kubeconfig, LOG_LEVEL: 'info' },
    });
  });
  after(async () => {
    await product?.stop();
    await proxy?.close();
    await core?.deleteNamespace({ name: namespace });
    await rm(folder, { recursive: true, force: true });
  });

  test('a gateway that starts without the API server is live but not ready, logs why, and becomes ready when the server is available', async () => {
    const key = await createKey();
    await sleep(1_000);
    errorBody(await send(product, { method: 'GET', path: '/readyz' }), 503, 'SERVICE_UNAVAILABLE');
    const rejected = await parse({ url: product.url, key }, FILE);
    errorBody(rejected, 503, 'SERVICE_UNAVAILABLE');
    assert.ok(Number(rejected.headers['retry-after']) >= 1);
    assert.equal((await send(product, { method: 'GET', path: '/livez' })).status, 200);
    assert.match(product.output(), /cannot be read; every request is rejected until they are loaded/);
    proxy.setMode('forward');
    await expectStatusWithin(KEYS_LIMITS.retryMaxMs + SECOND, key, 200);
    assert.equal((await send(product, { method: 'GET', path: '/readyz' })).status, 200);
    successData(await parse({ url: product.url, key }, FILE));
    assert.equal(await statusOf('pm-unknown'), 401);
  });

  test('a key that the command creates is accepted within a second, listed, and rejected within a second after its revocation', async () => {
    const key = await createKey('--team', 'blue', '--rate', '77');
    await expectStatusWithin(SECOND, key, 200);
    const table = await runKeys('list');
    assert.match(table, /blue +77 .*active/);
    assert.equal(table.includes(key), false);
    await runKeys('revoke', key);
    await expectStatusWithin(SECOND, key, 401);
    assert.match(await runKeys('list'), /blue +77 .*revoked/);
    const by = new RegExp(`"by":"[^"]+@${hostname()}"`).source;
    await expectOutput(
      new RegExp(
        `"event":"key-created",[^}]*"team":"blue","keyHash":"[0-9a-f]{12}","source":"kubernetes",${by},"rate":77`,
      ),
    );
    await expectOutput(new RegExp(`"event":"key-revoked",[^}]*"team":"blue",[^}]*${by}`));
    await assert.rejects(runKeys('revoke', key), /no active key/);
  });

  test('a changed plan and a deleted Secret take effect within a second', async () => {
    const key = await createKey('--rate', '100');
    await expectStatusWithin(SECOND, key, 200);
    await patchSecret(await secretOf(key), { allow: '' });
    const until = Date.now() + SECOND;
    let answer = await parse({ url: product.url, key }, FILE);
    while (answer.status !== 403 && Date.now() < until) answer = await parse({ url: product.url, key }, FILE);
    errorBody(answer, 403, 'FORBIDDEN');
    await expectOutput(/"event":"key-changed",.*"changes":\{"allow":\{"from":\["parse"\],"to":\[\]\}\}/);
    await core.deleteNamespacedSecret({ name: await secretOf(key), namespace });
    await expectStatusWithin(SECOND, key, 401);
    await expectOutput(/"event":"key-deleted",.*"source":"kubernetes"/);
  });

  test('a key is refused from its expiry on, which a person may write into the Secret as a date', async () => {
    const key = await createKey('--expires', '1d');
    await expectStatusWithin(SECOND, key, 200);
    await patchSecret(await secretOf(key), { expires: '2020-02-03' });
    await expectStatusWithin(SECOND, key, 401);
    await expectOutput(/"event":"key-expired",.*"expires":"2020-02-03T00:00:00.000Z"/);
  });

  test('a printed manifest does not contain the key, and the key is accepted after the manifest is applied', async () => {
    const { stdout, stderr } = await run(
      process.execPath,
      [join(ROOT, 'services/keys.ts'), 'create', '--print-manifest', '--namespace', namespace],
      { cwd: folder, env: { PATH: process.env.PATH ?? '' } },
    );
    const key = stderr.trim().split('\n').at(-1) ?? '';
    assert.match(key, /^pm-/);
    assert.equal(stdout.includes(key), false);
    const { parse: parseYaml } = await import('yaml');
    await core.createNamespacedSecret({ namespace, body: parseYaml(stdout) });
    await expectStatusWithin(SECOND, key, 200);
  });

  test('an invalid Secret is logged with its name, its key is rejected, and it is accepted when it is corrected', async () => {
    const key = await createKey();
    await expectStatusWithin(SECOND, key, 200);
    await patchSecret(await secretOf(key), { rate: 'fast' });
    await expectStatusWithin(SECOND, key, 401);
    const name = await secretOf(key);
    await expectOutput(new RegExp(`"secret":"${name}","reason":"rate: `));
    await patchSecret(name, { rate: '50' });
    await expectStatusWithin(SECOND, key, 200);
  });

  test('a Secret without the label does not make its key valid', async () => {
    const key = await createKey();
    const { data } = await core.readNamespacedSecret({ name: await secretOf(key), namespace });
    await core.deleteNamespacedSecret({ name: await secretOf(key), namespace });
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'unlabelled' }, data } });
    await expectStatusWithin(SECOND, key, 401);
    await sleep(SECOND);
    assert.equal(await statusOf(key), 401);
  });

  test('known keys stay valid while the API server is unavailable, and changes take effect when it is available again', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await expectStatusWithin(SECOND, kept, 200);
    await expectStatusWithin(SECOND, revoked, 200);
    proxy.setMode('disconnect');
    await runKeys('revoke', revoked);
    const created = await createKey();
    await sleep(2 * SECOND);
    assert.deepEqual([await statusOf(kept), await statusOf(revoked), await statusOf(created)], [200, 200, 401]);
    assert.equal((await send(product, { method: 'GET', path: '/readyz' })).status, 200);
    await expectOutput(/cannot be read; the last known keys stay active/);
    proxy.setMode('forward');
    await expectStatusWithin(KEYS_LIMITS.retryMaxMs + SECOND, revoked, 401);
    await expectStatusWithin(SECOND, created, 200);
    assert.equal(await statusOf(kept), 200);
  });

  test('an expired watch (410) is replaced by a new list and watch', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await expectStatusWithin(SECOND, kept, 200);
    await expectStatusWithin(SECOND, revoked, 200);
    for (let round = 0; round < 5; round++) {
      const before = proxy.watchCount();
      proxy.expireWatches();
      const until = Date.now() + 3 * SECOND;
      while (proxy.watchCount() === before && Date.now() < until) await sleep(20);
      assert.ok(proxy.watchCount() > before, `round ${round}: there must be a new watch`);
    }
    await runKeys('revoke', revoked);
    await expectStatusWithin(SECOND, revoked, 401);
    assert.equal(await statusOf(kept), 200);
  });

  test('a connection that receives no bytes for 30 s is closed and replaced by a new one', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await expectStatusWithin(SECOND, kept, 200);
    await expectStatusWithin(SECOND, revoked, 200);
    proxy.setMode('stall');
    await runKeys('revoke', revoked);
    await sleep(2 * SECOND);
    assert.equal(await statusOf(revoked), 200, 'the gateway has not received the revocation yet');
    // New connections work again, but the stalled connection stays stalled.
    proxy.setMode('forward');
    await expectStatusWithin(WATCH_SILENCE_MS + KEYS_LIMITS.retryMaxMs + SECOND, revoked, 401);
    assert.equal(await statusOf(kept), 200);
  });

  test('the gateway never logs a key', async () => {
    const key = await createKey();
    await expectStatusWithin(SECOND, key, 200);
    successData(await parse({ url: product.url, key }, FILE));
    const output = product.output();
    assert.match(output, /the API keys are loaded/);
    assert.doesNotMatch(output, /pm-[\w-]{43}/);
    assert.equal(output.includes(key), false);
  });
});
