// Applies includeTags and excludeTags as CSS selectors, and rejects those that are not valid.
import { type CheerioAPI, load } from 'cheerio/slim';
import type { Document, Element } from 'domhandler';
import { type FieldIssue, ParseError } from '../contract/errors.ts';
import { REQUEST_LIMITS } from '../contract/limits.ts';
import { isElement, walk } from './dom.ts';

/** Whether a `.` or `#` has no identifier after it (Selectors 4, 6.6). The selector engine accepts this error. */
function namesNothing(selector: string): boolean {
  const bare = selector.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]/gs, '');
  return /[.#](?!-?[_a-z\\\u0080-\uffff]|--)/i.test(bare);
}

/**
 * Checks selectors before the document is parsed. `field`: the option that they come from.
 * @throws ParseError BAD_REQUEST that lists the selectors that are not valid
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

/** The warning for includeTags that match no element, which leaves the response empty. */
export function noMatchWarning(includeTags: readonly string[]): string {
  const { errorValueLength, warningSelectors } = REQUEST_LIMITS;
  const names = includeTags
    .slice(0, warningSelectors)
    .map((tag) => `\`${tag.length > errorValueLength ? `${tag.slice(0, errorValueLength)}...` : tag}\``);
  const more = includeTags.length - names.length;
  return `No element of the document matches includeTags (${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}), so its content was left out. Use other CSS selectors, or remove includeTags.`;
}

/** The selector engine of a document. */
export function selectorEngine(document: Document): CheerioAPI {
  return load(document);
}

/** The elements that match one of the selectors, in document order. The selectors must have passed `checkSelectors`. */
export function selectAll(engine: CheerioAPI, selectors: readonly string[]): Element[] {
  if (selectors.length === 0) return [];
  // Each selector separately, so that a selector that is a list itself (`:first, :last`) keeps its meaning.
  const found = new Set<Element>();
  for (const selector of selectors)
    for (const node of engine.root().find(selector).toArray()) if (isElement(node)) found.add(node);
  return selectors.length === 1 ? [...found] : inDocumentOrder(engine, found);
}

function inDocumentOrder(engine: CheerioAPI, wanted: ReadonlySet<Element>): Element[] {
  const ordered: Element[] = [];
  walk(engine.root()[0]?.children ?? [], (node) => {
    if (isElement(node) && wanted.has(node)) ordered.push(node);
    return true;
  });
  return ordered;
}
