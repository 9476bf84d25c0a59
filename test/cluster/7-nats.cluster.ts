// Tests three NATS servers with TLS and a user for each service: no page is lost when a server is killed, and a pod has only its own credentials.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { sample } from '../harness/documents.ts';
import { ClientPod, type Reply } from './client-pod.ts';
import { get, kubectl } from './command.ts';
import { Release, waitForPods } from './release.ts';

const PAGES = 12;
const release = new Release('parsemesh', 'parsemesh-nats');
const { namespace } = release;
const scan = await scannedLog(PAGES, { lines: 12, dpi: 150 });
let client: ClientPod;
let key = '';

before(async () => {
  // A server that is killed loses its disk too, and gets everything again from the others.
  await release.apply({
    nats: { replicas: 3, tls: { enabled: true }, jetstream: { encryption: true }, persistence: { enabled: false } },
  });
  key = await release.firstKey();
  client = await ClientPod.start(namespace);
  const { fileName, bytes } = await sample('.docx');
  await client.putFiles({ 'scan.pdf': scan.bytes, [fileName]: bytes });
});
after(() => release.remove());

interface Deployment {
  spec: {
    template: {
      spec: {
        containers: { env: { valueFrom?: { secretKeyRef?: { name: string } } }[] }[];
        volumes: { secret?: { secretName: string } }[];
      };
    };
  };
}

test('each pod has the credentials and the certificate of its own service only', async () => {
  for (const service of SERVICE_NAMES) {
    const { spec } = await get<Deployment>('deployment', `${release.name}-${service}`, '-n', namespace);
    const { containers, volumes } = spec.template.spec;
    const secrets = [
      ...containers.flatMap(({ env }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])),
      ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
    ];
    assert.deepEqual(secrets, [`${release.name}-nats-${service}`, `${release.name}-nats-${service}-tls`]);
  }
});

/** Runs in the pod of a service, with the client library and the credentials of the product. */
async function inPod(service: string, script: string): Promise<string> {
  const program = `
    import { connect } from '@nats-io/transport-node';
    const { NATS_URL, NATS_TLS_CA: caFile, NATS_TLS_CERT: certFile, NATS_TLS_KEY: keyFile } = process.env;
    const { username: user, password: pass, host } = new URL(NATS_URL ?? (await import('node:fs')).readFileSync(process.env.NATS_URL_FILE, 'utf8').trim());
    const open = (tls) => connect({ servers: host, user, pass, tls, inboxPrefix: '_INBOX.${service}', timeout: 5_000, reconnect: false });
    const text = await (async () => { ${script} })().catch((error) => String(error));
    process.stdout.write(String(text));
    process.exit(0);`;
  const deployment = `deployment/${release.name}-${service}`;
  return kubectl(
    'exec',
    '-n',
    namespace,
    deployment,
    '-c',
    service,
    '--',
    'node',
    '--input-type=module',
    '-e',
    program,
  );
}

test('the user of a worker reads its own payloads and is refused those of another service', async () => {
  const read = (reader: string) =>
    inPod(
      'html',
      `const nats = await open({ caFile, certFile, keyFile }); const reply = await nats.request('$JS.API.DIRECT.GET.PARSEMESH_PAYLOADS.parsemesh.payloads.${reader}.gateway.none.0', '', { timeout: 5_000 }); return reply.headers.code;`,
    );
  assert.equal(await read('html'), '404');
  assert.match(await read('office'), /Permissions Violation/);
});

test('NATS accepts no connection without a client certificate', async () => {
  assert.match(await inPod('html', 'await open({ caFile }); return "connected";'), /Error/);
  assert.equal(await inPod('html', 'await open({ caFile, certFile, keyFile }); return "connected";'), 'connected');
});

/** Asserts that the response has every page in order with its words. */
function checkPages([reply]: Reply[]): void {
  assert.equal(reply?.status, 200, reply?.text.slice(0, 1_000));
  const { data } = JSON.parse(reply.text) as { data: { warning?: string; pages: { markdown: string }[] } };
  assert.equal(data.pages.length, PAGES);
  scan.pages.forEach((truth, index) => {
    const found = wordsFound(truth, data.pages[index]?.markdown ?? '');
    assert.ok(found > 0.9, `page ${index + 1}: ${Math.round(found * 100)} % of its words; ${data.warning}`);
  });
}

for (const server of [0, 1])
  test(`no page and no request is lost when NATS server ${server} is killed under load`, async () => {
    await waitForPods(release, 'nats', 3, 180);
    const parseScan = client.send([
      {
        url: release.url,
        key,
        name: 'scan.pdf',
        options: { timeout: 300_000, parsers: [{ type: 'pdf', pages: true }] },
      },
    ]);
    const load = client.load({ url: release.url, key, name: 'harbour-report.docx', options: { timeout: 120_000 } }, 2);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await kubectl('delete', 'pod', `${release.name}-nats-${server}`, '-n', namespace, '--grace-period=0', '--force');
    checkPages(await parseScan);
    const replies = await load.stop();
    console.log(
      `${replies.length} requests, ${replies.filter(({ status }) => status !== 200).length} without status 200`,
    );
    assert.deepEqual(
      replies.filter(({ status }) => status !== 200),
      [],
    );
    assert.ok(replies.length > 3);
  });
