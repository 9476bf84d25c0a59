// The draft of a block: what layout knows of a piece of a page before the whole document has its say on headings and joins.
import type { Box } from '../source/geometry.ts';
import type { HeadingTag } from '../source/page-model.ts';

export interface DraftStyle {
  size: number;
  bold: boolean;
  italic: boolean;
  monospace: boolean;
  /** No lower-case letter. */
  capitals: boolean;
  /** Small capitals: its words begin larger than they go on. `size` is the larger one. */
  smallCapitals: boolean;
  /** A rule stands under all of its words. */
  underlined: boolean;
  /** 0xRRGGBB, of its longest word. */
  color: number;
  /** Of its longest word. */
  font: string;
}

interface DraftBase {
  pageIndex: number;
  /** In the displayed frame of its page. */
  box: Box;
  /** Mean confidence of OCR words, null for text of the file. */
  ocr: number | null;
}

export interface TextDraft extends DraftBase {
  kind: 'text';
  /** What it is by the tags of the file, where these were checked and agree for nearly all its letters. */
  tag?: HeadingTag | 'text';
  text: string;
  /** Inline HTML with emphasis, and without (for headings). */
  html: string;
  plainHtml: string;
  style: DraftStyle;
  lines: number;
  /** White space above, in type sizes; Infinity at a column's edge. */
  gapAbove: number;
  /** It stands at the top or the bottom of its column. */
  firstInColumn: boolean;
  lastInColumn: boolean;
  /** Its last line reaches the right margin: the sentence may go on elsewhere. */
  endsFull: boolean;
  /** Its first line is indented. */
  indented: boolean;
  centred: boolean;
  /** Last and first words as printed, for joining over a break. */
  lastWord: string;
  firstWord: string;
}

/** A bullet or number and the text after it. */
export interface ListItemDraft extends DraftBase {
  kind: 'item';
  marker: Marker;
  /** x of the marker. */
  indent: number;
  html: string;
  text: string;
  size: number;
  endsFull: boolean;
  lastWord: string;
  /** The same lines read as text: an item that nothing follows may be a numbered heading. */
  asText?: TextDraft;
}

export interface Marker {
  /** `bullet`, or the way a number is written, so that items of one list agree. */
  style: 'bullet' | 'decimal' | 'lower-alpha' | 'upper-alpha' | 'lower-roman' | 'upper-roman';
  /** What surrounds the number: `1.`, `1)`, `(1)`. */
  shape: string;
  value: number;
}

export interface TableDraft extends DraftBase {
  kind: 'table';
  grid: TableGrid;
  source: 'tagged' | 'ruled' | 'aligned';
  /** The tags of the file have rows of the same table on an earlier page. */
  begun?: boolean;
  /** Type size of most of its letters, and how many there are. */
  size: number;
  letters: number;
}

export interface TableGrid {
  rows: TableCell[][];
  columns: number;
  headerRows: number;
  /** Of each column that lines draw, whether it holds text; those without are left out of the rows. */
  drawn?: boolean[];
  /** Of each column of a table without drawn columns, where its text lies from left to right, in points. */
  extents?: { x0: number; x1: number }[];
}

export interface TableCell {
  html: string;
  text: string;
  column: number;
  colspan: number;
  rowspan: number;
}

export interface FigureDraft extends DraftBase {
  kind: 'figure';
  /** What OCR read in it, as blocks; of a drawn chart its labels. */
  html?: string;
  /** It holds the labels of a drawn chart, which are no part of the text. */
  labels?: boolean;
  /** What the file says that it shows. */
  description?: string;
  /** The address of its picture, where pictures are asked for. */
  picture?: string;
  /** The same picture stands at the same place on other pages. */
  repeated?: boolean;
}

export interface CodeDraft extends DraftBase {
  kind: 'code';
  text: string;
}

/** A formula that stands alone. */
export interface FormulaDraft extends DraftBase {
  kind: 'formula';
  text: string;
  latex: string;
}

export interface FurnitureDraft extends DraftBase {
  kind: 'furniture';
  role: 'page_header' | 'page_footer' | 'page_number';
  html: string;
  text: string;
}

export type Draft = TextDraft | ListItemDraft | TableDraft | FigureDraft | CodeDraft | FormulaDraft | FurnitureDraft;
