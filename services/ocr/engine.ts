// Defines what an OCR engine is: it takes an image and returns lines of words. Page reading uses every engine through this interface.
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { GreyImage } from './pixels.ts';

/** How an image is read. */
export interface ReadingOptions {
  /** Resolution of the image, in dots per inch. */
  dpi: number;
  /** `page`: the image may hold columns, tables and pictures. `block`: the image holds the lines of one column. */
  layout: 'page' | 'block';
  /** `global`: one grey level separates ink from paper. `local`: the level follows the paper, for uneven light and very small print. */
  threshold: 'global' | 'local';
}

/** A word that the layout analysis found. Its text is not read yet. */
interface LaidWord {
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
  /** Index of its block in reading order, starting at 0. */
  block: number;
  words: ReadWord[];
}

/** Thrown when a reading exceeds its budget of CPU time. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/** One kind of engine on this machine. `engines.ts` lists all kinds. */
export interface EngineKind {
  readonly name: string;
  /** Language codes that this kind can read on this machine, such as `eng` and `chi_sim`. Empty if the kind cannot run here. */
  languages(): readonly string[];
  /** Whether one engine of this kind can read these languages together. */
  reads(languages: readonly string[]): boolean;
  /**
   * Starts an engine.
   * @param languages in order of preference.
   * @throws ParseError SERVICE_UNAVAILABLE if the kind cannot run here, or cannot read the languages.
   */
  load(languages: readonly string[]): Promise<Engine>;
}

/** A loaded engine. It reads one image at a time. */
export abstract class Engine {
  /** Language codes, in order of preference. */
  readonly languages: readonly string[];
  #cpuLimitMs = Number.POSITIVE_INFINITY;

  constructor(languages: readonly string[]) {
    this.languages = languages;
  }

  /** True after a failure that leaves the engine unusable. Load another engine. */
  abstract get unfit(): boolean;
  /** True if the engine has read so many pages, or uses so much memory, that it must be replaced before the next page. */
  abstract get worn(): boolean;
  /** CPU time of all readings so far, in milliseconds, including child processes. */
  protected abstract cpuMs(): number;

  /**
   * Finds lines and words without reading them. Returns undefined if this engine cannot do it at a low cost.
   * A `read` of the same image with the same options right after it reuses the analysis.
   */
  layout(_image: GreyImage, _options: ReadingOptions): LaidLine[] | undefined {
    return undefined;
  }

  /**
   * Reads an image.
   * @returns lines in the reading order of the engine, without empty words.
   * @throws BudgetError
   */
  abstract read(image: GreyImage, options: ReadingOptions): Promise<ReadLine[]>;

  abstract close(): Promise<void>;

  /** Sets the budget of CPU time for all later readings together, in milliseconds. `read` throws a BudgetError when it is used up. */
  allow(milliseconds: number): void {
    this.#cpuLimitMs = this.cpuMs() + milliseconds;
  }

  protected get overBudget(): boolean {
    return this.cpuMs() > this.#cpuLimitMs;
  }

  /**
   * Runs a reading with a budget of its own, within the remaining budget.
   * @returns undefined if the reading exceeded its budget. The engine may be unfit then.
   */
  async attempt<Result>(milliseconds: number, reading: () => Promise<Result>): Promise<Result | undefined> {
    const limit = this.#cpuLimitMs;
    this.#cpuLimitMs = Math.min(limit, this.cpuMs() + milliseconds);
    try {
      return await reading();
    } catch (error) {
      if (error instanceof BudgetError) return undefined;
      throw error;
    } finally {
      this.#cpuLimitMs = limit;
    }
  }
}
