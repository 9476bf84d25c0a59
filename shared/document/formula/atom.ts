// The items that formulas are built of, each with what the writer must know to set it beside others.
import type { Alphabet, AtomClass } from './signs.ts';

/** One item of a formula: a letter, a number, a sign, or a finished structure such as a fraction. */
export interface Atom {
  latex: string;
  class: AtomClass;
  /** `_{...}` or ''. */
  sub: string;
  /** `^{...}`, primes, or ''. */
  sup: string;
  /** Contains something taller than a line, so that brackets around it must grow. */
  tall: boolean;
  /** Sets scripts below and above, not behind. */
  limits?: boolean;
  /** A fraction takes braces before it takes scripts: `{\frac{a}{b}}^{2}`. */
  fraction?: boolean;
  /** Begins with an opening bracket. */
  fence?: boolean;
  /** The name of a function that LaTeX has no command for. */
  name?: string;
  /** The alphabet and the letters of a styled letter, to which the next one of the same alphabet is added. */
  styled?: { alphabet: Alphabet; letters: string };
  /** The rows of a matrix, without their environment. */
  rows?: string;
}

export type Atoms = readonly Atom[];

export function atom(latex: string, tall = false, atomClass: AtomClass = 'ordinary'): Atom {
  return { latex, class: atomClass, sub: '', sup: '', tall };
}

export const BLANK: Atom = atom('', false, 'blank');
