// Gives formulas as LaTeX: the author's own where the markup carries it, else written from presentation MathML.
import type { ChildNode, Element } from 'domhandler';
import { isElement, isText, textOf, walk } from './dom.ts';

export interface Formula {
  latex: string;
  /** Set on a line of its own. */
  display: boolean;
}

const TEX_ENCODING = /^(?:application\/x-tex|text\/x-tex|tex|latex|application\/x-latex)$/i;

/** The formula an element stands for, or undefined where it is none (or an empty one). */
export function formulaOf(element: Element): Formula | undefined {
  const given = element.attribs['data-latex'];
  if (given !== undefined)
    return finish(
      given,
      element.name === 'div' ||
        element.name === 'p' ||
        element.attribs['data-display'] === 'block' ||
        element.attribs.display === 'block',
    );
  if (element.name === 'math' || element.name === 'mml:math' || element.name === 'm:math') return fromMath(element);
  if (/\b(?:katex|katex-display|mwe-math-element)\b/.test(element.attribs.class ?? '')) {
    let math: Element | undefined;
    walk([element], (node) => {
      if (isElement(node) && node.name === 'math') math ??= node;
      return math === undefined;
    });
    if (math === undefined) return undefined;
    const formula = fromMath(math);
    return formula && /\bkatex-display\b/.test(element.attribs.class ?? '') ? { ...formula, display: true } : formula;
  }
  return undefined;
}

function fromMath(math: Element): Formula | undefined {
  const display = math.attribs.display === 'block' || math.attribs.mode === 'display';
  let annotation: string | undefined;
  walk([math], (node) => {
    if (isElement(node) && localName(node) === 'annotation' && TEX_ENCODING.test(node.attribs.encoding ?? ''))
      annotation ??= textOf(node.children);
    return annotation === undefined;
  });
  const latex = annotation ?? (math.attribs.alttext?.trim() ? math.attribs.alttext : row(math.children));
  return finish(latex, display);
}

function finish(latex: string, display: boolean): Formula | undefined {
  const body = unwrap(latex.replace(/\s+/g, ' ').trim());
  return body === '' ? undefined : { latex: body, display };
}

/** Drops what only says how MediaWiki and MathJax wrap a formula: `{\displaystyle ...}`, `\(...\)`, `$...$`. */
function unwrap(latex: string): string {
  const wrapped = /^\{\\(?:displaystyle|textstyle)\s+(.*)\}$/.exec(latex)?.[1];
  if (wrapped !== undefined && bracesBalance(wrapped)) return wrapped.trim();
  const fenced = /^(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)$/.exec(latex);
  return (fenced?.slice(1).find((part) => part !== undefined) ?? latex).trim();
}

function bracesBalance(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth++;
    else if (character === '}' && --depth < 0) return false;
  }
  return depth === 0;
}

/** `$...$` or, on its own lines, `$$...$$`. */
export function formulaMarkdown(formula: Formula, cell = false): string {
  const fence = formula.display && !cell ? '$$' : '$';
  const body = cell ? formula.latex.replaceAll('|', '\\|') : formula.latex;
  return `${fence}${body}${fence}`;
}

// Presentation MathML (MathML Core, chapter 3).

const OPERATORS: Readonly<Record<string, string>> = {
  '\u2212': '-',
  '\u00d7': '\\times ',
  '\u00f7': '\\div ',
  '\u22c5': '\\cdot ',
  '\u00b7': '\\cdot ',
  '\u00b1': '\\pm ',
  '\u2213': '\\mp ',
  '\u2264': '\\le ',
  '\u2265': '\\ge ',
  '\u2260': '\\ne ',
  '\u2248': '\\approx ',
  '\u2261': '\\equiv ',
  '\u221d': '\\propto ',
  '\u223c': '\\sim ',
  '\u2208': '\\in ',
  '\u2209': '\\notin ',
  '\u2282': '\\subset ',
  '\u2286': '\\subseteq ',
  '\u222a': '\\cup ',
  '\u2229': '\\cap ',
  '\u2200': '\\forall ',
  '\u2203': '\\exists ',
  '\u2192': '\\to ',
  '\u21d2': '\\Rightarrow ',
  '\u21d4': '\\Leftrightarrow ',
  '\u2190': '\\leftarrow ',
  '\u21a6': '\\mapsto ',
  '\u221e': '\\infty ',
  '\u2202': '\\partial ',
  '\u2207': '\\nabla ',
  '\u2211': '\\sum ',
  '\u220f': '\\prod ',
  '\u222b': '\\int ',
  '\u222c': '\\iint ',
  '\u222e': '\\oint ',
  '\u2026': '\\ldots ',
  '\u22ef': '\\cdots ',
  '\u2032': "'",
  '\u2033': "''",
  '\u00ac': '\\neg ',
  '\u2227': '\\wedge ',
  '\u2228': '\\vee ',
  '\u27e8': '\\langle ',
  '\u27e9': '\\rangle ',
  '\u2016': '\\| ',
  '\u00b0': '^\\circ ',
  '\u2205': '\\emptyset ',
  '\u03b1': '\\alpha ',
  '\u03b2': '\\beta ',
  '\u03b3': '\\gamma ',
  '\u03b4': '\\delta ',
  '\u03b5': '\\epsilon ',
  '\u03f5': '\\epsilon ',
  '\u03b6': '\\zeta ',
  '\u03b7': '\\eta ',
  '\u03b8': '\\theta ',
  '\u03b9': '\\iota ',
  '\u03ba': '\\kappa ',
  '\u03bb': '\\lambda ',
  '\u03bc': '\\mu ',
  '\u03bd': '\\nu ',
  '\u03be': '\\xi ',
  '\u03c0': '\\pi ',
  '\u03c1': '\\rho ',
  '\u03c3': '\\sigma ',
  '\u03c4': '\\tau ',
  '\u03c5': '\\upsilon ',
  '\u03c6': '\\phi ',
  '\u03d5': '\\phi ',
  '\u03c7': '\\chi ',
  '\u03c8': '\\psi ',
  '\u03c9': '\\omega ',
  '\u0393': '\\Gamma ',
  '\u0394': '\\Delta ',
  '\u0398': '\\Theta ',
  '\u039b': '\\Lambda ',
  '\u039e': '\\Xi ',
  '\u03a0': '\\Pi ',
  '\u03a3': '\\Sigma ',
  '\u03a6': '\\Phi ',
  '\u03a8': '\\Psi ',
  '\u03a9': '\\Omega ',
  '\u2061': '',
  '\u2062': '',
  '\u2063': '',
  '\u2064': '',
  '{': '\\{',
  '}': '\\}',
  '%': '\\%',
  '#': '\\#',
  '&': '\\&',
};

const FUNCTIONS = new Set(
  'sin cos tan cot sec csc sinh cosh tanh log ln exp lim max min sup inf det dim gcd arg ker deg arcsin arccos arctan'.split(
    ' ',
  ),
);
const ACCENTS: Readonly<Record<string, string>> = {
  '\u00af': '\\overline',
  '\u203e': '\\overline',
  _: '\\underline',
  '^': '\\hat',
  '\u02c6': '\\hat',
  '~': '\\tilde',
  '\u02dc': '\\tilde',
  '\u2192': '\\vec',
  '\u20d7': '\\vec',
  '\u02d9': '\\dot',
  '\u00a8': '\\ddot',
  '\u23de': '\\overbrace',
  '\u23df': '\\underbrace',
};

function localName(element: Element): string {
  const colon = element.name.indexOf(':');
  return colon < 0 ? element.name : element.name.slice(colon + 1);
}

function row(nodes: readonly ChildNode[]): string {
  return nodes.map(latexOf).join('');
}

function symbols(text: string): string {
  return [...text.replace(/\s+/g, ' ')]
    .map((character) => (Object.hasOwn(OPERATORS, character) ? OPERATORS[character] : character))
    .join('');
}

/** `{...}` around anything longer than one sign. */
function group(latex: string): string {
  const body = latex.trim();
  return body.length === 1 ? body : `{${body}}`;
}

function latexOf(node: ChildNode): string {
  if (isText(node)) return symbols(node.data.trim());
  if (!isElement(node)) return '';
  const parts = node.children.filter(isElement);
  const part = (index: number): string => (parts[index] ? latexOf(parts[index]) : '');
  switch (localName(node)) {
    case 'mi': {
      const name = textOf(node.children).trim();
      if (FUNCTIONS.has(name)) return `\\${name} `;
      return [...name].length > 1 ? `\\mathrm{${symbols(name)}}` : symbols(name);
    }
    case 'mo':
    case 'mn':
      return symbols(textOf(node.children).trim());
    case 'mtext':
    case 'ms':
      return `\\text{${textOf(node.children).replace(/\s+/g, ' ')}}`;
    case 'mspace':
      return ' ';
    case 'mfrac':
      return `\\frac{${part(0).trim()}}{${part(1).trim()}}`;
    case 'msqrt':
      return `\\sqrt{${row(node.children).trim()}}`;
    case 'mroot':
      return `\\sqrt[${part(1).trim()}]{${part(0).trim()}}`;
    case 'msup':
      return `${base(part(0))}^${group(part(1))}`;
    case 'msub':
      return `${base(part(0))}_${group(part(1))}`;
    case 'msubsup':
    case 'munderover':
      return `${base(part(0))}_${group(part(1))}^${group(part(2))}`;
    case 'mover': {
      const accent = ACCENTS[textOf(parts[1]?.children ?? []).trim()];
      return accent ? `${accent}{${part(0).trim()}}` : `${base(part(0))}^${group(part(1))}`;
    }
    case 'munder': {
      const accent = ACCENTS[textOf(parts[1]?.children ?? []).trim()];
      return accent ? `${accent}{${part(0).trim()}}` : `${base(part(0))}_${group(part(1))}`;
    }
    case 'mfenced': {
      const open = node.attribs.open ?? '(';
      const close = node.attribs.close ?? ')';
      const separator = (node.attribs.separators ?? ',').trim().charAt(0);
      return `${symbols(open)}${parts.map(latexOf).join(separator)}${symbols(close)}`;
    }
    case 'mtable':
      return `\\begin{matrix} ${parts
        .map((line) =>
          line.children
            .filter(isElement)
            .map((cell) => row(cell.children).trim())
            .join(' & '),
        )
        .join(' \\\\ ')} \\end{matrix}`;
    case 'annotation':
    case 'annotation-xml':
      return '';
    default:
      return row(node.children);
  }
}

function base(latex: string): string {
  const body = latex.trim();
  return /^(?:.|\\[A-Za-z]+|\\(?:mathrm|text)\{[^{}]*\}|[A-Za-z0-9]+)$/u.test(body) || body === ''
    ? body || '{}'
    : `{${body}}`;
}
