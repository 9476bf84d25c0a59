// Implements the Bus within one process, with the same order, redelivery and cancellation as the NATS bus.
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
import { msUntil } from '../deadline.ts';
import { ProgressReports } from '../progress.ts';

/** A job and the request that waits for its answer. */
interface Entry {
  message: JobMessage;
  options: RequestOptions;
  /** Epoch milliseconds. */
  requestedAt: number;
  attempts: number;
  /** The request has its answer or its error. */
  settled: boolean;
  /** The queue had a worker at some time during the request. */
  hadWorker: boolean;
  /** Defined while a worker runs the job. */
  controller: AbortController | undefined;
  resolve(answer: JobAnswer): void;
  reject(error: Error): void;
}

interface Worker {
  options: ServeOptions;
  draining: boolean;
  running: Set<Promise<void>>;
}

interface Queue {
  /** Jobs whose last attempt failed. They are delivered before new jobs. */
  redeliveries: Set<Entry>;
  waiting: Set<Entry>;
  running: Set<Entry>;
  workers: Set<Worker>;
}

/** A Bus whose workers are in this process. */
export function createMemoryBus(): Bus {
  return new MemoryBus();
}

class MemoryBus implements Bus {
  readonly #queues = new Map<string, Queue>();
  #closed = false;

  request(name: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer> {
    const queue = this.#queue(name);
    return new Promise<JobAnswer>((resolve, reject) => {
      if (this.#closed) return reject(new BusUnavailableError('the bus is closed'));
      if (options.signal?.aborted) return reject(new CancelledError('cancelled before the job was sent'));
      if (options.deadline <= Date.now())
        return reject(new DeadlineError('the deadline passed before the job was sent'));

      const settle = (): void => {
        entry.settled = true;
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', onAbort);
        queue.waiting.delete(entry);
        queue.redeliveries.delete(entry);
      };
      const fail = (error: Error): void => {
        if (entry.settled) return;
        settle();
        entry.controller?.abort(error);
        reject(error);
      };
      const onAbort = (): void => fail(new CancelledError('cancelled by the caller'));
      const entry: Entry = {
        message: { ...message, header: jsonCopy(message.header) },
        options,
        requestedAt: Date.now(),
        attempts: 0,
        settled: false,
        hadWorker: this.workers(name) > 0,
        controller: undefined,
        resolve(answer) {
          if (entry.settled) return;
          settle();
          resolve(answer);
        },
        reject: fail,
      };
      const timer = setTimeout(() => {
        if (entry.hadWorker || this.workers(name) > 0) fail(new DeadlineError(`no answer from ${name} in time`));
        else fail(new NoWorkerError(`no worker serves ${name}`));
      }, msUntil(options.deadline));
      options.signal?.addEventListener('abort', onAbort, { once: true });
      queue.waiting.add(entry);
      this.#dispatch(queue);
    });
  }

  async serve(name: string, options: ServeOptions): Promise<Consumer> {
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    const queue = this.#queue(name);
    const worker: Worker = { options, draining: false, running: new Set() };
    queue.workers.add(worker);
    for (const entry of [...queue.waiting, ...queue.redeliveries]) entry.hadWorker = true;
    this.#dispatch(queue);
    return {
      drain: async () => {
        worker.draining = true;
        queue.workers.delete(worker);
        await Promise.all(worker.running);
      },
    };
  }

  workers(name: string): number {
    return this.#queues.get(name)?.workers.size ?? 0;
  }

  async depth(name: string): Promise<QueueDepth> {
    const queue = this.#queues.get(name);
    if (!queue) return { pending: 0, running: 0, oldestMs: 0 };
    const now = Date.now();
    const oldest = Math.min(first(queue.waiting)?.requestedAt ?? now, first(queue.redeliveries)?.requestedAt ?? now);
    return {
      pending: queue.waiting.size + queue.redeliveries.size,
      running: queue.running.size,
      oldestMs: Math.max(0, now - oldest),
    };
  }

  connected(): boolean {
    return !this.#closed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const queue of this.#queues.values())
      for (const entry of [...queue.waiting, ...queue.redeliveries, ...queue.running])
        entry.reject(new BusUnavailableError('the bus was closed'));
  }

  #queue(name: string): Queue {
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = { redeliveries: new Set(), waiting: new Set(), running: new Set(), workers: new Set() };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #dispatch(queue: Queue): void {
    for (;;) {
      const worker = mostFreeSlots(queue.workers);
      const entry: Entry | undefined = first(queue.redeliveries) ?? first(queue.waiting);
      if (!worker || !entry) return;
      queue.redeliveries.delete(entry);
      queue.waiting.delete(entry);
      queue.running.add(entry);
      const run = this.#run(queue, worker, entry).finally(() => {
        worker.running.delete(run);
        queue.running.delete(entry);
        this.#dispatch(queue);
      });
      worker.running.add(run);
    }
  }

  async #run(queue: Queue, worker: Worker, entry: Entry): Promise<void> {
    entry.attempts += 1;
    entry.controller = new AbortController();
    entry.options.onStarted?.();
    const { onProgress } = entry.options;
    const reports =
      onProgress &&
      new ProgressReports((json) => {
        if (!entry.settled) onProgress(JSON.parse(json));
      });
    try {
      const answer = await worker.options.handler({
        message: entry.message,
        attempt: entry.attempts,
        deadline: entry.options.deadline,
        volatile: entry.options.volatile ?? false,
        signal: entry.controller.signal,
        progress: reports && ((report) => reports.add(report)),
      });
      entry.resolve({ header: jsonCopy(answer.header), body: answer.body });
    } catch (cause) {
      if (entry.settled) return;
      if (entry.attempts < TRANSPORT_LIMITS.maxDeliveries) queue.redeliveries.add(entry);
      else entry.reject(new AbandonedError(`the job failed in all ${entry.attempts} attempts`, { cause }));
    } finally {
      reports?.end();
      entry.controller = undefined;
    }
  }
}

function first<T>(items: Set<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}

/** Returns the worker with the most free slots, or undefined if there is no free slot. */
function mostFreeSlots(workers: Set<Worker>): Worker | undefined {
  let best: Worker | undefined;
  let most = 0;
  for (const worker of workers) {
    const free = worker.options.concurrency - worker.running.size;
    if (!worker.draining && free > most) [best, most] = [worker, free];
  }
  return best;
}

/** Copies a value through JSON, as the NATS bus does. `undefined` becomes `null`. */
function jsonCopy(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
