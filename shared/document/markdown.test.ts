// Checks the Markdown of each HTML construct, one row for each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMarkdown } from './markdown.ts';
import { parseHtml } from './tree.ts';

const markdown = (html: string, webpage = false): string => toMarkdown(parseHtml(html).body.children, { webpage });

const CASES: readonly (readonly [name: string, html: string, markdown: string])[] = [
  ['paragraphs with one space for each run of white space', '<p>a\n  b&nbsp;c</p>\n<p>d</p>', 'a b c\n\nd'],
  ['unclosed paragraphs as two paragraphs', '<p>a<p>b', 'a\n\nb'],
  [
    'headings without bold, and no empty headings',
    '<h1>One</h1><h6>Six <b>bold</b></h6><h2></h2>',
    '# One\n\n###### Six bold',
  ],
  ['a heading without its permalink', '<h2>Use<a href="#use">#</a></h2>', '## Use'],
  [
    'bold, italic, strikethrough, subscript and superscript',
    '<p><b>b</b> <i>i</i> <s>s</s> H<sub>2</sub>O x<sup>2</sup></p>',
    '**b** *i* ~~s~~ H<sub>2</sub>O x<sup>2</sup>',
  ],
  ['bold text with its spaces outside the asterisks', '<p>a<b> b </b>c<b></b></p>', 'a **b** c'],
  ['two adjacent bold texts as one', '<p><b>a</b><b>b</b> <i><b>c</b></i></p>', '**ab** ***c***'],
  ['bold text inside bold text with one pair of delimiters', '<p><b>a <strong>b</strong></b></p>', '**a b**'],
  [
    'punctuation at the edge of bold text outside the asterisks',
    '<p><b>Note:</b>text, nr<b>: 7</b></p>',
    '**Note**:text, nr: **7**',
  ],
  ['bold text as an HTML tag if asterisks would stay visible', '<p>a<b>"q"</b>c</p>', 'a<strong>"q"</strong>c'],
  [
    'bold from a style attribute, and no bold if the style switches it off',
    '<p><span style="font-weight:700">a</span> <b style="font-weight:normal">c</b></p>',
    '**a** c',
  ],
  ['bold around blocks on the text of each block', '<b><p>a</p><p>b</p></b>', '**a**\n\n**b**'],
  ['misnested bold and italic as a browser shows them', '<p><b>a<i>b</b>c</i></p>', '**a*b***<em>c</em>'],
  [
    'italic after bold and italic as an HTML tag, because `****` is ambiguous',
    '<p><b>a<i>b</i></b><i>c</i></p>',
    '**a*b***<em>c</em>',
  ],
  ['adjacent bold and italic with asterisks', '<p><i>a</i><b>b</b> <b>c</b><i>d</i></p>', '*a***b** **c***d*'],
  ['a line break, and two line breaks as a new paragraph', '<p>a<br>b<br><br>c<br></p>', 'a\\\nb\n\nc'],
  [
    'links with escaped text, destination and title',
    '<p><a href="/x y" title="T &quot;q&quot;">a [b]</a> <a href="/p(q)r">c</a> <a href="/p(q">d</a> <a>e</a></p>',
    '[a \\[b\\]](/x%20y "T \\"q\\"") [c](/p(q)r) [d](/p%28q) e',
  ],
  [
    'a link around several blocks only on the first block',
    '<a href="/x"><h3>T</h3><p>text</p></a>',
    '### [T](/x)\n\ntext',
  ],
  [
    'images, but no image without src and alt',
    '<p><img src="a.png" alt="x]"><img src="" alt="data"><img></p>',
    '![x\\]](a.png)![data]()',
  ],
  [
    'code spans with a fence that is longer than the backticks inside',
    '<p><code>a`b</code> <code> c </code>d <code>`</code></p>',
    '``a`b`` `c` d `` ` ``',
  ],
  [
    'a code block with its language and a fence that is longer than the one inside',
    '<pre><code class="language-py">a\n  b\n\n```\n</code></pre>',
    '````py\na\n  b\n\n```\n````',
  ],
  [
    'nested lists with the start number',
    '<ul><li>a<ul><li>b<ol start="9"><li>c</li><li>d</li></ol></li></ul></li></ul>',
    '- a\n  - b\n    9. c\n    10. d',
  ],
  [
    'a list with the brackets of its numbers',
    '<ol data-marker=")" start="3"><li>a<ol><li>b</li></ol></li></ol><ol data-marker=")"><li>c</li></ol>',
    '3) a\n   1. b\n\n1. c',
  ],
  ['a list item with two paragraphs', '<ol><li><p>a</p><p>b</p></li><li>c</li></ol>', '1. a\n\n   b\n2. c'],
  [
    'a task list with checkboxes',
    '<ul><li><input type="checkbox" checked> a</li><li><label><input type="checkbox">b</label></li></ul>',
    '- [x] a\n- [ ] b',
  ],
  ['text directly in a list as a list item', '<ul><br>a <li>b</li><b>c</b> d</ul>', '- a\n- b\n- **c** d'],
  ['two lists in a row with different markers', '<ul><li>a</li></ul><ul><li>b</li></ul>', '- a\n\n* b'],
  ['a quote that contains a list', '<blockquote><p>a</p><ul><li>b</li></ul></blockquote>', '> a\n>\n> - b'],
  [
    'a slide with its number, and speaker notes as a quote',
    '<div data-slide="3"><h2>T</h2><aside class="notes"><p>say</p></aside></div>',
    '<!-- Slide 3 -->\n\n## T\n\n> say',
  ],
  ['a definition list as a bold term and a paragraph', '<dl><dt>a</dt><dd>b</dd></dl>', '**a**\n\nb'],
  ['a horizontal rule', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
  [
    'a table with alignment, an escaped bar and a line break',
    '<table><tr><th>a</th><th align="right">b</th></tr><tr><td>c|d</td><td>e<br>f</td></tr></table>',
    '| a | b |\n| --- | ---: |\n| c\\|d | e<br>f |',
  ],
  [
    'the first row of a table without header cells as its header',
    '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>',
    '| a | b |\n| --- | --- |\n| c |  |',
  ],
  [
    'paragraphs in a cell with line breaks between them',
    '<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>',
    '| a<br>b | c |\n| --- | --- |',
  ],
  [
    'a table with spans as HTML',
    '<table><tr><th colspan="2">a &amp; b</th></tr><tr><td>c</td><td><b>d</b></td></tr></table>',
    '<table>\n<tr><th colspan="2">a &amp; b</th></tr>\n<tr><td>c</td><td><strong>d</strong></td></tr>\n</table>',
  ],
  [
    'a table with a list in a cell as HTML',
    '<table><tr><td>a</td><td><ul><li>b</li></ul></td></tr></table>',
    '<table>\n<tr><td>a</td><td><ul><li>b</li></ul></td></tr>\n</table>',
  ],
  [
    'a table with the same spans in each row as a pipe table',
    '<table><tr><td colspan="2">a</td><td>b</td></tr><tr><td colspan="2">c</td><td>d</td></tr></table>',
    '| a | b |\n| --- | --- |\n| c | d |',
  ],
  ['a table of one cell as its content', '<table><tr><td><p>a</p><ul><li>b</li></ul></td></tr></table>', 'a\n\n- b'],
  [
    'text directly in a table before the table',
    '<table>stray<tr><td>a<td>b</table>',
    'stray\n\n| a | b |\n| --- | --- |',
  ],
  [
    'footnotes of our converters',
    '<p>a<sup class="footnote-ref" data-footnote="7">7</sup></p><section class="footnotes"><ol><li data-footnote="7"><p>n</p><p>m</p></li></ol></section>',
    'a[^1]\n\n[^1]: n\n\n    m',
  ],
  [
    'footnotes of pandoc without their backlinks',
    '<p>a<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a></p><section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>n<a href="#fnref1" class="footnote-back" role="doc-backlink">b</a></p></li></ol></section>',
    'a[^1]\n\n---\n\n[^1]: n',
  ],
  [
    'a footnote reference without a footnote as superscript',
    '<p>a<sup class="footnote-ref" data-footnote="9">9</sup></p>',
    'a<sup>9</sup>',
  ],
  [
    'a formula as the LaTeX of its author',
    '<p>x <math><semantics><mi>q</mi><annotation encoding="application/x-tex">\\frac{a}{b}</annotation></semantics></math></p>',
    'x $\\frac{a}{b}$',
  ],
  [
    'a formula as LaTeX made from its MathML',
    '<p><math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math></p>',
    '$\\frac{a}{b^{2}}$',
  ],
  [
    'a displayed formula in a paragraph of its own',
    '<p>a <span data-latex="x+y" data-display="block"></span> b</p>',
    'a\n\n$$x+y$$\n\nb',
  ],
  [
    'text that looks like Markdown with backslashes',
    '<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p><p>*e* _f_ g_h [i](j) &lt;k&gt; &amp;amp; `l` m * n</p>',
    '\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n\n\\*e\\* \\_f\\_ g_h [i\\](j) \\<k> \\&amp; \\`l\\` m * n',
  ],
  [
    'text that does not look like Markdown without backslashes',
    '<p>snake_case 3 * 4 C# a-b 1.5 (x) [y] $5 | z</p>',
    'snake_case 3 * 4 C# a-b 1.5 (x) [y] $5 | z',
  ],
  [
    'tildes with backslashes if they could mean strikethrough',
    '<p>3~5 or 6~8, ~10 to ~12</p><p>~ana/b and ~bo/c</p><p>https://a.org/~ana ~3 https://a.org/~bo</p>',
    '3\\~5 or 6\\~8, ~10 to ~12\n\n~ana/b and ~bo/c\n\nhttps://a.org/~ana ~3 https://a.org/~bo',
  ],
  ['text without invisible characters', '<p>so\u00adft zero\u200bwidth</p>', 'soft zerowidth'],
];

for (const [name, html, expected] of CASES) test(`writes ${name}`, () => assert.equal(markdown(html), expected));

test('writes the cells of a layout table as blocks only on web pages', () => {
  const layout = '<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td><h2>c</h2></td></tr></table>';
  assert.equal(markdown(layout, true), '| a | b |\n| --- | --- |\n\n## c');
  assert.ok(markdown(layout).startsWith('<table>'));
});

test('writes the text of elements that are nested 20,000 deep', () => {
  for (const open of ['<div>', '<ul><li>', '<table><tr><td>', '<blockquote>', '<b><i>', '<p><span>', '<math><mrow>'])
    assert.ok(markdown(`${open.repeat(20_000)}core`).includes('core'), open);
});
