// PageSource over PDFium compiled to WebAssembly: the way every file takes first.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { type Shown, withAnnotations } from './annotation-words.ts';
import { type Box, displayMatrix, mapBox, type QuarterTurn } from './geometry.ts';
import { linkWords } from './links.ts';
import type { Bookmark, DocumentInfo, GreyImage, PageContent, PagePicture } from './page-model.ts';
import { OpenRefusedError, type PageSource, PageUnreadableError } from './page-source.ts';
import { FormFields, paintAnnotations, showsAnnotations } from './pdfium-annotations.ts';
import { readAttachments } from './pdfium-attachments.ts';
import { readDrawings } from './pdfium-drawings.ts';
import { copyIn, decodeUtf8, decodeUtf16, guarded, loadPdfium, type Pdfium, readSized } from './pdfium-module.ts';
import { readObjects } from './pdfium-objects.ts';
import { readPicture } from './pdfium-pictures.ts';
import { liftScan, mayMask, readGreys } from './pdfium-scan.ts';
import { ActualTexts, mayTell, type PageTags, readTags, TaggedObjects } from './pdfium-tags.ts';
import { readText } from './pdfium-text.ts';

/** FPDF_GetLastError (fpdfview.h). */
const PASSWORD_ERROR = 4;
const SECURITY_ERROR = 5;
/** FPDF_RenderPageBitmap: print annotations, as a reader sees them. */
const RENDER_ANNOTATIONS = 0x01;
const BITMAP_GREY = 1;
const URI_ACTION = 3;

/** @throws OpenRefusedError, EngineCrashError */
export async function openWithPdfium(bytes: Uint8Array, password: string | undefined): Promise<PageSource> {
  const pdfium = await loadPdfium();
  return guarded(() => {
    const file = copyIn(pdfium, bytes);
    const secret = copyIn(pdfium, new TextEncoder().encode(`${password ?? ''}\u0000`));
    const document = pdfium.FPDF_LoadMemDocument(file, bytes.length, secret);
    pdfium.free(secret);
    if (document !== 0) return new PdfiumSource(pdfium, file, document, bytes);
    const error = pdfium.FPDF_GetLastError();
    pdfium.free(file);
    throw new OpenRefusedError(
      error === PASSWORD_ERROR ? 'password' : error === SECURITY_ERROR ? 'unsupported-encryption' : 'corrupt',
    );
  });
}

interface PageLink {
  box: Box;
  href: string;
}

class PdfiumSource implements PageSource {
  readonly engine = 'pdfium';
  readonly pageCount: number;
  readonly info: DocumentInfo;
  readonly #pdfium: Pdfium;
  readonly #file: number;
  readonly #fileBytes: number;
  readonly #document: number;
  readonly #scratch: number;
  readonly #form: FormFields | undefined;
  readonly #tagged: boolean;
  /** Its tags may have texts. */
  readonly #told: boolean;
  /** Pages whose annotations are painted, with what went with them. */
  readonly #painted = new Map<number, { links: PageLink[]; shown: Shown[] }>();
  /** Pictures may have masks; unknown until a page is drawn. */
  #masked: boolean | undefined;
  readonly #seenPictures = new Set<string>();
  /** The page that was loaded last; 0 where none is. */
  #page = 0;
  #closed = false;

  constructor(pdfium: Pdfium, file: number, document: number, bytes: Uint8Array) {
    this.#pdfium = pdfium;
    this.#file = file;
    this.#fileBytes = bytes.length;
    this.#document = document;
    this.#scratch = pdfium.malloc(128);
    this.pageCount = Math.max(0, pdfium.FPDF_GetPageCount(document));
    this.info = this.#readInfo();
    this.#tagged = pdfium.FPDFCatalog_IsTagged(document) !== 0;
    this.#told = this.#tagged && mayTell(bytes);
    this.#form = pdfium.FPDF_GetFormType(document) > 0 ? new FormFields(pdfium, document) : undefined;
  }

  #readInfo(): DocumentInfo {
    const text = (key: string): string | undefined => {
      const name = copyIn(this.#pdfium, new TextEncoder().encode(`${key}\u0000`));
      const value = decodeUtf16(
        readSized(this.#pdfium, (buffer, size) => this.#pdfium.FPDF_GetMetaText(this.#document, name, buffer, size)),
      );
      this.#pdfium.free(name);
      return value.trim() === '' ? undefined : value.trim();
    };
    const language = decodeUtf16(
      readSized(this.#pdfium, (buffer, size) => this.#pdfium.FPDFCatalog_GetLanguage(this.#document, buffer, size)),
    ).trim();
    const attachments = readAttachments(this.#pdfium, this.#document);
    return {
      title: text('Title'),
      author: text('Author'),
      subject: text('Subject'),
      keywords: text('Keywords'),
      creator: text('Creator'),
      producer: text('Producer'),
      creationDate: text('CreationDate'),
      modificationDate: text('ModDate'),
      ...(language === '' ? {} : { language }),
      ...(attachments.length === 0 ? {} : { attachments }),
    };
  }

  async outline(): Promise<Bookmark[]> {
    return guarded(() => {
      const bookmarks: Bookmark[] = [];
      const seen = new Set<number>();
      const walk = (parent: number, level: number) => {
        let node = this.#pdfium.FPDFBookmark_GetFirstChild(this.#document, parent);
        while (node !== 0 && !seen.has(node) && bookmarks.length < DOCUMENT_LIMITS.pdfBookmarks) {
          seen.add(node);
          const title = decodeUtf16(
            readSized(this.#pdfium, (buffer, size) => this.#pdfium.FPDFBookmark_GetTitle(node, buffer, size)),
          );
          bookmarks.push({ title: title.trim(), level, pageIndex: this.#bookmarkPage(node) });
          if (level < DOCUMENT_LIMITS.pdfBookmarkDepth) walk(node, level + 1);
          node = this.#pdfium.FPDFBookmark_GetNextSibling(this.#document, node);
        }
      };
      walk(0, 1);
      return bookmarks;
    });
  }

  #bookmarkPage(bookmark: number): number {
    let destination = this.#pdfium.FPDFBookmark_GetDest(this.#document, bookmark);
    if (destination === 0) {
      const action = this.#pdfium.FPDFBookmark_GetAction(bookmark);
      if (action !== 0) destination = this.#pdfium.FPDFAction_GetDest(this.#document, action);
    }
    return destination === 0 ? -1 : this.#pdfium.FPDFDest_GetDestPageIndex(this.#document, destination);
  }

  /**
   * Loads a page and runs `work`. The page stays until the next has been loaded: fonts go with the last page that uses them, and the next page would
   * read them out of the file again.
   */
  #withPage<T>(index: number, work: (page: number, crop: Box, rotation: QuarterTurn) => T): T {
    return guarded(() => {
      const pdfium = this.#pdfium;
      const page = pdfium.FPDF_LoadPage(this.#document, index);
      if (page === 0) throw new PageUnreadableError(`page ${index + 1} cannot be loaded`);
      this.#letPageGo();
      this.#page = page;
      const crop = { x0: 0, y0: 0, x1: pdfium.FPDF_GetPageWidthF(page), y1: pdfium.FPDF_GetPageHeightF(page) };
      if (pdfium.FPDF_GetPageBoundingBox(page, this.#scratch)) {
        // FS_RECTF: left, top, right, bottom.
        const f32 = pdfium.heap.f32;
        const at = this.#scratch >> 2;
        crop.x0 = f32[at] ?? 0;
        crop.y1 = f32[at + 1] ?? 0;
        crop.x1 = f32[at + 2] ?? 0;
        crop.y0 = f32[at + 3] ?? 0;
      }
      return work(page, crop, ((pdfium.FPDFPage_GetRotation(page) & 3) * 90) as QuarterTurn);
    });
  }

  #letPageGo(): void {
    if (this.#page !== 0) this.#pdfium.FPDF_ClosePage(this.#page);
    this.#page = 0;
  }

  async readPage(index: number): Promise<PageContent> {
    const content = this.#withPage(index, (page, crop, rotation) => {
      if (this.#painted.has(index) || !showsAnnotations(this.#pdfium, page))
        return this.#read(index, page, crop, rotation);
      // Painted onto the page, once; what is painted shows when the page is loaded anew.
      const display = displayMatrix(crop, rotation);
      const links = this.#readLinks(page, display);
      const shown = paintAnnotations(this.#pdfium, page, this.#form, display, this.#scratch);
      if (!shown) return this.#read(index, page, crop, rotation);
      this.#painted.set(index, { links, shown });
      return undefined;
    });
    return content ?? this.#withPage(index, (page, crop, rotation) => this.#read(index, page, crop, rotation));
  }

  #read(index: number, page: number, crop: Box, rotation: QuarterTurn): PageContent {
    const display = displayMatrix(crop, rotation);
    const sideways = rotation === 90 || rotation === 270;
    const width = sideways ? crop.y1 - crop.y0 : crop.x1 - crop.x0;
    const height = sideways ? crop.x1 - crop.x0 : crop.y1 - crop.y0;
    const tags: PageTags | undefined = this.#tagged
      ? readTags(this.#pdfium, page, this.#told, this.#scratch)
      : undefined;
    const objectTags = tags?.elements && new TaggedObjects(this.#pdfium, page, tags.elements, this.#scratch + 64);
    const actualTexts = new ActualTexts(this.#pdfium, tags?.actualTexts, this.#scratch + 64);
    const textPage = this.#pdfium.FPDFText_LoadPage(page);
    const text =
      textPage === 0
        ? { words: [], glyphs: 0, unmappedGlyphs: 0, cutText: false }
        : readText(this.#pdfium, textPage, display, width, height, this.#scratch, actualTexts, objectTags);
    if (textPage !== 0) this.#pdfium.FPDFText_ClosePage(textPage);
    const objects = readObjects(this.#pdfium, page, display, width, height, this.#scratch, tags?.descriptions);
    // What lies wholly off the visible page is not seen by a reader.
    const painted = this.#painted.get(index);
    const words = withAnnotations(text.words, painted?.shown ?? []).filter(
      (w) => w.box.x1 > 0 && w.box.x0 < width && w.box.y1 > 0 && w.box.y0 < height,
    );
    for (const link of painted?.links ?? this.#readLinks(page, display)) linkWords(words, link.box, link.href);
    const cutLinks = this.#pdfium.FPDFPage_GetAnnotCount(page) > DOCUMENT_LIMITS.pdfPageAnnotations;
    return { index, width, height, ...text, words, ...objects, cutLinks };
  }

  #readLinks(page: number, display: ReturnType<typeof displayMatrix>): PageLink[] {
    const links: PageLink[] = [];
    const pdfium = this.#pdfium;
    const s = this.#scratch;
    pdfium.heap.i32[s >> 2] = 0;
    for (let n = 0; n < DOCUMENT_LIMITS.pdfPageAnnotations && pdfium.FPDFLink_Enumerate(page, s, s + 4); n++) {
      const link = pdfium.heap.i32[(s >> 2) + 1] ?? 0;
      const action = pdfium.FPDFLink_GetAction(link);
      if (
        action === 0 ||
        pdfium.FPDFAction_GetType(action) !== URI_ACTION ||
        !pdfium.FPDFLink_GetAnnotRect(link, s + 16)
      )
        continue;
      const f32 = pdfium.heap.f32;
      const at = (s + 16) >> 2;
      const box = mapBox(display, f32[at] ?? 0, f32[at + 3] ?? 0, f32[at + 2] ?? 0, f32[at + 1] ?? 0);
      const href = decodeUtf8(
        readSized(pdfium, (buffer, size) => pdfium.FPDFAction_GetURIPath(this.#document, action, buffer, size)),
      ).trim();
      if (href !== '') links.push({ box, href });
    }
    return links;
  }

  async renderGrey(index: number, dpi: number): Promise<GreyImage> {
    return this.#withPage(index, (page, crop, rotation) => {
      const pdfium = this.#pdfium;
      const sideways = rotation === 90 || rotation === 270;
      const pointsWide = sideways ? crop.y1 - crop.y0 : crop.x1 - crop.x0;
      const pointsHigh = sideways ? crop.x1 - crop.x0 : crop.y1 - crop.y0;
      const wanted = ((pointsWide * dpi) / 72) * ((pointsHigh * dpi) / 72);
      const scale = (dpi / 72) * Math.min(1, Math.sqrt(DOCUMENT_LIMITS.pagePixels / wanted));
      const width = Math.max(1, Math.round(pointsWide * scale));
      const height = Math.max(1, Math.round(pointsHigh * scale));
      const lifted = this.#mayMask() ? undefined : liftScan(pdfium, page, crop, { width, height }, this.#scratch);
      if (lifted) return { width, height, dpi: scale * 72, pixels: lifted };
      const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, BITMAP_GREY, 0, 0);
      if (bitmap === 0) throw new PageUnreadableError(`page ${index + 1} cannot be rendered`);
      try {
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, RENDER_ANNOTATIONS);
        return { width, height, dpi: scale * 72, pixels: readGreys(pdfium, bitmap, width, height, 1) };
      } finally {
        pdfium.FPDFBitmap_Destroy(bitmap);
      }
    });
  }

  #mayMask(): boolean {
    this.#masked ??= mayMask(this.#pdfium.heap.u8.subarray(this.#file, this.#file + this.#fileBytes));
    return this.#masked;
  }

  async readPicture(index: number, box: Box): Promise<PagePicture | 'too-large' | undefined> {
    return this.#withPage(index, (page, crop, rotation) => {
      const sideways = rotation === 90 || rotation === 270;
      const frame = {
        document: this.#document,
        page,
        display: displayMatrix(crop, rotation),
        width: sideways ? crop.y1 - crop.y0 : crop.x1 - crop.x0,
        height: sideways ? crop.x1 - crop.x0 : crop.y1 - crop.y0,
        masked: this.#mayMask(),
        seen: this.#seenPictures,
        scratch: this.#scratch,
      };
      return readPicture(this.#pdfium, frame, box);
    });
  }

  async readDrawings(index: number): Promise<Box[] | undefined> {
    return this.#withPage(index, (page, crop, rotation) =>
      readDrawings(this.#pdfium, page, displayMatrix(crop, rotation), this.#scratch),
    );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    guarded(() => {
      this.#letPageGo();
      this.#form?.close();
      this.#pdfium.FPDF_CloseDocument(this.#document);
      this.#pdfium.free(this.#file);
      this.#pdfium.free(this.#scratch);
    });
  }
}
