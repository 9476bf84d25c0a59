// A queue's isolated processes: kept warm between jobs, replaced when they crash, wear out or idle, so that a bad document costs one process and its slot comes back.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ParseError } from '../../contract/errors.ts';
import type { Logger } from '../log.ts';
import { showProcesses } from '../metric-sources.ts';
import { processEnds } from '../metrics.ts';
import {
  type EndReason,
  IsolatedProcess,
  type JobInput,
  type JobResult,
  type JobServices,
  ProcessEndedError,
  type ProcessSpec,
} from './process.ts';
import { residentMiB } from './process-memory.ts';

const IDLE_MS = 5 * 60_000;
/** Between asking a job to stop and killing it. */
const CANCEL_GRACE_MS = 150;
const JOBS_A_PROCESS = 1_000;
/** Share of the memory limit past which an idle process is replaced: engines seldom give memory back. */
const WORN_SHARE = 0.4;

/** Why a process that is gone ended, for the count: V8 ends it itself where its heap is full. */
function reasonOf(gone: IsolatedProcess): EndReason {
  if (gone.endReason) return gone.endReason;
  if (!gone.served) return 'start';
  return gone.fatalMessage?.includes('heap') ? 'memory' : 'crash';
}

export class ProcessPool {
  readonly #spec: ProcessSpec;
  readonly #log: Logger;
  readonly #idle: IsolatedProcess[] = [];
  readonly #all = new Set<IsolatedProcess>();
  readonly #idleTimers = new Map<IsolatedProcess, NodeJS.Timeout>();
  readonly #endShowing: () => void;
  #closed = false;

  constructor(spec: ProcessSpec, log: Logger) {
    this.#spec = spec;
    this.#log = log;
    this.#endShowing = showProcesses({
      queue: spec.queue,
      memoryMiB: spec.memoryMiB,
      pids: () => [...this.#all].flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    });
  }

  /** Processes that are there, busy or idle. */
  get size(): number {
    return this.#all.size;
  }

  /** Starts a process ahead of the first job. */
  async warm(): Promise<void> {
    const started = this.#start();
    await started.ready().then(
      () => this.#rest(started),
      () => undefined,
    );
  }

  #start(): IsolatedProcess {
    const started = new IsolatedProcess(this.#spec);
    this.#all.add(started);
    void started.exited().then(() => {
      processEnds.inc({ queue: this.#spec.queue, reason: reasonOf(started) });
      this.#forget(started);
    });
    return started;
  }

  #forget(gone: IsolatedProcess): void {
    this.#all.delete(gone);
    clearTimeout(this.#idleTimers.get(gone));
    this.#idleTimers.delete(gone);
    const at = this.#idle.indexOf(gone);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #rest(resting: IsolatedProcess): void {
    if (resting.ended) return;
    if (this.#closed) return void this.#retire(resting, 'drain');
    this.#idle.push(resting);
    const timer = setTimeout(() => void this.#retire(resting, 'idle'), IDLE_MS);
    timer.unref();
    this.#idleTimers.set(resting, timer);
  }

  #take(): IsolatedProcess {
    const taken = this.#idle.pop();
    if (!taken) return this.#start();
    clearTimeout(this.#idleTimers.get(taken));
    this.#idleTimers.delete(taken);
    return taken;
  }

  async #retire(old: IsolatedProcess, reason: EndReason): Promise<void> {
    const at = this.#idle.indexOf(old);
    if (at >= 0) this.#idle.splice(at, 1);
    await old.retire(reason);
  }

  /**
   * Runs a job in a process of its own, and gives up at the deadline or when `signal` fires.
   * @param open gives the payload, anew for each attempt.
   * @throws ParseError 408 at the deadline, 422 where the document needs more memory than allowed or crashes a fresh process.
   */
  async run<Stored>(
    open: () => Promise<JobInput>,
    services: JobServices<Stored>,
    signal: AbortSignal,
    requestId: string,
  ): Promise<JobResult<Stored>> {
    // After one death the next process is a new one, so that a document ends two at most, however many wait.
    for (let again = false; ; again = true) {
      const worker = again ? this.#start() : this.#take();
      const fresh = worker.jobsDone === 0;
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
            fresh,
          },
          'an isolated process ended inside a job',
        );
        if (error.reason === 'deadline' || error.reason === 'cancelled')
          throw new ParseError('REQUEST_TIMEOUT', undefined, { cause: error });
        if (error.reason === 'memory' || worker.fatalMessage?.includes('heap'))
          throw new ParseError(
            'DOCUMENT_TOO_COMPLEX',
            `The document needs more than the ${this.#spec.memoryMiB} MiB of memory that one conversion may take. Split it, or ask for fewer pages.`,
            { cause: error },
          );
        // No document was given to it yet, so none is to blame.
        if (error.reason === 'start')
          throw new ParseError(
            'SERVICE_UNAVAILABLE',
            'Service Unavailable: the converter of this format did not start. Try again later; its operator finds the cause in the log.',
            { cause: error, retryAfterSeconds: 5 },
          );
        // A process that had done other jobs may have died of what they left; a fresh one died of this document.
        if (fresh)
          throw new ParseError(
            'CONVERSION_FAILED',
            'The document crashed its converter; the file itself is the likely cause. Check that it opens in its own program, and save it anew.',
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
      grace = setTimeout(() => worker.end(reason), CANCEL_GRACE_MS);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      return await worker.run(input, services);
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(grace);
      void this.#giveBack(worker);
    }
  }

  /** The next job may take it at once; a process that turns out to be worn goes while it is idle. */
  async #giveBack(worker: IsolatedProcess): Promise<void> {
    if (worker.ended || worker.pid === undefined) return;
    if (worker.jobsDone >= JOBS_A_PROCESS) return this.#retire(worker, 'worn');
    this.#rest(worker);
    await nextTurn();
    if (!this.#idle.includes(worker)) return;
    if (residentMiB(worker.pid) > this.#spec.memoryMiB * WORN_SHARE) await this.#retire(worker, 'worn');
  }

  /** Ends every process; call it once no job runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((old) => this.#retire(old, 'drain')));
    this.#endShowing();
  }
}
