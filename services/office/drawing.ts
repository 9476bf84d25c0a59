// Reads the pictures, charts and diagrams of docx, xlsx and pptx, which share DrawingML (ECMA-376-1, 20 and 21).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { PictureCollection } from '#shared/document/pictures.ts';
import {
  attribute,
  childElement,
  childElements,
  descend,
  descendants,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';
import { EMPTY_ELEMENT } from './empty-element.ts';
import { type Cell, writeTable } from './flow.ts';
import { linkTarget } from './inline.ts';
import type { OpcPackage } from './opc.ts';

const PICTURE_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  webp: 'image/webp',
  emf: 'image/emf',
  wmf: 'image/wmf',
};
/** Largest number of rows in the table of a chart. A chart with more points is a plot, and a table of it is not useful. */
const CHART_POINTS = 2_000;

export interface PictureOptions {
  /** Writes pictures with their bytes; false writes a placeholder, because the caller removes the bytes. */
  embed: boolean;
  /** Set if the response contains the pictures. Then the HTML refers to them, and `embed` has no effect. */
  collection?: PictureCollection;
}

/** Whether a picture without alternative text is written. */
export const showsAll = ({ embed, collection }: PictureOptions): boolean => embed || collection !== undefined;

/**
 * The address of a picture: a reference to the collection, or a data URI of the bytes. Without `embed` the data URI is
 * empty, but has the same type, so that readers still see an inline picture.
 */
export function pictureUri(zip: ZipContainer, name: string, { embed, collection }: PictureOptions): string {
  if (collection) return collection.add(name, () => zip.read(name, DOCUMENT_LIMITS.pictureBytes));
  const type = PICTURE_TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
  return `data:${type};base64,${embed ? Buffer.from(zip.read(name)).toString('base64') : ''}`;
}

/** As `pictureUri`, for a picture that is base64 text in the XML of a flat document (ODF 1.3 part 3, 19.28). */
export function flatPictureUri(
  data: XmlElement,
  mimeType: string | undefined,
  { embed, collection }: PictureOptions,
): string {
  const encoded = () => textContent(data).replace(/\s+/g, '');
  if (collection) {
    const text = encoded();
    return collection.add(text, () => Buffer.from(text, 'base64'));
  }
  const type = mimeType !== undefined && /^image\/[\w.+-]{1,60}$/.test(mimeType) ? mimeType : 'image/png';
  return `data:${type};base64,${embed ? encoded() : ''}`;
}

/** `<img>` of a picture that a part refers to; '' if the picture is missing, or if it has no alternative text and its bytes are not embedded. */
export function pictureMarkup(
  opc: OpcPackage,
  part: string,
  reference: { embed?: string; link?: string },
  alt: string,
  options: PictureOptions,
): string {
  const relationships = opc.relationships(part);
  const embedded = reference.embed === undefined ? undefined : relationships.get(reference.embed);
  const linked = reference.link === undefined ? undefined : relationships.get(reference.link);
  let src: string | undefined;
  const external = [embedded, linked].find((relationship) => relationship?.external);
  if (external) src = linkTarget(external.target);
  else if (embedded && opc.zip.has(embedded.target) && (showsAll(options) || alt.trim() !== ''))
    src = pictureUri(opc.zip, embedded.target, options);
  if (src === undefined) return '';
  return `<img src="${escapeHtml(src)}" alt="${escapeHtml(alt.replace(/\s+/g, ' ').trim())}">`;
}

/** The alternative text of a `docPr` or `cNvPr` element: its description, or else its title. */
export function alternativeText(properties: XmlElement | undefined): string {
  const description = properties?.attributes.descr ?? '';
  return description.trim() || (properties?.attributes.title ?? '').trim();
}

function points(reference: XmlElement | undefined): Map<number, string> {
  const found = new Map<number, string>();
  if (!reference) return found;
  const cache = descendants(reference, 'lvl').at(-1) ?? reference;
  for (const point of descendants(cache, 'pt').slice(0, CHART_POINTS)) {
    const index = Number(point.attributes.idx);
    if (Number.isInteger(index)) found.set(index, textContent(childElement(point, 'v')).trim());
  }
  return found;
}

function shortNumber(text: string): string {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? String(Number(value.toPrecision(12))) : text;
}

/** A chart as its title and a table of its cached data, with a row for each category and a column for each series. */
function chartMarkup(chart: XmlElement): string {
  const body = childElement(chart, 'chart') ?? chart;
  const title = descendants(childElement(body, 'title') ?? EMPTY_ELEMENT, 't')
    .map(textContent)
    .join('')
    .trim();
  const heading = title === '' ? '' : `<p><strong>${escapeHtml(title)}</strong></p>\n`;
  const series = descendants(body, 'ser').map((ser) => ({
    name: textContent(descendants(childElement(ser, 'tx') ?? ser, 'v')[0]).trim(),
    categories: points(childElement(ser, 'cat') ?? childElement(ser, 'xVal')),
    values: points(childElement(ser, 'val') ?? childElement(ser, 'yVal')),
  }));
  if (series.length === 0) return heading;
  const categories = series.find((one) => one.categories.size > 0)?.categories ?? new Map<number, string>();
  const indexes = [...new Set([...categories.keys(), ...series.flatMap((one) => [...one.values.keys()])])];
  indexes.sort((a, b) => a - b);
  const header: Cell[] = ['', ...series.map((one, i) => one.name || `Series ${i + 1}`)].map((name) => ({
    html: escapeHtml(name),
    header: true,
  }));
  const rows = indexes
    .slice(0, CHART_POINTS)
    .map((index): Cell[] => [
      { html: escapeHtml(categories.get(index) ?? String(index + 1)) },
      ...series.map((one) => ({ html: escapeHtml(shortNumber(one.values.get(index) ?? '')) })),
    ]);
  return heading + (rows.length === 0 ? '' : writeTable([header, ...rows]));
}

/** A diagram (SmartArt) as a list of the texts of its points. */
function diagramMarkup(data: XmlElement): string {
  const texts = descendants(data, 'pt')
    .filter((point) => !['pres', 'parTrans', 'sibTrans'].includes(point.attributes.type ?? 'node'))
    .map((point) =>
      descendants(point, 'p')
        .map((p) => descendants(p, 't').map(textContent).join(''))
        .join(' ')
        .trim(),
    )
    .filter((text) => text !== '');
  return texts.length === 0 ? '' : `<ul>${texts.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>`;
}

/** The chart or diagram of a `graphicData` element; '' for anything else. */
export function graphicMarkup(opc: OpcPackage, part: string, data: XmlElement): string {
  const relationships = opc.relationships(part);
  const chart = childElement(data, 'chart');
  if (chart) {
    const tree = opc.tree(relationships.get(attribute(chart, 'id') ?? '')?.target);
    return tree ? chartMarkup(tree) : '';
  }
  const diagram = childElement(data, 'relIds');
  if (diagram) {
    const tree = opc.tree(relationships.get(attribute(diagram, 'dm') ?? '')?.target);
    return tree ? diagramMarkup(tree) : '';
  }
  return '';
}

/** The `graphicData` of a graphic frame or drawing. */
export function graphicData(element: XmlElement): XmlElement | undefined {
  return descend(element, 'graphic', 'graphicData');
}

/** The branches of `mc:AlternateContent`, in the order in which to try them. */
export function alternatives(element: XmlElement): XmlElement[] {
  return [...childElements(element, 'Choice'), ...childElements(element, 'Fallback')];
}
