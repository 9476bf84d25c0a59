// Holds which words of a line of text are a formula, on lines made by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ITALIC, line, PLAIN, sized } from '#test/harness/documents/pdf-pages.ts';
import type { TextStyle, Word } from '../source/page-model.ts';
import { foldInlineFormulas } from './formulas.ts';

const MATH: TextStyle = { ...ITALIC, font: 'CMMI10' };
const SIGNS: TextStyle = { ...PLAIN, font: 'CMSY10' };
type Part = readonly [text: string, style?: TextStyle, lower?: number, glued?: boolean];
/** Words from left to right on the baseline 100, or so far below it; one that is glued has no space before it. */
const lineOf = (...parts: readonly Part[]): Word[] => {
  let x = 100;
  return parts.flatMap(([text, style = PLAIN, lower = 0, glued = false]) => {
    const made = line(glued ? x - 3 : x, 100 + lower, text, style, 3);
    x = (made.at(-1)?.box.x1 ?? x) + 3;
    return made.map((word) => ({ ...word, spaceBefore: !glued }));
  });
};
const small = (style = PLAIN) => sized(6, style);
const bar = (at: number, start: number, end: number) => ({
  horizontal: true,
  at,
  start,
  end,
  thickness: 0.4,
  color: 0,
});
/** The formulas of a line, each as its LaTeX with the sentence's sign after it. */
const folded = (parts: readonly Part[], ...bars: readonly ReturnType<typeof bar>[]) =>
  foldInlineFormulas(lineOf(...parts), 100, 10, bars).flatMap(({ latex }) => (latex ? [latex.body + latex.tail] : []));

test('a formula begins at a letter or sign of its own, at no bracket, bullet, figure or word of the sentence', () => {
  assert.deepEqual(folded([['('], ['x', MATH], ['gulls)']]), ['x']);
  assert.deepEqual(folded([['•', SIGNS], ['x', MATH], ['gulls']]), ['x'], 'a bullet of a mathematical face');
  assert.deepEqual(folded([['x', ITALIC], ['∈', SIGNS], ['A', ITALIC], ['gulls']]), ['x \\in A'], 'other italics');
  assert.deepEqual(
    folded([
      ['gulls', ITALIC],
      ['∈', SIGNS],
      ['A', ITALIC],
    ]),
    ['\\in A'],
    'an italic word',
  );
  assert.deepEqual(
    folded([
      ['Theorem', ITALIC],
      ['2', ITALIC],
      ['x', MATH],
    ]),
    ['x'],
    'an italic figure',
  );
  assert.deepEqual(folded([['a'], ['x', MATH], ['gulls']]), ['x'], 'an upright article');
  const contents: Part[] = [['Gulls'], ['.', MATH], ['.', MATH], ['.', MATH], ['7']];
  assert.deepEqual(folded(contents), [], 'the dots of a table of contents');
});

test('a formula ends with its last figure, bracket or script, not with a word; a word glued to it may stand within', () => {
  assert.deepEqual(folded([['x', MATH], ['='], ['5'], ['gulls']]), ['x = 5']);
  assert.deepEqual(folded([['x', MATH], ['-axis', PLAIN, 0, true], ['gulls']]), ['x']);
  assert.deepEqual(folded([['O', MATH], ['(log', PLAIN, 0, true], ['n)', MATH], ['steps']]), ['O(log n)']);
  assert.deepEqual(folded([['x', MATH], ['gull', small(), 3], ['flies']]), ['x_{\\mathrm{gull}}']);
  assert.deepEqual(folded([['x', MATH], ['i.', small(), 3], ['flies']]), ['x_{i.}'], 'the stop of a script');
});

test('scripts are small and off the line', () => {
  const equation = (lower: number): Part[] => [['where'], ['x', MATH, lower], ['=', PLAIN, lower], ['y', MATH, lower]];
  assert.deepEqual(folded(equation(1.5)), ['x = y'], 'set a little lower');
  assert.deepEqual(folded([['where'], ['x', sized(8, MATH)], ['flies']]), ['x'], 'set a little smaller');
  assert.deepEqual(folded([['gulls'], ['n', small(MATH), -4], ['fly']]), [], 'a note of a mathematical face');
});

test('where a line has formulas, italics are one with a lowered sign or a raised letter, not with a raised figure', () => {
  const beside = (...parts: readonly Part[]) => folded([['k', MATH], ['gulls'], ...parts]).slice(1);
  assert.deepEqual(beside(['x', ITALIC], ['2', small(), 3]), ['x_{2}']);
  assert.deepEqual(beside(['x', ITALIC], ['n', small(), -4]), ['x^{n}']);
  assert.deepEqual(beside(['x', ITALIC], ['2', small(), -4]), [], 'perhaps a note');
  assert.deepEqual(beside(['a', ITALIC], ['12']), [], 'an italic sentence');
  const name = foldInlineFormulas(lineOf(['B', ITALIC], ['a', small(), -4]), 100, 10, []);
  assert.equal(name.length, 2, 'a line without formulas');
});

test('a line under the words of a sentence is no bar of a fraction', () => {
  const script: Part[] = [['gulls'], ['x', MATH], ['n', small(MATH), 3], ['fly']];
  // The formula reaches from 128 to 141.
  assert.deepEqual(folded(script, bar(101.5, 128, 141)), ['\\frac{x}{n}']);
  assert.deepEqual(folded(script, bar(101.5, 100, 141)), ['x_{n}']);
  assert.deepEqual(folded(script, bar(101.5, 128, 160)), ['x_{n}']);
});
