// Writes the atoms of a formula as LaTeX, with the spaces between them and with brackets that grow around tall content.
import type { Atom, Atoms } from './atom.ts';
import type { AtomClass } from './signs.ts';

/** LaTeX without `$`. Relations and binary operators have a space on both sides; letters have none between them. */
export function writeLatex(atoms: Atoms): string {
  return join(pairDelimiters(atoms));
}

/** Turns each pair of brackets or bars and its content into one atom. A bracket or bar without a matching one stays a sign. */
export function pairDelimiters(atoms: Atoms): Atom[] {
  return pairBars(pairBrackets(atoms));
}

/** The amsmath environment of a matrix in brackets, by its brackets. */
const MATRIX_ENVIRONMENTS: Readonly<Record<string, string>> = {
  '()': 'pmatrix',
  '[]': 'bmatrix',
  '\\{\\}': 'Bmatrix',
  '||': 'vmatrix',
  '\\|\\|': 'Vmatrix',
  '\\{': 'cases',
};

/** One atom for a pair of brackets and its content. The bracket `''` is not drawn. */
export function enclose(open: string, inside: Atoms, close: string): Atom {
  const fence = { class: 'ordinary', sub: '', sup: '', fence: true } as const;
  const only = inside.length === 1 ? inside[0] : undefined;
  const environment =
    only?.rows !== undefined && only.sub + only.sup === '' ? MATRIX_ENVIRONMENTS[open + close] : undefined;
  if (environment !== undefined)
    return { ...fence, latex: `\\begin{${environment}} ${only?.rows} \\end{${environment}}`, tall: true };
  const tall = inside.some((atom) => atom.tall);
  if (!tall && open !== '' && close !== '')
    return { ...fence, latex: concat(concat(open, writeLatex(inside)), close), tall };
  const grown = pairDelimiters(inside).map((atom) =>
    isBar(atom) ? { ...atom, latex: `\\middle${atom.latex}` } : atom,
  );
  return { ...fence, latex: `\\left${open || '.'} ${join(grown)} \\right${close || '.'}`, tall };
}

/** Pairs of brackets that are nested deeper stay signs. */
const BRACKET_DEPTH = 64;

interface Frame {
  bracket?: Atom;
  inside: Atom[];
}

function pairBrackets(atoms: Atoms): Atom[] {
  const frames: Frame[] = [{ inside: [] }];
  for (const atom of atoms) {
    const frame = frames.at(-1) as Frame;
    if (atom.class === 'open' && atom.sub + atom.sup === '' && frames.length <= BRACKET_DEPTH)
      frames.push({ bracket: atom, inside: [] });
    else if (atom.class === 'close' && frame.bracket) {
      frames.pop();
      const pair = enclose(frame.bracket.latex, frame.inside, atom.latex);
      frames.at(-1)?.inside.push({ ...pair, sub: atom.sub, sup: atom.sup, tall: pair.tall || atom.tall });
    } else frame.inside.push(atom);
  }
  const { bracket, inside } = frames.at(-1) as Frame;
  // An opening brace before a matrix, without a closing brace, is a case distinction.
  if (bracket?.latex === '\\{' && inside.length === 1 && inside[0]?.rows !== undefined)
    frames.splice(-1, 1, { inside: [enclose(bracket.latex, inside, '')] });
  return frames.flatMap((frame) => (frame.bracket ? [frame.bracket, ...frame.inside] : frame.inside));
}

function isBar({ latex, class: atomClass }: Atom): boolean {
  return (latex === '|' || latex === '\\|') && atomClass === 'ordinary';
}

/** Turns `|x|` into one atom. The first bar is after an operator or at the start, and the second one is after an operand. */
function pairBars(atoms: Atom[]): Atom[] {
  if (!atoms.some(isBar)) return atoms;
  const paired: Atom[] = [];
  let opened = -1;
  for (const atom of atoms) {
    if (!isBar(atom)) {
      paired.push(atom);
      continue;
    }
    const last = paired.findLastIndex((one) => one.class !== 'blank');
    const before = paired[last]?.class ?? 'open';
    const open = opened < 0 ? undefined : paired[opened];
    if (open?.latex === atom.latex && last > opened && !isSpaced(before)) {
      const pair = enclose(open.latex, paired.splice(opened).slice(1), atom.latex);
      paired.push({ ...pair, sub: atom.sub, sup: atom.sup, tall: pair.tall || atom.tall });
      opened = -1;
      continue;
    }
    const opens = before !== 'ordinary' && before !== 'close' && before !== 'postfix';
    if (!open && opens && atom.sub + atom.sup === '') opened = paired.length;
    paired.push(atom);
  }
  return paired;
}

function isSpaced(atomClass: AtomClass): boolean {
  return atomClass === 'binary' || atomClass === 'relation';
}

function join(atoms: Atoms): string {
  let latex = '';
  let before: AtomClass | undefined;
  let end = '';
  let raised = false;
  let blank = false;
  const shown = atoms.filter((atom) => atom.class === 'blank' || atom.latex + atom.sub + atom.sup !== '');
  shown.forEach((atom, i) => {
    if (atom.class === 'blank') {
      blank = latex !== '';
      return;
    }
    const written = (atom.latex === '' ? '{}' : atom.latex) + atom.sub + atom.sup;
    if (atom.class === 'postfix') {
      // LaTeX allows only one superscript on a base.
      latex += raised || latex === '' ? `{}${written}` : written;
      raised ||= atom.latex.startsWith('^');
      before ??= 'ordinary';
      end = written;
      blank = false;
      return;
    }
    const atomClass = classIn(atom.class, before, nextClass(shown, i));
    const space = latex !== '' && (isSpace(before, atomClass, atom) || (blank && isSpaceKept(before, atomClass)));
    latex += space || runsOn(end, written) ? ` ${written}` : written;
    before = atomClass;
    end = written;
    raised = atom.sup !== '';
    blank = false;
  });
  return latex;
}

function nextClass(atoms: Atoms, index: number): AtomClass | undefined {
  for (let i = index + 1; i < atoms.length; i++) if (atoms[i]?.class !== 'blank') return atoms[i]?.class;
  return undefined;
}

/** The class of an atom in its row: `-` is not binary if an operand is missing (The TeXbook, appendix G, rules 5 and 6). */
function classIn(atomClass: AtomClass, before: AtomClass | undefined, after: AtomClass | undefined): AtomClass {
  if (atomClass !== 'binary') return atomClass;
  const left = before === 'ordinary' || before === 'close';
  const right = after !== undefined && after !== 'relation' && after !== 'close' && after !== 'punctuation';
  return left && right ? 'binary' : 'ordinary';
}

/** Whether a space is written between two atoms: the table of The TeXbook, chapter 18, with spaces of one width. */
function isSpace(before: AtomClass | undefined, atomClass: AtomClass, atom: Atom): boolean {
  if (before === undefined || before === 'open' || atomClass === 'close' || atomClass === 'punctuation') return false;
  if (before === 'relation' && atomClass === 'relation') return false;
  if (isSpaced(before) || isSpaced(atomClass) || before === 'punctuation') return true;
  if (before === 'operator') return !atom.fence && atomClass !== 'open';
  return atomClass === 'operator';
}

/** Whether a space of the source is kept. It is dropped next to a bracket and before a comma. */
function isSpaceKept(before: AtomClass | undefined, atomClass: AtomClass): boolean {
  return before !== 'open' && atomClass !== 'close' && atomClass !== 'punctuation';
}

/** Whether the letters of `after` would become part of the command at the end of `before`. */
function runsOn(before: string, after: string): boolean {
  return /\\[A-Za-z]+$/.test(before) && /^[A-Za-z]/.test(after);
}

function concat(before: string, after: string): string {
  return runsOn(before, after) ? `${before} ${after}` : before + after;
}
