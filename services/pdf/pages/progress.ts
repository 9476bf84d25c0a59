// Counts the pages of a PDF that are read, and reports them to the caller together with the stage.
import type { JobContext } from '#shared/contract/jobs.ts';

export class PageProgress {
  readonly #report: JobContext['progress'];
  readonly #pages: number;
  #done = 0;
  #withOcr = 0;

  /** @param pages number of pages to read */
  constructor(context: JobContext, pages: number) {
    this.#report = context.progress;
    this.#pages = pages;
    this.#tell();
  }

  /** A page is read, or cannot be read. */
  pageDone(): void {
    this.#done += 1;
    this.#tell();
  }

  /** A page goes to the OCR service. It is done when it comes back. */
  ocrStarted(): void {
    this.#withOcr += 1;
    this.#tell();
  }

  ocrEnded(): void {
    this.#withOcr -= 1;
    this.pageDone();
  }

  /** A page is no longer waited for, and is not read. */
  ocrAbandoned(): void {
    this.#withOcr -= 1;
    this.#tell();
  }

  #tell(): void {
    this.#report?.({ stage: this.#withOcr > 0 ? 'ocr' : 'convert', pagesDone: this.#done, pages: this.#pages });
  }
}
