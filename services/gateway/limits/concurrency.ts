// A team's places for documents at work, shared by every gateway: leases that die with their holder and a queue that lets in who came first.
import { DeadlineError, type SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { AFTER_DEADLINE_MS, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import type { Key } from '../auth/keys.ts';
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
import { wholeSeconds } from './rate.ts';

/** A claim that is not renewed for this long is void, so that a dead gateway's places free themselves. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
/** How often one who waits looks for a place that another gateway gave back; this gateway's own wake it at once. */
const LOOK_MS = 100;
const STATE_TTL_MS = 6 * LEASE_MS;

type TeamKey = Pick<Key, 'team' | 'concurrency' | 'queue'>;

/** A place held until released. */
export interface Place {
  /** Milliseconds waited in the queue; undefined where a place was free at once. */
  waitedMs: number | undefined;
  release(): Promise<void>;
}

export interface Concurrency {
  /**
   * Refuses early, before a body is read, what the queue has no room for. Takes nothing.
   * @throws ParseError CONCURRENCY_LIMIT_REACHED
   */
  check(key: TeamKey): Promise<void>;
  /**
   * Takes a place, waiting for one until the deadline.
   * @param request `deadline` in epoch milliseconds
   * @throws ParseError CONCURRENCY_LIMIT_REACHED where the queue is full or the wait reached the deadline; the signal's reason;
   * DeadlineError where the shared state does not answer by the deadline; BusUnavailableError
   */
  take(key: TeamKey, request: { id: string; deadline: number; signal: AbortSignal }): Promise<Place>;
}

function refusal(key: TeamKey, freeAt: number, why: string): ParseError {
  const retryAfterSeconds = wholeSeconds(freeAt - Date.now());
  return new ParseError(
    'CONCURRENCY_LIMIT_REACHED',
    `Concurrency limit reached: the team works on ${key.concurrency} ${key.concurrency === 1 ? 'document' : 'documents'} at once, and ${why}. Please wait ${retryAfterSeconds} s and send the request again.`,
    { retryAfterSeconds },
  );
}

const late = (): Error => new DeadlineError('the shared state did not answer by the deadline');
const readClaims = (value: unknown): TeamClaims =>
  typeof value === 'object' && value !== null ? (value as TeamClaims) : NO_CLAIMS;
const stateKey = (team: string): string => `claims.${Buffer.from(team).toString('hex')}`;
const isEmpty = (claims: TeamClaims): boolean => claims.held.length + claims.waiting.length === 0;

/** Concurrency over shared state. */
export function createConcurrency(state: SharedState): Concurrency {
  const wakers = new Map<string, Set<() => void>>();

  const change = <T>(team: string, compute: (claims: TeamClaims) => { claims: TeamClaims; result: T }): Promise<T> =>
    state.update(
      stateKey(team),
      (current) => {
        const { claims, result } = compute(readClaims(current));
        return { next: isEmpty(claims) ? undefined : claims, result };
      },
      { ttlMs: STATE_TTL_MS },
    );

  const looks = new Map<string, Promise<TeamClaims>>();
  /** The team's claims as they are; those who look at the same moment share one read. */
  const look = (team: string): Promise<TeamClaims> => {
    const under = looks.get(team);
    if (under) return under;
    const fresh = state
      .get(stateKey(team))
      .then(readClaims)
      .finally(() => looks.delete(team));
    looks.set(team, fresh);
    return fresh;
  };

  const leave = async (team: string, id: string): Promise<void> => {
    await change(team, (claims) => ({ claims: leavePlace(claims, id), result: undefined }));
    for (const wake of wakers.get(team) ?? []) wake();
  };

  /** Resolves when a place of the team was given back here, or after `ms`, or at the signal. */
  const pause = (team: string, ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const waiting = wakers.get(team) ?? new Set();
      wakers.set(team, waiting);
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        waiting.delete(done);
        if (waiting.size === 0 && wakers.get(team) === waiting) wakers.delete(team);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      waiting.add(done);
    });

  const hold = (team: string, id: string, deadline: number, waitedMs: number | undefined): Place => {
    const renewal = setInterval(() => {
      const claim: Claim = { id, expires: Date.now() + LEASE_MS, deadline };
      // A missed renewal is not the request's fault: the lease outlives two of them.
      change(team, (claims) => ({ claims: renewPlace(claims, claim), result: undefined })).catch(() => undefined);
    }, RENEW_MS).unref();
    let released = false;
    return {
      waitedMs,
      release: async () => {
        if (released) return;
        released = true;
        clearInterval(renewal);
        await leave(team, id);
      },
    };
  };

  return {
    async check(key) {
      const claims = await look(key.team);
      const freeAt = fullUntil(claims, key, Date.now());
      if (freeAt !== undefined) throw refusal(key, freeAt, `${key.queue} more are waiting`);
    },

    async take(key, { id, deadline, signal }) {
      const { team } = key;
      const start = Date.now();
      let asked = 0;
      const ask = () => {
        const now = Date.now();
        asked = now;
        const claim: Claim = { id, expires: now + LEASE_MS, deadline };
        return change(team, (claims) => {
          const { claims: next, verdict } = claimPlace(claims, claim, key, now);
          return { claims: next, result: verdict };
        });
      };
      const inTime = <T>(asked: Promise<T>): Promise<T> => withDeadline(asked, deadline, late);
      const first = await inTime(ask()).catch((error: unknown) => {
        // Changes of one key take turns, so this one follows the claim, should that still come through.
        void leave(team, id).catch(() => undefined);
        throw error;
      });
      if (first.state === 'refused') throw refusal(key, first.freeAt, `${key.queue} more are waiting`);
      if (first.state === 'held') return hold(team, id, deadline, undefined);
      try {
        for (;;) {
          await pause(team, Math.min(LOOK_MS, Math.max(0, deadline - Date.now())), signal);
          signal.throwIfAborted();
          const now = Date.now();
          const claims = await withDeadline(look(team), deadline + AFTER_DEADLINE_MS, late);
          if (now >= deadline)
            throw refusal(key, placeFreeAt(claims, key, id, now), "none was free within the request's `timeout`");
          // Only who would be let in, or whose claim grows old, writes: a hot key has few writers.
          const claim: Claim = { id, expires: now + LEASE_MS, deadline };
          const due = now - asked >= RENEW_MS;
          if (!due && claimPlace(claims, claim, key, now).verdict.state !== 'held') continue;
          const verdict = await inTime(ask());
          if (verdict.state === 'held') return hold(team, id, deadline, Date.now() - start);
          if (verdict.state === 'refused') throw refusal(key, verdict.freeAt, `${key.queue} more are waiting`);
        }
      } catch (error) {
        await waitForCleanup(leave(team, id), AFTER_DEADLINE_MS);
        throw error;
      }
    },
  };
}
