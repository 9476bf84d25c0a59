// Reads and updates a team's claims in the shared state, and wakes waiting requests of this gateway when a slot is released.
import { setTimeout as sleep } from 'node:timers/promises';
import { BusUnavailableError, type Patience, type SharedState } from '#shared/bus/bus.ts';
import { BatchedUpdates } from './batched-updates.ts';
import { NO_CLAIMS, releaseSlot, type TeamClaims } from './slots.ts';

const RETRY_MS = 100;
/** A thousand waiting requests of a team need one read of its claims in this time, in milliseconds. */
const SNAPSHOT_MS = 50;

const parseClaims = (value: unknown): TeamClaims =>
  typeof value === 'object' && value !== null ? (value as TeamClaims) : NO_CLAIMS;
const isEmpty = (claims: TeamClaims): boolean => claims.held.length + claims.waiting.length === 0;

/** Key of a team's claims in the shared state. Hexadecimal, because a team name may contain any character. */
export const claimsKey = (team: string): string => `claims.${Buffer.from(team).toString('hex')}`;

export class TeamClaimsStore {
  readonly #state: SharedState;
  readonly #updates: BatchedUpdates;
  readonly #ttlMs: number;
  readonly #reads = new Map<string, Promise<TeamClaims>>();
  readonly #snapshots = new Map<string, { claims: TeamClaims; at: number }>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** @param ttlMs the claims of a team are deleted this long after their last change */
  constructor(state: SharedState, ttlMs: number) {
    this.#state = state;
    this.#updates = new BatchedUpdates(state);
    this.#ttlMs = ttlMs;
  }

  /** Reads the claims of a team. Concurrent calls share one read. Waits for the bus as long as `patience` says. */
  async read(team: string, { until = 0, signal }: Patience = {}): Promise<TeamClaims> {
    const end = signal && until === 0 ? Number.POSITIVE_INFINITY : until;
    for (;;)
      try {
        return await this.#readShared(team);
      } catch (error) {
        if (!(error instanceof BusUnavailableError) || signal?.aborted || Date.now() >= end) throw error;
        await sleep(RETRY_MS);
      }
  }

  /** The patience of one caller must not end the read of another, so each read has the same. */
  #readShared(team: string): Promise<TeamClaims> {
    const pending = this.#reads.get(team);
    if (pending) return pending;
    const read = this.#state
      .get(claimsKey(team))
      .then(parseClaims)
      .finally(() => this.#reads.delete(team));
    this.#reads.set(team, read);
    return read;
  }

  /** As `read`, or the result of a read at most `SNAPSHOT_MS` ago, after which this gateway released no slot of the team. */
  async readRecent(team: string, patience: Patience): Promise<TeamClaims> {
    const last = this.#snapshots.get(team);
    if (last && performance.now() - last.at < SNAPSHOT_MS) return last.claims;
    const claims = await this.read(team, patience);
    this.#snapshots.set(team, { claims, at: performance.now() });
    return claims;
  }

  /** Epoch milliseconds on the clock of the claims, which all gateways share. */
  now(): number {
    return this.#state.now();
  }

  /** Changes the claims of a team. @param change pure; it may run several times */
  update<T>(
    team: string,
    change: (claims: TeamClaims) => { claims: TeamClaims; result: T },
    patience: Patience = {},
  ): Promise<T> {
    return this.#updates.update(
      claimsKey(team),
      (current) => {
        const { claims, result } = change(parseClaims(current));
        return { next: isEmpty(claims) ? undefined : claims, result };
      },
      { ttlMs: this.#ttlMs, ...patience },
    );
  }

  /** Removes a claim and wakes the requests of this gateway that wait for a slot of the team. */
  async release(team: string, id: string): Promise<void> {
    await this.update(team, (claims) => ({ claims: releaseSlot(claims, id), result: undefined }));
    this.#snapshots.delete(team);
    for (const wake of this.#listeners.get(team) ?? []) wake();
  }

  /** Resolves when this gateway releases a slot of the team, after `timeoutMs`, or when the signal aborts. */
  waitForRelease(team: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#listeners.get(team) ?? new Set();
      this.#listeners.set(team, listeners);
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        listeners.delete(done);
        if (listeners.size === 0 && this.#listeners.get(team) === listeners) {
          this.#listeners.delete(team);
          this.#snapshots.delete(team);
        }
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      listeners.add(done);
    });
  }
}
