// Tests how a process connects to a NATS server, and how the NATS bus stores and checks its messages.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { answerOf, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';

describe('a process on the NATS bus', { skip: skipReason('nats') }, () => {
  let server: NatsServer;
  before(async () => {
    server = await startNatsServer();
  });
  after(() => server.stop());
  const connectAs = (name: string): Promise<Transport> => connectNats({ url: server.url, name });

  it('counts the running workers of a queue right after it connects, but no closed workers', async (t) => {
    // With mocked timers, no periodic announcement is sent and none expires. Only those at connect and close are sent.
    t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
    const first = await connectAs('worker');
    const queue = newQueue();
    await first.bus.serve(queue, { concurrency: 1, handler: async () => answerOf(null) });
    const second = await connectAs('observer');
    await until(() => second.bus.workers(queue) === 1, 'the worker announced itself to the new process');
    await first.close();
    await until(() => second.bus.workers(queue) === 0, 'the worker announced that it stopped');
    await second.close();
  });

  it('creates its streams when six processes start at the same time', async () => {
    const own = await startNatsServer();
    const transports = await Promise.all(
      Array.from({ length: 6 }, () => connectNats({ url: own.url, name: 'parallel-start' })),
    );
    const queue = newQueue();
    const consumers = await Promise.all(
      transports.map(({ bus }) => bus.serve(queue, { concurrency: 1, handler: async () => answerOf('ok') })),
    );
    const answers = await Promise.all(
      transports.map(({ bus }) => bus.request(queue, job(), { deadline: lateDeadline() })),
    );
    assert.deepEqual(
      answers.map(({ header }) => header),
      transports.map(() => 'ok'),
    );
    await Promise.all(consumers.map((consumer) => consumer.drain()));
    await Promise.all(transports.map((transport) => transport.close()));
    await own.stop();
  });

  it('does not start if max_payload of the server is too small, and names max_payload in the error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nats-small-'));
    const config = join(folder, 'nats.conf');
    await writeFile(config, 'max_payload: 65536\n');
    const own = await startNatsServer({ args: ['-c', config] });
    await assert.rejects(connectNats({ url: own.url, name: 'small' }), /max_payload/);
    await own.stop();
    await rm(folder, { recursive: true });
  });

  it('removes messages that are not jobs from a queue and continues with the next job', async () => {
    const transport = await connectAs('garbage-test');
    const connection = await connect({ servers: server.url });
    const queue = newQueue();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('ok') });
    for (const garbage of ['', 'abc', '\u0000\u0000\u0000\u0002{]', '\u0000\u0000\u0000\u0004null', '\uffff\uffff'])
      await jetstream(connection).publish(`parsemesh.jobs.${queue}.common`, garbage);
    assert.equal((await transport.bus.request(queue, job(), { deadline: lateDeadline() })).header, 'ok');
    await until(async () => (await transport.bus.depth(queue)).running === 0, 'all messages are acknowledged');
    await consumer.drain();
    await connection.close();
    await transport.close();
  });

  it('rejects a job that is too large for a message and a queue name that cannot be part of a subject', async () => {
    const transport = await connectAs('rejection-test');
    const large = job(new Uint8Array(TRANSPORT_LIMITS.messageBytes));
    await assert.rejects(transport.bus.request(newQueue(), large, { deadline: lateDeadline() }), /payload store/);
    await assert.rejects(transport.bus.request('a.b', job(), { deadline: lateDeadline() }), RangeError);
    await transport.close();
  });
});
