// Keeps the cells of a sheet as bytes until the complete sheet is read, because its columns, merged cells and links are known only then.

import { BytePages, NumberList } from './byte-pages.ts';
import type { SharedStrings } from './shared-strings.ts';
import type { CellBudget, SheetCell, SheetRow, SheetRows } from './sheet.ts';

/** Index of the row and number of its cells. */
const ROW_HEADER_BYTES = 8;
/** Column, whether the text is shared, and the length of the text or the index of the shared string. */
const CELL_HEADER_BYTES = 7;
const FIRST_BYTES = 4096;

/** Rows that are added one cell at a time. */
export class CellStore implements SheetRows {
  readonly #strings: SharedStrings;
  readonly #budget: CellBudget;
  readonly #pages = new BytePages();
  readonly #addresses = new NumberList();
  readonly columns = new Set<number>();
  cells = 0;
  length = 0;
  /** The row that is being read. */
  #row = Buffer.allocUnsafe(FIRST_BYTES);
  #filled = ROW_HEADER_BYTES;
  #rowCells = 0;
  /** Addresses of cells by `row:column`. */
  #links: ReadonlyMap<string, string> = new Map();

  constructor(strings: SharedStrings, budget: CellBudget) {
    this.#strings = strings;
    this.#budget = budget;
  }

  get isLinked(): boolean {
    return this.#links.size > 0;
  }

  get count(): number {
    return this.#addresses.length;
  }

  /** Adds a cell with a text that is not blank. @throws ParseError DOCUMENT_TOO_COMPLEX */
  add(column: number, text: string): void {
    this.#reserve(CELL_HEADER_BYTES + text.length * 3);
    const length = this.#row.write(text, this.#filled + CELL_HEADER_BYTES);
    this.#head(column, 0, length);
    this.#filled += length;
    this.#count(column, text.length);
  }

  /** Adds a cell with a shared string. @throws ParseError DOCUMENT_TOO_COMPLEX */
  addShared(column: number, index: number): void {
    const size = this.#strings.size(index);
    if (size === 0) return;
    this.#reserve(CELL_HEADER_BYTES);
    this.#head(column, 1, index);
    this.#count(column, size);
  }

  /** Ends a row. Rows without cells are left out. */
  endRow(index: number): void {
    if (this.#rowCells > 0) {
      this.#row.writeUInt32LE(index, 0);
      this.#row.writeUInt32LE(this.#rowCells, 4);
      this.#addresses.push(this.#pages.add(this.#row.subarray(0, this.#filled)));
    }
    this.#filled = ROW_HEADER_BYTES;
    this.#rowCells = 0;
  }

  /** @param links addresses by `row:column` */
  link(links: ReadonlyMap<string, string>): void {
    this.#links = links;
  }

  /** The index of the row at a position. */
  indexAt(position: number): number {
    return this.#pages.from(this.#addresses.at(position)).readUInt32LE(0);
  }

  *[Symbol.iterator](): Generator<SheetRow> {
    for (let position = 0; position < this.#addresses.length; position++)
      yield this.#read(this.#pages.from(this.#addresses.at(position)));
  }

  #read(record: Buffer): SheetRow {
    const index = record.readUInt32LE(0);
    const count = record.readUInt32LE(4);
    const cells: SheetCell[] = [];
    let isSorted = true;
    for (let i = 0, at = ROW_HEADER_BYTES; i < count; i++) {
      const column = record.readUInt16LE(at);
      const number = record.readUInt32LE(at + 3);
      const isShared = record[at + 2] === 1;
      at += CELL_HEADER_BYTES;
      const text = isShared ? this.#strings.at(number) : record.toString('utf8', at, at + number);
      if (!isShared) at += number;
      const href = this.#links.size === 0 ? undefined : this.#links.get(`${index}:${column}`);
      if (i > 0 && (cells[i - 1]?.column ?? 0) >= column) isSorted = false;
      cells.push(href === undefined ? { column, text } : { column, text, href });
    }
    if (!isSorted) cells.sort((a, b) => a.column - b.column);
    return { index, cells };
  }

  #head(column: number, shared: 0 | 1, number: number): void {
    this.#row.writeUInt16LE(column, this.#filled);
    this.#row[this.#filled + 2] = shared;
    this.#row.writeUInt32LE(number, this.#filled + 3);
    this.#filled += CELL_HEADER_BYTES;
  }

  #count(column: number, length: number): void {
    this.#budget.spendText(length);
    this.#rowCells++;
    this.cells++;
    this.length += length;
    this.columns.add(column);
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#row.length) return;
    const larger = Buffer.allocUnsafe(needed * 2);
    this.#row.copy(larger, 0, 0, this.#filled);
    this.#row = larger;
  }
}
