// Reuses the isolated processes of one queue, and replaces those that crash, stay idle or use too much memory, so that a bad document cannot stop the service.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ParseError } from '../../contract/errors.ts';
import { endedBySystem, endedBySystemError, machineFaultError } from '../../contract/machine-fault.ts';
import { describeCause } from '../cause.ts';
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

/** After these ends, the process is replaced at once, so that the next job does not wait for the start. A failed start is not repeated until a job needs it. */
const REPLACED: ReadonlySet<EndReason> = new Set(['crash', 'memory', 'deadline', 'cancelled']);
/** A job is answered with an error after the system ended this many processes that ran it. */
const MAX_SYSTEM_ENDS = 2;

/** The metric label for an exit. V8 aborts the process itself when its heap is full. */
function reasonOf(exited: IsolatedProcess): EndReason {
  if (exited.endReason) return exited.endReason;
  if (!exited.wasReady) return 'start';
  return exited.fatalMessage?.includes('heap') ? 'memory' : 'crash';
}

function notStarted(cause: unknown): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    'Service Unavailable: the converter for this format did not start. Try again later. The server log contains the cause.',
    { cause, retryAfterSeconds: 5 },
  );
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
    let started: IsolatedProcess;
    try {
      started = this.#start();
    } catch (error) {
      // For example, the disk is full. Jobs get a clear error until it is not.
      this.#log.warn({ queue: this.#spec.queue, cause: describeCause(error) }, 'an isolated process did not start');
      return;
    }
    await started.ready().then(
      () => this.#makeIdle(started),
      () => undefined,
    );
  }

  #start(): IsolatedProcess {
    const started = new IsolatedProcess(this.#spec);
    this.#all.add(started);
    void started.exited().then(() => {
      const reason = reasonOf(started);
      processEnds.inc({ queue: this.#spec.queue, reason });
      this.#all.delete(started);
      this.#removeIdle(started);
      if (REPLACED.has(reason) && started.wasReady) this.#replace();
    });
    return started;
  }

  /** Starts a process in the place of one that has ended, so there are never more than before. */
  #replace(): void {
    if (this.#closed) return;
    try {
      this.#makeIdle(this.#start());
    } catch (error) {
      this.#log.warn({ queue: this.#spec.queue, cause: describeCause(error) }, 'an isolated process was not replaced');
    }
  }

  #removeIdle(worker: IsolatedProcess): void {
    clearTimeout(this.#idleTimers.get(worker));
    this.#idleTimers.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  #makeIdle(ready: IsolatedProcess): void {
    // A killed process can still have sent its result, and its exit is seen later. The next job must not end with it.
    if (ready.ended || ready.endReason) return;
    if (this.#closed) return void this.#retire(ready, 'drain');
    this.#idle.push(ready);
    const timer = setTimeout(() => void this.#retire(ready, 'idle'), IDLE_MS);
    timer.unref();
    this.#idleTimers.set(ready, timer);
  }

  /** @param fresh the process must not have run a job @throws ParseError SERVICE_UNAVAILABLE if the system cannot start a process */
  #acquire(fresh: boolean): IsolatedProcess {
    const usable = this.#idle.filter(({ jobsDone }) => !fresh || jobsDone === 0);
    const idle = usable.findLast(({ wasReady }) => wasReady) ?? usable.at(-1);
    if (idle) {
      this.#removeIdle(idle);
      return idle;
    }
    try {
      return this.#start();
    } catch (cause) {
      throw machineFaultError(cause) ?? notStarted(cause);
    }
  }

  async #retire(old: IsolatedProcess, reason: EndReason): Promise<void> {
    this.#removeIdle(old);
    await old.retire(reason);
  }

  /**
   * Runs a job in a process that runs no other job at the same time. Stops at the deadline or when `signal` fires.
   * @param open opens the job's payload; called again for a second attempt
   * @throws ParseError 408 at the deadline; 422 if the document exceeds the memory limit or crashes a new process; 503 if no process starts,
   * or if the system ended two of them
   */
  async run<Stored>(
    open: () => Promise<JobInput>,
    services: JobServices<Stored>,
    signal: AbortSignal,
    requestId: string,
  ): Promise<JobResult<Stored>> {
    // The second attempt runs in a new process, so that one document crashes at most two processes, however many are idle.
    let systemEnds = 0;
    for (let retry = false; ; retry = true) {
      const worker = this.#acquire(retry);
      const isFirstJob = worker.jobsDone === 0;
      try {
        const result = await this.#runOn(worker, await open(), services, signal);
        // It may be the process that used up a resource, for example its file descriptors.
        if (!result.ok && result.machineFault) void this.#retire(worker, 'worn');
        return result;
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
        // The kernel kills a process when memory runs out, for example because of another process.
        if (endedBySystem(error.exit.startsWith('SIG') ? error.exit : null)) {
          systemEnds += 1;
          if (systemEnds >= MAX_SYSTEM_ENDS) throw endedBySystemError('the converter for this format', error);
          continue;
        }
        // The process had not received the document yet, so the document is not the cause.
        if (error.reason === 'start') throw notStarted(error);
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
