import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { attribute, childElements, descend, descendants, parseXml, textContent } from './xml.ts';

test('a tree keeps names, attributes and joined text', () => {
  const root = parseXml(
    '<?xml version="1.0"?><w:p xmlns:w="u" w:id="7">a &amp; &#x62;<![CDATA[<c>]]><w:r/><!-- no -->d</w:p>',
  );
  assert.equal(root.name, 'w:p');
  assert.equal(root.local, 'p');
  assert.equal(attribute(root, 'id'), '7');
  assert.equal(textContent(root), 'a & b<c>d');
  assert.equal(root.children.length, 3);
});

test('the tree is walked by local names', () => {
  const root = parseXml('<a><x:b><c>1</c></x:b><b><c>2</c></b></a>');
  assert.equal(childElements(root, 'b').length, 2);
  assert.equal(textContent(descend(root, 'b', 'c')), '1');
  assert.deepEqual(descendants(root, 'c').map(textContent), ['1', '2']);
});

test('declared entities are refused, wherever they stand in the document type', () => {
  for (const type of [
    '[<!ENTITY a "b">]',
    '[<!ELEMENT a ANY><!ENTITY a SYSTEM "file:///etc/passwd">]',
    '[<!ENTITY % p "x">%p;]',
  ])
    assert.throws(() => parseXml(`<!DOCTYPE r ${type}><r>&a;</r>`), { code: 'DOCUMENT_TOO_COMPLEX' });
  assert.equal(textContent(parseXml('<!DOCTYPE r PUBLIC "-//X" "x.dtd"><r>y</r>')), 'y');
});

test('nesting is bounded', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  assert.equal(parseXml(nested(DOCUMENT_LIMITS.xmlDepth)).name, 'a');
  assert.throws(() => parseXml(nested(DOCUMENT_LIMITS.xmlDepth + 1)), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('what is no XML is corrupt; what is cut short gives what it holds', () => {
  assert.throws(() => parseXml('plain'), { code: 'DOCUMENT_CORRUPT' });
  assert.throws(() => parseXml(''), { code: 'DOCUMENT_CORRUPT' });
  assert.equal(textContent(parseXml('<a><b>text')), 'text');
});
