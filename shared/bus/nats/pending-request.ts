// Tracks one request from its publication to its answer: attempts, deadline, cancellation, and republishing after a server restart.
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import {
  AbandonedError,
  BusUnavailableError,
  CancelledError,
  DeadlineError,
  type JobAnswer,
  NoWorkerError,
  type RequestOptions,
} from '../bus.ts';
import { msUntil } from '../deadline.ts';
import type { BusConnection } from './connection.ts';
import { cancelSubject, NOT_WANTED } from './protocol.ts';
import { type Durability, JOB_STREAMS, jobSubject } from './topology.ts';

const PUBLISH_TIMEOUT_MS = 2_000;
const PUBLISH_RETRY_BASE_MS = 50;
const PUBLISH_RETRY_MAX_MS = 1_000;

interface PendingRequestOptions {
  queue: string;
  /** The encoded job. */
  frame: Uint8Array;
  /** The subject on which workers answer. It also identifies the request. */
  reply: string;
  options: RequestOptions;
  hasWorkers: () => boolean;
  onSettled: () => void;
}

export class PendingRequest {
  readonly answer: Promise<JobAnswer>;
  readonly #connection: BusConnection;
  readonly #queue: string;
  readonly #frame: Uint8Array;
  readonly #reply: string;
  readonly #options: RequestOptions;
  readonly #durability: Durability;
  readonly #hasWorkers: () => boolean;
  readonly #hadWorkersAtStart: boolean;
  readonly #onSettled: () => void;
  readonly #promise = Promise.withResolvers<JobAnswer>();
  readonly #timer: NodeJS.Timeout;
  /** How long the request may take. */
  readonly #timeoutMs: number;
  /** Attempt numbers by delivery id. */
  readonly #attempts = new Map<string, number>();
  /** When a worker last sent a notice, in epoch milliseconds; 0 before the first notice. */
  #lastNoticeAt = 0;
  #sequence: number | undefined;
  #publishing = false;
  #settled = false;

  constructor(
    connection: BusConnection,
    { queue, frame, reply, options, hasWorkers, onSettled }: PendingRequestOptions,
  ) {
    this.#connection = connection;
    this.#queue = queue;
    this.#frame = frame;
    this.#reply = reply;
    this.#options = options;
    this.#durability = options.volatile ? 'volatile' : 'durable';
    this.#hasWorkers = hasWorkers;
    this.#hadWorkersAtStart = hasWorkers();
    this.#onSettled = onSettled;
    this.answer = this.#promise.promise;
    this.#timeoutMs = msUntil(options.deadline);
    this.#timer = setTimeout(() => this.reject(this.#deadlineError()), this.#timeoutMs);
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Publishes the job until the server acknowledges it, the request is settled, or the deadline passes. */
  async publish(): Promise<void> {
    if (this.#publishing) return;
    this.#publishing = true;
    const sequence = await this.#publishWithRetry();
    this.#publishing = false;
    this.#sequence = sequence ?? this.#sequence;
    if (this.#settled && sequence !== undefined) this.#withdraw();
  }

  /** Handles a worker's `start` notice. Returns the number of the attempt, or `NOT_WANTED` if all attempts are used. */
  start(delivery: string): number {
    this.#lastNoticeAt = Date.now();
    const known = this.#attempts.get(delivery);
    if (known !== undefined) return known;
    if (this.#attempts.size >= TRANSPORT_LIMITS.maxDeliveries) {
      const reason = `no worker answered in ${this.#attempts.size} attempts`;
      // No `withdraw`: the reply `NOT_WANTED` makes the worker remove the job.
      if (this.#settle()) this.#promise.reject(new AbandonedError(reason));
      return NOT_WANTED;
    }
    const attempt = this.#attempts.size + 1;
    this.#attempts.set(delivery, attempt);
    this.#options.onStarted?.();
    return attempt;
  }

  /** Handles a worker's `progress` notice. An earlier attempt may still run in a worker that was too slow; it is not heard. */
  progress(attempt: number, report: string): void {
    if (this.#settled || attempt !== this.#attempts.size || report.length > TRANSPORT_LIMITS.progressBytes) return;
    this.#lastNoticeAt = Date.now();
    this.#options.onProgress?.(JSON.parse(report));
  }

  /** Handles a worker's `working` notice. */
  working(): void {
    this.#lastNoticeAt = Date.now();
  }

  resolve(answer: JobAnswer): void {
    if (this.#settle()) this.#promise.resolve(answer);
  }

  reject(error: Error): void {
    if (!this.#settle()) return;
    this.#withdraw();
    this.#promise.reject(error);
  }

  /** Publishes a volatile job again after a reconnect, because the server may have restarted and lost its memory streams. */
  republish(): void {
    if (this.#durability === 'durable') return;
    const reconnectedAt = Date.now();
    // If a worker already started the job, wait for its next heartbeat before publishing the job again.
    const delayMs = this.#lastNoticeAt === 0 ? 0 : TRANSPORT_LIMITS.ackWaitMs;
    setTimeout(() => {
      if (!this.#settled && this.#lastNoticeAt < reconnectedAt) void this.publish();
    }, delayMs).unref();
  }

  readonly #onAbort = (): void => this.reject(new CancelledError('cancelled by the caller'));

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#onSettled();
    return true;
  }

  #deadlineError(): Error {
    const wasPublished = this.#sequence !== undefined;
    // With a shorter timeout, a missing acknowledgement does not mean that the bus is unavailable.
    const hadTimeToPublish = this.#timeoutMs >= PUBLISH_TIMEOUT_MS;
    if ((!wasPublished && hadTimeToPublish) || !this.#connection.ready())
      return new BusUnavailableError('the message bus is unavailable');
    if (!wasPublished) return new DeadlineError(`not enough time to send the job to ${this.#queue}`);
    if (this.#hadWorkersAtStart || this.#lastNoticeAt > 0 || this.#hasWorkers())
      return new DeadlineError(`no answer from ${this.#queue} in time`);
    return new NoWorkerError(`no worker serves ${this.#queue}`);
  }

  /** Returns the sequence number of the job in its stream, or undefined if it was not published. */
  async #publishWithRetry(): Promise<number | undefined> {
    const { deadline } = this.#options;
    for (let attempt = 1; !this.#settled && Date.now() < deadline; attempt++) {
      if (!(await this.#connection.whenReady(deadline)) || this.#settled) return undefined;
      try {
        const ack = await this.#connection.jetstream.publish(jobSubject(this.#durability, this.#queue), this.#frame, {
          // The server stores a message with the same id only once.
          msgID: this.#reply,
          timeout: PUBLISH_TIMEOUT_MS,
        });
        return ack.seq;
      } catch (err) {
        this.#connection.log.warn({ err, attempt }, 'a job could not be published; trying again');
        if (!(err instanceof JetStreamApiError)) await this.#connection.restoreStreams().catch(() => undefined);
        await sleep(Math.min(PUBLISH_RETRY_BASE_MS * 2 ** attempt, PUBLISH_RETRY_MAX_MS));
      }
    }
    return undefined;
  }

  /** Cancels the job at its worker and removes it from its stream. */
  #withdraw(): void {
    if (!this.#connection.ready()) return;
    this.#connection.nats.publish(cancelSubject(this.#queue), this.#reply);
    if (this.#sequence === undefined) return;
    this.#connection.manager.streams.deleteMessage(JOB_STREAMS[this.#durability], this.#sequence, false).catch(() => {
      // The job is already done, or the server is unavailable. In the second case, a worker that starts the job later gets
      // the reply `NOT_WANTED`, or the server deletes the job at its maximum age.
    });
  }
}
