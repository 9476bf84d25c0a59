// Checks the tree of the XML reader, its limits, and what it does with XML that is not well-formed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { attribute, childElements, descend, descendants, parseXml, textContent } from './xml.ts';

test('keeps names and attributes, and joins text', () => {
  const root = parseXml(
    '<?xml version="1.0"?><w:p xmlns:w="u" w:id="7">a &amp; &#x62;<![CDATA[<c>]]><w:r/><!-- no -->d</w:p>',
  );
  assert.equal(root.name, 'w:p');
  assert.equal(root.local, 'p');
  assert.equal(attribute(root, 'id'), '7');
  assert.equal(textContent(root), 'a & b<c>d');
  assert.equal(root.children.length, 3);
});

test('finds elements by local names', () => {
  const root = parseXml('<a><x:b><c>1</c></x:b><b><c>2</c></b></a>');
  assert.equal(childElements(root, 'b').length, 2);
  assert.equal(textContent(descend(root, 'b', 'c')), '1');
  assert.deepEqual(descendants(root, 'c').map(textContent), ['1', '2']);
});

test('rejects entity declarations at any position in the document type', () => {
  for (const type of [
    '[<!ENTITY a "b">]',
    '[<!ELEMENT a ANY><!ENTITY a SYSTEM "file:///etc/passwd">]',
    '[<!ENTITY % p "x">%p;]',
  ])
    assert.throws(() => parseXml(`<!DOCTYPE r ${type}><r>&a;</r>`), { code: 'DOCUMENT_TOO_COMPLEX' });
  assert.equal(textContent(parseXml('<!DOCTYPE r PUBLIC "-//X" "x.dtd"><r>y</r>')), 'y');
});

test('rejects elements that are nested one level deeper than the limit', () => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  assert.equal(parseXml(nested(DOCUMENT_LIMITS.xmlDepth)).name, 'a');
  assert.throws(() => parseXml(nested(DOCUMENT_LIMITS.xmlDepth + 1)), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('rejects text without an element, but reads XML that is cut off at the end', () => {
  assert.throws(() => parseXml('plain'), { code: 'DOCUMENT_CORRUPT' });
  assert.throws(() => parseXml(''), { code: 'DOCUMENT_CORRUPT' });
  assert.equal(textContent(parseXml('<a><b>text')), 'text');
});
