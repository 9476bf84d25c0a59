// Implements the Bus on JetStream: sends requests, routes the notices of workers to them, and reports queue depths.
import { randomBytes } from 'node:crypto';
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
import { msUntil } from '../deadline.ts';
import type { BusConnection } from './connection.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { PendingRequest } from './pending-request.ts';
import { checkQueueName, type JobEnvelope, NOT_WANTED, RECEIVED, replySubject, type WorkerNotice } from './protocol.ts';
import { DURABILITIES, type Durability, jobStream, jobSubject } from './topology.ts';
import { type ServingWorker, startWorker } from './worker.ts';
import { createWorkerRegistry, type WorkerRegistry } from './worker-registry.ts';

/** A Bus whose workers are processes on the same NATS server, including this one. */
export function createNatsBus(connection: BusConnection): Bus {
  return new NatsBus(connection);
}

class NatsBus implements Bus {
  readonly #connection: BusConnection;
  readonly #registry: WorkerRegistry;
  readonly #id = nuid.next();
  /** By reply subject. */
  readonly #pending = new Map<string, PendingRequest>();
  readonly #workers = new Set<ServingWorker>();
  readonly #removeReconnectListener: () => void;
  #closed = false;

  constructor(connection: BusConnection) {
    this.#connection = connection;
    this.#registry = createWorkerRegistry(connection);
    connection.nats.subscribe(replySubject(connection.service, '*', this.#id, '*'), {
      callback: (error, message) => {
        if (!error) this.#receiveNotice(message);
      },
    });
    this.#removeReconnectListener = connection.onReconnect(() => {
      for (const request of this.#pending.values()) request.republish();
    });
  }

  async request(queue: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer> {
    checkQueueName(queue);
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    if (options.signal?.aborted) throw new CancelledError('cancelled before the job was sent');
    if (options.deadline <= Date.now()) throw new DeadlineError('the deadline passed before the job was sent');

    // Random, so that a worker cannot guess the subjects of other requests.
    const reply = replySubject(this.#connection.service, queue, this.#id, randomBytes(12).toString('base64url'));
    const envelope: JobEnvelope = {
      id: message.id,
      timeoutMs: msUntil(options.deadline),
      reply,
      team: options.team,
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
      await this.#connection.ensureQueue(queue);
      const allRunning = this.#registry.running(queue);
      for (const durability of DURABILITIES) {
        const info = await this.#connection.manager.streams.info(jobStream(durability, queue));
        const { messages, first_seq, last_seq } = info.state;
        // A job that has ended since its worker's last announcement is not in the stream any more.
        const inStream = [...allRunning[durability]].filter(
          (sequence) => sequence >= first_seq && sequence <= last_seq,
        );
        const running = new Set(inStream.slice(0, messages));
        depth.running += running.size;
        depth.pending += messages - running.size;
        if (messages > running.size)
          depth.oldestMs = Math.max(
            depth.oldestMs,
            await this.#oldestMs(durability, queue, first_seq, running, info.ts),
          );
      }
    } catch (cause) {
      throw new BusUnavailableError('the message bus did not return the depth of the queue', { cause });
    }
    return depth;
  }

  /** The age of the first job that no worker runs. Uses the server's clock if the server sends it (2.10 and later). */
  async #oldestMs(
    durability: Durability,
    queue: string,
    firstSequence: number,
    running: ReadonlySet<number>,
    serverTime: string | undefined,
  ): Promise<number> {
    const { streams } = this.#connection.manager;
    const subject = jobSubject(durability, queue, '*');
    // Each round skips a running job, so the number of rounds is bounded.
    for (let seq = firstSequence; ; seq++) {
      while (running.has(seq)) seq += 1;
      const next = { seq, next_by_subj: subject };
      const message = await streams.getMessage(jobStream(durability, queue), next);
      if (!message) return 0;
      seq = message.seq;
      if (running.has(seq)) continue;
      const now = serverTime === undefined ? (this.#connection.clock.now() ?? Date.now()) : Date.parse(serverTime);
      return Math.max(0, now - message.time.getTime());
    }
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

  #receiveNotice(message: Msg): void {
    const request = this.#pending.get(message.subject);
    const frame = this.#readNotice(message);
    if (!request || !frame) {
      message.respond(NOT_WANTED);
      return;
    }
    const { notice, body } = frame;
    if (notice.kind === 'progress') {
      request.progress(notice.attempt, notice.report);
      return;
    }
    message.respond(notice.kind === 'start' ? request.start(notice.delivery) : RECEIVED);
    if (notice.kind === 'working') request.working(notice.attempt);
    else if (notice.kind === 'returned') request.returned(notice.attempt);
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
