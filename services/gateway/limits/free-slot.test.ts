// Tests Retry-After of the concurrency limit: the estimates against simulated loads, whose true times are known, and a limiter with requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { useFakeClock } from '../testing/clock.ts';
import { ConcurrencyLimiter } from './concurrency.ts';
import { queueFullUntil, slotFreeAt } from './free-slot.ts';
import { NOTHING_KNOWN, ServiceTimes } from './service-times.ts';
import { type Claim, claimSlot, NO_CLAIMS, releaseSlot, type TeamClaims, type TeamLimits } from './slots.ts';

const NOW = 1_700_000_000_000;
const TIMEOUT_MS = 300_000;
const HANDOVER_MS = 100;
/** Refused requests of each simulation. */
const ESTIMATES = 300;

/** Deterministic random numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Load = (random: () => number) => number;
const exponential =
  (mean: number): Load =>
  (random) =>
    -mean * Math.log(1 - random());

/** How long the documents of a load hold their slots, in milliseconds. */
const LOADS: Readonly<Record<string, Load>> = {
  constant: () => 3_000,
  uniform: (random) => 500 + 3_500 * random(),
  exponential: exponential(2_000),
  'many short and few long': (random) => (random() < 0.9 ? 300 : 8_000),
  'a wide range': (random) => Math.min(200_000, 400 * Math.exp(4 * random())),
};

const PLANS: readonly TeamLimits[] = [
  { concurrency: 1, queue: 0 },
  { concurrency: 1, queue: 3 },
  { concurrency: 4, queue: 0 },
  { concurrency: 4, queue: 20 },
  { concurrency: 20, queue: 100 },
];

interface Estimate {
  toldMs: number;
  trueMs: number;
}

/** More requests arrive than the slots can serve. Every refused one gets an estimate, and one that waits at the end of the queue too. */
function simulate(load: Load, limits: TeamLimits, seed: number): { full: Estimate[]; slot: Estimate[] } {
  const random = randomNumbers(seed);
  const times = new ServiceTimes();
  const lengths = new Map<string, number>();
  const ends = new Map<string, number>();
  const estimates = { full: [] as Estimate[], slot: [] as Estimate[] };
  let claims: TeamClaims = NO_CLAIMS;
  let now = NOW;
  let ended = 0;
  const claimOf = (id: string): Claim => ({ id, work: '.pdf', expires: now + TIMEOUT_MS, deadline: now + TIMEOUT_MS });
  const claim = (id: string): boolean => {
    const old = claims.waiting.find((other) => other.id === id);
    const claimed = claimSlot(claims, old ?? claimOf(id), limits, now);
    claims = claimed.claims;
    if (claimed.result.state === 'held') ends.set(id, now + (lengths.get(id) ?? 0));
    return claimed.result.state !== 'rejected';
  };
  const endFirst = (): void => {
    const [id, end] = [...ends].reduce((first, other) => (other[1] < first[1] ? other : first));
    now = Math.max(now, end);
    times.add('t', '.pdf', end - (claims.held.find((other) => other.id === id)?.since ?? now));
    claims = releaseSlot(claims, id);
    ends.delete(id);
    ended += 1;
    for (const { id: next } of claims.waiting) claim(next);
  };
  for (let request = 0; estimates.full.length < ESTIMATES; request++) {
    const id = `r${request}`;
    lengths.set(id, load(random));
    if (claim(id)) continue;
    const situation = { claims, durations: times.of('t'), now };
    const [told, toldSlot] = [queueFullUntil(situation, limits), slotFreeAt(situation, limits, 'new')];
    assert.ok(told !== undefined, 'the estimate agrees with the refusal');
    // At the start of a load, only short documents have ended.
    if (ended > 30 + 10 * limits.concurrency) {
      estimates.full.push({ toldMs: told - now, trueMs: Math.min(...ends.values()) - now });
      estimates.slot.push({ toldMs: toldSlot - now, trueMs: timeToSlot(ends, claims, lengths, limits) - now });
    }
    // Some time passes, in which nothing may end.
    const first = Math.min(...ends.values());
    const later = now + (exponential(400)(random) * 4) / limits.concurrency;
    if (later < first) now = later;
    else endFirst();
  }
  return estimates;
}

/** When a slot is free after all requests of the queue have got one. */
function timeToSlot(
  ends: ReadonlyMap<string, number>,
  { waiting }: TeamClaims,
  lengths: ReadonlyMap<string, number>,
  { concurrency }: TeamLimits,
): number {
  const slots = [...ends.values()].sort((a, b) => a - b);
  assert.equal(slots.length, concurrency);
  for (const { id } of waiting) {
    const free = slots.shift() ?? 0;
    slots.push(free + HANDOVER_MS + (lengths.get(id) ?? 0));
    slots.sort((a, b) => a - b);
  }
  return slots[0] ?? 0;
}

const shareTrue = (list: readonly Estimate[]): number =>
  list.filter(({ toldMs, trueMs }) => toldMs >= trueMs).length / list.length;
const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;

for (const [name, load] of Object.entries(LOADS))
  test(`Retry-After under a simulated load (${name}): true for at least 9 of 10 clients, and not much too late`, () => {
    for (const [index, limits] of PLANS.entries()) {
      const { full, slot } = simulate(load, limits, index + 1);
      for (const [kind, list] of Object.entries({ full, slot })) {
        const label = `${kind}, ${JSON.stringify(limits)}`;
        assert.ok(shareTrue(list) >= 0.9, `${label}: ${shareTrue(list)} of the estimates are true`);
        const tooLate = median(list.map(({ toldMs, trueMs }) => toldMs - trueMs));
        const typical = median(list.map(({ trueMs }) => trueMs));
        assert.ok(tooLate <= Math.max(TIMEOUT_MS / 20, 3 * typical), `${label}: ${tooLate} ms after ${typical} ms`);
      }
    }
  });

const claimUntil = (id: string, deadline: number): Claim => ({ id, work: '.pdf', expires: NOW + 10_000, deadline });

test('Retry-After before any document has ended: the deadlines, by which each request has ended', () => {
  const limits = { concurrency: 2, queue: 2 };
  let claims: TeamClaims = NO_CLAIMS;
  for (const id of ['a', 'b', 'c', 'd'])
    claims = claimSlot(claims, claimUntil(id, id === 'b' ? NOW + 9_500 : NOW + 30_000), limits, NOW).claims;
  const without = (...ids: string[]) => ({
    claims: ids.reduce(releaseSlot, claims),
    durations: NOTHING_KNOWN,
    now: NOW,
  });
  assert.equal(queueFullUntil(without(), limits), NOW + 9_500 + HANDOVER_MS, 'c gets the slot of b');
  assert.equal(queueFullUntil(without('d'), limits), undefined, 'the queue has a free position');
  assert.equal(slotFreeAt(without(), limits, 'd'), NOW + 30_000, 'b ends first, but c gets its slot');
  assert.equal(slotFreeAt(without('c'), limits, 'd'), NOW + 9_500, 'without c, d gets the slot of b');
  assert.equal(slotFreeAt(without('c', 'a'), limits, 'd'), NOW, 'a slot is free');
});

test('Retry-After is never later than the deadlines', () => {
  const limits = { concurrency: 1, queue: 0 };
  const { claims } = claimSlot(NO_CLAIMS, claimUntil('a', NOW + 5_000), limits, NOW);
  const situation = { claims, durations: () => [60_000, 61_000], now: NOW };
  assert.equal(queueFullUntil(situation, limits), NOW + 5_000);
  assert.equal(slotFreeAt(situation, limits, 'b'), NOW + 5_000);
});

test('a limiter tells how long documents of this kind take, and a client that waits that long is let in', async (t) => {
  const clock = useFakeClock(t, { intervals: true });
  const { state, close } = createMemoryTransport();
  const limiter = new ConcurrencyLimiter(state);
  const key = { team: 't', concurrency: 1, queue: 0 };
  const { signal } = new AbortController();
  let started = 0;
  const start = (work: string) =>
    limiter.acquire(key, { id: `r${started++}`, deadline: Date.now() + TIMEOUT_MS, work, signal });
  const refusal = (): Promise<number> =>
    limiter.check(key).then(
      () => assert.fail('the request was accepted'),
      (error: unknown) => {
        assert.ok(error instanceof ParseError && error.code === 'CONCURRENCY_LIMIT_REACHED', String(error));
        return error.retryAfterSeconds ?? 0;
      },
    );
  for (let document = 0; document < 20; document++) {
    const slot = await start('.pdf');
    if (document === 0) assert.equal(await refusal(), TIMEOUT_MS / 1_000, 'nothing has ended yet');
    await clock.advance(document % 2 === 0 ? 2_400 : 2_900);
    await slot.release();
  }
  const slot = await start('.pdf');
  await clock.advance(500);
  assert.equal(await refusal(), 3);
  await clock.advance(2_300);
  await slot.release();
  await clock.advance(200);
  await (await start('.pdf')).release();

  await start('.doc');
  assert.equal(await refusal(), TIMEOUT_MS / 1_000, 'nothing is known about another kind of document');
  await close();
});
