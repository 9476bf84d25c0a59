// Checks how plain text becomes Markdown and HTML: lines, wrapped paragraphs, lists, tables, code, page breaks and charsets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked } from 'marked';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { renderRecord } from '#shared/document/render.ts';
import { convertPlainText } from './plain-text.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'html'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

function convert(text: string | Uint8Array, options: Partial<RenderOptions> = {}) {
  const given = { ...OPTIONS, ...options };
  return renderRecord(
    convertPlainText({ bytes: Buffer.from(text as string), fileName: 'a.txt', extension: '.txt' }, given),
    given,
  ).fields;
}

const WRAPPED = `The quick brown fox jumps over the lazy dog and then it runs away into the
forest where nobody has ever seen it again, although some people claim that
they heard it laughing at night when the moon is full and the wind is still,
and others say that a well-
known hunter saw it there.`;
const JOINED =
  'The quick brown fox jumps over the lazy dog and then it runs away into the forest where nobody has ever seen it again, although some people claim that they heard it laughing at night when the moon is full and the wind is still, and others say that a well-known hunter saw it there.';
/** A paragraph whose lines are broken by its width. */
const PARAGRAPH = WRAPPED.replace('a well-\nknown', 'a well-known');

const cases: [what: string, text: string, markdown: string][] = [
  ['paragraphs, and the lines of each', 'Ada\nStreet 5\n\nHello', 'Ada\\\nStreet 5\n\nHello'],
  [
    'signs of Markdown as text',
    '# 5\n1. x\n> y\n*z* _a_ `b` <c>',
    '\\# 5\\\n1\\. x\\\n\\> y\\\n\\*z\\* \\_a\\_ \\`b\\` \\<c>',
  ],
  ['an underlined title as text', 'Title\n=====\n\nText', 'Title\\\n\\=====\n\nText'],
  ['a single number as text', '1986. A great year.', '1986\\. A great year.'],
  ['a list with one kind of bullet', '* milk\n* eggs\n  and flour', '- milk\n- eggs\\\n  and flour'],
  ['consecutive numbers as a list', '3) x\n4) y', '3. x\n4. y'],
  ['numbers that are not consecutive as text', '1. x\n3. y', '1\\. x\\\n3\\. y'],
  ['two numbered lists', '1. a\n2. b\n\n1. c\n2. d', '1. a\n2. b\n\n1) c\n2) d'],
  ['columns', 'Name   Age\nAda    36\nBo     7', '```\nName   Age\nAda    36\nBo     7\n```'],
  ['two spaces after a sentence as text', 'One.  Two.\nSix.  Ten.', 'One. Two.\\\nSix. Ten.'],
  [
    'code, also over a blank line',
    'def f(x):\n    y = 1\n\n    return y',
    '```\ndef f(x):\n    y = 1\n\n    return y\n```',
  ],
  ['a table of characters', '+---+\n| a |\n+---+', '```\n+---+\n| a |\n+---+\n```'],
  ['a table of Markdown', 'a | b\n--|--\n1 | 2', '```\na | b\n--|--\n1 | 2\n```'],
  ['a code fence in code', '  ```\n    x\n  ```', '````\n```\n  x\n```\n````'],
  ['a centred title', `${' '.repeat(20)}A TITLE\n${' '.repeat(17)}of two lines`, 'A TITLE\\\nof two lines'],
  ['overstrikes and colours of terminals', 'N\bNA\bAM\bME\bE \x1b[31mred\x1b[0m', 'NAME red'],
  ['long lines as paragraphs', `${'word '.repeat(40)}end\nnext`, `${'word '.repeat(40)}end\n\nnext`],
  ['a short text that could be wrapped', 'a b\nc d', 'a b\\\nc d'],
];
for (const [what, text, markdown] of cases)
  test(`keeps ${what}`, () => {
    assert.equal(convert(text).markdown, markdown);
    assert.equal(convert(text.replaceAll('\n', '\r\n')).markdown, markdown);
  });

test('joins the lines of paragraphs if the statistics of the document show a fixed width', () => {
  assert.equal(convert(PARAGRAPH).markdown, JOINED);
  const indented = PARAGRAPH.replace(/^/gm, '   ');
  assert.equal(convert(`${indented}\n\n   o  ${'x'.repeat(10)}`).markdown, `${JOINED}\n\no ${'x'.repeat(10)}`);
  const verse = 'Roses are red,\nviolets are blue.';
  assert.equal(convert(`${PARAGRAPH}\n\n${verse}`).markdown, `${JOINED}\n\n${verse.replace('\n', '\\\n')}`);
});

test('keeps the lines of a log, although all of them are long', () => {
  const log = Array.from(
    { length: 60 },
    (_, i) => `2024-05-06 10:00:${10 + (i % 50)} INFO ${'request '.repeat(3 + ((i * 7) % 9))}ok`,
  );
  assert.equal(convert(log.join('\n')).markdown?.split('\\\n').length, 60);
});

test('drops the headers and footers of printed pages only with onlyMainContent, and joins a paragraph over a page break', () => {
  const page = (number: number, text: string) =>
    `Memo 7           Herons          May 2020\n\n${text}\n\n\nSmith                         [Page ${number}]`;
  const [start, end] = [PARAGRAPH.split('\n').slice(0, 2).join('\n'), PARAGRAPH.split('\n').slice(2).join('\n')];
  const text = [page(1, start), page(2, end), page(3, PARAGRAPH)].join('\n\f\n');
  assert.equal(convert(text).markdown, `${JOINED}\n\n${JOINED}`);
  const all = convert(text, { onlyMainContent: false }).markdown ?? '';
  assert.match(all, /Memo 7 {11}Herons/);
  assert.match(all, /\[Page 3\]/);
});

test('reads every charset, and reports a file without text', () => {
  assert.equal(convert(Buffer.from('blåbær på øya', 'latin1')).markdown, 'blåbær på øya');
  assert.equal(convert(Buffer.from('\ufeffÅ и 字', 'utf16le')).markdown, 'Å и 字');
  const empty = convertPlainText({ bytes: Buffer.from(' \n\f\n'), fileName: 'a.txt', extension: '.txt' }, OPTIONS);
  assert.deepEqual([empty.markdown, empty.warnings], ['', ['The document contains no text']]);
});

test('the HTML has the same text, and a Markdown reader shows the same text as the file', () => {
  const words = (html: string) =>
    html
      .replace(/<[^>]*>/g, ' ')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .split(/\s+/)
      .filter(Boolean);
  for (const [what, text] of cases) {
    if (/overstrikes|list/.test(what)) continue;
    const fields = convert(text);
    const [html, markdown] = [fields.html ?? '', fields.markdown ?? ''];
    assert.deepEqual(words(html), text.split(/\s+/).filter(Boolean), what);
    assert.deepEqual(words(marked.parse(markdown, { async: false })), text.split(/\s+/).filter(Boolean), what);
  }
});

test('selects tags of the HTML', () => {
  assert.equal(convert('a  b\nc  d\n\nHello', { includeTags: ['pre'] }).markdown, '```\na  b\nc  d\n```');
});

test('reads a line of 20 MB, and 5,000,000 lines, in memory that does not grow with the number of lines', () => {
  const line = convert('word *x* '.repeat(2_200_000)).markdown ?? '';
  assert.ok(line.startsWith('word \\*x\\* word'));
  assert.equal(convert('a\n'.repeat(5_000_000), { fields: ['markdown'] }).markdown?.match(/a/g)?.length, 5_000_000);
});
