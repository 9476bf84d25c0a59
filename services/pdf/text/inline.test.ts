// Holds what becomes of emphasis, links, raised words, formulas and hyphens inside a paragraph, on pages made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, blocksOf, filled, ITALIC, line, PLAIN, prose, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { joinHyphenated, learnWords, type Vocabulary } from './inline.ts';

/** The blocks of a page, as HTML. */
const html = (...words: Word[][]) => blocksOf([words.flat()]).join('');
/** One line of words, each in a face of its own or with more to it. */
const spans = (...parts: readonly (readonly [string, TextStyle?, Partial<Word>?])[]): Word[] => {
  let x = 50;
  return parts.flatMap(([text, style = PLAIN, more = {}]) => {
    const made = line(x, 100, text, style).map((word) => ({ ...word, ...more }));
    x = (made.at(-1)?.box.x1 ?? x) + 5;
    return made;
  });
};

test('signs of HTML are text', () => {
  assert.equal(html(spans(['if a < b & c > d'])), 'text <p>if a &lt; b &amp; c &gt; d</p>');
});

test('bold and italic words that follow each other are one piece; a mark alone is not worth it', () => {
  assert.match(html(spans(['the'], ['old light', BOLD], ['stands'])), /the <strong>old light<\/strong> stands/);
  assert.match(html(spans(['the'], ['old light', ITALIC], ['stands'])), /the <em>old light<\/em> stands/);
  const comma = [...line(50, 100, 'gulls'), ...line(75, 100, ',', ITALIC), ...line(85, 100, 'terns')];
  assert.doesNotMatch(html(comma), /<em>/);
});

test('a link leads to a page or an address, never to a script', () => {
  const linked = (link: string) => html(spans(['see'], ['the log', PLAIN, { link }], ['of May']));
  assert.match(
    linked('https://harbour.example/log'),
    /see <a href="https:\/\/harbour.example\/log">the log<\/a> of May/,
  );
  assert.match(linked('javascript:alert(1)'), /<p>see the log of May<\/p>/);
});

test('a heading shows no emphasis, but its raised number and its formula', () => {
  const under = prose(50, 140, 6);
  const raised = line(111, 96, '2', sized(6, ITALIC)).map((word) => ({ ...word, spaceBefore: false }));
  const head = html(line(50, 100, 'On the gulls', ITALIC), raised, under);
  assert.match(head, /<h\d>On the gulls<sup>2<\/sup><\/h\d>/);
  const math = { ...ITALIC, font: 'CMMI12', size: 16 };
  const formula = [
    ...line(50, 100, 'Counting', sized(16)),
    ...line(95, 100, 'x', math),
    ...line(105, 100, 'birds', sized(16)),
  ];
  assert.match(html(formula, under), /<h1>Counting <span data-latex="x">x<\/span> birds<\/h1>/);
});

test('the stop after a formula stands behind it, and the next words after a space', () => {
  const math = { ...ITALIC, font: 'CMMI10' };
  assert.match(
    html(spans(['where'], ['x,', math, { link: 'https://harbour.example' }], ['as ever'])),
    /where <a [^>]+><span data-latex="x">x<\/span><\/a>, as ever/,
  );
});

test('a word that a line’s end cuts is whole; a hyphen inside a line stays', () => {
  const two = (first: string, next: string) => html(line(50, 100, first), line(50, 112, next), prose(50, 124, 3));
  assert.match(two(`${filled(54)} mead-`, 'ows of the quay go on and on here'), /meadows of the quay/);
  assert.match(two(`${filled(40)} two- or`, 'threefold'), /two- or threefold/);
  assert.match(two(`two\u00ad or three ${filled(40)}`, 'masted ships'), /two- or three/);
  assert.match(two(`${filled(54)} mead\u00ad`, 'ows of the quay'), /meadows/);
  assert.match(two(`${filled(50)} gulls /`, 'terns'), /gulls \/ terns/);
  assert.equal(joinHyphenated('COVID-19-', 'related', new Set()), 'COVID-19-');
  assert.equal(joinHyphenated('2019/', '2020', new Set()), '2019/');
});

test('no space where a Japanese line ends before a Japanese one, but before and after a word of another script', () => {
  const lines = (first: string, next: string) => html(line(50, 100, first), line(50, 112, next));
  assert.match(lines('春の港に船が来る灯台の守り', '人は船の数を帳面に書き朝の'), /守り人は/);
  assert.match(lines('春の港に船が来る灯台の守り', 'Lighthouse'), /守り Lighthouse/);
  assert.match(lines('Lighthouse of the old bay', '人は船の数を帳面に書き朝の'), /bay 人は/);
});

/** A vocabulary of lines, each given by its words; none of their first words is learnt. */
function learnt(...lines: string[]): Vocabulary {
  const vocabulary: Vocabulary = new Set();
  learnWords(
    vocabulary,
    lines.map((words, index) => line(50, 100 + index * 12, words)),
  );
  return vocabulary;
}

test('a hyphen at a line’s end goes where the document breaks its words, and stays where it does not', () => {
  const whole = Array.from({ length: 40 }, () => 'gulls rest on the quay');
  const broken = learnt(
    ...whole.slice(0, 9),
    'gulls rest on the har-',
    'bour beside two boats',
    'the crew was based here',
  );
  assert.equal(joinHyphenated('light-', 'house', broken), 'light');
  assert.equal(
    joinHyphenated('har-', 'bour', broken),
    'har',
    'the first word of a line may be the rest of a broken one',
  );
  assert.equal(joinHyphenated('steam-', 'based', broken), 'steam-', 'the second half is a word of its own');
  assert.equal(joinHyphenated('light-', 'house', learnt(...whole, 'the keeper is well-')), 'light-');
});

test('a hyphen at a line’s end stays beside one letter, after capitals and before a capital, unless the word stands whole', () => {
  const few = learnt('the signals of impulse buoys', 'one easy repairing of nets');
  assert.equal(joinHyphenated('V-', 'notch', few), 'V-');
  assert.equal(joinHyphenated('WASI-', 'supporting', few), 'WASI-');
  assert.equal(joinHyphenated('Al-', 'Hamra', few), 'Al-');
  assert.equal(joinHyphenated('IM-', 'PULSE', few), 'IM');
  assert.equal(joinHyphenated('net-mend-', 'ing', few), 'net-mend-');
  assert.equal(joinHyphenated('net-repair-', 'ing', few), 'net-repair');
});

test('words are learnt up to a bound', () => {
  const most = new Set(Array.from({ length: 500_000 }, (_, n) => `w${n}`));
  learnWords(most, [line(50, 100, 'the gulls')]);
  assert.equal(most.size, 500_000);
  const few = new Set<string>();
  learnWords(few, [line(50, 100, 'the gulls, Terns!')]);
  assert.deepEqual([...few], ['gulls', 'terns']);
});
