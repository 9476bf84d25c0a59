// Implements the Bus on JetStream: sends requests, routes the notices of workers to them, and reports queue depths.
import type { ConsumerInfo } from '@nats-io/jetstream';
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
  type QueueDepth,
  type RequestOptions,
  type ServeOptions,
} from '../bus.ts';
import type { BusConnection } from './connection.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { PendingRequest } from './pending-request.ts';
import { checkQueueName, type JobEnvelope, NOT_WANTED, REPLY_PREFIX, type WorkerNotice } from './protocol.ts';
import { DURABILITIES, type Durability, ensureConsumers, JOB_STREAMS, jobSubject } from './topology.ts';
import { type ServingWorker, startWorker } from './worker.ts';
import { createWorkerRegistry, type WorkerRegistry } from './worker-registry.ts';

/** A Bus whose workers are processes on the same NATS server, including this one. */
export function createNatsBus(connection: BusConnection): Bus {
  return new NatsBus(connection);
}

class NatsBus implements Bus {
  readonly #connection: BusConnection;
  readonly #registry: WorkerRegistry;
  readonly #replyPrefix = `${REPLY_PREFIX}.${nuid.next()}`;
  /** By reply subject. */
  readonly #pending = new Map<string, PendingRequest>();
  readonly #workers = new Set<ServingWorker>();
  /** Queues whose consumers exist. */
  readonly #queuesWithConsumers = new Set<string>();
  readonly #removeReconnectListener: () => void;
  #requestCount = 0;
  #closed = false;

  constructor(connection: BusConnection) {
    this.#connection = connection;
    this.#registry = createWorkerRegistry(connection);
    connection.nats.subscribe(`${this.#replyPrefix}.*`, {
      callback: (error, message) => {
        if (!error) this.#receiveNotice(message);
      },
    });
    this.#removeReconnectListener = connection.onReconnect(() => {
      this.#queuesWithConsumers.clear();
      for (const request of this.#pending.values()) request.republish();
    });
  }

  async request(queue: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer> {
    checkQueueName(queue);
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    if (options.signal?.aborted) throw new CancelledError('cancelled before the job was sent');
    if (options.deadline <= Date.now()) throw new DeadlineError('the deadline passed before the job was sent');

    this.#requestCount += 1;
    const reply = `${this.#replyPrefix}.${this.#requestCount.toString(36)}`;
    const envelope: JobEnvelope = {
      id: message.id,
      deadline: options.deadline,
      reply,
      progress: options.onProgress !== undefined,
      header: message.header,
    };
    const frame = encodeFrame(envelope, message.body);
    if (frame.length > TRANSPORT_LIMITS.messageBytes)
      throw new RangeError(
        `the job message has ${frame.length} bytes, but the limit is ${TRANSPORT_LIMITS.messageBytes}; use the payload store`,
      );
    const request = new PendingRequest(this.#connection, {
      queue,
      frame,
      reply,
      options,
      hasWorkers: () => this.workers(queue) > 0,
      onSettled: () => this.#pending.delete(reply),
    });
    this.#pending.set(reply, request);
    void request.publish();
    // An autoscaler starts the first worker when the consumer has a lag, so the consumer must exist before any worker.
    this.#createConsumers(queue).catch(() => undefined);
    return request.answer;
  }

  async serve(queue: string, options: ServeOptions): Promise<Consumer> {
    checkQueueName(queue);
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    const worker = await startWorker(this.#connection, this.#registry, queue, options);
    this.#workers.add(worker);
    return {
      drain: async () => {
        await worker.drain();
        this.#workers.delete(worker);
      },
    };
  }

  workers(queue: string): number {
    return this.#registry.count(queue);
  }

  async depth(queue: string): Promise<QueueDepth> {
    checkQueueName(queue);
    const depth: QueueDepth = { pending: 0, running: 0, oldestMs: 0 };
    try {
      await this.#createConsumers(queue);
      for (const durability of DURABILITIES) {
        const info = await this.#connection.manager.consumers.info(JOB_STREAMS[durability], queue);
        depth.pending += info.num_pending;
        depth.running += info.num_ack_pending;
        if (info.num_pending > 0)
          depth.oldestMs = Math.max(depth.oldestMs, await this.#oldestMs(durability, queue, info));
      }
    } catch (cause) {
      this.#queuesWithConsumers.delete(queue);
      throw new BusUnavailableError('the message bus did not return the depth of the queue', { cause });
    }
    return depth;
  }

  /** The age of the first job that was never delivered. Uses the server's clock if the server sends it (2.10 and later). */
  async #oldestMs(durability: Durability, queue: string, info: ConsumerInfo): Promise<number> {
    const next = { seq: info.delivered.stream_seq + 1, next_by_subj: jobSubject(durability, queue) };
    const first = await this.#connection.manager.streams.getMessage(JOB_STREAMS[durability], next);
    if (!first) return 0;
    const now = info.ts === undefined ? Date.now() : Date.parse(info.ts);
    return Math.max(0, now - first.time.getTime());
  }

  connected(): boolean {
    return !this.#closed && this.#connection.ready();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#removeReconnectListener();
    for (const request of this.#pending.values()) request.reject(new BusUnavailableError('the bus was closed'));
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    this.#registry.close();
  }

  async #createConsumers(queue: string): Promise<void> {
    if (this.#queuesWithConsumers.has(queue)) return;
    this.#queuesWithConsumers.add(queue);
    try {
      await ensureConsumers(this.#connection.manager, queue);
    } catch (error) {
      this.#queuesWithConsumers.delete(queue);
      throw error;
    }
  }

  #receiveNotice(message: Msg): void {
    const request = this.#pending.get(message.subject);
    const frame = this.#readNotice(message);
    if (!request || !frame) {
      message.respond(Uint8Array.of(NOT_WANTED));
      return;
    }
    const { notice, body } = frame;
    if (notice.kind === 'progress') {
      request.progress(notice.attempt, notice.report);
      return;
    }
    message.respond(Uint8Array.of(notice.kind === 'start' ? request.start(notice.delivery) : 1));
    if (notice.kind === 'working') request.working();
    else if (notice.kind === 'answer') request.resolve({ header: notice.header, body });
    else if (notice.kind === 'abandoned') request.reject(new AbandonedError(notice.reason));
  }

  /** Returns undefined if the message is not a notice. */
  #readNotice(message: Msg): { notice: WorkerNotice; body: Uint8Array } | undefined {
    try {
      const { header, body } = decodeFrame(message.data);
      return header ? { notice: header as WorkerNotice, body } : undefined;
    } catch (err) {
      this.#connection.log.warn({ err }, 'ignored a message that is not a notice of a worker');
      return undefined;
    }
  }
}
