// Reads OpenDocument text content (ODF 1.3 part 3, 5 to 9) into blocks, for text documents, cells, slides and notes.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import { attribute, childElement, childElements, parseXml, textContent, type XmlElement } from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';
import { flatPictureUri, type PictureOptions, pictureUri, showsAll } from '../drawing.ts';
import { type Cell, Flow, unwrapParagraph, writeTable } from '../flow.ts';
import { InlineText, linkTarget, type RunFormat } from '../inline.ts';
import { resolvePart } from '../opc.ts';
import type { OdfStyles } from './styles.ts';

interface ListState {
  style: string | undefined;
  level: number;
  list: string;
  numbers: number[];
}

/** The markup of objects, written after the paragraph that anchors them. */
type AnchoredBlocks = string[];

/** Objects nested deeper are not read. */
const OBJECT_DEPTH = 4;

export class OdfContent {
  /** Undefined for a flat document, whose pictures and objects are in the XML. */
  readonly #zip: ZipContainer | undefined;
  readonly #styles: OdfStyles;
  readonly #pictures: PictureOptions;
  readonly #notes: string[] = [];
  /** The last list of each style, which a later list can continue. */
  readonly #lists = new Map<string, { list: string; numbers: number[] }>();
  #listCount = 0;
  #objects = 0;

  constructor(zip: ZipContainer | undefined, styles: OdfStyles, pictures: PictureOptions) {
    this.#zip = zip;
    this.#styles = styles;
    this.#pictures = pictures;
  }

  /** The blocks inside an element as semantic HTML. */
  read(element: XmlElement): string {
    const flow = new Flow();
    this.blocks(element, flow);
    return flow.finish();
  }

  /** The footnotes and endnotes that were read so far. */
  notesHtml(): string {
    return this.#notes.length === 0 ? '' : `<section class="footnotes"><ol>${this.#notes.join('\n')}</ol></section>`;
  }

  blocks(element: XmlElement, flow: Flow): void {
    for (const child of childElements(element)) this.#block(child, flow);
  }

  #block(element: XmlElement, flow: Flow): void {
    switch (element.local) {
      case 'p':
      case 'h':
        this.#paragraph(element, flow, undefined);
        break;
      case 'list':
        this.#list(element, flow, undefined);
        break;
      case 'table':
        flow.block(this.table(element));
        break;
      case 'tracked-changes':
      case 'forms':
      case 'sequence-decls':
      case 'variable-decls':
      case 'user-field-decls':
      case 'dde-connection-decls':
      case 'annotation':
      case 'notes':
      case 'title':
      case 'desc':
        break;
      case 'frame':
      case 'custom-shape':
      case 'rect':
      case 'ellipse':
      case 'a':
        this.frame(element, flow);
        break;
      default:
        if (element.local.endsWith('-source')) break;
        // Sections, indexes, groups and others only wrap blocks.
        this.blocks(element, flow);
    }
  }

  #paragraph(element: XmlElement, flow: Flow, list: ListState | undefined): void {
    const style = this.#styles.style('paragraph', attribute(element, 'style-name'));
    const anchored: AnchoredBlocks = [];
    const inline = new InlineText();
    this.#inline(element, inline, style.format, undefined, anchored);
    if (element.local === 'h') {
      flow.heading(Math.min(6, Math.max(1, Number(attribute(element, 'outline-level') ?? 1) || 1)), inline);
    } else if (style.role === 'title') flow.heading(1, inline);
    else if (style.heading !== undefined) flow.heading(style.heading, inline);
    else if (list && style.numbered && !inline.isEmpty()) this.#item(inline, flow, list);
    else if (style.role === 'code') flow.code(textContent(element));
    else if (style.role === 'quote') flow.quote(inline);
    else flow.paragraph(inline);
    for (const html of anchored) flow.block(html);
  }

  #item(inline: InlineText, flow: Flow, { style, level, list, numbers }: ListState): void {
    const definition = this.#styles.listLevel(style, level);
    if (definition.kind === 'none') {
      flow.paragraph(inline);
      return;
    }
    const number = (numbers[level] ?? definition.start - 1) + 1;
    numbers[level] = number;
    numbers.length = level + 1;
    flow.item(inline, {
      level,
      list,
      ...(definition.kind === 'number' ? { ordered: true, number } : { ordered: false }),
    });
  }

  #list(element: XmlElement, flow: Flow, outer: ListState | undefined): void {
    const style = attribute(element, 'style-name') ?? outer?.style;
    const continues =
      attribute(element, 'continue-numbering') === 'true' || attribute(element, 'continue-list') !== undefined;
    const earlier = continues ? this.#lists.get(style ?? '') : undefined;
    const { list, numbers } = outer ?? earlier ?? { list: `list${++this.#listCount}`, numbers: [] };
    this.#lists.set(style ?? '', { list, numbers });
    const state: ListState = { style, level: outer ? outer.level + 1 : 0, list, numbers };
    for (const item of childElements(element)) {
      if (item.local !== 'list-item' && item.local !== 'list-header') continue;
      const start = Number(attribute(item, 'start-value'));
      if (start > 0) numbers[state.level] = start - 1;
      let first = item.local === 'list-item';
      for (const child of childElements(item)) {
        if (child.local === 'list') this.#list(child, flow, state);
        else if (child.local === 'p') {
          this.#paragraph(child, flow, first ? state : undefined);
          first = false;
        } else this.#block(child, flow);
      }
    }
  }

  #inline(
    element: XmlElement,
    inline: InlineText,
    format: RunFormat,
    href: string | undefined,
    anchored: AnchoredBlocks,
  ): void {
    for (const child of element.children) {
      if (typeof child === 'string') inline.text(child.replace(/\s+/g, ' '), format, href);
      else this.#inlineElement(child, inline, format, href, anchored);
    }
  }

  #inlineElement(
    element: XmlElement,
    inline: InlineText,
    format: RunFormat,
    href: string | undefined,
    anchored: AnchoredBlocks,
  ): void {
    switch (element.local) {
      case 's':
        inline.text(' '.repeat(Math.min(Number(attribute(element, 'c') ?? 1) || 1, 64)), format, href);
        break;
      case 'tab':
        inline.text(' ', format, href);
        break;
      case 'line-break':
        inline.text('\n', format, href);
        break;
      case 'span': {
        const style = this.#styles.style('text', attribute(element, 'style-name'));
        if (style.hidden) break;
        this.#inline(element, inline, { ...format, ...style.format }, href, anchored);
        break;
      }
      case 'a':
        this.#inline(element, inline, format, linkTarget(attribute(element, 'href')) ?? href, anchored);
        break;
      case 'note':
        this.#note(element, inline);
        break;
      case 'ruby':
        for (const base of childElements(element, 'ruby-base')) this.#inline(base, inline, format, href, anchored);
        break;
      case 'frame':
      case 'custom-shape':
      case 'rect':
      case 'ellipse':
      case 'g': {
        const picture = this.#picture(element);
        if (picture !== '') inline.markup(picture, href);
        else {
          const flow = new Flow();
          const formula = this.#formula(element);
          if (formula !== '') inline.markup(formula);
          else this.frame(element, flow);
          if (!flow.isEmpty()) anchored.push(flow.finish());
        }
        break;
      }
      case 'annotation':
      case 'annotation-end':
      case 'hidden-text':
      case 'hidden-paragraph':
      case 'change':
      case 'change-start':
      case 'change-end':
      case 'title':
      case 'desc':
        break;
      default:
        this.#inline(element, inline, format, href, anchored);
    }
  }

  #note(element: XmlElement, inline: InlineText): void {
    const body = childElement(element, 'note-body');
    if (!body) return;
    const id = `n${this.#notes.length + 1}`;
    // Notes inside this note get the next numbers.
    const number = this.#notes.push('');
    inline.markup(`<sup class="footnote-ref" data-footnote="${id}">${number}</sup>`);
    this.#notes[number - 1] = `<li data-footnote="${id}">${unwrapParagraph(this.read(body))}</li>`;
  }

  /** `<img>` of a frame with a picture and no text box, object or table; else ''. */
  #picture(frame: XmlElement): string {
    if (childElement(frame, 'text-box') || childElement(frame, 'object') || childElement(frame, 'table')) return '';
    const image = childElement(frame, 'image');
    if (!image) return '';
    const alt = textContent(childElement(frame, 'desc')).trim() || textContent(childElement(frame, 'title')).trim();
    const href = attribute(image, 'href') ?? '';
    const part = resolvePart('', href);
    let src: string | undefined;
    const data = childElement(image, 'binary-data');
    if (data) src = flatPictureUri(data, attribute(image, 'mime-type'), this.#pictures);
    else if (this.#zip?.has(part)) src = pictureUri(this.#zip, part, this.#pictures);
    else if (/^https?:/i.test(href)) src = linkTarget(href);
    if (src === undefined || (alt === '' && src.startsWith('data:') && !showsAll(this.#pictures))) return '';
    return `<img src="${escapeHtml(src)}" alt="${escapeHtml(alt.replace(/\s+/g, ' '))}">`;
  }

  #objectRoot(frame: XmlElement): XmlElement | undefined {
    const object = childElement(frame, 'object');
    if (!object) return undefined;
    const inside = childElements(object)[0];
    if (inside) return inside;
    const part = `${resolvePart('', attribute(object, 'href') ?? '')}/content.xml`;
    return this.#zip?.has(part) ? parseXml(this.#zip.text(part)) : undefined;
  }

  /** The MathML of a formula object; '' for any other frame. */
  #formula(frame: XmlElement): string {
    const root = this.#objectRoot(frame);
    return root?.local === 'math' ? mathMl(root) : '';
  }

  /** The pictures that are anchored to a cell of a sheet. They are read only if the response contains them. */
  cellPictures(cell: XmlElement): string {
    if (!this.#pictures.collection) return '';
    return childElements(cell, 'frame')
      .map((frame) => this.#picture(frame))
      .filter((html) => html !== '')
      .map((html) => `<p>${html}</p>`)
      .join('\n');
  }

  /** Writes the content of a frame or shape: a text box, a table, a picture, an object, or the text of the shape. */
  frame(element: XmlElement, flow: Flow): void {
    const box = childElement(element, 'text-box');
    if (box) {
      this.blocks(box, flow);
      return;
    }
    const table = childElement(element, 'table');
    if (table) {
      flow.block(this.table(table));
      return;
    }
    const picture = this.#picture(element);
    if (picture !== '') {
      flow.block(`<p>${picture}</p>`);
      return;
    }
    const root = this.#objectRoot(element);
    if (root) {
      this.#object(root, flow);
      return;
    }
    this.blocks(element, flow);
  }

  #object(root: XmlElement, flow: Flow): void {
    if (root.local === 'math') {
      flow.block(`<p>${mathMl(root)}</p>`);
      return;
    }
    if (this.#objects >= OBJECT_DEPTH) return;
    this.#objects++;
    const body = childElement(root, 'body');
    const chart = childElement(childElement(body, 'chart'), 'chart');
    const title = childElement(chart, 'title');
    if (title) flow.block(`<p><strong>${escapeHtml(textContent(title).trim())}</strong></p>`);
    const table = childElement(chart, 'table');
    if (table) flow.block(this.table(table));
    this.#objects--;
  }

  table(element: XmlElement): string {
    const rows: Cell[][] = [];
    this.#rows(element, false, rows);
    return writeTable(rows);
  }

  #rows(element: XmlElement, header: boolean, rows: Cell[][]): void {
    const limit = DOCUMENT_LIMITS.tableSpan;
    const count = (cell: XmlElement, name: string) =>
      Math.min(Math.max(Number(attribute(cell, name) ?? 1) || 1, 1), limit);
    for (const child of childElements(element)) {
      if (child.local === 'table-row') {
        const cells: Cell[] = [];
        for (const cell of childElements(child, 'table-cell')) {
          const html = unwrapParagraph(this.read(cell));
          const repeats =
            html === '' ? Math.min(count(cell, 'number-columns-repeated'), 64) : count(cell, 'number-columns-repeated');
          const written = {
            html: header ? html.replace(/<\/?strong>/g, '') : html,
            colspan: count(cell, 'number-columns-spanned'),
            rowspan: count(cell, 'number-rows-spanned'),
            header,
          };
          for (let i = 0; i < repeats; i++) cells.push(written);
        }
        if (cells.length > 0) rows.push(cells);
      } else if (/^table-(?:header-rows|rows|row-group)$/.test(child.local))
        this.#rows(child, header || child.local === 'table-header-rows', rows);
    }
  }
}

const MATH_ATTRIBUTES = [
  'display',
  'mathvariant',
  'stretchy',
  'fence',
  'open',
  'close',
  'separators',
  'linethickness',
  'bevelled',
  'accent',
  'notation',
];

/** MathML without prefixes, and with the attributes that change its meaning; the renderer writes it as LaTeX. */
function mathMl(element: XmlElement): string {
  if (element.local === 'annotation' || element.local === 'annotation-xml') return '';
  const inside = element.children
    .map((child) => (typeof child === 'string' ? escapeHtml(child) : mathMl(child)))
    .join('');
  const kept = MATH_ATTRIBUTES.map((name) => [name, attribute(element, name)] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escapeHtml(value ?? '')}"`)
    .join('');
  const name = /^m\w*$|^semantics$/.test(element.local) ? element.local : 'mrow';
  return `<${name}${kept}>${inside}</${name}>`;
}
