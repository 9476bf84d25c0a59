// The requester's side of work queues over JetStream: publishes jobs, hears their answers, cancels what nobody wants any more.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerInfo, JetStreamApiError } from '@nats-io/jetstream';
import { type Msg, nuid } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import {
  AbandonedError,
  type Bus,
  BusUnavailableError,
  CancelledError,
  type Consumer,
  DeadlineError,
  type JobAnswer,
  type JobMessage,
  NoWorkerError,
  type QueueDepth,
  type RequestOptions,
  type ServeOptions,
} from '../bus.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import type { Link } from './link.ts';
import { createPresence } from './presence.ts';
import { cancelSubject, checkQueueName, GONE, type JobEnvelope, REPLY_PREFIX, type WorkerNotice } from './protocol.ts';
import { ensureConsumers, JOB_STREAMS, jobSubject, type Pair } from './topology.ts';
import { type ServingWorker, startWorker } from './worker.ts';

/** A request that has no answer yet. */
interface Pending {
  /** A worker asks to start: gives the number of the attempt, or `GONE` when there were enough. */
  start(delivery: string): number;
  /** A worker said that it is at it. */
  working(): void;
  resolve(answer: JobAnswer): void;
  reject(error: Error): void;
  /** Sends a job again that was kept in the memory of a server that came back without it. */
  resend(): void;
}

const PUBLISH_TIMEOUT_MS = 2_000;
const NO_BYTES = new Uint8Array();

/** A Bus whose workers are other processes (or this one) on the same NATS server. */
export function createNatsBus(link: Link): Bus {
  return new NatsBus(link);
}

class NatsBus implements Bus {
  readonly #link: Link;
  readonly #presence: ReturnType<typeof createPresence>;
  readonly #inbox = `${REPLY_PREFIX}.${nuid.next()}`;
  readonly #pending = new Map<string, Pending>();
  readonly #workers = new Set<ServingWorker>();
  /** Queues whose consumers are known to exist. */
  readonly #made = new Set<string>();
  readonly #endReturn: () => void;
  #count = 0;
  #closed = false;

  constructor(link: Link) {
    this.#link = link;
    this.#presence = createPresence(link);
    link.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#hear(message);
      },
    });
    this.#endReturn = link.onReturn(() => {
      this.#made.clear();
      for (const pending of this.#pending.values()) pending.resend();
    });
  }

  async request(queue: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer> {
    checkQueueName(queue);
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    if (options.signal?.aborted) throw new CancelledError('cancelled before it was sent');
    const left = options.deadline - Date.now();
    if (left <= 0) throw new DeadlineError('the deadline had passed before the job was sent');

    this.#count += 1;
    const reply = `${this.#inbox}.${this.#count.toString(36)}`;
    const envelope: JobEnvelope = { id: message.id, deadline: options.deadline, reply, header: message.header };
    const frame = encodeFrame(envelope, message.body);
    if (frame.length > TRANSPORT_LIMITS.messageBytes)
      throw new RangeError(
        `a job message of ${frame.length} bytes passes the bus's ${TRANSPORT_LIMITS.messageBytes}; use the payload store`,
      );

    const kind: keyof Pair = options.volatile ? 'volatile' : 'durable';
    return new Promise<JobAnswer>((resolve, reject) => {
      let settled = false;
      let published: number | undefined;
      let publishing = false;
      let heardAt = 0;
      const deliveries = new Map<string, number>();
      const sawWorker = this.workers(queue) > 0;

      const settle = (): boolean => {
        if (settled) return false;
        settled = true;
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(reply);
        return true;
      };
      const withdraw = (): void => this.#withdraw(queue, kind, reply, published);
      const publish = async (): Promise<void> => {
        if (publishing) return;
        publishing = true;
        const seq = await this.#publish(jobSubject(kind, queue), frame, reply, options.deadline, () => settled);
        publishing = false;
        published = seq ?? published;
        if (settled && seq !== undefined) withdraw();
      };
      const onAbort = (): void => {
        if (!settle()) return;
        withdraw();
        reject(new CancelledError('cancelled by the caller'));
      };
      const timer = setTimeout(() => {
        if (!settle()) return;
        withdraw();
        // A bus that had less than its fair time to take the job may be there all the same.
        const untaken = published === undefined && left >= PUBLISH_TIMEOUT_MS;
        if (untaken || !this.#link.ready()) reject(new BusUnavailableError('the message bus is away'));
        else if (published === undefined) reject(new DeadlineError(`no time to ask ${queue}`));
        else if (sawWorker || heardAt > 0 || this.workers(queue) > 0)
          reject(new DeadlineError(`no answer from ${queue} in time`));
        else reject(new NoWorkerError(`no worker serves ${queue}`));
      }, left);
      options.signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(reply, {
        start(delivery) {
          heardAt = Date.now();
          if (!deliveries.has(delivery)) {
            if (deliveries.size >= TRANSPORT_LIMITS.maxDeliveries) {
              if (settle())
                reject(new AbandonedError(`given up after ${deliveries.size} attempts: no worker lived to answer`));
              return GONE;
            }
            deliveries.set(delivery, deliveries.size + 1);
            options.onStarted?.();
          }
          return deliveries.get(delivery) ?? GONE;
        },
        working() {
          heardAt = Date.now();
        },
        resolve(answer) {
          if (settle()) resolve(answer);
        },
        reject(error) {
          if (!settle()) return;
          withdraw();
          reject(error);
        },
        resend() {
          if (kind === 'durable') return;
          // A job that was being worked on is sent again only if its worker has not spoken by then.
          const returnedAt = Date.now();
          const resendIfSilent = (): void => {
            if (!settled && heardAt < returnedAt) void publish();
          };
          setTimeout(resendIfSilent, heardAt === 0 ? 0 : TRANSPORT_LIMITS.ackWaitMs).unref();
        },
      });
      void publish();
      // An autoscaler reads the consumer's lag, so it must be there before the first worker is.
      this.#makeConsumers(queue).catch(() => undefined);
    });
  }

  async serve(queue: string, options: ServeOptions): Promise<Consumer> {
    checkQueueName(queue);
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    const worker = await startWorker(this.#link, this.#presence, queue, options);
    this.#workers.add(worker);
    return {
      drain: async () => {
        await worker.drain();
        this.#workers.delete(worker);
      },
    };
  }

  workers(queue: string): number {
    return this.#presence.count(queue);
  }

  async depth(queue: string): Promise<QueueDepth> {
    checkQueueName(queue);
    const depth: QueueDepth = { pending: 0, running: 0, oldestMs: 0 };
    try {
      await this.#makeConsumers(queue);
      for (const kind of ['durable', 'volatile'] as const) {
        const info = await this.#link.manager.consumers.info(JOB_STREAMS[kind], queue);
        depth.pending += info.num_pending;
        depth.running += info.num_ack_pending;
        if (info.num_pending > 0) depth.oldestMs = Math.max(depth.oldestMs, await this.#oldestMs(kind, queue, info));
      }
    } catch (cause) {
      this.#made.delete(queue);
      throw new BusUnavailableError('the message bus did not tell the depth of the queue', { cause });
    }
    return depth;
  }

  /** How long the first job that no worker was given waits, by the server's clock where it tells it (2.10 and later). */
  async #oldestMs(kind: keyof Pair, queue: string, info: ConsumerInfo): Promise<number> {
    const next = { seq: info.delivered.stream_seq + 1, next_by_subj: jobSubject(kind, queue) };
    const first = await this.#link.manager.streams.getMessage(JOB_STREAMS[kind], next);
    if (!first) return 0;
    const now = info.ts === undefined ? Date.now() : Date.parse(info.ts);
    return Math.max(0, now - first.time.getTime());
  }

  connected(): boolean {
    return !this.#closed && this.#link.ready();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#endReturn();
    for (const pending of this.#pending.values()) pending.reject(new BusUnavailableError('the bus was closed'));
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    this.#presence.close();
  }

  async #makeConsumers(queue: string): Promise<void> {
    if (this.#made.has(queue)) return;
    this.#made.add(queue);
    try {
      await ensureConsumers(this.#link.manager, queue);
    } catch (error) {
      this.#made.delete(queue);
      throw error;
    }
  }

  /** Until the server has it, the request is settled or the deadline comes. The id of the request keeps a retry from being stored twice. */
  async #publish(
    subject: string,
    frame: Uint8Array,
    id: string,
    deadline: number,
    settled: () => boolean,
  ): Promise<number | undefined> {
    for (let attempt = 1; !settled() && Date.now() < deadline; attempt++) {
      if (!(await this.#link.whenReady(deadline)) || settled()) return undefined;
      try {
        const ack = await this.#link.client.publish(subject, frame, { msgID: id, timeout: PUBLISH_TIMEOUT_MS });
        return ack.seq;
      } catch (err) {
        this.#link.log.warn({ err, attempt }, 'a job was not taken by the bus; trying again');
        if (!(err instanceof JetStreamApiError)) await this.#link.repair().catch(() => undefined);
        await sleep(Math.min(50 * 2 ** attempt, 1_000));
      }
    }
    return undefined;
  }

  /** Takes a job back: out of the queue if it still waits, out of the worker's hands if it runs. */
  #withdraw(queue: string, kind: keyof Pair, reply: string, seq: number | undefined): void {
    if (!this.#link.ready()) return;
    this.#link.connection.publish(cancelSubject(queue), reply);
    if (seq !== undefined)
      this.#link.manager.streams.deleteMessage(JOB_STREAMS[kind], seq, false).catch(() => {
        // Already answered and gone, or the bus is: then its worker finds nobody waiting, or its age ends it.
      });
  }

  #hear(message: Msg): void {
    const pending = this.#pending.get(message.subject);
    let notice: WorkerNotice | undefined;
    let body: Uint8Array = NO_BYTES;
    try {
      const frame = decodeFrame(message.data);
      notice = frame.header as WorkerNotice;
      body = frame.body;
    } catch (err) {
      this.#link.log.warn({ err }, 'a message to this requester is no notice; ignored');
    }
    if (!pending || !notice) {
      message.respond(Uint8Array.of(GONE));
      return;
    }
    message.respond(Uint8Array.of(notice.kind === 'start' ? pending.start(notice.delivery) : 1));
    if (notice.kind === 'working') pending.working();
    else if (notice.kind === 'answer') pending.resolve({ header: notice.header, body });
    else if (notice.kind === 'abandoned') pending.reject(new AbandonedError(notice.reason));
  }
}
