// Contract: jobs run in the order of their requests, each in a free slot of a worker, and each request gets its answer.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { JobReturnedError } from '../../bus.ts';
import { answerOf, createGate, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { type Peers, serveOnWorker } from './peers.ts';

const EMPTY = new Uint8Array();

export function testRequests(peers: () => Peers): void {
  it('returns the header and the body of the handler for bodies up to the inline limit', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 4,
      handler: async ({ message, attempt }) => ({
        header: { received: message.header, id: message.id, attempt },
        body: Uint8Array.from(message.body).reverse(),
      }),
    });
    const header = { name: 'naïve ✓', list: [1, null] };
    for (const volatile of [false, true])
      for (const size of [0, 1, 4_097, TRANSPORT_LIMITS.inlinePayloadBytes]) {
        const message = job(randomBytes(size), header);
        let started = 0;
        const answer = await requester.bus.request(queue, message, {
          deadline: lateDeadline(),
          volatile,
          onStarted: () => void (started += 1),
        });
        assert.deepEqual(answer.header, { received: header, id: message.id, attempt: 1 });
        assert.equal(Buffer.compare(answer.body, Uint8Array.from(message.body).reverse()), 0);
        assert.equal(started, 1);
      }
    await consumer.drain();
  });

  it('runs at most as many jobs at once as the worker has slots', async () => {
    const { requester } = peers();
    const queue = newQueue();
    let running = 0;
    let most = 0;
    const twoRun = Promise.withResolvers<void>();
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 2,
      async handler() {
        most = Math.max(most, ++running);
        if (running === 2) twoRun.resolve();
        await twoRun.promise;
        await sleep(15);
        running -= 1;
        return answerOf(null);
      },
    });
    const requests = Array.from({ length: 20 }, (_, index) =>
      requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile: index % 2 === 0 }),
    );
    await Promise.all(requests);
    assert.equal(most, 2);
    await consumer.drain();
  });

  it('delivers jobs in the order of their requests', async () => {
    const { requester, worker } = peers();
    const queue = newQueue();
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const requests = numbers.map((number) =>
      requester.bus.request(queue, job(EMPTY, { number }), { deadline: lateDeadline() }),
    );
    await until(async () => (await requester.bus.depth(queue)).pending === numbers.length, 'all jobs wait');
    const order: unknown[] = [];
    const consumer = await worker.bus.serve(queue, {
      concurrency: 1,
      async handler({ message }) {
        order.push(message.header);
        return answerOf(null);
      },
    });
    await Promise.all(requests);
    assert.deepEqual(
      order,
      numbers.map((number) => ({ number })),
    );
    await consumer.drain();
  });

  it('runs durable and volatile jobs about equally often when both kinds wait for one slot', async () => {
    const { requester, worker } = peers();
    const queue = newQueue();
    const count = 16;
    const requests = Array.from({ length: count }, (_, index) =>
      requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile: index % 2 === 1 }),
    );
    await until(async () => (await requester.bus.depth(queue)).pending === count, 'all jobs wait');
    const started: boolean[] = [];
    const consumer = await worker.bus.serve(queue, {
      concurrency: 1,
      async handler({ volatile }) {
        started.push(volatile);
        return answerOf(null);
      },
    });
    await Promise.all(requests);
    const volatileInFirstHalf = started.slice(0, count / 2).filter((volatile) => volatile).length;
    assert.ok(
      volatileInFirstHalf >= count / 8 && volatileInFirstHalf <= (count * 3) / 8,
      `${volatileInFirstHalf} of the first ${count / 2} jobs were volatile`,
    );
    await consumer.drain();
  });

  it('runs each job once and shares the jobs between two workers', async () => {
    const { requester, worker } = peers();
    const queue = newQueue();
    const count = 12;
    const runs: [string[], string[]] = [[], []];
    // Each handler waits until the other worker also runs a job. If one worker ran all jobs, no request would be answered.
    let waiting: PromiseWithResolvers<void> | undefined;
    const waitForOtherWorker = async (): Promise<void> => {
      if (waiting) {
        waiting.resolve();
        waiting = undefined;
      } else {
        waiting = Promise.withResolvers<void>();
        await waiting.promise;
      }
    };
    const consumers = await Promise.all(
      [requester, worker].map((transport, index) =>
        transport.bus.serve(queue, {
          concurrency: 1,
          async handler({ message }) {
            runs[index]?.push(message.id);
            await waitForOtherWorker();
            return answerOf(null);
          },
        }),
      ),
    );
    await until(() => requester.bus.workers(queue) === 2, 'the requester counts both workers');
    const jobs = Array.from({ length: count }, () => job());
    await Promise.all(jobs.map((each) => requester.bus.request(queue, each, { deadline: lateDeadline() })));
    assert.deepEqual([...runs[0], ...runs[1]].sort(), jobs.map((each) => each.id).sort());
    assert.deepEqual([runs[0].length, runs[1].length], [count / 2, count / 2]);
    await Promise.all(consumers.map((consumer) => consumer.drain()));
  });

  it('redelivers a job after a failed attempt', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const attempts: number[] = [];
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ attempt }) {
        attempts.push(attempt);
        if (attempt < 3) throw new Error('the engine crashed');
        return answerOf('third attempt');
      },
    });
    const answer = await requester.bus.request(queue, job(), { deadline: lateDeadline() });
    assert.equal(answer.header, 'third attempt');
    assert.deepEqual(attempts, [1, 2, 3]);
    await consumer.drain();
  });

  it('redelivers a job that a worker returns, and does not count it as an attempt', async () => {
    const { requester } = peers();
    const queue = newQueue();
    let deliveries = 0;
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler() {
        deliveries += 1;
        if (deliveries <= 2 * TRANSPORT_LIMITS.maxDeliveries) throw new JobReturnedError('the disk is full');
        return answerOf('from a worker that can work');
      },
    });
    const answer = await requester.bus.request(queue, job(), { deadline: lateDeadline() });
    assert.equal(answer.header, 'from a worker that can work');
    await consumer.drain();
  });

  it('rejects with AbandonedError as soon as the last allowed attempt fails', async () => {
    const { requester } = peers();
    const queue = newQueue();
    let attempts = 0;
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 2,
      async handler() {
        attempts += 1;
        throw new Error('the engine crashed');
      },
    });
    for (const volatile of [false, true])
      await assert.rejects(requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile }), {
        name: 'AbandonedError',
      });
    assert.equal(attempts, 2 * TRANSPORT_LIMITS.maxDeliveries);
    await until(async () => {
      const { pending, running } = await requester.bus.depth(queue);
      return pending === 0 && running === 0;
    }, 'the queue is empty');
    await consumer.drain();
  });

  it('delivers a job that waited for the first worker of its queue', async () => {
    const { requester, worker } = peers();
    const queue = newQueue();
    const request = requester.bus.request(queue, job(), { deadline: lateDeadline() });
    await until(async () => (await requester.bus.depth(queue)).pending === 1, 'the job waits');
    const consumer = await worker.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('first worker') });
    assert.equal((await request).header, 'first worker');
    await consumer.drain();
  });

  it('drain removes the worker from the count, finishes the running job and accepts no new job', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const gate = createGate();
    const consumer = await serveOnWorker(peers(), queue, { concurrency: 1, handler: gate.handler });
    const running = requester.bus.request(queue, job(), { deadline: lateDeadline() });
    await until(() => gate.received.length === 1, 'the job runs');
    const drained = consumer.drain();
    await until(() => requester.bus.workers(queue) === 0, 'the worker is not counted');
    const later = requester.bus.request(queue, job(), { deadline: lateDeadline() });
    await until(async () => (await requester.bus.depth(queue)).pending === 1, 'the new job waits');
    gate.open();
    await drained;
    assert.equal((await running).header, 'done');
    assert.equal(gate.received.length, 1);
    const next = await requester.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('second worker') });
    assert.equal((await later).header, 'second worker');
    await next.drain();
  });
}
