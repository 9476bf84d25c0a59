// Reads an xlsx or xlsm (SpreadsheetML, ECMA-376-1 part 18) into sheets of shown texts, streaming each sheet's XML.
import { ParseError } from '#shared/contract/errors.ts';
import {
  attribute,
  childElement,
  childElements,
  descendants,
  localName,
  readXml,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import { alternativeText } from '../drawing.ts';
import { escapeHtml } from '../inline.ts';
import type { OpcPackage } from '../opc.ts';
import { generalNumber } from './decimal-format.ts';
import { BUILT_IN, compileFormat, type NumberFormat } from './number-format.ts';
import { CellBudget, type MergedRange, type Sheet, type SheetCell, type SheetRow } from './sheet.ts';

const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

/** Zero-based place of `BC23`; undefined for anything else or past what a sheet has. */
function parseReference(reference: string | undefined): { row: number; column: number } | undefined {
  const match = /^\$?([A-Za-z]{1,3})\$?(\d{1,7})$/.exec(reference ?? '');
  if (!match?.[1]) return undefined;
  let column = 0;
  for (const letter of match[1].toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  const row = Number(match[2]);
  return column <= MAX_COLUMNS && row >= 1 && row <= MAX_ROWS ? { row: row - 1, column: column - 1 } : undefined;
}

function parseRange(range: string | undefined): MergedRange | undefined {
  const [from, to] = (range ?? '').split(':');
  const start = parseReference(from);
  const end = parseReference(to ?? from);
  return start && end ? { top: start.row, left: start.column, bottom: end.row, right: end.column } : undefined;
}

/** Shared strings in order; phonetic hints (`rPh`) are not shown. */
function readSharedStrings(opc: OpcPackage, part: string | undefined): string[] {
  const strings: string[] = [];
  if (part === undefined || !opc.zip.has(part)) return strings;
  let text = '';
  let inText = false;
  let hidden = 0;
  readXml(opc.zip.text(part), {
    open(name) {
      const local = localName(name);
      if (local === 'si') text = '';
      else if (local === 't') inText = true;
      else if (local === 'rPh') hidden++;
    },
    text(chunk) {
      if (inText && hidden === 0) text += chunk;
    },
    close(name) {
      const local = localName(name);
      if (local === 'si') strings.push(unescapeControls(text));
      else if (local === 't') inText = false;
      else if (local === 'rPh') hidden--;
    },
  });
  return strings;
}

/** `_x000D_` stands for characters XML cannot hold (ECMA-376-1, 22.4.2.4). */
function unescapeControls(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '\r' ? '' : character;
  });
}

function readFormats(styles: XmlElement | undefined, date1904: boolean): NumberFormat[] {
  const codes = new Map<number, string>(Object.entries(BUILT_IN).map(([id, code]) => [Number(id), code]));
  for (const element of childElements(childElement(styles, 'numFmts') ?? EMPTY))
    codes.set(Number(element.attributes.numFmtId), element.attributes.formatCode ?? '');
  const compiled = new Map<number, NumberFormat>();
  return childElements(childElement(styles, 'cellXfs') ?? EMPTY).map((xf) => {
    const id = Number(xf.attributes.numFmtId ?? 0);
    const format = compiled.get(id) ?? compileFormat(codes.get(id) ?? 'General', date1904);
    compiled.set(id, format);
    return format;
  });
}

const EMPTY: XmlElement = { name: '', local: '', attributes: {}, children: [] };

interface Book {
  strings: string[];
  formats: NumberFormat[];
  date1904: boolean;
  budget: CellBudget;
}

function shownText(book: Book, type: string, style: number, raw: string): string {
  if (type === 's') return book.strings[Number(raw)] ?? '';
  if (type === 'b') return raw === '1' || raw === 'true' ? 'TRUE' : 'FALSE';
  if (type === 'd') return raw.replace(/T00:00:00(?:\.0+)?Z?$/, '').replace('T', ' ');
  if (type === 'n' || type === '') {
    const value = Number(raw);
    if (raw.trim() === '' || !Number.isFinite(value)) return raw;
    return (book.formats[style] ?? generalNumber)(value);
  }
  return unescapeControls(raw);
}

/** Streams one sheet's cells. */
function readCells(
  book: Book,
  xml: string,
): { rows: SheetRow[]; merges: MergedRange[]; links: [MergedRange, string][]; drawing?: string } {
  const rows: SheetRow[] = [];
  const merges: MergedRange[] = [];
  const links: [MergedRange, string][] = [];
  let drawing: string | undefined;
  let row: SheetRow | undefined;
  let nextRow = 0;
  let column = -1;
  let type = '';
  let style = 0;
  let value = '';
  let capture = false;
  let hidden = 0;
  let sorted = true;
  readXml(xml, {
    open(name, attributes) {
      switch (localName(name)) {
        case 'row': {
          const index = Number(attributes.r ?? nextRow + 1) - 1;
          row = { index: index >= 0 && index < MAX_ROWS ? index : nextRow, cells: [] };
          nextRow = row.index + 1;
          column = -1;
          break;
        }
        case 'c':
          column = parseReference(attributes.r)?.column ?? column + 1;
          type = attributes.t ?? '';
          style = Number(attributes.s ?? 0);
          value = '';
          break;
        case 'v':
        case 't':
          capture = hidden === 0;
          break;
        case 'rPh':
          hidden++;
          break;
        case 'mergeCell': {
          const range = parseRange(attributes.ref);
          if (range) merges.push(range);
          break;
        }
        case 'hyperlink': {
          const range = parseRange(attributes.ref);
          const id = attributes['r:id'];
          if (range && id !== undefined) links.push([range, id]);
          break;
        }
        case 'drawing':
          drawing = attributes['r:id'];
          break;
        default:
          break;
      }
    },
    text(chunk) {
      if (capture) value += chunk;
    },
    close(name) {
      switch (localName(name)) {
        case 'v':
        case 't':
          capture = false;
          break;
        case 'rPh':
          hidden--;
          break;
        case 'c': {
          book.budget.spend(1);
          const text = value === '' ? '' : shownText(book, type, style, value);
          if (!row || text.trim() === '' || column >= MAX_COLUMNS) break;
          const last = row.cells.at(-1);
          if (last && last.column >= column) sorted = false;
          row.cells.push({ column, text });
          break;
        }
        case 'row':
          if (row && row.cells.length > 0) rows.push(row);
          row = undefined;
          break;
        default:
          break;
      }
    },
  });
  if (!sorted) for (const one of rows) one.cells.sort((a, b) => a.column - b.column);
  return { rows, merges, links, ...(drawing === undefined ? {} : { drawing }) };
}

/** Text boxes, chart titles and picture descriptions that float over a sheet; the charts' data stands in its cells. */
function readDrawings(opc: OpcPackage, part: string): string {
  const tree = opc.tree(part);
  if (!tree) return '';
  const found: string[] = [];
  for (const anchor of childElements(tree)) {
    for (const body of descendants(anchor, 'txBody'))
      for (const paragraph of childElements(body, 'p')) {
        const text = descendants(paragraph, 't').map(textContent).join('').trim();
        if (text !== '') found.push(`<p>${escapeHtml(text)}</p>`);
      }
    for (const chart of descendants(anchor, 'chart')) {
      const chartTree = opc.tree(opc.relationships(part).get(attribute(chart, 'id') ?? '')?.target);
      for (const title of chartTree ? descendants(chartTree, 'title') : []) {
        const text = descendants(title, 't').map(textContent).join('').trim();
        if (text !== '') found.push(`<p>${escapeHtml(text)}</p>`);
      }
    }
    for (const picture of descendants(anchor, 'pic')) {
      const alt = alternativeText(descendants(picture, 'cNvPr')[0]);
      if (alt !== '') found.push(`<p><img src="data:image/png;base64," alt="${escapeHtml(alt)}"></p>`);
    }
  }
  return found.join('\n');
}

function applyLinks(
  rows: SheetRow[],
  links: [MergedRange, string][],
  target: (id: string) => string | undefined,
): void {
  if (links.length === 0) return;
  const cells = new Map<string, SheetCell>();
  for (const row of rows) for (const cell of row.cells) cells.set(`${row.index}:${cell.column}`, cell);
  for (const [range, id] of links) {
    const href = target(id);
    const cell = cells.get(`${range.top}:${range.left}`);
    if (href !== undefined && cell) cell.href = href;
  }
}

/** The visible sheets of a workbook in order. @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX */
export function readWorkbook(opc: OpcPackage, part: string): Sheet[] {
  const workbook = opc.tree(part);
  if (!workbook) throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its workbook is missing');
  const date1904 = ['1', 'true', 'on'].includes(childElement(workbook, 'workbookPr')?.attributes.date1904 ?? '');
  const book: Book = {
    strings: readSharedStrings(opc, opc.related(part, 'sharedStrings')[0]?.target),
    formats: readFormats(opc.tree(opc.related(part, 'styles')[0]?.target), date1904),
    date1904,
    budget: new CellBudget(),
  };
  const sheets: Sheet[] = [];
  for (const element of childElements(childElement(workbook, 'sheets') ?? EMPTY, 'sheet')) {
    if (['hidden', 'veryHidden'].includes(element.attributes.state ?? '')) continue;
    const relationship = opc.relationships(part).get(attribute(element, 'id') ?? '');
    if (!relationship || !opc.zip.has(relationship.target)) continue;
    const name = element.attributes.name ?? '';
    const relationships = opc.relationships(relationship.target);
    const { rows, merges, links, drawing } = readCells(book, opc.zip.text(relationship.target));
    applyLinks(rows, links, (id) => relationships.get(id)?.target);
    const drawingPart = drawing === undefined ? undefined : relationships.get(drawing)?.target;
    sheets.push({ name, rows, merges, drawings: drawingPart === undefined ? '' : readDrawings(opc, drawingPart) });
  }
  return sheets;
}
