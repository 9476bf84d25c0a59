// Defines the items of a formula, with the properties that the LaTeX writer needs to put them in a row.
import type { Alphabet, AtomClass } from './signs.ts';

/** One item of a formula: a letter, a number, a sign, or a finished structure such as a fraction. */
export interface Atom {
  latex: string;
  class: AtomClass;
  /** `_{...}` or ''. */
  sub: string;
  /** `^{...}`, primes, or ''. */
  sup: string;
  /** Is taller than a line of text, so that brackets around it must grow. */
  tall: boolean;
  /** Has its scripts below and above it, as a sum has. */
  limits?: boolean;
  /** Is a fraction, which needs braces to get scripts: `{\frac{a}{b}}^{2}`. */
  fraction?: boolean;
  /** Begins with an opening bracket. */
  fence?: boolean;
  /** The name of a function that LaTeX has no command for. */
  name?: string;
  /** The alphabet and the letters of styled letters. Consecutive letters of the same alphabet become one atom. */
  styled?: { alphabet: Alphabet; letters: string };
  /** The rows of a matrix, without their environment. */
  rows?: string;
}

export type Atoms = readonly Atom[];

export function atom(latex: string, tall = false, atomClass: AtomClass = 'ordinary'): Atom {
  return { latex, class: atomClass, sub: '', sup: '', tall };
}

export const BLANK: Atom = atom('', false, 'blank');
