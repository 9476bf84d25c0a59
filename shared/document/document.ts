// Defines the data that converters pass to the render pipeline: semantic HTML, which PDF splits into typed blocks on pages.
import type { DocumentMetadata } from '../contract/jobs.ts';
import type { BlockType, RecordFields } from '../contract/response.ts';
import type { PictureCollection } from './pictures.ts';
import type { TextPieces } from './text-pieces.ts';

export interface PagedBlock {
  type: BlockType;
  /** The class name of the layout model, unchanged. */
  label: string | null;
  /** Semantic HTML of this block. */
  html: string;
  /** `[x0, y0, x1, y1]`, 0 to 1 of the page, origin at the top left. Null if the page has no size. */
  bbox: [number, number, number, number] | null;
  /** Pipeline path: native_text, layout_ocr, ... */
  source: string;
  confidence: { layout: number | null; ocr: number | null };
  /** A running header, running footer or page number: not part of the Markdown if onlyMainContent is set. */
  furniture: boolean;
  /** Set if the block continues the paragraph of the block before it (across columns or pages). This string joins the two. */
  continues?: '' | ' ';
}

export interface PagedPage {
  /** 1-based physical page. */
  pageNumber: number;
  /** Size in px of the rendered page, null if the page was not rendered. */
  width: number | null;
  height: number | null;
  status: 'ok' | 'partial' | 'failed';
  /** In reading order. */
  blocks: PagedBlock[];
}

export interface ConvertedDocument {
  /** `webpage`: heuristics search for the main content. `document`: only header, nav, footer and aside elements are left out. */
  genre: 'webpage' | 'document';
  /** Tables may be layout tables, as in web pages. */
  layoutTables?: true;
  /** Semantic HTML: a fragment or a complete document. Empty for a paged document, whose blocks contain the HTML. */
  html: string;
  /** XHTML: `<a/>` ends the element, CDATA is text. */
  xhtml?: boolean;
  /** The uploaded text if it was HTML. Otherwise the raw HTML is `html`. */
  rawHtml?: string;
  /** Markdown that the converter wrote without a DOM (CSV: tables are too large for one). `html` is then read only on request. */
  markdown?: string;
  /** Set instead of `html` and `markdown` if the texts may be too large for memory. It is not set if tags are selected. */
  streamed?: StreamedTexts;
  /** PDF only. */
  pages?: PagedPage[];
  /** The pictures inside the document, to which `<img src>` of the HTML refers. Set only if they are requested. */
  pictures?: PictureCollection;
  metadata: DocumentMetadata;
  warnings: string[];
}

/** The texts of a document, written when they are read. Each call starts from the beginning. */
export interface StreamedTexts {
  markdown(): TextPieces;
  /** Clean semantic HTML, which is the raw HTML too. */
  html(): TextPieces;
  /** The HTML of the links and images only. */
  references(): string;
}

/** The input of a converter. */
export interface SourceFile {
  bytes: Uint8Array;
  /** For messages and metadata; never a path. */
  fileName: string;
  /** With its dot. */
  extension: string;
  /** The charset of the content type of the upload. */
  charset?: string;
}

/** The output of the pipeline: the requested fields of the record, and its metadata and warnings. */
export interface RenderedRecord {
  fields: RecordFields;
  metadata: DocumentMetadata;
  warnings: string[];
}
