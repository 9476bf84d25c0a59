// Tests that every file format is parsed through the Service, that keys follow their Secrets, and the permissions of the accounts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashToken, randomToken } from '#services/gateway/auth/keys.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { samples, TABLE_WORDS, WITHOUT_TABLE, WORDS } from '../harness/documents.ts';
import { ClientPod } from './client-pod.ts';
import { kubectl, run, waitFor } from './command.ts';
import { Release } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-parse');
const files = await samples();
const scan = await scannedLog(2, { lines: 20, dpi: 150 });
let client: ClientPod;
let key = '';

before(async () => {
  await release.apply({});
  key = await release.firstKey();
  client = await ClientPod.start(release.namespace);
  await client.putFiles(
    Object.fromEntries([...files.map(({ fileName, bytes }) => [fileName, bytes]), ['scan.pdf', scan.bytes]]),
  );
});
after(() => release.remove());

const markdownOf = (text: string): string => {
  const { data } = JSON.parse(text) as { data: { markdown: string } };
  return data.markdown.replaceAll(/\s+/g, ' ');
};

for (const { extension, fileName } of files)
  test(`${extension} is parsed to Markdown`, async () => {
    const [reply] = await client.send([{ url: release.url, key, name: fileName }]);
    assert.equal(reply?.status, 200, reply?.text);
    const markdown = markdownOf(reply.text);
    for (const words of [...WORDS, ...(WITHOUT_TABLE.has(extension) ? [] : TABLE_WORDS)])
      assert.ok(markdown.includes(words), words);
  });

test('a scan is parsed to its words', async () => {
  const [reply] = await client.send([{ url: release.url, key, name: 'scan.pdf', options: { timeout: 120_000 } }]);
  assert.equal(reply?.status, 200, reply?.text);
  assert.ok(wordsFound(scan.pages.join(' '), reply.text) > 0.95);
});

for (const extension of ['.docx', '.doc', '.pdf'])
  test(`${extension} is parsed with zero data retention, redaction and a summary`, async () => {
    const options = { zeroDataRetention: true, redactPII: true, formats: ['markdown', 'summary'], timeout: 120_000 };
    const [reply] = await client.send([{ url: release.url, key, name: `harbour-report${extension}`, options }]);
    assert.equal(reply?.status, 200, reply?.text);
    assert.match(reply.text, /"summary"/);
  });

test('a key is accepted while its Secret exists and rejected within a second after its deletion', async () => {
  const token = randomToken();
  const fields = { sha256: hashToken(token), team: 'blue', allow: 'parse' };
  await run('kubectl', ['apply', '-n', release.namespace, '-f', '-'], {
    input: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'parsemesh-key-blue', labels: { 'parsemesh.dev/api-key': 'true' } },
      stringData: fields,
    }),
  });
  const request = { url: release.url, key: token, name: 'harbour-report.csv' };
  await waitFor('the key to be accepted', 5, async () => (await client.send([request]))[0]?.status === 200);

  // A loop in the client pod sends requests every 50 ms, so that the time of the first rejection is exact.
  const polling = client.run<{ at: number; status: number }[]>(`
    const seen = []; const end = Date.now() + 20000; let rejected = 0;
    while (Date.now() < end && rejected < 3) {
      const { status } = await send(${JSON.stringify(request)});
      seen.push({ at: Date.now(), status });
      if (status === 401) rejected += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return seen;`);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await kubectl('delete', 'secret', 'parsemesh-key-blue', '-n', release.namespace);
  const deleted = Date.now();
  const seen = await polling;
  const accepted = seen.filter(({ status }) => status === 200);
  assert.ok(accepted.length > 5, 'the key must be accepted before the deletion');
  const last = accepted.at(-1)?.at ?? 0;
  assert.equal(seen.at(-1)?.status, 401);
  assert.ok(last - deleted <= 1_000, `the key was still accepted ${last - deleted} ms after its Secret was deleted`);
});

test('the account of the gateway can watch Secrets and nothing else, and that of the workers can do nothing', async () => {
  const can = async (account: string, ...action: string[]): Promise<boolean> => {
    const as = `system:serviceaccount:${release.namespace}:${account}`;
    const answer = await run('sh', [
      '-c',
      `kubectl auth can-i ${action.join(' ')} -n ${release.namespace} --as ${as} || true`,
    ]);
    return answer.trim() === 'yes';
  };
  assert.equal(await can('parsemesh-gateway', 'watch', 'secrets'), true);
  for (const action of [
    ['create', 'secrets'],
    ['delete', 'secrets'],
    ['list', 'pods'],
    ['get', 'configmaps'],
  ])
    assert.equal(await can('parsemesh-gateway', ...action), false, action.join(' '));
  for (const action of [
    ['list', 'secrets'],
    ['watch', 'secrets'],
    ['list', 'pods'],
  ])
    assert.equal(await can('parsemesh-worker', ...action), false, action.join(' '));
});
