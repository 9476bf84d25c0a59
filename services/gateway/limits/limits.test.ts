// The arithmetic of rate, places and credits, and what many callers at once make of them over real shared state.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { createConcurrency } from './concurrency.ts';
import { claimCredit, holdCredit, parseCost, settleCredit } from './credits.ts';
import {
  type Claim,
  claimPlace,
  fullUntil,
  leavePlace,
  NO_CLAIMS,
  placeFreeAt,
  renewPlace,
  type TeamClaims,
} from './lease.ts';
import { judgeRate, takeRate, wholeSeconds } from './rate.ts';

const NOW = 1_700_000_000_000;

test('rate: a minute of requests at once, then one each interval, and the wait it names is true', () => {
  for (const perMinute of [1, 2, 7, 60, 6_000]) {
    let arrival: number | undefined;
    for (let i = 0; i < perMinute; i++) {
      const verdict = judgeRate(arrival, NOW, perMinute);
      assert.equal(verdict.allowed, true, `request ${i + 1} of ${perMinute}`);
      arrival = verdict.arrival;
    }
    const refused = judgeRate(arrival, NOW, perMinute);
    assert.equal(refused.allowed, false);
    assert.equal(refused.arrival, arrival, 'a refusal costs nothing');
    assert.ok(Math.abs(refused.waitMs - 60_000 / perMinute) < 0.01);
    assert.equal(judgeRate(arrival, NOW + refused.waitMs - 1, perMinute).allowed, false, 'sooner is too soon');
    assert.equal(judgeRate(arrival, NOW + wholeSeconds(refused.waitMs) * 1_000, perMinute).allowed, true);
    assert.equal(
      judgeRate(arrival, NOW + 120_000, perMinute).arrival,
      NOW + 120_000 + 60_000 / perMinute,
      'an idle key saves nothing up',
    );
  }
  assert.deepEqual([0.2, 1, 999, 1_000, 1_001].map(wholeSeconds), [1, 1, 1, 1, 2]);
});

test('rate: many callers at once get exactly the number', async () => {
  const { state, close } = createMemoryTransport();
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => takeRate(state, 'k', 12)));
  assert.equal(results.filter((one) => one.status === 'fulfilled').length, 12);
  const refused = results.find((one) => one.status === 'rejected')?.reason;
  assert.ok(refused instanceof ParseError && refused.code === 'RATE_LIMIT_EXCEEDED');
  assert.match(refused.message, /^Rate limit exceeded.*wait/);
  assert.equal(refused.retryAfterSeconds, 5);
  await takeRate(state, 'another', 12);
  await close();
});

const claim = (id: string, extra: Partial<Claim> = {}): Claim => ({
  id,
  expires: NOW + 10_000,
  deadline: NOW + 30_000,
  ...extra,
});

test('places: held to the number, then waiting in order, then refused until the first is surely over', () => {
  const limits = { concurrency: 2, queue: 2 };
  let claims: TeamClaims = NO_CLAIMS;
  const ask = (id: string, extra: Partial<Claim> = {}) => {
    const asked = claimPlace(claims, claim(id, extra), limits, NOW);
    claims = asked.claims;
    return asked.verdict;
  };
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => ask(id, id === 'b' ? { deadline: NOW + 9_500 } : {}).state),
    ['held', 'held', 'waiting', 'waiting'],
  );
  assert.deepEqual(ask('e'), { state: 'refused', freeAt: NOW + 9_500 });
  assert.equal(fullUntil(claims, limits, NOW), NOW + 9_500);
  assert.equal(placeFreeAt(claims, limits, 'd', NOW), NOW + 30_000, 'b is over first, and its place is for c');
  assert.equal(placeFreeAt(leavePlace(claims, 'c'), limits, 'd', NOW), NOW + 9_500, 'then it is for d');
  assert.equal(placeFreeAt(leavePlace(leavePlace(claims, 'c'), 'a'), limits, 'd', NOW), NOW, 'a place is free');
  claims = leavePlace(claims, 'a');
  assert.equal(ask('d').state, 'waiting', 'who came later stays behind');
  assert.equal(ask('f').state, 'refused', 'nobody overtakes the queue');
  assert.equal(ask('c').state, 'held');
  assert.equal(ask('c').state, 'held', 'asking again changes nothing');
  assert.equal(ask('f').state, 'waiting');
});

test('places: what is not renewed, or must be over, frees itself', () => {
  const limits = { concurrency: 1, queue: 0 };
  const held = claimPlace(NO_CLAIMS, claim('a'), limits, NOW).claims;
  assert.equal(claimPlace(held, claim('b'), limits, NOW + 9_999).verdict.state, 'refused');
  assert.equal(claimPlace(held, claim('b'), limits, NOW + 10_000).verdict.state, 'held', 'its gateway died');
  const renewed = renewPlace(held, { ...claim('a'), expires: NOW + 100_000 });
  assert.equal(claimPlace(renewed, claim('b'), limits, NOW + 20_000).verdict.state, 'refused');
  assert.equal(claimPlace(renewed, claim('b'), limits, NOW + 30_000).verdict.state, 'held', 'its deadline passed');
});

test('places: a place that the bus forgot is taken again at its renewal, even past the limit', () => {
  const limits = { concurrency: 1, queue: 0 };
  const stranger = claimPlace(NO_CLAIMS, claim('b'), limits, NOW).claims;
  const both = renewPlace(stranger, claim('a'));
  assert.deepEqual(
    both.held.map(({ id }) => id),
    ['b', 'a'],
  );
  assert.equal(claimPlace(leavePlace(both, 'b'), claim('c'), limits, NOW).verdict.state, 'refused', 'a is at work');
  assert.equal(claimPlace(leavePlace(leavePlace(both, 'b'), 'a'), claim('c'), limits, NOW).verdict.state, 'held');
});

test('places: many requests over shared state are let in one after the other in their order', async () => {
  const { state, close } = createMemoryTransport();
  const concurrency = createConcurrency(state);
  const key = { team: 't', concurrency: 1, queue: 5 };
  const signal = new AbortController().signal;
  const order: number[] = [];
  let running = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (i) => {
      const place = await concurrency.take(key, { id: `r${i}`, deadline: Date.now() + 10_000, signal });
      assert.equal(++running, 1, 'one at a time');
      assert.equal(place.waitedMs === undefined, i === 0);
      order.push(i);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      await place.release();
    }),
  );
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
  assert.equal(await state.get(`claims.${Buffer.from('t').toString('hex')}`), undefined, 'nothing is left behind');
  await close();
});

test('places: a full queue, a wait past the deadline and a client that leaves', async () => {
  const { state, close } = createMemoryTransport();
  const concurrency = createConcurrency(state);
  const other = createConcurrency(state);
  const key = { team: 't', concurrency: 1, queue: 1 };
  const signal = new AbortController().signal;
  const refused = (error: unknown): boolean => {
    assert.ok(error instanceof ParseError && error.code === 'CONCURRENCY_LIMIT_REACHED', String(error));
    assert.match(error.message, /^Concurrency limit reached/);
    assert.ok((error.retryAfterSeconds ?? 0) >= 1);
    return true;
  };
  const first = await concurrency.take(key, { id: 'a', deadline: Date.now() + 20_000, signal });
  await concurrency.check(key);
  const left = new AbortController();
  const waiting = other.take(key, { id: 'b', deadline: Date.now() + 20_000, signal: left.signal });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await assert.rejects(concurrency.check(key), refused);
  await assert.rejects(concurrency.take(key, { id: 'c', deadline: Date.now() + 20_000, signal }), refused);
  left.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
  await assert.rejects(other.take(key, { id: 'd', deadline: Date.now() + 50, signal }), refused);
  const next = other.take(key, { id: 'e', deadline: Date.now() + 20_000, signal });
  await first.release();
  await (await next).release();
  await close();
});

test('credits: the cost of a document, of pages and of json', () => {
  assert.equal(parseCost({ pdfPages: undefined, json: false }), 1);
  assert.equal(parseCost({ pdfPages: 3, json: false }), 4);
  assert.equal(parseCost({ pdfPages: 3, json: true }), 8);
});

test('credits: holds count until they are settled or void', () => {
  const one = holdCredit({ used: 8, holds: {} }, 'a', 10, NOW);
  assert.ok(one);
  const two = holdCredit(one, 'b', 10, NOW);
  assert.ok(two);
  assert.equal(holdCredit(two, 'c', 10, NOW), undefined);
  assert.ok(holdCredit(two, 'c', 10, NOW + 3_600_000), 'the holders died');
  assert.ok(holdCredit(settleCredit(two, 'a', 0), 'c', 10, NOW), 'a failure costs nothing');
  assert.equal(holdCredit(settleCredit(two, 'a', 1), 'c', 10, NOW), undefined);
});

test('credits: no more requests run than credits are left, and only success is charged', async () => {
  const { state, close } = createMemoryTransport();
  const key = { id: 'k', credits: 3 };
  const claims = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => claimCredit(state, key, `r${i}`)));
  const held = claims.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(held.length, 3);
  const refusal = claims.find((one) => one.status === 'rejected')?.reason;
  assert.ok(refusal instanceof ParseError);
  assert.equal(refusal.message, 'Payment Required: Insufficient credits');
  await held[0]?.charge(2);
  await held[0]?.release();
  await held[1]?.release();
  await held[2]?.release();
  await (await claimCredit(state, key, 'again')).charge(1);
  await assert.rejects(claimCredit(state, key, 'empty'), refusal);
  await (await claimCredit(state, { id: 'u', credits: null }, 'x')).charge(1_000);
  await close();
});
