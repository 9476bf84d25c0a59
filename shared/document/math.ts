// Finds the formulas in an HTML tree and returns their LaTeX: the author's LaTeX if the markup contains it, otherwise LaTeX made from MathML.
import type { Element } from 'domhandler';
import { isElement, textOf, walk } from './dom.ts';
import { localName, mathmlLatex } from './formula/mathml.ts';

interface Formula {
  latex: string;
  /** The formula is shown on a separate line. */
  display: boolean;
}

const TEX_ENCODING = /^(?:application\/x-tex|text\/x-tex|tex|latex|application\/x-latex)$/i;

/** The formula of an element; undefined if the element is not a formula or is empty. */
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
  const latex = annotation ?? (math.attribs.alttext?.trim() ? math.attribs.alttext : mathmlLatex(math.children));
  return finish(latex, display);
}

function finish(latex: string, display: boolean): Formula | undefined {
  const body = unwrap(latex.replace(/\s+/g, ' ').trim());
  return body === '' ? undefined : { latex: body, display };
}

/** Removes the wrappers that MediaWiki and MathJax add: `{\displaystyle ...}`, `\(...\)`, `$...$`. */
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

/** Markdown of a formula: `$$...$$` if it is displayed and not in a cell, else `$...$`. */
export function formulaMarkdown(formula: Formula, cell = false): string {
  const fence = formula.display && !cell ? '$$' : '$';
  const body = cell ? formula.latex.replaceAll('|', '\\|') : formula.latex;
  return `${fence}${body}${fence}`;
}
