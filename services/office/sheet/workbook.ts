// Reads an xlsx or xlsm (SpreadsheetML, ECMA-376-1, 18) into sheets of shown texts.
import { ParseError } from '#shared/contract/errors.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import {
  attribute,
  childElement,
  childElements,
  descend,
  descendants,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import { alternativeText, type PictureOptions, pictureMarkup } from '../drawing.ts';
import { EMPTY_ELEMENT } from '../empty-element.ts';
import type { OpcPackage } from '../opc.ts';
import { type Book, readCells } from './cells.ts';
import { BUILT_IN, compileFormat, type NumberFormat } from './number-format.ts';
import { readSharedStrings } from './shared-strings.ts';
import { CellBudget, type MergedRange, type Sheet } from './sheet.ts';

/** The number format of each cell style. Each format is compiled once. */
function readFormats(styles: XmlElement | undefined, date1904: boolean): NumberFormat[] {
  const codes = new Map<number, string>(Object.entries(BUILT_IN).map(([id, code]) => [Number(id), code]));
  for (const element of childElements(childElement(styles, 'numFmts') ?? EMPTY_ELEMENT))
    codes.set(Number(element.attributes.numFmtId), element.attributes.formatCode ?? '');
  const compiled = new Map<number, NumberFormat>();
  return childElements(childElement(styles, 'cellXfs') ?? EMPTY_ELEMENT).map((xf) => {
    const id = Number(xf.attributes.numFmtId ?? 0);
    const format = compiled.get(id) ?? compileFormat(codes.get(id) ?? 'General', date1904);
    compiled.set(id, format);
    return format;
  });
}

function paragraphMarkup(element: XmlElement): string {
  const text = descendants(element, 't').map(textContent).join('').trim();
  return text === '' ? '' : `<p>${escapeHtml(text)}</p>`;
}

/**
 * The text boxes, chart titles and picture descriptions over a sheet. The data of its charts is left out, because it is
 * in the cells.
 */
function readDrawings(opc: OpcPackage, part: string, pictures: PictureOptions): string {
  const tree = opc.tree(part);
  if (!tree) return '';
  const found: string[] = [];
  for (const anchor of childElements(tree)) {
    for (const body of descendants(anchor, 'txBody'))
      for (const paragraph of childElements(body, 'p')) found.push(paragraphMarkup(paragraph));
    for (const chart of descendants(anchor, 'chart')) {
      const chartTree = opc.tree(opc.relationships(part).get(attribute(chart, 'id') ?? '')?.target);
      for (const title of chartTree ? descendants(chartTree, 'title') : []) found.push(paragraphMarkup(title));
    }
    for (const picture of descendants(anchor, 'pic')) {
      const alt = alternativeText(descendants(picture, 'cNvPr')[0]);
      const blip = descend(picture, 'blipFill', 'blip');
      const reference = { embed: attribute(blip, 'embed'), link: attribute(blip, 'link') };
      const markup = pictures.collection ? pictureMarkup(opc, part, reference, alt, pictures) : '';
      if (markup !== '') found.push(`<p>${markup}</p>`);
      else if (alt !== '') found.push(`<p><img src="data:image/png;base64," alt="${escapeHtml(alt)}"></p>`);
    }
  }
  return found.filter((html) => html !== '').join('\n');
}

/** The address of each linked cell, by `row:column`. A linked range is a link of its first cell. */
function linkedCells(links: [MergedRange, string][], target: (id: string) => string | undefined): Map<string, string> {
  const cells = new Map<string, string>();
  for (const [range, id] of links) {
    const href = target(id);
    if (href !== undefined) cells.set(`${range.top}:${range.left}`, href);
  }
  return cells;
}

/** The visible sheets of a workbook in order. @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX */
export async function readWorkbook(opc: OpcPackage, part: string, pictures: PictureOptions): Promise<Sheet[]> {
  const workbook = opc.tree(part);
  if (!workbook) throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its workbook is missing');
  const date1904 = ['1', 'true', 'on'].includes(childElement(workbook, 'workbookPr')?.attributes.date1904 ?? '');
  const book: Book = {
    strings: await readSharedStrings(opc, opc.related(part, 'sharedStrings')[0]?.target),
    formats: readFormats(opc.tree(opc.related(part, 'styles')[0]?.target), date1904),
    budget: new CellBudget(),
  };
  const sheets: Sheet[] = [];
  for (const element of childElements(childElement(workbook, 'sheets') ?? EMPTY_ELEMENT, 'sheet')) {
    if (['hidden', 'veryHidden'].includes(element.attributes.state ?? '')) continue;
    const relationship = opc.relationships(part).get(attribute(element, 'id') ?? '');
    if (!relationship || !opc.zip.has(relationship.target)) continue;
    const name = element.attributes.name ?? '';
    const relationships = opc.relationships(relationship.target);
    const { rows, merges, links, drawing } = await readCells(book, opc.zip.textStream(relationship.target));
    rows.link(linkedCells(links, (id) => relationships.get(id)?.target));
    const drawingPart = drawing === undefined ? undefined : relationships.get(drawing)?.target;
    const drawings = drawingPart === undefined ? '' : readDrawings(opc, drawingPart, pictures);
    sheets.push({ name, rows, merges, drawings });
  }
  return sheets;
}
