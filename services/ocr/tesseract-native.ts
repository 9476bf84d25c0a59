// Runs the installed tesseract program. It has the same models and layout analysis as the WebAssembly build and needs less CPU time.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { endedBySystem, endedBySystemError, machineFaultError } from '#shared/contract/machine-fault.ts';
import { processCpuMs } from '#shared/runtime/isolation/process-cpu.ts';
import { BudgetError, Engine, type EngineKind, type ReadingOptions, type ReadLine } from './engine.ts';
import { type GreyImage, greyBitmap } from './pixels.ts';
import { findModels, installedLanguages, type Models, unusableModels } from './tesseract-models.ts';
import {
  isSystemFailure,
  type NativeReader,
  type NativeSettings,
  PageStream,
  SinglePage,
  type Variables,
} from './tesseract-process.ts';
import { PAGE_SEGMENTATION, THRESHOLDING } from './tesseract-variables.ts';

/** The first release with the thresholding methods that a options names. */
const OLDEST_MAJOR = 5;
const WATCH_MS = 100;
/** A process is replaced after so many pages, or once it is so large. */
const MOST_PAGES = 300;
const MOST_MIB = 500;
/** A page is answered with an error after the system ended this many processes that read it. */
const MOST_SYSTEM_ENDS = 2;

let version: string | undefined;
let versionKnown = false;
/** Why the program could not be asked for its version, although it may be installed. */
let versionFailure: unknown;

/** Version of the installed tesseract, read once per process. Undefined if there is none, or if it is too old. */
export function nativeVersion(): string | undefined {
  if (versionKnown) return version;
  for (let attempt = 1; attempt <= MOST_SYSTEM_ENDS; attempt++) {
    const { stdout, error, signal } = spawnSync('tesseract', ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // The service calls this too, and its environment may hold secrets.
      env: { PATH: process.env.PATH },
    });
    versionFailure =
      error && machineFaultError(error) ? error : endedBySystem(signal) ? new Error(`${signal}`) : undefined;
    if (versionFailure !== undefined) continue;
    const found = /^tesseract v?(\d+)(\.[\w.-]+)?/m.exec(stdout ?? '');
    version = found && Number(found[1]) >= OLDEST_MAJOR ? found[0].slice('tesseract '.length) : undefined;
    versionKnown = true;
    break;
  }
  return version;
}

/** The folder of the models. The program accepts one folder only: undefined if the models are in several. */
function settingsFor(models: Models): NativeSettings | undefined {
  const folders = new Set([...models.values()].map(dirname));
  const [folder] = folders;
  const named = [...models].every(([language, path]) => basename(path) === `${language}.traineddata`);
  return folder !== undefined && folders.size === 1 && named
    ? { models: folder, languages: [...models.keys()].join('+') }
    : undefined;
}

/** The memory file system has no room for a page: a container's holds 64 MiB unless it says otherwise, and pages are read side by side. */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOSPC';

const systemError = (cause: unknown): ParseError =>
  machineFaultError(cause) ?? endedBySystemError('Tesseract, which reads scans,', cause);

/** The error of the system when a model is opened; undefined if all can be opened. */
function modelError({ models, languages }: NativeSettings): unknown {
  try {
    for (const language of languages.split('+')) closeSync(openSync(join(models, `${language}.traineddata`), 'r'));
    return undefined;
  } catch (error) {
    return error;
  }
}

export class NativeEngine extends Engine {
  readonly #settings: NativeSettings;
  /** One process for each way to look at pages: pages that need a second look seldom come alone. */
  readonly #streams = new Map<string, PageStream>();
  /** False once this system has shown that it cannot keep a process for many pages. */
  #canStream: boolean;
  /** What reads now. */
  #busy: NativeReader | undefined;

  private constructor(settings: NativeSettings, canStream: boolean) {
    super(settings.languages.split('+'));
    this.#settings = settings;
    this.#canStream = canStream;
  }

  /**
   * @param stream false to use one process per page, as on a system without memory files.
   * @throws ParseError SERVICE_UNAVAILABLE if tesseract 5 is not installed, cannot load the models, or was ended by the system twice.
   */
  static async load(languages: readonly string[], stream = true): Promise<NativeEngine> {
    const settings = settingsFor(findModels(languages));
    const installed = nativeVersion();
    if (!installed && versionFailure !== undefined) throw systemError(versionFailure);
    if (!installed || !settings)
      throw new ParseError(
        'SERVICE_UNAVAILABLE',
        settings
          ? 'OCR is not available: OCR_ENGINE is `native`, but tesseract 5 or later is not installed. The operator of this server can run `apt-get install tesseract-ocr`, or set OCR_ENGINE to auto.'
          : 'OCR is not available: the installed tesseract needs the data of all languages in one folder. The operator of this server can copy them to one folder and set TESSDATA_PREFIX to it.',
      );
    const engine = new NativeEngine(settings, stream);
    const blank = greyBitmap(BLANK, 200);
    try {
      await engine.#untilRead(async () => {
        if (!(await engine.#open(USUAL))) await new SinglePage(settings, USUAL).read(blank);
      });
    } catch (cause) {
      if (cause instanceof ParseError) throw cause;
      throw machineFaultError(modelError(settings)) ?? unusableModels(languages, cause);
    }
    return engine;
  }

  override get unfit(): boolean {
    return false;
  }

  /** Its processes are replaced one by one, the engine itself does not wear. */
  override get worn(): boolean {
    return false;
  }

  protected override cpuMs(): number {
    const own = processCpuMs('self');
    if (own === undefined) return performance.now();
    // What ended has been waited for, and is part of our own time.
    const alive = new Set([...this.#streams.values(), this.#busy].map((reader) => reader?.pid));
    return [...alive].reduce<number>((sum, pid) => sum + (pid === undefined ? 0 : (processCpuMs(pid) ?? 0)), own);
  }

  async #open(variables: Variables): Promise<PageStream | undefined> {
    const key = Object.values(variables).join();
    const old = this.#streams.get(key);
    if (old && !old.hasEnded && old.pages < MOST_PAGES && old.residentMiB < MOST_MIB) return old;
    old?.end();
    this.#streams.delete(key);
    if (!this.#canStream) return undefined;
    const opened = await PageStream.open(this.#settings, variables, greyBitmap(BLANK, 200));
    if (opened) this.#streams.set(key, opened);
    // Where the first process could not be had, the next ones will not be either.
    else if (this.#streams.size === 0 && !old) this.#canStream = false;
    return opened;
  }

  /**
   * Repeats work whose process the system ended.
   * @throws ParseError SERVICE_UNAVAILABLE after the second time, or any other error of `work`
   */
  async #untilRead<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let ends = 1; ; ends++)
      try {
        return await work();
      } catch (error) {
        if (!isSystemFailure(error)) throw error;
        if (ends >= MOST_SYSTEM_ENDS) throw systemError(error);
      }
  }

  override async read(image: GreyImage, options: ReadingOptions): Promise<ReadLine[]> {
    const bitmap = greyBitmap(image, options.dpi);
    const variables = {
      tessedit_pageseg_mode: PAGE_SEGMENTATION[options.layout],
      thresholding_method: THRESHOLDING[options.threshold],
    };
    return this.#untilRead(async () => {
      const stream = await this.#open(variables);
      try {
        if (stream) return await this.#watched(stream, bitmap);
      } catch (error) {
        if (!isFull(error)) throw error;
      }
      return this.#watched(new SinglePage(this.#settings, variables), bitmap);
    });
  }

  /** A reading that is ended where it costs too much. */
  async #watched(reader: NativeReader, bitmap: Uint8Array): Promise<ReadLine[]> {
    this.#busy = reader;
    let over = false;
    const watch = setInterval(() => {
      if (!this.overBudget) return;
      over = true;
      reader.end();
    }, WATCH_MS);
    try {
      return await reader.read(bitmap);
    } catch (error) {
      if (over) throw new BudgetError('the page exceeded its budget of CPU time', { cause: error });
      throw error;
    } finally {
      clearInterval(watch);
      this.#busy = undefined;
    }
  }

  override async close(): Promise<void> {
    this.#busy?.end();
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }
}

const USUAL: Variables = {
  tessedit_pageseg_mode: PAGE_SEGMENTATION.page,
  thresholding_method: THRESHOLDING.global,
};
const BLANK: GreyImage = { width: 32, height: 32, pixels: new Uint8Array(32 * 32).fill(255) };

/** Whether one process can read these languages: it needs tesseract 5, and the models in one folder. */
function reads(languages: readonly string[]): boolean {
  const installed = installedLanguages();
  if (!languages.every((language) => installed.includes(language))) return false;
  return settingsFor(findModels(languages)) !== undefined && nativeVersion() !== undefined;
}

export const nativeTesseract: EngineKind = {
  name: 'native',
  languages: () => (nativeVersion() === undefined ? [] : installedLanguages()),
  reads,
  load: (languages) => NativeEngine.load(languages),
};
