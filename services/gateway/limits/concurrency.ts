// Limits how many documents of a team all gateways process at once: each holds a slot, and further requests wait in a queue.
import { DeadlineError, type Patience, type SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { AFTER_DEADLINE_MS, waitForCleanup, withDeadline } from '#shared/runtime/bounded-wait.ts';
import type { Key } from '../auth/keys.ts';
import { queueFullUntil, slotFreeAt } from './free-slot.ts';
import { wholeSeconds } from './rate.ts';
import { Renewals } from './renewals.ts';
import { ServiceTimes } from './service-times.ts';
import {
  type Claim,
  type ClaimResult,
  claimSlot,
  countClaims,
  renewSlot,
  requestsAhead,
  type TeamClaims,
} from './slots.ts';
import { TeamClaimsStore } from './team-claims.ts';

/** A claim that is not renewed for this long is void, so the slots of a crashed gateway become free. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
/** How often a waiting request checks for a slot that another gateway released. A release by this gateway wakes it at once. */
const POLL_MS = 100;
/** The same for a request with many others before it. */
const LONGEST_POLL_MS = 1_000;
const STATE_TTL_MS = 6 * LEASE_MS;

type TeamKey = Pick<Key, 'team' | 'concurrency' | 'queue'>;

interface SlotRequest {
  /** Unique. */
  id: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** What decides how long the document takes, for example `.pdf`. */
  work: string;
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

function limitReached(key: TeamKey, waitMs: number, reason = `${key.queue} more are waiting`): ParseError {
  const retryAfterSeconds = wholeSeconds(waitMs);
  const documents = `${key.concurrency} ${key.concurrency === 1 ? 'document' : 'documents'}`;
  return new ParseError(
    'CONCURRENCY_LIMIT_REACHED',
    `Concurrency limit reached: your team may process ${documents} at once, and ${reason}. Please wait ${retryAfterSeconds} s and send the request again.`,
    { retryAfterSeconds },
  );
}

export class ConcurrencyLimiter {
  readonly #claims: TeamClaimsStore;
  readonly #times = new ServiceTimes();
  readonly #renewals = new Renewals(RENEW_MS);

  constructor(state: SharedState) {
    this.#claims = new TeamClaimsStore(state, STATE_TTL_MS);
  }

  /**
   * Rejects a request early, before its body is read, if the queue is full. Claims nothing.
   * @throws ParseError CONCURRENCY_LIMIT_REACHED
   */
  async check(key: TeamKey, patience: Patience = {}): Promise<void> {
    const claims = await this.#claims.read(key.team, patience);
    const freeAt = this.#queueFullUntil(key, claims);
    if (freeAt !== undefined) throw limitReached(key, freeAt - this.#claims.now());
  }

  #queueFullUntil(key: TeamKey, claims: TeamClaims): number | undefined {
    return queueFullUntil({ claims, durations: this.#times.of(key.team), now: this.#claims.now() }, key);
  }

  /** How many requests of a team hold a slot, and how many wait for one, in all gateways. */
  async usage(team: string): Promise<{ held: number; waiting: number }> {
    return countClaims(await this.#claims.read(team), this.#claims.now());
  }

  /**
   * Acquires a slot, and waits for one until the deadline.
   * @throws ParseError CONCURRENCY_LIMIT_REACHED if the queue is full or no slot is free before the deadline; the abort reason of the signal;
   * DeadlineError if the shared state does not answer before the deadline; BusUnavailableError
   */
  async acquire(key: TeamKey, request: SlotRequest): Promise<Slot> {
    const start = Date.now();
    const result = await this.#firstClaim(key, request);
    if (result.state === 'rejected') throw this.#queueFull(key, result.claims);
    if (result.state === 'waiting') await this.#waitInQueue(key, request);
    return this.#slot(key.team, request, result.state === 'waiting' ? Date.now() - start : undefined);
  }

  /** The error for a claim that was rejected. */
  #queueFull(key: TeamKey, claims: TeamClaims): ParseError {
    const now = this.#claims.now();
    return limitReached(key, (this.#queueFullUntil(key, claims) ?? now) - now);
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
  async #waitInQueue(key: TeamKey, request: SlotRequest): Promise<void> {
    const { team } = key;
    let ahead = 1;
    // Ignore a failed renewal: the lease is longer than three renewal intervals.
    const stopRenewal = this.#renewals.add(team, () => void this.#claim(key, request).catch(() => undefined));
    try {
      for (;;) {
        await this.#claims.waitForRelease(team, pollDelay(request, ahead, key), request.signal);
        request.signal.throwIfAborted();
        const now = Date.now();
        const readEnd = request.deadline + AFTER_DEADLINE_MS;
        const read = this.#claims.readRecent(team, { until: readEnd, signal: request.signal });
        const claims = await withDeadline(read, readEnd, stateTimeout);
        const stateNow = this.#claims.now();
        if (now >= request.deadline)
          throw limitReached(
            key,
            slotFreeAt({ claims, durations: this.#times.of(team), now: stateNow }, key, request.id) - stateNow,
            "no slot became free within the request's `timeout`",
          );
        // Write only if a slot is free, because many writers of one key slow each other down.
        ahead = requestsAhead(claims, key, request.id, stateNow);
        if (ahead > 0) continue;
        const result = await this.#claim(key, request);
        if (result.state === 'held') return;
        if (result.state === 'rejected') throw this.#queueFull(key, result.claims);
      }
    } catch (error) {
      stopRenewal();
      await waitForCleanup(this.#claims.release(team, request.id), AFTER_DEADLINE_MS);
      throw error;
    } finally {
      stopRenewal();
    }
  }

  /** Claims a slot or renews the claim. @throws DeadlineError */
  #claim(key: TeamKey, request: SlotRequest): Promise<ClaimResult> {
    const { deadline, signal } = request;
    return withDeadline(
      // The claim is made when it is written, because its lease must not pass while the bus is away.
      this.#claims.update(key.team, (claims) => claimSlot(claims, this.#newClaim(request), key, this.#claims.now()), {
        until: deadline,
        signal,
      }),
      deadline,
      stateTimeout,
    );
  }

  /** A claim has times of the clock that all gateways share. The deadline of the request is on the clock of this machine. */
  #newClaim({ id, deadline, work }: SlotRequest): Claim {
    const now = this.#claims.now();
    return { id, deadline: now + deadline - Date.now(), work, expires: now + LEASE_MS };
  }

  /** A held slot, whose lease is renewed until it is released. */
  #slot(team: string, request: SlotRequest, queuedMs: number | undefined): Slot {
    const start = Date.now();
    const since = this.#claims.now();
    const stopRenewal = this.#renewals.add(team, () => {
      // Ignore a failed renewal: the lease is longer than three renewal intervals.
      this.#claims
        .update(team, (claims) => ({
          claims: renewSlot(claims, { ...this.#newClaim(request), since }),
          result: undefined,
        }))
        .catch(() => undefined);
    });
    let released = false;
    return {
      queuedMs,
      release: async () => {
        if (released) return;
        released = true;
        stopRenewal();
        this.#times.add(team, request.work, Date.now() - start);
        await this.#claims.release(team, request.id);
      },
    };
  }
}

/** At most all slots become free at the same time, so a request with more others before it may look less often. */
function pollDelay({ deadline }: SlotRequest, ahead: number, { concurrency }: TeamKey): number {
  const delay = Math.min(LONGEST_POLL_MS, POLL_MS * Math.max(1, Math.ceil(ahead / concurrency)));
  return Math.min(delay, Math.max(0, deadline - Date.now()));
}
