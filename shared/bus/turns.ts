// Decides whose job a worker starts next, so that a team's share of the slots does not depend on what other teams have queued.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';

/** The slots of one worker. A lane holds the jobs of one team. */
export class Turns {
  readonly #concurrency: number;
  /** Number of running jobs, by lane. */
  readonly #running = new Map<string, number>();
  /** When each lane last started a job, as a count of all starts. The order of the map is the order of the starts. */
  readonly #lastStart = new Map<string, number>();
  #starts = 0;
  #used = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Number of slots that are free for every lane. */
  free(): number {
    return Math.max(0, this.#concurrency - this.#used);
  }

  /** Whether no lane can start a job, not even in the spare slot. */
  full(): boolean {
    return this.#used >= this.#concurrency + TRANSPORT_LIMITS.spareSlots;
  }

  /** Whether a slot is free for the lane. Only a lane without a running job may use the spare slot. */
  mayStart(lane: string): boolean {
    return this.free() > 0 || (!this.full() && !this.#running.has(lane));
  }

  /**
   * The lane that starts the next job: of those that have a free slot, the one with the fewest running jobs, and of these the
   * one whose last start is the longest ago.
   */
  next(lanes: Iterable<string>): string | undefined {
    let best: { lane: string; running: number; lastStart: number } | undefined;
    for (const lane of lanes) {
      if (!this.mayStart(lane)) continue;
      const running = this.#running.get(lane) ?? 0;
      const lastStart = this.#lastStart.get(lane) ?? 0;
      if (!best || running < best.running || (running === best.running && lastStart < best.lastStart))
        best = { lane, running, lastStart };
    }
    return best?.lane;
  }

  start(lane: string): void {
    this.#used += 1;
    this.#running.set(lane, (this.#running.get(lane) ?? 0) + 1);
    this.#starts += 1;
    this.#lastStart.delete(lane);
    this.#lastStart.set(lane, this.#starts);
    const [oldest] = this.#lastStart.keys();
    if (this.#lastStart.size > TRANSPORT_LIMITS.teamTurns && oldest !== undefined) this.#lastStart.delete(oldest);
  }

  end(lane: string): void {
    this.#used -= 1;
    const running = (this.#running.get(lane) ?? 0) - 1;
    if (running > 0) this.#running.set(lane, running);
    else this.#running.delete(lane);
  }
}
