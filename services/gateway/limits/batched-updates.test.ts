// Tests that the requests of a team share updates and reads of the shared state, because each of them costs time for every claim of the team.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SharedState } from '#shared/bus/bus.ts';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { until, useFakeClock } from '../testing/clock.ts';
import { BatchedUpdates } from './batched-updates.ts';
import { ConcurrencyLimiter } from './concurrency.ts';
import type { TeamClaims } from './slots.ts';
import { claimsKey } from './team-claims.ts';

const OPTIONS = { ttlMs: 60_000 };

/** A state that counts the calls. */
function counted(state: SharedState): { state: SharedState; calls: { get: number; update: number } } {
  const calls = { get: 0, update: 0 };
  return {
    calls,
    state: {
      ...state,
      get: (key) => {
        calls.get += 1;
        return state.get(key);
      },
      update: (...args) => {
        calls.update += 1;
        return state.update(...args);
      },
    },
  };
}

test('changes that arrive during an update are made in order, a hundred in one update', async () => {
  const transport = createMemoryTransport();
  const { state, calls } = counted(transport.state);
  const updates = new BatchedUpdates(state);
  const add = (item: number) =>
    updates.update(
      'k',
      (current) => {
        const list = [...((current as number[] | undefined) ?? []), item];
        return { next: list, result: list.length };
      },
      OPTIONS,
    );
  const items = Array.from({ length: 401 }, (_, index) => index);
  assert.deepEqual(
    await Promise.all(items.map(add)),
    items.map((item) => item + 1),
  );
  assert.deepEqual(await state.get('k'), items);
  assert.equal(calls.update, 1 + 4);
  await transport.close();
});

test('an update that fails rejects its own changes only', async () => {
  const failures = [new Error('first'), undefined];
  const updates = new BatchedUpdates({
    async update(_key, change) {
      await nextTurn();
      const failure = failures.shift();
      if (failure) throw failure;
      return change(0).result;
    },
  });
  const change = () => updates.update('k', () => ({ next: 1, result: 'done' }), OPTIONS);
  const [first, second, third] = await Promise.allSettled([change(), change(), change()]);
  assert.equal(first?.status === 'rejected' && first.reason.message, 'first');
  assert.deepEqual([second, third], Array(2).fill({ status: 'fulfilled', value: 'done' }));
});

test('a thousand waiting requests need few reads and updates', async (t) => {
  const clock = useFakeClock(t, { intervals: true });
  const transport = createMemoryTransport();
  const { state, calls } = counted(transport.state);
  const limiter = new ConcurrencyLimiter(state);
  const key = { team: 't', concurrency: 10, queue: 1_000 };
  let held = 0;
  const slots: { release(): Promise<void> }[] = [];
  for (let index = 0; index < 1_010; index++) {
    const request = {
      id: `r${index}`,
      deadline: Date.now() + 300_000,
      work: '.pdf',
      signal: new AbortController().signal,
    };
    void limiter.acquire(key, request).then((slot) => {
      held += 1;
      slots.push(slot);
    });
  }
  const claims = async () => (await transport.state.get(claimsKey('t'))) as TeamClaims | undefined;
  await until(async () => (await claims())?.waiting.length === 1_000);
  assert.ok(calls.update <= 15, `${calls.update} updates for the arrivals`);

  // Two renewals of every claim, and twelve seconds of looking for a free slot.
  Object.assign(calls, { get: 0, update: 0 });
  await clock.advance(12_000);
  await until(() => calls.update >= 4 * 11);
  assert.ok(calls.update <= 60, `${calls.update} updates`);
  assert.ok(calls.get <= 1_000, `${calls.get} reads`);
  assert.equal((await claims())?.waiting.length, 1_000, 'no claim has expired');

  Object.assign(calls, { get: 0, update: 0 });
  await slots.shift()?.release();
  await until(() => held === 11);
  // The last renewals may still run.
  assert.ok(calls.update <= 15 && calls.get <= 15, `${calls.update} updates and ${calls.get} reads for one release`);
  await transport.close();
});
