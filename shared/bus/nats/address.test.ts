// Tests how NATS_URL is split into servers and credentials, and that a real server accepts these credentials.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
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
for (const [url, address] of ROWS)
  test(`reads servers and credentials from ${url}`, () => assert.deepEqual(readAddress(url), address));

for (const [option, args, credentials] of [
  ['--user', ['--user', 'parsemesh', '--pass', 'p12:34'], 'parsemesh:p12%3A34'],
  ['--auth', ['--auth', 't0ken'], 't0ken'],
] as const)
  test(`connects to a server with ${option} only if the URL contains its credentials`, {
    skip: skipReason('nats'),
  }, async () => {
    const server = await startNatsServer({ args: [...args] });
    try {
      const transport = await connectNats({ url: server.url.replace('://', `://${credentials}@`), name: 'test' });
      assert.equal(transport.bus.connected(), true);
      await transport.close();
      await assert.rejects(connectNats({ url: server.url, name: 'test' }), /authorization/i);
    } finally {
      await server.stop();
    }
  });
