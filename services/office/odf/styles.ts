// Reads the meaning of styles in an OpenDocument file (ODF 1.3 part 3, 16): emphasis, quote, code, list, hidden.
import { attribute, childElement, childElements, type XmlElement } from '#shared/readers/xml.ts';
import type { RunFormat } from '../inline.ts';

interface OdfStyle {
  format: RunFormat;
  role?: 'quote' | 'code' | 'title';
  /** 1 to 6: the level in the name of a heading style. Files that were converted from Word or RTF may mark headings only by this name. */
  heading?: number;
  /** The `text:list-style` of a paragraph style. */
  listStyle?: string;
  /** False if paragraphs of the style show no bullet in a list. */
  numbered: boolean;
  /** Whether text, a sheet or a slide of the style is hidden. */
  hidden: boolean;
  masterPage?: string;
}

interface ListLevel {
  kind: 'bullet' | 'number' | 'none';
  start: number;
}

const INHERITANCE_DEPTH = 32;
const PLAIN: OdfStyle = { format: {}, numbered: true, hidden: false };

/** Decodes style names, in which `_20_` is a space. */
function plainName(name: string): string {
  return name
    .replace(/_([0-9a-f]{2})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .toLowerCase();
}

function applyText(format: RunFormat, properties: XmlElement | undefined): void {
  if (!properties) return;
  const weight = attribute(properties, 'font-weight');
  if (weight !== undefined) format.bold = weight === 'bold' || Number(weight) >= 600;
  const slope = attribute(properties, 'font-style');
  if (slope !== undefined) format.italic = slope === 'italic' || slope === 'oblique';
  const strike = attribute(properties, 'text-line-through-style');
  if (strike !== undefined) format.strike = strike !== 'none';
  const position = attribute(properties, 'text-position');
  if (position !== undefined) {
    format.superscript = /^(?:super|[1-9])/.test(position);
    format.subscript = /^(?:sub|-)/.test(position);
  }
}

export class OdfStyles {
  readonly #elements = new Map<string, XmlElement>();
  readonly #lists = new Map<string, Map<number, ListLevel>>();
  readonly #known = new Map<string, OdfStyle>();

  /** @param roots `styles.xml`, then `content.xml`, whose automatic styles replace those of the same name */
  constructor(roots: (XmlElement | undefined)[]) {
    for (const root of roots)
      for (const group of root ? childElements(root) : []) {
        if (group.local !== 'styles' && group.local !== 'automatic-styles') continue;
        for (const style of childElements(group)) this.#add(style);
      }
  }

  #add(style: XmlElement): void {
    const name = attribute(style, 'name');
    if (name === undefined) return;
    if (style.local === 'style') this.#elements.set(`${attribute(style, 'family')} ${name}`, style);
    if (style.local !== 'list-style') return;
    const levels = new Map<number, ListLevel>();
    for (const level of childElements(style)) {
      const number = level.local === 'list-level-style-number';
      const shown = number ? attribute(level, 'num-format') : (attribute(level, 'bullet-char') ?? 'image');
      const kind = shown === undefined || shown.trim() === '' ? 'none' : number ? 'number' : 'bullet';
      levels.set(Number(attribute(level, 'level')), { kind, start: Number(attribute(level, 'start-value') ?? 1) || 1 });
    }
    this.#lists.set(name, levels);
  }

  style(
    family: 'paragraph' | 'text' | 'table' | 'drawing-page' | 'graphic' | 'presentation',
    name: string | undefined,
  ): OdfStyle {
    if (name === undefined) return PLAIN;
    const key = `${family} ${name}`;
    const known = this.#known.get(key);
    if (known) return known;
    const style: OdfStyle = { format: {}, numbered: true, hidden: false };
    this.#known.set(key, style);
    const chain: { name: string; element: XmlElement | undefined }[] = [];
    for (let at: string | undefined = name; at !== undefined && chain.length < INHERITANCE_DEPTH; ) {
      const element: XmlElement | undefined = this.#elements.get(`${family} ${at}`);
      chain.unshift({ name: plainName(at), element });
      at = element && attribute(element, 'parent-style-name');
    }
    for (const link of chain) this.#apply(style, family, link.name, link.element);
    return style;
  }

  #apply(style: OdfStyle, family: string, name: string, element: XmlElement | undefined): void {
    if (family === 'paragraph') {
      if (/^(?:preformatted text|source code)$/.test(name)) style.role = 'code';
      else if (/^(?:quotations|quote|block quotation|block text)$/.test(name)) style.role = 'quote';
      else if (name === 'title') style.role = 'title';
      const level = /^heading ([1-9])$/.exec(name)?.[1];
      if (level !== undefined) style.heading = Math.min(6, Number(level));
    }
    if (family === 'text' && /^(?:source text|teletype|verbatim char|user entry)$/.test(name)) style.format.code = true;
    if (!element) return;
    applyText(style.format, childElement(element, 'text-properties'));
    if (attribute(childElement(element, 'text-properties'), 'display') === 'none') style.hidden = true;
    const listStyle = attribute(element, 'list-style-name');
    if (listStyle !== undefined) style.listStyle = listStyle;
    const masterPage = element.attributes['style:master-page-name'];
    if (masterPage) style.masterPage = masterPage;
    const numbering = attribute(childElement(element, 'paragraph-properties'), 'enable-numbering');
    if (numbering !== undefined) style.numbered = numbering !== 'false';
    if (attribute(childElement(element, 'table-properties'), 'display') === 'false') style.hidden = true;
    if (attribute(childElement(element, 'drawing-page-properties'), 'visibility') === 'hidden') style.hidden = true;
  }

  /** @param level 0 is the outermost level */
  listLevel(name: string | undefined, level: number): ListLevel {
    const levels = name === undefined ? undefined : this.#lists.get(name);
    return levels?.get(level + 1) ?? { kind: 'bullet', start: 1 };
  }

  /** The master pages that at least one paragraph style uses. */
  masterPages(): Set<string> {
    const names = new Set<string>();
    for (const element of this.#elements.values()) {
      const name = element.attributes['style:master-page-name'];
      if (name) names.add(name);
    }
    return names;
  }
}
