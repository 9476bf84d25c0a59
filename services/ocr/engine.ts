// What reading a page needs of an engine, so that the one that is shipped and the one that a machine has installed are used alike.
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { GreyImage } from './pixels.ts';

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

/** A page that costs more than a page may. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/** One loaded engine. Not reentrant: one page at a time. */
export abstract class Engine {
  /** Names joined by `+`. */
  readonly languages: string;
  #end = Number.POSITIVE_INFINITY;

  constructor(languages: string) {
    this.languages = languages;
  }

  /** Cannot read on: load another. */
  abstract get unfit(): boolean;
  /** Has read so much, or grown so large, that another should take its place before the next page. */
  abstract get worn(): boolean;
  /** Processor time that readings took so far, in milliseconds, with everything that the engine started. */
  protected abstract cpuMs(): number;

  /**
   * Lines and words as the layout analysis sees them, where looking first costs nothing; undefined where it would cost a reading.
   * A `read` of the same image and view right after it reuses the analysis.
   */
  layout(_image: GreyImage, _view: View): LaidLine[] | undefined {
    return undefined;
  }

  /**
   * Reads an image: lines in the engine's reading order, without empty words.
   * @throws BudgetError
   */
  abstract read(image: GreyImage, view: View): Promise<ReadLine[]>;

  abstract close(): Promise<void>;

  /** Processor time that the readings from now on may take together, in milliseconds; past it `read` throws a BudgetError. */
  allow(milliseconds: number): void {
    this.#end = this.cpuMs() + milliseconds;
  }

  protected get overBudget(): boolean {
    return this.cpuMs() > this.#end;
  }

  /**
   * Runs a reading that may cost less than what is left.
   * @returns undefined where it was broken off; the engine may be unfit then.
   */
  async attempt<Result>(milliseconds: number, reading: () => Promise<Result>): Promise<Result | undefined> {
    const end = this.#end;
    this.#end = Math.min(end, this.cpuMs() + milliseconds);
    try {
      return await reading();
    } catch (error) {
      if (error instanceof BudgetError) return undefined;
      throw error;
    } finally {
      this.#end = end;
    }
  }
}
