// Controls one isolated process from the service's side: starts it, sends it jobs, enforces its memory limit, and kills it with its process group.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ErrorRecord } from '../../contract/errors.ts';
import type { Job } from '../../contract/jobs.ts';
import type { ProcessNeed, QueueName } from '../../contract/services.ts';
import type { LoggedCause } from '../cause.ts';
import type { EndReason } from '../metrics.ts';
import { confine, type Layer } from './confinement.ts';
import {
  type Frame,
  FrameWriter,
  type ParentMessage,
  PeerClosedError,
  type ProcessMessage,
  readBody,
  readFrames,
} from './frames.ts';
import { lowerPriority } from './priority.ts';
import { residentMiB } from './process-memory.ts';
import { ResultParts } from './result-parts.ts';

const CHILD_ENTRY = fileURLToPath(new URL('./child.ts', import.meta.url));
const MEMORY_CHECK_MS = 250;
const STDERR_TAIL = 4096;
/** Maximum MiB of each semi-space of the young generation. With V8's default of 64, the garbage of a long document uses all of them. */
const SEMI_SPACE_MIB = 8;

export interface ProcessSpec {
  queue: QueueName;
  /** The service's worker.ts. */
  module: URL;
  /** MiB of resident memory. The process is killed when it and its child processes use more. */
  memoryMiB: number;
  env: NodeJS.ProcessEnv;
  /** Variables that /proc must not show, so the process receives them over its socket. */
  secrets?: Readonly<Record<string, string>>;
  needs: readonly ProcessNeed[];
  /** Layers of the confinement to leave out, for tests. */
  without?: readonly Layer[];
}

/** The process ended before it sent a result. */
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
  /** `machineFault`: the machine is the cause, so other jobs may fail too. */
  | { ok: false; error: ErrorRecord; unexpected?: LoggedCause; machineFault?: true };

export interface JobServices<Stored> {
  /** Stores the bytes of the result as a stream. */
  store(body: AsyncIterable<Uint8Array>): Promise<Stored>;
  /** Runs a job on another service when the running job calls it. */
  call(
    queue: QueueName,
    job: Job,
    payload: Uint8Array,
    /** Called each time a worker receives the job. */
    started: () => void,
  ): Promise<{ ok: true; reply: unknown; payload: Uint8Array } | { ok: false; error: ErrorRecord }>;
  /** Receives progress reports, which are not validated. Undefined if the requester wants none. */
  progress?: ((report: unknown) => void) | undefined;
}

export class IsolatedProcess {
  readonly #child: ChildProcess;
  readonly #out: FrameWriter<ParentMessage>;
  readonly #memoryMiB: number;
  readonly #exited: Promise<string>;
  readonly #released: Promise<void>;
  #ready: Promise<void>;
  #endReason: EndReason | undefined;
  #stderr = '';
  #onResult: ((frame: Frame<ProcessMessage>) => Promise<void>) | undefined;
  #onPart: ((body: AsyncIterable<Uint8Array>) => Promise<void>) | undefined;
  #onCall: JobServices<unknown>['call'] | undefined;
  #onProgress: JobServices<unknown>['progress'];
  #failJob: ((error: ProcessEndedError) => void) | undefined;
  ended = false;
  /** Whether the process has been ready at some time. */
  wasReady = false;
  jobsDone = 0;

  constructor(spec: ProcessSpec) {
    this.#memoryMiB = spec.memoryMiB;
    const heapMiB = Math.floor(spec.memoryMiB * 0.75);
    const confinement = confine(spec);
    const [program, ...args] = confinement.command;
    this.#child = spawn(
      program,
      [
        ...args,
        `--max-old-space-size=${heapMiB}`,
        `--max-semi-space-size=${SEMI_SPACE_MIB}`,
        '--disable-warning=ExperimentalWarning',
        CHILD_ENTRY,
        spec.module.href,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
        // Its own process group, so that one signal also ends its child processes.
        detached: true,
        env: confinement.env,
      },
    );
    // Without free file descriptors, `spawn` makes no pipes, and reports the reason later as an event.
    const pipes: ChildProcess['stdio'] | undefined = this.#child.stdio;
    if (pipes === undefined) {
      this.#child.once('error', () => undefined);
      void confinement.release().catch(() => undefined);
      throw new Error('the system has no file descriptors for another process');
    }
    if (this.#child.pid !== undefined) lowerPriority(this.#child.pid);
    const socket = pipes[3] as Duplex;
    socket.on('error', () => undefined);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_TAIL);
    });
    this.#out = new FrameWriter<ParentMessage>(socket);
    // If it fails, the process has ended, and its exit tells the reason.
    this.#out.send({ type: 'start', secrets: spec.secrets ?? {} }).catch(() => undefined);
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) =>
        resolve(`could not start: ${'code' in error ? String(error.code) : error.name}`),
      );
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
    });
    this.#released = this.#exited.then(() => confinement.release()).catch(() => undefined);
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

  /** The reason given to `end` or `retire`; undefined if neither was called. */
  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** V8's `FATAL ERROR` line, if V8 aborted. Other output is not returned, because a library may quote the document. */
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
      for await (const frame of readFrames<ProcessMessage>(socket)) {
        const report = frame.header;
        if (report.type === 'ready') {
          this.wasReady = true;
          isReady();
        } else if (report.type === 'result') await this.#onResult?.(frame);
        else if (report.type === 'part') await this.#onPart?.(frame.body);
        else if (report.type === 'progress') this.#onProgress?.(report.progress);
        else {
          const { call, queue, job } = report;
          const started = () => void this.#out.send({ type: 'started', call }).catch(() => undefined);
          void this.#onCall?.(queue, job, await readBody(frame), started)
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
   * Runs one job.
   * @throws ProcessEndedError if the process exits before it sends a result; any error of `services.store`
   */
  async run<Stored>(input: JobInput, services: JobServices<Stored>): Promise<JobResult<Stored>> {
    await this.#ready;
    const watch = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
    /** Of a result that is a stream. */
    let parts: ResultParts | undefined;
    let storingParts: Promise<Stored> | undefined;
    try {
      return await new Promise<JobResult<Stored>>((resolve, reject) => {
        this.#failJob = reject;
        this.#onCall = services.call;
        this.#onProgress = services.progress;
        const failStoring = (error: unknown): void => {
          // The process exited while it sent the result. Its exit handler rejects with the reason.
          if (error instanceof PeerClosedError) this.end('crash');
          else reject(error as Error);
        };
        this.#onPart = (body) => {
          if (!parts) {
            parts = new ResultParts();
            storingParts = services.store(parts);
            storingParts.catch(failStoring);
          }
          return parts.add(body);
        };
        this.#onResult = async (frame) => {
          const report = frame.header;
          if (report.type !== 'result') return;
          if (!report.ok) return resolve(report);
          parts?.end();
          await (storingParts ?? services.store(frame.body)).then(
            (payload) => resolve({ ok: true, reply: report.reply, payload }),
            failStoring,
          );
        };
        if (this.ended) return reject(new ProcessEndedError(this.#endReason ?? 'crash', 'before the job'));
        const { job, deadline, volatile } = input;
        this.#out
          .send(
            { type: 'job', job, deadline, volatile, progress: services.progress !== undefined },
            input.payload,
            input.payloadSize,
          )
          .catch((error: unknown) => {
            // If the process exited, its exit handler rejects with the reason. If the payload could not be read, the frame is incomplete and
            // the process cannot be used again.
            if (error instanceof PeerClosedError) return;
            this.end('worn');
            reject(error as Error);
          });
      });
    } finally {
      clearInterval(watch);
      this.#failJob = undefined;
      this.#onCall = undefined;
      this.#onProgress = undefined;
      this.#onResult = undefined;
      this.#onPart = undefined;
      parts?.end(new Error('the result is incomplete'));
      this.jobsDone += 1;
    }
  }

  /** Sends the job a cancel signal. Call `end` if the job ignores it. */
  cancel(): void {
    this.#out.send({ type: 'cancel' }).catch(() => undefined);
  }

  #checkMemory(): void {
    if (this.#child.pid !== undefined && residentMiB(this.#child.pid) > this.#memoryMiB) this.end('memory');
  }

  /** Kills the process and its child processes immediately. */
  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#signal('SIGKILL');
  }

  /** Lets the worker close its engines, then kills the process group and removes its files. */
  async retire(reason: EndReason, graceMs = 2_000): Promise<void> {
    this.#endReason ??= reason;
    this.#out.send({ type: 'exit' }).catch(() => undefined);
    const timer = setTimeout(() => this.#signal('SIGKILL'), graceMs);
    await this.#exited;
    clearTimeout(timer);
    await this.#released;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The process group has already exited.
    }
  }
}
