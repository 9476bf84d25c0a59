// Runs one LibreOffice process and sends it conversions over its single-instance socket.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ParseError } from '#shared/contract/errors.ts';
import { endedBySystem } from '#shared/contract/machine-fault.ts';
import { folderPrefix, profileUrl, removeLeftovers, socketPath, startWatcher } from './leftovers.ts';
import { writeProfile } from './profile.ts';
import { type WorkLimits, watchWork } from './watchdog.ts';

/** The private folder in memory of an isolated process, or the one of the system. */
const MEMORY_FOLDER = process.env.MEMORY_TMPDIR ?? '/dev/shm';
const START_LIMITS: WorkLimits = { cpuMs: 30_000, idleMs: 10_000 };
const START_POLL_MS = 25;
/** After the connection to LibreOffice closed, its exit follows at once if it has ended. */
const EXIT_WAIT_MS = 1_000;
const STOP_TIMEOUT_MS = 2_000;
const UNSHARE_TIMEOUT_MS = 5_000;
/** A network name space without a network. The user id stays, because it is part of the name of LibreOffice's socket. */
const NO_NETWORK = ['--map-current-user', '--net'];
/** Exit codes that request a restart (desktop/source/inc/exithelper.h). */
const RESTART_CODES = new Set([79, 81]);
const MAX_RESTARTS = 3;
/** LibreOffice uses more memory with each file that it reads, so it is replaced after this many files or MiB. */
const MAX_FILES = 200;
const MAX_RESIDENT_MIB = 900;

/**
 * Why LibreOffice ended in the middle of its work. `system`: something outside killed it. `crash`: it crashed or exited.
 * `hung`: it was killed because it used no CPU time for too long. `cpu`: it was killed because it used too much.
 */
type EndKind = 'system' | 'crash' | 'hung' | 'cpu';

export class OfficeEndError extends Error {
  override readonly name = 'OfficeEndError';
  readonly kind: EndKind;
  constructor(kind: EndKind, exit: string) {
    super(`LibreOffice ended: ${kind} (${exit})`);
    this.kind = kind;
  }
}

/** LibreOffice ended before it could take a document, so no document is the cause. */
export class OfficeStartError extends Error {
  override readonly name = 'OfficeStartError';
}

/** The formats that legacy documents are converted to, for the readers of this service. */
export type TargetExtension = 'docx' | 'xlsx' | 'pptx';

/**
 * One LibreOffice process. The socket is the one that a second `soffice` uses to send its arguments to the first
 * (desktop/source/app/officeipcthread.cxx), so no port, no Python and no UNO is needed. Packages that call
 * `soffice --convert-to` start a process with a new profile for every file (900 ms of CPU and more), keep it running when
 * the caller cancels, and let it follow links.
 */
export class OfficeProcess {
  readonly volatile: boolean;
  readonly #folder: string;
  readonly #command: readonly [program: string, ...args: string[]];
  readonly #socket: string;
  readonly #watcher: ChildProcess;
  #process: ChildProcess;
  #files = 0;
  #restarts = 0;
  #isReady = false;
  /** The signal or the exit code of the process, after it has ended. */
  #exit: string | undefined;
  #endedBySystem = false;
  #spawnError: Error | undefined;
  /** Set if this class killed the process. */
  #endedAs: EndKind | undefined;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(folder: string, volatile: boolean, command: readonly [string, ...string[]]) {
    this.volatile = volatile;
    this.#folder = folder;
    this.#command = command;
    this.#socket = socketPath(folder);
    this.#watcher = startWatcher(folder);
    this.#process = this.#spawn();
  }

  /**
   * @param volatile keeps all files in memory
   * @throws OfficeStartError, ParseError REQUEST_TIMEOUT, errors of the file system
   */
  static async start(program: string, volatile: boolean, signal: AbortSignal): Promise<OfficeProcess> {
    const base = baseFolder(volatile);
    removeLeftovers(base);
    const folder = await mkdtemp(folderPrefix(base));
    try {
      await mkdir(join(folder, 'tmp'));
      await writeProfile(join(folder, 'profile'));
    } catch (error) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
    const args = [
      `-env:UserInstallation=${profileUrl(folder)}`,
      '--headless',
      '--nologo',
      '--norestore',
      '--nolockcheck',
      '--nofirststartwizard',
      // LibreOffice exits after a conversion unless a document is open.
      'private:factory/swriter',
    ];
    const isolated = await canUnshareNetwork();
    const office = new OfficeProcess(
      folder,
      volatile,
      isolated ? ['unshare', ...NO_NETWORK, program, ...args] : [program, ...args],
    );
    try {
      await office.#waitUntilReady(signal);
    } catch (cause) {
      await office.stop();
      throw cause;
    }
    return office;
  }

  #spawn(): ChildProcess {
    const [program, ...args] = this.#command;
    const child = spawn(program, args, {
      stdio: 'ignore',
      // In the process group of its parent, so that killing the group kills both.
      detached: false,
      cwd: this.#folder,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: this.#folder,
        TMPDIR: join(this.#folder, 'tmp'),
        LANG: 'C.UTF-8',
        SAL_USE_VCLPLUGIN: 'svp',
      },
    });
    child.once('exit', (code, signal) => {
      // With a new profile, LibreOffice initializes itself and exits with a code that requests a restart.
      const restarts = !this.#isReady && code !== null && RESTART_CODES.has(code) && this.#restarts++ < MAX_RESTARTS;
      if (restarts) this.#process = this.#spawn();
      else this.#setExit(signal ?? `exit ${code}`, endedBySystem(signal));
    });
    child.once('error', (error) => {
      this.#spawnError = error;
      this.#setExit('not started', true);
    });
    return child;
  }

  #setExit(exit: string, bySystem: boolean): void {
    this.#exit = exit;
    this.#endedBySystem = bySystem;
    this.#ended.resolve();
  }

  /** Whether the process has received no document yet. */
  get isFresh(): boolean {
    return this.#files === 0;
  }

  /** Whether the process runs and has not reached its limits. */
  get usable(): boolean {
    return this.#exit === undefined && this.#files < MAX_FILES && this.#residentMiB() < MAX_RESIDENT_MIB;
  }

  async #waitUntilReady(signal: AbortSignal): Promise<void> {
    let watched: ChildProcess | undefined;
    let stopWatching: () => void = () => undefined;
    try {
      while (this.#exit === undefined) {
        if (signal.aborted) throw timedOut();
        // A restart is another process.
        if (watched !== this.#process) {
          stopWatching();
          watched = this.#process;
          stopWatching = watchWork(watched.pid, START_LIMITS, (why) => this.#kill(why));
        }
        if (existsSync(this.#socket) && (await this.#isListening(signal).catch(() => false))) {
          this.#isReady = true;
          return;
        }
        await sleep(START_POLL_MS);
      }
    } finally {
      stopWatching();
    }
    if (signal.aborted) throw timedOut();
    throw new OfficeStartError('LibreOffice ended while it started', { cause: this.#spawnError ?? this.#endError() });
  }

  #endError(): OfficeEndError {
    return new OfficeEndError(this.#endedAs ?? (this.#endedBySystem ? 'system' : 'crash'), this.#exit ?? 'running');
  }

  /** LibreOffice sends a greeting on each connection as soon as it accepts requests. */
  async #isListening(signal: AbortSignal): Promise<boolean> {
    return (await this.#exchange(undefined, signal)).includes('InternalIPC::SendArguments');
  }

  /**
   * Connects, waits for the greeting, and sends a request if there is one.
   * @returns all that LibreOffice sent before the connection closed
   */
  #exchange(request: string | undefined, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#socket);
      let received = '';
      let greeted = false;
      const stop = () => socket.destroy(timedOut());
      signal.addEventListener('abort', stop, { once: true });
      socket.setEncoding('latin1');
      socket.on('data', (chunk: string) => {
        received += chunk;
        if (greeted || !received.includes('InternalIPC::SendArguments')) return;
        greeted = true;
        if (request === undefined) socket.destroy();
        else socket.write(request);
      });
      socket.on('error', reject);
      socket.on('close', () => {
        signal.removeEventListener('abort', stop);
        resolve(received);
      });
      if (signal.aborted) stop();
    });
  }

  /**
   * Converts one file.
   * @param from the extension of the file, with its dot
   * @returns the converted bytes; undefined if LibreOffice processed the file and wrote none
   * @throws OfficeEndError if it ends or hangs, ParseError REQUEST_TIMEOUT, errors of the file system
   */
  async convert(
    bytes: Uint8Array,
    from: string,
    to: TargetExtension,
    options: { signal: AbortSignal; limits: WorkLimits },
  ): Promise<Buffer | undefined> {
    const { signal, limits } = options;
    this.#files++;
    const work = await mkdtemp(join(this.#folder, 'job-'));
    const stopWatching = watchWork(this.#process.pid, limits, (why) => this.#kill(why));
    try {
      const source = join(work, `source${from}`);
      await writeFile(source, bytes);
      const out = join(work, 'out');
      await mkdir(out);
      const args = ['--headless', '--convert-to', to, '--outdir', pathToFileURL(out).href, pathToFileURL(source).href];
      const response = await this.#exchange(encodeRequest(args), signal).catch((error: unknown) => {
        // The socket of a process that has ended refuses the connection or resets it.
        if (error instanceof ParseError) throw error;
        return '';
      });
      if (!response.includes('InternalIPC::ProcessingDone')) {
        await Promise.race([this.#ended.promise, sleep(EXIT_WAIT_MS, undefined, { ref: false })]);
        throw this.#endError();
      }
      const result = join(out, `source.${to}`);
      return existsSync(result) ? await readFile(result) : undefined;
    } finally {
      stopWatching();
      await rm(work, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  #kill(why: EndKind): void {
    this.#endedAs = why;
    this.#killTree();
  }

  /** Kills LibreOffice and the processes that it started. */
  #killTree(): void {
    const { pid } = this.#process;
    for (const one of pid === undefined ? [] : [...descendantsOf(pid), pid])
      try {
        process.kill(one, 'SIGKILL');
      } catch {
        // It has ended.
      }
  }

  /** Kills the process, waits until it has exited, and removes its files. */
  async stop(): Promise<void> {
    this.#restarts = MAX_RESTARTS;
    if (this.#exit === undefined) {
      this.#killTree();
      await Promise.race([this.#ended.promise, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    }
    this.#removeFiles();
  }

  /** Kills the process and removes its files without waiting, while this process exits. */
  killNow(): void {
    this.#killTree();
    this.#removeFiles();
  }

  #removeFiles(): void {
    for (const path of [this.#socket, this.#folder])
      try {
        rmSync(path, { recursive: true, force: true });
      } catch {
        // The disk is read-only or fails. The next start removes the rest.
      }
    // Stop the watcher last, so that it does not remove the same files at the same time.
    this.#watcher.stdin?.destroy();
  }

  #residentMiB(): number {
    try {
      const status = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    } catch {
      return 0;
    }
  }
}

/** Process ids of all descendants of a process, the deepest first. */
function descendantsOf(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return children.flatMap((child) => [...descendantsOf(child), child]);
  } catch {
    return [];
  }
}

/** The folder that contains the files of LibreOffice. */
export const baseFolder = (volatile: boolean): string =>
  volatile && existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();

export function timedOut(): ParseError {
  return new ParseError('REQUEST_TIMEOUT');
}

/** `,` separates arguments, `\` escapes, `0` means that no working folder is given, and a null byte ends the request. */
function encodeRequest(args: string[]): string {
  return `InternalIPC::Arguments0${args.map((arg) => `,${arg.replace(/[\\,]/g, '\\$&')}`).join('')}\0`;
}

let unshare: Promise<boolean> | undefined;

/** Whether this machine allows a process to start in a new network namespace, which has no network. */
function canUnshareNetwork(): Promise<boolean> {
  unshare ??= promisify(execFile)('unshare', [...NO_NETWORK, 'true'], { timeout: UNSHARE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  return unshare;
}
