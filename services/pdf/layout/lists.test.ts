// Holds how list items nest and what their markers become, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, blocksOf, filled, line, prose } from '#test/harness/documents/pdf-pages.ts';
import { isNumberedCaption, readMarker } from '../text/markers.ts';

/** A page's list of lines at the given indents. */
const list = (...items: readonly (readonly [number, string])[]) =>
  blocksOf([[...prose(50, 100, 6), ...items.flatMap(([x, text], n) => line(x, 300 + n * 14, text))]])
    .slice(1)
    .join('')
    .replace(/^text /, '');

test('numbers that Markdown has no list for stay before their items as they are printed', () => {
  assert.equal(list([50, '1. gulls'], [50, '2. terns']), '<ol><li>gulls</li><li>terns</li></ol>');
  assert.equal(list([50, '(1) gulls'], [50, '(2) terns']), '<ul><li>(1) gulls</li><li>(2) terns</li></ul>');
  assert.equal(list([50, 'a) gulls'], [50, 'b) terns']), '<ul><li>a) gulls</li><li>b) terns</li></ul>');
  assert.equal(list([50, 'A. gulls'], [50, 'B. terns']), '<ul><li>A. gulls</li><li>B. terns</li></ul>');
  assert.equal(list([50, '(i) gulls'], [50, '(ii) terns']), '<ul><li>(i) gulls</li><li>(ii) terns</li></ul>');
  assert.equal(list([50, 'I. gulls'], [50, 'II. terns']), '<ul><li>I. gulls</li><li>II. terns</li></ul>');
});

test('numbers before a bracket and numbers before a stop are lists of their own', () => {
  assert.equal(
    list([50, '1) gulls'], [70, '1. eggs'], [50, '2) terns']),
    '<ol data-marker=")"><li>gulls<ol><li>eggs</li></ol></li><li>terns</li></ol>',
  );
  assert.equal(
    list([50, '1) gulls'], [50, '2) terns'], [50, '1. ships']),
    '<ol data-marker=")"><li>gulls</li><li>terns</li></ol><ol><li>ships</li></ol>',
  );
});

test('a number that the print leaves out or repeats stays as it is printed', () => {
  assert.equal(
    list([50, '3) gulls'], [50, '5) terns'], [50, '6) coots'], [50, '6) rails']),
    '<ol data-marker=")" start="3"><li>gulls</li><li value="5">terns</li><li>coots</li><li value="6">rails</li></ol>',
  );
});

test('items that stand further in are a list of their own, also where another kind of list begins at the same place', () => {
  assert.equal(
    list([50, '1. birds'], [70, '• gulls'], [70, '• terns'], [50, '2. ships']),
    '<ol><li>birds<ul><li>gulls</li><li>terns</li></ul></li><li>ships</li></ol>',
  );
  assert.equal(list([50, '1. birds'], [50, '• gulls']), '<ol><li>birds</li></ol><ul><li>gulls</li></ul>');
});

test('items that stand further and further in nest to a bound', () => {
  const deep = list(...Array.from({ length: 12 }, (_, n) => [50 + n * 20, '• gull'] as const));
  assert.equal(deep.match(/^(?:<ul><li>gull)+/)?.[0].match(/<ul>/g)?.length, 8);
  assert.equal(deep.match(/gull/g)?.length, 12);
});

test('a marker is the first of several words of a line; bold bullets are items, bold numbers are headings', () => {
  assert.match(list([50, '3.']), /<p>3\.<\/p>/, 'a number alone');
  const kinds = (text: string) =>
    blocksOf([[...prose(50, 100, 6), ...line(50, 300, text, BOLD), ...prose(50, 330, 4)]]).map((one) =>
      one.slice(0, 8),
    );
  assert.deepEqual(kinds('• The old light'), ['text <p>', 'text <ul', 'text <p>']);
  assert.equal(kinds('3. The old light')[1]?.startsWith('text <o'), false);
});

test('an item may name another number; a sentence that counts on is text', () => {
  const item = (text: string, below = 'counted') =>
    list([50, `${text} ${filled(56 - text.length, 4)}`], [50, below]).slice(0, 4);
  assert.equal(item('1. Smith, B. and others of'), '<ol>', 'an initial');
  assert.equal(item('1. gulls (2) terns'), '<ol>', 'another kind of number');
  assert.equal(item('1. from 3. of May'), '<ol>', 'not the next');
  assert.equal(item('3. see rule 2. of them'), '<ol ', 'not the first');
  assert.equal(item('1) gulls and 2) terns'), '<p>1');
  assert.equal(item('1) gulls and 2) terns of', '2) terns that come later'), '<ol ', 'the second follows');
  assert.equal(item('1. gulls and 2. terns of', '2. terns that come later'), '<ol>', 'the second follows');
});

test('letters, Roman numbers and brackets of markers', () => {
  const read = (word: string) => {
    const marker = readMarker(word);
    return marker && `${marker.style} ${marker.shape} ${marker.value}`;
  };
  assert.equal(read('i.'), 'lower-roman . 1');
  assert.equal(read('IV)'), 'upper-roman ) 4');
  assert.equal(read('c.'), 'lower-alpha . 3');
  assert.equal(read('(C)'), 'upper-alpha () 3');
  assert.equal(read('(1.'), undefined);
});

test('a caption with a number and a stop is told from a sentence that begins with its word, and from a chapter', () => {
  assert.ok(isNumberedCaption('Table 14. Ships'));
  assert.ok(!isNumberedCaption('Table 14 Ships'));
  assert.ok(!isNumberedCaption('Chapter 14. Ships'));
});
