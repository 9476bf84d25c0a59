// Finds footnotes and their references, in the markup of our converters and in the markup of the web and of EPUB.
import type { ChildNode, Element } from 'domhandler';
import { percentDecoded } from './addresses.ts';
import { classWords, isElement, isInside, textOf, walk } from './dom.ts';

/** Footnote numbers by element. Only references that have a note are listed. */
export interface Footnotes {
  references: ReadonlyMap<Element, number>;
  notes: ReadonlyMap<Element, number>;
  /** Links from a note back to its reference. They are left out, because Markdown readers add such links themselves. */
  backlinks: ReadonlySet<Element>;
}

/** The id of the note for each reference, the notes by id, and the backlinks. */
interface FoundNotes {
  referenceIds: Map<Element, string>;
  noteById: Map<string, Element>;
  backlinks: Set<Element>;
}

const NOTE_TYPES = /\b(?:footnote|endnote|rearnote|doc-footnote|doc-endnote)\b/;
const NOTE_LIST = /(?:^|\s)(?:footnotes|endnotes|references|footnote-list|doc-endnotes|doc-footnotes)(?:\s|$)/;
const BACKLINK = /\b(?:doc-backlink|backlink|footnote-back(?:ref)?|mw-cite-backlink|reversefootnote)\b/;
const NOTE_ITEMS = new Set(['li', 'aside', 'p', 'div', 'dd', 'section']);
const REFERENCE_CLASS = new Set(['footnote-ref', 'footnoteref', 'footnote-reference', 'noteref', 'fn-ref']);
/** The text of a reference: a number, a letter or a sign, with or without brackets. */
const REFERENCE_TEXT = /^[[(]?(?:\w{1,4}|(?:note|nb|n)\s?\d{1,3}|[*†‡§¶]{1,3})[\])]?$/i;

/** Numbers the footnotes in the order of their first reference. Notes without a reference come last. */
export function findFootnotes(roots: readonly ChildNode[]): Footnotes {
  const { referenceIds, noteById, backlinks } = collectNotes(roots);
  const references = new Map<Element, number>();
  const notes = new Map<Element, number>();
  const numbers = new Map<string, number>();
  const numberOf = (id: string): number => {
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return number;
  };
  walk(roots, (node) => {
    const id = isElement(node) ? referenceIds.get(node) : undefined;
    if (!isElement(node) || id === undefined || !noteById.has(id)) return true;
    references.set(node, numberOf(id));
    return false;
  });
  for (const [id, note] of noteById) notes.set(note, numberOf(id));
  return { references, notes, backlinks };
}

function collectNotes(roots: readonly ChildNode[]): FoundNotes {
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
      if (certain || raised) candidates.push({ element: node, id: percentDecoded(attribs.href.slice(1)), certain });
    }
    return true;
  });

  for (const { element, id, certain } of candidates) {
    const note = itemById.get(id);
    if (note === undefined || isInside(element, (up) => up === note)) continue;
    const kind = `${note.attribs.role ?? ''} ${note.attribs['epub:type'] ?? ''}`;
    const isNote = listItems.has(note) || NOTE_TYPES.test(kind) || certain;
    if (!isNote || !REFERENCE_TEXT.test(textOf([element]).trim())) continue;
    referenceIds.set(superscriptOf(element), `#${id}`);
    noteById.set(`#${id}`, note);
  }
  return { referenceIds, noteById, backlinks };
}

/** Whether the items of a list are notes, by its attributes or those of the element around it. */
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

/** The `sup` around a reference if it contains nothing else, else the reference. */
function superscriptOf(element: Element): Element {
  const parent = element.parent;
  if (!isElement(parent) || parent.name !== 'sup') return element;
  return parent.children.every((child) => child === element || (!isElement(child) && textOf([child]).trim() === ''))
    ? parent
    : element;
}
