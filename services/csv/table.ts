// Writes the rows of a CSV file as table lines while they are read, so that no tree of a large table is in memory.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeText } from '#shared/document/escape-markdown.ts';

export type TableKind = 'markdown' | 'html';

const CELL_CONTEXT = { lineStart: false, cell: true, link: false };
/** Every character that `escapeText` or a table line may have to change. Most cells contain none of them, so this check saves time. */
const MARKDOWN_SPECIAL = /[\\`*_<&~|[\]\t-\r\u00a0\u2028\u2029]| {2}/;
const HTML_SPECIAL = /[&<>\x00-\x1f]/;

/** One table. The first row that is not empty is its header. */
export class TableWriter {
  readonly #kind: TableKind;
  readonly #lines: string[] = [];
  /** Number of columns of each line. */
  readonly #widths: number[] = [];
  #width = 0;
  #cells = 0;
  #length = 0;

  constructor(kind: TableKind) {
    this.#kind = kind;
  }

  /** Adds a row. Rows with only empty fields are skipped. @throws ParseError DOCUMENT_TOO_COMPLEX above the CSV limits */
  add(fields: readonly string[]): void {
    let width = fields.length;
    while (width > 0 && (fields[width - 1] ?? '').trim() === '') width--;
    if (width === 0) return;
    this.#countCells(width);
    const cells: string[] = [];
    const write = this.#kind === 'markdown' ? cellMarkdown : cellHtml;
    for (let i = 0; i < width; i++) cells.push(write(fields[i] ?? ''));
    const tag = this.#lines.length === 0 ? 'th' : 'td';
    // Join once: V8 keeps a string that is built by concatenation as a tree of its parts.
    const line =
      this.#kind === 'markdown' ? `| ${cells.join(' | ')} ` : `<${tag}>${cells.join(`</${tag}><${tag}>`)}</${tag}>`;
    this.#length += line.length;
    if (this.#length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The table is longer than ${DOCUMENT_LIMITS.fieldLength} characters; split the file`,
      );
    this.#lines.push(line);
    this.#widths.push(width);
  }

  /**
   * Returns the table. The header gets all columns. Short rows get the missing cells too, unless these would make the table
   * much larger than the file.
   */
  finish(): string {
    if (this.#lines.length === 0) return '';
    const padRows = this.#lines.length * this.#width <= DOCUMENT_LIMITS.csvCells;
    const padding = (row: number, cell: string) =>
      padRows || row === 0 ? cell.repeat(this.#width - (this.#widths[row] ?? 0)) : '';
    if (this.#kind === 'html') {
      const rows = this.#lines.map((line, i) => `<tr>${line}${padding(i, i === 0 ? '<th></th>' : '<td></td>')}</tr>`);
      return `<table>\n${rows.join('\n')}\n</table>`;
    }
    const rows = this.#lines.map((line, i) => `${line}${padding(i, '|  ')}|`);
    rows.splice(1, 0, `${'| --- '.repeat(this.#width)}|`);
    return rows.join('\n');
  }

  #countCells(width: number): void {
    if (width > DOCUMENT_LIMITS.csvColumns)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The file has a row of more than ${DOCUMENT_LIMITS.csvColumns} columns; split the file`,
      );
    this.#cells += width;
    if (this.#cells > DOCUMENT_LIMITS.csvCells)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The file has more than ${DOCUMENT_LIMITS.csvCells} cells; split the file`,
      );
    this.#width = Math.max(this.#width, width);
  }
}

function cellMarkdown(text: string): string {
  const trimmed = text.trim();
  if (!MARKDOWN_SPECIAL.test(trimmed)) return trimmed;
  return trimmed
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), CELL_CONTEXT))
    .join('<br>');
}

function cellHtml(text: string): string {
  const trimmed = text.trim();
  if (!HTML_SPECIAL.test(trimmed)) return trimmed;
  return trimmed
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\r\n?|\n/g, '<br>');
}
