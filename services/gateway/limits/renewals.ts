// Renews all claims of a team at the same time, so that one update of the shared state contains them.

export class Renewals {
  readonly #intervalMs: number;
  /** By team: how each claim is renewed, and the timer of all of them. */
  readonly #teams = new Map<string, { claims: Set<() => void>; timer: NodeJS.Timeout }>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Calls `renew` once per interval. The first call may come earlier. @returns a function that stops this */
  add(team: string, renew: () => void): () => void {
    const entry = this.#teams.get(team) ?? this.#start(team);
    entry.claims.add(renew);
    return () => {
      entry.claims.delete(renew);
      if (entry.claims.size > 0 || this.#teams.get(team) !== entry) return;
      clearInterval(entry.timer);
      this.#teams.delete(team);
    };
  }

  #start(team: string): { claims: Set<() => void>; timer: NodeJS.Timeout } {
    const claims = new Set<() => void>();
    const timer = setInterval(() => {
      for (const renew of claims) renew();
    }, this.#intervalMs).unref();
    const entry = { claims, timer };
    this.#teams.set(team, entry);
    return entry;
  }
}
