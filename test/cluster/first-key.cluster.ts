// Runs the commands of docs/keys.md, "The first key", against a cluster, and checks where the value of the key is before and after.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { get, helm, run } from './command.ts';
import { CHART, Release } from './release.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const release = new Release('parsemesh', 'parsemesh-first-key');
const { namespace } = release;

interface Secret {
  metadata: { name: string };
  type: string;
  data?: Record<string, string>;
}

const decode = (text = ''): Buffer => Buffer.from(text, 'base64');

/** Names of the Secrets that hold a value, also those in which Helm keeps manifests. */
async function secretsWith(value: string): Promise<string[]> {
  const { items } = await get<{ items: Secret[] }>('secrets', '-n', namespace);
  const encoded = Buffer.from(value).toString('base64');
  const holds = ({ type, data = {} }: Secret): boolean => {
    const texts = Object.values(data).map((entry) => decode(entry).toString());
    // Helm compresses a release and encodes it, and the API server encodes it again.
    if (type === 'helm.sh/release.v1') texts.push(gunzipSync(decode(texts[0])).toString());
    return texts.some((text) => text.includes(value) || text.includes(encoded));
  };
  return items.filter(holds).map(({ metadata }) => metadata.name);
}

async function acceptedHash(): Promise<string | undefined> {
  const { items } = await get<{ items: Secret[] }>('secrets', '-n', namespace, '-l', 'parsemesh.dev/api-key=true');
  const first = items.find(({ metadata }) => metadata.name === 'parsemesh-key-first');
  return first && decode(first.data?.sha256).toString();
}

const hashOf = (value: string): string => createHash('sha256').update(value).digest('hex');

/** Runs a documented block of commands in the namespace of this test. */
async function runDocumented(marker: string): Promise<void> {
  const page = await readFile(`${ROOT}docs/keys.md`, 'utf8');
  const block = [...page.matchAll(/```sh\n(.*?)```/gs)]
    .map(([, text = '']) => text)
    .find((text) => text.includes(marker));
  assert.ok(block, `docs/keys.md has no commands with ${marker}`);
  const commands = block.replaceAll(/(-n|--namespace) parsemesh\b/g, `$1 ${namespace}`);
  await run('bash', ['-euo', 'pipefail', '-c', commands], { cwd: ROOT });
}

before(async () => {
  await release.openNamespace();
  // No pod is needed: this is about Secrets.
  await helm('install', release.name, CHART, '-n', namespace, '--set', 'defaults.replicas=0');
});
after(() => release.remove());

test('the value of the first key is in its Secret and in the release of Helm, and nowhere else', async () => {
  const value = await release.firstKey();
  assert.deepEqual(await secretsWith(value), ['parsemesh-first-key', 'sh.helm.release.v1.parsemesh.v1']);
  assert.equal(await acceptedHash(), hashOf(value));
});

test('the documented commands give the first key a new value', async () => {
  const old = await release.firstKey();
  await runDocumented('delete secret parsemesh-first-key');
  const value = await release.firstKey();
  assert.notEqual(value, old);
  assert.equal(await acceptedHash(), hashOf(value));
});

test('the documented commands replace the first key, and delete its value from the cluster', async () => {
  const value = await release.firstKey();
  await runDocumented('keys.firstKey.enabled=false');
  assert.deepEqual(await secretsWith(value), []);
  assert.equal(await acceptedHash(), undefined);
  const { items } = await get<{ items: Secret[] }>('secrets', '-n', namespace, '-l', 'parsemesh.dev/api-key=true');
  assert.equal(items.length, 1, 'the key of the team');
});

test('with a Secret of your own, the releases of Helm hold only the hash', async () => {
  const value = 'pm-the-value-of-this-test';
  await run('kubectl', ['-n', namespace, 'create', 'secret', 'generic', 'mine', `--from-literal=key=${value}`]);
  const values = 'keys.firstKey.enabled=true,keys.firstKey.existingSecret=mine';
  await helm('upgrade', release.name, CHART, '-n', namespace, '--reuse-values', '--set', values);
  assert.deepEqual(await secretsWith(value), ['mine']);
  assert.equal(await acceptedHash(), hashOf(value));
});
