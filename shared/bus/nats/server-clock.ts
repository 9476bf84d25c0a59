// Measures the clock of the NATS server, because the clocks of two machines may differ: all processes use this one for shared values.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { nuid } from '@nats-io/nats-core';
import { CLOCK_STREAM, clockSubject } from './topology.ts';

/** One comparison of the two clocks. */
interface Sample {
  /** Milliseconds that the server's clock is ahead of the clock of this machine. */
  offsetMs: number;
  /** The true offset differs from `offsetMs` by at most this: half of the round trip. */
  errorMs: number;
  /** Monotonic time of the sample, in milliseconds. */
  at: number;
}

/** Sampled in quick succession at the start, so that one slow round trip does not decide. */
const FIRST_SAMPLES = 3;
const KEPT_SAMPLES = 8;
const INTERVAL_MS = 10_000;
/** How far the two clocks may drift apart, as a fraction of the time. NTP tolerates 500 ppm. */
const DRIFT = 0.000_5;
/** The resolution of `Date.now()`, of both clocks. */
const RESOLUTION_MS = 2;

/**
 * Chooses the offset like NTP's clock filter: of the latest samples, the one with the shortest round trip. An earlier sample
 * that contradicts a later one by more than their errors is from before a clock was set, and is dropped.
 */
export class ClockFilter {
  #samples: Sample[] = [];

  add(sample: Sample): void {
    const agrees = (earlier: Sample): boolean => {
      const tolerance = earlier.errorMs + sample.errorMs + RESOLUTION_MS + DRIFT * (sample.at - earlier.at);
      return Math.abs(earlier.offsetMs - sample.offsetMs) <= tolerance;
    };
    this.#samples = [...this.#samples.filter(agrees), sample].slice(-KEPT_SAMPLES);
  }

  /** Milliseconds that the server's clock is ahead; undefined before the first sample. */
  offsetMs(): number | undefined {
    let best: Sample | undefined;
    for (const sample of this.#samples) if (!best || sample.errorMs <= best.errorMs) best = sample;
    return best?.offsetMs;
  }
}

interface ServerClockOptions {
  jetstream: JetStreamClient;
  manager: JetStreamManager;
  /** Whether the server can be asked now. */
  ready: () => boolean;
  onError: (err: unknown) => void;
}

/** The clock of the NATS server. */
export class ServerClock {
  readonly #options: ServerClockOptions;
  readonly #filter = new ClockFilter();
  readonly #subject = clockSubject(nuid.next());
  readonly #timer: NodeJS.Timeout;
  #measuring: Promise<void> | undefined;

  constructor(options: ServerClockOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.measure(1), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Epoch milliseconds on the server's clock; undefined if it was not measured yet. */
  now(): number | undefined {
    const offset = this.#filter.offsetMs();
    return offset === undefined ? undefined : Date.now() + offset;
  }

  /** Takes samples. Never rejects: without a sample, the earlier ones stay in use. */
  measure(count = FIRST_SAMPLES): Promise<void> {
    this.#measuring ??= this.#takeSamples(count)
      .catch(this.#options.onError)
      .finally(() => {
        this.#measuring = undefined;
      });
    return this.#measuring;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #takeSamples(count: number): Promise<void> {
    for (let taken = 0; taken < count && this.#options.ready(); taken++) {
      const start = { wall: Date.now(), monotonic: performance.now() };
      await this.#options.jetstream.publish(this.#subject, '');
      const at = performance.now();
      const roundTripMs = at - start.monotonic;
      // The clock of this machine was set in between.
      const wasSet = Math.abs(Date.now() - start.wall - roundTripMs) > RESOLUTION_MS + roundTripMs * DRIFT;
      // The acknowledgement has no time, but the stored message has: a server older than 2.10 sends its time nowhere else.
      const stored = await this.#options.manager.direct.getMessage(CLOCK_STREAM, { last_by_subj: this.#subject });
      if (!stored || wasSet) continue;
      const errorMs = roundTripMs / 2;
      this.#filter.add({ offsetMs: stored.time.getTime() - (start.wall + errorMs), errorMs, at });
    }
  }
}
