// Contract: shared state applies every concurrent update, and its values expire.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Peers } from './peers.ts';

/** Two processes measure the clock of a server on this machine, and differ by less than this. */
const CLOCK_ERROR_MS = 50;

export function testSharedState(peers: () => Peers): void {
  const increment = (current: unknown) => {
    const next = (typeof current === 'number' ? current : 0) + 1;
    return { next, result: next };
  };

  it('applies every update when eight processes update one key', async () => {
    const { bus, requester } = peers();
    const key = `counter:${randomUUID()}`;
    const writers = await Promise.all(Array.from({ length: 8 }, () => bus.connect()));
    const results = await Promise.all(
      writers.map(async ({ state }) => {
        const own: number[] = [];
        for (let round = 0; round < 50; round++) own.push(await state.update(key, increment, { ttlMs: 60_000 }));
        return own;
      }),
    );
    assert.equal(await requester.state.get(key), 400);
    assert.equal(new Set(results.flat()).size, 400, 'each update has its own result');
  });

  it('applies every update when one process updates one key concurrently', async () => {
    const { requester, worker } = peers();
    const key = `team/ü ${randomUUID()}`;
    await Promise.all(Array.from({ length: 100 }, () => requester.state.update(key, increment, { ttlMs: 60_000 })));
    assert.equal(await worker.state.get(key), 100);
    assert.equal(await worker.state.get(`${key}x`), undefined);
  });

  for (const [name, ttlMs] of [
    ['short', 120],
    ['long', TRANSPORT_LIMITS.stateMemoryTtlMs + 1],
  ] as const)
    it(`a value with a ${name} time to live expires when this time is over`, async (t) => {
      const { requester, worker } = peers();
      const key = `ttl:${randomUUID()}`;
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
      const result = await worker.state.update(key, () => ({ next: { a: [1] }, result: 'written' }), { ttlMs });
      assert.equal(result, 'written');
      t.mock.timers.tick(ttlMs - CLOCK_ERROR_MS);
      assert.deepEqual(await requester.state.get(key), { a: [1] });
      t.mock.timers.tick(2 * CLOCK_ERROR_MS);
      assert.equal(await requester.state.get(key), undefined);
      assert.equal(await requester.state.update(key, increment, { ttlMs }), 1, 'an update does not see the old value');
    });

  it('an update can keep a value, delete it, and create it again', async () => {
    const { requester, worker } = peers();
    const key = `lease:${randomUUID()}`;
    const options = { ttlMs: 60_000 };
    await requester.state.update(key, () => ({ next: ['a'], result: null }), options);
    const unchanged = await worker.state.update(key, (current) => ({ next: current, result: current }), options);
    assert.deepEqual(unchanged, ['a']);
    await worker.state.update(key, () => ({ next: undefined, result: null }), options);
    assert.equal(await requester.state.get(key), undefined);
    await requester.state.update(key, () => ({ next: undefined, result: null }), options);
    assert.equal(await requester.state.update(key, increment, options), 1);
    assert.equal(await worker.state.get(key), 1);
  });

  it('all processes have the same clock', () => {
    const { requester, worker } = peers();
    const difference = Math.abs(requester.state.now() - worker.state.now());
    assert.ok(difference < CLOCK_ERROR_MS, `the clocks differ by ${difference} ms`);
  });

  it('patience has no effect while the bus is available', async () => {
    const { state } = peers().requester;
    const key = `patience:${randomUUID()}`;
    const over = { until: Date.now() - 1_000, signal: AbortSignal.abort() };
    assert.equal(await state.update(key, increment, { ttlMs: 60_000, ...over }), 1);
    assert.equal(await state.get(key, over), 1);
  });

  it('rejects with the error that the change function throws', async () => {
    const failure = new Error('no');
    const change = (): never => {
      throw failure;
    };
    await assert.rejects(peers().requester.state.update('k', change, { ttlMs: 1_000 }), (error) => error === failure);
  });
}
