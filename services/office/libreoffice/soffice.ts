// One warm LibreOffice for this process, asked over its own single-instance pipe, because starting it anew costs thirty times what a conversion does.
//
// The packages that wrap `soffice --convert-to` start a cold one with a fresh profile for every file (900 ms and more of
// CPU), leave the process running when the caller gives up, and let it follow links. The pipe is what a second `soffice`
// uses to hand its arguments to the first (desktop/source/app/officeipcthread.cxx): no port, no Python, no UNO.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ParseError } from '#shared/contract/errors.ts';
import { writeProfile } from './profile.ts';

const PROGRAM_FOLDERS = [
  '/usr/lib/libreoffice/program',
  '/usr/lib64/libreoffice/program',
  '/opt/libreoffice/program',
  '/usr/local/lib/libreoffice/program',
];
const MEMORY_FOLDER = '/dev/shm';
const FOLDER_PREFIX = 'parsemesh-office-';
const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 25;
/** Exit codes by which it asks to be started again (desktop/source/inc/exithelper.h). */
const RESTART_CODES = new Set([79, 81]);
const RESTARTS = 3;
/** LibreOffice grows with what it has read; after this many files or MiB it is started anew. */
const RECYCLE_FILES = 200;
const RECYCLE_RESIDENT_MIB = 900;

/** What LibreOffice turns a legacy format into, for the native readers. */
export type TargetExtension = 'docx' | 'xlsx' | 'pptx';

export interface ConversionOptions {
  signal: AbortSignal;
  /** Nothing may touch a disk. */
  volatile: boolean;
}

class Office {
  readonly folder: string;
  readonly volatile: boolean;
  readonly #command: readonly [program: string, ...args: string[]];
  readonly #pipe: string;
  readonly #broom: ChildProcess;
  #process: ChildProcess;
  #files = 0;
  #restarts = 0;
  #ended = false;

  private constructor(folder: string, volatile: boolean, command: readonly [string, ...string[]], pipe: string) {
    this.folder = folder;
    this.volatile = volatile;
    this.#command = command;
    this.#pipe = pipe;
    this.#broom = startBroom(folder, pipe);
    this.#process = this.#spawn();
  }

  /** @throws ParseError SERVICE_UNAVAILABLE, REQUEST_TIMEOUT */
  static async start(program: string, volatile: boolean, signal: AbortSignal): Promise<Office> {
    const base = volatile && existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
    sweep(base);
    const folder = await mkdtemp(join(base, `${FOLDER_PREFIX}${process.pid}-`));
    const profile = join(folder, 'profile');
    await mkdir(join(folder, 'tmp'));
    await writeProfile(profile);
    const profileUrl = pathToFileURL(profile).href;
    // An open document keeps it from ending after the first conversion.
    const args = [
      `-env:UserInstallation=${profileUrl}`,
      '--headless',
      '--nologo',
      '--norestore',
      '--nolockcheck',
      '--nofirststartwizard',
      'private:factory/swriter',
    ];
    const command = (await canUnshareNetwork())
      ? (['unshare', '-rn', program, ...args] as const)
      : ([program, ...args] as const);
    const office = new Office(folder, volatile, command, pipePath(profileUrl));
    try {
      await office.#untilReady(signal);
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
      // In the process group of its parent, so that whoever kills that one kills both.
      detached: false,
      cwd: this.folder,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: this.folder,
        TMPDIR: join(this.folder, 'tmp'),
        LANG: 'C.UTF-8',
        SAL_USE_VCLPLUGIN: 'svp',
      },
    });
    child.once('exit', (code) => {
      // A fresh profile makes it set itself up and ask to be started again.
      if (code !== null && RESTART_CODES.has(code) && this.#restarts++ < RESTARTS) this.#process = this.#spawn();
      else this.#ended = true;
    });
    child.once('error', () => {
      this.#ended = true;
    });
    return child;
  }

  get usable(): boolean {
    return !this.#ended && this.#files < RECYCLE_FILES && this.#residentMiB() < RECYCLE_RESIDENT_MIB;
  }

  async #untilReady(signal: AbortSignal): Promise<void> {
    const until = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < until) {
      if (signal.aborted) throw timedOut();
      if (this.#ended) break;
      // An empty request: it greets as soon as it takes requests, and drops what holds no arguments.
      if (existsSync(this.#pipe) && (await this.#ask(undefined, signal).catch(() => false))) return;
      await sleep(START_POLL_MS);
    }
    throw new ParseError('SERVICE_UNAVAILABLE', 'LibreOffice, which reads this format, did not start', {
      retryAfterSeconds: 5,
    });
  }

  /** @returns whether it said that the request is done (for an empty one: whether it greeted) */
  #ask(args: string[] | undefined, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#pipe);
      let heard = '';
      let sent = false;
      const stop = () => socket.destroy(timedOut());
      signal.addEventListener('abort', stop, { once: true });
      socket.setEncoding('latin1');
      socket.on('data', (chunk: string) => {
        heard += chunk;
        if (sent || !heard.includes('InternalIPC::SendArguments')) return;
        sent = true;
        if (args === undefined) socket.destroy();
        else socket.write(request(args));
      });
      socket.on('error', reject);
      socket.on('close', () => {
        signal.removeEventListener('abort', stop);
        resolve(args === undefined ? sent : heard.includes('InternalIPC::ProcessingDone'));
      });
      if (signal.aborted) stop();
    });
  }

  /** @returns the converted bytes, or undefined where LibreOffice gave none */
  async convert(
    bytes: Uint8Array,
    from: string,
    to: TargetExtension,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    this.#files++;
    const work = await mkdtemp(join(this.folder, 'job-'));
    try {
      const source = join(work, `source${from}`);
      await writeFile(source, bytes);
      const out = join(work, 'out');
      await mkdir(out);
      const args = ['--headless', '--convert-to', to, '--outdir', pathToFileURL(out).href, pathToFileURL(source).href];
      const done = await this.#ask(args, signal);
      const result = join(out, `source.${to}`);
      if (!done || !existsSync(result)) return undefined;
      return await readFile(result);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  async stop(): Promise<void> {
    this.#restarts = RESTARTS;
    if (!this.#ended) {
      const ended = new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
      this.#process.kill('SIGKILL');
      await Promise.race([ended, sleep(2_000, undefined, { ref: false })]);
    }
    this.removeFiles();
  }

  removeFiles(): void {
    rmSync(this.#pipe, { force: true });
    rmSync(this.folder, { recursive: true, force: true });
    // Only now, so that two do not remove the same files at once.
    this.#broom.stdin?.destroy();
  }

  killNow(): void {
    this.#process.kill('SIGKILL');
    this.removeFiles();
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

function timedOut(): ParseError {
  return new ParseError('REQUEST_TIMEOUT');
}

/** `,` separates arguments and `\` escapes; `0` says that no working folder is given; a null byte ends the request. */
function request(args: string[]): string {
  return `InternalIPC::Arguments0${args.map((arg) => `,${arg.replace(/[\\,]/g, '\\$&')}`).join('')}\0`;
}

/** The socket's name carries the MD5 of the profile's URL in UTF-16, its bytes in hexadecimal without leading zeros. */
function pipePath(profileUrl: string): string {
  const digest = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const hash = [...digest].map((byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_SingleOfficeIPC_${hash}`;
}

/**
 * A shell that removes the folder and the pipe when this process ends in whatever way, since a process that is killed over a document
 * cannot: its standard input closes then. It stands outside the process group, which is killed as one; once more where something is written meanwhile.
 */
function startBroom(folder: string, pipe: string): ChildProcess {
  const script = 'read _; rm -rf "$0" "$1" || { sleep 0.2; rm -rf "$0" "$1"; }';
  const broom = spawn('sh', ['-c', script, folder, pipe], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  broom.once('error', () => undefined);
  broom.stdin.once('error', () => undefined);
  broom.unref();
  return broom;
}

/** Removes what processes that were killed left behind, where no broom could. */
function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = name.startsWith(FOLDER_PREFIX) ? Number(name.slice(FOLDER_PREFIX.length).split('-', 1)[0]) : 0;
    if (pid <= 0 || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(base, name), { recursive: true, force: true });
    rmSync(pipePath(pathToFileURL(join(base, name, 'profile')).href), { force: true });
  }
}

let unshare: Promise<boolean> | undefined;

/** Whether a process may be started in a network namespace of its own, where there is nothing to reach at all. */
function canUnshareNetwork(): Promise<boolean> {
  unshare ??= promisify(execFile)('unshare', ['-rn', 'true'], { timeout: 5_000 }).then(
    () => true,
    () => false,
  );
  return unshare;
}

function findProgram(): string {
  const named = process.env.LIBREOFFICE_FOLDER;
  const folders = named ? [named] : PROGRAM_FOLDERS;
  const program = folders.map((folder) => join(folder, 'soffice.bin')).find((path) => existsSync(path));
  if (program === undefined)
    throw new ParseError(
      'SERVICE_UNAVAILABLE',
      'This format needs LibreOffice, which is not installed on this server. Its operator can run `apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui`, or name its `program` folder in LIBREOFFICE_FOLDER.',
    );
  return program;
}

let running: Office | undefined;
process.once('exit', () => running?.killNow());

/** The last conversion of this process: one LibreOffice loads one document at a time, so they take turns. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Converts a legacy document; calls at the same time wait for each other.
 * @param from its extension with the dot
 * @throws ParseError SERVICE_UNAVAILABLE without LibreOffice, REQUEST_TIMEOUT (while it waits too), DOCUMENT_CORRUPT where it cannot be read
 */
export async function convertLegacy(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  options: ConversionOptions,
): Promise<Uint8Array> {
  const { signal } = options;
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(timedOut());
  signal.addEventListener('abort', leave, { once: true });
  const before = turn;
  const mine = (async () => {
    await before;
    if (signal.aborted) throw timedOut();
    return convertNow(bytes, from, to, options);
  })();
  turn = mine.catch(() => undefined);
  try {
    return await Promise.race([mine, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

async function convertNow(
  bytes: Uint8Array,
  from: string,
  to: TargetExtension,
  { signal, volatile }: ConversionOptions,
): Promise<Uint8Array> {
  const program = findProgram();
  if (running && (!running.usable || (volatile && !running.volatile))) await closeLibreOffice();
  running ??= await Office.start(program, volatile, signal);
  const office = running;
  try {
    const converted = await office.convert(bytes, from, to, signal);
    if (converted) return converted;
  } catch (cause) {
    // Whatever it was doing, it may not go on doing.
    await closeLibreOffice();
    if (cause instanceof ParseError) throw cause;
    throw new ParseError('CONVERSION_FAILED', undefined, { cause });
  }
  if (!office.usable) await closeLibreOffice();
  throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt or protected: LibreOffice cannot read it');
}

/** Ends LibreOffice and removes its files; the next conversion starts a new one. */
export async function closeLibreOffice(): Promise<void> {
  const office = running;
  running = undefined;
  await office?.stop();
}
