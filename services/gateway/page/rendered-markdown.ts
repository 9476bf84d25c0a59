// Renders Markdown of an untrusted document: no script, no style, no form and no request to another server.
import DOMPurify, { type Config } from '/page/packages/dompurify.js';
import { marked } from '/page/packages/marked.js';
import { element } from './elements.ts';
import { protectRedactions, type Redaction, restoreRedactions } from './redactions.ts';

export interface RenderContext {
  redaction: Redaction | undefined;
  /** URLs of the pictures of the document by the name that the Markdown refers to. */
  pictures: ReadonlyMap<string, string>;
}

/** Longer text is cut, because the browser would stop responding. */
const RENDER_LENGTH = 262_144;
/** A longer paragraph is shown as plain text, because the parser needs quadratic time for some texts: one second for 16,000 characters. */
const PARAGRAPH_LENGTH = 16_000;

const SANITIZE = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'option', 'dialog', 'audio', 'video', 'map'],
  FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset', 'background', 'usemap', 'tabindex', 'role'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|#|[^:]*$|data:image\/(?:png|jpeg|gif|webp|bmp);)/i,
  RETURN_DOM_FRAGMENT: true as const,
} satisfies Config & { RETURN_DOM_FRAGMENT: true };

marked.use({ renderer: { checkbox: ({ checked }) => (checked ? '☑ ' : '☐ ') } });

/** The elements of a piece of Markdown. */
export function renderMarkdown(markdown: string, context: RenderContext): Node {
  if (markdown.length > RENDER_LENGTH)
    return element(
      'div',
      {},
      element(
        'p',
        { class: 'notice' },
        'This part is too long to be shown. “Copy” and “Download Markdown” have all of it.',
      ),
      element('pre', { class: 'plain' }, markdown.slice(0, PARAGRAPH_LENGTH)),
    );
  if (longestParagraph(markdown) > PARAGRAPH_LENGTH) return element('pre', { class: 'plain' }, markdown);
  let html: string;
  try {
    html = marked.parse(protectRedactions(markdown, context.redaction), { async: false });
  } catch {
    // Deeply nested quotes exhaust the parser's stack.
    return element('pre', { class: 'plain' }, markdown);
  }
  const fragment = DOMPurify.sanitize(html, SANITIZE);
  restoreRedactions(fragment);
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(pictureOf(image, context));
  for (const link of fragment.querySelectorAll('a[href]')) secureLink(link as HTMLAnchorElement);
  for (const table of fragment.querySelectorAll('table')) wrapTable(table);
  return fragment;
}

/** Characters of the longest text that the parser reads as one: a paragraph, or a row of a table. */
function longestParagraph(markdown: string): number {
  let longest = 0;
  let length = 0;
  for (const line of markdown.split('\n')) {
    length = line.trim() === '' ? 0 : line.startsWith('|') ? line.length : length + line.length;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** A picture of the document itself, or the text and the address of a picture on another server, which is not loaded. */
function pictureOf(image: HTMLImageElement, { pictures }: RenderContext): HTMLElement {
  const source = image.getAttribute('src') ?? '';
  const alt = image.getAttribute('alt') ?? '';
  const own = pictures.get(source) ?? (source.startsWith('data:') ? source : undefined);
  if (own !== undefined) return element('img', { src: own, alt, class: 'picture' });
  const label = alt === '' ? 'Image' : `Image: ${alt}`;
  return /^https?:/i.test(source)
    ? element('a', { href: source, class: 'picture-link', title: source }, label)
    : element('span', { class: 'picture-link' }, label);
}

/** A link of a document opens in a new tab, which gets no access to this page. */
function secureLink(link: HTMLAnchorElement): void {
  const target = link.getAttribute('href') ?? '';
  if (!/^(?:https?:|mailto:|tel:)/i.test(target)) {
    // A relative address would lead to this server, where the document's other files are not.
    link.removeAttribute('href');
    if (target !== '') link.title = target;
    return;
  }
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
}

/** A wide table scrolls by itself, also with the keyboard. */
function wrapTable(table: HTMLTableElement): void {
  const wrapper = element('div', { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': 'Table' });
  table.replaceWith(wrapper);
  wrapper.append(table);
}
