// Reads Markdown and HTML with parsers that are not ours (marked, cheerio) into words, structure and a normal form, so that two writers can be compared by what they say.
import * as cheerio from 'cheerio';
import type { AnyNode, Element } from 'domhandler';
import { marked } from 'marked';

type Tree = cheerio.CheerioAPI;

const isElement = (node: AnyNode): node is Element => node.type === 'tag';
const squeeze = (text: string) => text.replace(/[\s\u00a0]+/g, ' ').trim();

/** Elements that only mark text; every other one stands on a line of its own. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em font i img input ins kbd label mark q s samp small span strike strong sub sup u var'.split(
    ' ',
  ),
);
/** Names that mean the same. */
const SAME: Readonly<Record<string, string>> = { b: 'strong', i: 'em', s: 'del', strike: 'del' };
/** Elements that say nothing here: what is in them counts, not that it is in them. */
const TRANSPARENT = new Set(['div', 'section', 'article', 'main', 'span', 'thead', 'tbody', 'tfoot', 'label', 'body']);
const TOLD: readonly string[] = ['href', 'src', 'alt', 'title', 'colspan', 'rowspan', 'align', 'checked'];

/** GitHub-flavoured Markdown as HTML. Footnote marks, which marked does not know, stand for nothing; their notes are paragraphs. */
export function htmlOf(markdown: string): string {
  const plain = markdown.replace(/^\[\^\d+\]: /gm, '').replace(/\[\^\d+\]/g, '');
  return marked.parse(plain, { async: false, gfm: true });
}

/** The text of a node: blocks, cells and breaks part words, inline elements do not. */
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

/** The words (runs of anything but blanks) of an HTML text, in order. */
export function wordsOf(html: string): string[] {
  return squeeze(textOf(cheerio.load(html, null, false).root().contents().toArray()))
    .split(' ')
    .filter((word) => word !== '');
}

export interface Outline {
  /** `2 Name of the part`. */
  headings: string[];
  /** `1 ol First thing`: depth, kind of list, text without the lists inside. */
  items: string[];
  /** The cells of each row, joined by ` | `. */
  rows: string[];
}

/** Headings, list items and table rows of an HTML text, each in document order. */
export function outlineOf(html: string): Outline {
  const $ = cheerio.load(html, null, false);
  const text = (element: Element) => squeeze(textOf(element.children));
  return {
    headings: $('h1, h2, h3, h4, h5, h6')
      .toArray()
      .map((heading) => `${heading.name.charAt(1)} ${text(heading)}`),
    items: $('li')
      .toArray()
      .map((item) => {
        const lists = $(item).parents('ul, ol');
        const own = item.children.filter((child) => !isElement(child) || (child.name !== 'ul' && child.name !== 'ol'));
        return `${lists.length} ${lists.get(0)?.name} ${squeeze(textOf(own))}`;
      }),
    rows: $('tr')
      .toArray()
      .map((row) => $(row).children('td, th').toArray().map(text).join(' | ')),
  };
}

/** What an HTML text says, in one spelling: for comparing, not for showing. */
export function meaningOf(html: string): string {
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
        ? escaped(node.data.replace(/[\s\u00a0]+/g, ' '))
        : isElement(node)
          ? writeElement($, node)
          : '',
    )
    .join('');
}

function writeElement($: Tree, element: Element): string {
  const name = SAME[element.name] ?? element.name;
  if (name === 'pre') return writeCode($, element);
  const inner = write($, element.children);
  if (TRANSPARENT.has(name)) return inner;
  // A list item or cell of one paragraph is a tight one; a paragraph of nothing is none.
  const parent = element.parent;
  if (name === 'p' && (inner.trim() === '' || (parent && isElement(parent as AnyNode) && isOnlyParagraph($, element))))
    return inner;
  const attributes = TOLD.filter((told) => element.attribs[told] !== undefined && element.attribs[told] !== '1')
    .map((told) => ` ${told}="${escaped(element.attribs[told] ?? '')}"`)
    .join('');
  const start = name === 'ol' && (element.attribs.start ?? '1') !== '1' ? ` start="${element.attribs.start}"` : '';
  return `<${name}${attributes}${start}>${inner}</${name}>`;
}

function isOnlyParagraph($: Tree, paragraph: Element): boolean {
  const parent = $(paragraph).parent();
  return parent.is('li, td, th') && parent.children('p').length === 1;
}

/** Preformatted text keeps its blanks; the language is what its class says. */
function writeCode($: Tree, element: Element): string {
  const language = /language-(\S+)/.exec($(element).find('code').attr('class') ?? $(element).attr('class') ?? '')?.[1];
  return `<pre${language === undefined ? '' : ` ${language}`}>${escaped($(element).text().trim()).replaceAll('\n', '&#10;').replaceAll(' ', '&#32;')}</pre>`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
