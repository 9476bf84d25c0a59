// The seam between a PDF engine and everything that thinks about pages.

import type { Box } from './geometry.ts';
import type { Bookmark, DocumentInfo, GreyImage, PageContent, PagePicture } from './page-model.ts';

export interface PageSource {
  readonly engine: 'pdfium' | 'pdfjs' | 'image';
  readonly pageCount: number;
  readonly info: DocumentInfo;
  /** What of the whole file was left out, for the caller. */
  readonly warnings?: readonly string[];
  /** In document order, bounded; empty where there are none. */
  outline(): Promise<Bookmark[]>;
  /** @throws PageUnreadableError where only this page is broken, EngineCrashError where the engine is gone. */
  readPage(index: number): Promise<PageContent>;
  /** At most DOCUMENT_LIMITS.pagePixels pixels: past that the resolution is lowered, `dpi` says to what. */
  renderGrey(index: number, dpi: number): Promise<GreyImage>;
  /**
   * The picture in a box of a page, in points of the displayed frame. A source whose pages are themselves pictures has no such method.
   * @returns 'too-large' above DOCUMENT_LIMITS.picturePixels; undefined where the box shows nothing
   * @throws PageUnreadableError, EngineCrashError
   */
  readPicture?(index: number, box: Box): Promise<PagePicture | 'too-large' | undefined>;
  /**
   * The boxes of the lines and areas that a page draws, in points of the displayed frame; undefined above DOCUMENT_LIMITS.pdfPageDrawings.
   * @throws PageUnreadableError, EngineCrashError
   */
  readDrawings?(index: number): Promise<Box[] | undefined>;
  close(): Promise<void>;
}

/** One page cannot be read; the others may. */
export class PageUnreadableError extends Error {
  override readonly name = 'PageUnreadableError';
}

/** The engine aborted; the source is of no more use, another may still read the file. */
export class EngineCrashError extends Error {
  override readonly name = 'EngineCrashError';
}

/** Why an engine did not open a file. */
export class OpenRefusedError extends Error {
  override readonly name = 'OpenRefusedError';
  readonly reason: 'password' | 'unsupported-encryption' | 'corrupt';

  constructor(reason: 'password' | 'unsupported-encryption' | 'corrupt', cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

export type EngineOpener = (bytes: Uint8Array, password: string | undefined) => Promise<PageSource>;
