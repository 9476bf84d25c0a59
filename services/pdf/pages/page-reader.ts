// Reads runs of pages by the mode that was asked for: the text layer, OCR where it fails, or OCR alone, a few pages at once.

import { setImmediate } from 'node:timers/promises';
import { ParseError } from '#shared/contract/errors.ts';
import type { JobContext } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { PdfOptions } from '#shared/contract/options-schema.ts';
import type { PageContent } from '../source/page-model.ts';
import { EngineCrashError, type PageSource, PageUnreadableError } from '../source/page-source.ts';
import { readFigures } from './ocr-figures.ts';
import { type OcrClient, recognizePage } from './ocr-page.ts';
import { OcrWindow } from './ocr-window.ts';
import type { PageProgress } from './progress.ts';
import { PageAbandonedError, type ReadingTime } from './reading-time.ts';
import { chooseReading, dropHiddenText, judgeText, type Reading, readsMore, type TextVerdict } from './text-quality.ts';

/** Mean confidence below which a page counts as read in part. */
const LOW_CONFIDENCE = 0.6;
/** Pages between two looks at whether the caller is still there. */
const BREATH = 8;
/** Warnings that are told one by one; the rest are counted. */
const MAX_WARNINGS = 20;
const NO_TEXT = 'holds no text';
const DAMAGED = 'is damaged and could not be read';
const HARD_TO_READ = 'was hard to read by OCR: its text may be wrong in places';
const NO_TIME_FOR_PICTURES = 'shows pictures that OCR did not read in time: only the text layer of the page was read';
const FAST_WARNINGS: Partial<Record<TextVerdict, string>> = {
  empty: NO_TEXT,
  missing: 'has no text layer; use mode auto or ocr',
  broken: 'has a text layer that does not name its characters; use mode auto or ocr',
  garbled: 'has a text layer that does not name its characters; use mode auto or ocr',
  picture: 'is mostly a picture; use mode auto or ocr to read it',
};
const ONLY_FURNITURE =
  'holds nothing but page headers, footers or numbers; ask with onlyMainContent: false to have them';

export interface ReadPage {
  content: PageContent;
  source: 'native_text' | 'layout_ocr';
  status: 'ok' | 'partial' | 'failed';
  /** px, null for a page that was not rendered. */
  renderWidth: number | null;
  renderHeight: number | null;
}

/** Pages whose OCR is on its way. */
export interface PageRun {
  /** In page order; those that OCR reads are whole once `settled`. */
  pages: ReadPage[];
  /** @throws what ends the document */
  settled: Promise<unknown>;
}

export class PageReader {
  readonly #source: PageSource;
  readonly #mode: 'fast' | 'auto' | 'ocr';
  readonly #context: JobContext;
  readonly #ocr: OcrClient;
  readonly #progress: PageProgress;
  readonly #time: ReadingTime;
  /** 0-based pages that were read, or cannot be read. */
  readonly #done = new Set<number>();
  readonly #warnings: { page: number; text: string }[] = [];
  readonly #window = new OcrWindow();
  #stopped = false;
  #ocrError: unknown;
  #failed = 0;
  #read = 0;

  constructor(
    source: PageSource,
    { mode, languages = [] }: Pick<PdfOptions, 'mode' | 'languages'>,
    context: JobContext,
    progress: PageProgress,
    time: ReadingTime,
  ) {
    this.#source = source;
    this.#mode = mode;
    this.#ocr = { context, languages, over: time.over };
    this.#time = time;
    this.#context = context;
    this.#progress = progress;
  }

  /**
   * Reads these pages (indexes from 0), and resolves once the last of them that needs OCR is on the bus: the next run may begin then, so
   * that no worker waits for the slowest page of this one. One run at a time. Pages that the time does not suffice for are left out.
   */
  async begin(indexes: readonly number[]): Promise<PageRun> {
    const pages: ReadPage[] = [];
    const running: Promise<void>[] = [];
    for (const [position, index] of indexes.entries()) {
      if (this.#stopped || this.#time.isOver()) break;
      if (position % BREATH === 0) await setImmediate();
      this.#context.signal.throwIfAborted();
      const content = await this.#readContent(index);
      if (!content) {
        pages.push({
          content: emptyPage(index),
          source: 'native_text',
          status: 'failed',
          renderWidth: null,
          renderHeight: null,
        });
        this.#pageDone(index);
        continue;
      }
      this.#read++;
      const page: ReadPage = {
        content: dropHiddenText(content),
        source: 'native_text',
        status: 'ok',
        renderWidth: content.pixels?.width ?? null,
        renderHeight: content.pixels?.height ?? null,
      };
      pages.push(page);
      const reading = await this.#choose(content);
      if (reading.from !== 'ocr') this.#tellCuts(page);
      if (reading.from === 'text') {
        this.#pageDone(index);
        this.#tellReady(page);
        continue;
      }
      // The text of the page is ready; only that of its pictures is not.
      if (reading.from === 'figures') this.#tellReady(page);
      const place = await this.#window.enter();
      if (this.#stopped) break;
      this.#progress.ocrStarted();
      const task = this.#recognizeInTime(page, content, reading, place.started).finally(() => place.ended());
      // Awaited by who waits for `settled`; until then a failure is nobody's.
      task.catch(() => undefined);
      running.push(task);
    }
    const settled = Promise.all(running);
    settled.catch(() => undefined);
    return { pages, settled };
  }

  /** Begins no more pages: the document is given up. */
  stop(): void {
    this.#stopped = true;
  }

  #pageDone(index: number): void {
    this.#done.add(index);
    this.#progress.pageDone();
  }

  #tellReady(page: ReadPage): void {
    if (page.status !== 'failed' && page.content.words.length > 0) this.#time.pageReady();
  }

  /** Those of these pages (indexes from 0) that the time did not suffice for. */
  missing(indexes: readonly number[]): number[] {
    return indexes.filter((index) => !this.#done.has(index));
  }

  async #recognizeInTime(
    page: ReadPage,
    content: PageContent,
    reading: Exclude<Reading, { from: 'text' }>,
    started: () => void,
  ): Promise<void> {
    try {
      if (this.#time.isOver()) throw new PageAbandonedError();
      await this.#recognize(page, content, reading, started);
      this.#done.add(content.index);
      this.#progress.ocrEnded();
      this.#tellReady(page);
    } catch (error) {
      this.#progress.ocrAbandoned();
      if (!(error instanceof PageAbandonedError) || this.#context.signal.aborted) throw error;
      this.#abandon(page, reading);
    }
  }

  /** The page keeps what is certain of its text layer. Without it, the page is missing. */
  #abandon(page: ReadPage, reading: Exclude<Reading, { from: 'text' }>): void {
    const { index, words } = page.content;
    if ((reading.from === 'ocr' && reading.certain) || words.length === 0) {
      page.status = 'failed';
      page.content = { ...emptyPage(index), width: page.content.width, height: page.content.height };
      return;
    }
    this.#done.add(index);
    page.status = 'partial';
    this.#warn(index, NO_TIME_FOR_PICTURES);
  }

  async #readContent(index: number): Promise<PageContent | undefined> {
    try {
      return await this.#source.readPage(index);
    } catch (error) {
      if (!(error instanceof PageUnreadableError)) throw error;
      this.#warn(index, DAMAGED);
      this.#failed++;
      return undefined;
    }
  }

  async #choose(content: PageContent): Promise<Reading> {
    if (this.#mode === 'auto') return this.#chooseByLook(content);
    const verdict = judgeText(content);
    if (this.#mode === 'ocr') return verdict === 'empty' ? { from: 'text' } : { from: 'ocr', certain: true };
    const told = FAST_WARNINGS[verdict];
    if (told) this.#warn(content.index, told);
    return { from: 'text' };
  }

  async #chooseByLook(content: PageContent): Promise<Reading> {
    try {
      return await chooseReading(this.#source, content);
    } catch (error) {
      if (!(error instanceof PageUnreadableError)) throw error;
      return { from: 'text' };
    }
  }

  async #recognize(
    page: ReadPage,
    content: PageContent,
    reading: Exclude<Reading, { from: 'text' }>,
    started: () => void,
  ): Promise<void> {
    const native = page.content;
    try {
      if (reading.from === 'figures') {
        const figures = await readFigures(this.#source, native, reading.boxes, this.#ocr, started);
        if (figures.length > 0) page.content = { ...native, figures };
        return;
      }
      const recognized = await recognizePage(this.#source, content, this.#ocr, started);
      page.renderWidth = recognized.width;
      page.renderHeight = recognized.height;
      if (recognized.damaged) {
        page.status = 'partial';
        this.#warn(content.index, 'is damaged: only a part of it could be read');
      }
      const { words } = recognized.content;
      // A picture without words in it, on a page that has some text: the text stays.
      if (words.length === 0 && native.words.length > 0 && judgeText(content) !== 'broken') return;
      if (!reading.certain && !readsMore(words, native.words)) return this.#tellCuts(page);
      page.content = recognized.content;
      page.source = 'layout_ocr';
      if (words.length > 0 && recognized.confidence < LOW_CONFIDENCE) {
        page.status = 'partial';
        this.#warn(content.index, HARD_TO_READ);
      }
    } catch (error) {
      if (error instanceof PageAbandonedError || error instanceof EngineCrashError) throw error;
      if (this.#isOver(error) || isWrongRequest(error)) throw error;
      if (error instanceof PageUnreadableError && reading.from === 'ocr') {
        page.status = 'failed';
        this.#warn(content.index, DAMAGED);
        this.#failed++;
        this.#read--;
        return;
      }
      this.#ocrError ??= error;
      if (reading.from === 'figures') {
        page.status = 'partial';
        this.#warn(content.index, 'shows pictures with text that could not be read by OCR');
        return;
      }
      page.status = 'failed';
      this.#warn(content.index, 'could not be read by OCR');
    }
  }

  /** The caller left or the deadline passed: nothing goes on. */
  #isOver(error: unknown): boolean {
    return (
      this.#context.signal.aborted ||
      Date.now() >= this.#context.deadline ||
      (error instanceof ParseError && error.code === 'REQUEST_TIMEOUT') ||
      (error instanceof Error &&
        (error.name === 'AbortError' || error.name === 'CancelledError' || error.name === 'DeadlineError'))
    );
  }

  /** @throws ParseError where faults left nothing of the document. */
  throwIfNothingRead(nothing: boolean): void {
    if (!nothing) return;
    if (this.#ocrError instanceof ParseError) throw this.#ocrError;
    if (this.#failed > 0 && this.#read === 0)
      throw new ParseError(
        'DOCUMENT_CORRUPT',
        'No page of the file can be read: open it in a viewer and save or print it to a new PDF, then send that',
      );
  }

  /** What was left out of a page makes it partial. */
  #tellCuts(page: ReadPage): void {
    const { index, cutText, cutDrawing, cutLinks } = page.content;
    const { pdfPageCharacters, pdfPageAnnotations } = DOCUMENT_LIMITS;
    if (cutText) this.#warn(index, `holds more than ${pdfPageCharacters} characters; the others were left out`);
    if (cutDrawing)
      this.#warn(index, 'holds more drawn objects than are looked at; tables and pictures may be missing');
    if (cutLinks) this.#warn(index, `holds more than ${pdfPageAnnotations} links and notes; the others were left out`);
    if (cutText || cutDrawing || cutLinks) page.status = 'partial';
  }

  /**
   * Says why a document is read as empty.
   * @param furnished 0-based pages that have page headers, footers or numbers alone
   */
  tellEmpty(pages: readonly { pageNumber: number }[], furnished: ReadonlySet<number>): void {
    const told = new Set(this.#warnings.map((one) => one.page));
    for (const { pageNumber } of pages)
      if (!told.has(pageNumber)) this.#warn(pageNumber - 1, furnished.has(pageNumber - 1) ? ONLY_FURNITURE : NO_TEXT);
  }

  #warn(index: number, text: string): void {
    this.#warnings.push({ page: index + 1, text });
  }

  /** In page order; long runs are counted, not listed. */
  warnings(): string[] {
    const sorted = this.#warnings.sort((a, b) => a.page - b.page).map((one) => `page ${one.page} ${one.text}`);
    if (sorted.length <= MAX_WARNINGS) return sorted;
    return [...sorted.slice(0, MAX_WARNINGS), `and ${sorted.length - MAX_WARNINGS} more pages with such faults`];
  }
}

/** The request itself is wrong, for example a language is not installed: no other page will fare better. */
const isWrongRequest = (error: unknown): boolean => error instanceof ParseError && error.code === 'BAD_REQUEST';

function emptyPage(index: number): PageContent {
  return {
    index,
    width: 0,
    height: 0,
    words: [],
    rulings: [],
    regions: [],
    images: [],
    objects: 0,
    glyphs: 0,
    unmappedGlyphs: 0,
  };
}
