// Serves one queue: pulls jobs from its lanes in turn while slots are free, runs them, and settles each delivery once.
import { setTimeout as sleep } from 'node:timers/promises';
import { nuid, type Subscription } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Consumer, ServeOptions } from '../bus.ts';
import { Turns } from '../turns.ts';
import { type Attempt, HEARTBEAT_MS, runAttempt } from './attempt.ts';
import type { BusConnection } from './connection.ts';
import type { JetStreamDelivery } from './delivery.ts';
import { decodeFrame } from './frame.ts';
import { keyOf, LaneConsumers, type LaneTurn, WaitingLanes } from './lanes.ts';
import { cancelSubject, readEnvelope, readWaiting, waitingMessage, waitingSubject } from './protocol.ts';
import { pullOne } from './pull.ts';
import { type Durability, jobStream, type LaneStream } from './topology.ts';
import type { RunningJobs, WorkerRegistry } from './worker-registry.ts';

/** How long to wait for the answer to a pull before other lanes are served. */
const PULL_TIMEOUT_MS = 150;
const RETRY_MS = 250;
/** Pause before a worker asks a gateway again for the streams of its queue. */
const QUEUE_RETRY_MS = 1_000;
/** Number of cancelled requests to remember. A cancellation may arrive before its job. */
const MAX_CANCELLED = 10_000;

export interface ServingWorker extends Consumer {
  /** Stops at once: aborts the running jobs and returns them to the queue for another worker. */
  close(): Promise<void>;
}

/** Serves a queue until drained. Resolves when the queue's streams exist and the worker has announced itself. */
export async function startWorker(
  connection: BusConnection,
  registry: WorkerRegistry,
  queue: string,
  options: ServeOptions,
): Promise<ServingWorker> {
  await untilQueueExists(connection, queue);
  const worker = new Worker(connection, queue, options);
  const announcer = registry.announce(queue, nuid.next(), () => worker.running());
  return {
    async drain() {
      announcer.drain();
      await worker.drain();
      announcer.stop();
    },
    async close() {
      announcer.stop();
      await worker.close();
    },
  };
}

/** Waits for a gateway, which creates the streams of the queue. */
async function untilQueueExists(connection: BusConnection, queue: string): Promise<void> {
  for (;;)
    try {
      return await connection.ensureQueue(queue);
    } catch (err) {
      if (connection.closed()) throw err;
      connection.log.warn({ err, queue }, 'the streams of the queue could not be created; trying again');
      await sleep(QUEUE_RETRY_MS);
    }
}

class Worker {
  readonly #connection: BusConnection;
  readonly #queue: string;
  readonly #options: ServeOptions;
  readonly #subscriptions: Subscription[];
  readonly #removeReconnectListener: () => void;
  readonly #turns: Turns;
  readonly #lanes = new WaitingLanes();
  readonly #consumers: LaneConsumers;
  /** Attempts whose delivery is not settled, by reply subject. */
  readonly #held = new Map<string, Attempt>();
  /** Attempts whose handler has not ended, by reply subject. */
  readonly #running = new Map<string, Attempt>();
  /** Reply subjects of cancelled requests whose job has not arrived. */
  readonly #cancelled = new Set<string>();
  /** One promise for each attempt whose handler has not ended. It resolves at the end of the handler. */
  readonly #handlers = new Set<Promise<void>>();
  /** Attempts whose delivery is not settled. An attempt uses no slot while its answer is sent. */
  readonly #unsettled = new Map<Promise<void>, LaneStream & { sequence: number }>();
  /** Pull requests without an answer. */
  readonly #pulls = new Set<Promise<unknown>>();
  readonly #loop: Promise<void>;
  /** Aborts when the worker stops and the requester of an answer is not there. */
  readonly #stopSending = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  /**
   * A job on its last attempt runs alone in its worker. If the process crashes, this job is the cause, and no other job
   * loses its last attempt.
   */
  #runsLastAttempt = false;
  #stopped = false;
  #streamsMayBeMissing = false;
  /** When to count the messages of the lanes next, in milliseconds of `performance.now()`. */
  #nextScan = 0;
  #scanning: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(connection: BusConnection, queue: string, options: ServeOptions) {
    this.#connection = connection;
    this.#queue = queue;
    this.#options = options;
    this.#turns = new Turns(options.concurrency);
    this.#consumers = new LaneConsumers(connection, queue);
    this.#subscriptions = [
      connection.nats.subscribe(cancelSubject(queue), {
        callback: (error, message) => {
          if (!error) this.#cancel(message.string());
        },
      }),
      connection.nats.subscribe(waitingSubject(queue), {
        callback: (error, message) => {
          const waiting = error ? undefined : readWaiting(message.string());
          if (waiting) this.#note(waiting);
        },
      }),
    ];
    this.#removeReconnectListener = connection.onReconnect(() => {
      this.#consumers.forgetAll();
      this.#nextScan = 0;
      this.#wake();
    });
    this.#loop = this.#pullJobs();
  }

  /** The jobs that this worker has received and not settled, as sequence numbers of their streams. */
  running(): RunningJobs {
    const running: RunningJobs = { durable: [], volatile: [] };
    for (const { durability, sequence } of this.#unsettled.values()) running[durability].push(sequence);
    return running;
  }

  async drain(): Promise<void> {
    await this.#stopPulling();
    setTimeout(() => this.#stopSending.abort(), TRANSPORT_LIMITS.answerRetryMs).unref();
    // A pull request on a closed connection never ends, so `close` must end a running drain.
    await Promise.race([this.#settleAll(), this.#closed.promise]);
    this.#unsubscribe();
  }

  async close(): Promise<void> {
    await this.#stopPulling();
    for (const { delivery, controller } of this.#running.values()) {
      delivery.nak();
      controller.abort(new Error('the worker is closing'));
    }
    for (const job of this.#unsettled.values()) this.#wakeWorkers(job);
    this.#unsubscribe();
    this.#closed.resolve();
  }

  #unsubscribe(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  async #settleAll(): Promise<void> {
    while (this.#unsettled.size + this.#pulls.size > 0) await Promise.all([...this.#unsettled.keys(), ...this.#pulls]);
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
          await Promise.race([this.#connection.whenReady(Date.now() + TRANSPORT_LIMITS.laneScanMs), this.#nextWake()]);
        else if (this.#streamsMayBeMissing) await this.#restoreStreams();
        else {
          if (performance.now() >= this.#nextScan) this.#startScan();
          await this.#startNextJob();
        }
      } catch (err) {
        this.#connection.log.warn({ err, queue: this.#queue }, 'a pull request failed; trying again');
        this.#streamsMayBeMissing = true;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Resolves when a slot becomes free, a job waits, the connection is ready again, the worker stops, or after `ms`. */
  #nextWake(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #restoreStreams(): Promise<void> {
    await this.#connection.restoreStreams();
    this.#consumers.forgetAll();
    this.#nextScan = 0;
    this.#streamsMayBeMissing = false;
  }

  /** Scans without delaying the jobs of known lanes: the answer may take long. */
  #startScan(): void {
    this.#nextScan = performance.now() + TRANSPORT_LIMITS.laneScanMs;
    if (this.#scanning) return;
    this.#scanning = this.#scan()
      .catch((err: unknown) => {
        this.#connection.log.warn({ err, queue: this.#queue }, 'the waiting jobs could not be counted; trying again');
        this.#streamsMayBeMissing = true;
        this.#wake();
      })
      .finally(() => {
        this.#scanning = undefined;
      });
  }

  /**
   * Notes the lanes that have more messages than this worker runs: jobs whose wake message was lost, and jobs of a worker
   * that exited, which the server delivers again after the ack timeout.
   */
  async #scan(): Promise<void> {
    const lanes = await this.#connection.admin.countJobs(this.#queue);
    const ownJobs = new Map<string, number>();
    for (const job of this.#unsettled.values()) ownJobs.set(keyOf(job), (ownJobs.get(keyOf(job)) ?? 0) + 1);
    for (const lane of lanes) if (lane.count > (ownJobs.get(keyOf(lane)) ?? 0)) this.#lanes.note(lane);
    this.#wake();
  }

  /** Pulls from the lane whose turn it is. Waits if no lane has a waiting job and a free slot. */
  async #startNextJob(): Promise<void> {
    const lane = this.#turns.next(this.#lanes.names());
    const turn = lane === undefined ? undefined : this.#lanes.turn(lane);
    if (!turn) return this.#nextWake(Math.max(0, this.#nextScan - performance.now()));
    const consumer = await this.#ensureConsumer(turn);
    if (consumer === undefined) return;
    const pull = this.#pull(turn, consumer);
    const ended = pull.catch(() => undefined).finally(() => this.#pulls.delete(ended));
    this.#pulls.add(ended);
    const timeout = Promise.withResolvers<void>();
    // Until the answer arrives, this lane is not pulled from again.
    const timer = setTimeout(() => {
      this.#lanes.empty(turn);
      timeout.resolve();
    }, PULL_TIMEOUT_MS);
    await Promise.race([pull, timeout.promise]).finally(() => clearTimeout(timer));
  }

  /** Returns undefined if the consumer of this lane could not be created. Other lanes are served until the next scan. */
  async #ensureConsumer(turn: LaneTurn): Promise<string | undefined> {
    try {
      return await this.#consumers.ensure(turn);
    } catch (err) {
      const { lane } = turn;
      this.#connection.log.warn({ err, queue: this.#queue, lane }, 'the consumer of a lane could not be created');
      this.#lanes.empty(turn);
      return undefined;
    }
  }

  /** Sends one pull request and starts the job that it delivers. */
  async #pull(turn: LaneTurn, consumer: string): Promise<void> {
    const result = await pullOne(this.#connection, jobStream(turn.durability, this.#queue), consumer);
    if (result === 'no message') return this.#lanes.empty(turn);
    if (result === 'no answer') {
      this.#consumers.forget(turn);
      return this.#note(turn);
    }
    if (result.pending === 0) this.#lanes.empty(turn);
    else this.#note(turn);
    this.#start(result, turn);
  }

  /** A job may wait in this lane. */
  #note(lane: LaneStream): void {
    this.#lanes.note(lane);
    this.#wake();
  }

  /** Tells all workers of the queue, also this one, that a job of this lane was returned. */
  #wakeWorkers(lane: LaneStream): void {
    if (this.#connection.ready()) this.#connection.nats.publish(waitingSubject(this.#queue), waitingMessage(lane));
  }

  /** Starts a job, or settles its delivery at once. */
  #start(delivery: JetStreamDelivery, { durability, lane }: LaneStream): void {
    if (this.#stopped || this.#isFull() || !this.#turns.mayStart(lane)) {
      delivery.nak();
      this.#wakeWorkers({ durability, lane });
      return;
    }
    const attempt = this.#readAttempt(delivery, durability);
    if (!attempt || this.#cancelled.delete(attempt.envelope.reply)) {
      delivery.term();
      return;
    }
    const { reply } = attempt.envelope;
    const held = this.#held.get(reply);
    if (held) {
      held.delivery.continueAs(delivery);
      return;
    }
    const isLastAttempt = delivery.deliveryCount >= TRANSPORT_LIMITS.maxDeliveries;
    // Not for attempts that only send an answer: a requester that has exited would delay all jobs until its deadline.
    const others = isLastAttempt ? [...this.#handlers] : [];
    const handler = Promise.withResolvers<void>();
    this.#handlers.add(handler.promise);
    this.#turns.start(lane);
    this.#runsLastAttempt ||= isLastAttempt;
    this.#running.set(reply, attempt);
    this.#held.set(reply, attempt);
    const freeSlot = (): void => {
      this.#turns.end(lane);
      this.#handlers.delete(handler.promise);
      handler.resolve();
      if (isLastAttempt) this.#runsLastAttempt = false;
      if (this.#running.get(reply) === attempt) this.#running.delete(reply);
      this.#wake();
    };
    const run = (): Promise<void> =>
      runAttempt(this.#connection, attempt, this.#options.handler, freeSlot, this.#stopSending.signal);
    const settled = (others.length === 0 ? run() : waitForOthers(others, attempt).then(run)).finally(() => {
      this.#unsettled.delete(settled);
      this.#held.delete(reply);
      if (delivery.returned) this.#wakeWorkers({ durability, lane });
    });
    this.#unsettled.set(settled, { durability, lane, sequence: delivery.sequence });
  }

  /** Returns undefined if the message is not a job. */
  #readAttempt(delivery: JetStreamDelivery, durability: Durability): Attempt | undefined {
    try {
      const { header, body } = decodeFrame(delivery.data);
      const envelope = readEnvelope(header);
      return { delivery, envelope, body, volatile: durability === 'volatile', controller: new AbortController() };
    } catch (err) {
      this.#connection.log.warn({ err, queue: this.#queue }, 'removed a message that is not a job from the queue');
      return undefined;
    }
  }

  /** Whether the worker cannot start another job now. */
  #isFull(): boolean {
    return this.#runsLastAttempt || this.#turns.full();
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

/** Sends heartbeats while an attempt waits. Resolves when the handlers of the others have ended or this job is cancelled. */
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
