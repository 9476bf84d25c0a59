// Tests the conversion of CSV files: tables, dialects, HTML output and limits.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { escapeText } from '#shared/document/escape-markdown.ts';
import { streamedRecord } from '#shared/document/streamed-record.ts';
import { createRandom } from '#test/fuzz/random.ts';
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

/** Converts a file and reads the record as the gateway sends it. */
async function convert(content: string | Uint8Array, options: Partial<RenderOptions> = {}, extension = '.csv') {
  const bytes = Buffer.from(content as string);
  const all = { ...OPTIONS, ...options };
  const { streamed, html, metadata } = await convertCsv({ bytes, fileName: 'a.csv', extension }, all, CONTEXT);
  const chunks = streamed ? [...streamedRecord(streamed, all)] : [];
  const fields = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as RecordFields;
  return { ...fields, treeHtml: html, metadata, chunks };
}

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

test('writes each requested field of the record, and HTML for a tree only if tags are selected', async () => {
  const fields: RenderOptions['fields'] = ['links', 'markdown', 'html', 'rawHtml', 'images'];
  const { markdown, html, rawHtml, links, images, treeHtml, metadata } = await convert('a,b\n1,"<2"\n', { fields });
  const table = '<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>&lt;2</td></tr>\n</table>';
  assert.equal(markdown, lines('| a | b |', '| --- | --- |', '| 1 | <2 |'));
  assert.equal(html, table);
  assert.equal(rawHtml, table);
  assert.deepEqual([links, images], [[], []]);
  assert.equal(treeHtml, '');
  assert.equal(metadata.contentType, 'text/csv');
  assert.equal((await convert('a,b\n1,"<2"\n', { includeTags: ['th'] })).treeHtml, table);
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
  const { markdown, metadata } = await convert(bytes, {}, '.tsv');
  assert.equal(markdown, '| a,1;b | c;d |\n| --- | --- |\n| x, y<br>z | 3,5 |');
  assert.equal(metadata.contentType, 'text/tab-separated-values');
});

test('reads a declared delimiter outside of ASCII', async () =>
  assert.equal((await convert('sep=§\r\na§b\r\n"1§"§é')).markdown, lines('| a | b |', '| --- | --- |', '| 1§ | é |')));

/** Cells with each character that any of the writers treats differently, alone and next to others. */
const PIECES = [
  ...'abz09 \\`*_<>&~|[]()"\'#-+=.,:!/^\x00\x01\x1f\x7f\t\v\f\r\n',
  ...'\u0085\u00a0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff°é€かな漢字😀',
  '  ',
  '&amp;',
  '~~',
  '\r\n',
  'word',
];

/** What a cell shows, without regard to time or memory. */
const cellMarkdown = (text: string): string =>
  text
    .trim()
    .split(/\r\n?|\n/)
    .map((line) => escapeText(line.replace(/\s+/g, ' ').trim(), { lineStart: false, cell: true, link: false }))
    .join('<br>');
const cellHtml = (text: string): string =>
  text
    .trim()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\r\n?|\n/g, '<br>');

test('writes each of 3,000 random cells as a writer does that makes a string of each', async () => {
  const random = createRandom(4, 0);
  const cells = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 1 + random.below(4) }, () => random.pick(PIECES)).join(''),
  );
  const content = cells.map((cell) => `x\t"${cell.replaceAll('"', '""')}"\tx\n`).join('');
  const { markdown = '', html = '' } = await convert(content, { fields: ['markdown', 'html'] }, '.tsv');
  const rows = (markdown ?? '').split('\n').filter((_, line) => line !== 1);
  const htmlRows = (html ?? '').split('\n').slice(1, -1);
  for (const [row, cell] of cells.entries()) {
    assert.equal(rows[row], `| x | ${cellMarkdown(cell)} | x |`, JSON.stringify(cell));
    const tag = row === 0 ? 'th' : 'td';
    const content = ['x', cellHtml(cell), 'x'].map((text) => `<${tag}>${text}</${tag}>`).join('');
    assert.equal(htmlRows[row], `<tr>${content}</tr>`, JSON.stringify(cell));
  }
});

test('leaves out the blank cells at the end of rows, whichever whitespace they contain', async () => {
  const { markdown } = await convert('a\tb\t \t\u3000\u2009\t\u00a0\n\u3000\t\ufeff\n1\t\u200b\n', {}, '.tsv');
  assert.equal(markdown, lines('| a | b |', '| --- | --- |', '| 1 | \u200b |'));
});

test('yields a large table in chunks, and reads charsets other than UTF-8 as UTF-8', async () => {
  const text = `name;town\n${'Åse;Tromsø\n'.repeat(120_000)}`;
  const utf8 = await convert(text);
  const largest = Math.max(...utf8.chunks.map((chunk) => chunk.length));
  assert.ok(largest < 1 << 20, `a chunk has ${largest} bytes`);
  assert.equal(
    (utf8.markdown ?? '').length,
    '| Åse | Tromsø |\n'.length * 120_000 + '| name | town |\n| --- | --- |'.length,
  );
  for (const bytes of [
    Buffer.from(text, 'latin1'),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`\ufeff${text}`),
  ])
    assert.equal((await convert(bytes)).markdown, utf8.markdown);
});
