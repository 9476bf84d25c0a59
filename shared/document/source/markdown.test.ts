// Tests the Markdown reader: line kinds, inline tokens, their source offsets, and its bounds on hostile input.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type InlineToken, readInline } from './markdown-inline.ts';
import { type MarkdownLine, readLines } from './markdown-lines.ts';

/** A token as a short text: its kind, and the part of the source that it covers. */
function describeToken(source: string, token: InlineToken): string {
  const written = source.slice(token.start, token.end);
  switch (token.kind) {
    case 'text':
      return written;
    case 'decoded':
      return `decoded(${token.text})`;
    case 'code':
    case 'comment':
      return `${token.kind}(${source.slice(...token.text)})`;
    case 'open':
      return token.image ? 'image[' : 'open[';
    case 'target':
      return `target(${source.slice(...token.url)}|${source.slice(...token.title)})`;
    case 'autolink':
      return `autolink(${source.slice(...token.url)})`;
    case 'tag':
      return `tag(${token.tag.closing ? '/' : ''}${token.tag.name})`;
    default:
      return `${token.kind}(${written})`;
  }
}

const tokensOf = (source: string): string[] =>
  [...readInline(source, 0, source.length)].map((token) => describeToken(source, token));

describe('readInline', () => {
  for (const [source, expected] of [
    ['plain', ['plain']],
    ['jane\\_doe', ['jane', 'decoded(_)', 'doe']],
    ['a\\', ['a']],
    ['a\\b', ['a\\b']],
    ['a &amp; &#64; &unknown;', ['a ', 'decoded(&)', ' ', 'decoded(@)', ' &unknown;']],
    ['a `b` c', ['a ', 'code(b)', ' c']],
    ['`` a`b ``', ['code( a`b )']],
    ['a ` b', ['a ', ' b']],
    ['**a** *b* ~~c~~ _d_', ['a', ' ', 'b', ' ', 'c', ' ', 'd']],
    ['a * b, a_b, ~c, ****', ['a * b, a_b, ~c, ****']],
    ['<b>_a_<br>', ['tag(b)', 'a', 'tag(br)']],
    ['[a](b)', ['open[', 'a', 'target(b|)']],
    ['[a](<b c> "t")', ['open[', 'a', 'target(b c|> "t")']],
    ['[a](b(c)d "t")', ['open[', 'a', 'target(b(c)d| "t")']],
    ['![a](b)', ['image[', 'a', 'target(b|)']],
    ['\\![a](b)', ['decoded(!)', 'open[', 'a', 'target(b|)']],
    ['[a] [b](c)', ['open[', 'a] ', 'open[', 'b', 'target(c|)']],
    ['[a]', ['[a]']],
    ['[a](b', ['open[', 'a](b']],
    ['a[^1] b', ['a', 'note([^1])', ' b']],
    ['<jane@example.org>', ['mail(<jane@example.org>)']],
    ['<https://x.example/a>', ['autolink(https://x.example/a)']],
    ['a<br>b</td>', ['a', 'tag(br)', 'b', 'tag(/td)']],
    ['a < b <1>', ['a < b <1>']],
    ['a <!-- b --> c', ['a ', 'comment( b )', ' c']],
    ['a <!-- b', ['a <!-- b']],
    ['<!-->', ['comment()']],
  ] as const)
    it(`reads ${JSON.stringify(source)} as ${JSON.stringify(expected)}`, () =>
      assert.deepEqual(tokensOf(source), expected));

  it('reads nothing outside its range', () => {
    const source = '|a `b|c` d|';
    assert.deepEqual(
      [...readInline(source, 1, 5)].map((token) => describeToken(source, token)),
      ['a ', 'b'],
    );
  });
});

function describeLine(source: string, { content }: MarkdownLine): string {
  if (content.kind === 'row') return `row(${content.cells.map(([start, end]) => source.slice(start, end)).join('/')})`;
  if (content.kind === 'fence') return `fence(${source.slice(...content.info)})`;
  return 'range' in content ? `${content.kind}(${source.slice(...content.range)})` : content.kind;
}

describe('readLines', () => {
  for (const [source, expected] of [
    ['', ['blank']],
    ['a\n', ['paragraph(a)', 'blank']],
    ['# A  \r\n\nb', ['heading(A)', 'blank', 'paragraph(b)']],
    ['- a\n1. b\n- [x] c\n  d', ['item(a)', 'item(b)', 'item(c)', 'paragraph(d)']],
    ['> a\n> > - b\n> # c', ['paragraph(a)', 'item(b)', 'heading(c)']],
    ['---\n#a\n-b', ['rule', 'paragraph(#a)', 'paragraph(-b)']],
    ['| a | b\\|c |\n| --- | :-: |\n| d | ', ['row( a / b\\|c )', 'delimiter', 'row( d )']],
    ['> | a |', ['row( a )']],
    ['```js\n# a\n~~~\n```\nb', ['fence(js)', 'code', 'code', 'fence()', 'paragraph(b)']],
    ['~~~~\n~~~\n~~~~ a\n~~~~~', ['fence()', 'code', 'code', 'fence()']],
    ['``` a ``` b', ['fence( a ``` b)']],
  ] as const)
    it(`reads ${JSON.stringify(source)} as ${JSON.stringify(expected)}`, () =>
      assert.deepEqual(
        [...readLines(source)].map((line) => describeLine(source, line)),
        expected,
      ));

  for (const start of ['-', ' ', '|', '>', '#', '|-'])
    it(`reads the text after 20,000 repetitions of ${JSON.stringify(start)}`, () => {
      const source = `${start.repeat(20_000)} jane`;
      const [line] = readLines(source);
      assert.match(line ? describeLine(source, line) : '', / ?jane\)$/);
    });

  it('returns lines without gaps: each line starts after the line break of the previous line', () => {
    const source = 'a\n\n```\n| b |\n```\r\n> c\n';
    let next = 0;
    for (const { start, end } of readLines(source)) {
      assert.equal(start, next);
      next = end + 1;
    }
    assert.equal(next, source.length + 1);
  });
});

describe('hostile Markdown', () => {
  const SIZE = 400_000;
  // A reader that takes quadratic time needs minutes for these.
  for (const unit of [
    '[',
    '![',
    '[a](',
    '[](',
    '*a ',
    '_a',
    '`a``b```c',
    '<a ',
    '<a b="',
    '<!--',
    '&',
    '> ',
    '>',
    '|',
    '~~',
    '\\',
  ])
    it(`reads ${SIZE} repetitions of ${JSON.stringify(unit)} as ordered tokens inside the source`, () => {
      const source = unit.repeat(Math.ceil(SIZE / unit.length));
      let count = 0;
      for (const { content } of readLines(source)) {
        const ranges = content.kind === 'row' ? content.cells : 'range' in content ? [content.range] : [];
        for (const [start, end] of ranges) {
          let last = start;
          for (const token of readInline(source, start, end)) {
            count += 1;
            assert.ok(token.start >= last && token.end > token.start);
            last = token.end;
          }
          assert.ok(last <= end + 1);
        }
      }
      assert.ok(count <= source.length);
    });
});
