// Draws the pages of a PDF with pdf.js, in the browser, from the file that the user chose.
import type { PDFDocumentProxy, RenderTask } from 'pdfjs-dist';
import { element } from './elements.ts';

interface PageSize {
  /** Width divided by height. */
  ratio: number;
}

interface PagePicture {
  size: PageSize;
  canvas: HTMLCanvasElement;
}

/** Largest width of a drawn page, in device pixels. */
const CANVAS_WIDTH = 2_400;
/** Largest number of device pixels of a page, so that a very long page does not exhaust the memory. */
const CANVAS_AREA = 16_000_000;

// pdf.js is large, so it is loaded with the first PDF.
const load = async (path: string): Promise<typeof import('pdfjs-dist')> => await import(`${path}/build/pdf.min.mjs`);

/** Trusted Types (W3C). The page's Content-Security-Policy allows scripts of this policy only where the browser supports it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): unknown;
  };
}
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const workerPolicy = trustedTypes?.createPolicy('pdf-worker', { createScriptURL: (url) => url });

export class PdfFile {
  readonly #document: PDFDocumentProxy;
  readonly #worker: Worker;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(document: PDFDocumentProxy, worker: Worker) {
    this.#document = document;
    this.#worker = worker;
  }

  /** @param path of the files of pdf.js @throws Error if pdf.js cannot open the file */
  static async open(file: File, path: string, password: string | undefined): Promise<PdfFile> {
    const pdfjs = await load(path);
    const url = `${path}/build/pdf.worker.min.mjs`;
    const worker = new Worker((workerPolicy?.createScriptURL(url) ?? url) as string, { type: 'module' });
    try {
      const task = pdfjs.getDocument({
        data: await file.arrayBuffer(),
        password,
        worker: pdfjs.PDFWorker.create({ port: worker }),
        cMapUrl: `${path}/cmaps/`,
        standardFontDataUrl: `${path}/standard_fonts/`,
        wasmUrl: `${path}/wasm/`,
        iccUrl: `${path}/iccs/`,
        enableXfa: false,
        verbosity: pdfjs.VerbosityLevel.ERRORS,
      });
      // Without this handler pdf.js waits for a password for ever.
      task.onPassword = () => void task.destroy();
      return new PdfFile(await task.promise, worker);
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  get pageCount(): number {
    return this.#document.numPages;
  }

  async sizeOf(pageNumber: number): Promise<PageSize> {
    const { width, height } = (await this.#document.getPage(pageNumber)).getViewport({ scale: 1 });
    return { ratio: width / height };
  }

  /**
   * Draws a page. Pages are drawn one after the other.
   * @param width in CSS pixels @param signal ends the drawing of a page that is no longer visible
   */
  draw(pageNumber: number, width: number, signal: AbortSignal): Promise<PagePicture | undefined> {
    const drawn = this.#queue.then(() => (signal.aborted ? undefined : this.#drawNow(pageNumber, width, signal)));
    this.#queue = drawn.catch(() => undefined);
    return drawn;
  }

  async #drawNow(pageNumber: number, width: number, signal: AbortSignal): Promise<PagePicture | undefined> {
    const page = await this.#document.getPage(pageNumber);
    const natural = page.getViewport({ scale: 1 });
    const ratio = natural.width / natural.height;
    const pixels = Math.min(width * devicePixelRatio, CANVAS_WIDTH, Math.sqrt(CANVAS_AREA * ratio));
    const viewport = page.getViewport({ scale: pixels / natural.width });
    const canvas = element('canvas', {
      width: Math.max(1, Math.round(viewport.width)),
      height: Math.max(1, Math.round(viewport.height)),
      'aria-hidden': 'true',
    });
    const task: RenderTask = page.render({ canvas, viewport });
    const stop = (): void => task.cancel();
    signal.addEventListener('abort', stop);
    try {
      await task.promise;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      page.cleanup();
    }
    return { size: { ratio }, canvas };
  }

  async close(): Promise<void> {
    await this.#document.loadingTask.destroy();
    this.#worker.terminate();
  }
}
