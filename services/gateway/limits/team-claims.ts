// Reads and updates a team's claims in the shared state, and wakes waiting requests of this gateway when a slot is released.
import type { SharedState } from '#shared/bus/bus.ts';
import { NO_CLAIMS, releaseSlot, type TeamClaims } from './slots.ts';

const parseClaims = (value: unknown): TeamClaims =>
  typeof value === 'object' && value !== null ? (value as TeamClaims) : NO_CLAIMS;
const isEmpty = (claims: TeamClaims): boolean => claims.held.length + claims.waiting.length === 0;

/** Key of a team's claims in the shared state. Hexadecimal, because a team name may contain any character. */
export const claimsKey = (team: string): string => `claims.${Buffer.from(team).toString('hex')}`;

export class TeamClaimsStore {
  readonly #state: SharedState;
  readonly #ttlMs: number;
  readonly #reads = new Map<string, Promise<TeamClaims>>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** @param ttlMs the claims of a team are deleted this long after their last change */
  constructor(state: SharedState, ttlMs: number) {
    this.#state = state;
    this.#ttlMs = ttlMs;
  }

  /** Reads the claims of a team. Concurrent calls share one read. */
  read(team: string): Promise<TeamClaims> {
    const pending = this.#reads.get(team);
    if (pending) return pending;
    const read = this.#state
      .get(claimsKey(team))
      .then(parseClaims)
      .finally(() => this.#reads.delete(team));
    this.#reads.set(team, read);
    return read;
  }

  /** Changes the claims of a team. @param change pure; it may run several times */
  update<T>(team: string, change: (claims: TeamClaims) => { claims: TeamClaims; result: T }): Promise<T> {
    return this.#state.update(
      claimsKey(team),
      (current) => {
        const { claims, result } = change(parseClaims(current));
        return { next: isEmpty(claims) ? undefined : claims, result };
      },
      { ttlMs: this.#ttlMs },
    );
  }

  /** Removes a claim and wakes the requests of this gateway that wait for a slot of the team. */
  async release(team: string, id: string): Promise<void> {
    await this.update(team, (claims) => ({ claims: releaseSlot(claims, id), result: undefined }));
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
        if (listeners.size === 0 && this.#listeners.get(team) === listeners) this.#listeners.delete(team);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      listeners.add(done);
    });
  }
}
