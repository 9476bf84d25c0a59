// Writes the fields of a CSV file as a Markdown or HTML table while they are read, in UTF-8 that is escaped for JSON, without a string for each cell.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeText } from '#shared/document/escape-markdown.ts';
import { escapeJson } from '#shared/document/text-pieces.ts';
import type { FieldReceiver } from './reader.ts';
import { hasDoubleSpace, hasWideSpace, isBlank, TRAIT } from './traits.ts';

const CELL_CONTEXT = { lineStart: false, cell: true, link: false };
const SPACE = 0x20;
/** Longer cells are copied by a call, shorter ones byte by byte. */
const SHORT_BYTES = 64;
/** UTF-8 bytes of one UTF-16 code unit at most. */
const UNIT_BYTES = 3;
const NEWLINE = escapeJson('\n');
const BUFFER_BYTES = 256 * 1024;

function tooComplex(what: string): ParseError {
  return new ParseError('DOCUMENT_TOO_COMPLEX', `The file has ${what}; split the file`);
}

/** Counts the rows and columns that a table will have. Rows with only blank fields are not part of it. */
export class TableSize implements FieldReceiver {
  rows = 0;
  columns = 0;
  #cells = 0;
  #fields = 0;
  /** Columns of the row up to its last field that is not blank. */
  #width = 0;

  field(bytes: Buffer, start: number, end: number, traits: number): void {
    this.#fields++;
    if (!isBlank(bytes, start, end, traits)) this.#width = this.#fields;
  }

  /** @throws ParseError DOCUMENT_TOO_COMPLEX above `csvCells` or `csvColumns` */
  endRow(): void {
    const width = this.#width;
    this.#fields = 0;
    this.#width = 0;
    if (width === 0) return;
    if (width > DOCUMENT_LIMITS.csvColumns)
      throw tooComplex(`a row of more than ${DOCUMENT_LIMITS.csvColumns} columns`);
    this.rows++;
    this.#cells += width;
    if (this.#cells > DOCUMENT_LIMITS.csvCells) throw tooComplex(`more than ${DOCUMENT_LIMITS.csvCells} cells`);
    this.columns = Math.max(this.columns, width);
  }
}

interface RowMarkup {
  /** Before the first cell. */
  first: Buffer;
  /** Between two cells. */
  next: Buffer;
  /** After the last cell that is not blank. */
  last: Buffer;
  /** A missing cell. */
  missing: Buffer;
  end: Buffer;
}

interface TableMarkup {
  header: RowMarkup;
  body: RowMarkup;
  /** After the header row. */
  rule: (columns: number) => string;
  start: string;
  end: string;
  /** The trait of cells that must be escaped. */
  special: number;
  collapsesSpaces: boolean;
  escape: (text: string) => string;
}

export type TableKind = 'markdown' | 'html';

const markdownRow = (before: string): RowMarkup => ({
  first: Buffer.from(`${before}| `),
  next: Buffer.from(' | '),
  last: Buffer.from(' '),
  missing: Buffer.from('|  '),
  end: Buffer.from('|'),
});

const htmlRow = (before: string, tag: string): RowMarkup => ({
  first: Buffer.from(`${before}<tr><${tag}>`),
  next: Buffer.from(`</${tag}><${tag}>`),
  last: Buffer.from(`</${tag}>`),
  missing: Buffer.from(`<${tag}></${tag}>`),
  end: Buffer.from('</tr>'),
});

const MARKUP: Readonly<Record<TableKind, TableMarkup>> = {
  markdown: {
    header: markdownRow(''),
    body: markdownRow(NEWLINE),
    rule: (columns) => `${NEWLINE}${'| --- '.repeat(columns)}|`,
    start: '',
    end: '',
    special: TRAIT.MARKDOWN | TRAIT.JSON,
    collapsesSpaces: true,
    escape: cellMarkdown,
  },
  html: {
    header: htmlRow('', 'th'),
    body: htmlRow(NEWLINE, 'td'),
    rule: () => '',
    start: `<table>${NEWLINE}`,
    end: `${NEWLINE}</table>`,
    special: TRAIT.HTML | TRAIT.JSON,
    collapsesSpaces: false,
    escape: cellHtml,
  },
};

/** Writes one table. The first row that is not blank is its header. */
export class TableWriter implements FieldReceiver {
  readonly #markup: TableMarkup;
  readonly #columns: number;
  /** Short rows get the missing cells, unless these would make the table much larger than the file. */
  readonly #padsRows: boolean;
  #row: RowMarkup;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #filled = 0;
  #fields = 0;
  /** Cells of the current row that are written. */
  #cells = 0;

  constructor(kind: TableKind, size: TableSize) {
    this.#markup = MARKUP[kind];
    this.#row = this.#markup.header;
    this.#columns = size.columns;
    this.#padsRows = size.rows * size.columns <= DOCUMENT_LIMITS.csvCells;
    if (size.rows > 0) this.#text(this.#markup.start);
  }

  field(bytes: Buffer, start: number, end: number, traits: number): void {
    this.#fields++;
    if (isBlank(bytes, start, end, traits)) return;
    while (this.#cells < this.#fields) this.#append(this.#cells++ === 0 ? this.#row.first : this.#row.next);
    if ((traits & (this.#markup.special | TRAIT.SPACE | TRAIT.WIDE)) === 0) this.#copy(bytes, start, end);
    else this.#cell(bytes, start, end, traits);
  }

  endRow(): void {
    const width = this.#cells;
    this.#fields = 0;
    this.#cells = 0;
    if (width === 0) return;
    const { last, missing, end } = this.#row;
    const isHeader = this.#row === this.#markup.header;
    this.#append(last);
    if (isHeader || this.#padsRows) for (let column = width; column < this.#columns; column++) this.#append(missing);
    this.#append(end);
    if (!isHeader) return;
    this.#text(this.#markup.rule(this.#columns));
    this.#row = this.#markup.body;
  }

  /** Ends the table. */
  end(): void {
    if (this.#row !== this.#markup.header) this.#text(this.#markup.end);
  }

  /** The bytes that were written since the last call. They are valid until the next row is written. */
  take(): Buffer {
    const written = this.#buffer.subarray(0, this.#filled);
    this.#filled = 0;
    return written;
  }

  /** Writes a cell that has more than the simplest characters. */
  #cell(bytes: Buffer, from: number, to: number, traits: number): void {
    let start = from;
    let end = to;
    while (bytes[start] === SPACE && start < end) start++;
    while (bytes[end - 1] === SPACE && end > start) end--;
    const isSpecial =
      (traits & this.#markup.special) !== 0 ||
      (this.#markup.collapsesSpaces && hasDoubleSpace(bytes, start, end)) ||
      ((traits & TRAIT.WIDE) !== 0 && hasWideSpace(bytes, start, end));
    if (isSpecial) this.#text(escapeJson(this.#markup.escape(bytes.toString('utf8', start, end))));
    else this.#copy(bytes, start, end);
  }

  #copy(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    const buffer = this.#buffer;
    if (length > SHORT_BYTES) bytes.copy(buffer, this.#filled, start, end);
    else for (let at = start, filled = this.#filled; at < end; at++) buffer[filled++] = bytes[at] as number;
    this.#filled += length;
  }

  #append(markup: Buffer): void {
    this.#copy(markup, 0, markup.length);
  }

  #text(text: string): void {
    this.#reserve(text.length * UNIT_BYTES);
    this.#filled += this.#buffer.write(text, this.#filled);
  }

  #reserve(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }
}

function cellMarkdown(text: string): string {
  return text
    .trim()
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), CELL_CONTEXT))
    .join('<br>');
}

function cellHtml(text: string): string {
  return text
    .trim()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\r\n?|\n/g, '<br>');
}
