// Limits how often a running job reports its progress: the first report is sent at once, then the latest one per interval.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';

export class ProgressReports {
  readonly #send: (json: string) => void;
  /** JSON text of the latest report that is not sent yet. */
  #latest: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** @param send receives one report as JSON text; it must not throw */
  constructor(send: (json: string) => void) {
    this.#send = send;
  }

  /** Sends the report now or at the end of the interval, unless a later report replaces it. Ignores a report that is too large. */
  add(report: unknown): void {
    if (this.#ended) return;
    const json = JSON.stringify(report) ?? 'null';
    if (Buffer.byteLength(json) > TRANSPORT_LIMITS.progressBytes) return;
    this.#latest = json;
    if (!this.#timer) this.#sendLatest();
  }

  /** Sends no more reports. */
  end(): void {
    this.#ended = true;
    this.#latest = undefined;
    clearTimeout(this.#timer);
  }

  #sendLatest(): void {
    this.#timer = undefined;
    const json = this.#latest;
    if (json === undefined) return;
    this.#latest = undefined;
    this.#timer = setTimeout(() => this.#sendLatest(), TRANSPORT_LIMITS.progressIntervalMs);
    this.#send(json);
  }
}
