// XML from uploads is read here, so that depth is bounded and no entity is ever expanded or fetched.
import { Parser } from 'htmlparser2';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';

export interface XmlElement {
  /** As written, with its prefix (`w:p`). */
  name: string;
  /** Without the prefix (`p`). */
  local: string;
  /** By name as written; only the file's own attributes are enumerable. */
  attributes: Record<string, string>;
  children: (XmlElement | string)[];
}

export interface XmlEvents {
  open?: (name: string, attributes: Record<string, string>) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
}

/** The part of a name after its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * Streams XML to handlers, elements balanced. Only the five named entities and character references are decoded
 * (XML 1.0, 4.6); a document type that declares entities is refused. Malformed XML gives what can be read of it.
 * @throws ParseError DOCUMENT_TOO_COMPLEX past `DOCUMENT_LIMITS.xmlDepth` or where entities are declared
 */
export function readXml(xml: string, events: XmlEvents): void {
  let depth = 0;
  const parser = new Parser(
    {
      onprocessinginstruction(name, data) {
        // The tokenizer ends a document type at its first `>`, so that later declarations arrive on their own.
        if (name.toLowerCase() === '!entity' || (name.toLowerCase() === '!doctype' && /<!ENTITY/i.test(data)))
          throw new ParseError('DOCUMENT_TOO_COMPLEX', 'The document declares XML entities, which are not read');
      },
      onopentag(name, attributes) {
        if (++depth > DOCUMENT_LIMITS.xmlDepth)
          throw new ParseError(
            'DOCUMENT_TOO_COMPLEX',
            `The document nests elements deeper than ${DOCUMENT_LIMITS.xmlDepth}`,
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
  parser.end(xml);
}

/**
 * The root element of an XML text as a tree. Adjacent text is joined; comments and processing instructions are left out.
 * @throws ParseError DOCUMENT_CORRUPT where there is no element; DOCUMENT_TOO_COMPLEX as `readXml`
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
  if (!root) throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: a part that should be XML is not');
  return root;
}

/** The child elements, all or those of one local name. */
export function childElements(element: XmlElement, local?: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const child of element.children)
    if (typeof child !== 'string' && (local === undefined || child.local === local)) found.push(child);
  return found;
}

/** The first child element of a local name. */
export function childElement(element: XmlElement | undefined, local: string): XmlElement | undefined {
  for (const child of element?.children ?? []) if (typeof child !== 'string' && child.local === local) return child;
  return undefined;
}

/** Walks down by local names, first child each time. */
export function descend(element: XmlElement | undefined, ...locals: string[]): XmlElement | undefined {
  let at = element;
  for (const local of locals) at = childElement(at, local);
  return at;
}

/**
 * All elements below (not the element itself) of a local name, in document order.
 * @param except local name of elements whose insides are left out
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

/** All text below, in document order. */
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

/** An attribute by its local name, whatever prefix the file binds (prefixes are the file's choice). */
export function attribute(element: XmlElement | undefined, local: string): string | undefined {
  if (!element) return undefined;
  for (const name in element.attributes) if (localName(name) === local) return element.attributes[name];
  return undefined;
}
