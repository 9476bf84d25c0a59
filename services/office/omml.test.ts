// Checks the parts of Office Math that no other format has; test/formulas.test.ts compares the formulas that all formats share.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseXml } from '#shared/readers/xml.ts';
import { formulaMarkup, ommlLatex } from './omml.ts';

const run = (text: string, properties = '') => `<m:r><m:rPr>${properties}</m:rPr><m:t>${text}</m:t></m:r>`;

const CASES: readonly (readonly [title: string, omml: string, latex: string])[] = [
  ['an n-ary operator without a character as an integral', `<m:nary><m:e>${run('x')}</m:e></m:nary>`, '\\int x'],
  ['delimiters without properties', `<m:d><m:e>${run('a')}</m:e><m:e>${run('b')}</m:e></m:d>`, '(a|b)'],
  [
    'delimiters with a separator',
    `<m:d><m:dPr><m:sepChr m:val=","/></m:dPr><m:e>${run('a')}</m:e><m:e>${run('b')}</m:e></m:d>`,
    '(a, b)',
  ],
  [
    'a root with a hidden degree',
    `<m:rad><m:radPr><m:degHide/></m:radPr><m:deg>${run('3')}</m:deg><m:e>${run('x')}</m:e></m:rad>`,
    '\\sqrt{x}',
  ],
  [
    'a root with a visible degree',
    `<m:rad><m:radPr><m:degHide m:val="off"/></m:radPr><m:deg>${run('3')}</m:deg><m:e>${run('x')}</m:e></m:rad>`,
    '\\sqrt[3]{x}',
  ],
  [
    'a linear fraction',
    `<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>${run('a')}</m:num><m:den>${run('b')}</m:den></m:f>`,
    'a/b',
  ],
  [
    'the name of a function without a style',
    `<m:func><m:fName>${run('log')}</m:fName><m:e>${run('n')}</m:e></m:func>`,
    '\\log n',
  ],
  [
    'a function with an exponent',
    `<m:func><m:fName><m:sSup><m:e>${run('sin')}</m:e><m:sup>${run('2')}</m:sup></m:sSup></m:fName><m:e>${run('x')}</m:e></m:func>`,
    '\\sin^{2} x',
  ],
  ['upright letters and signs', run('2 const=d', '<m:sty m:val="p"/>'), '2 \\mathrm{const} = \\mathrm{d}'],
  ['a line under a body', `<m:bar><m:e>${run('ab')}</m:e></m:bar>`, '\\underline{ab}'],
  ['an accent without a character as a circumflex', `<m:acc><m:e>${run('x')}</m:e></m:acc>`, '\\hat{x}'],
  [
    'an accent that LaTeX does not have',
    `<m:acc><m:accPr><m:chr m:val="*"/></m:accPr><m:e>${run('x')}</m:e></m:acc>`,
    '\\overset{*}{x}',
  ],
  [
    'a group without a character as a brace below',
    `<m:groupChr><m:e>${run('x')}</m:e></m:groupChr>`,
    '\\underbrace{x}',
  ],
  [
    'an arrow above a body',
    `<m:groupChr><m:groupChrPr><m:chr m:val="⇒"/><m:pos m:val="top"/></m:groupChrPr><m:e>${run('x')}</m:e></m:groupChr>`,
    '\\overset{\\Rightarrow}{x}',
  ],
  [
    'an equation array',
    `<m:eqArr><m:e>${run('a&amp;=b')}</m:e><m:e>${run('c&amp;=d')}</m:e></m:eqArr>`,
    '\\begin{aligned} a & = b \\\\ c & = d \\end{aligned}',
  ],
  ['a box with a border', `<m:borderBox><m:e>${run('x')}</m:e></m:borderBox>`, '\\boxed{x}'],
  [
    'a hidden phantom as nothing',
    `<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr><m:e>${run('x')}</m:e></m:phant>${run('y')}`,
    'y',
  ],
  ['deleted text as nothing', `<w:del>${run('x')}</w:del><w:ins>${run('y')}</w:ins>`, 'y'],
];

for (const [title, omml, latex] of CASES)
  test(`Office Math: reads ${title}`, () => {
    assert.equal(ommlLatex(parseXml(`<m:oMath>${omml}</m:oMath>`)), latex);
  });

test('escapes LaTeX in the markup and writes nothing for an empty formula', () => {
  assert.equal(formulaMarkup('a < b', true), '<span data-latex="a &lt; b" data-display="block">a &lt; b</span>');
  assert.equal(formulaMarkup('', false), '');
});
