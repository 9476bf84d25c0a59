// Reads Markdown and HTML with other parsers (marked, cheerio) into words, structure and a normal form, so that tests can compare two writers.
import * as cheerio from 'cheerio';
import type { AnyNode, Element } from 'domhandler';
import { marked } from 'marked';

type Tree = cheerio.CheerioAPI;

const isElement = (node: AnyNode): node is Element => node.type === 'tag';
const collapseSpaces = (text: string) => text.replace(/[\s\u00a0]+/g, ' ').trim();

/** Inline elements. All others separate words. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em font i img input ins kbd label mark q s samp small span strike strong sub sup u var'.split(
    ' ',
  ),
);
/** Element names with the same meaning. */
const SYNONYMS: Readonly<Record<string, string>> = { b: 'strong', i: 'em', s: 'del', strike: 'del' };
/** Elements without a meaning of their own. Only their content is compared. */
const TRANSPARENT = new Set(['div', 'section', 'article', 'main', 'span', 'thead', 'tbody', 'tfoot', 'label', 'body']);
/** Attributes that are compared. */
const ATTRIBUTES: readonly string[] = ['href', 'src', 'alt', 'title', 'colspan', 'rowspan', 'align', 'checked'];

/** Converts GitHub Flavored Markdown to HTML. marked does not support footnotes, so their references are removed and the notes become paragraphs. */
export function markdownToHtml(markdown: string): string {
  const plain = markdown.replace(/^\[\^\d+\]: /gm, '').replace(/\[\^\d+\]/g, '');
  return marked.parse(plain, { async: false, gfm: true });
}

/** The text of nodes. Inline elements do not separate words, all others do. */
function textOf(nodes: readonly AnyNode[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'text') return node.data;
      if (!isElement(node)) return '';
      const inner = textOf(node.children);
      return INLINE.has(node.name) ? inner : ` ${inner} `;
    })
    .join('');
}

/** The words of an HTML text in order. A word is a run of characters other than spaces. */
export function wordsOf(html: string): string[] {
  return collapseSpaces(textOf(cheerio.load(html, null, false).root().contents().toArray()))
    .split(' ')
    .filter((word) => word !== '');
}

interface Outline {
  /** Level and text: `2 Name of the section`. */
  headings: string[];
  /** Depth, list element and text without inner lists: `1 ol First item`. */
  items: string[];
  /** Texts of the cells of each row, joined by ` | `. */
  rows: string[];
}

/** Headings, list items and table rows of an HTML text, in document order. */
export function outlineOf(html: string): Outline {
  const $ = cheerio.load(html, null, false);
  const text = (element: Element) => collapseSpaces(textOf(element.children));
  return {
    headings: $('h1, h2, h3, h4, h5, h6')
      .toArray()
      .map((heading) => `${heading.name.charAt(1)} ${text(heading)}`),
    items: $('li')
      .toArray()
      .map((item) => {
        const lists = $(item).parents('ul, ol');
        const own = item.children.filter((child) => !isElement(child) || (child.name !== 'ul' && child.name !== 'ol'));
        return `${lists.length} ${lists.get(0)?.name} ${collapseSpaces(textOf(own))}`;
      }),
    rows: $('tr')
      .toArray()
      .map((row) => $(row).children('td, th').toArray().map(text).join(' | ')),
  };
}

/** A normal form of an HTML text: two texts with the same meaning have the same normal form. */
export function normalizeHtml(html: string): string {
  const $ = cheerio.load(html, null, false);
  return write($, $.root().contents().toArray())
    .replaceAll('<em><strong>', '<strong><em>')
    .replaceAll('</strong></em>', '</em></strong>')
    .replace(/\s*(<\/?(?:p|h[1-6]|ul|ol|li|table|tr|t[dh]|blockquote|hr|pre|br)\b[^>]*>)\s*/g, '$1')
    .trim();
}

function write($: Tree, nodes: readonly AnyNode[]): string {
  return nodes
    .map((node) =>
      node.type === 'text'
        ? escapeText(node.data.replace(/[\s\u00a0]+/g, ' '))
        : isElement(node)
          ? writeElement($, node)
          : '',
    )
    .join('');
}

function writeElement($: Tree, element: Element): string {
  const name = SYNONYMS[element.name] ?? element.name;
  if (name === 'pre') return writeCode($, element);
  const inner = write($, element.children);
  if (TRANSPARENT.has(name)) return inner;
  // A list item or cell with one paragraph equals one with bare text. Empty paragraphs are ignored.
  const parent = element.parent;
  if (name === 'p' && (inner.trim() === '' || (parent && isElement(parent as AnyNode) && isOnlyParagraph($, element))))
    return inner;
  const attributes = ATTRIBUTES.filter((name) => element.attribs[name] !== undefined && element.attribs[name] !== '1')
    .map((name) => ` ${name}="${escapeText(element.attribs[name] ?? '')}"`)
    .join('');
  const start = name === 'ol' && (element.attribs.start ?? '1') !== '1' ? ` start="${element.attribs.start}"` : '';
  return `<${name}${attributes}${start}>${inner}</${name}>`;
}

function isOnlyParagraph($: Tree, paragraph: Element): boolean {
  const parent = $(paragraph).parent();
  return parent.is('li, td, th') && parent.children('p').length === 1;
}

/** Keeps the spaces of preformatted text and the language of its class. */
function writeCode($: Tree, element: Element): string {
  const language = /language-(\S+)/.exec($(element).find('code').attr('class') ?? $(element).attr('class') ?? '')?.[1];
  return `<pre${language === undefined ? '' : ` ${language}`}>${escapeText($(element).text().trim()).replaceAll('\n', '&#10;').replaceAll(' ', '&#32;')}</pre>`;
}

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
