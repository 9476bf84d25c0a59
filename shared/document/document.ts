// What every converter gives and the one render pipeline takes: semantic HTML, and for PDF the same as typed blocks on pages.
import type { DocumentMetadata } from '../contract/jobs.ts';
import type { BlockType, RecordFields } from '../contract/response.ts';

export interface PagedBlock {
  type: BlockType;
  /** The layout model's own word for it, passed through. */
  label: string | null;
  /** Semantic HTML of this block alone. */
  html: string;
  /** `[x0, y0, x1, y1]`, 0 to 1 of the page, origin at the top left; null where the page has no size. */
  bbox: [number, number, number, number] | null;
  /** Pipeline path: native_text, layout_ocr, ... */
  source: string;
  confidence: { layout: number | null; ocr: number | null };
  /** Page headers, footers and numbers: blocks, but no part of the Markdown while onlyMainContent holds. */
  furniture: boolean;
  /** Carries on the paragraph of the block before it (over a column or page break): joined by this string instead of a blank line. */
  continues?: '' | ' ';
}

export interface PagedPage {
  /** 1-based physical page. */
  pageNumber: number;
  /** Render size in px, null for a page that was not rendered. */
  width: number | null;
  height: number | null;
  status: 'ok' | 'partial' | 'failed';
  /** In reading order. */
  blocks: PagedBlock[];
}

export interface ConvertedDocument {
  /** `webpage`: main content is searched for by heuristics. `document`: only header, nav, footer and aside elements are page furniture. */
  genre: 'webpage' | 'document';
  /** Semantic HTML, a fragment or a whole document. Empty for a paged document (its blocks hold the HTML). */
  html: string;
  /** The HTML is XHTML: `<a/>` ends the element, CDATA is text. */
  xhtml?: boolean;
  /** The upload's own text where it was HTML; otherwise the converter's HTML is the raw HTML. */
  rawHtml?: string;
  /** Markdown made without a DOM, for tables too large for one (CSV). The HTML is then rendered only if asked for. */
  markdown?: string;
  /** PDF: pages of blocks. */
  pages?: PagedPage[];
  metadata: DocumentMetadata;
  warnings: string[];
}

/** A file as a converter gets it. */
export interface SourceFile {
  bytes: Uint8Array;
  /** For messages and metadata; never a path. */
  fileName: string;
  /** With the dot. */
  extension: string;
  /** The charset that the upload's content type named. */
  charset?: string;
}

/** A document as it leaves the pipeline: the fields that were asked for, and what goes beside them. */
export interface RenderedRecord {
  fields: RecordFields;
  metadata: DocumentMetadata;
  warnings: string[];
}
