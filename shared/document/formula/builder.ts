// Builds the parts of a formula (fraction, root, scripts, ...), so that all input formats get the same LaTeX.
import { type Atom, type Atoms, atom, BLANK } from './atom.ts';
import { enclose, pairDelimiters, writeLatex } from './latex.ts';
import { type Alphabet, accentCommand, alphabetLetter, functionCommand, signOf, takesLimits } from './signs.ts';

const isTall = (...parts: Atoms[]): boolean => parts.some((atoms) => atoms.some(({ tall }) => tall));

/** A grouped integer (`1,200`), a decimal number, a character with its combining marks, or white space. */
const TOKEN = /\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*|\s+|\P{M}\p{M}*|\p{M}/gu;

/** A longer run of characters is written as text. An atom for each character would need too much heap. */
const SIGNS_LENGTH = 10_000;

/** The atoms of a run of characters: one for each sign and letter, and one for the digits of a number. */
export function signs(characters: string, alphabet?: Alphabet): Atom[] {
  if (characters.length > SIGNS_LENGTH) return text(characters);
  const atoms: Atom[] = [];
  const tokens = characters.match(TOKEN) ?? [];
  tokens.forEach((token, i) => {
    const alone = !isLetter(tokens[i - 1]) && !isLetter(tokens[i + 1]);
    const added = readToken(token, alphabet, alone);
    const before = atoms.at(-1);
    if (added.styled && before?.styled?.alphabet === added.styled.alphabet)
      atoms[atoms.length - 1] = styledAtom(before.styled.letters + added.styled.letters, added.styled.alphabet);
    else if (added.latex !== '' || added.class === 'blank') atoms.push(added);
  });
  return atoms;
}

const isLetter = (token: string | undefined): boolean => token !== undefined && /^\p{L}/u.test(token);

/** @param alone whether no letter is next to it. In a word, `é` is a letter and not a variable with an accent. */
function readToken(token: string, alphabet: Alphabet | undefined, alone: boolean): Atom {
  if (/^\s/.test(token)) return BLANK;
  if (/^\d/.test(token))
    return alphabet === undefined || alphabet === 'mathrm' ? atom(token) : styledAtom(token, alphabet);
  const accented = accentedLetter(token, alone);
  if (accented === undefined) return character(token.normalize('NFC'), alphabet);
  const { letter, commands } = accented;
  return atom(commands.reduce((body, command) => `${command}{${body}}`, character(letter, alphabet).latex));
}

/** Splits a Latin or Greek letter into the letter and the accent commands of its marks; undefined if it has none. */
function accentedLetter(token: string, alone: boolean): { letter: string; commands: string[] } | undefined {
  const [letter = '', ...marks] = alone || /\p{M}/u.test(token) ? token.normalize('NFD') : token;
  if (marks.length === 0 || !/[\p{Script=Latin}\p{Script=Greek}]/u.test(letter)) return undefined;
  const commands = marks.flatMap(
    (mark) => (accentCommand(mark, 'above') ?? accentCommand(mark, 'below'))?.narrow ?? [],
  );
  return commands.length === marks.length ? { letter, commands } : undefined;
}

function character(token: string, given: Alphabet | undefined): Atom {
  const known = alphabetLetter(token);
  const letter = known?.letter ?? token;
  const alphabet = known?.alphabet ?? given;
  if (alphabet !== undefined && /^[A-Za-z0-9]$/.test(letter)) return styledAtom(letter, alphabet);
  const sign = signOf(letter);
  if (sign === undefined) return atom(letter);
  // \mathbf does not change Greek letters.
  if (/^[\u0370-\u03ff]$/.test(letter) && (alphabet === 'mathbf' || alphabet === 'boldsymbol'))
    return atom(`\\boldsymbol{${sign.latex}}`);
  const isOperator = sign.class === 'operator';
  return { ...atom(sign.latex, isOperator, sign.class), limits: isOperator };
}

function styledAtom(letters: string, alphabet: Alphabet): Atom {
  return { ...atom(`\\${alphabet}{${letters}}`), styled: { alphabet, letters } };
}

/** A number as the source writes it, with its own decimal and thousands separators. */
export function number(text: string): Atom[] {
  return /^[\d.,]*\d$/.test(text) ? [atom(text)] : signs(text);
}

/**
 * A name in upright letters: the command of a LaTeX function, such as `\sin`, or `\mathrm{...}` for any other name.
 * @param applied whether the source marks the name as a function. It becomes `\operatorname{...}`, which adds a space.
 */
export function name(text: string, applied = false): Atom[] {
  const command = functionCommand(text);
  if (command !== undefined) return [{ ...atom(command, false, 'operator'), limits: takesLimits(text) }];
  const letters = writeLatex(signs(text));
  if (applied) return [atom(`\\operatorname{${letters}}`, false, 'operator')];
  return [{ ...atom(`\\mathrm{${letters}}`), name: letters }];
}

/** Turns a name into a function. Returns any other atom unchanged. */
export function asFunction(one: Atom): Atom {
  return one.name === undefined ? one : { ...one, latex: `\\operatorname{${one.name}}`, class: 'operator' };
}

const TEXT_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
};

/** Words of ordinary text inside a formula. */
export function text(words: string): Atom[] {
  const flat = words.replace(/\s+/g, ' ');
  if (flat.trim() === '') return flat === '' ? [] : [BLANK];
  return [atom(`\\text{${flat.replace(/[{}\\$%#&_^~]/g, (one) => TEXT_ESCAPES[one] ?? `\\${one}`)}}`)];
}

function braced(atoms: Atoms): string {
  return `{${writeLatex(atoms)}}`;
}

export function fraction(over: Atoms, under: Atoms, form: 'bar' | 'slash' | 'stacked' = 'bar'): Atom[] {
  if (form === 'slash') return [...grouped(over), ...signs('/'), ...grouped(under)];
  const command = form === 'bar' ? '\\frac' : '\\binom';
  return [{ ...atom(`${command}${braced(over)}${braced(under)}`, true), fraction: true }];
}

function grouped(atoms: Atoms): Atoms {
  return atoms.length === 1 ? atoms : [atom(braced(atoms), isTall(atoms))];
}

export function root(body: Atoms, degree: Atoms = []): Atom[] {
  const latex = writeLatex(degree);
  const option = latex === '' ? '' : `[${latex.includes(']') ? `{${latex}}` : latex}]`;
  return [atom(`\\sqrt${option}${braced(body)}`, isTall(body, degree))];
}

/** A base with a subscript and a superscript. A base of several atoms is braced. */
export function scripts(base: Atoms, sub: Atoms, sup: Atoms): Atom[] {
  const paired = base.length > 1 ? pairDelimiters(base) : base;
  const only = paired.length === 1 ? paired[0] : undefined;
  const free = only && (sub.length === 0 || only.sub === '') && (sup.length === 0 || only.sup === '');
  const bare = free && !only.fraction && only.class !== 'postfix' && only.class !== 'blank';
  const to = bare ? only : atom(braced(base), isTall(base));
  // LaTeX writes a prime without `^`: `f'`, not `f^{'}`.
  const primes = sup.length > 0 && sup.every(({ latex }) => /^'+$/.test(latex));
  const above = primes ? sup.map(({ latex }) => latex).join('') : `^${braced(sup)}`;
  return [
    {
      ...to,
      sub: sub.length === 0 ? to.sub : `_${braced(sub)}`,
      sup: sup.length === 0 ? to.sup : above,
      tall: to.tall || isTall(sub, sup),
    },
  ];
}

/** A base with scripts before and after it, in pairs of subscript and superscript. */
export function multiScripts(
  base: Atoms,
  before: readonly (readonly [Atoms, Atoms])[],
  behind: readonly (readonly [Atoms, Atoms])[],
): Atom[] {
  const atoms = before.flatMap(([sub, sup]) => scripts([], sub, sup));
  const [first, ...others] = behind;
  return [
    ...atoms,
    ...(first ? scripts(base, ...first) : base),
    ...others.flatMap(([sub, sup]) => scripts([], sub, sup)),
  ];
}

/** A base with parts below and above it: the limits of an operator, or labels. */
export function stacked(base: Atoms, below: Atoms, above: Atoms): Atom[] {
  const only = base.length === 1 ? base[0] : undefined;
  if (only?.limits) return scripts(base, below, above);
  if (only?.name !== undefined && only.sub + only.sup === '')
    return scripts([{ ...only, latex: `\\operatorname*{${only.name}}`, class: 'operator' }], below, above);
  const upper = above.length === 0 ? writeLatex(base) : `\\overset${braced(above)}${braced(base)}`;
  const latex = below.length === 0 ? upper : `\\underset${braced(below)}{${upper}}`;
  return [atom(latex, isTall(base, below, above), only?.class)];
}

/** A body with a mark above or below it; undefined if LaTeX has no accent for the mark. */
export function accent(mark: string, body: Atoms, position: 'above' | 'below'): Atom[] | undefined {
  const command = accentCommand(mark, position);
  if (command === undefined) return undefined;
  const latex = `${body.length === 1 ? command.narrow : command.wide}${braced(body)}`;
  return [{ ...atom(latex, isTall(body)), limits: command.label }];
}

/** Parts in brackets. An empty bracket is not drawn. */
export function fence(open: string, parts: readonly Atoms[], separator: string, close: string): Atom[] {
  const inside = parts.flatMap((part, i) => (i === 0 ? part : [...signs(separator), ...part]));
  const latexOf = (bracket: string): string =>
    signs(bracket)
      .map(({ latex }) => latex)
      .join('');
  return [enclose(latexOf(open), inside, latexOf(close))];
}

/** A table of cells. Brackets around it change its environment (`pmatrix`, `cases`). */
export function matrix(rows: readonly (readonly Atoms[])[], environment: 'matrix' | 'aligned' = 'matrix'): Atom[] {
  const body = rows.map((cells) => cells.map((cell) => writeLatex(cell)).join(' & ')).join(' \\\\ ');
  return [{ ...atom(`\\begin{${environment}} ${body} \\end{${environment}}`, true), rows: body }];
}

export function box(body: Atoms): Atom[] {
  return [atom(`\\boxed${braced(body)}`, isTall(body))];
}
