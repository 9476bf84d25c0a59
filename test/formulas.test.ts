// Checks that one formula has the same LaTeX in docx, odt, html and pdf, because each format has a reader of its own.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { convertHtml } from '#services/html/html.ts';
import { convertOffice } from '#services/office/convert.ts';
import { convertLegacy } from '#services/office/libreoffice/soffice.ts';
import type { Ruling, TextStyle, Word } from '#services/pdf/source/page-model.ts';
import { formulaLatex } from '#services/pdf/text/latex.ts';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument } from '#shared/document/document.ts';
import { renderRecord } from '#shared/document/render.ts';
import { ITALIC, line, PLAIN, sized } from './harness/documents/pdf-pages.ts';
import { zipOf } from './harness/zip.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: false,
  blockAds: false,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

// Builders of Office Math elements.
const r = (text: string, properties = '') =>
  `<m:r>${properties && `<m:rPr>${properties}</m:rPr>`}<m:t>${text}</m:t></m:r>`;
const el = (name: string, inside: string) => `<m:${name}>${inside}</m:${name}>`;
const val = (name: string, value: string) => `<m:${name} m:val="${value}"/>`;
const e = (inside: string) => el('e', inside);
const sup = (base: string, above: string) => el('sSup', e(base) + el('sup', above));
const sub = (base: string, below: string) => el('sSub', e(base) + el('sub', below));
const frac = (over: string, under: string) => el('f', el('num', over) + el('den', under));
const fence = (inside: string, open = '(', close = ')') =>
  el('d', el('dPr', val('begChr', open) + val('endChr', close)) + e(inside));
const nary = (operator: string, below: string, above: string, body: string) =>
  el('nary', el('naryPr', val('chr', operator)) + el('sub', below) + el('sup', above) + e(body));
const func = (name: string, body: string) => el('func', el('fName', name) + e(body));
const rows = (name: string, ...cells: string[][]) =>
  el(name, cells.map((row) => el('mr', row.map((cell) => e(r(cell))).join(''))).join(''));

// Builders of MathML elements.
const mi = (text: string, attributes = '') => `<mi${attributes}>${text}</mi>`;
const mn = (text: string) => `<mn>${text}</mn>`;
const mo = (text: string) => `<mo>${text}</mo>`;
const ml = (name: string, ...inside: string[]) => `<${name}>${inside.join('')}</${name}>`;
const table = (...cells: string[][]) =>
  ml('mtable', ...cells.map((row) => ml('mtr', ...row.map((cell) => ml('mtd', mi(cell))))));
const APPLY = mo('\u2061');

// Words of a PDF page, from left to right on the baseline 100.
const MATH: TextStyle = { ...ITALIC, font: 'CMMI10' };
type Placed = readonly [text: string, shift?: number, style?: TextStyle];
const small = sized(6, MATH);
const words = (...placed: readonly Placed[]): Word[] => {
  let x = 100;
  return placed.flatMap(([text, shift = 0, style = MATH]) => {
    const made = line(x, 100 + shift, text, style, 2);
    x = (made.at(-1)?.box.x1 ?? x) + 2;
    return made;
  });
};
const at = (x: number, y: number, text: string, style = MATH) => line(x, y, text, style);
const bar = (y: number, start: number, end: number): Ruling => ({
  horizontal: true,
  at: y,
  start,
  end,
  thickness: 0.4,
  color: 0,
});

interface Row {
  latex: string;
  omml: string;
  mathml: string;
  /** Absent if the PDF reader does not recognize this structure. */
  pdf?: { words: Word[]; bars?: Ruling[] };
}

const ROWS: Readonly<Record<string, Row>> = {
  'both forms of phi and epsilon': {
    latex: '\\varphi + \\phi = \\varepsilon + \\epsilon',
    omml: r('φ+ϕ=ε+ϵ'),
    mathml: mi('φ') + mo('+') + mi('ϕ') + mo('=') + mi('ε') + mo('+') + mi('ϵ'),
    pdf: { words: words(['φ'], ['+'], ['ϕ'], ['='], ['ε'], ['+'], ['ϵ']) },
  },
  'relations and arrows': {
    latex: 'a \\leq b \\geq c \\neq d \\rightarrow e',
    omml: r('a≤b≥c≠d→e'),
    mathml: ['a', 'b', 'c', 'd'].map((one, i) => mi(one) + mo('≤≥≠→'.charAt(i))).join('') + mi('e'),
    pdf: { words: words(['a'], ['≤'], ['b'], ['≥'], ['c'], ['≠'], ['d'], ['→'], ['e']) },
  },
  'binary operators and a sign in front of an operand': {
    latex: 'x \\wedge y = -z \\cdot 2',
    omml: r('x∧y=−z⋅2'),
    mathml: mi('x') + mo('∧') + mi('y') + mo('=') + mo('−') + mi('z') + mo('⋅') + mn('2'),
    pdf: { words: words(['x'], ['∧'], ['y'], ['='], ['−'], ['z'], ['⋅'], ['2', 0, PLAIN]) },
  },
  'a command before a letter': {
    latex: '2\\pi r',
    omml: r('2πr'),
    mathml: mn('2') + mi('π') + mi('r'),
    pdf: { words: words(['2', 0, PLAIN], ['π'], ['r']) },
  },
  'scripts of a letter and of a number': {
    latex: 'x_{i}^{2} + 10^{-3}',
    omml: el('sSubSup', e(r('x')) + el('sub', r('i')) + el('sup', r('2'))) + r('+') + sup(r('10'), r('−3')),
    mathml: ml('msubsup', mi('x'), mi('i'), mn('2')) + mo('+') + ml('msup', mn('10'), ml('mrow', mo('−'), mn('3'))),
    pdf: { words: words(['x'], ['i', 3, small], ['2', -4, small], ['+'], ['10', 0, PLAIN], ['−3', -4, small]) },
  },
  'scripts of a bracket and of a fraction': {
    latex: '(a + b)^{2} = {\\frac{c}{d}}^{n}',
    omml: sup(fence(r('a+b')), r('2')) + r('=') + sup(frac(r('c'), r('d')), r('n')),
    mathml:
      ml('msup', ml('mrow', mo('('), mi('a'), mo('+'), mi('b'), mo(')')), mn('2')) +
      mo('=') +
      ml('msup', ml('mfrac', mi('c'), mi('d')), mi('n')),
    pdf: {
      words: [
        ...words(['(a'], ['+'], ['b)'], ['2', -4, small], ['=']),
        ...[...at(160, 94, 'c'), ...at(160, 108, 'd'), ...at(170, 96, 'n', small)],
      ],
      bars: [bar(98, 159, 166)],
    },
  },
  primes: {
    latex: "f'(x) = g'",
    omml: sup(r('f'), r('′')) + fence(r('x')) + r('=g′'),
    mathml: ml('msup', mi('f'), mo('′')) + mo('(') + mi('x') + mo(')') + mo('=') + ml('msup', mi('g'), mo('′')),
    pdf: { words: words(['f'], ['′', -4, small], ['(x)'], ['='], ['g′']) },
  },
  degrees: {
    latex: '\\alpha = 90^{\\circ}',
    omml: r('α=90°'),
    mathml: mi('α') + mo('=') + mn('90') + mo('°'),
    pdf: { words: words(['α'], ['='], ['90°', 0, PLAIN]) },
  },
  'a fraction with a root': {
    latex: 'x = \\frac{-b \\pm \\sqrt{b^{2} - 4ac}}{2a}',
    omml:
      r('x=') +
      frac(r('−b±') + el('rad', el('radPr', val('degHide', '1')) + e(sup(r('b'), r('2')) + r('−4ac'))), r('2a')),
    mathml:
      mi('x') +
      mo('=') +
      ml(
        'mfrac',
        ml(
          'mrow',
          mo('−') + mi('b') + mo('±'),
          ml('msqrt', ml('msup', mi('b'), mn('2')), mo('−'), mn('4'), mi('a'), mi('c')),
        ),
        ml('mrow', mn('2'), mi('a')),
      ),
    pdf: {
      words: [
        ...[...at(80, 100, 'x'), ...at(88, 100, '=')],
        ...[...at(100, 92, '−'), ...at(106, 92, 'b'), ...at(113, 92, '±'), ...at(120, 92, '√')],
        ...[...at(126, 92, 'b'), ...at(132, 88, '2', small), ...at(139, 92, '−'), ...at(146, 92, '4ac')],
        ...at(126, 112, '2a'),
      ],
      bars: [bar(84, 125, 162), bar(100, 99, 163)],
    },
  },
  'a root with a degree': {
    latex: '\\sqrt[3]{x}',
    omml: el('rad', el('deg', r('3')) + e(r('x'))),
    mathml: ml('mroot', mi('x'), mn('3')),
  },
  'a sum with limits': {
    latex: '\\sum_{n = 1}^{m} z_{n}',
    omml: nary('∑', r('n=1'), r('m'), sub(r('z'), r('n'))),
    mathml: ml('munderover', mo('∑'), ml('mrow', mi('n'), mo('='), mn('1')), mi('m')) + ml('msub', mi('z'), mi('n')),
    pdf: {
      words: [
        ...[...at(100, 100, '∑', sized(10, { ...PLAIN, font: 'CMEX10' })), ...at(100, 110, 'n', small)],
        ...[...at(105, 110, '=', small), ...at(110, 110, '1', small), ...at(101, 88, 'm', small)],
        ...[...at(118, 100, 'z'), ...at(124, 103, 'n', small)],
      ],
    },
  },
  'an integral of a product': {
    latex: '\\int_{0}^{\\infty} f(x) = 1',
    omml: nary('∫', r('0'), r('∞'), r('f') + fence(r('x'))) + r('=1'),
    mathml: ml('msubsup', mo('∫'), mn('0'), mi('∞')) + mi('f') + mo('(') + mi('x') + mo(')') + mo('=') + mn('1'),
    pdf: { words: words(['∫'], ['0', 4, small], ['∞', -7, small], ['f(x)'], ['='], ['1', 0, PLAIN]) },
  },
  'a function with a LaTeX command': {
    latex: '\\sin x + \\cos(y)',
    omml: func(r('sin', val('sty', 'p')), r('x')) + r('+') + func(r('cos', val('sty', 'p')), fence(r('y'))),
    mathml: mi('sin') + APPLY + mi('x') + mo('+') + mi('cos') + APPLY + mo('(') + mi('y') + mo(')'),
    pdf: { words: words(['sin', 0, PLAIN], ['x'], ['+'], ['cos', 0, PLAIN], ['(y)']) },
  },
  'a function without a LaTeX command': {
    latex: '\\operatorname{tr} A',
    omml: func(r('tr', val('sty', 'p')), r('A')),
    mathml: mi('tr') + APPLY + mi('A'),
  },
  'an upright name': {
    latex: 'x_{\\mathrm{ref}} = \\mathrm{const}',
    omml: sub(r('x'), r('ref', val('nor', '0') + val('sty', 'p'))) + r('=') + r('const', val('sty', 'p')),
    mathml: ml('msub', mi('x'), mi('ref')) + mo('=') + mi('const'),
  },
  'a limit': {
    latex: '\\lim_{x \\rightarrow 0} \\frac{1}{x}',
    omml: func(el('limLow', e(r('lim', val('sty', 'p'))) + el('lim', r('x→0'))), frac(r('1'), r('x'))),
    mathml: ml('munder', mo('lim'), ml('mrow', mi('x'), mo('→'), mn('0'))) + ml('mfrac', mn('1'), mi('x')),
  },
  'brackets around a fraction': {
    latex: '\\left( \\frac{a}{b} \\right)^{2}',
    omml: sup(fence(frac(r('a'), r('b'))), r('2')),
    mathml: ml('msup', ml('mrow', mo('('), ml('mfrac', mi('a'), mi('b')), mo(')')), mn('2')),
    pdf: {
      words: [
        ...at(104, 100, '('),
        ...at(112, 94, 'a'),
        ...at(112, 108, 'b'),
        ...at(120, 100, ')'),
        ...at(126, 96, '2', small),
      ],
      bars: [bar(98, 111, 118)],
    },
  },
  'an absolute value and a set': {
    latex: '|x - y| \\in \\{a, b\\}',
    omml: fence(r('x-y'), '|', '|') + r('∈') + fence(r('a,b'), '{', '}'),
    mathml: [mo('|'), mi('x'), mo('−'), mi('y'), mo('|'), mo('∈'), mo('{'), mi('a'), mo(','), mi('b'), mo('}')].join(
      '',
    ),
    pdf: { words: words(['|x'], ['−'], ['y|'], ['∈'], ['{a,'], ['b}']) },
  },
  'a matrix in brackets': {
    latex: '\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}',
    omml: fence(rows('m', ['a', 'b'], ['c', 'd'])),
    mathml: mo('(') + table(['a', 'b'], ['c', 'd']) + mo(')'),
  },
  cases: {
    latex: 'f = \\begin{cases} a & b \\\\ c & d \\end{cases}',
    omml: r('f=') + fence(el('eqArr', e(r('a&amp;b')) + e(r('c&amp;d'))), '{', ''),
    mathml: mi('f') + mo('=') + mo('{') + table(['a', 'b'], ['c', 'd']),
  },
  accents: {
    latex: '\\hat{x} + \\bar{y} + \\vec{v} + \\overline{ab}',
    omml:
      ['x\u0302', 'y\u0304', 'v\u20d7']
        .map((one) => el('acc', el('accPr', val('chr', one.charAt(1))) + e(r(one.charAt(0)))))
        .join(r('+')) +
      r('+') +
      el('bar', el('barPr', val('pos', 'top')) + e(r('ab'))),
    mathml:
      ['x^', 'y¯', 'v→'].map((one) => ml('mover', mi(one.charAt(0)), mo(one.charAt(1)))).join(mo('+')) +
      mo('+') +
      ml('mover', ml('mrow', mi('a'), mi('b')), mo('‾')),
  },
  'an accented letter': {
    latex: '\\hat{\\alpha} = \\bar{x}',
    omml: r('α\u0302=x\u0304'),
    mathml: mi('α\u0302') + mo('=') + mi('x\u0304'),
    pdf: { words: words(['α\u0302'], ['='], ['x\u0304']) },
  },
  'braces with a label': {
    latex: '\\underbrace{a + b}_{n}',
    omml: el('limLow', e(el('groupChr', el('groupChrPr', val('chr', '⏟')) + e(r('a+b')))) + el('lim', r('n'))),
    mathml: ml('munder', ml('munder', ml('mrow', mi('a'), mo('+'), mi('b')), mo('⏟')), mi('n')),
  },
  'a label over an arrow': {
    latex: 'a \\overset{f}{\\rightarrow} b',
    omml: r('a') + el('limUpp', e(r('→')) + el('lim', r('f'))) + r('b'),
    mathml: mi('a') + ml('mover', mo('→'), mi('f')) + mi('b'),
  },
  alphabets: {
    latex: '\\mathbf{v} \\in \\mathbb{R}^{n}, \\mathcal{L}\\mathfrak{g}',
    omml:
      r('v', val('sty', 'b')) +
      r('∈') +
      sup(r('R', val('scr', 'double-struck')), r('n')) +
      r(',') +
      r('L', val('scr', 'script')) +
      r('𝔤'),
    mathml: mi('v', ' mathvariant="bold"') + mo('∈') + ml('msup', mi('ℝ'), mi('n')) + mo(',') + mi('ℒ') + mi('𝔤'),
    pdf: {
      words: words(
        ['v', 0, { ...PLAIN, bold: true }],
        ['∈'],
        ['R', 0, { ...PLAIN, font: 'MSBM10' }],
        ['n', -4, small],
        [','],
        ['L', 0, { ...PLAIN, font: 'CMSY10' }],
        ['g', 0, { ...PLAIN, font: 'EUFM10' }],
      ),
    },
  },
  'text between symbols': {
    latex: 'x = 1\\text{ if }50\\% \\leq y',
    omml: r('x=1') + r(' if ', val('nor', '1')) + r('50%≤y'),
    mathml: mi('x') + mo('=') + mn('1') + ml('mtext', '\u00a0if\u00a0') + mn('50') + mo('%') + mo('≤') + mi('y'),
  },
  'scripts before their base': {
    latex: '{}_{6}^{12}C',
    omml: el('sPre', el('sub', r('6')) + el('sup', r('12')) + e(r('C'))),
    mathml: ml('mmultiscripts', mi('C'), '<mprescripts/>', mn('6'), mn('12')),
  },
  'a binomial coefficient': {
    latex: '\\binom{n}{k}',
    omml: el('f', el('fPr', val('type', 'noBar')) + el('num', r('n')) + el('den', r('k'))),
    mathml: `<mfrac linethickness="0">${mi('n')}${mi('k')}</mfrac>`,
  },
};

const context: JobContext = {
  requestId: 'request-1',
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  volatile: false,
  call: () => Promise.reject(new Error('the office service calls no other service')),
};

function docx(): Buffer {
  const paragraphs = Object.values(ROWS).map(({ omml }) => `<w:p><m:oMath>${omml}</m:oMath></w:p>`);
  return zipOf([
    { name: '[Content_Types].xml', content: '<Types/>' },
    { name: 'word/document.xml', content: `<w:document><w:body>${paragraphs.join('')}</w:body></w:document>` },
  ]);
}

function odt(): Buffer {
  const paragraphs = Object.values(ROWS).map(
    ({ mathml }) => `<text:p><draw:frame><draw:object><math>${mathml}</math></draw:object></draw:frame></text:p>`,
  );
  return zipOf([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text', method: 0 },
    {
      name: 'content.xml',
      content: `<o:document-content><o:body><o:text>${paragraphs.join('')}</o:text></o:body></o:document-content>`,
    },
  ]);
}

/** The LaTeX of each paragraph. */
function formulasOf(document: ConvertedDocument): string[] {
  const markdown = renderRecord(document, OPTIONS).fields.markdown ?? '';
  return markdown
    .trim()
    .split('\n\n')
    .map((formula) => formula.replace(/^\$(.*)\$$/, '$1'));
}

const office = async (fileName: string, bytes: Buffer) =>
  formulasOf(await convertOffice({ bytes, fileName, extension: fileName.slice(1) }, OPTIONS, context, convertLegacy));

const READERS: Readonly<Record<string, () => Promise<string[]>>> = {
  docx: () => office('a.docx', docx()),
  odt: () => office('a.odt', odt()),
  html: async () => {
    const body = Object.values(ROWS).map(({ mathml }) => `<p><math>${mathml}</math></p>`);
    return formulasOf(convertHtml({ bytes: Buffer.from(body.join('')), fileName: 'a.html', extension: '.html' }));
  },
};

for (const [format, read] of Object.entries(READERS)) {
  let formulas: string[] = [];
  before(async () => {
    formulas = await read();
  });
  Object.entries(ROWS).forEach(([name, { latex }], i) => {
    test(`${format}: writes ${name} as ${latex}`, () => assert.equal(formulas[i], latex));
  });
}

for (const [name, { latex, pdf }] of Object.entries(ROWS))
  if (pdf) test(`pdf: writes ${name} as ${latex}`, () => assert.equal(formulaLatex(pdf.words, pdf.bars ?? []), latex));
