// Tests where payloads are stored in NATS: on subjects that name their reader and writer, and only there.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { PayloadRef, PutOptions, Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { inChunks, MiB, readAll } from '../testing/payloads.ts';
import { PAYLOAD_STREAMS } from './topology.ts';

describe('payloads in NATS', { skip: skipReason('nats') }, () => {
  let server: NatsServer;
  let gateway: Transport;
  let worker: Transport;
  let observer: NatsConnection;
  before(async () => {
    server = await startNatsServer();
    gateway = await connectNats({ url: server.url, name: 'payload-test', service: 'gateway' });
    worker = await connectNats({ url: server.url, name: 'payload-test', service: 'html' });
    observer = await connect({ servers: server.url });
  });
  after(async () => {
    await worker.close();
    await gateway.close();
    await observer.close();
    await server.stop();
  });

  /** Messages by subject. */
  const stored = async (durability: 'durable' | 'volatile'): Promise<Record<string, number>> => {
    const manager = await jetstreamManager(observer);
    return (await manager.streams.info(PAYLOAD_STREAMS[durability], { subjects_filter: '>' })).state.subjects ?? {};
  };

  const ROWS: readonly (readonly [title: string, options: PutOptions, writer: string, reader: string])[] = [
    ['its own service by default', { volatile: false }, 'html', 'html'],
    ['a service', { volatile: true, reader: 'pii' }, 'html', 'pii'],
    ['a service that is known when the first bytes arrive', { volatile: false, reader: () => 'pdf' }, 'gateway', 'pdf'],
  ];
  for (const [title, options, writer, reader] of ROWS)
    it(`stores each chunk on a subject of its own, below the reader and the writer; reader: ${title}`, async () => {
      const bytes = randomBytes(MiB + 17);
      const { payloads } = writer === 'gateway' ? gateway : worker;
      const ref = await payloads.put(inChunks(bytes), options);
      const prefix = `parsemesh.payloads${options.volatile ? '-volatile' : ''}.${reader}.${writer}.`;
      const subjects = await stored(options.volatile ? 'volatile' : 'durable');
      assert.deepEqual(Object.values(subjects), [1, 1, 1]);
      assert.ok(
        Object.keys(subjects).every((subject) => subject.startsWith(prefix)),
        JSON.stringify(subjects),
      );
      assert.equal(Buffer.compare(await readAll(await gateway.payloads.get(ref)), bytes), 0);
      await payloads.delete(ref);
      assert.deepEqual(await stored(options.volatile ? 'volatile' : 'durable'), {});
    });

  it('reads and deletes nothing for a reference whose tokens select other payloads', async () => {
    const bytes = Buffer.from('of another service');
    const ref = await gateway.payloads.put(inChunks(bytes), { volatile: false, reader: 'pdf' });
    const [reader = '', writer = '', id = ''] = ref.id.split('.');
    for (const forged of [
      `*.${writer}.${id}`,
      `${reader}.*.${id}`,
      `${reader}.${writer}.*`,
      `${reader}.${writer}.>`,
      '>',
      '',
      `${ref.id}.0`,
    ]) {
      const reference: PayloadRef = { ...ref, id: forged };
      await assert.rejects(gateway.payloads.get(reference), { name: 'PayloadMissingError' }, forged);
      for (const { payloads } of [gateway, worker]) await assert.rejects(payloads.delete(reference), Error);
    }
    assert.deepEqual(Object.values(await stored('durable')), [1]);
    await gateway.payloads.delete(ref);
  });

  it('rejects a payload whose bytes are not those that were stored', async () => {
    const ref = await worker.payloads.put(inChunks(randomBytes(100)), { volatile: false });
    const { payloads } = worker;
    await assert.rejects(payloads.get({ ...ref, size: 99 }).then(readAll), /corrupt/);
    await assert.rejects(payloads.get({ ...ref, digest: 'AAAA' }).then(readAll), /corrupt/);
    await assert.rejects(payloads.get({ ...ref, size: 101 }).then(readAll), { name: 'PayloadMissingError' });
    await payloads.delete(ref);
  });

  it('reads one chunk ahead of a slow reader, and not more', async () => {
    const bytes = randomBytes(8 * TRANSPORT_LIMITS.objectChunkBytes);
    const ref = await worker.payloads.put(inChunks(bytes), { volatile: false });
    const requests: string[] = [];
    observer.subscribe(`$JS.API.DIRECT.GET.${PAYLOAD_STREAMS.durable}.>`, {
      callback: (_error, message) => void requests.push(message.subject.split('.').at(-1) ?? ''),
    });
    await observer.flush();
    const iterator = (await worker.payloads.get(ref))[Symbol.asyncIterator]();
    for (let read = 1; read <= 3; read++) {
      await iterator.next();
      // A request of this reader that follows reaches the observer after those of the payload.
      await worker.payloads.get({ ...ref, id: ref.id.replace(/[^.]+$/, 'none') }).catch(() => undefined);
      await observer.flush();
      assert.deepEqual(
        requests.filter((index, position) => !(index === '0' && position > 0)),
        Array.from({ length: read + 1 }, (_, index) => String(index)),
      );
    }
    await iterator.return?.(undefined);
    await worker.payloads.delete(ref);
  });
});
