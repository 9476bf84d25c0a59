// Updates all metrics about one attempt at a job.
import type { Delivery } from '../bus/bus.ts';
import type { Job, OcrPage, RecordReport } from '../contract/jobs.ts';
import { PII_ENTITIES } from '../contract/options-schema.ts';
import type { QueueName } from '../contract/services.ts';
import {
  cancelledJobs,
  codeLabel,
  conversionDuration,
  conversions,
  formatLabel,
  jobDuration,
  jobs,
  jobsInFlight,
  ocrPageDuration,
  ocrPages,
  redactions,
  redeliveries,
} from './metrics.ts';

export class JobMetrics {
  readonly #queue: QueueName;
  readonly #delivery: Delivery;
  readonly #startedAt = performance.now();
  #outcome = 'OK';
  #emptyPage = false;
  #redirected = false;

  constructor(queue: QueueName, delivery: Delivery) {
    this.#queue = queue;
    this.#delivery = delivery;
    jobsInFlight.inc({ queue });
    if (delivery.attempt > 1) redeliveries.inc({ queue });
  }

  /** `OK`, or the error code. */
  get outcome(): string {
    return this.#outcome;
  }

  /** Records a reply. The reply comes from an isolated process that may be compromised, so every field is checked. */
  recordReply(job: Job, reply: unknown): void {
    if (job.kind === 'convert') this.#redirected = typeof reply === 'object' && reply !== null && 'queue' in reply;
    if (job.kind === 'ocr') this.#emptyPage = (reply as Partial<OcrPage> | undefined)?.lines?.length === 0;
    if (job.kind !== 'redact') return;
    const counts = (reply as Partial<RecordReport> | undefined)?.metadata?.piiRedactions;
    if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) return;
    for (const entity of PII_ENTITIES) {
      const count = counts[entity];
      if (typeof count === 'number' && count > 0) redactions.inc({ entity }, count);
    }
  }

  recordFailure(code: string): void {
    this.#outcome = codeLabel(code);
  }

  recordEnd(job: Job): void {
    const queue = this.#queue;
    const outcome = this.#outcome;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    jobsInFlight.dec({ queue });
    jobs.inc({ queue, outcome });
    jobDuration.observe({ queue }, seconds);
    if (this.#delivery.signal.aborted)
      cancelledJobs.inc({ queue, reason: Date.now() >= this.#delivery.deadline ? 'deadline' : 'cancelled' });
    if (job.kind === 'convert') {
      // The other queue converts the document, and counts it.
      if (this.#redirected) return;
      const format = formatLabel(job.extension);
      conversions.inc({ format, outcome });
      conversionDuration.observe({ format }, seconds);
    } else if (job.kind === 'ocr') {
      ocrPages.inc({ outcome: this.#emptyPage ? 'EMPTY' : outcome });
      ocrPageDuration.observe(seconds);
    }
  }
}
