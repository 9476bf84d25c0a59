// Converts a CSV file of any dialect and charset into a Markdown or HTML table. The file is read twice, and neither its text nor the table is kept.
import { formatByExtension } from '#shared/contract/formats.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { joinPieces, type TextPieces } from '#shared/document/text-pieces.ts';
import { decodeToUtf8 } from '#shared/readers/charset.ts';
import { type Dialect, detectDialect, SAMPLE_LENGTH } from './dialect.ts';
import { CsvReader, type FieldReceiver } from './reader.ts';
import { type TableKind, TableSize, TableWriter } from './table.ts';

/** The extension declares the delimiter, so text with more commas than tabs is still read by its tabs. */
const TAB_SEPARATED: Dialect = { delimiter: '\t', escape: '"', skip: 0 };
/** A table that can be read from its start as often as needed. */
interface CsvSource {
  chunks: () => Iterable<Buffer>;
  dialect: Dialect;
  quotes: boolean;
}

/**
 * Converts one CSV file. The HTML is written as a whole only if tags are selected in it.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above `csvCells` or `csvColumns`, and above `fieldLength` while the texts are read
 */
export async function convertCsv(
  file: SourceFile,
  options: RenderOptions,
  _context: JobContext,
): Promise<ConvertedDocument> {
  const contentType = formatByExtension(file.extension)?.mimeTypes[0] ?? 'text/csv';
  const { source, size } = measure(openSource(file));
  const selectsTags = options.includeTags.length > 0 || options.excludeTags.length > 0;
  const write = (kind: TableKind) => () => writeTable(source, size, kind);
  return {
    genre: 'document',
    html: selectsTags ? joinPieces(writeTable(source, size, 'html')) : '',
    ...(selectsTags ? {} : { streamed: { markdown: write('markdown'), html: write('html'), references: () => '' } }),
    metadata: { contentType },
    warnings: [],
  };
}

function openSource(file: SourceFile): Omit<CsvSource, 'quotes'> {
  const text = decodeToUtf8(file.bytes, file.charset === undefined ? {} : { charset: file.charset });
  const sample = sampleOf(text());
  const dialect = file.extension === '.tsv' ? TAB_SEPARATED : detectDialect(sample);
  const skipped = Buffer.byteLength(sample.slice(0, dialect.skip));
  const chunks = () => skip(text(), skipped);
  return { chunks: dialect.delimiter <= '\x7f' ? chunks : () => completeCharacters(chunks()), dialect };
}

/** The start of a text. It is longer than what the detection of the dialect reads, if the text is. */
function sampleOf(chunks: Iterable<Buffer>): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let sample = '';
  for (const chunk of chunks) {
    sample += decoder.decode(chunk, { stream: true });
    if (sample.length > 2 * SAMPLE_LENGTH) break;
  }
  return sample;
}

function* skip(chunks: Iterable<Buffer>, bytes: number): Generator<Buffer> {
  let left = bytes;
  for (const chunk of chunks) {
    yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

/** The same text in chunks that do not end inside a character, as the reader needs for a delimiter of several bytes. */
function* completeCharacters(chunks: Iterable<Buffer>): Generator<Buffer> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
}

/** The size of the table. If a quote is never closed, quotes are read as ordinary characters. */
function measure(file: Omit<CsvSource, 'quotes'>): { source: CsvSource; size: TableSize } {
  const source = { ...file, quotes: true };
  const size = new TableSize();
  if (readAll(source, size)) return { source, size };
  const unquoted = { source: { ...file, quotes: false }, size: new TableSize() };
  readAll(unquoted.source, unquoted.size);
  return unquoted;
}

/** @returns false if a quote was not closed */
function readAll({ chunks, dialect, quotes }: CsvSource, receiver: FieldReceiver): boolean {
  const reader = new CsvReader(dialect, quotes, receiver);
  for (const chunk of chunks()) reader.write(chunk);
  return reader.end();
}

function* writeTable({ chunks, dialect, quotes }: CsvSource, size: TableSize, kind: TableKind): TextPieces {
  const table = new TableWriter(kind, size);
  const reader = new CsvReader(dialect, quotes, table);
  for (const chunk of chunks()) {
    reader.write(chunk);
    yield table.take();
  }
  reader.end();
  table.end();
  yield table.take();
}
