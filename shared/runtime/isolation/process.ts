// One isolated conversion process as its service sees it: started, given a job, watched for memory and time, and killed with all that it started.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ErrorRecord } from '../../contract/errors.ts';
import type { Job, QueueName } from '../../contract/jobs.ts';
import type { LoggedCause } from '../cause.ts';
import { collectBody, type Frame, FrameWriter, type Order, PeerGoneError, type Report, readFrames } from './frames.ts';
import { residentMiB } from './process-memory.ts';

const CHILD_ENTRY = fileURLToPath(new URL('./child.ts', import.meta.url));
const MEMORY_CHECK_MS = 250;
const STDERR_TAIL = 4096;
/** MiB of each half of the young generation: V8 would let it grow to 64, which a long document fills with what is no longer needed. */
const YOUNG_MIB = 8;

export interface ProcessSpec {
  queue: QueueName;
  /** The service's worker.ts. */
  module: URL;
  /** MiB of resident memory, of the process and all it started, past which it is killed. */
  memoryMiB: number;
  env: NodeJS.ProcessEnv;
}

/** Why a process ended; `start` where it never became ready. */
export type EndReason = 'start' | 'crash' | 'memory' | 'deadline' | 'cancelled' | 'idle' | 'worn' | 'drain';

/** The process ended before it answered. */
export class ProcessEndedError extends Error {
  override readonly name = 'ProcessEndedError';
  readonly reason: EndReason;
  readonly exit: string;
  constructor(reason: EndReason, exit: string) {
    super(`the isolated process ended: ${reason} (${exit})`);
    this.reason = reason;
    this.exit = exit;
  }
}

export interface JobInput {
  job: Job;
  deadline: number;
  volatile: boolean;
  payload: AsyncIterable<Uint8Array>;
  payloadSize: number;
}

export type JobResult<Stored> =
  | { ok: true; reply: unknown; payload: Stored }
  | { ok: false; error: ErrorRecord; unexpected?: LoggedCause };

export interface JobServices<Stored> {
  /** Takes the result's bytes as they come. */
  store(body: AsyncIterable<Uint8Array>): Promise<Stored>;
  /** Runs a job of another service for this one. @throws ParseError */
  call(
    queue: QueueName,
    job: Job,
    payload: Uint8Array,
    /** Called each time a worker takes the job. */
    started: () => void,
  ): Promise<{ ok: true; reply: unknown; payload: Uint8Array } | { ok: false; error: ErrorRecord }>;
}

export class IsolatedProcess {
  readonly #child: ChildProcess;
  readonly #out: FrameWriter<Order>;
  readonly #memoryMiB: number;
  readonly #exited: Promise<string>;
  #ready: Promise<void>;
  #endReason: EndReason | undefined;
  #stderr = '';
  #onResult: ((frame: Frame<Report>) => Promise<void>) | undefined;
  #onCall: JobServices<unknown>['call'] | undefined;
  #failJob: ((error: ProcessEndedError) => void) | undefined;
  ended = false;
  /** It became ready. */
  served = false;
  jobsDone = 0;

  constructor(spec: ProcessSpec) {
    this.#memoryMiB = spec.memoryMiB;
    const heapMiB = Math.floor(spec.memoryMiB * 0.75);
    this.#child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMiB}`,
        `--max-semi-space-size=${YOUNG_MIB}`,
        '--disable-warning=ExperimentalWarning',
        CHILD_ENTRY,
        spec.module.href,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        // A process group of its own, so that one signal ends it and all that it started.
        detached: true,
        env: spec.env,
      },
    );
    const socket = this.#child.stdio[3] as Duplex;
    socket.on('error', () => undefined);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_TAIL);
    });
    this.#out = new FrameWriter<Order>(socket);
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) =>
        resolve(`could not start: ${'code' in error ? String(error.code) : error.name}`),
      );
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
    });
    let isReady: () => void = () => undefined;
    this.#ready = new Promise((resolve, reject) => {
      isReady = resolve;
      void this.#exited.then((exit) => reject(new ProcessEndedError(this.#endReason ?? 'start', exit)));
    });
    this.#ready.catch(() => undefined);
    void this.#read(socket, isReady);
    void this.#exited.then((exit) => {
      this.ended = true;
      this.#signal('SIGKILL');
      this.#failJob?.(new ProcessEndedError(this.#endReason ?? 'crash', exit));
    });
  }

  /** Why it is ended; undefined while nobody asked for it. */
  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The engine's own last words where it died of itself (never a library's text, which could quote the document). */
  get fatalMessage(): string | undefined {
    return this.#stderr
      .split('\n')
      .find((line) => line.startsWith('FATAL ERROR'))
      ?.slice(0, 200);
  }

  ready(): Promise<void> {
    return this.#ready;
  }

  exited(): Promise<string> {
    return this.#exited;
  }

  async #read(socket: Duplex, isReady: () => void): Promise<void> {
    try {
      for await (const frame of readFrames<Report>(socket)) {
        const report = frame.header;
        if (report.type === 'ready') {
          this.served = true;
          isReady();
        } else if (report.type === 'result') await this.#onResult?.(frame);
        else {
          const { call, queue, job } = report;
          const started = () => void this.#out.send({ type: 'started', call }).catch(() => undefined);
          void this.#onCall?.(queue, job, await collectBody(frame), started)
            .then((answer) =>
              this.#out.send(
                answer.ok
                  ? { type: 'answer', call, ok: true, reply: answer.reply }
                  : { type: 'answer', call, ok: false, error: answer.error },
                answer.ok ? answer.payload : undefined,
              ),
            )
            .catch(() => this.end('crash'));
        }
      }
    } catch {
      this.end('crash');
    }
  }

  /**
   * Runs one job to its result.
   * @throws ProcessEndedError where the process died or was ended; whatever `services.store` throws.
   */
  async run<Stored>(input: JobInput, services: JobServices<Stored>): Promise<JobResult<Stored>> {
    await this.#ready;
    const watch = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
    try {
      return await new Promise<JobResult<Stored>>((resolve, reject) => {
        this.#failJob = reject;
        this.#onCall = services.call;
        this.#onResult = async (frame) => {
          const report = frame.header;
          if (report.type !== 'result') return;
          if (!report.ok) return resolve(report);
          await services.store(frame.body).then(
            (payload) => resolve({ ok: true, reply: report.reply, payload }),
            (error: unknown) => {
              // It ended inside its answer: its exit tells the caller why.
              if (error instanceof PeerGoneError) this.end('crash');
              else reject(error as Error);
            },
          );
        };
        if (this.ended) return reject(new ProcessEndedError(this.#endReason ?? 'crash', 'before the job'));
        const { job, deadline, volatile } = input;
        this.#out
          .send({ type: 'job', job, deadline, volatile }, input.payload, input.payloadSize)
          .catch((error: unknown) => {
            // Its exit tells the caller why it is gone. A payload that cannot be read breaks the frame, so the process goes too.
            if (error instanceof PeerGoneError) return;
            this.end('worn');
            reject(error as Error);
          });
      });
    } finally {
      clearInterval(watch);
      this.#failJob = undefined;
      this.#onCall = undefined;
      this.#onResult = undefined;
      this.jobsDone += 1;
    }
  }

  /** Asks the job to stop; `end` follows where it does not listen. */
  cancel(): void {
    this.#out.send({ type: 'cancel' }).catch(() => undefined);
  }

  #checkMemory(): void {
    if (this.#child.pid !== undefined && residentMiB(this.#child.pid) > this.#memoryMiB) this.end('memory');
  }

  /** Kills the process and all that it started, at once. */
  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#signal('SIGKILL');
  }

  /** Lets engines close, then ends it. */
  async retire(reason: EndReason, graceMs = 2_000): Promise<void> {
    this.#endReason ??= reason;
    this.#out.send({ type: 'exit' }).catch(() => undefined);
    const timer = setTimeout(() => this.#signal('SIGKILL'), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // Already gone.
    }
  }
}
