// Parses HTML and XHTML into the DOM from which all fields of the record are made.
import type { Document, Element } from 'domhandler';
import { isElement } from './dom.ts';
import { escapeHtml } from './escape-html.ts';
import { buildDocument } from './tree-builder.ts';

interface ParseHtmlOptions {
  /** XHTML: `<a/>` ends the element and CDATA is text. */
  xhtml?: boolean;
}

/** A parsed document: always `html` with `head` and `body`, as in a browser. */
export interface HtmlTree {
  document: Document;
  html: Element;
  head: Element;
  body: Element;
}

/** The internal subset of a document type starts within this many characters of the file. */
const DOCTYPE_WITHIN = 4096;

/**
 * Parses HTML as the HTML Standard does (13.2). Comments and the document type are left out, and the text of frameset
 * pages for browsers without frames is kept. Elements that are nested deeper than DOCUMENT_LIMITS.htmlDepth become
 * siblings, so that recursion over the tree is safe.
 *
 * XHTML is parsed by the same rules, because many XHTML files are not well-formed. Two things differ: `<a/>` ends the
 * element, and CDATA sections are text.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above DOCUMENT_LIMITS.htmlElements
 */
export function parseHtml(html: string, options: ParseHtmlOptions = {}): HtmlTree {
  const xhtml = options.xhtml ?? false;
  const source = withoutInternalSubset(html);
  const document = buildDocument(xhtml ? withoutCdata(source) : source, xhtml);
  const root = childNamed(document, 'html');
  return { document, html: root, head: childNamed(root, 'head'), body: childNamed(root, 'body') };
}

function childNamed(parent: Document | Element, name: string): Element {
  const child = parent.children.find((node): node is Element => isElement(node) && node.name === name);
  if (!child) throw new Error(`The parser made no ${name} element`);
  return child;
}

/** Removes `[...]` from a document type: an HTML parser ends the document type at the first `>` inside. */
function withoutInternalSubset(source: string): string {
  const start = /<!doctype[^[<>]*\[/i.exec(source.slice(0, DOCTYPE_WITHIN));
  if (!start) return source;
  const open = start.index + start[0].length;
  const end = /\]\s*>/.exec(source.slice(open));
  return end ? source.slice(0, open - 1) + source.slice(open + end.index + 1) : source;
}

/** Replaces CDATA sections by escaped text. Also matches comments, because they may contain the start of a section. */
function withoutCdata(source: string): string {
  if (!source.includes('<![CDATA[')) return source;
  return source.replace(/<!--.*?(?:-->|$)|<!\[CDATA\[(.*?)(?:\]\]>|$)/gs, (match, text: string | undefined) =>
    text === undefined ? match : escapeHtml(text),
  );
}
