// Reads inline HTML into the flat list of tokens that inline.ts writes as Markdown.
import type { ChildNode, Element } from 'domhandler';
import { holds, isElement, isText, textOf } from './dom.ts';
import { BLOCK, SILENT } from './elements.ts';
import { codeSpan, escapeDestination, escapeText, titlePart } from './escape-markdown.ts';
import type { Footnotes } from './footnotes.ts';
import type { InlineToken, Mark } from './inline.ts';
import { formulaMarkdown, formulaOf } from './math.ts';

/** Data about the complete document that the writer of one part needs. */
export interface MarkdownScope {
  footnotes: Footnotes;
  /** Inline elements that contain blocks. */
  holders: ReadonlySet<Element>;
}

interface CollectContext {
  scope: MarkdownScope;
  /** Inside a table cell. */
  cell: boolean;
  heading: boolean;
}

const STRONG: Mark = { kind: 'strong' };
const EM: Mark = { kind: 'em' };
const SIMPLE_MARKS: ReadonlyMap<string, Mark> = new Map([
  ['b', STRONG],
  ['strong', STRONG],
  ['i', EM],
  ['em', EM],
  ['s', { kind: 'del' }],
  ['del', { kind: 'del' }],
  ['strike', { kind: 'del' }],
  ['sub', { kind: 'sub' }],
  ['sup', { kind: 'sup' }],
]);
/** UTF-16 code units of a style attribute that are searched. */
const STYLE_LENGTH = 1000;
const CODE = new Set(['code', 'kbd', 'samp', 'tt']);
/** The text of a permalink, which is a link in a heading that points to this heading. */
const PERMALINK = /^[#¶§🔗\s\u200b]*$/u;

/** Marks that an element sets, by its name or its style attribute. */
export function marksOf(element: Element): Mark[] {
  const style = element.attribs.style?.slice(0, STYLE_LENGTH);
  const named = SIMPLE_MARKS.get(element.name);
  if (style === undefined) return named ? [named] : [];
  const marks: Mark[] = [];
  const weight = /font-weight\s*:\s*([\w-]+)/i.exec(style)?.[1]?.toLowerCase();
  const bold =
    weight === undefined ? named === STRONG : weight === 'bold' || weight === 'bolder' || Number(weight) >= 600;
  const slant = /font-style\s*:\s*(\w+)/i.exec(style)?.[1]?.toLowerCase();
  const italic = slant === undefined ? named === EM : slant === 'italic' || slant === 'oblique';
  if (bold) marks.push(STRONG);
  if (italic) marks.push(EM);
  if (named && named !== STRONG && named !== EM) marks.push(named);
  else if (/text-decoration(?:-line)?\s*:[^;]*line-through/i.test(style)) marks.push({ kind: 'del' });
  return marks;
}

/** The link of an anchor, or undefined if it has no target. */
export function linkOf(element: Element): Mark | undefined {
  const href = element.attribs.href?.trim();
  if (element.name !== 'a' || href === undefined || href === '' || href === '#') return undefined;
  return { kind: 'link', href, ...(element.attribs.title ? { title: element.attribs.title } : {}) };
}

/** Adds the tokens of `nodes`. Recursion is bounded by the tree's depth limit. */
export function collectInline(
  nodes: readonly ChildNode[],
  context: CollectContext,
  tokens: InlineToken[],
): InlineToken[] {
  for (const node of nodes) {
    if (isText(node)) tokens.push({ type: 'text', text: node.data });
    else if (isElement(node)) collectElement(node, context, tokens);
  }
  return tokens;
}

function collectElement(element: Element, context: CollectContext, tokens: InlineToken[]): void {
  const number = context.scope.footnotes.references.get(element);
  if (number !== undefined) {
    tokens.push({ type: 'raw', text: `[^${number}]` });
    return;
  }
  const { name } = element;
  if (name === 'br') {
    tokens.push({ type: 'break' });
    return;
  }
  if (name === 'img') {
    tokens.push({ type: 'raw', text: imageMarkdown(element, context.cell) });
    return;
  }
  const formula = formulaOf(element);
  if (formula) {
    // Two breaks end a paragraph, so a displayed formula becomes a separate paragraph.
    const alone = formula.display && !context.cell && !context.heading;
    if (alone) tokens.push({ type: 'break' }, { type: 'break' });
    tokens.push({ type: 'raw', text: formulaMarkdown(formula, context.cell || context.heading) });
    if (alone) tokens.push({ type: 'break' }, { type: 'break' });
    return;
  }
  if (SILENT.has(name) || context.scope.footnotes.backlinks.has(element)) return;
  if (CODE.has(name)) collectCode(element, context, tokens);
  else if (name === 'q') {
    tokens.push({ type: 'text', text: '“' });
    collectInline(element.children, context, tokens);
    tokens.push({ type: 'text', text: '”' });
  } else if (BLOCK.has(name) || context.scope.holders.has(element)) {
    tokens.push({ type: 'break' });
    collectMarked(element, context, tokens);
    tokens.push({ type: 'break' });
  } else collectMarked(element, context, tokens);
}

function collectMarked(element: Element, context: CollectContext, tokens: InlineToken[]): void {
  const marks = marksOf(element);
  const link = linkOf(element);
  if (link) {
    const isPermalink = link.href?.includes('#') && PERMALINK.test(textOf(element.children));
    if (context.heading && isPermalink && !holds(element, ({ name }) => name === 'img')) return;
    marks.push(link);
  }
  for (const mark of marks) tokens.push({ type: 'open', mark });
  const before = tokens.length;
  collectInline(element.children, context, tokens);
  if (link && tokens.length === before && element.attribs['aria-label'])
    tokens.push({ type: 'text', text: element.attribs['aria-label'] });
  for (let index = marks.length - 1; index >= 0; index--) tokens.push({ type: 'close', mark: marks[index]! });
}

/** Writes a code span. Spaces at its ends are moved out of it. If its entire content is a link, the link is put around the span. */
function collectCode(element: Element, context: CollectContext, tokens: InlineToken[]): void {
  const text = textOf(element.children);
  const span = codeSpan(text, context.cell);
  if (span === '') return;
  const children = element.children.filter((child) => !(isText(child) && child.data.trim() === ''));
  const only = children.length === 1 ? children[0] : undefined;
  const link = isElement(only) ? linkOf(only) : undefined;
  if (/^\s/.test(text)) tokens.push({ type: 'text', text: ' ' });
  if (link) tokens.push({ type: 'open', mark: link });
  tokens.push({ type: 'raw', text: span });
  if (link) tokens.push({ type: 'close', mark: link });
  if (/\s$/.test(text)) tokens.push({ type: 'text', text: ' ' });
}

/** `![alt](src "title")`. An empty `src` (removeBase64Images) gives `![alt]()`; an image without `src` and `alt` is left out. */
function imageMarkdown(element: Element, cell: boolean): string {
  const { src, alt, title } = element.attribs;
  const words = escapeText((alt ?? '').replace(/\s+/g, ' ').trim(), { lineStart: false, cell, link: true });
  if (src === undefined && words === '') return '';
  return `![${words}](${escapeDestination(src?.trim() ?? '')}${titlePart(title, cell)})`;
}
