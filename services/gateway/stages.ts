// Measures how long each stage of a parse takes, for the `Server-Timing` header and the event stream.
import { STAGES, type Stage, type Timings } from '#shared/contract/progress.ts';

export class StageClock {
  readonly #milliseconds = new Map<Stage, number>();
  #stage: Stage | undefined = 'receive';
  #since = performance.now();

  /** Ends the current stage and starts this one. A stage that is entered again continues. */
  enter(stage: Stage | undefined): void {
    const now = performance.now();
    if (this.#stage)
      this.#milliseconds.set(this.#stage, (this.#milliseconds.get(this.#stage) ?? 0) + now - this.#since);
    this.#stage = stage;
    this.#since = now;
  }

  /** Milliseconds of each stage that has ended, with one decimal. */
  timings(): Timings {
    const rounded = (stage: Stage): number => Math.round((this.#milliseconds.get(stage) ?? 0) * 10) / 10;
    return Object.fromEntries(
      STAGES.filter((stage) => this.#milliseconds.has(stage)).map((stage) => [stage, rounded(stage)]),
    );
  }
}

/** The value of a `Server-Timing` header (W3C Server Timing). */
export function serverTiming(timings: Timings): string {
  return Object.entries(timings)
    .map(([stage, milliseconds]) => `${stage};dur=${milliseconds}`)
    .join(', ');
}
