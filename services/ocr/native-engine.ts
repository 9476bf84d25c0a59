// Reads with a tesseract that the machine has installed: the same models and layout analysis as the WebAssembly core, at less processor time.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ParseError } from '#shared/contract/errors.ts';
import { BudgetError, Engine, type ReadLine, SEGMENTATION, THRESHOLDING, type View } from './engine.ts';
import { unusableModels } from './languages.ts';
import { type NativeReader, type NativeSettings, PageStream, SinglePage, type Variables } from './native-process.ts';
import { type GreyImage, greyBitmap } from './pixels.ts';

/** The first release with the thresholding methods that a view names. */
const OLDEST_MAJOR = 5;
const WATCH_MS = 100;
/** A process is replaced after so many pages, or once it is so large. */
const MOST_PAGES = 300;
const MOST_MIB = 500;
const MS_A_TICK = 10;

/** Processor milliseconds of a process, and of the children it has waited for (proc(5), fields 14 to 17); undefined where there is no /proc. */
function cpuOf(pid: number | 'self'): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_A_TICK;
  } catch {
    return undefined;
  }
}

/** Version of the tesseract on the path; undefined without one that is new enough. */
export function nativeVersion(): string | undefined {
  const { stdout } = spawnSync('tesseract', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const version = /^tesseract v?(\d+)(\.[\w.-]+)?/m.exec(stdout ?? '');
  return version && Number(version[1]) >= OLDEST_MAJOR ? version[0].slice('tesseract '.length) : undefined;
}

/** The one folder that holds all models, which is what the program takes. */
function settingsFor(models: ReadonlyMap<string, string>): NativeSettings | undefined {
  const folders = new Set([...models.values()].map(dirname));
  const [folder] = folders;
  const named = [...models].every(([language, path]) => basename(path) === `${language}.traineddata`);
  return folder !== undefined && folders.size === 1 && named
    ? { models: folder, languages: [...models.keys()].join('+') }
    : undefined;
}

/** The memory file system has no room for a page: a container's holds 64 MiB unless it says otherwise, and pages are read side by side. */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOSPC';

export class NativeEngine extends Engine {
  readonly #settings: NativeSettings;
  /** One process for each way to look at pages: pages that need a second look seldom come alone. */
  readonly #streams = new Map<string, PageStream>();
  /** False once this system has shown that it cannot keep a process for many pages. */
  #canStream: boolean;
  /** What reads now. */
  #busy: NativeReader | undefined;

  private constructor(settings: NativeSettings, canStream: boolean) {
    super(settings.languages);
    this.#settings = settings;
    this.#canStream = canStream;
  }

  /**
   * @param models path of the `.traineddata` file of each language, in order of preference.
   * @param stream false for a process a page, as on a system without memory files.
   * @throws ParseError SERVICE_UNAVAILABLE where there is no fit tesseract, or it does not take the models.
   */
  static async load(models: ReadonlyMap<string, string>, stream = true): Promise<NativeEngine> {
    const settings = settingsFor(models);
    if (!nativeVersion() || !settings)
      throw new ParseError(
        'SERVICE_UNAVAILABLE',
        settings
          ? 'OCR is not available: OCR_ENGINE asks for an installed tesseract of version 5 or later, and there is none. Its operator can run `apt-get install tesseract-ocr`, or set OCR_ENGINE to auto.'
          : 'OCR is not available: an installed tesseract takes language data of one folder only. Its operator can put them together and name the folder in TESSDATA_PREFIX.',
      );
    const engine = new NativeEngine(settings, stream);
    try {
      if (!(await engine.#open(USUAL))) await new SinglePage(settings, USUAL).read(greyBitmap(BLANK, 200));
    } catch (cause) {
      throw unusableModels(settings.languages, cause);
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
    const own = cpuOf('self');
    if (own === undefined) return performance.now();
    // What ended has been waited for, and is part of our own time.
    const alive = new Set([...this.#streams.values(), this.#busy].map((reader) => reader?.pid));
    return [...alive].reduce<number>((sum, pid) => sum + (pid === undefined ? 0 : (cpuOf(pid) ?? 0)), own);
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

  override async read(image: GreyImage, view: View): Promise<ReadLine[]> {
    const bitmap = greyBitmap(image, view.dpi);
    const variables = { tessedit_pageseg_mode: view.segmentation, thresholding_method: view.thresholding };
    const stream = await this.#open(variables);
    try {
      if (stream) return await this.#watched(stream, bitmap);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    return this.#watched(new SinglePage(this.#settings, variables), bitmap);
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
      if (over) throw new BudgetError('the page costs more processor time than a page may', { cause: error });
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
  tessedit_pageseg_mode: SEGMENTATION.auto,
  thresholding_method: THRESHOLDING.otsu,
};
const BLANK: GreyImage = { width: 32, height: 32, pixels: new Uint8Array(32 * 32).fill(255) };
