// Contract: deadlines and cancellation end requests and abort their handlers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { answerOf, inMs, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { type Peers, serveOnWorker } from './peers.ts';

const EMPTY = new Uint8Array();

export function testDeadlines(peers: () => Peers): void {
  it('rejects with DeadlineError at the deadline, aborts the handler and never runs a job that still waits', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const started: unknown[] = [];
    let aborted = 0;
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ message, signal }) {
        started.push(message.header);
        await once(signal, 'abort');
        aborted += 1;
        throw signal.reason;
      },
    });
    // On a slow machine, the job may not start before a short deadline. Then the test sends it again with a longer deadline.
    for (let timeoutMs = 400; started.length === 0; timeoutMs *= 2) {
      const running = requester.bus.request(queue, job(EMPTY, 'first'), { deadline: inMs(timeoutMs) });
      const waiting = requester.bus.request(queue, job(EMPTY, 'second'), { deadline: inMs(timeoutMs - 100) });
      await assert.rejects(waiting, { name: 'DeadlineError' });
      await assert.rejects(running, { name: 'DeadlineError' });
    }
    await until(() => aborted === started.length, 'the handler is aborted');
    await assert.rejects(requester.bus.request(queue, job(), { deadline: inMs(-1) }), { name: 'DeadlineError' });
    await consumer.drain();
    assert.ok(!started.includes('second'));
  });

  it('gives the handler the deadline of the request, and the handler of a second attempt the time that is left', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const deadlines: number[] = [];
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ deadline, attempt }) {
        deadlines.push(deadline);
        if (attempt === 1) throw new Error('the engine crashed');
        return answerOf(null);
      },
    });
    const deadline = lateDeadline();
    await requester.bus.request(queue, job(), { deadline });
    assert.equal(deadlines.length, 2);
    // The time that a message needs is added. It is far below this, also on a busy machine.
    for (const each of deadlines) assert.ok(Math.abs(each - deadline) < 5_000, `${each - deadline} ms`);
    await consumer.drain();
  });

  it('aborts the handler of a cancelled running job and never runs a cancelled waiting job', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const started: string[] = [];
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler({ message, signal }) {
        started.push(message.id);
        if (message.header === 'quick') return answerOf(null);
        await once(signal, 'abort');
        return answerOf('too late');
      },
    });
    const [cancelFirst, cancelSecond] = [new AbortController(), new AbortController()];
    const [first, second] = [job(), job()];
    const running = requester.bus.request(queue, first, { deadline: lateDeadline(), signal: cancelFirst.signal });
    await until(() => started.length === 1, 'the first job runs');
    const waiting = requester.bus.request(queue, second, { deadline: lateDeadline(), signal: cancelSecond.signal });
    await until(async () => (await requester.bus.depth(queue)).pending === 1, 'the second job waits');
    cancelSecond.abort();
    await assert.rejects(waiting, { name: 'CancelledError' });
    cancelFirst.abort();
    await assert.rejects(running, { name: 'CancelledError' });
    const quick = job(EMPTY, 'quick');
    await requester.bus.request(queue, quick, { deadline: lateDeadline() });
    assert.deepEqual(started, [first.id, quick.id]);
    await assert.rejects(
      requester.bus.request(queue, job(), { deadline: lateDeadline(), signal: cancelFirst.signal }),
      {
        name: 'CancelledError',
      },
    );
    await consumer.drain();
  });

  it('reports DeadlineError, not BusUnavailableError, when too little time is left to publish', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const consumer = await serveOnWorker(peers(), queue, { concurrency: 1, handler: async () => answerOf(null) });
    for (let round = 0; round < 20; round++)
      await requester.bus.request(queue, job(), { deadline: inMs(1) }).catch((error: Error) => {
        assert.equal(error.name, 'DeadlineError');
      });
    await consumer.drain();
  });

  it('rejects with NoWorkerError at the deadline, not earlier, if no worker serves the queue, and never runs the job', async () => {
    const { requester } = peers();
    const queue = newQueue();
    const sent = Date.now();
    await assert.rejects(requester.bus.request(queue, job(), { deadline: sent + 300 }), { name: 'NoWorkerError' });
    // The bus must wait for a first worker until the deadline. `setTimeout` may fire up to 1 ms early.
    assert.ok(Date.now() - sent >= 295);
    let runs = 0;
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      async handler() {
        runs += 1;
        return answerOf(null);
      },
    });
    await requester.bus.request(queue, job(), { deadline: lateDeadline() });
    assert.equal(runs, 1);
    await consumer.drain();
  });
}
