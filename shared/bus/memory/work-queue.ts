// Work queues inside one process, with the same order, retries and cancelling as the queues between processes.
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
import { jsonCopy } from '../json-copy.ts';

interface Entry {
  message: JobMessage;
  options: RequestOptions;
  /** Epoch milliseconds. */
  askedAt: number;
  attempts: number;
  /** Nobody waits for it any more. */
  settled: boolean;
  seenWorker: boolean;
  running: AbortController | undefined;
  resolve(answer: JobAnswer): void;
  reject(error: Error): void;
}

interface Server {
  options: ServeOptions;
  draining: boolean;
  running: Set<Promise<void>>;
}

interface Queue {
  /** Given back by a worker: they go before the others. */
  again: Set<Entry>;
  waiting: Set<Entry>;
  running: Set<Entry>;
  servers: Set<Server>;
}

/** A Bus whose workers are functions of this process. */
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
      if (options.signal?.aborted) return reject(new CancelledError('cancelled before it was sent'));
      const left = options.deadline - Date.now();
      if (left <= 0) return reject(new DeadlineError('the deadline had passed before the job was sent'));

      const settle = (): void => {
        entry.settled = true;
        clearTimeout(timer);
        options.signal?.removeEventListener('abort', onAbort);
        queue.waiting.delete(entry);
        queue.again.delete(entry);
      };
      const fail = (error: Error): void => {
        if (entry.settled) return;
        settle();
        entry.running?.abort(error);
        reject(error);
      };
      const onAbort = (): void => fail(new CancelledError('cancelled by the caller'));
      const entry: Entry = {
        message: { ...message, header: jsonCopy(message.header) },
        options,
        askedAt: Date.now(),
        attempts: 0,
        settled: false,
        seenWorker: this.workers(name) > 0,
        running: undefined,
        resolve(answer) {
          if (entry.settled) return;
          settle();
          resolve(answer);
        },
        reject: fail,
      };
      const timer = setTimeout(() => {
        if (entry.seenWorker || this.workers(name) > 0) fail(new DeadlineError(`no answer from ${name} in time`));
        else fail(new NoWorkerError(`no worker serves ${name}`));
      }, left);
      options.signal?.addEventListener('abort', onAbort, { once: true });
      queue.waiting.add(entry);
      this.#dispatch(queue);
    });
  }

  async serve(name: string, options: ServeOptions): Promise<Consumer> {
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    const queue = this.#queue(name);
    const server: Server = { options, draining: false, running: new Set() };
    queue.servers.add(server);
    for (const entry of [...queue.waiting, ...queue.again]) entry.seenWorker = true;
    this.#dispatch(queue);
    return {
      drain: async () => {
        server.draining = true;
        queue.servers.delete(server);
        await Promise.all(server.running);
      },
    };
  }

  workers(name: string): number {
    return this.#queues.get(name)?.servers.size ?? 0;
  }

  async depth(name: string): Promise<QueueDepth> {
    const queue = this.#queues.get(name);
    if (!queue) return { pending: 0, running: 0, oldestMs: 0 };
    const now = Date.now();
    const oldest = Math.min(first(queue.waiting)?.askedAt ?? now, first(queue.again)?.askedAt ?? now);
    return {
      pending: queue.waiting.size + queue.again.size,
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
      for (const entry of [...queue.waiting, ...queue.again, ...queue.running])
        entry.reject(new BusUnavailableError('the bus was closed'));
  }

  #queue(name: string): Queue {
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = { again: new Set(), waiting: new Set(), running: new Set(), servers: new Set() };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #dispatch(queue: Queue): void {
    for (;;) {
      const server = freest(queue.servers);
      const entry: Entry | undefined = first(queue.again) ?? first(queue.waiting);
      if (!server || !entry) return;
      queue.again.delete(entry);
      queue.waiting.delete(entry);
      queue.running.add(entry);
      const run = this.#run(queue, server, entry).finally(() => {
        server.running.delete(run);
        queue.running.delete(entry);
        this.#dispatch(queue);
      });
      server.running.add(run);
    }
  }

  async #run(queue: Queue, server: Server, entry: Entry): Promise<void> {
    entry.attempts += 1;
    entry.running = new AbortController();
    entry.options.onStarted?.();
    try {
      const answer = await server.options.handler({
        message: entry.message,
        attempt: entry.attempts,
        deadline: entry.options.deadline,
        volatile: entry.options.volatile ?? false,
        signal: entry.running.signal,
      });
      entry.resolve({ header: jsonCopy(answer.header), body: answer.body });
    } catch (cause) {
      if (entry.settled) return;
      if (entry.attempts < TRANSPORT_LIMITS.maxDeliveries) queue.again.add(entry);
      else entry.reject(new AbandonedError(`given up after ${entry.attempts} attempts`, { cause }));
    } finally {
      entry.running = undefined;
    }
  }
}

function first<T>(items: Set<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}

/** The worker with the most free places, so that jobs spread; none when all are full. */
function freest(servers: Set<Server>): Server | undefined {
  let best: Server | undefined;
  let most = 0;
  for (const server of servers) {
    const free = server.options.concurrency - server.running.size;
    if (!server.draining && free > most) [best, most] = [server, free];
  }
  return best;
}
