// Holds how a formula is written in LaTeX, on words made by hand: fractions, roots, limits, scripts, faces and signs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOLD, ITALIC, line, PLAIN, sized } from '#test/harness/documents/pdf-pages.ts';
import type { Ruling, TextStyle, Word } from '../source/page-model.ts';
import { composeRows } from './formulas.ts';
import { formulaLatex } from './latex.ts';
import { buildChunks } from './lines.ts';

const MATH: TextStyle = { ...ITALIC, font: 'CMMI10' };
const SIGNS: TextStyle = { ...PLAIN, font: 'CMSY10' };
const LARGE: TextStyle = { ...PLAIN, font: 'CMEX10' };
const face = (font: string): TextStyle => ({ ...PLAIN, font });
/** One word at a place, so wide. */
const at = (x: number, y: number, text: string, style = MATH, width = text.length * 5): Word =>
  line(x, y, text, style).map((word) => ({ ...word, box: { ...word.box, x1: x + width } }))[0] as Word;
const small = sized(6, MATH);
const bar = (y: number, start: number, end: number): Ruling => ({
  horizontal: true,
  at: y,
  start,
  end,
  thickness: 0.4,
  color: 0,
});
/** Words from left to right on one line, as a formula that stands alone; '' where they are none. */
const alone = (...parts: readonly (readonly [string, TextStyle?])[]): string => {
  let x = 100;
  const words = parts.flatMap(([text, style = PLAIN]) => {
    const word = at(x, 100, text, style);
    x = word.box.x1 + 3;
    return [word];
  });
  return composeRows(buildChunks(words), [])
    .flatMap(({ formula }) => formula?.latex ?? [])
    .join(' ; ');
};

test('functions, variables in any italics, differentials and Greek letters make a formula, words do not', () => {
  assert.equal(alone(['sin'], ['x', MATH], ['='], ['y', MATH]), '\\sin x = y');
  assert.equal(alone(['f(x)', ITALIC], ['='], ['2a', ITALIC], ['+'], ['c', ITALIC]), 'f(x) = 2a + c');
  assert.equal(alone(['∫'], ['x', ITALIC], ['dx', ITALIC], ['='], ['c', ITALIC]), '\\int x dx = c');
  assert.equal(alone(['α'], ['='], ['4']), '\\alpha = 4');
  assert.equal(alone(['x', MATH], ['='], ['gulls', ITALIC], ['seen', ITALIC]), '', 'italic words');
  const text = ['lighthouses', 'counted', 'x', '=', '4'].map((one) => [one, face('CambriaMath')] as const);
  assert.equal(alone(...text), '', 'text set in a mathematical face');
});

test('faces: calligraphic, Gothic and hollow letters, bold ones, words upright; signs of the same faces are signs', () => {
  assert.equal(alone(['X', MATH], ['∈', SIGNS], ['A', SIGNS]), 'X \\in \\mathcal{A}');
  assert.equal(alone(['g', face('EUFM10')], ['∈', SIGNS], ['R', face('MSBM10')]), '\\mathfrak{g} \\in \\mathbb{R}');
  assert.equal(alone(['v', BOLD], ['=', BOLD], ['x', MATH]), '\\mathbf{v} = x');
  assert.equal(alone(['v', { ...BOLD, italic: true }], ['='], ['x', MATH]), 'v = x', 'bold italics');
  assert.equal(
    alone(['x', MATH], ['='], ['y', MATH], ['+'], ['z', MATH], ['−', SIGNS], ['1'], ['if']),
    'x = y + z - 1 \\mathrm{if}',
  );
  assert.equal(alone(['ab', face('CambriaMath')], ['='], ['x', MATH]), 'ab = x', 'two letters of a mathematical face');
  assert.equal(alone(['(', LARGE], ['x', MATH], ['=', MATH], [')', LARGE]), '\\{x =\\}', 'large brackets');
  assert.equal(alone(['(x)', MATH], ['='], ['∑', LARGE], ['y', MATH]), '(x) = \\sum y', 'no large bracket');
});

test('accents over letters, Greek ones too; a struck sign has none', () => {
  assert.equal(alone(['x̄', MATH], ['='], ['y', MATH]), '\\bar{x} = y');
  assert.equal(alone(['α̂k', MATH], ['='], ['y', MATH]), '\\hat{\\alpha}k = y');
  assert.equal(alone(['x', MATH], ['≠', SIGNS], ['y', MATH]), 'x \\neq y');
});

const latex = (words: readonly Word[], ...bars: readonly Ruling[]) => formulaLatex(words, bars);

test('a bar parts what stands over it from what stands under it, and holds nothing beside it or far from it', () => {
  const fraction = (y: number) => [at(112, y - 6, 'a'), at(112, y + 8, 'b')];
  const row = (y: number) => [
    at(100, y, 'x'),
    at(106, y, '=', PLAIN, 4),
    ...fraction(y),
    at(122, y, '+'),
    at(130, y, 'c'),
  ];
  assert.equal(latex(row(100), bar(98, 111, 118)), 'x = \\frac{a}{b} + c');
  assert.equal(latex(fraction(100)), 'ab', 'no bar');
  const lowered = [...fraction(100), at(120, 100, 'x'), at(125, 103, '2', small)];
  assert.equal(latex(lowered, bar(98, 111, 118)), '\\frac{a}{b}x_{2}', 'its place is on the line');
  const lines = [...row(100), at(112, 140, 'd')];
  assert.equal(latex(lines, bar(98, 111, 118)), 'x = d\\frac{a}{b} + c', 'another row far below');
  assert.equal(latex([at(100, 100, 'x')], bar(103, 99, 106)), 'x', 'underlined');
  assert.equal(latex([at(100, 100, 'x')], bar(92, 99, 106)), 'x', 'overlined');
  assert.equal(
    latex([at(100, 94, 'a'), at(100, 108, 'b'), at(100, 124, 'c')], bar(98, 99, 106), bar(112, 97, 108)),
    '\\frac{\\frac{a}{b}}{c}',
  );
});

test('a root holds what stands under its bar, also in a fraction', () => {
  const root = (x: number, y: number) => [
    at(x, y, '√', SIGNS),
    at(x + 6, y, 'y'),
    at(x + 13, y, '+'),
    at(x + 20, y, 'z'),
  ];
  assert.equal(
    latex([at(90, 100, 'x'), ...root(100, 100), at(128, 100, 'n', small)], bar(91, 105, 126)),
    'x\\sqrt{y + z}n',
  );
  const square = [at(100, 100, '√', SIGNS), at(106, 100, 'y'), at(113, 96, '2', small)];
  assert.equal(latex(square, bar(91, 105, 112)), '\\sqrt{y}^{2}');
  const over = [at(110, 86, 'a'), at(115, 82, '2', small)];
  assert.equal(
    latex([...over, ...root(100, 100)], bar(91, 105, 126), bar(89, 99, 127)),
    '\\frac{a^{2}}{\\sqrt{y + z}}',
  );
  // The bar of the root is part of its sign.
  const bare = [at(101, 94, '1', sized(14)), at(98, 112, '√', sized(14, SIGNS), 7), at(106, 112, '2', sized(14))];
  assert.equal(latex(bare, bar(98, 100, 112)), '\\frac{1}{\\surd2}');
  assert.equal(
    latex([at(60, 100, '√', SIGNS), at(66, 100, '2', PLAIN), at(100, 94, 'a'), at(100, 108, 'b')], bar(98, 99, 106)),
    '\\surd2\\frac{a}{b}',
    'a root elsewhere',
  );
});

test('limits stand over and under a large operator, and run on from there to both sides', () => {
  const sum = at(110, 92, '∑', sized(10, LARGE), 12);
  const before = [at(95, 100, 'x'), at(102, 100, '=')];
  const limits = [
    at(112, 110, 'n', small, 3),
    at(116, 110, '=', sized(6), 4),
    at(121, 110, '1', small, 3),
    at(114, 86, 'm', small, 4),
  ];
  assert.equal(latex([...before, sum, ...limits, at(126, 100, 'z')]), 'x = \\sum_{n = 1}^{m} z');
  const more = [...limits, at(126, 110, '+', small, 4), at(131, 110, 'k', small, 3)];
  assert.equal(latex([...before, sum, ...more, at(126, 100, 'z')]), 'x = \\sum_{n = 1 + k}^{m} z', 'a long one');
  const twelve = [at(95, 100, 'x', sized(12, MATH)), sum, at(126, 100, 'z', sized(12, MATH))];
  assert.equal(latex(twelve), 'x \\sum z', 'a sign that is smaller than the letters');
  const two = [
    sum,
    at(123, 92, '∑', LARGE, 12),
    at(112, 110, 'n', small, 3),
    at(117, 110, 'm', small, 20),
    at(136, 100, 'z'),
  ];
  assert.equal(latex(two), '\\sum_{nm} \\sum z', 'two signs, one limit');
  assert.equal(
    latex([sum, at(123, 92, '∑', LARGE, 12), at(136, 100, 'x'), at(141, 96, '2', small)]),
    '\\sum \\sum x^{2}',
  );
  const large = at(110, 100, '∑', sized(14, LARGE), 12);
  const many = [at(100, 100, 'x'), at(105, 96, 'a', small, 3), at(108, 96, 'b', small, 3), large, at(124, 100, 'z')];
  assert.equal(latex(many), 'x^{ab} \\sum z', 'a sign that is larger than the letters');
});

test('scripts: runs of them over a wide limit, high ones side by side, primes, small type on the line', () => {
  const sum = at(110, 100, '∑', LARGE, 12);
  const wide = [
    at(100, 100, 'x'),
    at(105, 96, 'i', small, 3),
    at(109, 96, 'j', small, 2),
    at(107, 108, 'kkkk', small, 20),
  ];
  assert.equal(latex([...wide, sum, at(124, 100, 'z')]), 'x^{ij} \\sum_{kkkk} z');
  const high = [at(100, 100, 'a'), at(105, 93, 'n', small, 3), at(107, 100, 'i', MATH, 2), at(109, 93, 'm', small, 3)];
  assert.equal(latex(high), 'a^{n}i^{m}');
  assert.equal(
    latex([at(100, 100, 'f'), at(105, 96, '′', sized(6, SIGNS), 2), at(109, 100, '='), at(116, 100, 'g')]),
    "f' = g",
  );
  assert.equal(latex([at(100, 100, 'x'), at(107, 100, '='), at(114, 100, 'y'), at(121, 100, 'z', small)]), 'x = yz');
  let size = 20;
  const nested = Array.from({ length: 13 }, (_, n) => {
    size *= 0.8;
    return at(100 + n * 5, 100 + n * 3, 'x', sized(size, MATH));
  });
  assert.equal(latex(nested).split('_').length - 1, 9, 'scripts of scripts have an end');
});
