// Reads an ods (ODF 1.3 part 3, 9) into sheets. Its cells store the text that they show, so this reader formats no numbers.
import {
  attribute,
  childElement,
  childElements,
  descendants,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import { CellBudget, type MergedRange, type Sheet, type SheetRow, type SheetRows } from '../sheet/sheet.ts';
import type { OdfContent } from './content.ts';
import type { OdfStyles } from './styles.ts';

/** The largest sheet of LibreOffice. */
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

function repeats(element: XmlElement, name: string): number {
  return Math.max(Number(attribute(element, name) ?? 1) || 1, 1);
}

/** The text that a cell shows: its paragraphs, without comments and floating objects. */
function cellText(cell: XmlElement): string {
  return childElements(cell, 'p')
    .map((paragraph) => shownText(paragraph))
    .join('\n');
}

function shownText(element: XmlElement): string {
  let text = '';
  for (const child of element.children) {
    if (typeof child === 'string') text += child;
    else if (child.local === 's') text += ' '.repeat(Math.min(Number(attribute(child, 'c') ?? 1) || 1, 64));
    else if (child.local === 'tab') text += ' ';
    else if (child.local === 'line-break') text += '\n';
    else if (child.local !== 'annotation') text += shownText(child);
  }
  return text;
}

/** Rows that are objects already. Repeated rows share their cells. */
class RowList implements SheetRows {
  readonly #rows: SheetRow[] = [];
  readonly columns = new Set<number>();
  cells = 0;
  length = 0;
  isLinked = false;

  get count(): number {
    return this.#rows.length;
  }

  add(row: SheetRow): void {
    this.#rows.push(row);
    this.cells += row.cells.length;
    for (const { column, text, href } of row.cells) {
      this.length += text.length;
      this.isLinked ||= href !== undefined;
      this.columns.add(column);
    }
  }

  indexAt(position: number): number {
    return this.#rows[position]?.index ?? 0;
  }

  [Symbol.iterator](): Iterator<SheetRow> {
    return this.#rows.values();
  }
}

class SheetReader {
  readonly rows = new RowList();
  readonly merges: MergedRange[] = [];
  /** The markup of the pictures that are anchored to cells. */
  readonly pictures: string[] = [];
  readonly #budget: CellBudget;
  readonly #content: OdfContent;
  #row = 0;

  constructor(budget: CellBudget, content: OdfContent) {
    this.#budget = budget;
    this.#content = content;
  }

  read(element: XmlElement): void {
    for (const child of childElements(element)) {
      if (child.local === 'table-row') this.#readRow(child);
      else if (/^table-(?:header-rows|rows|row-group)$/.test(child.local)) this.read(child);
    }
  }

  #readRow(element: XmlElement): void {
    const row: SheetRow = { index: this.#row, cells: [] };
    let column = 0;
    for (const cell of childElements(element)) {
      if (cell.local !== 'table-cell' && cell.local !== 'covered-table-cell') continue;
      const count = Math.min(repeats(cell, 'number-columns-repeated'), MAX_COLUMNS - column);
      const text = cell.local === 'table-cell' ? cellText(cell) : '';
      const pictures = this.#content.cellPictures(cell);
      if (pictures !== '') this.pictures.push(pictures);
      if (text.trim() !== '') {
        this.#budget.spend(count);
        this.#budget.spendText(text.length * count);
        const link = descendants(cell, 'a')[0];
        const href = link && textContent(link).trim() === text.trim() ? attribute(link, 'href') : undefined;
        for (let i = 0; i < count; i++)
          row.cells.push({ column: column + i, text, ...(href === undefined ? {} : { href }) });
      }
      const across = repeats(cell, 'number-columns-spanned');
      const down = repeats(cell, 'number-rows-spanned');
      if (across > 1 || down > 1)
        this.merges.push({ top: this.#row, left: column, bottom: this.#row + down - 1, right: column + across - 1 });
      column += count;
    }
    const count = Math.min(repeats(element, 'number-rows-repeated'), MAX_ROWS - this.#row);
    if (row.cells.length > 0) {
      const length = row.cells.reduce((sum, { text }) => sum + text.length, 0);
      this.#budget.spend(row.cells.length * (count - 1));
      this.#budget.spendText(length * (count - 1));
      for (let i = 0; i < count; i++) this.rows.add({ index: this.#row + i, cells: row.cells });
    }
    this.#row += count;
  }
}

/** The visible sheets in order. @throws ParseError DOCUMENT_TOO_COMPLEX */
export function readSpreadsheet(spreadsheet: XmlElement, styles: OdfStyles, content: OdfContent): Sheet[] {
  const budget = new CellBudget();
  const sheets: Sheet[] = [];
  for (const table of childElements(spreadsheet, 'table')) {
    if (styles.style('table', attribute(table, 'style-name')).hidden) continue;
    const reader = new SheetReader(budget, content);
    reader.read(table);
    const shapes = childElement(table, 'shapes');
    const drawings = [shapes ? content.read(shapes) : '', ...reader.pictures].filter((html) => html !== '').join('\n');
    sheets.push({ name: attribute(table, 'name') ?? '', rows: reader.rows, merges: reader.merges, drawings });
  }
  return sheets;
}
