// Converts a CSV file of any dialect and charset into a Markdown or HTML table, row by row.
import { once } from 'node:events';
import { CsvError, type Options, parse } from 'csv-parse';
import { ParseError } from '#shared/contract/errors.ts';
import { formatByExtension } from '#shared/contract/formats.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { type Dialect, detectDialect } from './dialect.ts';
import { type TableKind, TableWriter } from './table.ts';

/** UTF-16 code units that are passed to the parser at once. */
const CHUNK_LENGTH = 1 << 20;

/** The extension declares the delimiter, so text with more commas than tabs is still read by its tabs. */
const TAB_SEPARATED: Dialect = { delimiter: '\t', escape: '"', skip: 0 };

/**
 * Converts one CSV file. The Markdown is written without a tree. The HTML is written only if the options need it.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above `csvCells`, `csvColumns` or `fieldLength`; DOCUMENT_CORRUPT
 */
export async function convertCsv(
  file: SourceFile,
  options: RenderOptions,
  _context: JobContext,
): Promise<ConvertedDocument> {
  const { text } = decodeText(file.bytes, file.charset === undefined ? {} : { charset: file.charset });
  const selectsTags = options.includeTags.length > 0 || options.excludeTags.length > 0;
  const needsHtml = selectsTags || options.fields.some((field) => field === 'html' || field === 'rawHtml');
  const { markdown = '', html = '' } = await writeTables(
    text,
    file.extension === '.tsv' ? TAB_SEPARATED : detectDialect(text),
    needsHtml ? ['markdown', 'html'] : ['markdown'],
  );
  const contentType = formatByExtension(file.extension)?.mimeTypes[0] ?? 'text/csv';
  return { genre: 'document', html, markdown, metadata: { contentType }, warnings: [] };
}

/** Writes the rows as one table of each kind. If a quote is never closed, quotes are read as ordinary characters. */
async function writeTables(
  text: string,
  dialect: Dialect,
  kinds: TableKind[],
): Promise<Partial<Record<TableKind, string>>> {
  for (const quotes of [true, false]) {
    const writers = kinds.map((kind) => [kind, new TableWriter(kind)] as const);
    let limitError: unknown;
    try {
      await readRows(text, dialect, quotes, (fields) => {
        try {
          for (const [, writer] of writers) writer.add(fields);
        } catch (cause) {
          limitError ??= cause;
          throw cause;
        }
      });
      return Object.fromEntries(writers.map(([kind, writer]) => [kind, writer.finish()]));
    } catch (cause) {
      // The parser may wrap an error of the callback, so throw the original error.
      if (limitError !== undefined) throw limitError;
      if (!(cause instanceof CsvError) || !quotes)
        throw new ParseError('DOCUMENT_CORRUPT', 'The file cannot be read as CSV', { cause });
    }
  }
  throw new ParseError('DOCUMENT_CORRUPT');
}

/** Calls `onRow` for each row. @throws CsvError, or any error of `onRow` */
async function readRows(
  text: string,
  dialect: Dialect,
  quotes: boolean,
  onRow: (fields: string[]) => void,
): Promise<void> {
  const options: Options = {
    delimiter: dialect.delimiter,
    quote: quotes ? '"' : null,
    escape: dialect.escape,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record: (fields: string[]) => {
      onRow(fields);
      // Return nothing, because the parser would buffer a returned row in its output stream.
      return undefined;
    },
  };
  const parser = parse(options);
  const failed = new Promise<never>((_, reject) => parser.once('error', reject));
  const ended = once(parser, 'end');
  // Both promises are awaited later. Until then, a rejection must not be reported as unhandled.
  failed.catch(() => undefined);
  ended.catch(() => undefined);
  parser.resume();
  for (let at = dialect.skip; at < text.length; at += CHUNK_LENGTH) {
    if (parser.destroyed) break;
    if (!parser.write(text.slice(at, at + CHUNK_LENGTH))) await Promise.race([once(parser, 'drain'), failed]);
  }
  if (!parser.destroyed) parser.end();
  await Promise.race([ended, failed]);
}
