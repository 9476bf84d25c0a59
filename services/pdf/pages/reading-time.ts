// Decides when the reading of pages ends, so that a document that takes too long is answered with the pages that are ready.
import { performance } from 'node:perf_hooks';
import type { JobContext } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';

/** At most this share of the time for the conversion is kept free. Without it, a short timeout would leave no time to read. */
const LARGEST_MARGIN = 0.5;
/** The longest delay of a timer, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A page that is not read before the time for reading ended. */
export class PageAbandonedError extends Error {
  override readonly name = 'PageAbandonedError';
}

export class ReadingTime {
  readonly #context: JobContext;
  /** When the conversion has to end, epoch milliseconds. */
  readonly #end: number;
  readonly #largestMargin: number;
  readonly #before = performance.eventLoopUtilization();
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #hasReadyPage = false;

  /** @param laterShare share (0 to 1) of the time until the deadline that later stages of the request need */
  constructor(context: JobContext, laterShare = 0) {
    const time = Math.max(0, context.deadline - Date.now()) * (1 - laterShare);
    this.#context = context;
    this.#end = Date.now() + time;
    this.#largestMargin = time * LARGEST_MARGIN;
    this.#watch();
  }

  /** Aborted when the time for reading is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Whether the time for reading is over. It is never over before the first page is ready. */
  isOver(): boolean {
    if (this.#hasReadyPage && Date.now() >= this.#stopAt() && !this.#context.signal.aborted) this.#over.abort();
    return this.#over.signal.aborted;
  }

  /** A page with text is ready. */
  pageReady(): void {
    this.#hasReadyPage = true;
    this.isOver();
  }

  /** Stops the timer. The time for reading cannot become over after that. */
  close(): void {
    clearTimeout(this.#timer);
    this.#hasReadyPage = false;
  }

  /** Epoch milliseconds. The more work was done so far, the longer the layout and the response will take. */
  #stopAt(): number {
    const { active } = performance.eventLoopUtilization(this.#before);
    const margin = DOCUMENT_LIMITS.pdfAnswerMs + active * DOCUMENT_LIMITS.pdfAnswerShare;
    return this.#end - Math.min(margin, this.#largestMargin);
  }

  #watch(): void {
    const left = this.#stopAt() - Date.now();
    if (left > 0) this.#timer = setTimeout(() => this.#watch(), Math.min(left, LONGEST_TIMER_MS)).unref();
    else this.isOver();
  }
}
