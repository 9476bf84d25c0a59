// Contract: the depth of a queue counts each job once and returns the age of the oldest waiting job.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { answerOf, createGate, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { type Peers, serveOnWorker } from './peers.ts';

export function testQueueDepth(peers: () => Peers): void {
  for (const volatile of [false, true])
    it(`returns how many ${volatile ? 'volatile' : 'durable'} jobs wait and run`, async () => {
      const { requester } = peers();
      const queue = newQueue();
      assert.deepEqual(await requester.bus.depth(queue), { pending: 0, running: 0, oldestMs: 0 });
      const gate = createGate();
      const consumer = await serveOnWorker(peers(), queue, { concurrency: 2, handler: gate.handler });
      const requests = Array.from({ length: 5 }, () =>
        requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile }),
      );
      try {
        await until(async () => {
          const { pending, running } = await requester.bus.depth(queue);
          return pending === 3 && running === 2;
        }, '3 jobs wait and 2 run');
      } finally {
        gate.open();
        await Promise.all(requests);
      }
      await until(async () => (await requester.bus.depth(queue)).running === 0, 'all jobs are acknowledged');
      await consumer.drain();
    });

  it('counts each job once when durable and volatile jobs wait for one slot', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const gate = createGate();
    const consumer = await serveOnWorker(peers(), queue, { concurrency: 1, handler: gate.handler });
    const requests = Array.from({ length: 4 }, (_, index) =>
      requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile: index % 2 === 1 }),
    );
    try {
      // A job counts as running as soon as the server delivers it. One more job may be delivered and returned, because the
      // worker has a pull request on both streams but only one slot.
      await until(async () => {
        const { pending, running } = await requester.bus.depth(queue);
        return gate.received.length > 0 && pending + running === 4 && (running === 1 || running === 2);
      }, '4 jobs are counted, 1 or 2 of them as running');
      assert.equal(gate.received.length, 1);
    } finally {
      gate.open();
      await Promise.all(requests);
    }
    await consumer.drain();
  });

  for (const volatile of [false, true])
    it(`returns the age of the oldest waiting ${volatile ? 'volatile' : 'durable'} job of each queue`, async () => {
      const { requester, worker } = peers();
      const [queue, otherQueue] = [newQueue(), newQueue()];
      const otherRequest = requester.bus.request(otherQueue, job(), { deadline: lateDeadline(), volatile });
      await until(async () => (await requester.bus.depth(otherQueue)).oldestMs >= 200, 'a job of another queue waits');
      const gate = createGate();
      const requests = [1, 2].map(() => requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile }));
      await until(async () => (await requester.bus.depth(queue)).oldestMs > 0, 'the jobs wait');
      const young = (await requester.bus.depth(queue)).oldestMs;
      const old = (await requester.bus.depth(otherQueue)).oldestMs;
      assert.ok(old > young, `the first job has waited for ${old} ms, the later jobs for ${young} ms`);
      const consumer = await serveOnWorker(peers(), queue, { concurrency: 2, handler: gate.handler });
      await until(async () => (await requester.bus.depth(queue)).running === 2, 'both jobs run');
      assert.equal((await requester.bus.depth(queue)).oldestMs, 0);
      gate.open();
      await Promise.all(requests);
      await consumer.drain();
      const last = await worker.bus.serve(otherQueue, { concurrency: 1, handler: async () => answerOf(null) });
      await otherRequest;
      await last.drain();
    });
}
