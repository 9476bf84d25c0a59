// Collects the rows of a CSV file as finished lines, so that a file of any width is written once and never held as a tree.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeText } from '#shared/document/escape.ts';

const CONTEXT = { lineStart: false, cell: true, link: false };
/** Everything that Markdown or a table line may have to be kept from; most texts hold none of it. */
const MARKDOWN_LIVE = /[\\`*_<&~|[\]\t-\r\u00a0\u2028\u2029]| {2}/;
const HTML_LIVE = /[&<>\x00-\x1f]/;

function cellMarkdown(text: string): string {
  const trimmed = text.trim();
  if (!MARKDOWN_LIVE.test(trimmed)) return trimmed;
  return trimmed
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), CONTEXT))
    .join('<br>');
}

function cellHtml(text: string): string {
  const trimmed = text.trim();
  if (!HTML_LIVE.test(trimmed)) return trimmed;
  return trimmed
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\r\n?|\n/g, '<br>');
}

export type TableKind = 'markdown' | 'html';

/** One table under construction; the first row that says something is its header. */
export class TableWriter {
  readonly #kind: TableKind;
  readonly #lines: string[] = [];
  readonly #widths: number[] = [];
  #width = 0;
  #cells = 0;
  #length = 0;

  constructor(kind: TableKind) {
    this.#kind = kind;
  }

  /** Adds a row; one of empty fields is left out. @throws ParseError DOCUMENT_TOO_COMPLEX past the CSV limits */
  add(fields: readonly string[]): void {
    let width = fields.length;
    while (width > 0 && (fields[width - 1] ?? '').trim() === '') width--;
    if (width === 0) return;
    if (width > DOCUMENT_LIMITS.csvColumns)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The file has rows of more than ${DOCUMENT_LIMITS.csvColumns} columns`,
      );
    this.#cells += width;
    if (this.#cells > DOCUMENT_LIMITS.csvCells)
      throw new ParseError('DOCUMENT_TOO_COMPLEX', `The file has more than ${DOCUMENT_LIMITS.csvCells} cells`);
    this.#width = Math.max(this.#width, width);
    const cells: string[] = [];
    const write = this.#kind === 'markdown' ? cellMarkdown : cellHtml;
    for (let i = 0; i < width; i++) cells.push(write(fields[i] ?? ''));
    // Joined at once: a line that grows piece by piece is kept as the tree of its pieces.
    const tag = this.#lines.length === 0 ? 'th' : 'td';
    const line =
      this.#kind === 'markdown' ? `| ${cells.join(' | ')} ` : `<${tag}>${cells.join(`</${tag}><${tag}>`)}</${tag}>`;
    this.#length += line.length;
    if (this.#length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError('DOCUMENT_TOO_COMPLEX', 'The table that the file makes is too long');
    this.#lines.push(line);
    this.#widths.push(width);
  }

  /** The table; short rows are filled up where that does not multiply the file, and the header always is. */
  finish(): string {
    if (this.#lines.length === 0) return '';
    const fills = this.#lines.length * this.#width <= DOCUMENT_LIMITS.csvCells;
    const filler = (row: number, cell: string) =>
      fills || row === 0 ? cell.repeat(this.#width - (this.#widths[row] ?? 0)) : '';
    if (this.#kind === 'html') {
      const rows = this.#lines.map((line, i) => `<tr>${line}${filler(i, i === 0 ? '<th></th>' : '<td></td>')}</tr>`);
      return `<table>\n${rows.join('\n')}\n</table>`;
    }
    const rows = this.#lines.map((line, i) => `${line}${filler(i, '|  ')}|`);
    rows.splice(1, 0, `${'| --- '.repeat(this.#width)}|`);
    return rows.join('\n');
  }
}
