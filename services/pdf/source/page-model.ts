// The one page model: what the text layer and OCR both become, and all that layout knows of a page.
import type { Box, QuarterTurn } from './geometry.ts';
import type { StructureElement } from './structure.ts';

export interface TextStyle {
  /** PostScript name without the subset prefix; '' where it is not known. */
  font: string;
  /** Type size in points as displayed. */
  size: number;
  bold: boolean;
  italic: boolean;
  monospace: boolean;
  /** 0xRRGGBB. */
  color: number;
}

/** A heading that the tags of the file name. */
export interface HeadingTag {
  /** 1 to 6. */
  level: number;
}

/** A run of glyphs without white space, in one style and on one baseline. */
export interface Word {
  text: string;
  box: Box;
  /** y of the baseline; for turned text, in the frame in which it reads upright. */
  baseline: number;
  style: TextStyle;
  /** Clockwise turn of the text against the page; 0 reads left to right. */
  direction: QuarterTurn;
  /** White space stood before it in the text layer; null where nothing is known and the gap decides. */
  spaceBefore: boolean | null;
  /** Layout settled `spaceBefore` with the order of the line: its neighbours do not stand side by side. */
  settled?: boolean;
  /** Painted with render mode 3: the text under a scan. */
  invisible: boolean;
  /** Place in the content stream, the tie-breaker of reading order. */
  index: number;
  link?: string;
  /** Layout sees its page in a mirror, since most of it reads from right to left. */
  mirrored?: boolean;
  superscript?: boolean;
  /** The innermost element of the structure tree in which a tagged file has it. The file may be wrong: see `tag`. */
  element?: StructureElement;
  /** What it is by the tags of the file, where these were checked: of a heading (one object for all its words), or plain text, an item, a cell. */
  tag?: HeadingTag | 'text';
  /** A tagged file says that it is no part of the text, but of the page (ISO 32000-1, 14.8.2.2): a running head, a page number. */
  artifact?: boolean;
  /** A formula inside a line, folded into this word by layout: its LaTeX, and the sentence's own sign after it. */
  latex?: { body: string; tail: string };
  /** OCR's own, 0 to 1. */
  confidence?: number;
  /** Where OCR reads it: lines and blocks of lines are numbered in reading order. */
  place?: { block: number; line: number };
}

/** A straight horizontal or vertical line: a stroke, or a thin filled shape. */
export interface Ruling {
  horizontal: boolean;
  /** y of a horizontal line, x of a vertical one. */
  at: number;
  start: number;
  end: number;
  thickness: number;
  color: number;
}

/** A painted area (cell shading, a panel, a bar). */
export interface Region {
  box: Box;
  color: number;
}

/** A small painted shape, as the bullets of lists are that are no letters. */
export interface Mark {
  box: Box;
  /** A circle is drawn with a pen, the others are filled. */
  shape: 'disc' | 'circle' | 'square';
  color: number;
  /** Its marked content is tagged `Lbl`: the label of a list item (ISO 32000-1, 14.8.4.3.3). */
  label: boolean;
}

export interface ImageArea {
  box: Box;
  /** Of the stored image; 0 where unknown. */
  pixelWidth: number;
  pixelHeight: number;
  /** What the file says that it shows. */
  description?: string;
}

/** A drawing of lines and areas that the file describes as one picture. */
interface DescribedDrawing {
  box: Box;
  description: string;
}

/** A picture whose words OCR read. */
export interface ReadFigure {
  box: Box;
  words: Word[];
  rulings: Ruling[];
}

export interface PageContent {
  /** 0-based. */
  index: number;
  /** Points, as displayed (rotation and crop applied). */
  width: number;
  height: number;
  words: Word[];
  rulings: Ruling[];
  regions: Region[];
  images: ImageArea[];
  drawings?: DescribedDrawing[];
  marks?: Mark[];
  /** Degrees clockwise by which the displayed page slopes; everything here is in the straightened frame. */
  skew?: number;
  /** The size of the page in pixels, where it is an image file. */
  pixels?: { width: number; height: number };
  /** Painted objects of any kind, text included: 0 for an empty page. */
  objects: number;
  /** Pieces of all drawn paths, where the engine counts them: the outlines of a letter have some twenty. */
  segments?: number;
  /** What OCR read in pictures of the page, each in the frame of the page. */
  figures?: ReadFigure[];
  /** Middles of the strokes that are neither level nor upright, as x, y, x, y...: the curves of charts. */
  slants?: number[];
  /** More stands on the page than DOCUMENT_LIMITS lets be read: characters, drawn objects, links and notes. */
  cutText?: boolean;
  cutDrawing?: boolean;
  cutLinks?: boolean;
  /** Glyphs that the text layer could not name (no or broken ToUnicode), and all glyphs. */
  unmappedGlyphs: number;
  glyphs: number;
}

export interface Bookmark {
  title: string;
  /** 1 for the outermost. */
  level: number;
  /** 0-based; -1 where the target is not a page of this file. */
  pageIndex: number;
}

export interface DocumentInfo {
  title?: string;
  author?: string;
  subject?: string;
  keywords?: string;
  creator?: string;
  producer?: string;
  /** As the file has them: `D:YYYYMMDDHHmmSSOHH'mm` (ISO 32000-1, 7.9.4). */
  creationDate?: string;
  modificationDate?: string;
  language?: string;
  /** Names of the files that the document carries. */
  attachments?: readonly string[];
}

/** 8-bit grey, row by row, `width * height` bytes. */
export interface GreyImage {
  width: number;
  height: number;
  dpi: number;
  pixels: Uint8Array;
  /** A part could not be decoded, and is white. */
  damaged?: boolean;
}

/** 8-bit channels, row by row: grey, RGB or RGBA. */
export interface PixelPicture {
  kind: 'pixels';
  width: number;
  height: number;
  channels: 1 | 3 | 4;
  pixels: Uint8Array;
}

/** A picture of a page: its pixels, or the JPEG file that the PDF stores. */
export type StoredPicture = PixelPicture | { kind: 'jpeg'; bytes: Uint8Array };

/** `key` identifies the stored data, so that a picture that repeats is read once; `seen` is the same picture again. */
export type PagePicture = (StoredPicture & { key?: string }) | { kind: 'seen'; key: string };
