// Streams the XML of one sheet into rows of cells with the texts that they show (ECMA-376-1, 18.3.1).
import { localName, readXmlStream } from '#shared/readers/xml.ts';
import { CellStore } from './cell-store.ts';
import { generalNumber } from './decimal-format.ts';
import type { NumberFormat } from './number-format.ts';
import { decodeControls, type SharedStrings } from './shared-strings.ts';
import type { CellBudget, MergedRange } from './sheet.ts';

const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

/** The data that all sheets of a workbook share. */
export interface Book {
  strings: SharedStrings;
  /** The number format for each style index. */
  formats: NumberFormat[];
  budget: CellBudget;
}

interface Cells {
  rows: CellStore;
  merges: MergedRange[];
  /** Each linked range with the relationship id of its hyperlink. */
  links: [MergedRange, string][];
  /** The relationship id of the drawing part. */
  drawing?: string;
}

/** The zero-based position of a reference such as `BC23`; undefined for any other text, or outside the largest sheet. */
function parseReference(reference: string | undefined): { row: number; column: number } | undefined {
  const match = /^\$?([A-Za-z]{1,3})\$?(\d{1,7})$/.exec(reference ?? '');
  if (!match?.[1]) return undefined;
  let column = 0;
  for (const letter of match[1].toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  const row = Number(match[2]);
  return column <= MAX_COLUMNS && row >= 1 && row <= MAX_ROWS ? { row: row - 1, column: column - 1 } : undefined;
}

function parseRange(range: string | undefined): MergedRange | undefined {
  const [from, to] = (range ?? '').split(':');
  const start = parseReference(from);
  const end = parseReference(to ?? from);
  return start && end ? { top: start.row, left: start.column, bottom: end.row, right: end.column } : undefined;
}

class CellReader {
  readonly cells: Cells;
  readonly #book: Book;
  /** The index of the row that is being read. */
  #row: number | undefined;
  #nextRow = 0;
  #column = -1;
  #type = '';
  #style = 0;
  #value = '';
  /** Whether the reader is inside the value of a cell. */
  #inValue = false;
  /** The number of open phonetic hints, whose text is not shown. */
  #hidden = 0;

  constructor(book: Book) {
    this.#book = book;
    this.cells = { rows: new CellStore(book.strings, book.budget), merges: [], links: [] };
  }

  open(name: string, attributes: Record<string, string>): void {
    switch (localName(name)) {
      case 'row': {
        const index = Number(attributes.r ?? this.#nextRow + 1) - 1;
        this.#row = index >= 0 && index < MAX_ROWS ? index : this.#nextRow;
        this.#nextRow = this.#row + 1;
        this.#column = -1;
        break;
      }
      case 'c':
        this.#column = parseReference(attributes.r)?.column ?? this.#column + 1;
        this.#type = attributes.t ?? '';
        this.#style = Number(attributes.s ?? 0);
        this.#value = '';
        break;
      case 'v':
      case 't':
        this.#inValue = this.#hidden === 0;
        break;
      case 'rPh':
        this.#hidden++;
        break;
      case 'mergeCell': {
        const range = parseRange(attributes.ref);
        if (range) this.cells.merges.push(range);
        break;
      }
      case 'hyperlink': {
        const range = parseRange(attributes.ref);
        const id = attributes['r:id'];
        if (range && id !== undefined) this.cells.links.push([range, id]);
        break;
      }
      case 'drawing':
        if (attributes['r:id'] !== undefined) this.cells.drawing = attributes['r:id'];
        break;
      default:
        break;
    }
  }

  text(chunk: string): void {
    if (this.#inValue) this.#value += chunk;
  }

  close(name: string): void {
    switch (localName(name)) {
      case 'v':
      case 't':
        this.#inValue = false;
        break;
      case 'rPh':
        this.#hidden--;
        break;
      case 'c':
        this.#endCell();
        break;
      case 'row':
        if (this.#row !== undefined) this.cells.rows.endRow(this.#row);
        this.#row = undefined;
        break;
      default:
        break;
    }
  }

  #endCell(): void {
    this.#book.budget.spend(1);
    const raw = this.#value;
    if (this.#row === undefined || raw === '' || this.#column >= MAX_COLUMNS) return;
    const { rows } = this.cells;
    const text = this.#type === 's' ? '' : this.#shownText(raw);
    if (this.#type === 's') rows.addShared(this.#column, Number(raw));
    else if (text.trim() !== '') rows.add(this.#column, text);
  }

  #shownText(raw: string): string {
    const { formats } = this.#book;
    switch (this.#type) {
      case 'b':
        return raw === '1' || raw === 'true' ? 'TRUE' : 'FALSE';
      case 'd':
        return raw.replace(/T00:00:00(?:\.0+)?Z?$/, '').replace('T', ' ');
      case 'n':
      case '': {
        const value = Number(raw);
        if (raw.trim() === '' || !Number.isFinite(value)) return raw;
        return (formats[this.#style] ?? generalNumber)(value);
      }
      default:
        return decodeControls(raw);
    }
  }
}

/** Reads the cells of one sheet. @throws ParseError DOCUMENT_TOO_COMPLEX */
export async function readCells(book: Book, xml: AsyncIterable<string>): Promise<Cells> {
  const reader = new CellReader(book);
  await readXmlStream(xml, {
    open: (name, attributes) => reader.open(name, attributes),
    text: (chunk) => reader.text(chunk),
    close: (name) => reader.close(name),
  });
  return reader.cells;
}
