// Office Math (OMML, ECMA-376-1 22.1) as LaTeX, so that formulas survive as something that can be rendered again.
import { childElement, childElements, textContent, type XmlElement } from '#shared/readers/xml.ts';

const SYMBOLS: Record<string, string> = {
  α: '\\alpha',
  β: '\\beta',
  γ: '\\gamma',
  δ: '\\delta',
  ε: '\\varepsilon',
  ϵ: '\\epsilon',
  ζ: '\\zeta',
  η: '\\eta',
  θ: '\\theta',
  ϑ: '\\vartheta',
  ι: '\\iota',
  κ: '\\kappa',
  λ: '\\lambda',
  μ: '\\mu',
  ν: '\\nu',
  ξ: '\\xi',
  π: '\\pi',
  ρ: '\\rho',
  σ: '\\sigma',
  ς: '\\varsigma',
  τ: '\\tau',
  υ: '\\upsilon',
  φ: '\\varphi',
  ϕ: '\\phi',
  χ: '\\chi',
  ψ: '\\psi',
  ω: '\\omega',
  Γ: '\\Gamma',
  Δ: '\\Delta',
  Θ: '\\Theta',
  Λ: '\\Lambda',
  Ξ: '\\Xi',
  Π: '\\Pi',
  Σ: '\\Sigma',
  Υ: '\\Upsilon',
  Φ: '\\Phi',
  Ψ: '\\Psi',
  Ω: '\\Omega',
  '∞': '\\infty',
  '∂': '\\partial',
  '∇': '\\nabla',
  '±': '\\pm',
  '∓': '\\mp',
  '×': '\\times',
  '÷': '\\div',
  '⋅': '\\cdot',
  '·': '\\cdot',
  '∗': '*',
  '∘': '\\circ',
  '≤': '\\leq',
  '≥': '\\geq',
  '≠': '\\neq',
  '≈': '\\approx',
  '≡': '\\equiv',
  '∼': '\\sim',
  '≅': '\\cong',
  '∝': '\\propto',
  '≪': '\\ll',
  '≫': '\\gg',
  '∈': '\\in',
  '∉': '\\notin',
  '∋': '\\ni',
  '⊂': '\\subset',
  '⊃': '\\supset',
  '⊆': '\\subseteq',
  '⊇': '\\supseteq',
  '∪': '\\cup',
  '∩': '\\cap',
  '∅': '\\emptyset',
  '∧': '\\land',
  '∨': '\\lor',
  '¬': '\\neg',
  '∀': '\\forall',
  '∃': '\\exists',
  '→': '\\rightarrow',
  '←': '\\leftarrow',
  '↔': '\\leftrightarrow',
  '⇒': '\\Rightarrow',
  '⇐': '\\Leftarrow',
  '⇔': '\\Leftrightarrow',
  '↦': '\\mapsto',
  '↑': '\\uparrow',
  '↓': '\\downarrow',
  '…': '\\ldots',
  '⋯': '\\cdots',
  '⋮': '\\vdots',
  '⋱': '\\ddots',
  '′': "'",
  '″': "''",
  '∑': '\\sum',
  '∏': '\\prod',
  '∐': '\\coprod',
  '∫': '\\int',
  '∬': '\\iint',
  '∭': '\\iiint',
  '∮': '\\oint',
  '⋃': '\\bigcup',
  '⋂': '\\bigcap',
  '√': '\\surd',
  '⊕': '\\oplus',
  '⊗': '\\otimes',
  '⊥': '\\perp',
  '∥': '\\parallel',
  '∠': '\\angle',
  ℝ: '\\mathbb{R}',
  ℕ: '\\mathbb{N}',
  ℤ: '\\mathbb{Z}',
  ℚ: '\\mathbb{Q}',
  ℂ: '\\mathbb{C}',
  ℏ: '\\hbar',
  ℓ: '\\ell',
  '⟨': '\\langle',
  '⟩': '\\rangle',
  '‖': '\\|',
  '⌊': '\\lfloor',
  '⌋': '\\rfloor',
  '⌈': '\\lceil',
  '⌉': '\\rceil',
  '−': '-',
  '\u2061': '',
  '\u2062': '',
  '\u2063': ',',
  '\u00a0': '~',
  '°': '^{\\circ}',
  '{': '\\{',
  '}': '\\}',
  '%': '\\%',
  '#': '\\#',
  '&': '\\&',
  _: '\\_',
  $: '\\$',
  '\\': '\\backslash',
};

const ACCENTS: Record<string, string> = {
  '\u0302': '\\hat',
  '\u0303': '\\tilde',
  '\u0304': '\\bar',
  '\u0305': '\\overline',
  '\u0307': '\\dot',
  '\u0308': '\\ddot',
  '\u20db': '\\dddot',
  '\u030c': '\\check',
  '\u0306': '\\breve',
  '\u0301': '\\acute',
  '\u0300': '\\grave',
  '\u20d7': '\\vec',
  '\u20d6': '\\overleftarrow',
  '\u20e1': '\\overleftrightarrow',
  '^': '\\hat',
  '~': '\\tilde',
  '¯': '\\bar',
  '→': '\\vec',
};

const FUNCTIONS = new Set([
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'sinh',
  'cosh',
  'tanh',
  'coth',
  'arcsin',
  'arccos',
  'arctan',
  'log',
  'ln',
  'lg',
  'exp',
  'lim',
  'max',
  'min',
  'sup',
  'inf',
  'det',
  'dim',
  'gcd',
  'ker',
  'arg',
  'deg',
  'Pr',
  'hom',
]);
const LIMIT_OPERATORS = new Set(['lim', 'max', 'min', 'sup', 'inf', 'limsup', 'liminf']);

/** Letters of the mathematical alphabets (U+1D400...) as plain ones; NFKC keeps what they mean apart from the style. */
function plainLetters(text: string): string {
  return /[\ud835]/.test(text) ? text.replace(/[\ud835][\udc00-\udfff]/g, (letter) => letter.normalize('NFKC')) : text;
}

function symbols(text: string): string {
  let latex = '';
  for (const character of plainLetters(text)) {
    const symbol = SYMBOLS[character];
    if (symbol === undefined) {
      // A command swallows the letter behind it unless something stands between.
      if (/\\[a-zA-Z]+$/.test(latex) && /[a-zA-Z]/.test(character)) latex += ' ';
      latex += character;
    } else latex += symbol;
  }
  return latex;
}

/** Joins pieces, with a space where a command would run into a letter. */
function join(pieces: string[]): string {
  let latex = '';
  for (const piece of pieces) latex += /\\[a-zA-Z]+$/.test(latex) && /^[a-zA-Z]/.test(piece) ? ` ${piece}` : piece;
  return latex;
}

function value(element: XmlElement | undefined, ...path: string[]): string | undefined {
  let at = element;
  for (const local of path) at = childElement(at, local);
  return at?.attributes['m:val'] ?? (at ? Object.values(at.attributes)[0] : undefined);
}

function isOff(flag: string | undefined): boolean {
  return flag === '0' || flag === 'off' || flag === 'false';
}

function part(element: XmlElement, local: string): string {
  const found = childElement(element, local);
  return found ? sequence(found) : '';
}

function sequence(element: XmlElement): string {
  return join(childElements(element).map(convert)).trim();
}

function fence(mark: string, side: 'left' | 'right'): string {
  return `\\${side}${mark === '' ? '.' : symbols(mark)}`;
}

function delimiters(element: XmlElement): string {
  const properties = childElement(element, 'dPr');
  const begin = value(properties, 'begChr') ?? '(';
  const end = value(properties, 'endChr') ?? ')';
  const separator = value(properties, 'sepChr') ?? '|';
  const inside = childElements(element, 'e').map(sequence).join(symbols(separator));
  if (/^\\begin\{matrix\}[\s\S]*\\end\{matrix\}$/.test(inside)) {
    const kind = begin === '(' ? 'pmatrix' : begin === '[' ? 'bmatrix' : begin === '|' ? 'vmatrix' : undefined;
    if (kind)
      return inside.replace('\\begin{matrix}', `\\begin{${kind}}`).replace(/\\end\{matrix\}$/, `\\end{${kind}}`);
  }
  const tall = /\\(?:frac|sum|int|prod|begin|binom)/.test(inside);
  if (!tall && begin !== '' && end !== '') {
    const left = symbols(begin);
    return `${left}${/[a-zA-Z]$/.test(left) ? ' ' : ''}${inside}${symbols(end)}`;
  }
  return `${fence(begin, 'left')} ${inside} ${fence(end, 'right')}`;
}

function nary(element: XmlElement): string {
  const operator = symbols(value(element, 'naryPr', 'chr') ?? '∫');
  const below = part(element, 'sub');
  const above = part(element, 'sup');
  return `${operator}${below ? `_{${below}}` : ''}${above ? `^{${above}}` : ''} ${part(element, 'e')}`;
}

function functionName(element: XmlElement): string {
  const name = part(element, 'fName');
  const bare = name.replace(/^\\(?:operatorname|mathrm)\{(.*)\}$/, '$1');
  if (FUNCTIONS.has(bare)) return `\\${bare}`;
  const limit = /^([a-z]+)(_\{[\s\S]*)$/.exec(name);
  if (limit?.[1] && LIMIT_OPERATORS.has(limit[1])) return `\\${limit[1]}${limit[2]}`;
  return /^[A-Za-z]{2,}$/.test(bare) ? `\\operatorname{${bare}}` : name;
}

function fraction(element: XmlElement): string {
  const kind = value(element, 'fPr', 'type');
  const [over, under] = [part(element, 'num'), part(element, 'den')];
  if (kind === 'lin' || kind === 'skw') return `${over}/${under}`;
  if (kind === 'noBar') return `\\binom{${over}}{${under}}`;
  return `\\frac{${over}}{${under}}`;
}

function run(element: XmlElement): string {
  const text = childElements(element, 't').map(textContent).join('');
  const properties = childElement(element, 'rPr');
  if (properties && childElement(properties, 'nor'))
    return /^\s*$/.test(text) ? ' ' : `\\text{${text.replace(/[{}\\$%#&_]/g, '\\$&')}}`;
  return symbols(text);
}

/** A base that holds more than one token is braced before it takes a script. */
function base(latex: string): string {
  return /^(?:\\?[A-Za-z0-9]|\\[A-Za-z]+|)$/.test(latex) || /^[([].*[)\]]$/.test(latex) ? latex : `{${latex}}`;
}

function convert(element: XmlElement): string {
  switch (element.local) {
    case 'r':
      return run(element);
    case 't':
      return symbols(textContent(element));
    case 'f':
      return fraction(element);
    case 'sSup':
      return `${base(part(element, 'e'))}^{${part(element, 'sup')}}`;
    case 'sSub':
      return `${base(part(element, 'e'))}_{${part(element, 'sub')}}`;
    case 'sSubSup':
      return `${base(part(element, 'e'))}_{${part(element, 'sub')}}^{${part(element, 'sup')}}`;
    case 'sPre':
      return `{}_{${part(element, 'sub')}}^{${part(element, 'sup')}}${part(element, 'e')}`;
    case 'rad': {
      const degree =
        isOff(value(element, 'radPr', 'degHide')) || !childElement(childElement(element, 'radPr'), 'degHide')
          ? part(element, 'deg')
          : '';
      return `\\sqrt${degree ? `[${degree}]` : ''}{${part(element, 'e')}}`;
    }
    case 'nary':
      return nary(element);
    case 'd':
      return delimiters(element);
    case 'func':
      return `${functionName(element)} ${part(element, 'e')}`;
    case 'limLow':
      return `${part(element, 'e')}_{${part(element, 'lim')}}`;
    case 'limUpp':
      return `${part(element, 'e')}^{${part(element, 'lim')}}`;
    case 'm':
      return `\\begin{matrix}${childElements(element, 'mr')
        .map((row) => childElements(row, 'e').map(sequence).join(' & '))
        .join(' \\\\ ')}\\end{matrix}`;
    case 'eqArr':
      return `\\begin{aligned}${childElements(element, 'e').map(sequence).join(' \\\\ ')}\\end{aligned}`;
    case 'acc':
      return `${ACCENTS[value(element, 'accPr', 'chr') ?? '\u0302'] ?? '\\hat'}{${part(element, 'e')}}`;
    case 'bar':
      return `${value(element, 'barPr', 'pos') === 'top' ? '\\overline' : '\\underline'}{${part(element, 'e')}}`;
    case 'groupChr': {
      const top = value(element, 'groupChrPr', 'pos') === 'top';
      return `${top ? '\\overbrace' : '\\underbrace'}{${part(element, 'e')}}`;
    }
    case 'borderBox':
      return `\\boxed{${part(element, 'e')}}`;
    case 'del':
    case 'moveFrom':
      return '';
    default:
      return element.local.endsWith('Pr') ? '' : sequence(element);
  }
}

/** LaTeX of an `m:oMath` or `m:oMathPara` element, without delimiters. */
export function latexOf(math: XmlElement): string {
  return sequence(math).replace(/ {2,}/g, ' ');
}

/** The interchange's markup for a formula (the renderer writes `$..$` or `$$..$$` from `data-latex`). */
export function mathMarkup(latex: string, display: boolean): string {
  const value = latex.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  if (value === '') return '';
  return `<span data-latex="${value}"${display ? ' data-display="block"' : ''}>${value}</span>`;
}
