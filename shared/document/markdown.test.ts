// Holds the Markdown writer to GitHub-flavoured Markdown, one row for each thing that HTML can say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMarkdown } from './markdown.ts';
import { parseHtml } from './tree.ts';

const markdown = (html: string, webpage = false): string => toMarkdown(parseHtml(html).body.children, { webpage });

const CASES: readonly (readonly [name: string, html: string, markdown: string])[] = [
  ['paragraphs and spaces', '<p>a\n  b&nbsp;c</p>\n<p>d</p>', 'a b c\n\nd'],
  ['unclosed paragraphs', '<p>a<p>b', 'a\n\nb'],
  ['headings', '<h1>One</h1><h6>Six <b>bold</b></h6><h2></h2>', '# One\n\n###### Six bold'],
  ['heading permalink', '<h2>Use<a href="#use">#</a></h2>', '## Use'],
  [
    'marks',
    '<p><b>b</b> <i>i</i> <s>s</s> H<sub>2</sub>O x<sup>2</sup></p>',
    '**b** *i* ~~s~~ H<sub>2</sub>O x<sup>2</sup>',
  ],
  ['mark edges', '<p>a<b> b </b>c<b></b></p>', 'a **b** c'],
  ['marks that touch', '<p><b>a</b><b>b</b> <i><b>c</b></i></p>', '**ab** ***c***'],
  ['nested equal marks', '<p><b>a <strong>b</strong></b></p>', '**a b**'],
  ['punctuation inside a mark', '<p><b>Note:</b>text, nr<b>: 7</b></p>', '**Note**:text, nr: **7**'],
  ['marks nothing else can say', '<p>a<b>"q"</b>c</p>', 'a<strong>"q"</strong>c'],
  ['style marks', '<p><span style="font-weight:700">a</span> <b style="font-weight:normal">c</b></p>', '**a** c'],
  ['mark around blocks', '<b><p>a</p><p>b</p></b>', '**a**\n\n**b**'],
  ['misnested marks', '<p><b>a<i>b</b>c</i></p>', '**a*b***<em>c</em>'],
  ['marks that touch and would not be read', '<p><b>a<i>b</i></b><i>c</i></p>', '**a*b***<em>c</em>'],
  ['marks that touch and are read', '<p><i>a</i><b>b</b> <b>c</b><i>d</i></p>', '*a***b** **c***d*'],
  ['breaks', '<p>a<br>b<br><br>c<br></p>', 'a\\\nb\n\nc'],
  [
    'links',
    '<p><a href="/x y" title="T &quot;q&quot;">a [b]</a> <a href="/p(q)r">c</a> <a href="/p(q">d</a> <a>e</a></p>',
    '[a \\[b\\]](/x%20y "T \\"q\\"") [c](/p(q)r) [d](/p%28q) e',
  ],
  ['link around blocks', '<a href="/x"><h3>T</h3><p>text</p></a>', '### [T](/x)\n\ntext'],
  ['images', '<p><img src="a.png" alt="x]"><img src="" alt="data"><img></p>', '![x\\]](a.png)![data]()'],
  ['code span', '<p><code>a`b</code> <code> c </code>d <code>`</code></p>', '``a`b`` `c` d `` ` ``'],
  ['code block', '<pre><code class="language-py">a\n  b\n\n```\n</code></pre>', '````py\na\n  b\n\n```\n````'],
  [
    'nested lists',
    '<ul><li>a<ul><li>b<ol start="9"><li>c</li><li>d</li></ol></li></ul></li></ul>',
    '- a\n  - b\n    9. c\n    10. d',
  ],
  ['list of paragraphs', '<ol><li><p>a</p><p>b</p></li><li>c</li></ol>', '1. a\n\n   b\n2. c'],
  [
    'task list',
    '<ul><li><input type="checkbox" checked> a</li><li><label><input type="checkbox">b</label></li></ul>',
    '- [x] a\n- [ ] b',
  ],
  ['text directly in a list', '<ul><br>a <li>b</li><b>c</b> d</ul>', '- a\n- b\n- **c** d'],
  ['two lists', '<ul><li>a</li></ul><ul><li>b</li></ul>', '- a\n\n* b'],
  ['quote', '<blockquote><p>a</p><ul><li>b</li></ul></blockquote>', '> a\n>\n> - b'],
  [
    'speaker notes',
    '<div data-slide="3"><h2>T</h2><aside class="notes"><p>say</p></aside></div>',
    '<!-- Slide 3 -->\n\n## T\n\n> say',
  ],
  ['definitions', '<dl><dt>a</dt><dd>b</dd></dl>', '**a**\n\nb'],
  ['rule', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
  [
    'table',
    '<table><tr><th>a</th><th align="right">b</th></tr><tr><td>c|d</td><td>e<br>f</td></tr></table>',
    '| a | b |\n| --- | ---: |\n| c\\|d | e<br>f |',
  ],
  [
    'table without heading cells',
    '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>',
    '| a | b |\n| --- | --- |\n| c |  |',
  ],
  [
    'table with paragraphs',
    '<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>',
    '| a<br>b | c |\n| --- | --- |',
  ],
  [
    'table with spans',
    '<table><tr><th colspan="2">a &amp; b</th></tr><tr><td>c</td><td><b>d</b></td></tr></table>',
    '<table>\n<tr><th colspan="2">a &amp; b</th></tr>\n<tr><td>c</td><td><strong>d</strong></td></tr>\n</table>',
  ],
  [
    'table with a list',
    '<table><tr><td>a</td><td><ul><li>b</li></ul></td></tr></table>',
    '<table>\n<tr><td>a</td><td><ul><li>b</li></ul></td></tr>\n</table>',
  ],
  [
    'spans everywhere alike',
    '<table><tr><td colspan="2">a</td><td>b</td></tr><tr><td colspan="2">c</td><td>d</td></tr></table>',
    '| a | b |\n| --- | --- |\n| c | d |',
  ],
  ['one cell', '<table><tr><td><p>a</p><ul><li>b</li></ul></td></tr></table>', 'a\n\n- b'],
  ['text fostered out of a table', '<table>stray<tr><td>a<td>b</table>', 'stray\n\n| a | b |\n| --- | --- |'],
  [
    'own footnotes',
    '<p>a<sup class="footnote-ref" data-footnote="7">7</sup></p><section class="footnotes"><ol><li data-footnote="7"><p>n</p><p>m</p></li></ol></section>',
    'a[^1]\n\n[^1]: n\n\n    m',
  ],
  [
    'pandoc footnotes',
    '<p>a<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a></p><section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>n<a href="#fnref1" class="footnote-back" role="doc-backlink">b</a></p></li></ol></section>',
    'a[^1]\n\n---\n\n[^1]: n',
  ],
  ['a reference without its note', '<p>a<sup class="footnote-ref" data-footnote="9">9</sup></p>', 'a<sup>9</sup>'],
  [
    'LaTeX of the author',
    '<p>x <math><semantics><mi>q</mi><annotation encoding="application/x-tex">\\frac{a}{b}</annotation></semantics></math></p>',
    'x $\\frac{a}{b}$',
  ],
  [
    'MathML alone',
    '<p><math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math></p>',
    '$\\frac{a}{b^{2}}$',
  ],
  ['displayed formula', '<p>a <span data-latex="x+y" data-display="block"></span> b</p>', 'a\n\n$$x+y$$\n\nb'],
  [
    'text that looks like Markdown',
    '<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p><p>*e* _f_ g_h [i](j) &lt;k&gt; &amp;amp; `l` m * n</p>',
    '\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n\n\\*e\\* \\_f\\_ g_h [i\\](j) \\<k> \\&amp; \\`l\\` m * n',
  ],
  [
    'text that does not',
    '<p>snake_case 3 * 4 C# a-b 1.5 (x) [y] $5 | z</p>',
    'snake_case 3 * 4 C# a-b 1.5 (x) [y] $5 | z',
  ],
  [
    'tildes',
    '<p>3~5 or 6~8, ~10 to ~12</p><p>~ana/b and ~bo/c</p><p>https://a.org/~ana ~3 https://a.org/~bo</p>',
    '3\\~5 or 6\\~8, ~10 to ~12\n\n~ana/b and ~bo/c\n\nhttps://a.org/~ana ~3 https://a.org/~bo',
  ],
  ['invisible characters', '<p>so\u00adft zero\u200bwidth</p>', 'soft zerowidth'],
];

for (const [name, html, expected] of CASES) test(`markdown: ${name}`, () => assert.equal(markdown(html), expected));

test('layout tables of web pages are text, data tables stay tables', () => {
  const layout = '<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td><h2>c</h2></td></tr></table>';
  assert.equal(markdown(layout, true), '| a | b |\n| --- | --- |\n\n## c');
  assert.ok(markdown(layout).startsWith('<table>'));
});

test('no depth of nesting loses text or overflows the stack', () => {
  for (const open of ['<div>', '<ul><li>', '<table><tr><td>', '<blockquote>', '<b><i>', '<p><span>', '<math><mrow>'])
    assert.ok(markdown(`${open.repeat(20_000)}core`).includes('core'), open);
});
