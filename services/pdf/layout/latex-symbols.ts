// What a word of a formula is in LaTeX, and which words can only be part of one.
// Formulas made by hand that need its rules: latex.test.ts.
import type { Word } from '../source/page-model.ts';

/** Faces that set nothing but mathematics: TeX's, those of equation editors, and OpenType math fonts. */
const MATH_FONT =
  /^(?:cm(?:mi|sy|ex|bsy|mib)|msam|msbm|eufm|rsfs|lmmath|lmsy|lmex|stmary|mtmi|mtsy|mtex|mtextra|mt-?extra|euclid(?:math|symbol|extra)|pazomath|fourier-?math|txsy|txmi|txex|pxsy|pxmi|pxex|rmtmi|katex_(?:main|math|size|ams|cal|script|frak)|mathjax|stixsize|stixnonuni|stixintegrals)|math(?:-|$|italic|regular|pro|ital)|cambriamath/i;
const SYMBOL =
  /[\u2200-\u22ff\u2a00-\u2aff\u27c0-\u27ef\u2980-\u29ff\u03b1-\u03c9\u0393-\u03a9\u211d\u2115\u2124\u211a\u2102\u2113\u210f\u2202\u2207√]/u;
const LARGE = /^[∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀]$|^(?:lim|max|min|sup|inf|argmax|argmin)$/u;
const FUNCTIONS =
  /^(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|log|ln|exp|lim|max|min|sup|inf|det|dim|ker|gcd|arg|deg|Pr)$/;
/** CMEX10 draws brackets at the code points of other signs, one set for each size. */
const LARGE_BRACKETS: Record<string, string> = { '!': ')', '"': '[', '#': ']', '(': '\\{', ')': '\\}' };

const MACROS = new Map<string, string>(
  Object.entries({
    α: 'alpha',
    β: 'beta',
    γ: 'gamma',
    δ: 'delta',
    ε: 'varepsilon',
    ϵ: 'epsilon',
    ζ: 'zeta',
    η: 'eta',
    θ: 'theta',
    ϑ: 'vartheta',
    ι: 'iota',
    κ: 'kappa',
    λ: 'lambda',
    μ: 'mu',
    µ: 'mu',
    ν: 'nu',
    ξ: 'xi',
    π: 'pi',
    ρ: 'rho',
    ϱ: 'varrho',
    σ: 'sigma',
    ς: 'varsigma',
    τ: 'tau',
    υ: 'upsilon',
    φ: 'varphi',
    ϕ: 'phi',
    χ: 'chi',
    ψ: 'psi',
    ω: 'omega',
    Γ: 'Gamma',
    Δ: 'Delta',
    Θ: 'Theta',
    Λ: 'Lambda',
    Ξ: 'Xi',
    Π: 'Pi',
    Σ: 'Sigma',
    Υ: 'Upsilon',
    Φ: 'Phi',
    Ψ: 'Psi',
    Ω: 'Omega',
    '∆': 'Delta',
    '∑': 'sum',
    '∏': 'prod',
    '∐': 'coprod',
    '∫': 'int',
    '∬': 'iint',
    '∭': 'iiint',
    '∮': 'oint',
    '⋃': 'bigcup',
    '⋂': 'bigcap',
    '⨁': 'bigoplus',
    '⨂': 'bigotimes',
    '⋁': 'bigvee',
    '⋀': 'bigwedge',
    '∂': 'partial',
    '∇': 'nabla',
    '∞': 'infty',
    '∈': 'in',
    '∉': 'notin',
    '∋': 'ni',
    '⊂': 'subset',
    '⊆': 'subseteq',
    '⊃': 'supset',
    '⊇': 'supseteq',
    '∪': 'cup',
    '∩': 'cap',
    '∖': 'setminus',
    '∅': 'emptyset',
    '∀': 'forall',
    '∃': 'exists',
    '¬': 'neg',
    '∧': 'wedge',
    '∨': 'vee',
    '≤': 'leq',
    '≥': 'geq',
    '≠': 'neq',
    '≈': 'approx',
    '≡': 'equiv',
    '∼': 'sim',
    '≃': 'simeq',
    '≅': 'cong',
    '∝': 'propto',
    '≪': 'll',
    '≫': 'gg',
    '±': 'pm',
    '∓': 'mp',
    '×': 'times',
    '÷': 'div',
    '·': 'cdot',
    '⋅': 'cdot',
    '∘': 'circ',
    '∗': 'ast',
    '⊕': 'oplus',
    '⊗': 'otimes',
    '⊙': 'odot',
    '→': 'to',
    '←': 'leftarrow',
    '↔': 'leftrightarrow',
    '⇒': 'Rightarrow',
    '⇐': 'Leftarrow',
    '⇔': 'Leftrightarrow',
    '↦': 'mapsto',
    '…': 'ldots',
    '⋯': 'cdots',
    '⋮': 'vdots',
    '⋱': 'ddots',
    '√': 'surd',
    '⟨': 'langle',
    '⟩': 'rangle',
    '⌊': 'lfloor',
    '⌋': 'rfloor',
    '⌈': 'lceil',
    '⌉': 'rceil',
    '∥': 'parallel',
    '⊥': 'perp',
    '∠': 'angle',
    '†': 'dagger',
    ℓ: 'ell',
    ℏ: 'hbar',
    ℜ: 'Re',
    ℑ: 'Im',
    ℵ: 'aleph',
    '⊢': 'vdash',
    '⊨': 'models',
    '∣': 'mid',
    '≺': 'prec',
    '≻': 'succ',
    '⊤': 'top',
    '□': 'square',
  }),
);
const BLACKBOARD: Record<string, string> = { ℝ: 'R', ℕ: 'N', ℤ: 'Z', ℚ: 'Q', ℂ: 'C', ℙ: 'P', ℍ: 'H' };
/** Faces whose letters are an alphabet of their own. */
const ALPHABETS: readonly (readonly [RegExp, string])[] = [
  [/^cmb?sy/i, 'mathcal'],
  [/^eufm/i, 'mathfrak'],
  [/^msbm/i, 'mathbb'],
];
const ESCAPED: Record<string, string> = {
  '{': '\\{',
  '}': '\\}',
  '%': '\\%',
  '#': '\\#',
  '&': '\\&',
  $: '\\$',
  _: '\\_',
  '\\': '\\backslash',
};

export function isMathFont(font: string): boolean {
  return MATH_FONT.test(font);
}

export function isLargeOperator(word: Word): boolean {
  return LARGE.test(word.text);
}

/** `sign`: only formulas have it. `part`: a number, an operator, a single letter, which formulas and texts have. `word`: neither. */
export function mathKind(word: Word): 'sign' | 'part' | 'word' {
  const { text, style } = word;
  if (SYMBOL.test(text) || (isMathFont(style.font) && text.length <= 6)) return 'sign';
  if (FUNCTIONS.test(text)) return 'part';
  // `+`, `f(x)`, `2a`, `x,`: single letters among figures and signs.
  if (!/\p{L}{2}/u.test(text)) return 'part';
  // `dx`, `gs`: two letters that no word is made of.
  if (/^[b-df-hj-np-tv-xz]{2}$/i.test(text)) return 'part';
  return 'word';
}

/** The LaTeX of one word of a formula. */
export function latexSymbol(word: Word): string {
  const { text, style } = word;
  if (/^cmex/i.test(style.font)) {
    const bracket = LARGE_BRACKETS[text];
    if (bracket !== undefined) return bracket;
  }
  if (FUNCTIONS.test(text)) return `\\${text}`;
  if (/^[a-zA-Z]+$/.test(text)) {
    const alphabet = ALPHABETS.find(([face]) => face.test(style.font))?.[1];
    if (alphabet) return `\\${alphabet}{${text}}`;
    if (style.bold && !style.italic) return `\\mathbf{${text}}`;
  }
  if (/^\p{L}{2,}$/u.test(text) && !style.italic && !isMathFont(style.font)) return `\\mathrm{${text}}`;
  if (/\p{M}/u.test(text.normalize('NFD')) && /\p{L}/u.test(text)) return markedLetters(text);
  let latex = '';
  for (const character of text.replaceAll('−', '-').replaceAll('′', "'")) {
    const macro = MACROS.get(character);
    const board = BLACKBOARD[character];
    if (macro) latex += `\\${macro} `;
    else if (board) latex += `\\mathbb{${board}}`;
    else latex += ESCAPED[character] ?? character;
  }
  return latex.trimEnd();
}

const MARKS: Record<string, string> = {
  '\u0300': 'grave',
  '\u0301': 'acute',
  '\u0302': 'hat',
  '\u0303': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'bar',
  '\u0306': 'breve',
  '\u0307': 'dot',
  '\u0308': 'ddot',
  '\u030c': 'check',
  '\u20d7': 'vec',
};

/** `x̄` is `\bar{x}` and `û` is `\hat{u}`. */
function markedLetters(text: string): string {
  return text.normalize('NFD').replace(/(\P{M})(\p{M}?)/gu, (_, letter: string, mark: string) => {
    const macro = MACROS.get(letter);
    const base = macro ? `\\${macro} ` : (ESCAPED[letter] ?? letter);
    const accent = MARKS[mark];
    return accent ? `\\${accent}{${base.trimEnd()}}` : base;
  });
}
