// Contract: teams take turns in a queue, and long jobs of one team do not keep another team from a slot.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Delivery, JobAnswer } from '../../bus.ts';
import { answerOf, createGate, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { type Peers, serveOnWorker } from './peers.ts';

export function testFairness(peers: () => Peers): void {
  const request = (queue: string, team: string | undefined, volatile = false): Promise<JobAnswer> =>
    peers().requester.bus.request(queue, job(), {
      deadline: lateDeadline(),
      volatile,
      ...(team === undefined ? {} : { team }),
    });

  /** Queues jobs of several teams, one team after the other. Resolves when all of them wait. */
  async function queueJobs(queue: string, teams: readonly { team: string | undefined; count: number }[]) {
    const requests: Promise<JobAnswer>[] = [];
    for (const { team, count } of teams)
      for (let index = 0; index < count; index++) requests.push(request(queue, team, index % 2 === 1));
    const { bus } = peers().requester;
    await until(async () => (await bus.depth(queue)).pending === requests.length, 'all jobs wait');
    return requests;
  }

  it('passes the team of a request to the handler', async () => {
    const queue = newQueue();
    const handler = async ({ team }: Delivery) => answerOf({ team: team ?? null });
    const consumer = await serveOnWorker(peers(), queue, { concurrency: 1, handler });
    for (const team of ['Zoë & Co. > *', undefined])
      assert.deepEqual((await request(queue, team)).header, { team: team ?? null });
    await consumer.drain();
  });

  it('starts jobs of a team with few waiting jobs as often as those of a team with many', async () => {
    const queue = newQueue();
    const requests = await queueJobs(queue, [
      { team: 'many', count: 30 },
      { team: 'few', count: 4 },
      { team: undefined, count: 2 },
    ]);
    const starts: unknown[] = [];
    const consumer = await peers().worker.bus.serve(queue, {
      concurrency: 1,
      async handler({ team }) {
        starts.push(team);
        return answerOf(null);
      },
    });
    await Promise.all(requests);
    // Without turns, all jobs of `many` would start first.
    const lastOf = (team: string | undefined) => starts.lastIndexOf(team);
    assert.ok(lastOf('few') < 14, `the last job of \`few\` was number ${lastOf('few') + 1} of ${starts.length}`);
    assert.ok(lastOf(undefined) < 10, `the last job without a team was number ${lastOf(undefined) + 1}`);
    await consumer.drain();
  });

  it('starts a job of another team while long jobs of one team use all slots', async () => {
    const queue = newQueue();
    const gate = createGate();
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 2,
      handler: async (delivery) => (delivery.team === 'long' ? gate.handler(delivery) : answerOf('short')),
    });
    const long = Array.from({ length: 4 }, () => request(queue, 'long'));
    await until(() => gate.received.length === 2, 'jobs of one team use both slots');
    for (const team of ['one', 'other', undefined, 'one'])
      assert.equal((await request(queue, team)).header, 'short', `a job of ${team ?? 'no team'}`);
    assert.equal(gate.received.length, 2, 'the spare slot is not for the team that uses the other slots');
    gate.open();
    await Promise.all(long);
    await consumer.drain();
  });

  it('gives each team a slot before any team gets a second one', async () => {
    const queue = newQueue();
    const teams = ['a', 'b', 'c', 'd'];
    const requests = await queueJobs(
      queue,
      teams.map((team) => ({ team, count: 4 })),
    );
    const gate = createGate();
    const concurrency = teams.length - TRANSPORT_LIMITS.spareSlots;
    const consumer = await peers().worker.bus.serve(queue, { concurrency, handler: gate.handler });
    await until(() => gate.received.length === teams.length, 'all slots are used');
    assert.deepEqual(gate.received.map(({ team }) => team).sort(), teams);
    gate.open();
    await Promise.all(requests);
    await consumer.drain();
  });

  it('runs at most one job more than the worker has slots, however many teams wait', async () => {
    const queue = newQueue();
    const requests = await queueJobs(
      queue,
      Array.from({ length: 12 }, (_, index) => ({ team: `team ${index}`, count: 2 })),
    );
    let running = 0;
    let most = 0;
    const allRun = Promise.withResolvers<void>();
    const consumer = await peers().worker.bus.serve(queue, {
      concurrency: 2,
      async handler() {
        most = Math.max(most, ++running);
        if (running > 2) allRun.resolve();
        await allRun.promise;
        await new Promise((resolve) => setTimeout(resolve, 10));
        running -= 1;
        return answerOf(null);
      },
    });
    await Promise.all(requests);
    assert.equal(most, 2 + TRANSPORT_LIMITS.spareSlots);
    await consumer.drain();
  });

  it('redelivers a failed job of a team while other teams have waiting jobs', async () => {
    const queue = newQueue();
    const requests = await queueJobs(queue, [{ team: 'busy', count: 12 }]);
    const started: string[] = [];
    const failing = request(queue, 'failing');
    const consumer = await peers().worker.bus.serve(queue, {
      concurrency: 1,
      async handler({ team, attempt }) {
        started.push(`${team} ${attempt}`);
        if (team === 'failing' && attempt < TRANSPORT_LIMITS.maxDeliveries) throw new Error('the engine crashed');
        return answerOf({ attempt });
      },
    });
    assert.deepEqual((await failing).header, { attempt: TRANSPORT_LIMITS.maxDeliveries });
    await Promise.all(requests);
    await consumer.drain();
  });
}
