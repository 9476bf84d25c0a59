// Compares our trees with expected trees, and with the trees of plain parse5 for random invalid HTML (tag soup).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ParentNode } from 'domhandler';
import { type DefaultTreeAdapterTypes, html as dom, parse } from 'parse5';
import { createRandom, type Random } from '#test/fuzz/random.ts';
import { isElement, isText } from './dom.ts';
import { parseHtml } from './tree.ts';

/** A tree in the notation of html5lib-tests: a line for each element, attribute and text, indented by depth. */
function dump(parent: ParentNode, depth = 0): string[] {
  const indent = `| ${'  '.repeat(depth)}`;
  return parent.children.flatMap((child, index) => {
    assert.equal(child.parent, parent);
    assert.equal(child.prev, parent.children[index - 1] ?? null);
    assert.equal(child.next, parent.children[index + 1] ?? null);
    if (isText(child)) return [`${indent}"${child.data}"`];
    assert.ok(isElement(child), `${child.type} in the tree`);
    const attributes = Object.entries(child.attribs).map(([name, value]) => `${indent}  ${name}="${value}"`);
    return [`${indent}<${child.name}>`, ...attributes.sort(), ...dump(child, depth + 1)];
  });
}

/** The default tree of parse5 in the same notation, without comments and doctype, foreign names in lower case. */
function dumpParse5(parent: DefaultTreeAdapterTypes.ParentNode, depth = 0): string[] {
  const indent = `| ${'  '.repeat(depth)}`;
  const lines: string[] = [];
  let text = '';
  const endText = () => {
    if (text !== '') lines.push(`${indent}"${text}"`);
    text = '';
  };
  for (const child of ('content' in parent ? parent.content : parent).childNodes) {
    if ('value' in child) text += child.value;
    if (!('tagName' in child)) continue;
    endText();
    const nameOf = (name: string) => (child.namespaceURI === dom.NS.HTML ? name : name.toLowerCase());
    const attributes = child.attrs.map(
      ({ name, prefix, value }) => `${indent}  ${nameOf(prefix ? `${prefix}:${name}` : name)}="${value}"`,
    );
    lines.push(`${indent}<${nameOf(child.tagName)}>`, ...attributes.sort(), ...dumpParse5(child, depth + 1));
  }
  endText();
  return lines;
}

const bodyOf = (html: string, xhtml = false): string => dump(parseHtml(html, { xhtml }).body).join('\n');

const CASES = readFileSync(new URL('tree-construction.dat', import.meta.url), 'utf8');
for (const block of CASES.slice('#name '.length).trimEnd().split('\n\n#name ')) {
  const [name = '', html = '', tree = ''] = block.split(/\n#(?:data|document)\n/);
  test(`builds the tree of the HTML Standard: ${name}`, () => assert.equal(bodyOf(html), tree));
}

test('always creates html, head and body, and keeps their attributes', () => {
  assert.deepEqual(dump(parseHtml('').document), ['| <html>', '|   <head>', '|   <body>']);
  const tree = parseHtml('<html lang=en><title>a</title><meta name=b><p>c<body class=d>');
  assert.deepEqual(dump(tree.head), ['| <title>', '|   "a"', '| <meta>', '|   name="b"']);
  assert.deepEqual(tree.html.attribs, Object.assign(Object.create(null), { lang: 'en' }));
  assert.equal(tree.body.attribs.class, 'd');
});

const XHTML: readonly (readonly [name: string, xhtml: string, tree: string])[] = [
  ['a slash ends an element', '<p/><a id="b"/>c', '| <p>\n| <a>\n|   id="b"\n| "c"'],
  [
    'a slash ends a formatting element for the next paragraph too',
    '<p><b/>a</p><p>b</p>',
    '| <p>\n|   <b>\n|   "a"\n| <p>\n|   "b"',
  ],
  [
    'a slash ends elements whose content is not markup',
    '<body><iframe/><textarea/><script/><p>a</p></body>',
    '| <iframe>\n| <textarea>\n| <script>\n| <p>\n|   "a"',
  ],
  ['a slash ends a title, so the text after it is in the body', '<head><title/></head><body>a</body>', '| "a"'],
  ['a line break with an end tag is one line break', 'a<br></br>b', '| "a"\n| <br>\n| "b"'],
  ['CDATA is text', 'a<![CDATA[<b>&amp;]]>c', '| "a<b>&amp;c"'],
  ['CDATA without an end is text', 'a<![CDATA[b', '| "ab"'],
  ['CDATA in a comment is a comment', 'a<!-- <![CDATA[ -->b]]>', '| "ab]]>"'],
  ['a processing instruction is left out', '<?xml version="1.0"?><?a b?>c', '| "c"'],
  [
    'the internal subset of a document type is left out',
    '<!DOCTYPE html [<!ENTITY a "b">\n<!ELEMENT c ANY>] ><p>d',
    '| <p>\n|   "d"',
  ],
  [
    'a missing end tag is implied as in HTML',
    '<ul><li>a<li>b</ul>',
    '| <ul>\n|   <li>\n|     "a"\n|   <li>\n|     "b"',
  ],
  [
    'text in a table is moved in front of it',
    '<table>a<tr><td/></tr></table>',
    '| "a"\n| <table>\n|   <tbody>\n|     <tr>\n|       <td>',
  ],
];
for (const [name, xhtml, tree] of XHTML) test(`reads XHTML: ${name}`, () => assert.equal(bodyOf(xhtml, true), tree));

// Without `template`: nothing reads its content, and white space after `col` in a template differs.
const NAMES =
  'a b i em font nobr code u p div span ul ol li dl dt dd table tbody thead tr td th caption colgroup col h1 h2 pre form button select option input br hr img svg math mi mtext annotation-xml foreignObject title desc g object script style textarea body html head meta ruby rt rp section address image x-y noscript iframe xmp'.split(
    ' ',
  );
const TEXTS = [
  'x',
  ' ',
  'a b',
  '\n',
  '&amp;',
  '\r\n ',
  '\0',
  'é',
  '&nbsp;',
  '<!-- c -->',
  '<![CDATA[q]]>',
  '&#x80;',
  '😀',
  'a\rb\r',
  '\u0001\ud83d ',
  '<plaintext>',
];
const ATTRIBUTES = [
  'id=1',
  'id=2',
  'class="a b"',
  'encoding="text/html"',
  'viewBox=3',
  'xlink:href=4',
  'type=hidden',
  'xml:lang=5',
  `title='a"b&lt;\r\n😀'`,
];

function tagSoup(random: Random, tokens: number): string {
  let html = random.oneIn(3) ? '<!doctype html>' : '';
  for (let index = 0; index < tokens; index++) {
    const name = random.pick(NAMES);
    const kind = random.below(10);
    if (kind < 5)
      html += `<${name}${random.oneIn(4) ? ` ${random.pick(ATTRIBUTES)}` : ''}${random.oneIn(12) ? '/' : ''}>`;
    else if (kind < 8) html += `</${name}>`;
    else html += random.pick(TEXTS);
  }
  return html;
}

for (const [count, tokens] of [
  [2_000, 30],
  [50, 500],
] as const)
  test(`${count} random tag soups of up to ${tokens} tokens get the same tree as from parse5`, () => {
    for (let index = 0; index < count; index++) {
      const random = createRandom(14, index);
      const html = tagSoup(random, 1 + random.below(tokens));
      assert.equal(dump(parseHtml(html).document).join('\n'), dumpParse5(parse(html)).join('\n'), html);
    }
  });
