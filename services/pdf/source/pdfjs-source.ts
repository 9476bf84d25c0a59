// PageSource over pdf.js: reads what PDFium refuses, and is the oracle that the contract test holds PDFium against.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { area, type Box, displayMatrix, type Matrix, mapBox, type QuarterTurn } from './geometry.ts';
import { linkWords } from './links.ts';
import type { Bookmark, DocumentInfo, GreyImage, PageContent, PagePicture } from './page-model.ts';
import { OpenRefusedError, type PageSource, PageUnreadableError } from './page-source.ts';
import { readDrawing } from './pdfjs-drawing.ts';
import { type LoadedDocument, type LoadedPage, loadPdfjs, type Pdfjs } from './pdfjs-module.ts';
import { readItems } from './pdfjs-text.ts';

/** Resolution of a picture, which this engine always draws, in dots per inch. */
const PICTURE_DPI = 200;

/** @throws OpenRefusedError */
export async function openWithPdfjs(bytes: Uint8Array, password: string | undefined): Promise<PageSource> {
  const pdfjs = await loadPdfjs();
  const home = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));
  const task = pdfjs.getDocument({
    // A copy: pdf.js takes the buffer away, and wants no Buffer.
    data: new Uint8Array(bytes),
    ...(password === undefined ? {} : { password }),
    // Nothing is fetched: fonts and character maps come from the package's own folder.
    cMapUrl: `${home}/cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${home}/standard_fonts/`,
    wasmUrl: `${home}/wasm/`,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    maxImageSize: DOCUMENT_LIMITS.pdfImagePixels,
    verbosity: 0,
  });
  try {
    return await PdfjsSource.open(pdfjs, await task.promise);
  } catch (error) {
    await task.destroy().catch(() => undefined);
    const name = error instanceof Error ? error.name : '';
    throw new OpenRefusedError(name === 'PasswordException' ? 'password' : 'corrupt', error);
  }
}

class PdfjsSource implements PageSource {
  readonly engine = 'pdfjs';
  readonly pageCount: number;
  readonly info: DocumentInfo;
  readonly #pdfjs: Pdfjs;
  readonly #document: LoadedDocument;

  private constructor(pdfjs: Pdfjs, document: LoadedDocument, info: DocumentInfo) {
    this.#pdfjs = pdfjs;
    this.#document = document;
    this.pageCount = document.numPages;
    this.info = info;
  }

  static async open(pdfjs: Pdfjs, document: LoadedDocument): Promise<PdfjsSource> {
    const metadata = await document.getMetadata().catch(() => undefined);
    const info = (metadata?.info ?? {}) as Record<string, unknown>;
    const text = (key: string): string | undefined => {
      const value = info[key];
      return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
    };
    return new PdfjsSource(pdfjs, document, {
      title: text('Title'),
      author: text('Author'),
      subject: text('Subject'),
      keywords: text('Keywords'),
      creator: text('Creator'),
      producer: text('Producer'),
      creationDate: text('CreationDate'),
      modificationDate: text('ModDate'),
      language: text('Language'),
    });
  }

  async outline(): Promise<Bookmark[]> {
    const bookmarks: Bookmark[] = [];
    const walk = (nodes: Awaited<ReturnType<LoadedDocument['getOutline']>>, level: number) => {
      for (const node of nodes ?? []) {
        if (bookmarks.length >= DOCUMENT_LIMITS.pdfBookmarks || level > DOCUMENT_LIMITS.pdfBookmarkDepth) return;
        // Where it leads is not asked: each answer would be a search of its own, and layout goes by the titles.
        bookmarks.push({ title: node.title.trim(), level, pageIndex: -1 });
        walk(node.items, level + 1);
      }
    };
    walk(await this.#document.getOutline(), 1);
    return bookmarks;
  }

  async #page(index: number): Promise<LoadedPage> {
    try {
      return await this.#document.getPage(index + 1);
    } catch (error) {
      throw new PageUnreadableError(`page ${index + 1} cannot be loaded`, { cause: error });
    }
  }

  async readPage(index: number): Promise<PageContent> {
    const page = await this.#page(index);
    try {
      const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = page.view;
      const rotation = (((page.rotate % 360) + 360) % 360) as QuarterTurn;
      const display = displayMatrix({ x0, y0, x1, y1 }, rotation);
      const sideways = rotation === 90 || rotation === 270;
      const width = sideways ? y1 - y0 : x1 - x0;
      const height = sideways ? x1 - x0 : y1 - y0;
      const operators = await page.getOperatorList();
      const drawing = readDrawing(this.#pdfjs.OPS, operators, display, width, height);
      const text = await page.getTextContent({ disableNormalization: true });
      const read = readItems(page, text, display, width, height);
      const cutLinks = await this.#setLinks(page, display, read.words);
      return { index, width, height, ...read, ...drawing, cutLinks };
    } catch (error) {
      throw new PageUnreadableError(`page ${index + 1} cannot be read`, { cause: error });
    } finally {
      page.cleanup();
    }
  }

  async #setLinks(page: LoadedPage, display: Matrix, words: PageContent['words']): Promise<boolean> {
    const annotations: unknown[] = await page.getAnnotations().catch(() => []);
    for (const one of annotations.slice(0, DOCUMENT_LIMITS.pdfPageAnnotations)) {
      const { url, rect } = one as { url?: unknown; rect?: unknown };
      if (typeof url !== 'string' || !Array.isArray(rect)) continue;
      const [a = 0, b = 0, c = 0, d = 0] = rect.map(Number);
      linkWords(words, mapBox(display, a, b, c, d), url);
    }
    return annotations.length > DOCUMENT_LIMITS.pdfPageAnnotations;
  }

  async renderGrey(index: number, dpi: number): Promise<GreyImage> {
    const natural = (await this.#page(index)).getViewport({ scale: 1 });
    const wanted = (dpi / 72) ** 2 * natural.width * natural.height;
    const scale = (dpi / 72) * Math.min(1, Math.sqrt(DOCUMENT_LIMITS.pagePixels / wanted));
    const box = { x0: 0, y0: 0, x1: natural.width, y1: natural.height };
    const { width, height, data } = await this.#paint(index, box, scale);
    const pixels = new Uint8Array(width * height);
    for (let i = 0, p = 0; i < pixels.length; i++, p += 4)
      pixels[i] = ((data[p] ?? 255) * 77 + (data[p + 1] ?? 255) * 150 + (data[p + 2] ?? 255) * 29) >> 8;
    return { width, height, dpi: scale * 72, pixels };
  }

  async readPicture(index: number, box: Box): Promise<PagePicture | undefined> {
    const most = Math.sqrt(DOCUMENT_LIMITS.picturePixels / Math.max(1, area(box)));
    const { width, height, data } = await this.#paint(index, box, Math.min(PICTURE_DPI / 72, most));
    const pixels = new Uint8Array(width * height * 3);
    for (let from = 0, to = 0; to < pixels.length; from += 4) {
      pixels[to++] = data[from] ?? 255;
      pixels[to++] = data[from + 1] ?? 255;
      pixels[to++] = data[from + 2] ?? 255;
    }
    return { kind: 'pixels', width, height, channels: 3, pixels };
  }

  /** RGBA pixels of a box of the displayed page. @param scale pixels of a point */
  async #paint(
    index: number,
    box: Box,
    scale: number,
  ): Promise<{ width: number; height: number; data: Uint8ClampedArray }> {
    const page = await this.#page(index);
    try {
      const viewport = page.getViewport({ scale, offsetX: -box.x0 * scale, offsetY: -box.y0 * scale });
      const width = Math.max(1, Math.floor((box.x1 - box.x0) * scale));
      const height = Math.max(1, Math.floor((box.y1 - box.y0) * scale));
      const factory = this.#document.canvasFactory as {
        create(w: number, h: number): { canvas: object; context: PaintContext };
      };
      const { canvas, context } = factory.create(width, height);
      await page.render({ canvas: canvas as never, canvasContext: context as never, viewport, background: 'white' })
        .promise;
      const { data } = context.getImageData(0, 0, width, height);
      return { width, height, data };
    } catch (error) {
      throw new PageUnreadableError(`page ${index + 1} cannot be rendered`, { cause: error });
    } finally {
      page.cleanup();
    }
  }

  async close(): Promise<void> {
    await this.#document.loadingTask.destroy();
  }
}

interface PaintContext {
  getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
}
