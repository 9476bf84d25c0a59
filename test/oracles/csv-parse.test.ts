// Compares the fields that our CSV reader finds in random files with those of csv-parse, whole and in chunks that end anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CsvError, parse } from 'csv-parse/sync';
import { CsvReader } from '#services/csv/reader.ts';
import { createRandom } from '../fuzz/random.ts';

const FILES = 4_000;
const DELIMITERS = [',', ';', '\t', '|', ' '];
/** Pieces of random files. Delimiters and quotes are frequent. */
const PIECES = [
  '"',
  '"',
  '""',
  ',',
  ',',
  ';',
  '\t',
  '|',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\\',
  '\\"',
  'a',
  'bc',
  'é',
  '日本',
  '😀',
  '\u00a0',
  '\ufeff',
];

interface Dialect {
  delimiter: string;
  escape: '"' | '\\';
}

/** The rows, or undefined if a quote is not closed. */
function ours(text: string, dialect: Dialect, quotes: boolean, chunkLength: number): string[][] | undefined {
  const rows: string[][] = [];
  let row: string[] = [];
  const reader = new CsvReader(dialect, quotes, {
    field: (bytes, start, end) => row.push(bytes.toString('utf8', start, end)),
    endRow: () => {
      rows.push(row);
      row = [];
    },
  });
  const bytes = Buffer.from(text);
  // Each chunk is a buffer of its own that is overwritten afterwards, because a reader must not keep a reference to it.
  for (let at = 0; at < bytes.length; at += chunkLength) {
    const chunk = Buffer.from(bytes.subarray(at, at + chunkLength));
    reader.write(chunk);
    chunk.fill('#');
  }
  return reader.end() ? rows : undefined;
}

function theirs(text: string, dialect: Dialect, quotes: boolean): string[][] | undefined {
  try {
    return parse(text, {
      ...dialect,
      quote: quotes ? '"' : null,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return undefined;
    throw error;
  }
}

test(`reads ${FILES} random files as csv-parse does`, () => {
  let closed = 0;
  for (let file = 0; file < FILES; file++) {
    const random = createRandom(16, file);
    const text = Array.from({ length: 1 + random.below(40) }, () => random.pick(PIECES)).join('');
    const dialect: Dialect = { delimiter: random.pick(DELIMITERS), escape: random.oneIn(3) ? '\\' : '"' };
    const quotes = !random.oneIn(10);
    const expected = theirs(text, dialect, quotes);
    if (expected) closed++;
    for (const chunkLength of [1, 2, 3, 7, 1_000])
      assert.deepEqual(
        ours(text, dialect, quotes, chunkLength),
        expected,
        JSON.stringify({ text, dialect, quotes, chunkLength }),
      );
  }
  assert.ok(closed > FILES / 4, `only ${closed} files have no open quote`);
});
