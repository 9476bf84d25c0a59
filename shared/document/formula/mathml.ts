// Reads presentation MathML into a formula: MathML Core, chapter 3, and elements of MathML 3 that documents still use.
import type { ChildNode, Element } from 'domhandler';
import { isElement, isText, textOf } from '../dom.ts';
import type { Atom, Atoms } from './atom.ts';
import { BLANK } from './atom.ts';
import {
  accent,
  asFunction,
  box,
  fence,
  fraction,
  matrix,
  multiScripts,
  name,
  number,
  root,
  scripts,
  signs,
  stacked,
  text,
} from './builder.ts';
import { writeLatex } from './latex.ts';
import type { Alphabet } from './signs.ts';

/** The alphabet of each value of `mathvariant` (MathML 3, 3.2.2). Italics are absent, because they are the default of LaTeX. */
const VARIANTS: Readonly<Record<string, Alphabet>> = {
  normal: 'mathrm',
  bold: 'mathbf',
  'bold-italic': 'boldsymbol',
  'double-struck': 'mathbb',
  script: 'mathcal',
  'bold-script': 'mathcal',
  fraktur: 'mathfrak',
  'bold-fraktur': 'mathfrak',
  'sans-serif': 'mathsf',
  'bold-sans-serif': 'mathsf',
  'sans-serif-italic': 'mathsf',
  'sans-serif-bold-italic': 'mathsf',
  monospace: 'mathtt',
};
const FUNCTION_APPLICATION = '\u2061';

/** The LaTeX of the content of a `math` element. */
export function mathmlLatex(nodes: readonly ChildNode[]): string {
  return writeLatex(readRow(nodes, undefined));
}

export function localName(element: Element): string {
  return element.name.slice(element.name.indexOf(':') + 1);
}

function readRow(nodes: readonly ChildNode[], variant: Alphabet | undefined): Atom[] {
  const atoms: Atom[] = [];
  for (const node of nodes) {
    if (isText(node)) {
      if (node.data.trim() !== '') atoms.push(...signs(node.data.trim()));
    } else if (isElement(node)) {
      const last = atoms.at(-1);
      if (last && localName(node) === 'mo' && tokenText(node) === FUNCTION_APPLICATION)
        atoms[atoms.length - 1] = asFunction(last);
      else for (const atom of readElement(node, variant)) atoms.push(atom);
    }
  }
  return atoms;
}

/** The text of a token element, without the white space of the markup at its ends (MathML 3, 2.1.7). */
function tokenText(element: Element | undefined): string {
  return textOf(element?.children ?? []).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function readElement(element: Element, inherited: Alphabet | undefined): Atom[] {
  const variant = VARIANTS[element.attribs.mathvariant ?? ''] ?? inherited;
  const parts = element.children.filter(isElement);
  const part = (index: number): Atom[] => (parts[index] ? readElement(parts[index], variant) : []);
  switch (localName(element)) {
    case 'mi':
      return readIdentifier(tokenText(element), variant);
    case 'mn':
      return variant === undefined ? number(tokenText(element)) : signs(tokenText(element), variant);
    case 'mo': {
      const sign = tokenText(element);
      return /^\p{L}{2,}$/u.test(sign) ? name(sign) : signs(sign);
    }
    case 'mtext':
    case 'ms':
      return text(textOf(element.children));
    case 'mspace':
      return [BLANK];
    case 'mfrac': {
      const bare = /^0[a-z%]*$/.test(element.attribs.linethickness ?? '');
      return fraction(part(0), part(1), bare ? 'stacked' : element.attribs.bevelled === 'true' ? 'slash' : 'bar');
    }
    case 'msqrt':
      return root(readRow(element.children, variant));
    case 'mroot':
      return root(part(0), part(1));
    case 'msub':
      return scripts(part(0), part(1), []);
    case 'msup':
      return scripts(part(0), [], part(1));
    case 'msubsup':
      return scripts(part(0), part(1), part(2));
    case 'munder':
      return accent(tokenText(parts[1]), part(0), 'below') ?? stacked(part(0), part(1), []);
    case 'mover':
      return accent(tokenText(parts[1]), part(0), 'above') ?? stacked(part(0), [], part(1));
    case 'munderover':
      return stacked(part(0), part(1), part(2));
    case 'mmultiscripts':
      return readMultiScripts(parts, variant);
    case 'mfenced':
      return readFenced(
        element,
        parts.map((_, i) => part(i)),
      );
    case 'mtable':
      return matrix(parts.map((row) => row.children.filter(isElement).map((cell) => readRow(cell.children, variant))));
    case 'menclose': {
      const body = readRow(element.children, variant);
      return /\bbox\b/.test(element.attribs.notation ?? '') ? box(body) : body;
    }
    // Only the first child is shown.
    case 'maction':
      return part(0);
    case 'mphantom':
    case 'annotation':
    case 'annotation-xml':
      return [];
    default:
      return readRow(element.children, variant);
  }
}

function readIdentifier(letters: string, variant: Alphabet | undefined): Atom[] {
  if (variant !== undefined && variant !== 'mathrm') return signs(letters, variant);
  // A letter with a combining mark is one letter.
  if ((letters.match(/\P{M}/gu) ?? []).length > 1) return name(letters);
  return signs(letters, variant);
}

function readFenced(element: Element, parts: readonly Atoms[]): Atom[] {
  const { open = '(', close = ')', separators = ',' } = element.attribs;
  return fence(open.trim(), parts, separators.trim().charAt(0), close.trim());
}

/** The children are the base, pairs of scripts after it, and after `mprescripts` pairs of scripts before it (MathML Core, 3.4.3). */
function readMultiScripts(parts: readonly Element[], variant: Alphabet | undefined): Atom[] {
  const [base, ...others] = parts;
  const cut = others.findIndex((one) => localName(one) === 'mprescripts');
  const pairs = (elements: readonly Element[]): [Atom[], Atom[]][] => {
    const read = elements.map((one) => readElement(one, variant));
    return read.flatMap((sub, i) => (i % 2 === 0 ? [[sub, read[i + 1] ?? []] as [Atom[], Atom[]]] : []));
  };
  const behind = pairs(cut < 0 ? others : others.slice(0, cut));
  return multiScripts(base ? readElement(base, variant) : [], cut < 0 ? [] : pairs(others.slice(cut + 1)), behind);
}
