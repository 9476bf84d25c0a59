// Contract: the progress that a handler reports reaches the requester before the answer, at a limited rate, and only from the running attempt.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Delivery } from '../../bus.ts';
import { answerOf, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { type Peers, serveOnWorker } from './peers.ts';

const EMPTY = new Uint8Array();

export function testProgress(peers: () => Peers): void {
  it('passes reports to the requester in their order, before the answer and never after it', async () => {
    const { requester } = peers();
    const queue = newQueue();
    let received: unknown[] = [];
    let latest: Delivery | undefined;
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler(delivery) {
        if (delivery.message.header === 'silent') return answerOf(null);
        latest = delivery;
        for (let page = 1; page <= 3; page++) {
          delivery.progress?.({ page });
          await until(() => received.length === page, `the requester receives report ${page}`);
        }
        delivery.progress?.({ page: 'in the same interval as page 3' });
        return answerOf('done');
      },
    });
    const onProgress = (report: unknown): void => void received.push(report);
    for (const volatile of [false, true]) {
      received = [];
      await requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile, onProgress });
      latest?.progress?.({ page: 'after the answer' });
      await sleep(2 * TRANSPORT_LIMITS.progressIntervalMs);
      // What was sent before this job has arrived when it is answered.
      await requester.bus.request(queue, job(EMPTY, 'silent'), { deadline: lateDeadline(), volatile, onProgress });
      assert.deepEqual(received, [{ page: 1 }, { page: 2 }, { page: 3 }]);
    }
    await consumer.drain();
  });

  it('sends the first of many quick reports and the latest one, and drops those in between', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const count = 20_000;
    const received: number[] = [];
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ progress }) {
        for (let report = 1; report <= count; report++) progress?.(report);
        await until(() => received.at(-1) === count, 'the requester receives the latest report');
        return answerOf(null);
      },
    });
    const startedAt = performance.now();
    await requester.bus.request(queue, job(), {
      deadline: lateDeadline(),
      onProgress: (report) => void received.push(report as number),
    });
    const intervals = (performance.now() - startedAt) / TRANSPORT_LIMITS.progressIntervalMs;
    assert.equal(received[0], 1);
    assert.ok(received.length <= intervals + 2, `${received.length} reports in ${intervals} intervals`);
    await consumer.drain();
  });

  it('reports each attempt of a job that is redelivered, and ignores reports of an attempt that has ended', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const received: unknown[] = [];
    const deliveries: Delivery[] = [];
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler(delivery) {
        const { attempt } = delivery;
        for (const earlier of deliveries) earlier.progress?.({ attempt: 'ended' });
        deliveries.push(delivery);
        delivery.progress?.({ attempt });
        await until(() => received.length === attempt, `the requester receives the report of attempt ${attempt}`);
        if (attempt < TRANSPORT_LIMITS.maxDeliveries) throw new Error('the engine crashed');
        return answerOf(null);
      },
    });
    await requester.bus.request(queue, job(), {
      deadline: lateDeadline(),
      onProgress: (report) => void received.push(report),
    });
    assert.deepEqual(received, [{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
    await consumer.drain();
  });

  it('passes a copy of the report, and drops a report that is too large', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const received: unknown[] = [];
    const report = { text: 'naïve ✓', list: [1], absent: undefined };
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ progress }) {
        progress?.('x'.repeat(TRANSPORT_LIMITS.progressBytes));
        progress?.(report);
        report.list.push(2);
        await until(() => received.length > 0, 'the requester receives a report');
        await sleep(2 * TRANSPORT_LIMITS.progressIntervalMs);
        return answerOf(null);
      },
    });
    await requester.bus.request(queue, job(), {
      deadline: lateDeadline(),
      onProgress: (one) => void received.push(one),
    });
    assert.deepEqual(received, [{ text: 'naïve ✓', list: [1] }]);
    await consumer.drain();
  });

  it('has no `progress` for a job whose requester does not want it', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      handler: async ({ progress }) => answerOf(typeof progress),
    });
    const answer = await requester.bus.request(queue, job(), { deadline: lateDeadline() });
    assert.equal(answer.header, 'undefined');
    await consumer.drain();
  });
}
