// Reads a docx or docm (WordprocessingML, ECMA-376-1, 17) into semantic HTML: body, notes, headers and footers.
import { ParseError } from '#shared/contract/errors.ts';
import { childElements, descendants, type XmlElement } from '#shared/readers/xml.ts';
import type { PictureOptions } from '../drawing.ts';
import { unwrapParagraph } from '../flow.ts';
import type { OpcPackage } from '../opc.ts';
import { BodyReader } from './body.ts';
import { Numbering } from './numbering.ts';
import type { DocxContext } from './runs.ts';
import { Styles, toggle } from './styles.ts';

type NoteKind = 'footnote' | 'endnote';

/**
 * @param part name of the main document part
 * @throws ParseError DOCUMENT_CORRUPT if the document has no body
 */
export function readDocx(opc: OpcPackage, part: string, pictures: PictureOptions): string {
  const related = (type: string) => opc.tree(opc.related(part, type)[0]?.target);
  const root = opc.tree(part);
  const body = root && childElements(root, 'body')[0];
  if (!body) throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: it has no body');
  const numbering = new Numbering(related('numbering'));
  const referenced = new Map<string, { kind: NoteKind; id: string; number: number }>();
  const context: DocxContext = {
    opc,
    styles: new Styles(related('styles')),
    pictures,
    noteReference(kind, id) {
      const name = noteName(kind, id);
      const note = referenced.get(name) ?? { kind, id, number: referenced.size + 1 };
      referenced.set(name, note);
      return `<sup class="footnote-ref" data-footnote="${name}">${note.number}</sup>`;
    },
    readBlocks: (source, element) => new BodyReader(context, numbering, source).read(element),
  };
  const main = context.readBlocks(part, body);
  const notes = readNotes(context, part, referenced);
  const settings = related('settings');
  const { headers, footers } = readHeadersAndFooters(
    context,
    part,
    body,
    toggle(settings, 'evenAndOddHeaders') === true,
  );
  return [...headers, main, notes, ...footers].filter((html) => html !== '').join('\n');
}

function noteName(kind: NoteKind, id: string): string {
  return `${kind === 'footnote' ? 'fn' : 'en'}${id.replace(/[^\w-]/g, '')}`;
}

/** The notes in the order of their references. */
function readNotes(
  context: DocxContext,
  part: string,
  referenced: ReadonlyMap<string, { kind: NoteKind; id: string }>,
): string {
  const items: string[] = [];
  const found = new Map<string, { source: string; element: XmlElement }>();
  for (const kind of ['footnote', 'endnote'] as const) {
    const source = context.opc.related(part, `${kind}s`)[0]?.target;
    const tree = context.opc.tree(source);
    if (tree && source !== undefined)
      for (const element of childElements(tree, kind))
        found.set(`${kind} ${element.attributes['w:id']}`, { source, element });
  }
  // A note can refer to another note. The loop also visits entries that are added to the map during the loop.
  for (const [name, { kind, id }] of referenced) {
    const note = found.get(`${kind} ${id}`);
    if (!note) continue;
    const html = context.readBlocks(note.source, note.element);
    items.push(`<li data-footnote="${name}">${unwrapParagraph(html)}</li>`);
  }
  return items.length === 0 ? '' : `<section class="footnotes"><ol>${items.join('\n')}</ol></section>`;
}

/** The headers and footers that at least one page shows, without duplicates. */
function readHeadersAndFooters(
  context: DocxContext,
  part: string,
  body: XmlElement,
  evenPages: boolean,
): { headers: string[]; footers: string[] } {
  const found = { headers: new Set<string>(), footers: new Set<string>() };
  for (const section of descendants(body, 'sectPr')) {
    const firstPage = toggle(section, 'titlePg') === true;
    const references = childElements(section).filter((child) => /^(?:header|footer)Reference$/.test(child.local));
    const order = ['first', 'default', 'even'];
    references.sort(
      (a, b) => order.indexOf(a.attributes['w:type'] ?? '') - order.indexOf(b.attributes['w:type'] ?? ''),
    );
    for (const reference of references) {
      const type = reference.attributes['w:type'];
      if ((type === 'first' && !firstPage) || (type === 'even' && !evenPages)) continue;
      const target = context.opc.relationships(part).get(reference.attributes['r:id'] ?? '')?.target;
      const tree = context.opc.tree(target);
      if (!tree || target === undefined) continue;
      const html = context.readBlocks(target, tree).trim();
      if (html !== '') found[reference.local === 'headerReference' ? 'headers' : 'footers'].add(html);
    }
  }
  return {
    headers: [...found.headers].map((html) => `<header>${html}</header>`),
    footers: [...found.footers].map((html) => `<footer>${html}</footer>`),
  };
}
