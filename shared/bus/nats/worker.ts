// The worker's side of work queues over JetStream: takes only what it can run, keeps the server told, and gives each job one clear end.
import { setTimeout as sleep } from 'node:timers/promises';
import { nuid, type Subscription } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Consumer, ServeOptions } from '../bus.ts';
import { decodeFrame } from './frame.ts';
import { HEARTBEAT_MS, runJob } from './job.ts';
import type { Link } from './link.ts';
import type { Presence } from './presence.ts';
import { cancelSubject, type JobEnvelope, readEnvelope } from './protocol.ts';
import { type PullResult, pullOne } from './pull.ts';
import type { TakenJob } from './taken.ts';
import { ensureConsumers, JOB_STREAMS } from './topology.ts';

/** How long one question for a job stands; drain waits for its end. */
const IDLE_PULL_MS = 500;
/** Cancelled jobs remembered, so that one cancelled on its way here is not started. */
const CANCELLED_KEPT = 10_000;

export interface ServingWorker extends Consumer {
  /** Stops at once: what runs is told to stop and goes to another worker. */
  close(): Promise<void>;
}

/** Serves a queue until drained. Resolves once the queue's consumers are there and the worker has announced itself. */
export async function startWorker(
  link: Link,
  presence: Presence,
  queue: string,
  options: ServeOptions,
): Promise<ServingWorker> {
  await ensureConsumers(link.manager, queue);
  const worker = new Worker(link, queue, options);
  const endAnnouncing = presence.announce(queue, nuid.next());
  return {
    async drain() {
      endAnnouncing();
      await worker.drain();
    },
    async close() {
      endAnnouncing();
      await worker.close();
    },
  };
}

/** Keeps a job while others run. Resolves at their end, or once it is cancelled. */
async function outlast(others: readonly Promise<void>[], job: TakenJob, signal: AbortSignal): Promise<void> {
  const heartbeat = setInterval(() => job.working(), HEARTBEAT_MS);
  const cancelled = Promise.withResolvers<void>();
  const onAbort = (): void => cancelled.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([Promise.all(others), cancelled.promise]);
  } finally {
    clearInterval(heartbeat);
    signal.removeEventListener('abort', onAbort);
  }
}

interface Running {
  job: TakenJob;
  controller: AbortController;
}

class Worker {
  readonly #link: Link;
  readonly #queue: string;
  readonly #options: ServeOptions;
  readonly #cancels: Subscription;
  readonly #endReturn: () => void;
  readonly #running = new Map<string, Running>();
  readonly #cancelled = new Set<string>();
  /** Jobs taken whose end (answer heard, acknowledged) is not reached; outlives the place in `#busy`. */
  readonly #open = new Set<Promise<void>>();
  /** Questions for a job that the server has not ended yet, by stream. */
  readonly #standing = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  #busy = 0;
  /** A job on its last attempt is here: it runs by itself, so that none dies often enough to be blamed for what another did. */
  #alone = false;
  #turn = 0;
  #stopped = false;
  /** The server may have come back without the consumers that it kept in memory. */
  #returned = false;
  #wake: () => void = () => undefined;

  constructor(link: Link, queue: string, options: ServeOptions) {
    this.#link = link;
    this.#queue = queue;
    this.#options = options;
    this.#cancels = link.connection.subscribe(cancelSubject(queue), {
      callback: (error, message) => {
        if (!error) this.#cancel(message.string());
      },
    });
    this.#endReturn = link.onReturn(() => {
      this.#returned = true;
      // The server has forgotten the questions of the connection that broke.
      this.#standing.clear();
      this.#wake();
    });
    this.#loop = this.#serve();
  }

  async drain(): Promise<void> {
    await this.#stop();
    while (this.#open.size + this.#standing.size > 0) await Promise.all([...this.#open, ...this.#standing.values()]);
    this.#cancels.unsubscribe();
  }

  async close(): Promise<void> {
    await this.#stop();
    for (const { job, controller } of this.#running.values()) {
      job.giveBack();
      controller.abort(new Error('the worker is closing'));
    }
    this.#cancels.unsubscribe();
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#loop;
    this.#endReturn();
  }

  async #serve(): Promise<void> {
    while (!this.#stopped && !this.#link.closed()) {
      try {
        if (this.#full()) await this.#change();
        else if (!this.#link.ready())
          await Promise.race([this.#link.whenReady(Date.now() + IDLE_PULL_MS), this.#change()]);
        else if (this.#returned) await this.#restore();
        else if (!(await this.#takeWaiting())) await this.#waitForOne();
      } catch (err) {
        this.#link.log.warn({ err, queue: this.#queue }, 'asking for jobs failed; trying again');
        await sleep(250);
      }
    }
  }

  /** Resolves at the next freed place, return of the connection, or drain. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Takes a job that is there already, if any. The two streams take turns at being asked first. */
  async #takeWaiting(): Promise<boolean> {
    this.#turn += 1;
    const streams = [JOB_STREAMS.durable, JOB_STREAMS.volatile];
    if (this.#turn % 2 === 0) streams.reverse();
    for (const stream of streams) {
      // A question that stands there would have been answered already.
      if (this.#standing.has(stream)) continue;
      const pulled = await this.#ask(stream, 0);
      if (pulled.job) return this.#accept(pulled.job);
    }
    return false;
  }

  /** Waits at both streams until one gives a job. With one free place both may: the second is given back. */
  async #waitForOne(): Promise<void> {
    if (this.#stopped || this.#returned || this.#full()) return;
    const change = this.#change();
    for (const stream of [JOB_STREAMS.durable, JOB_STREAMS.volatile])
      if (!this.#standing.has(stream)) this.#stand(stream);
    await change;
  }

  /** Puts one standing question, which ends with a job or without. */
  #stand(stream: string): void {
    const question = this.#ask(stream, IDLE_PULL_MS)
      .then((pulled) => {
        if (pulled.job) this.#accept(pulled.job);
        else if (pulled.missing) this.#returned = true;
      })
      .catch((err) => this.#link.log.warn({ err, queue: this.#queue }, 'asking for jobs failed; trying again'))
      .finally(() => {
        if (this.#standing.get(stream) === question) this.#standing.delete(stream);
        this.#wake();
      });
    this.#standing.set(stream, question);
  }

  #ask(stream: string, waitMs: number): Promise<PullResult> {
    return pullOne(this.#link, stream, this.#queue, waitMs, (job) => this.#accept(job));
  }

  async #restore(): Promise<void> {
    if (!this.#link.ready() || this.#stopped) return;
    await this.#link.repair();
    await ensureConsumers(this.#link.manager, this.#queue);
    this.#returned = false;
  }

  /** Starts a job, or gives it another end at once; tells whether it was started. */
  #accept(job: TakenJob): boolean {
    if (this.#stopped || this.#full()) {
      job.giveBack();
      return false;
    }
    let envelope: JobEnvelope;
    let body: Uint8Array;
    try {
      const frame = decodeFrame(job.data);
      envelope = readEnvelope(frame.header);
      body = frame.body;
    } catch (err) {
      this.#link.log.warn({ err, queue: this.#queue }, 'a message in the queue is no job; removed');
      job.drop();
      return false;
    }
    if (envelope.deadline <= Date.now() || this.#cancelled.delete(envelope.reply)) {
      job.drop();
      return false;
    }

    const alone = job.deliveries >= TRANSPORT_LIMITS.maxDeliveries;
    const others = alone ? [...this.#open] : [];
    this.#busy += 1;
    this.#alone ||= alone;
    const controller = new AbortController();
    const running: Running = { job, controller };
    this.#running.set(envelope.reply, running);
    const run = (): Promise<void> =>
      runJob(this.#link, job, envelope, body, controller, this.#options.handler, () => {
        this.#busy -= 1;
        if (alone) this.#alone = false;
        if (this.#running.get(envelope.reply) === running) this.#running.delete(envelope.reply);
        this.#wake();
      });
    const open = (others.length === 0 ? run() : outlast(others, job, controller.signal).then(run)).finally(() =>
      this.#open.delete(open),
    );
    this.#open.add(open);
    return true;
  }

  /** Takes no more for now. */
  #full(): boolean {
    return this.#alone || this.#busy >= this.#options.concurrency;
  }

  #cancel(reply: string): void {
    const running = this.#running.get(reply);
    if (running) {
      running.controller.abort(new Error('cancelled by the requester'));
      return;
    }
    this.#cancelled.add(reply);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > CANCELLED_KEPT && oldest !== undefined) this.#cancelled.delete(oldest);
  }
}
