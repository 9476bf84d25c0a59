// Tests the parts of the page that need no browser: the shown code, the event stream, and the division of the Markdown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE_SAMPLES } from '#services/gateway/page/code.ts';
import { EventStreamReader } from '#services/gateway/page/event-stream.ts';
import { placeBlocks, sectionsOf, segmentsOf } from '#services/gateway/page/segments.ts';
import { findTables, toCsv } from '#services/gateway/page/tables.ts';
import type { Block } from '#shared/contract/response.ts';

const REQUEST = { url: 'http://127.0.0.1:8080', key: 'fc-1', fileName: 'a.pdf', options: {} };
const write = (name: string, options: object, fileName = 'a.pdf'): string =>
  CODE_SAMPLES.find((sample) => sample.name === name)?.write({ ...REQUEST, fileName, options: { ...options } }) ?? '';

for (const [fileName, expected] of [
  ['a.pdf', 'file=@a.pdf'],
  ['two words.pdf', "'file=@two words.pdf'"],
  ["it's.pdf", "'file=@it'\\''s.pdf'"],
  ['-x.pdf', 'file=@./-x.pdf'],
  ['a;b.pdf', `'file=@"a;b.pdf"'`],
  ['a"b.pdf', `'file=@"a\\"b.pdf"'`],
  ['$(id).pdf', "'file=@./$(id).pdf'"],
] as const)
  test(`curl names the file ${fileName} safely`, () => {
    assert.ok(write('curl', {}, fileName).endsWith(`-F ${expected}`), write('curl', {}, fileName));
  });

test('without options no sample sends an options part', () => {
  for (const { name } of CODE_SAMPLES) assert.doesNotMatch(write(name, {}), /options/i, name);
});

test('Python has literals of its own', () => {
  const options = { onlyMainContent: false, formats: [{ type: 'json', schema: { a: null, b: [1, "it's"] } }] };
  assert.match(
    write('Python', options),
    /^options = \{"onlyMainContent": False, "formats": \[\{"type": "json", "schema": \{"a": None, "b": \[1, "it's"\]\}\}\]\}$/m,
  );
});

test('the Python SDK gets names in snake case, and says which options it has no field for', () => {
  const known = { redactPII: { replaceStyle: 'mask' }, parsers: [{ type: 'pdf', blocks: true, maxPages: 3 }] };
  assert.match(write('Python SDK', known), /redact_pii=\{"replace_style": "mask"\}/);
  assert.match(write('Python SDK', known), /parsers=\[\{"type": "pdf", "blocks": True, "max_pages": 3\}\]/);
  const unknown = {
    language: 'deu',
    parsers: [{ type: 'pdf', pages: '1-3' }],
    formats: [{ type: 'images', embedded: true }],
  };
  assert.match(write('Python SDK', unknown), /no field for language, parsers\.pages, formats\.images\.embedded\./);
});

for (const [description, pieces] of [
  ['in one piece', ['event: progress\ndata: {"a":1}\n\n: alive\n\nevent: result\ndata: 1\ndata: 2\n\n']],
  [
    'byte by byte',
    [...'event: progress\r\ndata: {"a":1}\r\n\r\n: alive\r\n\r\nevent: result\r\ndata: 1\r\ndata: 2\r\n\r\n'],
  ],
  [
    'cut inside of an empty line',
    ['event: progress\ndata: {"a":1}\n', '\n: alive\n\nevent: result\ndata: 1\ndata: 2\n', '\n'],
  ],
] as const)
  test(`reads events that arrive ${description}`, () => {
    const reader = new EventStreamReader();
    assert.deepEqual(
      pieces.flatMap((piece) => reader.read(piece)),
      [
        { event: 'progress', data: '{"a":1}' },
        { event: 'result', data: '1\n2' },
      ],
    );
  });

const block = (id: string, markdownSpan: Block['markdownSpan']): Block => ({
  id,
  type: 'text',
  label: null,
  content: '',
  bbox: null,
  readingOrder: 0,
  markdownSpan,
  source: null,
  confidence: { layout: null, ocr: null },
});

test('segments cover the Markdown without gaps, and skip spans that overlap or are out of range', () => {
  const markdown = 'first\n\nsecond\n\nthird';
  const spans: Block['markdownSpan'][] = [[7, 13], [0, 5], null, [3, 9], [15, 99]];
  const items = spans.map((span, index) => block(`b${index}`, span));
  const placed = placeBlocks([{ pageNumber: 1, width: null, height: null, status: 'ok', items }]);
  const segments = segmentsOf(markdown, placed.values());
  assert.equal(segments.map(({ start, end }) => markdown.slice(start, end)).join(''), markdown);
  assert.deepEqual(
    segments.flatMap((segment) =>
      segment.placed ? [[segment.placed.block.id, markdown.slice(segment.start, segment.end)]] : [],
    ),
    [
      ['b1', 'first'],
      ['b0', 'second'],
    ],
  );
});

test('long text is divided between paragraphs, and never inside a code block or an HTML table', () => {
  const paragraph = `${'word '.repeat(100)}\n\n`;
  const fence = `\`\`\`\n${'code\n\n'.repeat(3_000)}\`\`\`\n\n`;
  const table = `<table>\n${'<tr><td>cell</td></tr>\n\n'.repeat(800)}</table>\n\n`;
  const markdown = `${paragraph.repeat(60)}${fence}${paragraph.repeat(60)}${table}${paragraph.repeat(60)}`;
  const sections = sectionsOf(segmentsOf(markdown, []));
  const texts = sections.map((section) => section.map(({ start, end }) => markdown.slice(start, end)).join(''));
  assert.equal(texts.join(''), markdown);
  assert.ok(texts.length > 5, `${texts.length} sections`);
  assert.equal(texts.filter((text) => text.includes(fence)).length, 1, 'the code block is in one section');
  assert.equal(texts.filter((text) => text.includes(table)).length, 1, 'the table is in one section');
});

test('a table of megabytes is divided at line breaks, and each part knows the head of the table', () => {
  const head = '| a | b |\n| --- | --- |\n';
  const markdown = `Before.\n\n${head}${'| 1 | 2 |\n'.repeat(300_000)}\nAfter.\n`;
  const segments = segmentsOf(markdown, []);
  assert.equal(segments.map(({ start, end }) => markdown.slice(start, end)).join(''), markdown);
  assert.ok(segments.length > 40);
  const heads = segments.map(({ tableHead }) => tableHead && markdown.slice(...tableHead));
  assert.deepEqual(new Set(heads.slice(1, -1)), new Set([head]));
  assert.equal(heads[0], undefined);
});

test('finds pipe tables and HTML tables, and no table in a code block', () => {
  const pipe = '| a | b |\n| --- | --- |\n| 1 | 2 |';
  const html = '<table><tr><td><table><tr><td>inner</td></tr></table></td></tr></table>';
  const markdown = `# Title\n\n${pipe}\n\n\`\`\`\n${pipe}\n\`\`\`\n\n| no table |\n\ntext ${html} text\n\n${pipe}`;
  assert.deepEqual(
    findTables(markdown).map(({ start, end }) => markdown.slice(start, end).trim()),
    [pipe, html, pipe],
  );
});

test('CSV quotes commas, quotes and line breaks', () => {
  assert.equal(
    toCsv([
      ['a', 'b,c'],
      ['d "e"', 'f\ng'],
    ]),
    'a,"b,c"\r\n"d ""e""","f\ng"\r\n',
  );
});
