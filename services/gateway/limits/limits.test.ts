// Tests the rate, concurrency and credit limits: the computations, and concurrent requests over shared state.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SharedState } from '#shared/bus/bus.ts';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { until, useFakeClock } from '../testing/clock.ts';
import { ConcurrencyLimiter } from './concurrency.ts';
import { addHold, holdCredit, parseCost, settleHold } from './credits.ts';
import { checkRate, enforceRate, wholeSeconds } from './rate.ts';
import { type Claim, claimSlot, NO_CLAIMS, releaseSlot, renewSlot, requestsAhead, type TeamClaims } from './slots.ts';
import { claimsKey } from './team-claims.ts';

const NOW = 1_700_000_000_000;

test('rate: allows a burst of one minute of requests, then one per interval, and reports the exact wait', () => {
  for (const perMinute of [1, 2, 7, 60, 6_000]) {
    let arrival: number | undefined;
    for (let i = 0; i < perMinute; i++) {
      const result = checkRate(arrival, NOW, perMinute);
      assert.equal(result.allowed, true, `request ${i + 1} of ${perMinute}`);
      arrival = result.arrival;
    }
    const rejected = checkRate(arrival, NOW, perMinute);
    assert.equal(rejected.allowed, false);
    assert.equal(rejected.arrival, arrival, 'a rejected request does not count');
    assert.ok(Math.abs(rejected.waitMs - 60_000 / perMinute) < 0.01);
    assert.equal(checkRate(arrival, NOW + rejected.waitMs - 1, perMinute).allowed, false, '1 ms too early');
    assert.equal(checkRate(arrival, NOW + wholeSeconds(rejected.waitMs) * 1_000, perMinute).allowed, true);
    assert.equal(
      checkRate(arrival, NOW + 120_000, perMinute).arrival,
      NOW + 120_000 + 60_000 / perMinute,
      'the burst does not grow while a key is idle',
    );
  }
  assert.deepEqual([0.2, 1, 999, 1_000, 1_001].map(wholeSeconds), [1, 1, 1, 1, 2]);
});

test('concurrency: the requests of one team fit into one message, also if the plan allows more', () => {
  const limits = { concurrency: 1_000, queue: 1_000_000 };
  let claims: TeamClaims = NO_CLAIMS;
  const states = new Map<string, number>();
  for (let request = 0; request <= TRANSPORT_LIMITS.teamRequests; request++) {
    const claimed = claimSlot(claims, claim(randomUUID(), { work: '.fodt' }), limits, NOW);
    claims = claimed.claims;
    states.set(claimed.result.state, (states.get(claimed.result.state) ?? 0) + 1);
  }
  assert.deepEqual(
    [...states],
    [
      ['held', 1_000],
      ['waiting', TRANSPORT_LIMITS.teamRequests - 1_000],
      ['rejected', 1],
    ],
  );
  const bytes = Buffer.byteLength(JSON.stringify(claims));
  assert.ok(bytes < TRANSPORT_LIMITS.messageBytes, `${bytes} bytes`);
});

test('rate: allows exactly the configured number of concurrent requests', async (t) => {
  useFakeClock(t);
  const { state, close } = createMemoryTransport();
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => enforceRate(state, 'k', 12)));
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 12);
  const rejected = results.find((result) => result.status === 'rejected')?.reason;
  assert.ok(rejected instanceof ParseError && rejected.code === 'RATE_LIMIT_EXCEEDED');
  assert.match(rejected.message, /^Rate limit exceeded.*wait/);
  assert.equal(rejected.retryAfterSeconds, 5);
  await enforceRate(state, 'another', 12);
  await close();
});

const claim = (id: string, extra: Partial<Claim> = {}): Claim => ({
  id,
  expires: NOW + 10_000,
  deadline: NOW + 30_000,
  work: '.pdf',
  ...extra,
});

test('slots: requests hold the free slots, then wait in order of arrival, then are rejected', () => {
  const limits = { concurrency: 2, queue: 2 };
  let claims: TeamClaims = NO_CLAIMS;
  const request = (id: string, extra: Partial<Claim> = {}) => {
    const claimed = claimSlot(claims, claim(id, extra), limits, NOW);
    claims = claimed.claims;
    return claimed.result;
  };
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => request(id, id === 'b' ? { deadline: NOW + 9_500 } : {}).state),
    ['held', 'held', 'waiting', 'waiting'],
  );
  assert.equal(request('e').state, 'rejected');
  claims = releaseSlot(claims, 'a');
  assert.equal(request('d').state, 'waiting', 'c is ahead of d');
  assert.equal(request('f').state, 'rejected', 'a new request does not overtake the queue');
  assert.equal(request('c').state, 'held');
  assert.equal(request('c').state, 'held', 'a repeated claim changes nothing');
  assert.equal(request('f').state, 'waiting');
});

test('slots: a request knows how many must end before it gets a slot', () => {
  const limits = { concurrency: 2, queue: 3 };
  let claims: TeamClaims = NO_CLAIMS;
  for (const id of ['a', 'b', 'c', 'd', 'e']) claims = claimSlot(claims, claim(id), limits, NOW).claims;
  const ahead = (ids: string) => [...ids].map((id) => requestsAhead(claims, limits, id, NOW));
  assert.deepEqual(ahead('abcdez'), [0, 0, 1, 2, 3, 4]);
  claims = releaseSlot(claims, 'a');
  assert.deepEqual(ahead('bcdez'), [0, 0, 1, 2, 3]);
});

test('slots: a claim becomes void when its lease expires or its deadline passes', () => {
  const limits = { concurrency: 1, queue: 0 };
  const held = claimSlot(NO_CLAIMS, claim('a'), limits, NOW).claims;
  assert.equal(claimSlot(held, claim('b'), limits, NOW + 9_999).result.state, 'rejected');
  assert.equal(claimSlot(held, claim('b'), limits, NOW + 10_000).result.state, 'held', 'the lease expired');
  const renewed = renewSlot(held, { ...claim('a'), expires: NOW + 100_000 });
  assert.equal(claimSlot(renewed, claim('b'), limits, NOW + 20_000).result.state, 'rejected');
  assert.equal(claimSlot(renewed, claim('b'), limits, NOW + 30_000).result.state, 'held', 'the deadline passed');
});

test('slots: a renewal claims a lost slot again, even above the limit', () => {
  const limits = { concurrency: 1, queue: 0 };
  const other = claimSlot(NO_CLAIMS, claim('b'), limits, NOW).claims;
  const both = renewSlot(other, claim('a'));
  assert.deepEqual(
    both.held.map(({ id }) => id),
    ['b', 'a'],
  );
  assert.equal(claimSlot(releaseSlot(both, 'b'), claim('c'), limits, NOW).result.state, 'rejected', 'a still runs');
  assert.equal(claimSlot(releaseSlot(releaseSlot(both, 'b'), 'a'), claim('c'), limits, NOW).result.state, 'held');
});

const HOUR_MS = 3_600_000;
const inAnHour = (): number => Date.now() + HOUR_MS;

async function waitingIds(state: SharedState, team: string): Promise<string[]> {
  const claims = (await state.get(claimsKey(team))) as TeamClaims | undefined;
  return claims?.waiting.map(({ id }) => id) ?? [];
}

test('concurrency: one slot is passed from request to request in order of arrival', async () => {
  const { state, close } = createMemoryTransport();
  const limiter = new ConcurrencyLimiter(state);
  const key = { team: 't', concurrency: 1, queue: 5 };
  const { signal } = new AbortController();
  const order: number[] = [];
  let running = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (i) => {
      const slot = await limiter.acquire(key, { id: `r${i}`, deadline: inAnHour(), work: '.pdf', signal });
      assert.equal(++running, 1, 'only one request runs');
      assert.equal(slot.queuedMs === undefined, i === 0);
      order.push(i);
      for (let turn = 0; turn < 5; turn++) await setImmediate();
      running--;
      await slot.release();
    }),
  );
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
  assert.equal(await state.get(claimsKey('t')), undefined, 'no claim is left');
  await close();
});

test('concurrency: rejects a request if the queue is full or its deadline passes, and a disconnect frees its queue position', async (t) => {
  const { state, close } = createMemoryTransport();
  const limiter = new ConcurrencyLimiter(state);
  const otherGateway = new ConcurrencyLimiter(state);
  const key = { team: 't', concurrency: 1, queue: 1 };
  const { signal } = new AbortController();
  const limitReached = (error: unknown): boolean => {
    assert.ok(error instanceof ParseError && error.code === 'CONCURRENCY_LIMIT_REACHED', String(error));
    assert.match(error.message, /^Concurrency limit reached/);
    assert.ok((error.retryAfterSeconds ?? 0) >= 1);
    return true;
  };
  const clock = useFakeClock(t);
  const first = await limiter.acquire(key, { id: 'a', deadline: inAnHour(), work: '.pdf', signal });
  await limiter.check(key);

  const client = new AbortController();
  const waiting = otherGateway.acquire(key, { id: 'b', deadline: inAnHour(), work: '.pdf', signal: client.signal });
  await until(async () => (await waitingIds(state, 't')).includes('b'));
  await assert.rejects(limiter.check(key), limitReached);
  await assert.rejects(limiter.acquire(key, { id: 'c', deadline: inAnHour(), work: '.pdf', signal }), limitReached);
  client.abort(new Error('disconnected'));
  await assert.rejects(waiting, /disconnected/);

  const late = assert.rejects(
    otherGateway.acquire(key, { id: 'd', deadline: Date.now() + 1_000, work: '.pdf', signal }),
    limitReached,
  );
  await until(async () => (await waitingIds(state, 't')).includes('d'));
  await clock.advance(1_000);
  await late;

  const next = otherGateway.acquire(key, { id: 'e', deadline: inAnHour(), work: '.pdf', signal });
  await until(async () => (await waitingIds(state, 't')).includes('e'));
  await first.release();
  // The release does not wake the other gateway. It finds the free slot when it polls.
  await clock.advance(100);
  await (await next).release();
  await close();
});

test('concurrency: a held slot is renewed until it is released', async (t) => {
  const { state, close } = createMemoryTransport();
  const clock = useFakeClock(t, { intervals: true });
  const limiter = new ConcurrencyLimiter(state);
  const key = { team: 't', concurrency: 1, queue: 0 };
  const { signal } = new AbortController();
  const slot = await limiter.acquire(key, { id: 'a', deadline: inAnHour(), work: '.pdf', signal });
  await clock.advance(30_000);
  await assert.rejects(limiter.check(key), { code: 'CONCURRENCY_LIMIT_REACHED' });
  await slot.release();
  await limiter.check(key);
  await close();
});

test('credits: a parse costs 1 per document, 1 per PDF page and 4 for json', () => {
  assert.equal(parseCost({ pdfPages: undefined, json: false }), 1);
  assert.equal(parseCost({ pdfPages: 3, json: false }), 4);
  assert.equal(parseCost({ pdfPages: 3, json: true }), 8);
});

test('credits: a hold counts as used until it is settled or expires', () => {
  const one = addHold({ used: 8, holds: {} }, 'a', 10, NOW);
  assert.ok(one);
  const two = addHold(one, 'b', 10, NOW);
  assert.ok(two);
  assert.equal(addHold(two, 'c', 10, NOW), undefined);
  assert.ok(addHold(two, 'c', 10, NOW + HOUR_MS), 'the holds have expired');
  assert.ok(addHold(settleHold(two, 'a', 0), 'c', 10, NOW), 'a failed request costs nothing');
  assert.equal(addHold(settleHold(two, 'a', 1), 'c', 10, NOW), undefined);
});

test('credits: runs at most as many requests as credits are left, and charges only a success', async () => {
  const { state, close } = createMemoryTransport();
  const key = { id: 'k', credits: 3 };
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => holdCredit(state, key, `r${i}`)));
  const holds = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(holds.length, 3);
  const rejected = results.find((result) => result.status === 'rejected')?.reason;
  assert.ok(rejected instanceof ParseError);
  assert.equal(rejected.message, 'Payment Required: Insufficient credits');
  await holds[0]?.charge(2);
  await holds[0]?.release();
  await holds[1]?.release();
  await holds[2]?.release();
  await (await holdCredit(state, key, 'again')).charge(1);
  await assert.rejects(holdCredit(state, key, 'empty'), rejected);
  await (await holdCredit(state, { id: 'u', credits: null }, 'x')).charge(1_000);
  await close();
});
