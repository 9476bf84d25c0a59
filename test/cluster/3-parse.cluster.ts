// Every kind of file goes through the Service and the pod that reads it, and keys count and cease to count as their Secrets come and go.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashToken, randomToken } from '#services/gateway/auth/keys.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { samples, TABLE_WORDS, WITHOUT_TABLE, WORDS } from '../harness/documents.ts';
import { kubectl, run, until } from './command.ts';
import { Desk } from './desk.ts';
import { Release } from './release.ts';

const release = new Release('parsemesh', 'parsemesh-parse');
const files = await samples();
const scan = await scannedLog(2, { lines: 20, dpi: 150 });
let desk: Desk;
let key = '';

before(async () => {
  await release.apply({});
  key = await release.firstKey();
  desk = await Desk.open(release.namespace);
  await desk.put(
    Object.fromEntries([...files.map(({ fileName, bytes }) => [fileName, bytes]), ['scan.pdf', scan.bytes]]),
  );
});
after(() => release.remove());

const markdownOf = (text: string): string => {
  const { data } = JSON.parse(text) as { data: { markdown: string } };
  return data.markdown.replaceAll(/\s+/g, ' ');
};

for (const { extension, fileName } of files)
  test(`${extension} comes back as Markdown`, async () => {
    const [reply] = await desk.send([{ url: release.url, key, name: fileName }]);
    assert.equal(reply?.status, 200, reply?.text);
    const markdown = markdownOf(reply.text);
    for (const words of [...WORDS, ...(WITHOUT_TABLE.has(extension) ? [] : TABLE_WORDS)])
      assert.ok(markdown.includes(words), words);
  });

test('a scan comes back as its words', async () => {
  const [reply] = await desk.send([{ url: release.url, key, name: 'scan.pdf', options: { timeout: 120_000 } }]);
  assert.equal(reply?.status, 200, reply?.text);
  assert.ok(wordsFound(scan.pages.join(' '), reply.text) > 0.95);
});

for (const extension of ['.docx', '.doc', '.pdf'])
  test(`${extension} without data retention, redacted, with a summary`, async () => {
    const options = { zeroDataRetention: true, redactPII: true, formats: ['markdown', 'summary'], timeout: 120_000 };
    const [reply] = await desk.send([{ url: release.url, key, name: `harbour-report${extension}`, options }]);
    assert.equal(reply?.status, 200, reply?.text);
    assert.match(reply.text, /"summary"/);
  });

test('a Secret lets a key in, and its removal refuses it within a second', async () => {
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
  await until('the key counts', 5, async () => (await desk.send([request]))[0]?.status === 200);

  // Asked without a pause from inside, so that the moment of the first refusal is known to some milliseconds.
  const asking = desk.run<{ at: number; status: number }[]>(`
    const seen = []; const end = Date.now() + 20000; let refused = 0;
    while (Date.now() < end && refused < 3) {
      const { status } = await send(${JSON.stringify(request)});
      seen.push({ at: Date.now(), status });
      if (status === 401) refused += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return seen;`);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await kubectl('delete', 'secret', 'parsemesh-key-blue', '-n', release.namespace);
  const deleted = Date.now();
  const seen = await asking;
  const accepted = seen.filter(({ status }) => status === 200);
  assert.ok(accepted.length > 5, 'the key counted until then');
  const last = accepted.at(-1)?.at ?? 0;
  assert.equal(seen.at(-1)?.status, 401);
  assert.ok(last - deleted <= 1_000, `still let in ${last - deleted} ms after its Secret was gone`);
});

test("the gateway's account may watch Secrets, and no other account may do anything", async () => {
  const may = async (account: string, ...what: string[]): Promise<boolean> => {
    const as = `system:serviceaccount:${release.namespace}:${account}`;
    const answer = await run('sh', [
      '-c',
      `kubectl auth can-i ${what.join(' ')} -n ${release.namespace} --as ${as} || true`,
    ]);
    return answer.trim() === 'yes';
  };
  assert.equal(await may('parsemesh-gateway', 'watch', 'secrets'), true);
  for (const what of [
    ['create', 'secrets'],
    ['delete', 'secrets'],
    ['list', 'pods'],
    ['get', 'configmaps'],
  ])
    assert.equal(await may('parsemesh-gateway', ...what), false, what.join(' '));
  for (const what of [
    ['list', 'secrets'],
    ['watch', 'secrets'],
    ['list', 'pods'],
  ])
    assert.equal(await may('parsemesh-worker', ...what), false, what.join(' '));
});
