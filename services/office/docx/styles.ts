// Reads the meaning of paragraph and character styles in a Word document: heading, quote, code, emphasis, list.
import { childElement, childElements, type XmlElement } from '#shared/readers/xml.ts';
import type { RunFormat } from '../inline.ts';

interface ParagraphStyle {
  /** 1 to 6. */
  heading?: number;
  role?: 'quote' | 'code' | 'contents';
  /** The list of the style; `level` is set only if the style sets it. */
  numbering?: { id: string; level?: number };
  format: RunFormat;
}

interface CharacterStyle {
  format: RunFormat;
}

const NO_STYLE: ParagraphStyle = { format: {} };
/** Limits the chain of base styles, which can be a cycle in a hostile file. */
const INHERITANCE_DEPTH = 32;

/** The `w:val` of a child element. */
export function settingOf(element: XmlElement | undefined, local: string): string | undefined {
  return childElement(element, local)?.attributes['w:val'];
}

/** A toggle property (ECMA-376-1, 17.7.3): it is on if it is present without a value. */
export function toggle(properties: XmlElement | undefined, local: string): boolean | undefined {
  const element = childElement(properties, local);
  if (!element) return undefined;
  const value = element.attributes['w:val'];
  return value === undefined || !['0', 'false', 'off', 'none'].includes(value);
}

/** The formats that run properties set or clear. Formats that they do not mention are absent. */
export function runFormat(properties: XmlElement | undefined): RunFormat {
  const format: RunFormat = {};
  if (!properties) return format;
  const bold = toggle(properties, 'b');
  const italic = toggle(properties, 'i');
  const strike = toggle(properties, 'strike') ?? toggle(properties, 'dstrike');
  const vertical = settingOf(properties, 'vertAlign');
  if (bold !== undefined) format.bold = bold;
  if (italic !== undefined) format.italic = italic;
  if (strike !== undefined) format.strike = strike;
  if (vertical !== undefined) {
    format.superscript = vertical === 'superscript';
    format.subscript = vertical === 'subscript';
  }
  return format;
}

function roleOf(name: string): ParagraphStyle['role'] {
  if (
    /^(?:source ?code|code(?: ?block)?|html preformatted|preformatted text|verbatim|plain ?code|macro text|listing)$/.test(
      name,
    )
  )
    return 'code';
  if (/^(?:intense )?quot(?:e|ations?)$|^block ?(?:text|quote|quotation)$/.test(name)) return 'quote';
  if (/^toc \d$|^table of figures$/.test(name)) return 'contents';
  return undefined;
}

export class Styles {
  #elements = new Map<string, XmlElement>();
  #paragraphs = new Map<string, ParagraphStyle>();
  #characters = new Map<string, CharacterStyle>();
  #defaultParagraph: string | undefined;

  constructor(styles: XmlElement | undefined) {
    for (const style of styles ? childElements(styles, 'style') : []) {
      const id = style.attributes['w:styleId'];
      if (id === undefined) continue;
      this.#elements.set(id, style);
      if (
        style.attributes['w:type'] === 'paragraph' &&
        ['1', 'true', 'on'].includes(style.attributes['w:default'] ?? '')
      )
        this.#defaultParagraph = id;
    }
  }

  paragraph(id: string | undefined): ParagraphStyle {
    const actual = id ?? this.#defaultParagraph;
    if (actual === undefined) return NO_STYLE;
    const known = this.#paragraphs.get(actual);
    if (known) return known;
    const style: ParagraphStyle = { format: {} };
    const chain = this.#chain(actual);
    for (const element of chain) {
      const name = (settingOf(element, 'name') ?? '').toLowerCase();
      const properties = childElement(element, 'pPr');
      const outline = settingOf(properties, 'outlineLvl');
      const level = outline === undefined ? undefined : Number(outline) + 1;
      const named = /^heading ([1-9])$/.exec(name)?.[1];
      if (named !== undefined) style.heading = Math.min(6, Number(named));
      else if (level !== undefined && level >= 1) style.heading = level <= 9 ? Math.min(6, level) : undefined;
      if (name === 'title') style.heading = 1;
      // LibreOffice gives this style to titles of an unknown style. Styles that are based on it are not headings.
      if (name === 'heading' && element === chain.at(-1)) style.heading = 1;
      style.role = roleOf(name) ?? style.role;
      const numbering = childElement(properties, 'numPr');
      const numberingId = settingOf(numbering, 'numId');
      const numberingLevel = settingOf(numbering, 'ilvl');
      if (numberingId !== undefined)
        style.numbering = {
          id: numberingId,
          ...(numberingLevel === undefined ? {} : { level: Number(numberingLevel) }),
        };
      Object.assign(style.format, runFormat(childElement(element, 'rPr')));
    }
    // An entry of a table of contents is not a heading, even if its base style is one.
    if (style.role === 'contents') style.heading = undefined;
    this.#paragraphs.set(actual, style);
    return style;
  }

  character(id: string | undefined): CharacterStyle {
    if (id === undefined) return NO_STYLE;
    const known = this.#characters.get(id);
    if (known) return known;
    const style: CharacterStyle = { format: {} };
    for (const element of this.#chain(id)) {
      const name = (settingOf(element, 'name') ?? '').toLowerCase();
      Object.assign(style.format, runFormat(childElement(element, 'rPr')));
      if (
        /^(?:verbatim char|source (?:text|code)|html (?:code|typewriter|keyboard|sample)|inline code|code(?: char)?)$/.test(
          name,
        )
      )
        style.format.code = true;
    }
    this.#characters.set(id, style);
    return style;
  }

  /** The style and its base styles, in the order in which they apply: the most general one first. */
  #chain(id: string): XmlElement[] {
    const chain: XmlElement[] = [];
    let at = this.#elements.get(id);
    while (at && chain.length < INHERITANCE_DEPTH) {
      chain.unshift(at);
      at = this.#elements.get(settingOf(at, 'basedOn') ?? '');
    }
    return chain;
  }
}
