// Reads includeTags and excludeTags as CSS selectors, and tells the caller which of them is not one.
import { type CheerioAPI, load } from 'cheerio/slim';
import type { Document, Element } from 'domhandler';
import { type FieldIssue, ParseError } from '../contract/errors.ts';
import { isElement } from './dom.ts';

/** A `.` or `#` with no identifier behind it (Selectors 4, section 6.6), which the selector engine lets pass. */
function namesNothing(selector: string): boolean {
  const bare = selector.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]/gs, '');
  return /[.#](?!-?[_a-z\\\u0080-\uffff]|--)/i.test(bare);
}

/**
 * Checks selectors before anything is parsed; `field` is the option that they came in.
 * @throws ParseError BAD_REQUEST naming each selector that is not one.
 */
export function checkSelectors(tags: readonly string[], field: 'includeTags' | 'excludeTags' = 'includeTags'): void {
  if (tags.length === 0) return;
  const root = load([]).root();
  const issues: FieldIssue[] = [];
  tags.forEach((tag, index) => {
    try {
      if (tag.trim() === '' || namesNothing(tag)) throw new Error('empty');
      root.find(tag);
    } catch {
      issues.push({ path: `${field}[${index}]`, message: `\`${tag}\` is not a CSS selector`, code: 'custom' });
    }
  });
  if (issues.length > 0)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: \`${issues[0]?.path}\`: ${issues[0]?.message}; use a tag name, .class, #id or another CSS selector`,
      { details: issues },
    );
}

/** A document with its selector engine, built once where selectors are asked of it. */
export function selectorEngine(document: Document): CheerioAPI {
  return load(document);
}

/** Elements that any of the selectors matches, in document order. The selectors must have passed `checkSelectors`. */
export function selectAll(engine: CheerioAPI, selectors: readonly string[]): Element[] {
  if (selectors.length === 0) return [];
  // One by one: a list of its own (`:first, :last`) keeps its meaning, and the union is put in order once.
  const found = new Set<Element>();
  for (const selector of selectors)
    for (const node of engine.root().find(selector).toArray()) if (isElement(node)) found.add(node);
  return selectors.length === 1 ? [...found] : inDocumentOrder(engine, found);
}

function inDocumentOrder(engine: CheerioAPI, wanted: ReadonlySet<Element>): Element[] {
  const ordered: Element[] = [];
  const root = engine.root()[0];
  const pending = root ? [...root.children].reverse() : [];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isElement(node)) continue;
    if (wanted.has(node)) ordered.push(node);
    for (let index = node.children.length - 1; index >= 0; index--) pending.push(node.children[index]!);
  }
  return ordered;
}
