// Reuses the isolated processes of one queue, and replaces those that crash, stay idle or use too much memory, so that a bad document cannot stop the service.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ParseError } from '../../contract/errors.ts';
import type { Logger } from '../log.ts';
import { type EndReason, processEnds } from '../metrics.ts';
import { sampleProcesses } from '../sampled-metrics.ts';
import {
  IsolatedProcess,
  type JobInput,
  type JobResult,
  type JobServices,
  ProcessEndedError,
  type ProcessSpec,
} from './process.ts';
import { residentMiB } from './process-memory.ts';

const IDLE_MS = 5 * 60_000;
/** Pause between the cancel signal and the kill. */
const CANCEL_GRACE_MS = 150;
const MAX_JOBS_PER_PROCESS = 1_000;
/** An idle process that uses more than this share of the memory limit is replaced, because engines seldom free memory. */
const IDLE_MEMORY_SHARE = 0.4;

/** The metric label for an exit. V8 aborts the process itself when its heap is full. */
function reasonOf(exited: IsolatedProcess): EndReason {
  if (exited.endReason) return exited.endReason;
  if (!exited.wasReady) return 'start';
  return exited.fatalMessage?.includes('heap') ? 'memory' : 'crash';
}

export class ProcessPool {
  readonly #spec: ProcessSpec;
  readonly #log: Logger;
  readonly #idle: IsolatedProcess[] = [];
  readonly #all = new Set<IsolatedProcess>();
  readonly #idleTimers = new Map<IsolatedProcess, NodeJS.Timeout>();
  readonly #stopSampling: () => void;
  readonly #cancelGraceMs: number;
  #closed = false;

  constructor(spec: ProcessSpec, log: Logger, options: { cancelGraceMs: number } = { cancelGraceMs: CANCEL_GRACE_MS }) {
    this.#spec = spec;
    this.#cancelGraceMs = options.cancelGraceMs;
    this.#log = log;
    this.#stopSampling = sampleProcesses({
      queue: spec.queue,
      memoryMiB: spec.memoryMiB,
      pids: () => [...this.#all].flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    });
  }

  /** Number of processes, busy and idle. */
  get size(): number {
    return this.#all.size;
  }

  /** Starts one process before the first job. */
  async warm(): Promise<void> {
    const started = this.#start();
    await started.ready().then(
      () => this.#makeIdle(started),
      () => undefined,
    );
  }

  #start(): IsolatedProcess {
    const started = new IsolatedProcess(this.#spec);
    this.#all.add(started);
    void started.exited().then(() => {
      processEnds.inc({ queue: this.#spec.queue, reason: reasonOf(started) });
      this.#all.delete(started);
      this.#removeIdle(started);
    });
    return started;
  }

  #removeIdle(worker: IsolatedProcess): void {
    clearTimeout(this.#idleTimers.get(worker));
    this.#idleTimers.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  #makeIdle(ready: IsolatedProcess): void {
    if (ready.ended) return;
    if (this.#closed) return void this.#retire(ready, 'drain');
    this.#idle.push(ready);
    const timer = setTimeout(() => void this.#retire(ready, 'idle'), IDLE_MS);
    timer.unref();
    this.#idleTimers.set(ready, timer);
  }

  #acquire(): IsolatedProcess {
    const idle = this.#idle.at(-1);
    if (!idle) return this.#start();
    this.#removeIdle(idle);
    return idle;
  }

  async #retire(old: IsolatedProcess, reason: EndReason): Promise<void> {
    this.#removeIdle(old);
    await old.retire(reason);
  }

  /**
   * Runs a job in a process that runs no other job at the same time. Stops at the deadline or when `signal` fires.
   * @param open opens the job's payload; called again for a second attempt
   * @throws ParseError 408 at the deadline; 422 if the document exceeds the memory limit or crashes a new process; 503 if no process starts
   */
  async run<Stored>(
    open: () => Promise<JobInput>,
    services: JobServices<Stored>,
    signal: AbortSignal,
    requestId: string,
  ): Promise<JobResult<Stored>> {
    // The second attempt runs in a new process, so that one document crashes at most two processes, however many are idle.
    for (let retry = false; ; retry = true) {
      const worker = retry ? this.#start() : this.#acquire();
      const isFirstJob = worker.jobsDone === 0;
      try {
        return await this.#runOn(worker, await open(), services, signal);
      } catch (error) {
        if (!(error instanceof ProcessEndedError)) {
          worker.end('worn');
          throw error;
        }
        this.#log.warn(
          {
            requestId,
            queue: this.#spec.queue,
            reason: error.reason,
            exit: error.exit,
            fatal: worker.fatalMessage,
            isFirstJob,
          },
          'an isolated process ended while it ran a job',
        );
        if (error.reason === 'deadline' || error.reason === 'cancelled')
          throw new ParseError('REQUEST_TIMEOUT', undefined, { cause: error });
        if (error.reason === 'memory' || worker.fatalMessage?.includes('heap'))
          throw new ParseError(
            'DOCUMENT_TOO_COMPLEX',
            `The document needs more than the ${this.#spec.memoryMiB} MiB of memory that one conversion may use. Split the document, or request fewer pages.`,
            { cause: error },
          );
        // The process had not received the document yet, so the document is not the cause.
        if (error.reason === 'start')
          throw new ParseError(
            'SERVICE_UNAVAILABLE',
            'Service Unavailable: the converter for this format did not start. Try again later. The server log contains the cause.',
            { cause: error, retryAfterSeconds: 5 },
          );
        // A used process may have crashed because of an earlier job. A new process crashed because of this document.
        if (isFirstJob)
          throw new ParseError(
            'CONVERSION_FAILED',
            'The converter crashed on this document, so the file is the likely cause. Check that it opens in the program that made it, and save it again.',
            { cause: error },
          );
      }
    }
  }

  async #runOn<Stored>(
    worker: IsolatedProcess,
    input: JobInput,
    services: JobServices<Stored>,
    signal: AbortSignal,
  ): Promise<JobResult<Stored>> {
    let grace: NodeJS.Timeout | undefined;
    const stop = (): void => {
      const reason = Date.now() >= input.deadline ? 'deadline' : 'cancelled';
      worker.cancel();
      grace = setTimeout(() => worker.end(reason), this.#cancelGraceMs);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      return await worker.run(input, services);
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(grace);
      void this.#release(worker);
    }
  }

  /** Makes the process available immediately; measures its memory afterwards, so that the next job does not wait for the measurement. */
  async #release(worker: IsolatedProcess): Promise<void> {
    if (worker.ended || worker.pid === undefined) return;
    if (worker.jobsDone >= MAX_JOBS_PER_PROCESS) return this.#retire(worker, 'worn');
    this.#makeIdle(worker);
    await nextTurn();
    if (!this.#idle.includes(worker)) return;
    if (residentMiB(worker.pid) > this.#spec.memoryMiB * IDLE_MEMORY_SHARE) await this.#retire(worker, 'worn');
  }

  /** Ends all processes. Call it when no job is running. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((old) => this.#retire(old, 'drain')));
    this.#stopSampling();
  }
}
