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

export interface Sheet {
  name: string;
  rows: SheetRow[];
  merges: MergedRange[];
  /** The markup of objects over the cells: text boxes, chart titles, pictures. */
  drawings: string;
}

/** Counts the cells of all sheets of a workbook. */
export class CellBudget {
  #left: number = DOCUMENT_LIMITS.sheetCells;

  /** @throws ParseError DOCUMENT_TOO_COMPLEX after `DOCUMENT_LIMITS.sheetCells` cells */
  spend(cells: number): void {
    this.#left -= cells;
    if (this.#left < 0)
      throw new ParseError('DOCUMENT_TOO_COMPLEX', `The workbook has more than ${DOCUMENT_LIMITS.sheetCells} cells`);
  }
}

interface Layout {
  rows: SheetRow[];
  /** The column of the table for each column of the sheet that is not empty. */
  columns: Map<number, number>;
}

/** Removes the rows and columns that show nothing. @throws ParseError DOCUMENT_TOO_COMPLEX */
function layOut(sheet: Sheet): Layout {
  const rows = sheet.rows.filter((row) => row.cells.length > 0);
  const used = new Set<number>();
  for (const row of rows) for (const cell of row.cells) used.add(cell.column);
  const columns = new Map([...used].sort((a, b) => a - b).map((column, i) => [column, i]));
  if (rows.length * columns.size > DOCUMENT_LIMITS.sheetCells * 4)
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      'A sheet of the workbook is too sparse and too wide to be written as a table',
    );
  return { rows, columns };
}

interface Span {
  colspan: number;
  rowspan: number;
}

/** The spans and the cells that they cover, by `row:column` of the table. */
function spansOf(sheet: Sheet, { rows, columns }: Layout): { origins: Map<string, Span>; covered: Set<string> } {
  const origins = new Map<string, Span>();
  const covered = new Set<string>();
  const rowPositions = new Map(rows.map((row, i) => [row.index, i]));
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

function tableHtml(sheet: Sheet, layout: Layout): string {
  const { origins, covered } = spansOf(sheet, layout);
  const width = layout.columns.size;
  const lines = layout.rows.map((row, rowPosition) => {
    const tag = rowPosition === 0 ? 'th' : 'td';
    const shown = new Map(row.cells.map((cell) => [layout.columns.get(cell.column), cell]));
    let line = '';
    for (let column = 0; column < width; column++) {
      const key = `${rowPosition}:${column}`;
      if (covered.has(key)) continue;
      const span = origins.get(key);
      const spans = span
        ? `${span.colspan > 1 ? ` colspan="${span.colspan}"` : ''}${span.rowspan > 1 ? ` rowspan="${span.rowspan}"` : ''}`
        : '';
      const cell = shown.get(column);
      line += `<${tag}${spans}>${cell ? cellHtml(cell) : ''}</${tag}>`;
    }
    return `<tr>${line}</tr>`;
  });
  return `<table>\n${lines.join('\n')}\n</table>`;
}

/** A sheet as a heading and a table; '' if it shows nothing. */
export function sheetHtml(sheet: Sheet): string {
  const layout = layOut(sheet);
  const table = layout.rows.length === 0 ? '' : tableHtml(sheet, layout);
  if (table === '' && sheet.drawings === '') return '';
  return `<h2>${escapeHtml(sheet.name)}</h2>\n${table}\n${sheet.drawings}`;
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

/** A sheet as Markdown, without an HTML tree. Merged cells show their text once. */
export function sheetMarkdown(sheet: Sheet): string {
  const { rows, columns } = layOut(sheet);
  if (rows.length === 0) return '';
  const lines = rows.map((row) => {
    const texts = new Array<string>(columns.size).fill('');
    for (const cell of row.cells) texts[columns.get(cell.column) as number] = cellMarkdown(cell);
    return `| ${texts.join(' | ')} |`;
  });
  lines.splice(1, 0, `|${' --- |'.repeat(columns.size)}`);
  return `## ${escapeText(sheet.name, { ...CELL_CONTEXT, cell: false })}\n\n${lines.join('\n')}`;
}
