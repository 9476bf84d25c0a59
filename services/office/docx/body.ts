// Reads the blocks of one story of a Word document (body, header, note, text box or cell).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { childElement, childElements, type XmlElement } from '#shared/readers/xml.ts';
import { alternatives } from '../drawing.ts';
import { type Cell, Flow, type ListPosition, unwrapParagraph, writeTable } from '../flow.ts';
import type { InlineText } from '../inline.ts';
import type { Numbering } from './numbering.ts';
import { type DocxContext, type ParagraphContent, RunReader, type StoryState } from './runs.ts';
import { settingOf, toggle } from './styles.ts';

export class BodyReader {
  readonly #context: DocxContext;
  readonly #numbering: Numbering;
  readonly #state: StoryState;

  constructor(context: DocxContext, numbering: Numbering, part: string) {
    this.#context = context;
    this.#numbering = numbering;
    this.#state = { part, fields: [] };
  }

  /** The blocks inside an element as semantic HTML. */
  read(element: XmlElement): string {
    const flow = new Flow();
    const pending = this.#blocks(element, flow, undefined);
    if (pending) flow.paragraph(pending.inline);
    return flow.finish();
  }

  /** @returns the content of the last paragraph if its mark was deleted, so that the next paragraph continues it */
  #blocks(element: XmlElement, flow: Flow, carried: ParagraphContent | undefined): ParagraphContent | undefined {
    let pending = carried;
    for (const child of childElements(element)) {
      switch (child.local) {
        case 'p':
          pending = this.#paragraph(child, flow, pending);
          break;
        case 'tbl':
          flow.block(this.#table(child));
          break;
        case 'AlternateContent': {
          const branch = alternatives(child)[0];
          if (branch) pending = this.#blocks(branch, flow, pending);
          break;
        }
        case 'del':
        case 'moveFrom':
        case 'sectPr':
        case 'sdtPr':
          break;
        case 'oMathPara':
        case 'oMath': {
          const reader = new RunReader(this.#context, this.#state, {});
          reader.readChildren({ ...child, children: [child] });
          flow.paragraph(reader.content.inline);
          break;
        }
        default:
          // sdt, sdtContent, ins, customXml and others wrap blocks.
          pending = this.#blocks(child, flow, pending);
      }
    }
    return pending;
  }

  #paragraph(element: XmlElement, flow: Flow, carried: ParagraphContent | undefined): ParagraphContent | undefined {
    const properties = childElement(element, 'pPr');
    const style = this.#context.styles.paragraph(settingOf(properties, 'pStyle'));
    const reader = new RunReader(this.#context, this.#state, style.format);
    if (carried) reader.content.inline.append(carried.inline);
    reader.readChildren(element);
    const { inline, blocks } = reader.content;
    if (carried) blocks.unshift(...carried.blocks);
    // A deleted paragraph mark joins the paragraph to the next (ECMA-376-1, 17.13.5.15).
    const mark = childElement(properties, 'rPr');
    if (childElement(mark, 'del') || childElement(mark, 'moveFrom')) return reader.content;
    this.#write(properties, style, inline, flow);
    for (const block of blocks) flow.block(block);
    return undefined;
  }

  /** Writes a paragraph as a heading, code, a list item, a quote or plain text. */
  #write(
    properties: XmlElement | undefined,
    style: ReturnType<DocxContext['styles']['paragraph']>,
    inline: InlineText,
    flow: Flow,
  ): void {
    const outline = settingOf(properties, 'outlineLvl');
    const heading =
      outline === undefined ? style.heading : Number(outline) < 9 ? Math.min(6, Number(outline) + 1) : undefined;
    const own = childElement(properties, 'numPr');
    const numberingId = settingOf(own, 'numId') ?? style.numbering?.id;
    const level = settingOf(own, 'ilvl');
    const counted = numberingId !== undefined && numberingId !== '0' && !inline.isEmpty();
    // Numbered headings are counted too, so that later items have the right number.
    const numbered = counted
      ? this.#numbering.next(numberingId, level === undefined ? (style.numbering?.level ?? 0) : Number(level))
      : undefined;
    if (inline.isEmpty()) return;
    const position = numbered ?? (heading === undefined ? typedBullet(properties, inline) : undefined);
    if (heading !== undefined) flow.heading(heading, inline);
    else if (style.role === 'code') flow.code(plainText(inline));
    else if (position) flow.item(inline, position);
    else if (style.role === 'quote') flow.quote(inline);
    else flow.paragraph(inline);
  }

  #table(element: XmlElement): string {
    interface Slot extends Cell {
      column: number;
      continues: boolean;
    }
    const rows: Slot[][] = [];
    for (const row of rowsOf(element)) {
      const properties = childElement(row, 'trPr');
      if (childElement(properties, 'del')) continue;
      const header = toggle(properties, 'tblHeader') === true;
      const slots: Slot[] = [];
      let column = Number(settingOf(properties, 'gridBefore') ?? 0) || 0;
      if (column > 0 && column <= DOCUMENT_LIMITS.tableSpan)
        slots.push({ html: '', column: 0, colspan: column, continues: false });
      for (const cell of cellsOf(row)) {
        const cellProperties = childElement(cell, 'tcPr');
        const colspan = Math.min(
          Math.max(Number(settingOf(cellProperties, 'gridSpan') ?? 1) || 1, 1),
          DOCUMENT_LIMITS.tableSpan,
        );
        const merge = childElement(cellProperties, 'vMerge');
        const continues = merge !== undefined && merge.attributes['w:val'] !== 'restart';
        const html = continues ? '' : unwrapParagraph(this.#cell(cell));
        slots.push({ html, column, colspan, continues, header });
        column += colspan;
      }
      rows.push(slots);
    }
    const origins = new Map<number, { slot: Slot; row: number }>();
    rows.forEach((row, index) => {
      for (const slot of row) {
        const origin = slot.continues ? origins.get(slot.column) : undefined;
        if (origin) origin.slot.rowspan = Math.min(index - origin.row + 1, DOCUMENT_LIMITS.tableSpan);
        else origins.set(slot.column, { slot, row: index });
      }
    });
    return writeTable(rows.map((row) => row.filter((slot) => !slot.continues)).filter((row) => row.length > 0));
  }

  #cell(cell: XmlElement): string {
    const flow = new Flow();
    const pending = this.#blocks(cell, flow, undefined);
    if (pending) flow.paragraph(pending.inline);
    return flow.finish();
  }
}

/** The indent of one level of a list with typed bullets, in twips. */
const LEVEL_INDENT = 360;

/** The list position of a paragraph with a typed bullet and a hanging indent, as RTF and old Word files have. Removes the bullet. */
function typedBullet(properties: XmlElement | undefined, inline: InlineText): ListPosition | undefined {
  const indent = childElement(properties, 'ind')?.attributes;
  const hanging = Number(indent?.['w:hanging'] ?? 0) || -(Number(indent?.['w:firstLine'] ?? 0) || 0);
  if (!(hanging > 0)) return undefined;
  if (inline.takePrefix(/^\s*[•●▪■◦○‣➢✓·–]\s+/) === undefined) return undefined;
  const left = Number(indent?.['w:left'] ?? indent?.['w:start'] ?? LEVEL_INDENT) || LEVEL_INDENT;
  return { level: Math.min(8, Math.max(0, Math.round(left / LEVEL_INDENT) - 1)), ordered: false, list: 'typed' };
}

/** Rows and cells may be wrapped in content controls and tracked insertions. */
function rowsOf(table: XmlElement): XmlElement[] {
  return wrapped(table, 'tr', ['tblPr', 'tblGrid', 'del', 'moveFrom']);
}

function cellsOf(row: XmlElement): XmlElement[] {
  return wrapped(row, 'tc', ['trPr', 'tblPrEx', 'del', 'moveFrom']);
}

function wrapped(element: XmlElement, local: string, skip: string[]): XmlElement[] {
  return childElements(element).flatMap((child) => {
    if (child.local === local) return [child];
    return skip.includes(child.local) || child.local.endsWith('Pr') ? [] : wrapped(child, local, skip);
  });
}

function plainText(inline: InlineText): string {
  return inline
    .toHtml()
    .replace(/<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');
}
