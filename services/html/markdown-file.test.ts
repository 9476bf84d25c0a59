// Checks Markdown files: every construct of GFM, footnotes, formulas, front matter, raw HTML, and hostile nesting.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { renderRecord } from '#shared/document/render.ts';
import { convertMarkdown } from './markdown-file.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'html', 'links'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

const convert = (text: string | Uint8Array) => {
  const { fields, metadata, warnings } = renderRecord(
    convertMarkdown({ bytes: Buffer.from(text as string), fileName: 'a.md', extension: '.md' }),
    OPTIONS,
  );
  return { ...fields, metadata, warnings };
};

const SAME = `# Heading *one*

Text with \`code\`, **bold**, ~~old~~ and a note[^1]. Costs $5 and $6, but $a_1 * b_2$.\\
A line of its own. [rel](../b.md "T") ![alt](img/a.png)

## Second

- [ ] todo
- [x] done
  - nested
    1. one
    2. two

> quote
> 
> more

| a | b \\| c |
| --- | :---: |
| 1 | 2<br>3 |

\`\`\`ts
const x = 1; // \`\`
\`\`\`

$$\\frac{a}{b}$$

---

[^1]: Note *one*.

    Second paragraph.`;

test('returns the same Markdown for headings, lists, tasks, tables, code, quotes, notes, formulas and links', () => {
  assert.equal(convert(SAME).markdown, SAME.replace('> \n', '>\n'));
});

const cases: [what: string, text: string, markdown: string][] = [
  ['setext headings', 'A\n===\n\nB\n---', '# A\n\n## B'],
  ['wrapped lines', 'one\ntwo  \nthree', 'one two\\\nthree'],
  ['reference links', '[a][b]\n\n[b]: https://x.example/y', '[a](https://x.example/y)'],
  ['bare links', 'see https://x.example/y.', 'see [https://x.example/y](https://x.example/y).'],
  ['other bullets', '* a\n+ b', '- a\n\n* b'],
  ['indented code', '    x = 1', '```\nx = 1\n```'],
  ['raw HTML, cleaned', '<b onclick="x()">bold</b><script>alert(1)</script>\n\n<style>p{}</style>', '**bold**'],
  ['a link to a script as text', '[x](javascript:alert(1))', '[x\\](javascript:alert(1))'],
  ['inline notes', 'a^[Note.]', 'a[^1]\n\n[^1]: Note.'],
  ['money', '$5 to $6, and \\$x\\$', '$5 to $6, and $x$'],
];
for (const [what, text, markdown] of cases)
  test(`reads ${what}`, () => {
    assert.equal(convert(text).markdown, markdown);
    assert.equal(convert(text.replaceAll('\n', '\r\n')).markdown, markdown);
  });

test('reads front matter as metadata, and nothing of it as text', () => {
  const { markdown, metadata } = convert(
    '---\ntitle: "The salt: road"\nauthor: [Ada, {name: Bo}]\ndate: 2024-05-06\ntags: [x, y]\ndraft: true\nurl: https://bad.example\nnested: {a: 1}\n---\n# Heading\n',
  );
  assert.equal(markdown, '# Heading');
  assert.deepEqual(metadata, {
    title: 'The salt: road',
    author: ['Ada', 'Bo'],
    publishedTime: '2024-05-06',
    keywords: ['x', 'y'],
    draft: 'true',
  });
});

test('reads what is not front matter as text', () => {
  for (const [text, markdown] of [
    ['---\njust words\n---\nText', '---\n\n## just words\n\nText'],
    ['---\na: &x [*x, *x]\n---\nText', '---\n\n## a: &x [\\*x, \\*x]\n\nText'],
    ['---\na: "unclosed\n---\nText', '---\n\n## a: "unclosed\n\nText'],
    ['\n---\ntitle: x\n---', '---\n\n## title: x'],
  ] as const)
    assert.equal(convert(text).markdown, markdown);
});

test('takes the title from the first heading of level 1', () => {
  assert.deepEqual(convert('## a\n\n# The `b` *c*\nd').metadata, { title: 'The b c' });
});

test('keeps relative links relative and lists the absolute ones', () => {
  const { html, links } = convert('[a](../b.md) [c](https://x.example/)');
  assert.match(html ?? '', /<a href="\.\.\/b\.md">/);
  assert.deepEqual(links, ['https://x.example/']);
});

test('refuses nesting and sizes above the limits, and reads the inputs that take other parsers quadratic time', () => {
  const refused = (text: string) => assert.throws(() => convert(text), { code: 'DOCUMENT_TOO_COMPLEX' });
  refused(`${'>'.repeat(DOCUMENT_LIMITS.markdownDepth + 1)}x`);
  refused(Array.from({ length: 200 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'));
  refused('x'.repeat(DOCUMENT_LIMITS.markdownBytes + 1));
  for (const piece of ['[a](', '[](', '*a ', '_a', '[', '`a``b```', '<a ', '^[', '$a', '[^a]', '<![CDATA['])
    assert.ok((convert(piece.repeat(80_000 / piece.length)).markdown ?? '').length > 0 || piece === '<![CDATA[', piece);
});
