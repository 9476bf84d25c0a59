// Tests the conversion of CSV files: tables, dialects, HTML output and limits.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { convertCsv } from './convert.ts';
import { detectDialect } from './dialect.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

const CONTEXT: JobContext = {
  signal: new AbortController().signal,
  deadline: Number.POSITIVE_INFINITY,
  requestId: 'request-1',
  volatile: false,
  call: () => Promise.reject(new Error('the csv service must not call other services')),
};

const convert = (content: string | Uint8Array, options = OPTIONS) =>
  convertCsv({ bytes: Buffer.from(content as string), fileName: 'a.csv', extension: '.csv' }, options, CONTEXT);

const fixture = (name: string): Buffer => readFileSync(new URL(`../../fixtures/csv/${name}`, import.meta.url));

const lines = (...rows: string[]) => rows.join('\n');

describe('tables', () => {
  const cases: [name: string, content: string | Uint8Array, markdown: string][] = [
    [
      'reads Latin-1 with semicolons, a quoted line break and an empty row',
      fixture('semicolon-latin1.csv'),
      lines(
        '| By | Sum | Merknad |',
        '| --- | --- | --- |',
        '| Tromsø | 1 234,50 | to<br>linjer |',
        '| Bodø | 7,25 |  |',
      ),
    ],
    [
      'reads the delimiter from a sep= line',
      fixture('sep-hint.csv'),
      lines('| a | b |', '| --- | --- |', '| 1,5 | 2;5 |'),
    ],
    [
      'reads UTF-16 with a byte order mark and tabs',
      Buffer.from('\uFEFFa\tb\r\n1\t2\r\n', 'utf16le'),
      lines('| a | b |', '| --- | --- |', '| 1 | 2 |'),
    ],
    ['skips a UTF-8 byte order mark', '\uFEFF"a",b\n1,2', lines('| a | b |', '| --- | --- |', '| 1 | 2 |')],
    ['unescapes doubled quotes', 'a,b\n"say ""hi""",2', lines('| a | b |', '| --- | --- |', '| say "hi" | 2 |')],
    [
      'unescapes quotes after a backslash',
      'a,b\n"say \\"hi\\", you",2',
      lines('| a | b |', '| --- | --- |', '| say "hi", you | 2 |'),
    ],
    [
      'adds empty cells to short rows and to a short header',
      'a,b\n1\n1,2,3',
      lines('| a | b |  |', '| --- | --- | --- |', '| 1 |  |  |', '| 1 | 2 | 3 |'),
    ],
    [
      'escapes pipes and backslashes, and keeps formulas as text',
      'a,b\n=1+2|3,\\*',
      lines('| a | b |', '| --- | --- |', '| =1+2\\|3 | \\\\\\* |'),
    ],
    ['writes a table with only a header', 'a,b\n', lines('| a | b |', '| --- | --- |')],
    ['writes a table with one column', 'name\nAda\nGrace\n', lines('| name |', '| --- |', '| Ada |', '| Grace |')],
    ['reads CR line ends', 'a,b\r1,2\r', lines('| a | b |', '| --- | --- |', '| 1 | 2 |')],
    [
      'keeps a quote that is never closed as text',
      'a,b\n"1,2\n3,4\n',
      lines('| a | b |', '| --- | --- |', '| "1 | 2 |', '| 3 | 4 |'),
    ],
    [
      'keeps a quote inside an unquoted field',
      'a,b\n5" disk,2\n',
      lines('| a | b |', '| --- | --- |', '| 5" disk | 2 |'),
    ],
    ['escapes markup', 'a,b\n<b>x</b>,&amp;\n', lines('| a | b |', '| --- | --- |', '| \\<b>x\\</b> | \\&amp; |')],
    ['returns an empty string for a file of blank lines', '\n \n\n', ''],
  ];

  for (const [name, content, markdown] of cases)
    test(name, async () => assert.equal((await convert(content)).markdown, markdown));
});

describe('dialects', () => {
  const cases: [content: string, delimiter: string][] = [
    ['a;b\n1,5;2,5\n', ';'],
    ['x;7,25\ny;8,50\n', ';'],
    ['7,25\t8,5\n1,25\t2,5\n', '\t'],
    ['a,b;c,d\n1,2;3,4\n', ','],
    ['"a;b",c\n"d;e",f\n', ','],
    ['a|b\n1|2\n', '|'],
    ['just one column\nof text\n', ','],
  ];
  for (const [content, delimiter] of cases)
    test(`detects ${JSON.stringify(delimiter)} in ${JSON.stringify(content)}`, () =>
      assert.equal(detectDialect(content).delimiter, delimiter));
});

test('writes HTML with the same cells only if HTML is requested', async () => {
  assert.equal((await convert('a,b\n1,2')).html, '');
  const { html, metadata } = await convert('a,b\n1,<2\n', { ...OPTIONS, fields: ['markdown', 'html'] });
  assert.equal(html, '<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>&lt;2</td></tr>\n</table>');
  assert.equal(metadata.contentType, 'text/csv');
});

test('writes a table of 5,000 columns, and throws DOCUMENT_TOO_COMPLEX above the column limit', async () => {
  const row = (columns: number) => Array.from({ length: columns }, (_, i) => `c${i}`).join(',');
  assert.match((await convert(`${row(5_000)}\n${row(5_000)}`)).markdown ?? '', /\| c4999 \|\n/);
  await assert.rejects(convert(row(DOCUMENT_LIMITS.csvColumns + 1)), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('does not pad many short rows to the width of one long row', async () => {
  const wide = Array.from({ length: 20_000 }, () => 'x').join(',');
  const { markdown = '' } = await convert(`${wide}\n${'1\n'.repeat(5_000)}`);
  assert.ok(markdown.length < 500_000, `${markdown.length} code units`);
  assert.ok(markdown.endsWith('\n| 1 |'));
});

test('reads .tsv by its tabs, although commas and semicolons are more frequent', async () => {
  const bytes = Buffer.from('a,1;b\tc;d\n"x, y\nz"\t3,5\n');
  const { markdown, metadata } = await convertCsv({ bytes, fileName: 'a.tsv', extension: '.tsv' }, OPTIONS, CONTEXT);
  assert.equal(markdown, '| a,1;b | c;d |\n| --- | --- |\n| x, y<br>z | 3,5 |');
  assert.equal(metadata.contentType, 'text/tab-separated-values');
});
