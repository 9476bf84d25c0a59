// Reads a pptx or pptm (PresentationML, ECMA-376-1, 19) into one block for each slide, with the shapes in reading order.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { attribute, childElement, childElements, descend, descendants, type XmlElement } from '#shared/readers/xml.ts';
import {
  alternatives,
  alternativeText,
  graphicData,
  graphicMarkup,
  type PictureOptions,
  pictureMarkup,
  showsAll,
} from '../drawing.ts';
import { EMPTY_ELEMENT } from '../empty-element.ts';
import { type Cell, Flow, unwrapParagraph, writeTable } from '../flow.ts';
import { InlineText } from '../inline.ts';
import type { OpcPackage } from '../opc.ts';
import { type Boxed, inReadingOrder } from './reading-order.ts';
import { readParagraph, writeTextBody } from './text.ts';

/** Placeholders that every slide repeats: slide number, date, footer and header. */
const REPEATED_KINDS = new Set(['sldNum', 'dt', 'ftr', 'hdr']);

interface Shape extends Boxed {
  element: XmlElement;
  placeholder: { type: string; index: string } | undefined;
}

interface SlideContext {
  opc: OpcPackage;
  part: string;
  layout: XmlElement | undefined;
  master: XmlElement | undefined;
  pictures: PictureOptions;
}

/** Semantic HTML of all visible slides. @throws ParseError DOCUMENT_CORRUPT */
export function readPptx(opc: OpcPackage, part: string, pictures: PictureOptions): string {
  const presentation = opc.tree(part);
  if (!presentation) throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its presentation is missing');
  const slides: string[] = [];
  childElements(childElement(presentation, 'sldIdLst') ?? EMPTY_ELEMENT, 'sldId').forEach((entry, i) => {
    const target = opc.relationships(part).get(entry.attributes['r:id'] ?? attribute(entry, 'id') ?? '')?.target;
    const slide = opc.tree(target);
    if (!slide || target === undefined || ['0', 'false'].includes(slide.attributes.show ?? '')) return;
    const layoutPart = opc.related(target, 'slideLayout')[0]?.target;
    const masterPart = layoutPart === undefined ? undefined : opc.related(layoutPart, 'slideMaster')[0]?.target;
    const context = { opc, part: target, layout: opc.tree(layoutPart), master: opc.tree(masterPart), pictures };
    slides.push(`<div data-slide="${i + 1}">\n${slideHtml(context, slide)}${notesHtml(opc, target)}</div>`);
  });
  return slides.join('\n');
}

function placeholderOf(element: XmlElement): { type: string; index: string } | undefined {
  for (const child of childElements(element)) {
    const placeholder = descend(child, 'nvPr', 'ph');
    if (placeholder) return { type: placeholder.attributes.type ?? 'obj', index: placeholder.attributes.idx ?? '' };
  }
  return undefined;
}

const BODY_KINDS = new Set(['body', 'obj', 'subTitle', 'chart', 'tbl', 'clipArt', 'dgm', 'media', 'pic']);
const TITLE_KINDS = new Set(['title', 'ctrTitle']);

/** The placeholder of a layout or master from which the placeholder of a slide inherits (19.3.1.36). */
function inheritedShape(
  tree: XmlElement | undefined,
  wanted: { type: string; index: string } | undefined,
): XmlElement | undefined {
  if (!tree || !wanted) return undefined;
  const shapes = childElements(descend(tree, 'cSld', 'spTree') ?? EMPTY_ELEMENT, 'sp');
  const family = (type: string) => (TITLE_KINDS.has(type) ? 'title' : BODY_KINDS.has(type) ? 'body' : type);
  let similar: XmlElement | undefined;
  for (const shape of shapes) {
    const own = placeholderOf(shape);
    if (!own) continue;
    if (wanted.index !== '' && own.index === wanted.index) return shape;
    if (family(own.type) === family(wanted.type)) similar ??= shape;
  }
  return similar;
}

function boxOf(element: XmlElement | undefined): Boxed['box'] {
  if (!element) return null;
  const transform =
    descend(element, 'spPr', 'xfrm') ?? descend(element, 'grpSpPr', 'xfrm') ?? childElement(element, 'xfrm');
  const offset = childElement(transform, 'off')?.attributes;
  const extent = childElement(transform, 'ext')?.attributes;
  if (!offset || !extent) return null;
  return {
    x: Number(offset.x) || 0,
    y: Number(offset.y) || 0,
    width: Number(extent.cx) || 0,
    height: Number(extent.cy) || 0,
  };
}

/** All shapes of a tree in reading order. A group is one shape. */
function shapesOf(context: SlideContext, tree: XmlElement): Shape[] {
  const shapes: Shape[] = [];
  for (const element of childElements(tree)) {
    if (element.local === 'AlternateContent') {
      const branch = alternatives(element).find((one) => shapesOf(context, one).length > 0);
      if (branch) shapes.push(...shapesOf(context, branch));
      continue;
    }
    if (!['sp', 'pic', 'graphicFrame', 'grpSp', 'cxnSp'].includes(element.local)) continue;
    const placeholder = placeholderOf(element);
    const box =
      boxOf(element) ??
      boxOf(inheritedShape(context.layout, placeholder)) ??
      boxOf(inheritedShape(context.master, placeholder));
    shapes.push({ element, placeholder, box });
  }
  return inReadingOrder(shapes);
}

function slideHtml(context: SlideContext, slide: XmlElement): string {
  const shapes = shapesOf(context, descend(slide, 'cSld', 'spTree') ?? EMPTY_ELEMENT);
  const isTitle = (shape: Shape) => shape.placeholder !== undefined && TITLE_KINDS.has(shape.placeholder.type);
  const flow = new Flow();
  for (const shape of shapes.filter(isTitle)) flow.heading(2, titleText(context, shape.element));
  for (const shape of shapes) if (!isTitle(shape)) writeShape(context, shape, flow);
  return flow.finish();
}

function titleText(context: SlideContext, element: XmlElement): InlineText {
  const inline = new InlineText();
  for (const paragraph of childElements(childElement(element, 'txBody') ?? EMPTY_ELEMENT, 'p')) {
    if (!inline.isEmpty()) inline.text(' ');
    inline.append(readParagraph(context.opc, context.part, paragraph));
  }
  return inline.withoutBreaks();
}

function writeShape(context: SlideContext, { element, placeholder }: Shape, flow: Flow): void {
  const { opc, part, pictures } = context;
  if (placeholder && REPEATED_KINDS.has(placeholder.type)) return;
  switch (element.local) {
    case 'grpSp':
      for (const shape of shapesOf(context, element)) writeShape(context, shape, flow);
      break;
    case 'sp': {
      const filled = pictures.collection ? fillMarkup(context, element) : '';
      if (filled !== '') flow.block(`<p>${filled}</p>`);
      const body = childElement(element, 'txBody');
      if (body) writeTextBody(opc, part, body, inheritedStyles(context, placeholder), flow);
      break;
    }
    case 'pic': {
      const blip = descend(element, 'blipFill', 'blip');
      const alt = alternativeText(descend(element, 'nvPicPr', 'cNvPr'));
      if (alt === '' && !showsAll(pictures)) break;
      const reference = { embed: attribute(blip, 'embed'), link: attribute(blip, 'link') };
      const markup = pictureMarkup(opc, part, reference, alt, pictures);
      if (markup !== '') flow.block(`<p>${markup}</p>`);
      break;
    }
    case 'graphicFrame': {
      const data = graphicData(element);
      if (!data) break;
      const table = childElement(data, 'tbl');
      if (table) flow.block(tableHtml(context, table));
      else flow.block(graphicMarkup(opc, part, data) || oleFallback(context, data));
      break;
    }
    default:
      break;
  }
}

/** The picture that fills a shape. */
function fillMarkup({ opc, part, pictures }: SlideContext, element: XmlElement): string {
  const blip = descend(element, 'spPr', 'blipFill', 'blip');
  if (!blip) return '';
  const alt = alternativeText(descend(element, 'nvSpPr', 'cNvPr'));
  return pictureMarkup(opc, part, { embed: attribute(blip, 'embed'), link: attribute(blip, 'link') }, alt, pictures);
}

/** The picture of an embedded object, if it has a description or the response contains pictures. */
function oleFallback({ opc, part, pictures }: SlideContext, data: XmlElement): string {
  for (const picture of descendants(data, 'pic')) {
    const alt = alternativeText(descend(picture, 'nvPicPr', 'cNvPr'));
    if (alt === '' && !pictures.collection) continue;
    const embed = attribute(descend(picture, 'blipFill', 'blip'), 'embed');
    const markup = pictureMarkup(opc, part, embed === undefined ? {} : { embed }, alt, pictures);
    if (markup !== '') return `<p>${markup}</p>`;
  }
  return '';
}

/** The list styles that a shape inherits: from the placeholders of its layout and master, then from the text styles of the master. */
function inheritedStyles(
  context: SlideContext,
  placeholder: { type: string; index: string } | undefined,
): (XmlElement | undefined)[] {
  if (!placeholder) return [];
  const layoutShape = inheritedShape(context.layout, placeholder);
  const layoutPlaceholder = layoutShape ? placeholderOf(layoutShape) : undefined;
  const masterShape = inheritedShape(context.master, { type: layoutPlaceholder?.type ?? placeholder.type, index: '' });
  const kind = BODY_KINDS.has(placeholder.type) ? 'bodyStyle' : 'otherStyle';
  return [
    descend(layoutShape, 'txBody', 'lstStyle'),
    descend(masterShape, 'txBody', 'lstStyle'),
    descend(context.master, 'txStyles', kind),
  ];
}

function tableHtml(context: SlideContext, table: XmlElement): string {
  const header = ['1', 'true'].includes(childElement(table, 'tblPr')?.attributes.firstRow ?? '');
  const span = (value: string | undefined) => Math.min(Math.max(Number(value ?? 1) || 1, 1), DOCUMENT_LIMITS.tableSpan);
  const rows = childElements(table, 'tr').map((row, i): Cell[] =>
    childElements(row, 'tc')
      .filter(
        ({ attributes }) =>
          !['1', 'true'].includes(attributes.hMerge ?? '') && !['1', 'true'].includes(attributes.vMerge ?? ''),
      )
      .map((cell) => {
        const flow = new Flow();
        const body = childElement(cell, 'txBody');
        if (body) writeTextBody(context.opc, context.part, body, [], flow);
        const { gridSpan, rowSpan } = cell.attributes;
        return {
          html: unwrapParagraph(flow.finish()),
          colspan: span(gridSpan),
          rowspan: span(rowSpan),
          header: header && i === 0,
        };
      }),
  );
  return writeTable(rows);
}

function notesHtml(opc: OpcPackage, slidePart: string): string {
  const part = opc.related(slidePart, 'notesSlide')[0]?.target;
  const notes = opc.tree(part);
  if (!notes || part === undefined) return '';
  const flow = new Flow();
  for (const shape of childElements(descend(notes, 'cSld', 'spTree') ?? EMPTY_ELEMENT, 'sp')) {
    const placeholder = placeholderOf(shape);
    const body = childElement(shape, 'txBody');
    if (!body || (placeholder && (REPEATED_KINDS.has(placeholder.type) || placeholder.type === 'sldImg'))) continue;
    writeTextBody(opc, part, body, [], flow);
  }
  const html = flow.finish();
  return html === '' ? '' : `<aside class="notes">${html}</aside>\n`;
}
