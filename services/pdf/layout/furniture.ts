// Finds running headers, footers and page numbers by their repetition over pages, and on a single page by their place and size.
import { type Box, boundingBox } from '../source/geometry.ts';
import { type Chunk, chunkText, groupRows } from './lines.ts';
import { isCaption } from './markers.ts';

/** Rows looked at from each edge of a page. */
const ROWS = 4;
/** Share of the page's height, from each edge, in which furniture stands. */
const ZONE = 0.14;

export type FurnitureRole = 'page_header' | 'page_footer' | 'page_number';

export interface MarginRow {
  chunks: Chunk[];
  box: Box;
  key: string;
  top: boolean;
}

export interface MarginPage {
  index: number;
  width: number;
  height: number;
  chunks: readonly Chunk[];
}

export interface FoundFurniture {
  role: FurnitureRole;
  chunks: Chunk[];
  box: Box;
}

const PAGE_NUMBER =
  /^(?:[-–—|·•\s]*)(?:(?:page|seite|p\.|pg\.?|página|pagina|стр\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:\/|of|von|de|sur|di|из)\s*\d{1,4})?(?:[-–—|·•\s]*)$/iu;

/** What a publisher's site prints on the edge of a page that was fetched from it. */
const DOWNLOAD_STAMP = /^downloaded (?:from|by|via)\b.{0,200}(?:https?:|www\.|\bon \S+ \d|\d{4})/i;
/** Rows of a page of running text, at least; a form or a letter has a spread first row too. */
const FULL_PAGE_ROWS = 12;

/** The running furniture of a run of pages; pages come in their order. */
export function findFurniture(pages: readonly MarginPage[]): Map<number, FoundFurniture[]> {
  const rows = new Map<number, MarginRow[]>();
  const seen = new Map<string, { pages: Set<number>; heights: number[] }>();
  for (const page of pages) {
    const margin = marginRows(page);
    rows.set(page.index, margin);
    for (const row of margin) {
      const entry = seen.get(row.key) ?? { pages: new Set<number>(), heights: [] };
      entry.pages.add(page.index);
      entry.heights.push(row.box.y0);
      seen.set(row.key, entry);
    }
  }
  const found = new Map<number, FoundFurniture[]>();
  for (const page of pages) {
    const own: FoundFurniture[] = [];
    const margin = rows.get(page.index) ?? [];
    for (const top of [true, false]) {
      const edge: { row: MarginRow; role: FurnitureRole }[] = [];
      // From the edge inwards; a row that is none ends the search.
      for (const row of margin.filter((one) => one.top === top)) {
        const entry = seen.get(row.key);
        const near = entry ? entry.heights.filter((y) => Math.abs(y - row.box.y0) < 8).length : 0;
        const repeated =
          entry !== undefined &&
          entry.pages.size >= 2 &&
          near >= 2 &&
          entry.pages.size >= Math.min(3, pages.length * 0.3);
        const text = rowText(row);
        if (repeated || isLonelyFurniture(row, text, page)) edge.push({ row, role: roleOf(row, text) });
        else break;
      }
      // Lines that run on into the text are text, however often they are repeated.
      for (let last = edge.at(-1); last && runsOn(last.row, page.chunks); last = edge.at(-1)) edge.pop();
      own.push(...edge.map(({ row, role }) => ({ role, chunks: row.chunks, box: row.box })));
    }
    if (own.length > 0) found.set(page.index, own);
  }
  return found;
}

function rowText(row: MarginRow): string {
  return row.chunks.map((chunk) => chunkText(chunk.words)).join(' ');
}

function roleOf(row: MarginRow, text: string): FurnitureRole {
  if (PAGE_NUMBER.test(text)) return 'page_number';
  return row.top ? 'page_header' : 'page_footer';
}

function marginRows(page: MarginPage): MarginRow[] {
  const zoneTop = page.height * ZONE;
  const zoneBottom = page.height * (1 - ZONE);
  const make = (chunks: Chunk[], top: boolean): MarginRow => {
    const text = chunks.map((chunk) => chunkText(chunk.words)).join(' ');
    return {
      chunks,
      box: boundingBox(chunks.map((chunk) => chunk.box)),
      key: `${top ? 't' : 'b'}${text
        .toLowerCase()
        .replace(/\d+|\b[ivxlc]+\b/g, '#')
        .replace(/\s+/g, ' ')
        .slice(0, 200)}`,
      top,
    };
  };
  const top = groupRows(page.chunks.filter((chunk) => chunk.box.y1 < zoneTop))
    .slice(0, ROWS)
    .map((row) => make(row, true));
  const bottom = groupRows(page.chunks.filter((chunk) => chunk.box.y0 > zoneBottom))
    .slice(-ROWS)
    .reverse()
    .map((row) => make(row, false));
  return [...top, ...bottom];
}

/** Without repetition: a page number alone at the edge, or one small line well apart from the text. */
function isLonelyFurniture(row: MarginRow, text: string, page: MarginPage): boolean {
  const body = bodySize(page.chunks);
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  const gap = gapToText(row, page.chunks);
  if (page.chunks.length <= row.chunks.length) return false;
  if (PAGE_NUMBER.test(text)) return size <= body * 1.15 && gap > body * 0.9;
  if (size <= body * 1.25 && (isSpreadHead(row, page, gap) || (DOWNLOAD_STAMP.test(text) && gap > 0))) return true;
  const edge = row.top ? row.box.y1 < page.height * 0.1 : row.box.y0 > page.height * 0.9;
  return (
    edge && size < body * 0.92 && gap > body * 1.6 && text.length < 160 && !isCaption(text) && !/[.:;]$/.test(text)
  );
}

/**
 * Pieces set against both margins of a page of text, as a running head is: the page's number and a name, or three of which the middle one is
 * centred.
 */
function isSpreadHead(row: MarginRow, page: MarginPage, gap: number): boolean {
  const { chunks } = row;
  const first = chunks[0];
  const last = chunks.at(-1);
  if (!first || !last || chunks.length < 2 || chunks.length > 3) return false;
  const size = Math.max(...chunks.map((chunk) => chunk.size));
  if (gap < size * 0.7 || chunks.some((chunk, n) => n > 0 && chunk.box.x0 - (chunks[n - 1] as Chunk).box.x1 < size * 3))
    return false;
  const others = page.chunks.filter((chunk) => !chunks.includes(chunk));
  if (others.length < FULL_PAGE_ROWS) return false;
  const text = boundingBox(others.filter((chunk) => chunk.words.length > 2).map((chunk) => chunk.box));
  if (Math.abs(first.box.x0 - text.x0) > size * 2 || Math.abs(last.box.x1 - text.x1) > size * 2) return false;
  const middle = chunks[1] as Chunk;
  return chunks.length === 2
    ? [first, last].some((chunk) => PAGE_NUMBER.test(chunkText(chunk.words)))
    : Math.abs(middle.box.x0 + middle.box.x1 - text.x0 - text.x1) < size * 4 && middle.words.length <= 8;
}

/** Whether the next row inwards follows at the distance and in the size of one text. */
function runsOn(row: MarginRow, chunks: readonly Chunk[]): boolean {
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  let gap = Infinity;
  let next: Chunk | undefined;
  for (const chunk of chunks) {
    if (row.chunks.includes(chunk)) continue;
    const distance = row.top ? chunk.box.y0 - row.box.y1 : row.box.y0 - chunk.box.y1;
    if (distance > -1 && distance < gap) {
      gap = distance;
      next = chunk;
    }
  }
  return next !== undefined && gap < size * 0.6 && Math.abs(next.size - size) < size * 0.06;
}

function gapToText(row: MarginRow, chunks: readonly Chunk[]): number {
  let gap = Infinity;
  for (const chunk of chunks) {
    if (row.chunks.includes(chunk)) continue;
    const distance = row.top ? chunk.box.y0 - row.box.y1 : row.box.y0 - chunk.box.y1;
    if (distance > -1 && distance < gap) gap = distance;
  }
  return gap;
}

/** The type size of most characters. */
export function bodySize(chunks: readonly Chunk[]): number {
  const counts = new Map<number, number>();
  for (const chunk of chunks)
    for (const word of chunk.words) {
      const size = Math.round(word.style.size * 2) / 2;
      counts.set(size, (counts.get(size) ?? 0) + word.text.length);
    }
  let best = 10;
  let most = 0;
  for (const [size, count] of counts)
    if (count > most) {
      most = count;
      best = size;
    }
  return best;
}
