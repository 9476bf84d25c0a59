// What a word of a formula is in LaTeX, and which words can only be part of one.
// Formulas made by hand that need its rules: latex.test.ts.
import type { Atom } from '#shared/document/formula/atom.ts';
import { name, signs } from '#shared/document/formula/builder.ts';
import { type Alphabet, functionCommand, takesLimits } from '#shared/document/formula/signs.ts';
import type { Word } from '../source/page-model.ts';

/** Faces that set nothing but mathematics: TeX's, those of equation editors, and OpenType math fonts. */
const MATH_FONT =
  /^(?:cm(?:mi|sy|ex|bsy|mib)|msam|msbm|eufm|rsfs|lmmath|lmsy|lmex|stmary|mtmi|mtsy|mtex|mtextra|mt-?extra|euclid(?:math|symbol|extra)|pazomath|fourier-?math|txsy|txmi|txex|pxsy|pxmi|pxex|rmtmi|katex_(?:main|math|size|ams|cal|script|frak)|mathjax|stixsize|stixnonuni|stixintegrals)|math(?:-|$|italic|regular|pro|ital)|cambriamath/i;
const SYMBOL =
  /[\u2200-\u22ff\u2a00-\u2aff\u27c0-\u27ef\u2980-\u29ff\u03b1-\u03c9\u0393-\u03a9\u211d\u2115\u2124\u211a\u2102\u2113\u210f\u2202\u2207√]/u;
/** Formulas have one Greek letter for each variable, and no letter with an accent. */
const GREEK_WORD = /\p{Script=Greek}{3}|[\u0386-\u038f\u03ac-\u03af\u03cc-\u03ce]/u;
/** CMEX10 draws brackets at the code points of other signs, one set for each size. */
const LARGE_BRACKETS: Record<string, string> = { '!': ')', '"': '[', '#': ']', '(': '{', ')': '}' };

/** Faces whose letters are an alphabet of their own. */
const ALPHABETS: readonly (readonly [RegExp, Alphabet])[] = [
  [/^cmb?sy/i, 'mathcal'],
  [/^eufm/i, 'mathfrak'],
  [/^msbm/i, 'mathbb'],
];
export function isMathFont(font: string): boolean {
  return MATH_FONT.test(font);
}

export function isLargeOperator(word: Word): boolean {
  return takesLimits(word.text);
}

/** `sign`: only formulas have it. `part`: a number, an operator, a single letter, which formulas and texts have. `word`: neither. */
export function mathKind(word: Word): 'sign' | 'part' | 'word' {
  const { text, style } = word;
  if (GREEK_WORD.test(text) && !isMathFont(style.font)) return 'word';
  if (SYMBOL.test(text) || (isMathFont(style.font) && text.length <= 6)) return 'sign';
  if (functionCommand(text)) return 'part';
  // `+`, `f(x)`, `2a`, `x,`: single letters among figures and signs.
  if (!/\p{L}{2}/u.test(text)) return 'part';
  // `dx`, `gs`: two letters that no word is made of.
  if (/^[b-df-hj-np-tv-xz]{2}$/i.test(text)) return 'part';
  return 'word';
}

/** The atoms of one word of a formula. */
export function wordAtoms(word: Word): Atom[] {
  const { text, style } = word;
  const bracket = /^cmex/i.test(style.font) ? LARGE_BRACKETS[text] : undefined;
  if (bracket !== undefined) return signs(bracket);
  if (functionCommand(text)) return name(text);
  if (/^[a-zA-Z]+$/.test(text)) {
    const alphabet = ALPHABETS.find(([face]) => face.test(style.font))?.[1];
    if (alphabet) return signs(text, alphabet);
    if (style.bold && !style.italic) return signs(text, 'mathbf');
  }
  if (/^\p{L}{2,}$/u.test(text) && !style.italic && !isMathFont(style.font)) return name(text);
  // Letters that a font composes with their accents are variables with accents, also side by side.
  return signs(text.replace(/\p{L}/gu, (letter) => letter.normalize('NFD')));
}
