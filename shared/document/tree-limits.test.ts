// Counts the nodes that the parser creates for hostile HTML, to check its limits on depth, copies and elements.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Element } from 'domhandler';
import { Parser, Tokenizer } from 'parse5';
import type { Htmlparser2TreeAdapterMap } from 'parse5-htmlparser2-tree-adapter';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { isElement, textOf, walk } from './dom.ts';
import { parseHtml } from './tree.ts';

interface Size {
  elements: number;
  attributes: number;
  depth: number;
  text: string;
}

function sizeOf(html: string): Size {
  const root = parseHtml(html).html;
  let elements = 0;
  let attributes = 0;
  let deepest = 0;
  const pending: { node: Element; depth: number }[] = [{ node: root, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next;
    elements++;
    attributes += Object.keys(node.attribs).length;
    deepest = Math.max(deepest, depth);
    for (const child of node.children) if (isElement(child)) pending.push({ node: child, depth: depth + 1 });
  }
  return { elements, attributes, depth: deepest, text: textOf([root]) };
}

/** The largest number of elements that are open at the same time. Most steps of parse5 search all of them. */
function mostOpenElements(html: string): number {
  let most = 0;
  const { onItemPush } = Parser.prototype;
  const push = mock.method(Parser.prototype, 'onItemPush', function (
    this: Parser<Htmlparser2TreeAdapterMap>,
    node,
    tag,
    isTop,
  ) {
    most = Math.max(most, this.openElements.stackTop + 1);
    onItemPush.call(this, node, tag, isTop);
  } as typeof onItemPush);
  parseHtml(html);
  push.mock.restore();
  return most;
}

const repeated = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join('');
/** `html`, `head` and `body`. */
const FRAME = 3;

test('turns 1,000,000 nested elements into siblings at the depth limit, and keeps their text', () => {
  const { elements, depth, text } = sizeOf(`a${'<span>'.repeat(1_000_000)}b`);
  assert.deepEqual(
    { elements, depth, text },
    { elements: 1_000_000 + FRAME, depth: DOCUMENT_LIMITS.htmlDepth, text: 'ab' },
  );
});

for (const [what, open] of [
  ['inline elements', '<span>'],
  ['formatting elements', '<b><i><u>'],
  ['formatting elements with attributes', '<font color=a><font color=b><font color=c>'],
  ['lists', '<ul><li>'],
  ['tables', '<table><tr><td>'],
  ['tables in table rows', '<table><tr><div>'],
  ['forms that end too early', '<form><div></form>'],
  ['formatting that ends too early', '<b><i><div></b><div></i>'],
  ['SVG', '<svg><foreignObject><g><title>'],
  ['templates', '<template><table><td>'],
  ['objects in tables', '<table><object><tr>'],
  ['framesets', '<frameset>'],
  ['headings', '<h1><div>'],
] as const)
  test(`keeps nested ${what} within the depth limit`, () => {
    const html = `<div>a${open.repeat(5_000)}core</div>b`;
    const { depth, text } = sizeOf(html);
    assert.ok(depth <= DOCUMENT_LIMITS.htmlDepth, `${depth}`);
    assert.ok(mostOpenElements(html) < DOCUMENT_LIMITS.htmlDepth + 60);
    // Titles of drawings, and templates, are not text of the page.
    if (what !== 'SVG' && what !== 'templates') assert.ok(/^a.*core.*b/s.test(text), text.slice(0, 100));
  });

test('ignores the end tags of elements past the depth limit', () => {
  const count = DOCUMENT_LIMITS.htmlDepth * 2;
  const { body } = parseHtml(`<div>${'<div>'.repeat(count)}a${'</div>'.repeat(count)}b</div>c`);
  assert.deepEqual(
    body.children.map((child) => textOf([child])),
    ['ab', 'c'],
  );
});

test('reads the markup after an SVG title past the depth limit as markup', () => {
  const { body } = parseHtml(`${'<div>'.repeat(DOCUMENT_LIMITS.htmlDepth - 4)}<svg><title></svg><title></title>a`);
  assert.equal(textOf([body]), 'a');
});

test('bounds the copies of unclosed formatting elements in all paragraphs', () => {
  const { elements, text } = sizeOf(`${repeated(2_000, (index) => `<b id=${index}>`)}${'<p>x'.repeat(20_000)}`);
  assert.equal(text, 'x'.repeat(20_000));
  assert.ok(elements < 2 * 22_000 + 11_000, `${elements}`);
});

test('copies only the newest formatting elements into a paragraph', () => {
  const { body } = parseHtml(`${repeated(150, (index) => `<p><b id=${index}>`)}<p>x`);
  const copies: string[] = [];
  walk(body.children.slice(-1), (node) => {
    if (isElement(node) && node.name === 'b') copies.push(node.attribs.id ?? '');
    return true;
  });
  assert.equal(copies.at(-1), '149');
  assert.ok(copies.length >= 20 && copies.length <= 60, `${copies.length}`);
});

test('bounds the copies of misnested formatting elements in all blocks', () => {
  const fonts = repeated(50, (index) => `<font id=${index}>`);
  const { elements } = sizeOf(
    `${fonts}${'<div>'.repeat(300)}${'</font>'.repeat(400)}${'</div>'.repeat(300)}`.repeat(50),
  );
  assert.ok(elements < 2 * 50 * 350 + 11_000, `${elements}`);
});

test('copies few attributes of a formatting element that has many', () => {
  const tag = `<b ${repeated(1_000, (index) => `a${index} `)}>`;
  const { attributes } = sizeOf(`<p>${tag}x${'<p>x'.repeat(1_000)}`);
  assert.ok(attributes > 1_000 && attributes < 1_000 + 1_000 * 20, `${attributes}`);
});

test('bounds the copies when formatting elements alternate with paragraphs and tables', () => {
  for (const piece of ['<b><p>x</b>', '<a href=x><p>x', '<b><p>x</b></p>', '<i><table>x</i>', '<table><b>x<tr>']) {
    const { elements } = sizeOf(piece.repeat(10_000));
    assert.ok(elements < 2 * 30_000 + 11_000, `${piece}: ${elements}`);
  }
});

test('keeps the order of text and elements that are moved out of a table', () => {
  const { text, elements } = sizeOf(`<table>${repeated(20_000, (index) => `${index}<br>`)}<tr><td>end`);
  assert.equal(text.replaceAll('\n', ' '), `${repeated(20_000, (index) => `${index} `)}end`);
  assert.equal(elements, 20_000 + 4 + FRAME);
});

test('uses the linear search of parse5 only for the first attributes of a tag', (context) => {
  const prototype = Tokenizer.prototype as unknown as { _leaveAttrName(): void };
  const search = mock.method(prototype, '_leaveAttrName');
  context.after(() => search.mock.restore());
  const names = repeated(50_000, (index) => `a${index % 40_000}=${index} `);
  const [paragraph] = parseHtml(`<p ${names}><i ${names}>`).body.children;
  assert.ok(isElement(paragraph));
  assert.equal(Object.keys(paragraph.attribs).length, 40_000);
  assert.equal(paragraph.attribs.a0, '0');
  assert.ok(search.mock.callCount() < 50, `${search.mock.callCount()}`);
});

test('rejects a page with more elements than the limit', () => {
  assert.throws(() => parseHtml('<br>'.repeat(DOCUMENT_LIMITS.htmlElements)), { code: 'DOCUMENT_TOO_COMPLEX' });
});
