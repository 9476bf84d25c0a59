// Serves one queue: pulls jobs from JetStream while slots are free, runs them, and settles each delivery once.
import { setTimeout as sleep } from 'node:timers/promises';
import { nuid, type Subscription } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Consumer, ServeOptions } from '../bus.ts';
import { type Attempt, HEARTBEAT_MS, runAttempt } from './attempt.ts';
import type { BusConnection } from './connection.ts';
import type { JetStreamDelivery } from './delivery.ts';
import { decodeFrame } from './frame.ts';
import { cancelSubject, readEnvelope } from './protocol.ts';
import { pullOne } from './pull.ts';
import { ensureConsumers, JOB_STREAMS } from './topology.ts';
import type { WorkerRegistry } from './worker-registry.ts';

/** How long a pull request waits on the server. `drain` waits for its end. */
const PULL_WAIT_MS = 500;
/**
 * How long to wait for the answer to a pull request with `no_wait`. The server sends no answer if the only waiting job was
 * deleted a moment ago.
 */
const NO_WAIT_TIMEOUT_MS = 150;
const RETRY_MS = 250;
/** Number of cancelled requests to remember. A cancellation may arrive before its job. */
const MAX_CANCELLED = 10_000;

export interface ServingWorker extends Consumer {
  /** Stops at once: aborts the running jobs and returns them to the queue for another worker. */
  close(): Promise<void>;
}

/** Serves a queue until drained. Resolves when the queue's consumers exist and the worker has announced itself. */
export async function startWorker(
  connection: BusConnection,
  registry: WorkerRegistry,
  queue: string,
  options: ServeOptions,
): Promise<ServingWorker> {
  await ensureConsumers(connection.manager, queue);
  const worker = new Worker(connection, queue, options);
  const stopAnnouncing = registry.announce(queue, nuid.next());
  return {
    async drain() {
      stopAnnouncing();
      await worker.drain();
    },
    async close() {
      stopAnnouncing();
      await worker.close();
    },
  };
}

class Worker {
  readonly #connection: BusConnection;
  readonly #queue: string;
  readonly #options: ServeOptions;
  readonly #cancellations: Subscription;
  readonly #removeReconnectListener: () => void;
  /** Attempts whose handler has not ended, by reply subject. */
  readonly #running = new Map<string, Attempt>();
  /** Reply subjects of cancelled requests whose job has not arrived. */
  readonly #cancelled = new Set<string>();
  /** Attempts whose delivery is not settled. An attempt uses no slot while its answer is sent. */
  readonly #unsettled = new Set<Promise<void>>();
  /** Pull requests that wait on the server, by stream. */
  readonly #pulls = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  readonly #closed = Promise.withResolvers<void>();
  #usedSlots = 0;
  /**
   * A job on its last attempt runs alone in its worker. If the process crashes, this job is the cause, and no other job
   * loses its last attempt.
   */
  #runsLastAttempt = false;
  #firstStream: keyof typeof JOB_STREAMS = 'durable';
  #stopped = false;
  /** A server that restarts loses the consumers of the streams that it keeps in memory. */
  #consumersMayBeMissing = false;
  #wake: () => void = () => undefined;

  constructor(connection: BusConnection, queue: string, options: ServeOptions) {
    this.#connection = connection;
    this.#queue = queue;
    this.#options = options;
    this.#cancellations = connection.nats.subscribe(cancelSubject(queue), {
      callback: (error, message) => {
        if (!error) this.#cancel(message.string());
      },
    });
    this.#removeReconnectListener = connection.onReconnect(() => {
      this.#consumersMayBeMissing = true;
      // The server drops the pull requests of a connection that is lost.
      this.#pulls.clear();
      this.#wake();
    });
    this.#loop = this.#pullJobs();
  }

  async drain(): Promise<void> {
    await this.#stopPulling();
    // A pull request on a closed connection never ends, so `close` must end a running drain.
    await Promise.race([this.#settleAll(), this.#closed.promise]);
    this.#cancellations.unsubscribe();
  }

  async close(): Promise<void> {
    await this.#stopPulling();
    for (const { delivery, controller } of this.#running.values()) {
      delivery.nak();
      controller.abort(new Error('the worker is closing'));
    }
    this.#cancellations.unsubscribe();
    this.#closed.resolve();
  }

  async #settleAll(): Promise<void> {
    while (this.#unsettled.size + this.#pulls.size > 0)
      await Promise.all([...this.#unsettled, ...this.#pulls.values()]);
  }

  async #stopPulling(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#loop;
    this.#removeReconnectListener();
  }

  async #pullJobs(): Promise<void> {
    while (!this.#stopped && !this.#connection.closed()) {
      try {
        if (this.#isFull()) await this.#nextWake();
        else if (!this.#connection.ready())
          await Promise.race([this.#connection.whenReady(Date.now() + PULL_WAIT_MS), this.#nextWake()]);
        else if (this.#consumersMayBeMissing) await this.#restoreConsumers();
        else if (!(await this.#startWaitingJob())) await this.#waitForJob();
      } catch (err) {
        this.#connection.log.warn({ err, queue: this.#queue }, 'a pull request failed; trying again');
        await sleep(RETRY_MS);
      }
    }
  }

  /** Resolves when a slot becomes free, a pull request ends, the connection is ready again, or the worker stops. */
  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Starts a job that already waits. Alternates which stream is first, so that both streams get the same share of slots. */
  async #startWaitingJob(): Promise<boolean> {
    const { durable, volatile } = JOB_STREAMS;
    const streams = this.#firstStream === 'durable' ? [durable, volatile] : [volatile, durable];
    this.#firstStream = this.#firstStream === 'durable' ? 'volatile' : 'durable';
    for (const stream of streams) {
      // If a pull request still waits on the server, no job waits in the stream.
      if (this.#pulls.has(stream)) continue;
      if (await this.#startWithin(NO_WAIT_TIMEOUT_MS, this.#pull(stream, 0))) return true;
    }
    return false;
  }

  /** Returns whether the pull request starts a job within `ms`. A job that arrives later is started when it arrives. */
  async #startWithin(ms: number, pull: Promise<boolean>): Promise<boolean> {
    const timeout = Promise.withResolvers<boolean>();
    const timer = setTimeout(timeout.resolve, ms, false);
    try {
      return await Promise.race([pull, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Keeps a pull request on each stream and waits until `#wake` is called. Both streams may deliver a job while only one slot
   * is free. The worker then returns the second job to its queue.
   */
  async #waitForJob(): Promise<void> {
    if (this.#stopped || this.#consumersMayBeMissing || this.#isFull()) return;
    const wake = this.#nextWake();
    for (const stream of [JOB_STREAMS.durable, JOB_STREAMS.volatile])
      if (!this.#pulls.has(stream)) this.#keepPull(stream);
    await wake;
  }

  /** Sends a pull request that waits on the server, and wakes the loop at its end. */
  #keepPull(stream: string): void {
    const pull = this.#pull(stream, PULL_WAIT_MS)
      .catch((err) => this.#connection.log.warn({ err, queue: this.#queue }, 'a pull request failed; trying again'))
      .then(() => {
        if (this.#pulls.get(stream) === pull) this.#pulls.delete(stream);
        this.#wake();
      });
    this.#pulls.set(stream, pull);
  }

  /** Sends one pull request and starts the job that it delivers. Returns whether a job was started. */
  async #pull(stream: string, waitMs: number): Promise<boolean> {
    const result = await pullOne(this.#connection, stream, this.#queue, waitMs);
    if (result === 'no answer' && waitMs > 0) this.#consumersMayBeMissing = true;
    return typeof result === 'string' ? false : this.#start(result);
  }

  async #restoreConsumers(): Promise<void> {
    await this.#connection.restoreStreams();
    await ensureConsumers(this.#connection.manager, this.#queue);
    this.#consumersMayBeMissing = false;
  }

  /** Starts a job, or settles its delivery at once. Returns whether the job was started. */
  #start(delivery: JetStreamDelivery): boolean {
    if (this.#stopped || this.#isFull()) {
      delivery.nak();
      return false;
    }
    const attempt = this.#readAttempt(delivery);
    if (!attempt || attempt.envelope.deadline <= Date.now() || this.#cancelled.delete(attempt.envelope.reply)) {
      delivery.term();
      return false;
    }
    const { reply } = attempt.envelope;
    const isLastAttempt = delivery.deliveryCount >= TRANSPORT_LIMITS.maxDeliveries;
    const others = isLastAttempt ? [...this.#unsettled] : [];
    this.#usedSlots += 1;
    this.#runsLastAttempt ||= isLastAttempt;
    this.#running.set(reply, attempt);
    const freeSlot = (): void => {
      this.#usedSlots -= 1;
      if (isLastAttempt) this.#runsLastAttempt = false;
      if (this.#running.get(reply) === attempt) this.#running.delete(reply);
      this.#wake();
    };
    const run = (): Promise<void> => runAttempt(this.#connection, attempt, this.#options.handler, freeSlot);
    const settled = (others.length === 0 ? run() : waitForOthers(others, attempt).then(run)).finally(() =>
      this.#unsettled.delete(settled),
    );
    this.#unsettled.add(settled);
    return true;
  }

  /** Returns undefined if the message is not a job. */
  #readAttempt(delivery: JetStreamDelivery): Attempt | undefined {
    try {
      const { header, body } = decodeFrame(delivery.data);
      return { delivery, envelope: readEnvelope(header), body, controller: new AbortController() };
    } catch (err) {
      this.#connection.log.warn({ err, queue: this.#queue }, 'removed a message that is not a job from the queue');
      return undefined;
    }
  }

  /** Whether the worker cannot start another job now. */
  #isFull(): boolean {
    return this.#runsLastAttempt || this.#usedSlots >= this.#options.concurrency;
  }

  #cancel(reply: string): void {
    const attempt = this.#running.get(reply);
    if (attempt) {
      attempt.controller.abort(new Error('the requester cancelled the job'));
      return;
    }
    this.#cancelled.add(reply);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > MAX_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest);
  }
}

/** Sends heartbeats while an attempt waits. Resolves when the other attempts are settled or this job is cancelled. */
async function waitForOthers(others: readonly Promise<void>[], { delivery, controller }: Attempt): Promise<void> {
  const heartbeat = setInterval(() => delivery.inProgress(), HEARTBEAT_MS);
  const cancelled = Promise.withResolvers<void>();
  const onAbort = (): void => cancelled.resolve();
  controller.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([Promise.all(others), cancelled.promise]);
  } finally {
    clearInterval(heartbeat);
    controller.signal.removeEventListener('abort', onAbort);
  }
}
