// Checks the LaTeX writer and the MathML reader on small formulas; test/formulas.test.ts compares the readers of all formats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMarkdown } from '../markdown.ts';
import { parseHtml } from '../tree.ts';
import { accent, fence, fraction, name, scripts, signs, stacked, text } from './builder.ts';
import { writeLatex } from './latex.ts';

const latex = (characters: string): string => writeLatex(signs(characters));

const SIGNS: readonly (readonly [characters: string, latex: string])[] = [
  ['a+b=c', 'a + b = c'],
  ['-a=-b', '-a = -b'],
  ['(-a)/2', '(-a)/2'],
  ['a:=b', 'a := b'],
  ['f(x,y)', 'f(x, y)'],
  ['1,200+1,2+3.14', '1,200 + 1, 2 + 3.14'],
  ['[0,1)', '[0, 1)'],
  [']0,1[', ']0, 1['],
  ['(a', '(a'],
  ['a)', 'a)'],
  ['|−x|+|y|', '|-x| + |y|'],
  ['P(A|B)', 'P(A|B)'],
  ['|a|b|', '|a|b|'],
  ['‖x‖', '\\|x\\|'],
  ['⟨x⟩', '\\langle x\\rangle'],
  ['2∑x', '2 \\sum x'],
  ['αx', '\\alpha x'],
  ['α2', '\\alpha2'],
  ['a  b', 'a b'],
  ['( a )', '(a)'],
  ['5 °', '5^{\\circ}'],
  ['′', "{}'"],
  ['f′′', "f''"],
  ['50%', '50\\%'],
  ['{a_b}', '\\{a\\_b\\}'],
  ['#&$', '\\#\\&\\$'],
  ['a~b', 'a \\sim b'],
  ['a^b', 'a\\text{\\textasciicircum}b'],
  ['\\x', '\\backslash x'],
  ['µ∆\u2126', '\\mu\\Delta\\Omega'],
  ['𝐀𝐁𝑥𝛂ℝ', '\\mathbf{AB}x\\boldsymbol{\\alpha}\\mathbb{R}'],
  ['𝟏𝟐', '\\mathbf{12}'],
  ['é=été', '\\acute{e} = été'],
  ['x\u0338=\u0338y', 'x\u0338 \\neq y'],
  ['a\u2062b\u2061c', 'abc'],
];
for (const [characters, expected] of SIGNS)
  test(`writes ${JSON.stringify(characters)} as ${expected}`, () => assert.equal(latex(characters), expected));

const half = fraction(signs('1'), signs('2'));
const BUILT: readonly (readonly [title: string, actual: string, expected: string])[] = [
  ['a prime after a superscript', writeLatex([...scripts(signs('f'), [], signs('2')), ...signs('′')]), "f^{2}{}'"],
  ['a second superscript', writeLatex(scripts(scripts(signs('x'), [], signs('2')), [], signs('n'))), '{x^{2}}^{n}'],
  [
    'a subscript and then a superscript',
    writeLatex(scripts(scripts(signs('x'), signs('i'), []), [], signs('2'))),
    'x_{i}^{2}',
  ],
  ['scripts without a base', writeLatex(scripts([], signs('i'), [])), '{}_{i}'],
  ['scripts of several signs', writeLatex(scripts(signs('ab'), [], signs('2'))), '{ab}^{2}'],
  [
    'a bar in tall brackets',
    writeLatex(fence('(', [half, signs('x')], '|', ')')),
    '\\left( \\frac{1}{2}\\middle|x \\right)',
  ],
  ['a bracket that is not drawn', writeLatex(fence('', [signs('x')], ',', '|')), '\\left. x \\right|'],
  ['a slashed fraction', writeLatex(fraction(signs('a+b'), signs('c'), 'slash')), '{a + b}/c'],
  [
    'special characters of text',
    writeLatex(text('a_b 5% {c} ~^\\')),
    '\\text{a\\_b 5\\% \\{c\\} \\textasciitilde{}\\textasciicircum{}\\textbackslash{}}',
  ],
  ['a limit of an unknown operator', writeLatex(stacked(name('plim'), signs('n'), [])), '\\operatorname*{plim}_{n}'],
  ['a known operator with limits', writeLatex(stacked(name('argmax'), signs('x'), [])), '\\operatorname*{argmax}_{x}'],
  [
    'labels above and below a letter',
    writeLatex(stacked(signs('x'), signs('a'), signs('b'))),
    '\\underset{a}{\\overset{b}{x}}',
  ],
  ['an accent over several signs', writeLatex(accent('^', signs('ab'), 'above') ?? []), '\\widehat{ab}'],
];
for (const [title, actual, expected] of BUILT) test(`writes ${title}`, () => assert.equal(actual, expected));

test('uses \\left and \\right for 64 nested pairs of brackets, and plain brackets for deeper ones', () => {
  const nested = [...signs('('.repeat(70)), ...half, ...signs(')'.repeat(70))];
  assert.equal(writeLatex(nested).split('\\left(').length - 1, 64);
  assert.equal(latex('('.repeat(9_000)), '('.repeat(9_000));
});

test('writes a run of more than 10,000 characters as text', () => {
  assert.equal(latex('x+'.repeat(5_001)), `\\text{${'x+'.repeat(5_001)}}`);
});

const MATHML: readonly (readonly [title: string, mathml: string, latex: string])[] = [
  ['a prefix on the element names', '<m:math><m:mi>x</m:mi></m:math>', 'x'],
  ['a name with digits', '<math><mi>x1</mi></math>', '\\mathrm{x1}'],
  ['an upright letter', '<math><mi mathvariant="normal">d</mi><mi>x</mi></math>', '\\mathrm{d}x'],
  [
    'a variant of a complete row',
    '<math><mstyle mathvariant="bold"><mi>x</mi><mn>2</mn></mstyle></math>',
    '\\mathbf{x}\\mathbf{2}',
  ],
  ['a number with a decimal comma', '<math><mn>3,14</mn></math>', '3,14'],
  [
    'white space of the markup around text',
    '<math><mi> x </mi><mtext>\n if\u00a0</mtext><mi>y</mi></math>',
    'x\\text{ if }y',
  ],
  [
    'mfenced with separators',
    '<math><mfenced open="[" close="]" separators=";"><mi>a</mi><mi>b</mi></mfenced></math>',
    '[a; b]',
  ],
  ['mfenced without attributes', '<math><mfenced><mi>a</mi><mi>b</mi></mfenced></math>', '(a, b)'],
  ['a bevelled fraction', '<math><mfrac bevelled="true"><mi>a</mi><mi>b</mi></mfrac></math>', 'a/b'],
  ['scripts of a closing bracket', '<math><mo>(</mo><mi>a</mi><msup><mo>)</mo><mn>2</mn></msup></math>', '(a)^{2}'],
  ['menclose with a box', '<math><menclose notation="box"><mi>a</mi></menclose></math>', '\\boxed{a}'],
  ['mphantom as nothing', '<math><mi>a</mi><mphantom><mi>b</mi></mphantom></math>', 'a'],
  ['the first child of maction', '<math><maction><mi>a</mi><mi>b</mi></maction></math>', 'a'],
  [
    'an annotation of another language as nothing',
    '<math><semantics><mi>a</mi><annotation encoding="StarMath 5.0">b</annotation></semantics></math>',
    'a',
  ],
  [
    'mmultiscripts with empty slots',
    '<math><mmultiscripts><mi>T</mi><mi>a</mi><mrow></mrow><mrow></mrow><mi>b</mi></mmultiscripts></math>',
    'T_{a}{}^{b}',
  ],
  ['an accent that LaTeX does not have', '<math><mover><mi>a</mi><mo>*</mo></mover></math>', '\\overset{*}{a}'],
];
for (const [title, mathml, expected] of MATHML)
  test(`MathML: reads ${title}`, () => {
    assert.equal(toMarkdown(parseHtml(`<p>${mathml}</p>`).body.children, { webpage: false }), `$${expected}$`);
  });

test('MathML: reads a row with more atoms than a function call can have arguments', () => {
  const row = `<p><math><mrow>${`<mo>${'!'.repeat(10_000)}</mo>`.repeat(15)}</mrow></math></p>`;
  assert.equal(toMarkdown(parseHtml(row).body.children, { webpage: false }), `$${'!'.repeat(150_000)}$`);
});
