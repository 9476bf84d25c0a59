// Remembers how long the recent documents of each team held their slots, from which the end of a running document is estimated.

/** Documents that are remembered for each team and kind of work, the latest ones. */
const SAMPLES = 256;
/** Lists that are remembered. The one that was not changed for the longest time is forgotten first. */
const LISTS = 2_000;
/** With fewer documents of its own, a team's estimate uses those of all teams too. */
const ENOUGH = 8;
/** Of the durations that fit, the one that 95 % do not exceed is the estimate. */
const QUANTILE = 0.95;

/** Durations in milliseconds, ascending. */
export type Durations = readonly number[];
/** The recent durations of one team, by kind of work. Empty if nothing is known. */
export type RecentDurations = (work: string) => Durations;

/** The estimate before any document has ended. */
export const NOTHING_KNOWN: RecentDurations = () => [];

/** In the memory of one gateway, because each gateway soon has enough documents of its own. */
export class ServiceTimes {
  readonly #lists = new Map<string, number[]>();

  /** Adds a document that has released its slot. @param durationMs how long it held the slot */
  add(team: string, work: string, durationMs: number): void {
    for (const name of [nameOf(team, work), nameOf(undefined, work)]) {
      const list = this.#lists.get(name) ?? [];
      list.push(durationMs);
      if (list.length > SAMPLES) list.shift();
      // The last key of a Map is the one that was set last.
      this.#lists.delete(name);
      this.#lists.set(name, list);
    }
    for (const name of this.#lists.keys()) {
      if (this.#lists.size <= LISTS) break;
      this.#lists.delete(name);
    }
  }

  /** The durations of a team, and those of all teams if it has few. */
  of(team: string): RecentDurations {
    const known = new Map<string, Durations>();
    return (work) => {
      const own = this.#lists.get(nameOf(team, work)) ?? [];
      const durations =
        known.get(work) ?? ascending(own.length >= ENOUGH ? own : this.#lists.get(nameOf(undefined, work)));
      known.set(work, durations);
      return durations;
    };
  }
}

const nameOf = (team: string | undefined, work: string): string => JSON.stringify([team ?? null, work]);
const ascending = (list: readonly number[] = []): Durations => [...list].sort((a, b) => a - b);

/**
 * The duration that a document does not exceed, with 95 % probability, if it is like the recent ones.
 * @param ageMs how long it runs already
 * @returns milliseconds from its start; infinity if the recent documents say nothing about one that is this old
 */
export function longestDuration(durations: Durations, ageMs: number): number {
  const longest = durations.at(-1);
  if (longest === undefined) return Number.POSITIVE_INFINITY;
  // It is one of those that run longer than it does now.
  const first = durations.findIndex((duration) => duration > ageMs);
  const count = first === -1 ? 0 : durations.length - first;
  const rank = Math.ceil(count * QUANTILE);
  if (rank < count) return durations[first + rank - 1] ?? longest;
  // The fewer there are, the likelier it is that a document exceeds the longest of them.
  const atMost = longest * (1 + 1 / (count + 1));
  return ageMs < atMost ? atMost : Number.POSITIVE_INFINITY;
}

/** Mean and variance of the durations above an age; undefined if there are too few. */
export function momentsAbove(durations: Durations, ageMs: number): { mean: number; variance: number } | undefined {
  const longer = durations.filter((duration) => duration > ageMs);
  if (longer.length < ENOUGH) return undefined;
  const mean = longer.reduce((sum, duration) => sum + duration, 0) / longer.length;
  const variance = longer.reduce((sum, duration) => sum + (duration - mean) ** 2, 0) / (longer.length - 1);
  return { mean, variance };
}
