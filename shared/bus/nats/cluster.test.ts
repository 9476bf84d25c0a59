// Tests streams with three copies on a cluster of three NATS servers: one of them is killed and no job and no payload is lost.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type NatsCluster, startNatsCluster } from '#test/harness/nats-cluster.ts';
import type { NatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import { connectNats } from '../nats.ts';
import { answerOf, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';
import { inChunks, MiB, readAll } from '../testing/payloads.ts';
import { EVENT_STREAM, PAYLOAD_STREAMS, STATE_BUCKETS, stateStream } from './topology.ts';

const STREAMS = [EVENT_STREAM, ...Object.values(PAYLOAD_STREAMS), ...Object.values(STATE_BUCKETS).map(stateStream)];

describe('a cluster of three NATS servers', { skip: skipReason('nats') }, () => {
  let cluster: NatsCluster;
  before(async () => {
    cluster = await startNatsCluster(3);
  });
  after(() => cluster.stop());

  async function readStreams(): Promise<StreamInfo[]> {
    const connection = await connect({ servers: cluster.url.split(',') });
    const manager = await jetstreamManager(connection, { timeout: 10_000 });
    const streams: StreamInfo[] = [];
    for (const name of STREAMS) streams.push(await manager.streams.info(name));
    await connection.close();
    return streams;
  }
  /** Number of copies of each stream of the product. */
  const replicas = async (): Promise<number[]> => (await readStreams()).map(({ config }) => config.num_replicas);

  it('creates streams with one copy by default, and gives them three when the setting changes', async () => {
    const single = await connectNats({
      url: cluster.url,
      name: 'single',
      // More than the servers can reserve. The stream is then created without this limit.
      volatileBytes: 2 ** 50,
    });
    const payload = await single.payloads.put(inChunks(randomBytes(2 * MiB)), { volatile: false });
    await single.state.update('credits', () => ({ next: 7, result: 7 }), { ttlMs: 90 * 24 * 60 * 60_000 });
    assert.deepEqual(
      await replicas(),
      STREAMS.map(() => 1),
    );
    const triple = await connectNats({ url: cluster.url, name: 'triple', replicas: 3 });
    assert.deepEqual(
      await replicas(),
      STREAMS.map(() => 3),
    );
    assert.equal((await readAll(await triple.payloads.get(payload))).length, 2 * MiB);
    assert.equal(await triple.state.get('credits'), 7);
    await single.close();
    await triple.close();
  });

  it('loses no job, payload or shared value when a server is killed', async () => {
    const open = (name: string) => connectNats({ url: cluster.url, name, replicas: 3 });
    const [requester, worker] = [await open('requester'), await open('worker')];
    const queue = newQueue();
    const bytes = randomBytes(2 * MiB);
    const payload = await requester.payloads.put(inChunks(bytes), { volatile: false });
    const volatile = await requester.payloads.put(inChunks(bytes), { volatile: true });
    let running = 0;
    const gate = Promise.withResolvers<void>();
    await worker.bus.serve(queue, {
      concurrency: 2,
      async handler({ message }) {
        running += 1;
        await gate.promise;
        return answerOf(message.id);
      },
    });
    const messages = Array.from({ length: 12 }, () => job());
    const requests = messages.map((message, index) =>
      requester.bus.request(queue, message, { deadline: lateDeadline(), volatile: index % 2 === 1 }),
    );
    await until(() => running === 2, 'two jobs run and ten wait');
    await killLeader();
    gate.resolve();
    assert.deepEqual(
      (await Promise.all(requests)).map(({ header }) => header),
      messages.map(({ id }) => id),
    );
    for (const ref of [payload, volatile])
      assert.equal(Buffer.compare(await readAll(await worker.payloads.get(ref, { until: lateDeadline() })), bytes), 0);
    // A busy machine may need long to elect a leader.
    assert.equal(await requester.state.get('credits', { until: lateDeadline() }), 7);
    await worker.close();
    await requester.close();
  });

  /** Kills the server that leads the most streams. */
  async function killLeader(): Promise<NatsServer> {
    const led = new Map<string, number>();
    for (const { cluster: group } of await readStreams())
      led.set(group?.leader ?? '', (led.get(group?.leader ?? '') ?? 0) + 1);
    const [[leader] = ['']] = [...led].sort(([, one], [, other]) => other - one);
    const server = cluster.servers[Number(leader.replace('server-', ''))];
    assert.ok(server, `the leader ${leader}`);
    await server.stop('SIGKILL');
    return server;
  }
});
