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
  JobReturnedError,
  NoWorkerError,
  type QueueDepth,
  type RequestOptions,
  type ServeOptions,
} from '../bus.ts';
import { msUntil } from '../deadline.ts';
import { ProgressReports } from '../progress.ts';
import { Turns } from '../turns.ts';

/** The lane of jobs without a team. No team has an empty name. */
const COMMON_LANE = '';

/** A job and the request that waits for its answer. */
interface Entry {
  message: JobMessage;
  options: RequestOptions;
  /** Epoch milliseconds. */
  requestedAt: number;
  attempts: number;
  /** Attempts that did not count, because the worker could not work. */
  returned: number;
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
  turns: Turns;
  running: Set<Promise<void>>;
}

/** The waiting jobs of one team. */
interface Lane {
  /** Jobs whose last attempt failed. They are delivered before new jobs. */
  redeliveries: Set<Entry>;
  waiting: Set<Entry>;
}

interface Queue {
  /** Lanes that have waiting jobs, by name. */
  lanes: Map<string, Lane>;
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
        removeWaiting(queue, entry);
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
        returned: 0,
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
      laneOf(queue, entry).waiting.add(entry);
      this.#dispatch(queue);
    });
  }

  async serve(name: string, options: ServeOptions): Promise<Consumer> {
    if (this.#closed) throw new BusUnavailableError('the bus is closed');
    const queue = this.#queue(name);
    const worker: Worker = { options, turns: new Turns(options.concurrency), running: new Set() };
    queue.workers.add(worker);
    for (const entry of waitingJobs(queue)) entry.hadWorker = true;
    this.#dispatch(queue);
    return {
      drain: async () => {
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
    const waiting = waitingJobs(queue);
    const now = Date.now();
    const oldest = waiting.reduce((earliest, { requestedAt }) => Math.min(earliest, requestedAt), now);
    return { pending: waiting.length, running: queue.running.size, oldestMs: Math.max(0, now - oldest) };
  }

  connected(): boolean {
    return !this.#closed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const queue of this.#queues.values())
      for (const entry of [...waitingJobs(queue), ...queue.running])
        entry.reject(new BusUnavailableError('the bus was closed'));
  }

  #queue(name: string): Queue {
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = { lanes: new Map(), running: new Set(), workers: new Set() };
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #dispatch(queue: Queue): void {
    for (;;) {
      const next = nextJob(queue);
      if (!next) return;
      const { worker, lane, entry } = next;
      removeWaiting(queue, entry);
      queue.running.add(entry);
      worker.turns.start(lane);
      const run = this.#run(queue, worker, entry).finally(() => {
        worker.turns.end(lane);
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
        team: entry.options.team,
        volatile: entry.options.volatile ?? false,
        signal: entry.controller.signal,
        progress: reports && ((report) => reports.add(report)),
      });
      entry.resolve({ header: jsonCopy(answer.header), body: answer.body });
    } catch (cause) {
      if (entry.settled) return;
      if (cause instanceof JobReturnedError) entry.returned += 1;
      if (entry.attempts - entry.returned < TRANSPORT_LIMITS.maxDeliveries)
        laneOf(queue, entry).redeliveries.add(entry);
      else entry.reject(new AbandonedError(`the job failed in all ${entry.attempts} attempts`, { cause }));
    } finally {
      reports?.end();
      entry.controller = undefined;
    }
  }
}

const laneName = ({ options }: Entry): string => options.team ?? COMMON_LANE;

/** The lane of a job. Creates it if it has no waiting job. */
function laneOf({ lanes }: Queue, entry: Entry): Lane {
  const lane = lanes.get(laneName(entry)) ?? { redeliveries: new Set(), waiting: new Set() };
  lanes.set(laneName(entry), lane);
  return lane;
}

function removeWaiting({ lanes }: Queue, entry: Entry): void {
  const lane = lanes.get(laneName(entry));
  if (!lane) return;
  lane.waiting.delete(entry);
  lane.redeliveries.delete(entry);
  if (lane.waiting.size + lane.redeliveries.size === 0) lanes.delete(laneName(entry));
}

const waitingJobs = ({ lanes }: Queue): Entry[] =>
  [...lanes.values()].flatMap(({ redeliveries, waiting }) => [...redeliveries, ...waiting]);

/** The job that starts next, and its worker: of those that can start a job, the one with the most free slots. */
function nextJob({ workers, lanes }: Queue): { worker: Worker; lane: string; entry: Entry } | undefined {
  const byFreeSlots = [...workers].sort((one, other) => other.turns.free() - one.turns.free());
  for (const worker of byFreeSlots) {
    const lane = worker.turns.next(lanes.keys());
    const jobs = lane === undefined ? undefined : lanes.get(lane);
    if (lane === undefined || !jobs) continue;
    const [entry] = jobs.redeliveries.size > 0 ? jobs.redeliveries : jobs.waiting;
    if (entry) return { worker, lane, entry };
  }
  return undefined;
}

/** Copies a value through JSON, as the NATS bus does. `undefined` becomes `null`. */
function jsonCopy(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
