// Reads an odp (ODF 1.3 part 3, 10) into one block a slide.
import { attribute, childElement, childElements, textContent, type XmlElement } from '#shared/readers/xml.ts';
import { Flow } from '../flow.ts';
import { InlineText } from '../inline.ts';
import type { OdfContent } from './content.ts';
import type { OdfStyles } from './styles.ts';

/** Points of one unit of length (XSL-FO 5.9.13). */
const UNITS: Record<string, number> = { cm: 28.346, mm: 2.8346, in: 72, pt: 1, pc: 12, px: 0.75 };
/** Shapes whose tops differ by less are beside each other, in points. */
const BAND = 18;
const FURNITURE = new Set(['header', 'footer', 'date-time', 'page-number', 'page', 'handout']);

interface Shape {
  element: XmlElement;
  kind: string;
  x: number;
  y: number;
}

function points(length: string | undefined): number {
  const match = /^(-?[\d.]+)([a-z]{2})$/.exec(length ?? '');
  return match ? Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1) : 0;
}

function shapesOf(page: XmlElement): Shape[] {
  const shapes: Shape[] = [];
  for (const element of childElements(page)) {
    if (['notes', 'forms', 'animations', 'par', 'title', 'desc'].includes(element.local)) continue;
    const first = element.local === 'g' ? childElements(element)[0] : element;
    shapes.push({
      element,
      kind: attribute(element, 'class') ?? '',
      x: points(attribute(first, 'x')),
      y: points(attribute(first, 'y')),
    });
  }
  const sorted = shapes.sort((a, b) => a.y - b.y);
  const ordered: Shape[] = [];
  for (let i = 0; i < sorted.length; ) {
    const top = sorted[i]?.y ?? 0;
    let end = i;
    while (end < sorted.length && (sorted[end]?.y ?? 0) - top < BAND) end++;
    ordered.push(...sorted.slice(i, end).sort((a, b) => a.x - b.x));
    i = end;
  }
  return ordered;
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
    if (kind !== 'title' && !FURNITURE.has(kind)) writeShape(element, content, flow);
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
