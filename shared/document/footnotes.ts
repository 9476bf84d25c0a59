// Finds references and notes that belong together, in the converters' own markup and in the markup that the web and EPUB use for them.
import type { ChildNode, Element } from 'domhandler';
import { classWords, isElement, textOf, walk } from './dom.ts';

/** Numbers by element. A reference without a note is no reference. */
export interface Footnotes {
  references: ReadonlyMap<Element, number>;
  notes: ReadonlyMap<Element, number>;
  /** Links from a note back to its reference, which Markdown makes by itself. */
  backlinks: ReadonlySet<Element>;
}

const NOTE_TYPES = /\b(?:footnote|endnote|rearnote|doc-footnote|doc-endnote)\b/;
const NOTE_LIST = /(?:^|\s)(?:footnotes|endnotes|references|footnote-list|doc-endnotes|doc-footnotes)(?:\s|$)/;
const BACKLINK = /\b(?:doc-backlink|backlink|footnote-back(?:ref)?|mw-cite-backlink|reversefootnote)\b/;
const NOTE_ITEMS = new Set(['li', 'aside', 'p', 'div', 'dd', 'section']);
const REFERENCE_CLASS = new Set(['footnote-ref', 'footnoteref', 'footnote-reference', 'noteref', 'fn-ref']);
/** What a reference's text looks like: a number, a letter or a sign, with or without brackets. */
const REFERENCE_TEXT = /^[[(]?(?:\w{1,4}|(?:note|nb|n)\s?\d{1,3}|[*†‡§¶]{1,3})[\])]?$/i;

/**
 * Numbers the document's footnotes in the order of their first reference.
 * @param startAt one less than the first number to give.
 */
export function findFootnotes(roots: readonly ChildNode[], startAt = 0): Footnotes {
  const referenceIds = new Map<Element, string>();
  const noteById = new Map<string, Element>();
  const listItems = new Set<Element>();
  const backlinks = new Set<Element>();
  const candidates: { element: Element; id: string; certain: boolean }[] = [];
  const itemById = new Map<string, Element>();

  walk(roots, (node) => {
    if (!isElement(node)) return true;
    const { attribs, name } = node;
    const data = attribs['data-footnote'];
    const kind = `${attribs.role ?? ''} ${attribs['epub:type'] ?? ''} ${attribs.class ?? ''}`;
    if (data !== undefined && data !== '') {
      if (name === 'sup' || name === 'a' || name === 'span') referenceIds.set(node, data);
      else if (!noteById.has(data)) noteById.set(data, node);
      return true;
    }
    if (name === 'li' && node.parent && isElement(node.parent) && isNoteList(node.parent)) listItems.add(node);
    if (attribs.id && NOTE_ITEMS.has(name) && !itemById.has(attribs.id)) itemById.set(attribs.id, node);
    if (BACKLINK.test(kind)) backlinks.add(node);
    else if (name === 'a' && attribs.href?.startsWith('#') && attribs.href.length > 1) {
      const certain =
        /\bnoteref\b|\bdoc-noteref\b/.test(kind) ||
        attribs['data-footnote-ref'] !== undefined ||
        classWords(node).some((word) => REFERENCE_CLASS.has(word));
      const raised =
        (isElement(node.parent) && node.parent.name === 'sup') ||
        node.children.some((child) => isElement(child) && child.name === 'sup');
      if (certain || raised) candidates.push({ element: node, id: safeDecode(attribs.href.slice(1)), certain });
    }
    return true;
  });

  for (const { element, id, certain } of candidates) {
    const note = itemById.get(id);
    if (note === undefined || isInside(element, note)) continue;
    const kind = `${note.attribs.role ?? ''} ${note.attribs['epub:type'] ?? ''}`;
    const isNote = listItems.has(note) || NOTE_TYPES.test(kind) || certain;
    if (!isNote || !REFERENCE_TEXT.test(textOf([element]).trim())) continue;
    referenceIds.set(raisedWhole(element), `#${id}`);
    noteById.set(`#${id}`, note);
  }

  const references = new Map<Element, number>();
  const notes = new Map<Element, number>();
  const numbers = new Map<string, number>();
  // References come from two lists; document order decides the numbers.
  walk(roots, (node) => {
    if (!isElement(node)) return true;
    const id = referenceIds.get(node);
    if (id === undefined || !noteById.has(id)) return true;
    let number = numbers.get(id);
    if (number === undefined) {
      number = startAt + numbers.size + 1;
      numbers.set(id, number);
    }
    references.set(node, number);
    return false;
  });
  for (const [id, note] of noteById) {
    let number = numbers.get(id);
    if (number === undefined) {
      number = startAt + numbers.size + 1;
      numbers.set(id, number);
    }
    notes.set(note, number);
  }
  return { references, notes, backlinks };
}

/** A list whose items are notes, by its own words or those of the section around it. */
function isNoteList(list: Element): boolean {
  const words = (element: Element): string =>
    `${element.attribs.class ?? ''} ${element.attribs.role ?? ''} ${element.attribs['epub:type'] ?? ''}`;
  if (NOTE_LIST.test(words(list)) || list.attribs['data-footnotes'] !== undefined) return true;
  const around = list.parent;
  return (
    isElement(around) &&
    (NOTE_LIST.test(words(around)) ||
      around.attribs['data-footnotes'] !== undefined ||
      around.attribs.id === 'footnotes')
  );
}

function isInside(element: Element, ancestor: Element): boolean {
  for (let parent = element.parent; parent !== null; parent = parent.parent) if (parent === ancestor) return true;
  return false;
}

/** The `sup` around a reference where the reference is all that it holds. */
function raisedWhole(element: Element): Element {
  const parent = element.parent;
  if (!isElement(parent) || parent.name !== 'sup') return element;
  return parent.children.every((child) => child === element || (!isElement(child) && textOf([child]).trim() === ''))
    ? parent
    : element;
}

function safeDecode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
