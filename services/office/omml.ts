// Reads Office Math (OMML, ECMA-376-1, 22.1) into a formula, so that docx and pptx get the same LaTeX as other formats.
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { Atom } from '#shared/document/formula/atom.ts';
import {
  accent,
  box,
  fence,
  fraction,
  matrix,
  multiScripts,
  name,
  root,
  scripts,
  signs,
  stacked,
  text,
} from '#shared/document/formula/builder.ts';
import { writeLatex } from '#shared/document/formula/latex.ts';
import type { Alphabet } from '#shared/document/formula/signs.ts';
import { attribute, childElement, childElements, descend, textContent, type XmlElement } from '#shared/readers/xml.ts';

/** The `m:val` of a descendant, by the local names on the path to it; undefined if there is none. */
function value(element: XmlElement, ...path: string[]): string | undefined {
  return attribute(descend(element, ...path), 'val');
}

/** Whether a flag is on. A flag without a value is on (22.9.2.7, ST_OnOff). */
function isOn(element: XmlElement, ...path: string[]): boolean {
  return descend(element, ...path) !== undefined && !['0', 'off', 'false'].includes(value(element, ...path) ?? '');
}

function part(element: XmlElement, local: string, named = false): Atom[] {
  const found = childElement(element, local);
  return found ? readRow(found, named) : [];
}

function readRow(element: XmlElement, named = false): Atom[] {
  return childElements(element).flatMap((child) => readElement(child, named));
}

const SCRIPTS: Readonly<Record<string, Alphabet>> = {
  script: 'mathcal',
  fraktur: 'mathfrak',
  'double-struck': 'mathbb',
  'sans-serif': 'mathsf',
  monospace: 'mathtt',
};
const STYLES: Readonly<Record<string, Alphabet>> = { p: 'mathrm', b: 'mathbf', bi: 'boldsymbol' };

/** @param named whether letters in a row are the name of a function */
function readRun(element: XmlElement, named: boolean): Atom[] {
  const characters = childElements(element, 't').map(textContent).join('');
  if (isOn(element, 'rPr', 'nor')) return text(characters);
  const alphabet = SCRIPTS[value(element, 'rPr', 'scr') ?? ''] ?? STYLES[value(element, 'rPr', 'sty') ?? ''];
  if (!named && alphabet !== 'mathrm') return signs(characters, alphabet);
  // Upright letters in a row are one name.
  return (characters.match(/\p{L}{2,}|(?:\p{L}(?!\p{L})|\P{L})+/gu) ?? []).flatMap((piece) =>
    /^\p{L}{2}/u.test(piece) ? name(piece, named) : signs(piece, alphabet),
  );
}

function readFraction(element: XmlElement): Atom[] {
  const kind = value(element, 'fPr', 'type');
  const form = kind === 'lin' || kind === 'skw' ? 'slash' : kind === 'noBar' ? 'stacked' : 'bar';
  return fraction(part(element, 'num'), part(element, 'den'), form);
}

function readDelimiters(element: XmlElement): Atom[] {
  const parts = childElements(element, 'e').map((one) => readRow(one));
  const separator = value(element, 'dPr', 'sepChr') ?? '|';
  return fence(value(element, 'dPr', 'begChr') ?? '(', parts, separator, value(element, 'dPr', 'endChr') ?? ')');
}

function readNary(element: XmlElement): Atom[] {
  const operator = signs(value(element, 'naryPr', 'chr') ?? '∫');
  return [...scripts(operator, part(element, 'sub'), part(element, 'sup')), ...part(element, 'e')];
}

function readRoot(element: XmlElement): Atom[] {
  return root(part(element, 'e'), isOn(element, 'radPr', 'degHide') ? [] : part(element, 'deg'));
}

function readMatrix(element: XmlElement): Atom[] {
  return matrix(childElements(element, 'mr').map((row) => childElements(row, 'e').map((cell) => readRow(cell))));
}

/** The lines of an equation array. `&` marks the points at which they align (22.1.2.34). */
function readEquationArray(element: XmlElement): Atom[] {
  const rows = childElements(element, 'e').map((line) => {
    const cells: Atom[][] = [[]];
    for (const atom of readRow(line)) {
      if (atom.latex === '\\&') cells.push([]);
      else cells.at(-1)?.push(atom);
    }
    return cells;
  });
  return matrix(rows, 'aligned');
}

/** A body with a character above or below it: an accent, a brace or an arrow. */
function readMark(element: XmlElement, mark: string, position: 'above' | 'below'): Atom[] {
  const body = part(element, 'e');
  const marked = accent(mark, body, position);
  if (marked) return marked;
  return position === 'above' ? stacked(body, [], signs(mark)) : stacked(body, signs(mark), []);
}

function position(element: XmlElement, properties: string): 'above' | 'below' {
  return value(element, properties, 'pos') === 'top' ? 'above' : 'below';
}

function readGroup(element: XmlElement): Atom[] {
  const side = position(element, 'groupChrPr');
  return readMark(element, value(element, 'groupChrPr', 'chr') ?? (side === 'above' ? '\u23de' : '\u23df'), side);
}

/** @param named whether letters are the name of a function (the `fName` of a `func`) */
function readElement(element: XmlElement, named: boolean): Atom[] {
  switch (element.local) {
    case 'r':
      return readRun(element, named);
    case 't':
      return signs(textContent(element));
    case 'f':
      return readFraction(element);
    case 'sSup':
    case 'sSub':
    case 'sSubSup':
      return scripts(part(element, 'e', named), part(element, 'sub'), part(element, 'sup'));
    case 'sPre':
      return multiScripts(part(element, 'e'), [[part(element, 'sub'), part(element, 'sup')]], []);
    case 'rad':
      return readRoot(element);
    case 'nary':
      return readNary(element);
    case 'd':
      return readDelimiters(element);
    case 'func':
      return [...part(element, 'fName', true), ...part(element, 'e')];
    case 'limLow':
      return stacked(part(element, 'e', named), part(element, 'lim'), []);
    case 'limUpp':
      return stacked(part(element, 'e', named), [], part(element, 'lim'));
    case 'm':
      return readMatrix(element);
    case 'eqArr':
      return readEquationArray(element);
    case 'acc':
      return readMark(element, value(element, 'accPr', 'chr') ?? '\u0302', 'above');
    case 'bar':
      return readMark(
        element,
        position(element, 'barPr') === 'above' ? '\u0305' : '\u0332',
        position(element, 'barPr'),
      );
    case 'groupChr':
      return readGroup(element);
    case 'borderBox':
      return box(part(element, 'e'));
    case 'phant':
      return ['0', 'off', 'false'].includes(value(element, 'phantPr', 'show') ?? '') ? [] : part(element, 'e');
    case 'del':
    case 'moveFrom':
      return [];
    default:
      return element.local.endsWith('Pr') ? [] : readRow(element, named);
  }
}

/** LaTeX of an `m:oMath` or `m:oMathPara` element, without delimiters. */
export function ommlLatex(math: XmlElement): string {
  return writeLatex(readRow(math));
}

/** The markup of a formula in semantic HTML; the renderer writes `$...$` or `$$...$$` from `data-latex`. */
export function formulaMarkup(latex: string, display: boolean): string {
  if (latex === '') return '';
  const escaped = escapeHtml(latex);
  return `<span data-latex="${escaped}"${display ? ' data-display="block"' : ''}>${escaped}</span>`;
}
