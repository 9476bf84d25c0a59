// One sheet as rows of shown texts, and how it is written: trimmed, merged cells spanned, as HTML or straight to Markdown.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeText } from '#shared/document/escape.ts';
import { escapeHtml, linkTarget } from '../inline.ts';

export interface SheetCell {
  column: number;
  text: string;
  href?: string;
}

export interface SheetRow {
  index: number;
  /** In the order of their columns, only those that show something. */
  cells: SheetCell[];
}

/** All zero-based and inclusive. */
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
  /** Markup of what floats over the cells (text boxes, chart titles, pictures). */
  drawings: string;
}

/** Counts cells over a whole workbook. */
export class CellBudget {
  #left: number = DOCUMENT_LIMITS.sheetCells;

  /** @throws ParseError DOCUMENT_TOO_COMPLEX once `DOCUMENT_LIMITS.sheetCells` are spent */
  spend(cells: number): void {
    this.#left -= cells;
    if (this.#left < 0)
      throw new ParseError('DOCUMENT_TOO_COMPLEX', `The workbook has more than ${DOCUMENT_LIMITS.sheetCells} cells`);
  }
}

interface Layout {
  rows: SheetRow[];
  /** Column of the sheet to column of the table; empty columns have none. */
  columns: Map<number, number>;
}

/** What remains when rows and columns that show nothing are left out. @throws ParseError DOCUMENT_TOO_COMPLEX */
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

/** Spans by "row:column" of the table, and the places they cover. */
function spansOf(sheet: Sheet, { rows, columns }: Layout): { origins: Map<string, Span>; covered: Set<string> } {
  const origins = new Map<string, Span>();
  const covered = new Set<string>();
  const rowPlaces = new Map(rows.map((row, i) => [row.index, i]));
  const place = (map: ReadonlyMap<number, number>, from: number, to: number): number[] => {
    const found: number[] = [];
    const end = Math.min(to, from + DOCUMENT_LIMITS.tableSpan - 1);
    for (let i = from; i <= end; i++) {
      const at = map.get(i);
      if (at !== undefined) found.push(at);
    }
    return found;
  };
  for (const merge of sheet.merges) {
    const down = place(rowPlaces, merge.top, merge.bottom);
    const across = place(columns, merge.left, merge.right);
    if (down.length * across.length < 2 || !rowPlaces.has(merge.top) || !columns.has(merge.left)) continue;
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
  const lines = layout.rows.map((row, rowPlace) => {
    const tag = rowPlace === 0 ? 'th' : 'td';
    const shown = new Map(row.cells.map((cell) => [layout.columns.get(cell.column), cell]));
    let line = '';
    for (let column = 0; column < width; column++) {
      const key = `${rowPlace}:${column}`;
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

/** A sheet as its name and a table; '' where it shows nothing. */
export function sheetHtml(sheet: Sheet): string {
  const layout = layOut(sheet);
  const table = layout.rows.length === 0 ? '' : tableHtml(sheet, layout);
  if (table === '' && sheet.drawings === '') return '';
  return `<h2>${escapeHtml(sheet.name)}</h2>\n${table}\n${sheet.drawings}`;
}

const CELL_CONTEXT = { lineStart: false, cell: true, link: false };

/** Everything that Markdown or a table line may have to be kept from; most texts hold none of it. */
const MARKDOWN_LIVE = /[\\`*_<&~|[\]\t-\r\u00a0\u2028\u2029]| {2}|^ | $/;

function cellMarkdown({ text, href }: SheetCell): string {
  if (href === undefined && !MARKDOWN_LIVE.test(text)) return text;
  const written = text
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), CELL_CONTEXT))
    .join('<br>');
  const target = linkTarget(href);
  return target === undefined || /[\s()<>|]/.test(target) ? written : `[${written}](${target})`;
}

/** The same as Markdown without a tree between, for sheets too large for one; merged cells show their text once. */
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
