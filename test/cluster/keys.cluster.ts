// Keys from Secrets of a real API server: made and revoked by the product's own command, and through every manner in which the way to that server fails.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { type ApiRelay, startApiRelay } from './api-relay.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const FILE = { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv' };
/** A key must be refused this soon after the API server took its revocation. */
const SECOND = 1_000;
/** The client's own limit on a watch without a byte (its Watch). */
const WATCH_SILENCE_MS = 30_000;

describe('keys in Secrets', () => {
  const namespace = `parsemesh-keys-${randomBytes(4).toString('hex')}`;
  let folder = '';
  let core: CoreV1Api;
  let relay: ApiRelay;
  let product: Product;

  const keys = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(
      process.execPath,
      [join(ROOT, 'services/keys.ts'), ...args, '--kubernetes', '--namespace', namespace],
      { cwd: folder, env: { ...process.env, KEYS_SOURCE: 'file' } },
    );
    return stdout.trim();
  };
  const createKey = async (...flags: string[]): Promise<string> =>
    (await keys('create', ...flags)).split('\n').at(-1) ?? '';
  const statusOf = async (key: string): Promise<number> =>
    (await send({ url: product.url, key }, { method: 'GET', path: '/v2/parse/formats' })).status;
  const within = async (ms: number, key: string, status: number): Promise<void> => {
    const until = Date.now() + ms;
    let seen = 0;
    do {
      seen = await statusOf(key);
      if (seen === status) return;
      await sleep(20);
    } while (Date.now() < until);
    assert.fail(`still ${seen} and not ${status} after ${ms} ms`);
  };
  /** Its output comes by another way than its answers, and may come after them. */
  const written = async (pattern: RegExp): Promise<void> => {
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
  const patch = async (name: string, fields: Record<string, string>): Promise<void> => {
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    await core.patchNamespacedSecret({ name, namespace, body: { stringData: fields } }, merge);
  };

  /** A service account that may list and watch Secrets of the namespace, and nothing else. @returns its token */
  const makeReader = async (kubeConfig: KubeConfig): Promise<string> => {
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
    return status?.token ?? assert.fail('no token was given');
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
    relay = await startApiRelay(cluster.server, ca || undefined);
    const kubeconfig = join(folder, 'kubeconfig');
    const token = await makeReader(kubeConfig);
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: relay.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
        'current-context': 'x',
      }),
    );
    relay.set('cut');
    product = await startProduct({
      transport: 'memory',
      waitFor: 'live',
      env: { API_KEY: '', KEYS_SOURCE: 'kubernetes', KUBECONFIG: kubeconfig, LOG_LEVEL: 'info' },
    });
  });
  after(async () => {
    await product?.stop();
    await relay?.close();
    await core?.deleteNamespace({ name: namespace });
    await rm(folder, { recursive: true, force: true });
  });

  test('a start without the API server is alive, not ready, says why, and becomes ready by itself', async () => {
    const key = await createKey();
    await sleep(1_000);
    errorBody(await send(product, { method: 'GET', path: '/readyz' }), 503, 'SERVICE_UNAVAILABLE');
    const refused = await parse({ url: product.url, key }, FILE);
    errorBody(refused, 503, 'SERVICE_UNAVAILABLE');
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    assert.equal((await send(product, { method: 'GET', path: '/livez' })).status, 200);
    assert.match(product.output(), /cannot be read; every request is rejected until they are loaded/);
    relay.set('open');
    await within(KEYS_LIMITS.retryMaxMs + SECOND, key, 200);
    assert.equal((await send(product, { method: 'GET', path: '/readyz' })).status, 200);
    successData(await parse({ url: product.url, key }, FILE));
    assert.equal(await statusOf('pm-nobody'), 401);
  });

  test('made, listed and revoked by the command, each counting within a second', async () => {
    const key = await createKey('--team', 'blue', '--rate', '77');
    await within(SECOND, key, 200);
    const table = await keys('list');
    assert.match(table, /blue +77 .*active/);
    assert.equal(table.includes(key), false);
    await keys('revoke', key);
    await within(SECOND, key, 401);
    assert.match(await keys('list'), /blue +77 .*revoked/);
    await assert.rejects(keys('revoke', key), /no active key/);
  });

  test('a Secret that is deleted, or whose plan changes, counts within a second', async () => {
    const key = await createKey('--rate', '100');
    await within(SECOND, key, 200);
    await patch(await secretOf(key), { allow: '' });
    const until = Date.now() + SECOND;
    let answer = await parse({ url: product.url, key }, FILE);
    while (answer.status !== 403 && Date.now() < until) answer = await parse({ url: product.url, key }, FILE);
    errorBody(answer, 403, 'FORBIDDEN');
    await core.deleteNamespacedSecret({ name: await secretOf(key), namespace });
    await within(SECOND, key, 401);
  });

  test('a manifest that is printed holds no key and becomes one when it is applied', async () => {
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
    await within(SECOND, key, 200);
  });

  test('a Secret that is not valid is named in the log, opens nothing and harms no other', async () => {
    const key = await createKey();
    await within(SECOND, key, 200);
    await patch(await secretOf(key), { rate: 'fast' });
    await within(SECOND, key, 401);
    const name = await secretOf(key);
    await written(new RegExp(`"secret":"${name}","reason":"rate: `));
    await patch(name, { rate: '50' });
    await within(SECOND, key, 200);
  });

  test('Secrets without the label are nobody', async () => {
    const key = await createKey();
    const { data } = await core.readNamespacedSecret({ name: await secretOf(key), namespace });
    await core.deleteNamespacedSecret({ name: await secretOf(key), namespace });
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'unlabelled' }, data } });
    await within(SECOND, key, 401);
    await sleep(SECOND);
    assert.equal(await statusOf(key), 401);
  });

  test('while the API server is away the last known keys count; what changed meanwhile counts when it is back', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await within(SECOND, kept, 200);
    await within(SECOND, revoked, 200);
    relay.set('cut');
    await keys('revoke', revoked);
    const made = await createKey();
    await sleep(2 * SECOND);
    assert.deepEqual([await statusOf(kept), await statusOf(revoked), await statusOf(made)], [200, 200, 401]);
    assert.equal((await send(product, { method: 'GET', path: '/readyz' })).status, 200);
    await written(/cannot be read; the last known keys stay active/);
    relay.set('open');
    await within(KEYS_LIMITS.retryMaxMs + SECOND, revoked, 401);
    await within(SECOND, made, 200);
    assert.equal(await statusOf(kept), 200);
  });

  test('a watch that expires (410) is begun anew from a list', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await within(SECOND, kept, 200);
    await within(SECOND, revoked, 200);
    for (let round = 0; round < 5; round++) {
      const before = relay.watches();
      relay.expireWatches();
      const until = Date.now() + 3 * SECOND;
      while (relay.watches() === before && Date.now() < until) await sleep(20);
      assert.ok(relay.watches() > before, `round ${round}: nobody watches`);
    }
    await keys('revoke', revoked);
    await within(SECOND, revoked, 401);
    assert.equal(await statusOf(kept), 200);
  });

  test('a connection that goes silent without an end is given up, and a new one is opened', async () => {
    const [kept, revoked] = [await createKey(), await createKey()];
    await within(SECOND, kept, 200);
    await within(SECOND, revoked, 200);
    relay.set('silent');
    await keys('revoke', revoked);
    await sleep(2 * SECOND);
    assert.equal(await statusOf(revoked), 200, 'nothing came through, so this cannot be known');
    // The way is there again, but the connection that is muted never hears of it.
    relay.set('open');
    await within(WATCH_SILENCE_MS + KEYS_LIMITS.retryMaxMs + SECOND, revoked, 401);
    assert.equal(await statusOf(kept), 200);
  });

  test('no key is in anything that the gateway wrote', async () => {
    const key = await createKey();
    await within(SECOND, key, 200);
    successData(await parse({ url: product.url, key }, FILE));
    const output = product.output();
    assert.match(output, /the API keys are loaded/);
    assert.doesNotMatch(output, /pm-[\w-]{43}/);
    assert.equal(output.includes(key), false);
  });
});
