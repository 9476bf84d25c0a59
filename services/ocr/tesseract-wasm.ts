// Runs Tesseract as WebAssembly in this process. The package's own worker thread would copy every page and build a JSON tree of every glyph.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ParseError } from '#shared/contract/errors.ts';
import type { PixelBox } from '#shared/contract/jobs.ts';
import { machineFaultError } from '#shared/contract/machine-fault.ts';
import { BudgetError, Engine, type EngineKind, type LaidLine, type ReadingOptions, type ReadLine } from './engine.ts';
import { type GreyImage, greyBitmap } from './pixels.ts';
import { findModels, installedLanguages, type Models, unusableModels } from './tesseract-models.ts';
import { PAGE_SEGMENTATION, THRESHOLDING } from './tesseract-variables.ts';

/** What V8 and Emscripten say when WebAssembly gets no memory. */
const OUT_OF_MEMORY = /\bOOM\b|could not allocate memory|out of memory|enlarge memory/i;

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

const toBox = (box: CoreBox): PixelBox => [box.x0, box.y0, box.x1, box.y1];
const INPUT = '/input';

/** WebAssembly memory never shrinks, so an engine is thrown away after this many pages or once the process is this large. */
const MOST_PAGES = 300;
const RESIDENT_BYTES = 700 * 1024 * 1024;

interface Watch {
  /** Asked every few words. */
  over: () => boolean;
  /** A reading was broken off, which leaves the core in an unknown state. */
  broken: boolean;
}

/** The core in this process; a reading blocks the thread. */
class WasmEngine extends Engine {
  readonly #core: Core;
  readonly #api: CoreApi;
  /** Room for the four integers of a box. */
  readonly #scratch: number;
  readonly #watch: Watch;
  #pagesRead = 0;
  /** What was handed over and looked at, and not yet read. */
  #held: { image: GreyImage; options: ReadingOptions } | undefined;

  private constructor(core: Core, api: CoreApi, languages: readonly string[], watch: Watch) {
    super(languages);
    this.#core = core;
    this.#api = api;
    this.#scratch = core._malloc(16);
    this.#watch = watch;
    watch.over = () => this.overBudget;
  }

  /**
   * Loads the core and the models.
   * @throws ParseError SERVICE_UNAVAILABLE if a model is missing or cannot be used, or if the machine cannot load it now.
   */
  static async load(languages: readonly string[]): Promise<WasmEngine> {
    const models = findModels(languages);
    try {
      return await WasmEngine.#load(languages, models);
    } catch (cause) {
      if (cause instanceof ParseError) throw cause;
      const error = OUT_OF_MEMORY.test(String(cause))
        ? Object.assign(new Error('no memory', { cause }), { code: 'ENOMEM' })
        : cause;
      throw machineFaultError(error) ?? unusableModels(languages, cause);
    }
  }

  static async #load(languages: readonly string[], models: Models): Promise<WasmEngine> {
    const factory = await loadCore(LSTM_ONLY, undefined, { progress: () => {} });
    const watch: Watch = { over: () => false, broken: false };
    const core = await factory({
      print: () => {},
      printErr: () => {},
      TesseractProgress: () => {
        if (!watch.over()) return;
        watch.broken = true;
        throw new BudgetError('the page exceeded its budget of CPU time');
      },
    });
    const api = new core.TessBaseAPI();
    for (const [language, path] of models) core.FS.writeFile(`${language}.traineddata`, readFileSync(path));
    if (api.Init(null, languages.join('+'), LSTM_ONLY) !== 0)
      throw new Error(`tesseract refused the models of ${languages.join('+')}`);
    for (const language of languages) core.FS.unlink(`${language}.traineddata`);
    return new WasmEngine(core, api, languages, watch);
  }

  override get unfit(): boolean {
    return this.#watch.broken;
  }

  override get worn(): boolean {
    return this.unfit || this.#pagesRead >= MOST_PAGES || process.memoryUsage.rss() > RESIDENT_BYTES;
  }

  protected override cpuMs(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }

  #hold(image: GreyImage, options: ReadingOptions): void {
    if (this.#held?.image === image && this.#held.options === options) return;
    this.#api.SetVariable('tessedit_pageseg_mode', PAGE_SEGMENTATION[options.layout]);
    this.#api.SetVariable('thresholding_method', THRESHOLDING[options.threshold]);
    this.#api.SetVariable('user_defined_dpi', String(Math.round(options.dpi)));
    this.#core.FS.writeFile(INPUT, greyBitmap(image, options.dpi));
    const failed = this.#api.SetImageFile(1, 0) !== 0;
    this.#core.FS.unlink(INPUT);
    if (failed) throw new Error('tesseract could not take the page image');
    this.#held = { image, options };
  }

  override layout(image: GreyImage, options: ReadingOptions): LaidLine[] {
    this.#hold(image, options);
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

  override async read(image: GreyImage, options: ReadingOptions): Promise<ReadLine[]> {
    this.#hold(image, options);
    this.#held = undefined;
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
    this.#pagesRead += 1;
    return lines;
  }

  #boxOf(iterator: CorePageIterator, level: number): PixelBox {
    const at = this.#scratch;
    iterator.BoundingBox(level, at, at + 4, at + 8, at + 12);
    return [0, 4, 8, 12].map((offset) => this.#core.getValue(at + offset, 'i32')) as PixelBox;
  }

  override async close(): Promise<void> {
    // A core that was broken off may trap on any call; its memory goes with the last name for it.
    if (this.unfit) return;
    this.#api.End();
    this.#core.destroy(this.#api);
  }
}

export const wasmTesseract: EngineKind = {
  name: 'wasm',
  languages: installedLanguages,
  reads: (languages) => languages.every((language) => installedLanguages().includes(language)),
  load: (languages) => WasmEngine.load(languages),
};
