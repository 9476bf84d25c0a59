// Limits how many documents of a team all gateways process at once: each holds a slot, and further requests wait in a queue.
import { DeadlineError, type SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { AFTER_DEADLINE_MS, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import type { Key } from '../auth/keys.ts';
import { wholeSeconds } from './rate.ts';
import {
  type Claim,
  type ClaimResult,
  claimSlot,
  countClaims,
  queueFullUntil,
  renewSlot,
  slotFreeAt,
} from './slots.ts';
import { TeamClaimsStore } from './team-claims.ts';

/** A claim that is not renewed for this long is void, so the slots of a crashed gateway become free. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
/** How often a waiting request checks for a slot that another gateway released. A release by this gateway wakes it at once. */
const POLL_MS = 100;
const STATE_TTL_MS = 6 * LEASE_MS;

type TeamKey = Pick<Key, 'team' | 'concurrency' | 'queue'>;

interface SlotRequest {
  /** Unique. */
  id: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

interface Slot {
  /** Milliseconds spent in the queue; undefined if a slot was free at once. */
  queuedMs: number | undefined;
  /** Repeated calls have no effect. */
  release(): Promise<void>;
}

const stateTimeout = (): Error => new DeadlineError('the shared state did not answer before the deadline');

function limitReached(key: TeamKey, freeAt: number, reason = `${key.queue} more are waiting`): ParseError {
  const retryAfterSeconds = wholeSeconds(freeAt - Date.now());
  const documents = `${key.concurrency} ${key.concurrency === 1 ? 'document' : 'documents'}`;
  return new ParseError(
    'CONCURRENCY_LIMIT_REACHED',
    `Concurrency limit reached: your team may process ${documents} at once, and ${reason}. Please wait ${retryAfterSeconds} s and send the request again.`,
    { retryAfterSeconds },
  );
}

export class ConcurrencyLimiter {
  readonly #claims: TeamClaimsStore;

  constructor(state: SharedState) {
    this.#claims = new TeamClaimsStore(state, STATE_TTL_MS);
  }

  /**
   * Rejects a request early, before its body is read, if the queue is full. Claims nothing.
   * @throws ParseError CONCURRENCY_LIMIT_REACHED
   */
  async check(key: TeamKey): Promise<void> {
    const claims = await this.#claims.read(key.team);
    const freeAt = queueFullUntil(claims, key, Date.now());
    if (freeAt !== undefined) throw limitReached(key, freeAt);
  }

  /** How many requests of a team hold a slot, and how many wait for one, in all gateways. */
  async usage(team: string): Promise<{ held: number; waiting: number }> {
    return countClaims(await this.#claims.read(team), Date.now());
  }

  /**
   * Acquires a slot, and waits for one until the deadline.
   * @throws ParseError CONCURRENCY_LIMIT_REACHED if the queue is full or no slot is free before the deadline; the abort reason of the signal;
   * DeadlineError if the shared state does not answer before the deadline; BusUnavailableError
   */
  async acquire(key: TeamKey, request: SlotRequest): Promise<Slot> {
    const start = Date.now();
    const result = await this.#firstClaim(key, request);
    if (result.state === 'rejected') throw limitReached(key, result.freeAt);
    if (result.state === 'waiting') await this.#waitInQueue(key, request, start);
    return this.#slot(key.team, request, result.state === 'waiting' ? Date.now() - start : undefined);
  }

  async #firstClaim(key: TeamKey, request: SlotRequest): Promise<ClaimResult> {
    try {
      return await this.#claim(key, request);
    } catch (error) {
      // Updates of one key run in order, so this release follows the claim even if the claim succeeds late.
      void this.#claims.release(key.team, request.id).catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the request holds a slot. Releases its queue position if it fails. */
  async #waitInQueue(key: TeamKey, request: SlotRequest, start: number): Promise<void> {
    const { team } = key;
    let claimedAt = start;
    try {
      for (;;) {
        await this.#claims.waitForRelease(team, pollDelay(request), request.signal);
        request.signal.throwIfAborted();
        const now = Date.now();
        const claims = await withDeadline(this.#claims.read(team), request.deadline + AFTER_DEADLINE_MS, stateTimeout);
        if (now >= request.deadline)
          throw limitReached(
            key,
            slotFreeAt(claims, key, request.id, now),
            "no slot became free within the request's `timeout`",
          );
        // Write only if a slot is free or the claim needs a renewal, because many writers of one key slow each other down.
        const renewalDue = now - claimedAt >= RENEW_MS;
        const free = claimSlot(claims, newClaim(request, now), key, now).result.state === 'held';
        if (!renewalDue && !free) continue;
        claimedAt = Date.now();
        const result = await this.#claim(key, request);
        if (result.state === 'held') return;
        if (result.state === 'rejected') throw limitReached(key, result.freeAt);
      }
    } catch (error) {
      await waitForCleanup(this.#claims.release(team, request.id), AFTER_DEADLINE_MS);
      throw error;
    }
  }

  /** Claims a slot or renews the claim. @throws DeadlineError */
  #claim(key: TeamKey, request: SlotRequest): Promise<ClaimResult> {
    const now = Date.now();
    const claim = newClaim(request, now);
    return withDeadline(
      this.#claims.update(key.team, (claims) => claimSlot(claims, claim, key, now)),
      request.deadline,
      stateTimeout,
    );
  }

  /** A held slot, whose lease is renewed until it is released. */
  #slot(team: string, request: SlotRequest, queuedMs: number | undefined): Slot {
    const renewal = setInterval(() => {
      const claim = newClaim(request, Date.now());
      // Ignore a failed renewal: the lease is longer than three renewal intervals.
      this.#claims
        .update(team, (claims) => ({ claims: renewSlot(claims, claim), result: undefined }))
        .catch(() => undefined);
    }, RENEW_MS).unref();
    let released = false;
    return {
      queuedMs,
      release: async () => {
        if (released) return;
        released = true;
        clearInterval(renewal);
        await this.#claims.release(team, request.id);
      },
    };
  }
}

function newClaim({ id, deadline }: SlotRequest, now: number): Claim {
  return { id, deadline, expires: now + LEASE_MS };
}

function pollDelay({ deadline }: SlotRequest): number {
  return Math.min(POLL_MS, Math.max(0, deadline - Date.now()));
}
