// Tests how a worker on the NATS bus pulls jobs, and that no job is lost or left running when a worker or a requester exits.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { JobAnswer, Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { answerOf, createGate, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';
import { encodeFrame } from './frame.ts';
import { REPLY_PREFIX, type WorkerNotice } from './protocol.ts';
import { DURABILITIES, jobStream } from './topology.ts';

const HARNESS = new URL('../../../test/harness/', import.meta.url);

interface Child {
  process: ChildProcess;
  /** Everything that the process has written to its standard output. */
  output(): string;
}

function startScript(name: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [new URL(name, HARNESS).pathname, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  return { process: child, output: () => output };
}

describe('workers and requesters on the NATS bus', { skip: skipReason('nats') }, () => {
  let server: NatsServer;
  before(async () => {
    server = await startNatsServer();
  });
  after(() => server.stop());
  const connectAs = (name: string): Promise<Transport> => connectNats({ url: server.url, name });

  /** Starts a worker process that never answers, sends it a job, and starts a second worker in this process. */
  async function startHangingWorker(transport: Transport, queue: string) {
    const worker = startScript('hanging-worker.ts', [server.url, queue]);
    await until(() => transport.bus.workers(queue) === 1, 'the worker process serves the queue');
    const message = job();
    const request = transport.bus.request(queue, message, { deadline: lateDeadline() });
    await until(() => worker.output().includes(message.id), 'the worker process runs the job');
    const consumer = await transport.bus.serve(queue, {
      concurrency: 1,
      handler: async ({ attempt }) => answerOf({ attempt }),
    });
    return { worker: worker.process, request, consumer };
  }

  it('redelivers the job of a killed worker after the ack timeout, which is below 5 s', async () => {
    const transport = await connectAs('killed-worker-test');
    const connection = await connect({ servers: server.url });
    const queue = newQueue();
    const { worker, request, consumer } = await startHangingWorker(transport, queue);
    try {
      worker.kill('SIGKILL');
      assert.deepEqual((await request).header, { attempt: 2 });
      const manager = await jetstreamManager(connection);
      const [{ config } = assert.fail()] = await manager.consumers.list(jobStream('durable', queue)).next();
      assert.equal(config.ack_wait, nanos(TRANSPORT_LIMITS.ackWaitMs));
      assert.ok(TRANSPORT_LIMITS.ackWaitMs < 5_000);
      await consumer.drain();
    } finally {
      worker.kill('SIGKILL');
      await connection.close();
      await transport.close();
    }
  });

  it('lets a closing worker process exit although its handler never ends, and redelivers its job', async () => {
    const transport = await connectAs('hanging-worker-test');
    const { worker, request, consumer } = await startHangingWorker(transport, newQueue());
    try {
      worker.kill('SIGTERM');
      assert.deepEqual((await request).header, { attempt: 2 });
      await until(() => worker.exitCode !== null, 'the worker process exits');
      assert.equal(worker.exitCode, 0);
      await consumer.drain();
    } finally {
      worker.kill('SIGKILL');
      await transport.close();
    }
  });

  it('redelivers a job at once when its worker closes without draining', async () => {
    const closing = await connectAs('closing-worker');
    const transport = await connectAs('closing-worker-test');
    const connection = await connect({ servers: server.url });
    const queue = newQueue();
    const acknowledgements: string[] = [];
    connection.subscribe(`$JS.ACK.${jobStream('durable', queue)}.>`, {
      callback: (_error, message) => void acknowledgements.push(message.string()),
    });
    await connection.flush();
    const gate = createGate();
    await closing.bus.serve(queue, { concurrency: 1, handler: gate.handler });
    const request = transport.bus.request(queue, job(), { deadline: lateDeadline() });
    await until(() => gate.received.length === 1, 'the job runs');
    const consumer = await transport.bus.serve(queue, {
      concurrency: 1,
      handler: async () => answerOf('second worker'),
    });
    await closing.close();
    assert.equal((await request).header, 'second worker');
    // Without a nak, the server would wait for the ack timeout.
    await until(() => acknowledgements.includes('-NAK'), 'the closed worker has sent a nak');
    assert.equal(gate.received[0]?.signal.aborted, true);
    gate.open();
    await consumer.drain();
    await connection.close();
    await transport.close();
  });

  it('ignores progress of an earlier attempt whose worker still runs', async () => {
    const transport = await connectAs('stalled-worker-test');
    const connection = await connect({ servers: server.url });
    const queue = newQueue();
    const subjects = new Set<string>();
    connection.subscribe(`${REPLY_PREFIX}.>`, { callback: (_error, message) => void subjects.add(message.subject) });
    await connection.flush();
    const received: unknown[] = [];
    const consumer = await transport.bus.serve(queue, {
      concurrency: 1,
      async handler({ attempt, progress }) {
        if (attempt === 1) throw new Error('the engine crashed');
        const [subject = ''] = subjects;
        for (const number of [1, 2]) {
          const notice: WorkerNotice = { kind: 'progress', attempt: number, report: JSON.stringify({ number }) };
          connection.publish(subject, encodeFrame(notice));
        }
        await until(() => received.length > 0, 'a report arrives');
        progress?.('own');
        await until(() => received.includes('own'), 'the report of the running attempt arrives');
        return answerOf(null);
      },
    });
    await transport.bus.request(queue, job(), {
      deadline: lateDeadline(),
      onProgress: (report) => void received.push(report),
    });
    assert.deepEqual(received, [{ number: 2 }, 'own']);
    await consumer.drain();
    await connection.close();
    await transport.close();
  });

  it('runs a job on its last attempt alone, so that a crash of the worker has only one possible cause', async () => {
    const transport = await connectAs('last-attempt-test');
    const queue = newQueue();
    const running = new Set<string>();
    const besideLastAttempt: string[] = [];
    let isLastAttempt = false;
    const waitingJobs = async (): Promise<number> => (await transport.bus.depth(queue)).pending;
    const runFailing = async (attempt: number): Promise<JobAnswer> => {
      if (attempt < TRANSPORT_LIMITS.maxDeliveries) {
        await until(() => running.size > 1, 'another job runs at the same time as an earlier attempt');
        throw new Error('the engine crashed');
      }
      isLastAttempt = true;
      besideLastAttempt.push(...[...running].filter((other) => other !== 'failing'));
      await until(async () => (await waitingJobs()) > 3, 'other jobs wait for a slot');
      isLastAttempt = false;
      return answerOf('last attempt');
    };
    const consumer = await transport.bus.serve(queue, {
      concurrency: 3,
      async handler({ message, attempt }) {
        const { name } = message.header as { name: string };
        if (isLastAttempt) besideLastAttempt.push(name);
        running.add(name);
        try {
          if (name === 'failing') return await runFailing(attempt);
          await sleep(20);
          return answerOf(name);
        } finally {
          running.delete(name);
        }
      },
    });
    const request = (name: string) =>
      transport.bus.request(queue, { ...job(), header: { name } }, { deadline: lateDeadline() });
    const others: Promise<JobAnswer>[] = [];
    let answered = false;
    const failing = request('failing').finally(() => {
      answered = true;
    });
    while (!answered) {
      others.push(request(`other ${others.length}`));
      await sleep(5);
    }
    assert.equal((await failing).header, 'last attempt');
    assert.deepEqual(besideLastAttempt, []);
    const names = (await Promise.all(others)).map(({ header }) => header);
    assert.deepEqual(
      names,
      names.map((_, index) => `other ${index}`),
    );
    await consumer.drain();
    await transport.close();
  });

  it('runs a job on its last attempt while an answer waits for a requester that has exited', async () => {
    const transport = await connectAs('held-answer-test');
    const queue = newQueue();
    const gate = createGate();
    await transport.bus.serve(queue, {
      concurrency: 2,
      async handler(delivery) {
        if (delivery.message.header !== 'failing') return gate.handler(delivery);
        if (delivery.attempt < TRANSPORT_LIMITS.maxDeliveries) throw new Error('the engine crashed');
        return answerOf('last attempt');
      },
    });
    const requester = startScript('waiting-requester.ts', [server.url, queue, '1']);
    await until(() => gate.received.length === 1, 'the job of the requester runs');
    requester.process.kill('SIGKILL');
    gate.open();
    const answer = await transport.bus.request(queue, { ...job(), header: 'failing' }, { deadline: lateDeadline() });
    assert.equal(answer.header, 'last attempt');
    await transport.close();
  });

  it('sends few naks while durable and volatile jobs wait for one slot', async () => {
    const transport = await connectAs('nak-test');
    const connection = await connect({ servers: server.url });
    const queue = newQueue();
    const count = 40;
    let naks = 0;
    for (const durability of DURABILITIES)
      connection.subscribe(`$JS.ACK.${jobStream(durability, queue)}.>`, {
        callback(_error, message) {
          if (message.string().startsWith('-NAK')) naks += 1;
        },
      });
    await connection.flush();
    const requests = Array.from({ length: count }, (_, index) =>
      transport.bus.request(queue, job(), { deadline: lateDeadline(), volatile: index % 2 === 1 }),
    );
    await until(async () => (await transport.bus.depth(queue)).pending === count, 'all jobs wait');
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: async () => answerOf(null) });
    await Promise.all(requests);
    await consumer.drain();
    await connection.flush();
    // A worker that kept a pull request on both streams for each job would return about one delivery for each job.
    assert.ok(naks < count / 4, `${naks} of ${count} deliveries were returned`);
    await connection.close();
    await transport.close();
  });

  it('cancels the running and the waiting jobs of a requester that closes', async () => {
    const requester = await connectAs('closing-requester');
    const transport = await connectAs('closing-requester-test');
    const queue = newQueue();
    const gate = createGate();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: gate.handler });
    const rejected = Promise.all(
      [job(), job()].map((each) =>
        assert.rejects(requester.bus.request(queue, each, { deadline: lateDeadline() }), {
          name: 'BusUnavailableError',
        }),
      ),
    );
    await until(() => gate.received.length === 1, 'one job runs');
    await until(async () => (await transport.bus.depth(queue)).pending === 1, 'one job waits');
    await requester.close();
    await rejected;
    const signal = gate.received[0]?.signal;
    await until(() => signal?.aborted === true, 'the handler is aborted');
    assert.match(String(signal?.reason), /the requester cancelled the job/, 'a cancellation, not a missed heartbeat');
    await until(async () => (await transport.bus.depth(queue)).pending === 0, 'the waiting job is removed');
    gate.open();
    await consumer.drain();
    await transport.close();
  });

  it('aborts the running job of a killed requester and never runs its waiting job', async () => {
    const transport = await connectAs('killed-requester-test');
    const queue = newQueue();
    const gate = createGate();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: gate.handler });
    const requester = startScript('waiting-requester.ts', [server.url, queue, '2']);
    await until(() => gate.received.length === 1, 'one job runs');
    await until(async () => (await transport.bus.depth(queue)).pending === 1, 'one job waits');
    requester.process.kill('SIGKILL');
    await until(() => gate.received[0]?.signal.aborted === true, 'the handler is aborted');
    gate.open();
    const last = job();
    assert.equal((await transport.bus.request(queue, last, { deadline: lateDeadline() })).header, 'done');
    assert.deepEqual(
      gate.received.slice(1).map(({ message }) => message.id),
      [last.id],
    );
    await consumer.drain();
    await transport.close();
  });
});
