// Keeps an idle isolated process while all slots of a worker are used, so that a job in the spare slot does not wait for a start.
import { TRANSPORT_LIMITS } from '../../contract/limits.ts';

interface Pool {
  /** Number of processes, busy and idle. */
  readonly size: number;
  warm(): Promise<void>;
}

/** How often it looks whether an idle process is missing. Shorter work does not start one. */
const CHECK_MS = 2_000;
/** A pause between two jobs up to this length counts as work. */
const GAP_MS = 250;

export class SpareProcess {
  readonly #pool: Pool;
  readonly #concurrency: number;
  readonly #checkMs: number;
  #running = 0;
  #checks: NodeJS.Timeout | undefined;
  #gap: NodeJS.Timeout | undefined;

  constructor(pool: Pool, concurrency: number, { checkMs }: { checkMs: number } = { checkMs: CHECK_MS }) {
    this.#pool = pool;
    this.#concurrency = concurrency;
    this.#checkMs = checkMs;
  }

  /** A job starts. */
  begin(): void {
    this.#running += 1;
    if (this.#running < this.#concurrency) return;
    clearTimeout(this.#gap);
    this.#checks ??= setInterval(() => this.#check(), this.#checkMs).unref();
  }

  /** A job has ended. */
  end(): void {
    this.#running -= 1;
    if (this.#running < this.#concurrency) this.#gap = setTimeout(() => this.stop(), GAP_MS).unref();
  }

  /** Starts no more processes until all slots are used again. */
  stop(): void {
    clearTimeout(this.#gap);
    clearInterval(this.#checks);
    this.#checks = undefined;
  }

  #check(): void {
    const wanted = this.#concurrency + TRANSPORT_LIMITS.spareSlots;
    if (this.#pool.size < wanted) this.#pool.warm().catch(() => undefined);
  }
}
