// Reads XML from uploads: bounds the depth, and never expands or fetches an entity.
import { Parser } from 'htmlparser2';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';

export interface XmlElement {
  /** As written, with its prefix (`w:p`). */
  name: string;
  /** Without the prefix (`p`). */
  local: string;
  /** By name as written. */
  attributes: Record<string, string>;
  children: (XmlElement | string)[];
}

interface XmlEvents {
  open?: (name: string, attributes: Record<string, string>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/** The part of a name after its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** A parser that passes what it reads to handlers. */
function xmlParser(events: XmlEvents): Parser {
  let depth = 0;
  return new Parser(
    {
      onprocessinginstruction(name, data) {
        // The tokenizer ends a document type at its first `>`, and reports later declarations separately.
        if (name.toLowerCase() === '!entity' || (name.toLowerCase() === '!doctype' && /<!ENTITY/i.test(data)))
          throw new ParseError(
            'DOCUMENT_TOO_COMPLEX',
            'The document declares XML entities, which are not supported; remove the declarations',
          );
      },
      onopentag(name, attributes) {
        if (++depth > DOCUMENT_LIMITS.xmlDepth)
          throw new ParseError(
            'DOCUMENT_TOO_COMPLEX',
            `The document nests XML elements deeper than ${DOCUMENT_LIMITS.xmlDepth} levels; simplify the document and send it again`,
          );
        events.open?.(name, attributes);
      },
      ontext(text) {
        if (depth > 0) events.text?.(text);
      },
      onclosetag(name) {
        depth--;
        events.close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
}

/**
 * Streams XML to handlers. Each `open` has a `close`. Decodes the five predefined entities (XML 1.0, 4.6) and character
 * references. Reads as much as possible of XML that is not well-formed.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above `DOCUMENT_LIMITS.xmlDepth`, or if entities are declared
 */
export function readXml(xml: string, events: XmlEvents): void {
  xmlParser(events).end(xml);
}

/** Like `readXml`, for XML in pieces, which need not be in memory at the same time. A text may be passed on in several parts. */
export async function readXmlStream(xml: AsyncIterable<string>, events: XmlEvents): Promise<void> {
  const parser = xmlParser(events);
  for await (const piece of xml) parser.write(piece);
  parser.end();
}

/**
 * The root element of an XML text as a tree. Adjacent texts are joined, comments and processing instructions left out.
 * @throws ParseError DOCUMENT_CORRUPT if there is no element, DOCUMENT_TOO_COMPLEX as in `readXml`
 */
export function parseXml(xml: string): XmlElement {
  const top: XmlElement = { name: '', local: '', attributes: {}, children: [] };
  const open: XmlElement[] = [top];
  readXml(xml, {
    open(name, attributes) {
      const element: XmlElement = { name, local: localName(name), attributes, children: [] };
      open[open.length - 1]?.children.push(element);
      open.push(element);
    },
    text(text) {
      const children = open[open.length - 1]?.children;
      if (!children) return;
      const last = children.length - 1;
      const before = children[last];
      if (typeof before === 'string') children[last] = before + text;
      else children.push(text);
    },
    close() {
      open.pop();
    },
  });
  const root = top.children.find((child) => typeof child !== 'string');
  if (!root)
    throw new ParseError(
      'DOCUMENT_CORRUPT',
      'The document is corrupt: a part that must be XML contains no XML element',
    );
  return root;
}

/** The child elements, or those with a local name. */
export function childElements(element: XmlElement, local?: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const child of element.children)
    if (typeof child !== 'string' && (local === undefined || child.local === local)) found.push(child);
  return found;
}

/** The first child element with a local name. */
export function childElement(element: XmlElement | undefined, local: string): XmlElement | undefined {
  for (const child of element?.children ?? []) if (typeof child !== 'string' && child.local === local) return child;
  return undefined;
}

/** Follows a path of local names, at each step to the first child with that name. */
export function descend(element: XmlElement | undefined, ...locals: string[]): XmlElement | undefined {
  let at = element;
  for (const local of locals) at = childElement(at, local);
  return at;
}

/**
 * All descendants with a local name, in document order.
 * @param except local name of elements whose content is skipped
 */
export function descendants(element: XmlElement, local: string, except?: string): XmlElement[] {
  const found: XmlElement[] = [];
  const waiting: XmlElement[] = childElements(element).reverse();
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    if (at.local === local) found.push(at);
    if (at.local === except) continue;
    for (let i = at.children.length - 1; i >= 0; i--) {
      const child = at.children[i];
      if (child !== undefined && typeof child !== 'string') waiting.push(child);
    }
  }
  return found;
}

/** The text of all descendants, in document order. */
export function textContent(element: XmlElement | undefined): string {
  if (!element) return '';
  let text = '';
  const waiting: (XmlElement | string)[] = [element];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at === 'string') text += at;
    else for (let i = at.children.length - 1; i >= 0; i--) waiting.push(at.children[i] as XmlElement | string);
  }
  return text;
}

/** An attribute by its local name, with any prefix, because each file chooses its prefixes. */
export function attribute(element: XmlElement | undefined, local: string): string | undefined {
  if (!element) return undefined;
  for (const name in element.attributes) if (localName(name) === local) return element.attributes[name];
  return undefined;
}
