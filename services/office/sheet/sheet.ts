// Writes the rows of a sheet as HTML or directly as Markdown, without empty rows and columns, and with merged cells as spans.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import { escapeText } from '#shared/document/escape-markdown.ts';
import { linkTarget } from '../inline.ts';

export interface SheetCell {
  column: number;
  text: string;
  href?: string;
}

export interface SheetRow {
  index: number;
  /** The cells that show something, in the order of their columns. */
  cells: SheetCell[];
}

/** Zero-based and inclusive indexes. */
export interface MergedRange {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** The rows of a sheet that have cells, in the order of the file. */
export interface SheetRows extends Iterable<SheetRow> {
  readonly count: number;
  /** Cells of all rows. */
  readonly cells: number;
  /** Characters of all cells. */
  readonly length: number;
  /** Whether a cell has an address. */
  readonly isLinked: boolean;
  /** The columns that have a cell. */
  readonly columns: ReadonlySet<number>;
  /** The index of the row at a position. */
  indexAt(position: number): number;
}

export interface Sheet {
  name: string;
  rows: SheetRows;
  merges: MergedRange[];
  /** The markup of objects over the cells: text boxes, chart titles, pictures. */
  drawings: string;
}

/** Counts the cells of all sheets of a workbook, and the characters of their texts. */
export class CellBudget {
  #left: number = DOCUMENT_LIMITS.sheetCells;
  #lengthLeft: number = DOCUMENT_LIMITS.fieldLength;

  /** @throws ParseError DOCUMENT_TOO_COMPLEX after `DOCUMENT_LIMITS.sheetCells` cells */
  spend(cells: number): void {
    this.#left -= cells;
    if (this.#left < 0)
      throw new ParseError('DOCUMENT_TOO_COMPLEX', `The workbook has more than ${DOCUMENT_LIMITS.sheetCells} cells`);
  }

  /** @throws ParseError DOCUMENT_TOO_COMPLEX after `DOCUMENT_LIMITS.fieldLength` characters */
  spendText(length: number): void {
    this.#lengthLeft -= length;
    if (this.#lengthLeft < 0)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The cells of the workbook have more than ${DOCUMENT_LIMITS.fieldLength} characters together; split the workbook into smaller files`,
      );
  }
}

/** The column of the table for each column of the sheet that is not empty. */
type Columns = ReadonlyMap<number, number>;

/** Leaves out the columns that show nothing. @throws ParseError DOCUMENT_TOO_COMPLEX */
function layOut({ rows }: Sheet): Columns {
  const columns = new Map([...rows.columns].sort((a, b) => a - b).map((column, i) => [column, i]));
  if (rows.count * columns.size > DOCUMENT_LIMITS.sheetCells * 4)
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      'A sheet of the workbook is too sparse and too wide to be written as a table',
    );
  return columns;
}

interface Span {
  colspan: number;
  rowspan: number;
}

/** The spans and the cells that they cover, by `row:column` of the table. */
function spansOf(sheet: Sheet, columns: Columns): { origins: Map<string, Span>; covered: Set<string> } {
  const origins = new Map<string, Span>();
  const covered = new Set<string>();
  const rowPositions = new Map<number, number>();
  if (sheet.merges.length > 0)
    for (let position = 0; position < sheet.rows.count; position++)
      rowPositions.set(sheet.rows.indexAt(position), position);
  const positions = (map: ReadonlyMap<number, number>, from: number, to: number): number[] => {
    const found: number[] = [];
    const end = Math.min(to, from + DOCUMENT_LIMITS.tableSpan - 1);
    for (let i = from; i <= end; i++) {
      const at = map.get(i);
      if (at !== undefined) found.push(at);
    }
    return found;
  };
  for (const merge of sheet.merges) {
    const down = positions(rowPositions, merge.top, merge.bottom);
    const across = positions(columns, merge.left, merge.right);
    if (down.length * across.length < 2 || !rowPositions.has(merge.top) || !columns.has(merge.left)) continue;
    if (down.some((row) => across.some((column) => covered.has(`${row}:${column}`)))) continue;
    origins.set(`${down[0]}:${across[0]}`, { colspan: across.length, rowspan: down.length });
    for (const row of down) for (const column of across) covered.add(`${row}:${column}`);
    covered.delete(`${down[0]}:${across[0]}`);
  }
  return { origins, covered };
}

function cellHtml({ text, href }: SheetCell): string {
  const html = escapeHtml(text).replace(/\r\n?|\n/g, '<br>');
  const target = linkTarget(href);
  return target === undefined ? html : `<a href="${escapeHtml(target)}">${html}</a>`;
}

function rowHtml(row: SheetRow, position: number, columns: Columns, spans: ReturnType<typeof spansOf>): string {
  const { origins, covered } = spans;
  const tag = position === 0 ? 'th' : 'td';
  const shown = new Map(row.cells.map((cell) => [columns.get(cell.column), cell]));
  let line = '';
  for (let column = 0; column < columns.size; column++) {
    const key = origins.size === 0 ? '' : `${position}:${column}`;
    if (covered.has(key)) continue;
    const span = origins.get(key);
    const attributes = span
      ? `${span.colspan > 1 ? ` colspan="${span.colspan}"` : ''}${span.rowspan > 1 ? ` rowspan="${span.rowspan}"` : ''}`
      : '';
    const cell = shown.get(column);
    line += `<${tag}${attributes}>${cell ? cellHtml(cell) : ''}</${tag}>`;
  }
  return `<tr>${line}</tr>`;
}

/** The lines of a sheet as a heading and a table. A sheet that shows nothing has none. @throws ParseError DOCUMENT_TOO_COMPLEX */
export function* sheetHtml(sheet: Sheet): Generator<string> {
  if (sheet.rows.count === 0 && sheet.drawings === '') return;
  yield `<h2>${escapeHtml(sheet.name)}</h2>`;
  if (sheet.rows.count > 0) {
    const columns = layOut(sheet);
    const spans = spansOf(sheet, columns);
    yield '<table>';
    let position = 0;
    for (const row of sheet.rows) yield rowHtml(row, position++, columns, spans);
    yield '</table>';
  } else yield '';
  yield sheet.drawings;
}

/** The links of the cells, and the drawings. */
export function sheetReferences(sheet: Sheet): string {
  const links: string[] = [];
  for (const row of sheet.rows.isLinked ? sheet.rows : [])
    for (const cell of row.cells) if (cell.href !== undefined) links.push(cellHtml({ ...cell, text: '' }));
  return [...links, sheet.drawings].join('\n');
}

const CELL_CONTEXT = { lineStart: false, cell: true, link: false };

/** The characters that may need escaping in a Markdown table. Most texts have none of them. */
const MARKDOWN_SPECIAL = /[\\`*_<&~|[\]\t-\r\u00a0\u2028\u2029]| {2}|^ | $/;

function cellMarkdown({ text, href }: SheetCell): string {
  if (href === undefined && !MARKDOWN_SPECIAL.test(text)) return text;
  const written = text
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), CELL_CONTEXT))
    .join('<br>');
  const target = linkTarget(href);
  return target === undefined || /[\s()<>|]/.test(target) ? written : `[${written}](${target})`;
}

/** The lines of a sheet as Markdown, without an HTML tree. Merged cells show their text once. @throws ParseError DOCUMENT_TOO_COMPLEX */
export function* sheetMarkdown(sheet: Sheet): Generator<string> {
  if (sheet.rows.count === 0) return;
  const columns = layOut(sheet);
  yield `## ${escapeText(sheet.name, { ...CELL_CONTEXT, cell: false })}`;
  yield '';
  let isHeader = true;
  for (const row of sheet.rows) {
    const texts = new Array<string>(columns.size).fill('');
    for (const cell of row.cells) texts[columns.get(cell.column) as number] = cellMarkdown(cell);
    yield `| ${texts.join(' | ')} |`;
    if (isHeader) yield `|${' --- |'.repeat(columns.size)}`;
    isHeader = false;
  }
}
