// Runs an installed tesseract, one process for many pages where the system lets it, since starting it and loading its models cost a fifth of a page.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { endedBySystem, machineFaultError } from '#shared/contract/machine-fault.ts';
import type { ReadLine } from './engine.ts';
import { HocrReader } from './hocr.ts';

/** Where Linux keeps files in memory (shm_overview(7)): the private folder of an isolated process, or the one of the system. */
const MEMORY_FOLDER = process.env.MEMORY_TMPDIR ?? '/dev/shm';
/** How statfs(2) names such a place. */
const TMPFS = 0x01021994;
/** Processor seconds after which the system ends a process that nobody is left to end. */
const LAST_SECONDS = 600;
/** Milliseconds until the answer to a blank page: one that is held back was never sent. */
const ANSWER_MS = 20_000;

export interface NativeSettings {
  /** Folder of the models. */
  models: string;
  /** Names joined by `+`. */
  languages: string;
}

/** tesseract's own variables by name. */
export type Variables = Readonly<Record<string, string>>;

function start(command: readonly string[], stdio: ('pipe' | 'ignore' | number)[]): ChildProcess {
  // Nothing of the environment but what finds programs: this process reads hostile pixels.
  const env = { PATH: process.env.PATH, OMP_THREAD_LIMIT: '1', LC_ALL: 'C.UTF-8' };
  return spawn('/bin/sh', ['-c', `ulimit -c 0; ulimit -t ${LAST_SECONDS}; exec "$@"`, 'sh', ...command], {
    stdio,
    env,
  });
}

function tesseract(settings: NativeSettings, variables: Variables): string[] {
  const { tessedit_pageseg_mode: segmentation = '3', ...rest } = variables;
  const all = { tessedit_create_hocr: '1', tessedit_create_txt: '0', hocr_font_info: '0', ...rest };
  return [
    'tesseract',
    '-',
    '-',
    '--tessdata-dir',
    settings.models,
    '-l',
    settings.languages,
    '--oem',
    '1',
    // Not as a variable: the program takes one of 6 for its default, and reads in mode 3 instead.
    '--psm',
    segmentation,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** The process ended before its answer. */
class NativeEndError extends Error {
  override readonly name = 'NativeEndError';
  /** Whether the system ended it, as it does when memory runs out, and not its input or this service. */
  readonly bySystem: boolean;

  constructor(why: string, options: ErrorOptions & { bySystem?: boolean } = {}) {
    super(`tesseract ended: ${why}`, options);
    this.bySystem = options.bySystem ?? false;
  }
}

/** Something that reads bitmaps and can be ended in the middle of one. */
export interface NativeReader {
  readonly pid: number | undefined;
  /** @throws NativeEndError */
  read(bitmap: Uint8Array): Promise<ReadLine[]>;
  end(): void;
}

/** A process for one page, which gets its pixels by its standard input. */
export class SinglePage implements NativeReader {
  readonly #child: ChildProcess;
  #endedHere = false;

  constructor(settings: NativeSettings, variables: Variables) {
    this.#child = start(tesseract(settings, variables), ['pipe', 'pipe', 'ignore']);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  read(bitmap: Uint8Array): Promise<ReadLine[]> {
    const { stdin, stdout } = this.#child;
    return new Promise((resolve, reject) => {
      let page: ReadLine[] | undefined;
      const hocr = new HocrReader((lines) => {
        page = lines;
      });
      stdout?.setEncoding('utf8').on('data', (chunk: string) => hocr.write(chunk));
      this.#child.once('error', (cause) => reject(new NativeEndError('it did not start', { cause })));
      this.#child.once('close', (code, signal) => {
        if (page && code === 0) resolve(page);
        else
          reject(new NativeEndError(signal ?? `exit ${code}`, { bySystem: !this.#endedHere && endedBySystem(signal) }));
      });
      // Its end tells why it takes no more.
      stdin?.on('error', () => undefined);
      stdin?.end(bitmap);
    });
  }

  end(): void {
    this.#endedHere = true;
    this.#child.kill('SIGKILL');
  }
}

interface Waiting {
  resolve: (lines: ReadLine[]) => void;
  reject: (error: Error) => void;
}

/**
 * A process that reads page after page: it is told a name on its standard input (tesseract's stream_filelist), the name of a file that lives in
 * memory, has no name in any folder, and is emptied after each page.
 */
export class PageStream implements NativeReader {
  readonly #child: ChildProcess;
  readonly #file: number;
  #waiting: Waiting | undefined;
  #ended: NativeEndError | undefined;
  #endedHere = false;
  pages = 0;

  private constructor(settings: NativeSettings, variables: Variables, file: number) {
    this.#file = file;
    // Without stdbuf the answer would stay in the process' own buffer until the next pages push it out.
    const command = ['stdbuf', '-oL', ...tesseract(settings, { ...variables, stream_filelist: '1' })];
    this.#child = start(command, ['pipe', 'pipe', 'ignore', file]);
    const hocr = new HocrReader((lines) => {
      this.#waiting?.resolve(lines);
      this.#waiting = undefined;
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => hocr.write(chunk));
    this.#child.stdin?.on('error', () => undefined);
    const ended = (error: NativeEndError) => {
      this.#ended ??= error;
      this.#waiting?.reject(this.#ended);
      this.#waiting = undefined;
    };
    this.#child.once('error', (cause) => ended(new NativeEndError('it did not start', { cause })));
    this.#child.once('close', (code, signal) => {
      ended(new NativeEndError(signal ?? `exit ${code}`, { bySystem: !this.#endedHere && endedBySystem(signal) }));
      closeSync(file);
    });
  }

  /**
   * Starts a process and waits until it has read a blank page.
   * @returns undefined where this system cannot: no memory file system, no stdbuf, or one that does not work on this tesseract.
   * @throws NativeEndError if the system ended the process or could not start it, so that another attempt may work
   */
  static async open(
    settings: NativeSettings,
    variables: Variables,
    blank: Uint8Array,
  ): Promise<PageStream | undefined> {
    const file = memoryFile();
    if (file === undefined) return undefined;
    const stream = new PageStream(settings, variables, file);
    const late = setTimeout(() => stream.end(), ANSWER_MS);
    try {
      await stream.read(blank);
      return stream;
    } catch (error) {
      stream.end();
      if (isSystemFailure(error)) throw error;
      return undefined;
    } finally {
      clearTimeout(late);
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** MiB that the process holds; 0 where the system does not tell. */
  get residentMiB(): number {
    try {
      return (Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]) * 4096) / (1024 * 1024);
    } catch {
      return 0;
    }
  }

  async read(bitmap: Uint8Array): Promise<ReadLine[]> {
    if (this.#ended) throw this.#ended;
    ftruncateSync(this.#file, 0);
    try {
      for (let at = 0; at < bitmap.length; ) at += writeSync(this.#file, bitmap, at, bitmap.length - at, at);
      this.pages += 1;
      return await new Promise<ReadLine[]>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#child.stdin?.write('/dev/fd/3\n');
      });
    } finally {
      // A closed file is gone already.
      if (!this.#ended) ftruncateSync(this.#file, 0);
    }
  }

  end(): void {
    this.#endedHere = true;
    this.#child.kill('SIGKILL');
  }
}

/** Whether a process ended because of the system, so that the same work may succeed in another process. */
export const isSystemFailure = (error: unknown): boolean =>
  error instanceof NativeEndError && (error.bySystem || machineFaultError(error) !== undefined);

/** A file in memory that no folder names: gone with the processes that hold it, whatever ends them. */
function memoryFile(): number | undefined {
  try {
    if (statfsSync(MEMORY_FOLDER).type !== TMPFS) return undefined;
    const path = `${MEMORY_FOLDER}/parsemesh-${randomUUID()}`;
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  } catch {
    return undefined;
  }
}
