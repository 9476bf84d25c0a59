// Marks redacted text by kind of data, in plain text and in the elements of rendered Markdown.

import type { Options } from './code.ts';
import { element } from './elements.ts';

/** How a document was redacted. */
export interface Redaction {
  style: 'tag' | 'mask' | 'remove';
  entities: readonly string[];
}

/** The redaction that a request asked for; undefined if it asked for none. */
export function redactionOf({ redactPII }: Options, entities: readonly string[]): Redaction | undefined {
  if (redactPII === undefined || redactPII === false) return undefined;
  const { replaceStyle = 'tag' } = redactPII === true ? {} : (redactPII as { replaceStyle?: Redaction['style'] });
  return { style: replaceStyle, entities };
}

// Private-use characters, because the Markdown parser would read `<EMAIL>` as an HTML tag, and `****` as emphasis.
const OPEN = '\uE000';
const CLOSE = '\uE001';
const PLACEHOLDER = new RegExp(`${OPEN}([A-Z]+)(\\d*)${CLOSE}`, 'g');
const MASKED = 'MASKED';
/** Shorter runs of `*` can be Markdown. */
const MASK = /\*{5,}/g;

/** The tag of an entity as it is in text, in HTML, and in a URL. */
const tagPattern = ({ entities }: Redaction): RegExp =>
  new RegExp(`(?:\\\\?<|&lt;|%3C)(${entities.join('|')})(?:>|&gt;|%3E)`, 'g');

/** Replaces redacted text by placeholders that survive Markdown and sanitizing. `restoreRedactions` shows them. */
export function protectRedactions(markdown: string, redaction: Redaction | undefined): string {
  if (redaction?.style === 'tag') return markdown.replaceAll(tagPattern(redaction), `${OPEN}$1${CLOSE}`);
  if (redaction?.style === 'mask') return markdown.replaceAll(MASK, (mask) => `${OPEN}${MASKED}${mask.length}${CLOSE}`);
  return markdown;
}

/** Replaces the placeholders below `root` by marks. A URL with a redacted part is removed, because it leads nowhere. */
export function restoreRedactions(root: DocumentFragment): void {
  for (const found of root.querySelectorAll('[href], [src], [alt], [title]'))
    for (const { name, value } of [...found.attributes]) {
      if (!value.includes(OPEN) && !value.includes(encodeURIComponent(OPEN))) continue;
      if (name === 'href' || name === 'src') found.removeAttribute(name);
      else found.setAttribute(name, value.replaceAll(PLACEHOLDER, '<$1>'));
    }
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) if (walker.currentNode.nodeValue?.includes(OPEN)) texts.push(walker.currentNode as Text);
  for (const text of texts) text.replaceWith(...marked(text.data, PLACEHOLDER));
}

/** Plain text as nodes, with marks for redacted text. */
export function markRedactions(text: string, redaction: Redaction | undefined): Node[] {
  if (redaction?.style === 'tag') return marked(text, tagPattern(redaction));
  if (redaction?.style === 'mask') return marked(text, MASK);
  return [document.createTextNode(text)];
}

function marked(text: string, pattern: RegExp): Node[] {
  const nodes: Node[] = [];
  let position = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > position) nodes.push(document.createTextNode(text.slice(position, match.index)));
    nodes.push(redactionMark(match[1], match[2] ? '*'.repeat(Number(match[2])) : match[0]));
    position = match.index + match[0].length;
  }
  if (position < text.length) nodes.push(document.createTextNode(text.slice(position)));
  return nodes;
}

function redactionMark(entity: string | undefined, source: string): HTMLElement {
  const isTag = entity !== undefined && entity !== MASKED;
  return element(
    'mark',
    { class: 'redaction', 'data-entity': isTag ? entity : MASKED, title: isTag ? `Redacted: ${entity}` : 'Redacted' },
    isTag ? `<${entity}>` : source,
  );
}

/**
 * The number of redactions of each kind of data, with the colours of the marks.
 * @param showsFile whether the page shows the file itself next to the text
 */
export function redactionLegend(
  counts: Readonly<Record<string, number>>,
  { style }: Redaction,
  showsFile: boolean,
): HTMLElement {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  const notes = [
    { tag: '', mask: 'They are masked with * in the text.', remove: 'They are deleted from the text.' }[style],
    showsFile ? 'The pages show your own file, which is not redacted.' : '',
  ].filter((note) => note !== '');
  if (found.length === 0)
    return element('p', { class: 'redaction-legend' }, 'No personal data was found in this document.');
  return element(
    'div',
    { class: 'redaction-legend' },
    element('h3', {}, 'Redacted'),
    element(
      'ul',
      {},
      ...found.map(([entity, count]) =>
        element(
          'li',
          {},
          element('mark', { class: 'redaction', 'data-entity': style === 'tag' ? entity : MASKED }, entity),
          ` ${count.toLocaleString('en')}`,
        ),
      ),
    ),
    ...notes.map((note) => element('p', { class: 'hint' }, note)),
  );
}
