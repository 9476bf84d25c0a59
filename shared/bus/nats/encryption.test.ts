// Tests TLS between a process and the NATS server, with certificates on both sides, and the encryption of the server's disk.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CertificateAuthority, createAuthority } from '#test/harness/certificates.ts';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { until } from '../testing/jobs.ts';
import { filesContaining, inChunks, readAll } from '../testing/payloads.ts';

describe('TLS to the NATS server', { skip: skipReason('nats') }, () => {
  let folder: string;
  let authority: CertificateAuthority;
  let other: CertificateAuthority;
  let server: NatsServer;
  let options: { args: string[]; port?: number; storeDir?: string };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nats-tls-'));
    [authority, other] = await Promise.all([createAuthority(), createAuthority()]);
    const { cert, key } = await authority.issue('localhost');
    options = { args: ['--tlsverify', '--tlscert', cert, '--tlskey', key, '--tlscacert', authority.ca] };
    server = await startNatsServer(options);
  });
  after(async () => {
    await server.stop();
    await authority.remove();
    await other.remove();
    await rm(folder, { recursive: true });
  });
  const url = (): string => `nats://localhost:${server.port}`;

  /** What the process logs while it cannot connect. It tries again until the server accepts it, so the attempt does not end. */
  async function failureOf(tls: { ca?: string; cert?: string; key?: string }, at = url()): Promise<string> {
    const warnings: string[] = [];
    const stop = new AbortController();
    const log = {
      info: () => undefined,
      warn: ({ err }: { err?: Error }) => {
        if (err) warnings.push(String(err.cause ?? err));
      },
    };
    const connecting = connectNats({ url: at, name: 'tls-test', tls, log, signal: stop.signal });
    try {
      await Promise.race([until(() => warnings.length > 0, 'the failure is logged'), connecting]);
    } finally {
      stop.abort();
    }
    await assert.rejects(connecting);
    return warnings.join('\n');
  }

  it('connects with a client certificate, and stores and reads a payload', async () => {
    const transport = await connectNats({
      url: url(),
      name: 'tls',
      tls: { ca: authority.ca, ...(await authority.issue('html')) },
    });
    const ref = await transport.payloads.put(inChunks(Buffer.from('a document')), { volatile: false });
    assert.equal((await readAll(await transport.payloads.get(ref))).toString(), 'a document');
    await transport.close();
  });

  it('does not connect without a client certificate, or with one of another authority', async () => {
    assert.match(await failureOf({ ca: authority.ca }), /certificate|closed|reset|timeout/i);
    assert.match(
      await failureOf({ ca: authority.ca, ...(await other.issue('html')) }),
      /certificate|closed|reset|timeout/i,
    );
  });

  it('does not connect to a server whose certificate is of another authority or for another name', async () => {
    const client = await authority.issue('html');
    assert.match(await failureOf({ ca: other.ca, ...client }), /certificate/i);
    const { cert, key } = await authority.issue('elsewhere');
    const elsewhere = await startNatsServer({ args: ['--tls', '--tlscert', cert, '--tlskey', key] });
    const failure = await failureOf({ ca: authority.ca, ...client }, `nats://localhost:${elsewhere.port}`);
    await elsewhere.stop();
    assert.match(failure, /altnames|does not match/i);
  });

  it('does not connect to a server without TLS', async () => {
    const plain = await startNatsServer();
    const failure = await failureOf({ ca: authority.ca }, `nats://localhost:${plain.port}`);
    await plain.stop();
    assert.match(failure, /tls/i);
  });

  it('uses a renewed certificate at the next reconnect', async () => {
    const [cert, key, ca] = [join(folder, 'tls.crt'), join(folder, 'tls.key'), join(folder, 'ca.crt')];
    const write = async (from: CertificateAuthority): Promise<void> => {
      const issued = await from.issue('html');
      await Promise.all([copyFile(issued.cert, cert), copyFile(issued.key, key), copyFile(from.ca, ca)]);
    };
    const ownOptions = { ...options, storeDir: await mkdtemp(join(folder, 'store-')) };
    let own = await startNatsServer(ownOptions);
    await write(authority);
    const transport: Transport = await connectNats({
      url: `nats://localhost:${own.port}`,
      name: 'rotation',
      tls: { ca, cert, key },
    });
    await own.stop();
    // From now on, the server accepts only certificates of the other authority, and has one of it.
    await write(other);
    const renewed = await other.issue('localhost');
    const args = ['--tlsverify', '--tlscert', renewed.cert, '--tlskey', renewed.key, '--tlscacert', other.ca];
    own = await startNatsServer({ ...ownOptions, args, port: own.port });
    await until(() => transport.bus.connected(), 'the process has reconnected');
    await transport.close();
    await own.stop();
  });
});

describe('encryption of the disk of the NATS server', { skip: skipReason('nats') }, () => {
  const canary = randomBytes(64);

  /** Stores the canary as a durable payload with a server of this configuration. Returns the files that contain it. */
  async function storedPlainly(config: string): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'nats-encryption-'));
    const path = join(folder, 'nats.conf');
    await writeFile(path, config);
    const args = ['-c', path];
    const storeDir = join(folder, 'store');
    let server = await startNatsServer({ storeDir, args });
    const first = await connectNats({ url: server.url, name: 'encryption' });
    const ref = await first.payloads.put(inChunks(canary), { volatile: false });
    await first.close();
    // The server has written everything to the disk when it has stopped.
    await server.stop();
    const found = await filesContaining(storeDir, canary);
    server = await startNatsServer({ storeDir, args });
    const second = await connectNats({ url: server.url, name: 'encryption' });
    assert.equal(
      Buffer.compare(await readAll(await second.payloads.get(ref)), canary),
      0,
      'the restarted server has the payload',
    );
    await second.close();
    await server.stop();
    await rm(folder, { recursive: true });
    return found;
  }

  it('leaves no byte of a durable payload in plain on the disk', async () => {
    assert.deepEqual(await storedPlainly('jetstream { cipher: aes, key: "a key" }\n'), []);
  });

  it('is what hides the payload: without it, a file contains the bytes', async () => {
    assert.ok((await storedPlainly('')).length > 0);
  });
});
