// Runs one LibreOffice process and sends it conversions over its single-instance socket.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ParseError } from '#shared/contract/errors.ts';
import { folderPrefix, profileUrl, removeLeftovers, socketPath, startWatcher } from './leftovers.ts';
import { writeProfile } from './profile.ts';

const MEMORY_FOLDER = '/dev/shm';
const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 25;
const STOP_TIMEOUT_MS = 2_000;
const UNSHARE_TIMEOUT_MS = 5_000;
/** Exit codes that request a restart (desktop/source/inc/exithelper.h). */
const RESTART_CODES = new Set([79, 81]);
const MAX_RESTARTS = 3;
/** LibreOffice uses more memory with each file that it reads, so it is replaced after this many files or MiB. */
const MAX_FILES = 200;
const MAX_RESIDENT_MIB = 900;

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
  #exited = false;

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
   * @throws ParseError SERVICE_UNAVAILABLE, REQUEST_TIMEOUT
   */
  static async start(program: string, volatile: boolean, signal: AbortSignal): Promise<OfficeProcess> {
    const base = volatile && existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
    removeLeftovers(base);
    const folder = await mkdtemp(folderPrefix(base));
    await mkdir(join(folder, 'tmp'));
    await writeProfile(join(folder, 'profile'));
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
      isolated ? ['unshare', '-rn', program, ...args] : [program, ...args],
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
    child.once('exit', (code) => {
      // With a new profile, LibreOffice initializes itself and exits with a code that requests a restart.
      if (code !== null && RESTART_CODES.has(code) && this.#restarts++ < MAX_RESTARTS) this.#process = this.#spawn();
      else this.#exited = true;
    });
    child.once('error', () => {
      this.#exited = true;
    });
    return child;
  }

  /** Whether the process runs and has not reached its limits. */
  get usable(): boolean {
    return !this.#exited && this.#files < MAX_FILES && this.#residentMiB() < MAX_RESIDENT_MIB;
  }

  async #waitUntilReady(signal: AbortSignal): Promise<void> {
    const until = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < until) {
      if (signal.aborted) throw timedOut();
      if (this.#exited) break;
      if (existsSync(this.#socket) && (await this.#isListening(signal).catch(() => false))) return;
      await sleep(START_POLL_MS);
    }
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'LibreOffice, which converts this format, did not start. Try again later.',
      {
        retryAfterSeconds: 5,
      },
    );
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
   * @returns the converted bytes; undefined if LibreOffice wrote none
   */
  async convert(
    bytes: Uint8Array,
    from: string,
    to: TargetExtension,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    this.#files++;
    const work = await mkdtemp(join(this.#folder, 'job-'));
    try {
      const source = join(work, `source${from}`);
      await writeFile(source, bytes);
      const out = join(work, 'out');
      await mkdir(out);
      const args = ['--headless', '--convert-to', to, '--outdir', pathToFileURL(out).href, pathToFileURL(source).href];
      const response = await this.#exchange(encodeRequest(args), signal);
      const result = join(out, `source.${to}`);
      if (!response.includes('InternalIPC::ProcessingDone') || !existsSync(result)) return undefined;
      return await readFile(result);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** Kills the process, waits until it has exited, and removes its files. */
  async stop(): Promise<void> {
    this.#restarts = MAX_RESTARTS;
    if (!this.#exited) {
      const exited = new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
      this.#process.kill('SIGKILL');
      await Promise.race([exited, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    }
    this.#removeFiles();
  }

  /** Kills the process and removes its files without waiting, while this process exits. */
  killNow(): void {
    this.#process.kill('SIGKILL');
    this.#removeFiles();
  }

  #removeFiles(): void {
    rmSync(this.#socket, { force: true });
    rmSync(this.#folder, { recursive: true, force: true });
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
  unshare ??= promisify(execFile)('unshare', ['-rn', 'true'], { timeout: UNSHARE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  return unshare;
}
