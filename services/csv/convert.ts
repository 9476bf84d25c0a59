// Turns a CSV file of any dialect, charset and size into a pipe table, streaming its rows.
import { once } from 'node:events';
import { CsvError, type Options, parse } from 'csv-parse';
import { ParseError } from '#shared/contract/errors.ts';
import { formatByExtension } from '#shared/contract/formats.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { type Dialect, sniffDialect } from './dialect.ts';
import { TableWriter } from './table.ts';

/** UTF-16 units handed to the parser at once. */
const CHUNK_LENGTH = 1 << 20;

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
    // A record that is taken here is not queued for the stream's reader.
    on_record: (fields: string[]) => {
      onRow(fields);
      return undefined;
    },
  };
  const parser = parse(options);
  const failed = new Promise<never>((_, reject) => parser.once('error', reject));
  const ended = once(parser, 'end');
  // Both are awaited below; neither may go unhandled before that.
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

/** The rows as one table; quotes that never close are read as the characters they are. */
async function tableOf(
  text: string,
  dialect: Dialect,
  kinds: ('markdown' | 'html')[],
): Promise<Record<string, string>> {
  for (const quotes of [true, false]) {
    const writers = kinds.map((kind) => [kind, new TableWriter(kind)] as const);
    let fault: unknown;
    try {
      await readRows(text, dialect, quotes, (fields) => {
        try {
          for (const [, writer] of writers) writer.add(fields);
        } catch (cause) {
          fault ??= cause;
          throw cause;
        }
      });
      return Object.fromEntries(writers.map(([kind, writer]) => [kind, writer.finish()]));
    } catch (cause) {
      if (fault !== undefined) throw fault;
      if (!(cause instanceof CsvError) || !quotes)
        throw new ParseError('DOCUMENT_CORRUPT', 'The file cannot be read as CSV', { cause });
    }
  }
  throw new ParseError('DOCUMENT_CORRUPT');
}

/**
 * Converts one CSV file. The Markdown is made without a tree; the HTML only where it is asked for.
 * @throws ParseError DOCUMENT_TOO_COMPLEX past `csvCells`, `csvColumns` or `fieldLength`
 */
export async function convertCsv(
  file: SourceFile,
  options: RenderOptions,
  _context: JobContext,
): Promise<ConvertedDocument> {
  const { text } = decodeText(file.bytes, file.charset === undefined ? {} : { charset: file.charset });
  const selects = options.includeTags.length > 0 || options.excludeTags.length > 0;
  const needsHtml = selects || options.fields.some((field) => field === 'html' || field === 'rawHtml');
  const { markdown = '', html = '' } = await tableOf(
    text,
    sniffDialect(text),
    needsHtml ? ['markdown', 'html'] : ['markdown'],
  );
  const contentType = formatByExtension('.csv')?.mimeTypes[0] ?? 'text/csv';
  return { genre: 'document', html, markdown, metadata: { contentType }, warnings: [] };
}
