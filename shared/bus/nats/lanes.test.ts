// Tests the lanes of queues on NATS: workers create their consumers, find jobs without help, and no team costs more than it uses.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AckPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { REQUEST_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { answerOf, createGate, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';
import { WaitingLanes } from './lanes.ts';
import { announcementSubject, waitingSubject } from './protocol.ts';
import { DURABILITIES, jobStream, jobSubject, laneOf } from './topology.ts';

describe('the lanes that a worker knows', () => {
  it('keeps a job that was noted while a pull that found none was on its way', () => {
    const lanes = new WaitingLanes();
    const lane = { durability: 'durable', lane: 'common' } as const;
    lanes.note(lane);
    const turn = lanes.turn('common');
    lanes.note(lane);
    assert.ok(turn);
    lanes.empty(turn);
    assert.deepEqual([...lanes.names()], ['common']);
    const next = lanes.turn('common');
    assert.ok(next);
    lanes.empty(next);
    assert.deepEqual([...lanes.names()], []);
    lanes.note(lane);
    lanes.empty(turn);
    assert.deepEqual([...lanes.names()], ['common'], 'an old pull does not clear the mark of a later job');
  });

  it('takes jobs of both streams in turn while both have some', () => {
    const lanes = new WaitingLanes();
    for (const durability of DURABILITIES) lanes.note({ durability, lane: 'common' });
    const order = Array.from({ length: 4 }, () => lanes.turn('common')?.durability);
    assert.deepEqual(order, ['durable', 'volatile', 'durable', 'volatile']);
  });
});

describe('lanes on the NATS bus', { skip: skipReason('nats') }, () => {
  let server: NatsServer;
  let transport: Transport;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  before(async () => {
    server = await startNatsServer();
    transport = await connectNats({ url: server.url, name: 'lanes-test' });
    connection = await connect({ servers: server.url });
    manager = await jetstreamManager(connection);
  });
  after(async () => {
    await transport.close();
    await connection.close();
    await server.stop();
  });
  const request = (queue: string, team: string, volatile = false) =>
    transport.bus.request(queue, job(), { deadline: lateDeadline(), team, volatile });
  const echo = { concurrency: 2, handler: async () => answerOf('done') };

  it('does not show the name of a team to NATS', async () => {
    const queue = newQueue();
    const subjects: string[] = [];
    const subscription = connection.subscribe('>', {
      callback: (_error, message) => void subjects.push(`${message.subject} ${message.reply ?? ''}`),
    });
    await connection.flush();
    const consumer = await transport.bus.serve(queue, echo);
    await request(queue, 'Blue Lagoon');
    await consumer.drain();
    subscription.unsubscribe();
    assert.ok(subjects.some((subject) => subject.includes(jobSubject('durable', queue, laneOf('Blue Lagoon')))));
    assert.deepEqual(
      subjects.filter((subject) => /lagoon/i.test(subject)),
      [],
    );
  });

  it('creates no consumer before a worker serves the queue, and one with an idle time for each lane', async () => {
    const queue = newQueue();
    const answers = [request(queue, 'one'), request(queue, 'two'), request(queue, 'one', true)];
    await until(async () => (await transport.bus.depth(queue)).pending === 3, 'all jobs wait');
    const consumersOf = async (durability: 'durable' | 'volatile') =>
      (await manager.consumers.list(jobStream(durability, queue)).next()).map(({ config }) => config);
    assert.deepEqual(await consumersOf('durable'), []);
    const consumer = await transport.bus.serve(queue, echo);
    await Promise.all(answers);
    const durable = await consumersOf('durable');
    assert.deepEqual(
      durable.map((config) => config.filter_subject).sort(),
      ['one', 'two'].map((team) => jobSubject('durable', queue, laneOf(team))).sort(),
    );
    assert.equal((await consumersOf('volatile')).length, 1);
    for (const config of durable) assert.equal(config.inactive_threshold, nanos(TRANSPORT_LIMITS.laneIdleMs));
    // The server also removes a consumer with running jobs if nobody pulls from it.
    assert.ok(TRANSPORT_LIMITS.laneIdleMs > Math.max(TRANSPORT_LIMITS.jobTtlMs, 2 * REQUEST_LIMITS.timeoutMaxMs));
    await consumer.drain();
  });

  it('answers the next job of a lane whose consumer the server has removed', async () => {
    const queue = newQueue();
    const consumer = await transport.bus.serve(queue, echo);
    for (const volatile of [false, true]) {
      await request(queue, 'one', volatile);
      const stream = jobStream(volatile ? 'volatile' : 'durable', queue);
      for (const { name } of await manager.consumers.list(stream).next()) await manager.consumers.delete(stream, name);
      assert.equal((await request(queue, 'one', volatile)).header, 'done');
    }
    await consumer.drain();
  });

  it('answers the next job of a queue whose streams were deleted', async () => {
    const queue = newQueue();
    const consumer = await transport.bus.serve(queue, echo);
    await request(queue, 'one');
    for (const durability of DURABILITIES) await manager.streams.delete(jobStream(durability, queue));
    for (const volatile of [false, true]) assert.equal((await request(queue, 'one', volatile)).header, 'done');
    await consumer.drain();
  });

  it('keeps a new job although the server, which has lost its store, gave it the number of a job that ends now', async () => {
    let own = await startNatsServer();
    const [requester, worker] = await Promise.all(
      ['requester', 'worker'].map((name) => connectNats({ url: own.url, name })),
    );
    assert.ok(requester && worker);
    const queue = newQueue();
    const gate = createGate();
    await worker.bus.serve(queue, { concurrency: 1, handler: gate.handler });
    const first = requester.bus.request(queue, job(), { deadline: lateDeadline() });
    await until(() => gate.received.length === 1, 'the first job runs');
    const { port } = own;
    await own.stop('SIGKILL');
    await until(() => !requester.bus.connected() && !worker.bus.connected(), 'the connections are lost');
    const second = requester.bus.request(queue, job(), { deadline: lateDeadline() });
    own = await startNatsServer({ port });
    await until(() => requester.bus.connected() && worker.bus.connected(), 'the connections are restored');
    await until(async () => {
      const { pending, running } = await requester.bus.depth(queue);
      return pending + running === 1;
    }, 'the second job waits');
    gate.open();
    assert.deepEqual([(await first).header, (await second).header], ['done', 'done']);
    await Promise.all([requester.close(), worker.close()]);
    await own.stop();
  });

  it('serves the other lanes while the server refuses the consumer of one', async () => {
    const queue = newQueue();
    const first = await transport.bus.serve(queue, echo);
    await request(queue, 'allowed');
    const stream = jobStream('durable', queue);
    // A work queue accepts only one consumer for each subject.
    const filter_subject = jobSubject('durable', queue, laneOf('refused'));
    await manager.consumers.add(stream, { durable_name: 'other', filter_subject, ack_policy: AckPolicy.Explicit });
    const refused = request(queue, 'refused');
    await until(async () => (await transport.bus.depth(queue)).pending === 1, 'the job waits');
    for (let count = 0; count < 5; count++) assert.equal((await request(queue, 'allowed')).header, 'done');
    await manager.consumers.delete(stream, 'other');
    assert.equal((await refused).header, 'done');
    await first.drain();
  });

  it('sends about one pull request for each job of hundreds of teams', async () => {
    const queue = newQueue();
    const teams = Array.from({ length: 300 }, (_, index) => `team ${index}`);
    const answers = teams.map((team) => request(queue, team));
    await until(async () => (await transport.bus.depth(queue)).pending === teams.length, 'all jobs wait');
    let pulls = 0;
    const subscription = connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${jobStream('durable', queue)}.*`, {
      callback: () => void (pulls += 1),
    });
    await connection.flush();
    const consumer = await transport.bus.serve(queue, { ...echo, concurrency: 4 });
    await Promise.all(answers);
    await consumer.drain();
    await connection.flush();
    subscription.unsubscribe();
    assert.ok(pulls < 1.5 * teams.length, `${pulls} pull requests for ${teams.length} jobs`);
  });

  it('sends no pull request while no other job waits', async () => {
    const queue = newQueue();
    const gate = createGate();
    const consumer = await transport.bus.serve(queue, { concurrency: 2, handler: gate.handler });
    const answer = request(queue, 'one');
    await until(() => gate.received.length === 1, 'the job runs');
    let [pulls, scans] = [0, 0];
    const stream = jobStream('durable', queue);
    const subscriptions = [
      connection.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${stream}.*`, { callback: () => void (pulls += 1) }),
      connection.subscribe(`$JS.API.STREAM.INFO.${stream}`, { callback: () => void (scans += 1) }),
    ];
    await connection.flush();
    await until(() => scans >= 4, 'the worker counts the messages of the lanes');
    assert.equal(pulls, 0);
    for (const subscription of subscriptions) subscription.unsubscribe();
    gate.open();
    await answer;
    await consumer.drain();
  });

  it('ignores malformed messages to workers and announcements of workers', async () => {
    const queue = newQueue();
    const consumer = await transport.bus.serve(queue, echo);
    for (const text of ['', 'durable', 'durable ../x', 'elsewhere common', '\uffff'.repeat(1_000)])
      connection.publish(waitingSubject(queue), text);
    for (const text of ['', '{', 'null', '[1]', '{"durable":[1e400,"x",{}],"volatile":7}'])
      connection.publish(announcementSubject('here', queue, 'stranger'), text);
    await connection.flush();
    assert.equal((await request(queue, 'one')).header, 'done');
    const { pending, running } = await transport.bus.depth(queue);
    assert.ok(pending + running <= 1);
    await consumer.drain();
  });
});
