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
  StoreFullError,
} from '../bus.ts';
import { msUntil } from '../deadline.ts';
import { HEARTBEAT_MS } from './attempt.ts';
import type { BusConnection } from './connection.ts';
import { cancelSubject, encodeStartReply, NOT_WANTED, waitingMessage, waitingSubject } from './protocol.ts';
import { isFull, jobSubject, type LaneStream, laneOf } from './topology.ts';

const PUBLISH_TIMEOUT_MS = 2_000;
const PUBLISH_RETRY_BASE_MS = 50;
const PUBLISH_RETRY_MAX_MS = 1_000;
/** How long before the deadline the server is asked for a sign of life: a lost connection may not be noticed yet. */
const PROBE_MS = 250;
/** A running job whose worker sent no notice for this long has lost its worker, or its worker is cut off. */
const WORKER_SILENT_MS = 3 * HEARTBEAT_MS;

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
  readonly #lane: LaneStream;
  readonly #hasWorkers: () => boolean;
  readonly #hadWorkersAtStart: boolean;
  readonly #onSettled: () => void;
  readonly #promise = Promise.withResolvers<JobAnswer>();
  #timer: NodeJS.Timeout;
  /** How long the request may take. */
  readonly #timeoutMs: number;
  /** Attempt numbers by delivery id. */
  readonly #attempts = new Map<string, number>();
  /** Numbers of the attempts that an outage may have ended, or that a worker returned. They do not count against `maxDeliveries`. */
  readonly #uncounted = new Set<number>();
  /** When a worker last sent a notice, in epoch milliseconds; 0 before the first notice. */
  #lastNoticeAt = 0;
  /** Number of the job in its stream, while it is certain: a server that loses its store numbers the jobs from 1 again. */
  #sequence: number | undefined;
  #wasPublished = false;
  #publishing = false;
  #settled = false;
  #immediate: NodeJS.Immediate | undefined;

  constructor(
    connection: BusConnection,
    { queue, frame, reply, options, hasWorkers, onSettled }: PendingRequestOptions,
  ) {
    this.#connection = connection;
    this.#queue = queue;
    this.#frame = frame;
    this.#reply = reply;
    this.#options = options;
    this.#lane = { durability: options.volatile ? 'volatile' : 'durable', lane: laneOf(options.team) };
    this.#hasWorkers = hasWorkers;
    this.#hadWorkersAtStart = hasWorkers();
    this.#onSettled = onSettled;
    this.answer = this.#promise.promise;
    this.#timeoutMs = msUntil(options.deadline);
    this.#timer = setTimeout(() => this.#probeServer(), this.#timeoutMs - PROBE_MS);
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Publishes the job until the server acknowledges it, the request is settled, or the deadline passes. */
  async publish(): Promise<void> {
    if (this.#publishing) return;
    this.#publishing = true;
    const sequence = await this.#publishWithRetry();
    this.#publishing = false;
    if (sequence !== undefined) {
      this.#sequence = sequence;
      this.#wasPublished = true;
    }
    if (this.#settled && sequence !== undefined) this.#withdraw();
  }

  /** Handles a worker's `start` notice. Returns the reply: a `StartReply`, or `NOT_WANTED` if all attempts are used. */
  start(delivery: string): Uint8Array {
    this.#lastNoticeAt = Date.now();
    const attempt = this.#attempts.get(delivery) ?? this.#newAttempt(delivery);
    if (attempt === undefined) return NOT_WANTED;
    const isLast = this.#countedAttempts() >= TRANSPORT_LIMITS.maxDeliveries;
    return encodeStartReply({ attempt, remainingMs: msUntil(this.#options.deadline), isLast });
  }

  /** Returns the number of a new attempt, or undefined if all attempts are used. */
  #newAttempt(delivery: string): number | undefined {
    const failed = this.#countedAttempts();
    if (failed >= TRANSPORT_LIMITS.maxDeliveries) {
      const reason = `no worker answered in ${failed} attempts`;
      // No `withdraw`: the reply `NOT_WANTED` makes the worker remove the job.
      if (this.#settle()) this.#promise.reject(new AbandonedError(reason));
      return undefined;
    }
    const attempt = this.#attempts.size + 1;
    this.#attempts.set(delivery, attempt);
    this.#options.onStarted?.();
    return attempt;
  }

  #countedAttempts(): number {
    return this.#attempts.size - this.#uncounted.size;
  }

  /** Handles a worker's `progress` notice. An earlier attempt may still run in a worker that was too slow; it is not heard. */
  progress(attempt: number, report: string): void {
    if (this.#settled || attempt !== this.#attempts.size || report.length > TRANSPORT_LIMITS.progressBytes) return;
    this.#lastNoticeAt = Date.now();
    this.#options.onProgress?.(JSON.parse(report));
  }

  /** Handles a worker's `working` notice. */
  working(attempt: number): void {
    this.#lastNoticeAt = Date.now();
    // The job was delivered again while this worker was cut off. The attempt did not fail.
    if (attempt < this.#attempts.size) this.#uncounted.add(attempt);
  }

  /** Handles a worker's `returned` notice. */
  returned(attempt: number): void {
    this.#lastNoticeAt = Date.now();
    this.#uncounted.add(attempt);
  }

  resolve(answer: JobAnswer): void {
    if (this.#settle()) this.#promise.resolve(answer);
  }

  reject(error: Error): void {
    if (!this.#settle()) return;
    this.#withdraw();
    this.#promise.reject(error);
  }

  /**
   * Publishes the job again after a reconnect, because the server may have restarted and lost its streams: those in memory, or
   * all of them. If the stream still has the job, the server recognizes it by its message id.
   */
  republish(): void {
    const reconnectedAt = Date.now();
    this.#sequence = undefined;
    for (const attempt of this.#attempts.values()) this.#uncounted.add(attempt);
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
    clearImmediate(this.#immediate);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#onSettled();
    return true;
  }

  /** Ends the request at its deadline, with the error that is true then. */
  #probeServer(): void {
    const isAlive = this.#timeoutMs > 2 * PROBE_MS ? this.#connection.probe() : () => true;
    this.#timer = setTimeout(() => {
      // First reads what has arrived, because this process may have been busy.
      this.#immediate = setImmediate(() => this.reject(this.#deadlineError(isAlive())));
    }, msUntil(this.#options.deadline));
  }

  #deadlineError(serverIsAlive: boolean): Error {
    const wasPublished = this.#wasPublished;
    // With a shorter timeout, a missing acknowledgement does not mean that the bus is unavailable.
    const hadTimeToPublish = this.#timeoutMs >= PUBLISH_TIMEOUT_MS;
    if ((!wasPublished && hadTimeToPublish) || !this.#connection.ready() || !serverIsAlive)
      return new BusUnavailableError('the message bus is unavailable');
    if (!wasPublished) return new DeadlineError(`not enough time to send the job to ${this.#queue}`);
    if (this.#lastNoticeAt > 0 && Date.now() - this.#lastNoticeAt > WORKER_SILENT_MS)
      return new BusUnavailableError(`the worker of ${this.#queue} that runs the job is cut off from the message bus`);
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
        await this.#connection.ensureQueue(this.#queue);
        const { durability, lane } = this.#lane;
        const ack = await this.#connection.jetstream.publish(jobSubject(durability, this.#queue, lane), this.#frame, {
          // The server stores a message with the same id only once.
          msgID: this.#reply,
          timeout: PUBLISH_TIMEOUT_MS,
        });
        // After the acknowledgement, so that a worker that wakes up finds the job.
        this.#connection.nats.publish(waitingSubject(this.#queue), waitingMessage(this.#lane));
        return ack.seq;
      } catch (err) {
        if (isFull(err)) {
          this.reject(new StoreFullError(`the queue of ${this.#queue} is full`, { cause: err }));
          return undefined;
        }
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
    this.#connection.admin.deleteJob(this.#queue, this.#lane.durability, this.#sequence).catch(() => {
      // The job is already done, or the server is unavailable. In the second case, a worker that starts the job later gets
      // the reply `NOT_WANTED`, or the server deletes the job at its maximum age.
    });
  }
}
