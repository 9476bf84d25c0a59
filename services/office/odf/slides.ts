// Reads an odp (ODF 1.3 part 3, 10) into one block for each slide, with the shapes in reading order.
import { attribute, childElement, childElements, textContent, type XmlElement } from '#shared/readers/xml.ts';
import { Flow } from '../flow.ts';
import { InlineText } from '../inline.ts';
import { type Boxed, inReadingOrder } from '../slides/reading-order.ts';
import type { OdfContent } from './content.ts';
import type { OdfStyles } from './styles.ts';

/** The length of each unit in points (XSL-FO 1.1, 5.9.13). */
const UNITS: Record<string, number> = { cm: 28.346, mm: 2.8346, in: 72, pt: 1, pc: 12, px: 0.75 };
/** Presentation classes that every slide repeats. */
const REPEATED_KINDS = new Set(['header', 'footer', 'date-time', 'page-number', 'page', 'handout']);

interface Shape extends Boxed {
  element: XmlElement;
  kind: string;
}

function points(length: string | undefined): number {
  const match = /^(-?[\d.]+)([a-z]{2})$/.exec(length ?? '');
  return match ? Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1) : 0;
}

function boxOf(element: XmlElement): Boxed['box'] {
  const width = points(attribute(element, 'width'));
  // A group has no size of its own.
  if (width === 0 || element.local === 'g') return null;
  return {
    x: points(attribute(element, 'x')),
    y: points(attribute(element, 'y')),
    width,
    height: points(attribute(element, 'height')),
  };
}

function shapesOf(page: XmlElement): Shape[] {
  const shapes: Shape[] = [];
  for (const element of childElements(page)) {
    if (['notes', 'forms', 'animations', 'par', 'title', 'desc'].includes(element.local)) continue;
    shapes.push({ element, kind: attribute(element, 'class') ?? '', box: boxOf(element) });
  }
  return inReadingOrder(shapes);
}

function writeShape(element: XmlElement, content: OdfContent, flow: Flow): void {
  if (element.local === 'g') for (const shape of shapesOf(element)) writeShape(shape.element, content, flow);
  else content.frame(element, flow);
}

function slideHtml(page: XmlElement, content: OdfContent): string {
  const flow = new Flow();
  const shapes = shapesOf(page);
  for (const { element, kind } of shapes) {
    if (kind !== 'title') continue;
    const inline = new InlineText();
    inline.text(
      textContent(childElement(element, 'text-box') ?? element)
        .replace(/\s+/g, ' ')
        .trim(),
    );
    flow.heading(2, inline);
  }
  for (const { element, kind } of shapes)
    if (kind !== 'title' && !REPEATED_KINDS.has(kind)) writeShape(element, content, flow);
  return flow.finish();
}

function notesHtml(page: XmlElement, content: OdfContent): string {
  const flow = new Flow();
  for (const notes of childElements(page, 'notes'))
    for (const frame of childElements(notes, 'frame'))
      if (attribute(frame, 'class') === 'notes') content.frame(frame, flow);
  const html = flow.finish();
  return html === '' ? '' : `<aside class="notes">${html}</aside>\n`;
}

/** Semantic HTML of all visible slides. */
export function readSlides(presentation: XmlElement, styles: OdfStyles, content: OdfContent): string {
  const slides: string[] = [];
  childElements(presentation, 'page').forEach((page, i) => {
    if (styles.style('drawing-page', attribute(page, 'style-name')).hidden) return;
    slides.push(`<div data-slide="${i + 1}">\n${slideHtml(page, content)}${notesHtml(page, content)}</div>`);
  });
  return slides.join('\n');
}
