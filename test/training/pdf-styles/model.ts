// Defines what a random document consists of: blocks (what it says) and flows (how a page shows it, in terms that every engine knows).

export type Align = 'left' | 'center' | 'right' | 'justify';

/** What the document says. The truth is written from blocks alone. */
export type Block =
  | { kind: 'heading'; level: number; text: string; capitals: boolean; startsPage: boolean }
  | {
      kind: 'paragraph';
      text: string;
      role: 'body' | 'caption' | 'byline' | 'quote' | 'note';
      lead?: string;
      mark?: number;
    }
  | { kind: 'lines'; lines: readonly string[]; align: Align }
  | { kind: 'list'; items: readonly ListItem[] }
  | { kind: 'table'; table: Table }
  | { kind: 'pair'; left: readonly Block[]; right: readonly Block[] }
  | { kind: 'box'; design: 'frame' | 'shade' | 'bar' | 'rules'; blocks: readonly Block[] }
  | { kind: 'terms'; sameLine: boolean; entries: readonly (readonly [term: string, text: string])[] }
  | { kind: 'code'; design: 'plain' | 'frame' | 'shade'; lines: readonly string[] }
  | { kind: 'footnotes'; notes: readonly string[] };

export interface ListItem {
  marker: string;
  text: string;
  depth: number;
}

export interface Cell {
  text: string;
  columns: number;
  rows: number;
  bold: boolean;
  align: Align;
}

export interface Table {
  design: TableDesign;
  /** A cell that a span covers is not in its row. */
  rows: readonly (readonly Cell[])[];
  headRows: number;
  /** Widths of the columns in parts of the table's width. */
  widths: readonly number[];
  /** Share of the width of its column of text. */
  share: number;
  vertical: 'top' | 'middle' | 'bottom';
  repeatsHead: boolean;
}

/** Widths of lines are in points; 0 is no line. */
export interface TableDesign {
  name: string;
  top: number;
  bottom: number;
  sides: number;
  underHead: number;
  rows: number;
  headColumns: number;
  bodyColumns: number;
  line: 'solid' | 'dashed' | 'dotted';
  headFill?: string;
  zebraFill?: string;
  firstColumnFill?: string;
  headColour?: string;
}

/** How a paragraph looks. Lengths are in points. */
export interface Look {
  size: number;
  align?: Align;
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  mono?: boolean;
  colour?: string;
  fill?: string;
  frame?: number;
  ruleAbove?: number;
  ruleBelow?: number;
  ruleLeft?: number;
  tracking?: number;
  before?: number;
  after?: number;
  left?: number;
  first?: number;
  height?: number;
  keep?: boolean;
  startsPage?: boolean;
  dropCap?: boolean;
  /** Text before the first line, as wide as `first` is negative. */
  marker?: string;
}

export interface Run {
  text: string;
  bold?: boolean;
  italic?: boolean;
  /** Size in parts of the paragraph's. */
  scale?: number;
  raised?: boolean;
  /** Text of the footnote that the run refers to. */
  note?: string;
}

export type Flow =
  | { kind: 'paragraph'; look: Look; runs: readonly Run[] }
  | { kind: 'grid'; grid: Grid }
  | { kind: 'columns'; count: number; gap: number; rule: boolean; flows: readonly Flow[] }
  | { kind: 'footer'; flows: readonly Flow[] };

export interface GridCell {
  flows: readonly Flow[];
  columns: number;
  rows: number;
  /** Lines of its top, right, bottom and left edge. */
  edges: readonly [number, number, number, number];
  line: TableDesign['line'];
  fill?: string;
  vertical: Table['vertical'];
}

export interface Grid {
  rows: readonly (readonly GridCell[])[];
  headRows: number;
  widths: readonly number[];
  share: number;
  padding: readonly [vertical: number, horizontal: number];
  align: 'left' | 'center';
  before: number;
  after: number;
}

/** A running head or foot. `{page}` and `{pages}` stand for numbers. */
export interface Furniture {
  left: string;
  centre: string;
  right: string;
  rule: boolean;
}

export interface PageStyle {
  width: number;
  height: number;
  margin: number;
  font: string;
  mono: string;
  size: number;
  lineHeight: number;
  head?: Furniture;
  foot?: Furniture;
  /** Even pages have left and right exchanged. */
  mirrored: boolean;
  /** The first page has no running head. */
  plainFirst: boolean;
  language: string;
}

export interface RandomDocument {
  name: string;
  page: PageStyle;
  blocks: readonly Block[];
  flows: readonly Flow[];
  /** What was drawn, for figures by design. */
  tags: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}
