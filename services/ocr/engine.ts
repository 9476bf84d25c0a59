// Drives tesseract's WebAssembly core in this process, because the package's own worker thread costs a copy of every page and a JSON tree of every glyph.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ParseError } from '#shared/contract/errors.ts';
import type { PixelBox } from '#shared/contract/jobs.ts';
import { type GreyImage, greyBitmap } from './pixels.ts';

/** tesseract's page segmentation modes that are used here (tesseract, PageSegMode). */
export const SEGMENTATION = { auto: '3', block: '6' } as const;

/** tesseract's thresholding_method: one grey for the whole page, or a local one for tiny or unevenly lit print. */
export const THRESHOLDING = { otsu: '0', sauvola: '2' } as const;

/** How an image is to be looked at. */
export interface View {
  /** Dots an inch; without it the engine guesses, badly. */
  dpi: number;
  segmentation: (typeof SEGMENTATION)[keyof typeof SEGMENTATION];
  thresholding: (typeof THRESHOLDING)[keyof typeof THRESHOLDING];
}

/** tesseract's PageIteratorLevel. */
const BLOCK = 0;
const LINE = 2;
const WORD = 3;
/** tesseract's OEM_LSTM_ONLY. */
const LSTM_ONLY = 1;

interface CoreBox {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

interface CorePageIterator {
  Begin(): void;
  Next(level: number): boolean;
  Empty(level: number): boolean;
  IsAtBeginningOf(level: number): boolean;
  /** Writes four 32-bit integers where the pointers point. */
  BoundingBox(level: number, left: number, top: number, right: number, bottom: number): boolean;
}

interface CoreResultIterator extends CorePageIterator {
  getBoundingBox(level: number): CoreBox;
  GetUTF8Text(level: number): string;
  Confidence(level: number): number;
  getRowAttributes(): { row_height: number; ascenders: number; descenders: number };
}

interface CoreApi {
  Init(path: null, languages: string, engine: number): number;
  SetVariable(name: string, value: string): boolean;
  SetImageFile(exifOrientation: number, radians: number): number;
  AnalyseLayout(): CorePageIterator;
  Recognize(monitor: null): number;
  GetIterator(): CoreResultIterator;
  Clear(): void;
  End(): void;
}

interface Core {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void };
  TessBaseAPI: new () => CoreApi;
  destroy(object: object): void;
  getPointer(object: object): number;
  _malloc(bytes: number): number;
  getValue(pointer: number, type: 'i32'): number;
}

interface CoreSettings {
  print: (line: string) => void;
  printErr: (line: string) => void;
  /** Called every few words while the engine reads; what it throws ends the reading. */
  TesseractProgress: (percent: number) => void;
}

type CoreFactory = (settings: CoreSettings) => Promise<Core>;

/** Picks the fastest core that this processor and Node can run (relaxed SIMD, SIMD, plain); reads local files only. */
const loadCore = createRequire(import.meta.url)('tesseract.js/src/worker-script/node/getCore.js') as (
  engine: number,
  corePath: undefined,
  report: { progress: (status: unknown) => void },
) => Promise<CoreFactory>;

/** A word of the layout analysis, before anything is read. */
export interface LaidWord {
  box: PixelBox;
}

export interface LaidLine {
  box: PixelBox;
  words: LaidWord[];
}

export interface ReadWord {
  text: string;
  box: PixelBox;
  /** 0 to 1. */
  confidence: number;
}

export interface ReadLine {
  box: PixelBox;
  /** Baseline to ascender, in pixels. */
  height: number;
  /** Number of the block it stands in, in reading order. */
  block: number;
  words: ReadWord[];
}

const toBox = (box: CoreBox): PixelBox => [box.x0, box.y0, box.x1, box.y1];
const INPUT = '/input';

/** A page that costs more than a page may; the engine is unfit for another. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

interface Budget {
  /** Processor time of this process at which a reading ends, in milliseconds. */
  end: number;
  spent: boolean;
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** One loaded engine. Not reentrant: one page at a time, and every call blocks the thread. */
export class Engine {
  readonly languages: string;
  /** Pages recognized since the engine was loaded. */
  pagesRead = 0;
  readonly #core: Core;
  readonly #api: CoreApi;
  /** Room for the four integers of a box. */
  readonly #scratch: number;
  readonly #budget: Budget;

  private constructor(core: Core, api: CoreApi, languages: string, budget: Budget) {
    this.#core = core;
    this.#api = api;
    this.languages = languages;
    this.#scratch = core._malloc(16);
    this.#budget = budget;
  }

  /**
   * Loads the core and its models.
   * @param models path of the `.traineddata` file of each language, in order of preference.
   * @throws ParseError SERVICE_UNAVAILABLE where a model cannot be read or used.
   */
  static async load(models: ReadonlyMap<string, string>): Promise<Engine> {
    const languages = [...models.keys()].join('+');
    const factory = await loadCore(LSTM_ONLY, undefined, { progress: () => {} });
    const budget: Budget = { end: Number.POSITIVE_INFINITY, spent: false };
    const core = await factory({
      print: () => {},
      printErr: () => {},
      TesseractProgress: () => {
        if (cpuMs() <= budget.end) return;
        budget.spent = true;
        throw new BudgetError('the page costs more processor time than a page may');
      },
    });
    const api = new core.TessBaseAPI();
    try {
      for (const [language, path] of models) core.FS.writeFile(`${language}.traineddata`, readFileSync(path));
      if (api.Init(null, languages, LSTM_ONLY) !== 0) throw new Error(`tesseract refused the models of ${languages}`);
    } catch (cause) {
      throw new ParseError(
        'SERVICE_UNAVAILABLE',
        `The OCR language data of \`${languages}\` cannot be loaded. Install it again, for example with \`apt-get install --reinstall tesseract-ocr-eng\`.`,
        { cause },
      ); // prettier-ignore
    }
    for (const language of models.keys()) core.FS.unlink(`${language}.traineddata`);
    return new Engine(core, api, languages, budget);
  }

  /** A reading was broken off, which leaves the core in an unknown state: load another. */
  get unfit(): boolean {
    return this.#budget.spent;
  }

  /** Processor time that the readings from now on may take together, in milliseconds; past it `recognize` throws a BudgetError. */
  allow(milliseconds: number): void {
    this.#budget.end = cpuMs() + milliseconds;
  }

  /**
   * Runs a reading that may cost less than what is left.
   * @returns undefined where it was broken off; the engine is unfit then.
   */
  attempt<Result>(milliseconds: number, reading: () => Result): Result | undefined {
    const { end } = this.#budget;
    this.#budget.end = Math.min(end, cpuMs() + milliseconds);
    try {
      return reading();
    } catch (error) {
      if (error instanceof BudgetError) return undefined;
      throw error;
    } finally {
      this.#budget.end = end;
    }
  }

  /** Hands over the image that the calls after it are about. */
  setImage(image: GreyImage, view: View): void {
    this.#api.SetVariable('tessedit_pageseg_mode', view.segmentation);
    this.#api.SetVariable('thresholding_method', view.thresholding);
    this.#api.SetVariable('user_defined_dpi', String(Math.round(view.dpi)));
    this.#core.FS.writeFile(INPUT, greyBitmap(image));
    const failed = this.#api.SetImageFile(1, 0) !== 0;
    this.#core.FS.unlink(INPUT);
    if (failed) throw new Error('tesseract could not take the page image');
  }

  /** Lines and words as the layout analysis sees them; `recognize` reuses the analysis, so looking costs nothing. */
  layout(): LaidLine[] {
    const iterator = this.#api.AnalyseLayout();
    if (this.#core.getPointer(iterator) === 0) return [];
    const lines: LaidLine[] = [];
    iterator.Begin();
    do {
      if (iterator.Empty(WORD)) continue;
      if (iterator.IsAtBeginningOf(LINE) || lines.length === 0)
        lines.push({ box: this.#boxOf(iterator, LINE), words: [] });
      lines.at(-1)?.words.push({ box: this.#boxOf(iterator, WORD) });
    } while (iterator.Next(WORD));
    this.#core.destroy(iterator);
    return lines;
  }

  /**
   * Reads the image: lines in the engine's reading order, without empty words.
   * @throws BudgetError
   */
  recognize(): ReadLine[] {
    if (this.#api.Recognize(null) !== 0) return [];
    const iterator = this.#api.GetIterator();
    if (this.#core.getPointer(iterator) === 0) return [];
    const lines: ReadLine[] = [];
    let open: ReadLine | undefined;
    let block = -1;
    iterator.Begin();
    do {
      if (iterator.IsAtBeginningOf(BLOCK) || block < 0) block += 1;
      if (iterator.IsAtBeginningOf(LINE)) open = undefined;
      if (iterator.Empty(WORD)) continue;
      const text = iterator.GetUTF8Text(WORD)?.trim() ?? '';
      if (text === '') continue;
      if (!open) {
        const { row_height, descenders } = iterator.getRowAttributes();
        open = { box: toBox(iterator.getBoundingBox(LINE)), height: row_height + descenders, block, words: [] };
        lines.push(open);
      }
      open.words.push({ text, box: toBox(iterator.getBoundingBox(WORD)), confidence: iterator.Confidence(WORD) / 100 });
    } while (iterator.Next(WORD));
    this.#core.destroy(iterator);
    this.#api.Clear();
    this.pagesRead += 1;
    return lines;
  }

  #boxOf(iterator: CorePageIterator, level: number): PixelBox {
    const at = this.#scratch;
    iterator.BoundingBox(level, at, at + 4, at + 8, at + 12);
    return [0, 4, 8, 12].map((offset) => this.#core.getValue(at + offset, 'i32')) as PixelBox;
  }

  close(): void {
    this.#api.End();
    this.#core.destroy(this.#api);
  }
}
