// Credentials in NATS_URL, by the address alone and against a real server that asks for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatsServerMissingError, startNatsServer } from '#test/harness/nats-server.ts';
import { connectNats } from '../nats.ts';
import { readAddress, type ServerAddress } from './address.ts';

const ROWS: readonly (readonly [url: string, address: ServerAddress])[] = [
  ['nats://127.0.0.1:4222', { servers: ['nats://127.0.0.1:4222'] }],
  ['127.0.0.1:4222', { servers: ['127.0.0.1:4222'] }],
  ['nats://me:secret@bus:4222', { servers: ['nats://bus:4222'], user: 'me', pass: 'secret' }],
  ['me:secret@bus', { servers: ['bus'], user: 'me', pass: 'secret' }],
  ['tls://a%40b:c%3Ad@bus', { servers: ['tls://bus'], user: 'a@b', pass: 'c:d' }],
  ['nats://me:50%@home@bus', { servers: ['nats://bus'], user: 'me', pass: '50%@home' }],
  ['nats://s3cr3t@bus', { servers: ['nats://bus'], token: 's3cr3t' }],
  [
    'nats://me:one@a:4222, nats://me:two@b:4222',
    { servers: ['nats://a:4222', 'nats://b:4222'], user: 'me', pass: 'one' },
  ],
  ['nats://[::1]:4222', { servers: ['nats://[::1]:4222'] }],
];
for (const [url, address] of ROWS) test(`${url} is read`, () => assert.deepEqual(readAddress(url), address));

for (const [flags, credentials] of [
  [['--user', 'parsemesh', '--pass', 'p12:34'], 'parsemesh:p12%3A34'],
  [['--auth', 't0ken'], 't0ken'],
] as const)
  test(`a server that asks for ${flags[0]} lets in who has it in the URL, and nobody else`, async (t) => {
    const server = await startNatsServer({ args: [...flags] }).catch((error: unknown) => {
      if (!(error instanceof NatsServerMissingError) || process.env.CI) throw error;
      t.skip(error.message);
    });
    if (!server) return;
    try {
      const transport = await connectNats({ url: server.url.replace('://', `://${credentials}@`), name: 'test' });
      assert.equal(transport.bus.connected(), true);
      await transport.close();
      await assert.rejects(connectNats({ url: server.url, name: 'test' }), /authorization/i);
    } finally {
      await server.stop();
    }
  });
