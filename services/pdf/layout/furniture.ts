// Finds running headers, footers and page numbers by their repetition over pages, and on a single page by their place and size.
// Pages made by hand that need its rules: furniture.test.ts and page-rules.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox } from '../source/geometry.ts';
import { type Chunk, chunkText, groupRows } from '../text/lines.ts';
import { isCaption } from '../text/markers.ts';

/** Rows looked at from each edge of a page. */
const ROWS = 4;
/** Share of the page's height, from each edge, in which furniture stands. */
const ZONE = 0.14;

type FurnitureRole = 'page_header' | 'page_footer' | 'page_number';

interface MarginRow {
  chunks: Chunk[];
  box: Box;
  key: string;
  top: boolean;
}

interface MarginPage {
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

/** What a publisher's or a library's site prints on the edge of a page that was fetched from it (furniture.test.ts, a stamp). */
const STAMP = /^(?:downloaded (?:from|by|via)\b.{0,200}(?:https?:|www\.|\bon \S+ \d|\d{4})|digiti[sz]ed by \S+$)/i;
/** Share of the page's height, from each edge, in which text seldom stands. */
const OUTER = 0.1;
/** Rows of a page of running text, at least; a form or a letter has a spread first row too. */
const FULL_PAGE_ROWS = 12;

/** Rows that stood on several pages read so far, by their text without numbers. */
export type FurnitureMemory = Map<string, RowMemory>;

interface RowMemory {
  pages: Set<number>;
  heights: number[];
}

/** Rows that are remembered from one run of pages to the next, and pages of each. */
const REMEMBERED_ROWS = 200;
const REMEMBERED_PAGES = 64;

/**
 * The running furniture of a run of pages; pages come in their order.
 * @param seen what earlier runs of the document repeated; what this one did is added
 */
export function findFurniture(
  pages: readonly MarginPage[],
  seen: FurnitureMemory = new Map(),
): Map<number, FoundFurniture[]> {
  const rows = new Map<number, MarginRow[]>();
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
    const measure = measurePage(page);
    const surest = margin.find((row) => weighRow(row, rowText(row), page, measure).points >= ENOUGH);
    for (const top of [true, false]) {
      const edge: EdgeRow[] = [];
      let sure = 0;
      // From the edge inwards; a row that is none ends the search, one that only may be waits for the next.
      for (const row of margin.filter((one) => one.top === top)) {
        const entry = seen.get(row.key) as RowMemory;
        const near = entry.heights.filter((y) => Math.abs(y - row.box.y0) < 8).length;
        const repeated = near >= 2 && entry.pages.size >= Math.min(3, pages.length * 0.3);
        const text = rowText(row);
        const evidence = repeated ? { points: ENOUGH, parted: false } : weighRow(row, text, page, measure, surest);
        if (evidence.points < MAYBE) break;
        edge.push({ row, role: roleOf(row, text), parted: evidence.parted });
        if (evidence.points >= ENOUGH) sure = edge.length;
      }
      edge.length = sure;
      // Lines that run on into the text are text, however often they are repeated.
      for (let last = edge.at(-1); last && !last.parted && runsOn(last.row, page.chunks); last = edge.at(-1))
        edge.pop();
      own.push(...edge.map(({ row, role }) => ({ role, chunks: row.chunks, box: row.box })));
    }
    if (own.length > 0) found.set(page.index, own);
  }
  forgetOnce(seen);
  return found;
}

/** Keeps the rows that are repeated, those that came last where they are many. */
function forgetOnce(seen: FurnitureMemory): void {
  for (const [key, entry] of seen) {
    if (entry.pages.size < 2) seen.delete(key);
    entry.heights = entry.heights.slice(-REMEMBERED_PAGES);
    entry.pages = new Set([...entry.pages].slice(-REMEMBERED_PAGES));
  }
  for (const key of seen.keys()) {
    if (seen.size <= REMEMBERED_ROWS) break;
    seen.delete(key);
  }
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
      key: text
        .toLowerCase()
        .replace(/\d+|\b[ivxlc]+\b/g, '#')
        .replace(/\s+/g, ' ')
        .slice(0, 200),
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

interface EdgeRow {
  row: MarginRow;
  role: FurnitureRole;
  /** It cannot be read as one text with what follows. */
  parted: boolean;
}

interface PageMeasure {
  /** Type size of the text. */
  body: number;
  /** Usual margins of the lines of text: of chunks of three and more words. */
  left: number;
  right: number;
  /** Such lines. */
  lines: number;
}

function measurePage(page: MarginPage): PageMeasure {
  const lines = page.chunks.filter((chunk) => chunk.words.length > 2);
  const at = (values: number[], share: number) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];
  return {
    body: bodySize(page.chunks),
    left:
      at(
        lines.map((chunk) => chunk.box.x0),
        0.1,
      ) ?? 0,
    right:
      at(
        lines.map((chunk) => chunk.box.x1),
        0.9,
      ) ?? page.width,
    lines: lines.length,
  };
}

/**
 * Points that make a row furniture without being repeated, and those below which it is none whatever stands nearer to the text
 * (fixtures/pdf/margin-stamp.pdf).
 */
const ENOUGH = 3;
const MAYBE = 2;

/**
 * What speaks for a row's being furniture where no other page repeats it: its place, its distance, its type, what it says, and a text below it
 * that goes on in the middle of a sentence.
 */
function weighRow(
  row: MarginRow,
  text: string,
  page: MarginPage,
  measure: PageMeasure,
  surest?: MarginRow,
): { points: number; parted: boolean } {
  const { body } = measure;
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  if (page.chunks.length <= row.chunks.length) return { points: 0, parted: false };
  const { gap } = nextInwards(row, page.chunks);
  // A speck of the scanner.
  if (!/[\p{L}\p{N}]/u.test(text)) return { points: MAYBE, parted: false };
  if (PAGE_NUMBER.test(text)) {
    // In the middle of the foot it stands nearer to the text than anywhere else (fixtures/pdf/near-number.pdf; furniture.test.ts, a page number).
    const least = !row.top && isCentred(row.box, page, measure) ? 0.2 : 0.9;
    return { points: size <= body * 1.15 && gap > body * least ? ENOUGH : 0, parted: false };
  }
  const pieces = marginPieces(row, page, measure);
  const spread = pieces > 1;
  if (spread && measure.lines >= FULL_PAGE_ROWS && goesOnBelow(row, page)) return { points: ENOUGH, parted: true };
  if (size > body * 1.25 || isCaption(text)) return { points: 0, parted: false };
  const outer = row.top ? row.box.y1 < page.height * OUTER : row.box.y0 > page.height * (1 - OUTER);
  let points = 0;
  if (STAMP.test(text)) points += 3;
  if (pieces > 0 && gap > size * 0.7 && measure.lines >= FULL_PAGE_ROWS) points += pieces > 1 ? 3 : 1;
  if (surest && isTypeOfMargins(row, surest, page)) points += 1;
  const typed = points > 0 || size < body * 0.92;
  if (outer) points += 1;
  // furniture.test.ts, type a good deal smaller.
  if (size < body * 0.92) points += size < body * 0.6 ? 2 : 1;
  if (gap > body * 1.2) points += 1;
  else if (gap < body * 0.5) points -= 1;
  if (/[.:;]$/.test(text)) points -= 1;
  // Place and distance alone speak for a title too: it waits for no page number.
  return { points: typed ? points : 0, parted: false };
}

/** Whether a row is in the type of one that is furniture, which nothing of the text has (furniture.test.ts, the type of the number). */
function isTypeOfMargins(row: MarginRow, sure: MarginRow, page: MarginPage): boolean {
  const type = typeOf(row.chunks[0]);
  const own = new Set([...row.chunks, ...sure.chunks]);
  return type === typeOf(sure.chunks[0]) && page.chunks.every((chunk) => own.has(chunk) || typeOf(chunk) !== type);
}

function typeOf(chunk: Chunk | undefined): string {
  const style = chunk?.words[0]?.style;
  return `${style?.font}|${style?.size.toFixed(1)}|${style?.bold}|${style?.italic}`;
}

/** Whether the line under a head is one of the text's own and begins in the middle of a sentence: it cannot belong to what is above. */
function goesOnBelow(row: MarginRow, page: MarginPage): boolean {
  const next = page.chunks.find((chunk) => chunk.box.y0 + chunk.box.y1 > 2 * row.box.y1);
  return /^\p{Ll}/u.test(next?.words[0]?.text ?? '');
}

/**
 * 2 for pieces set as a running head is: the page's number and a name at both margins of the text, a name at one and the number in the middle
 * (fixtures/pdf/near-number.pdf), or three of which the middle one is centred; 1 for any other two at the margins; else 0 (furniture.test.ts, a
 * running head).
 */
function marginPieces({ chunks }: MarginRow, page: MarginPage, measure: PageMeasure): 0 | 1 | 2 {
  const { left, right } = measure;
  const first = chunks[0] as Chunk;
  const last = chunks.at(-1) as Chunk;
  if (chunks.length < 2) return 0;
  const size = Math.max(...chunks.map((chunk) => chunk.size));
  if (chunks.some((chunk, n) => n > 0 && chunk.box.x0 - (chunks[n - 1] as Chunk).box.x1 < size * 3)) return 0;
  const atLeft = Math.abs(first.box.x0 - left) < size * 2;
  const atRight = Math.abs(last.box.x1 - right) < size * 2;
  const isNumber = (chunk: Chunk) => PAGE_NUMBER.test(chunkText(chunk.words)) && isCentred(chunk.box, page, measure);
  if ((atLeft && isNumber(last)) || (atRight && isNumber(first))) return 2;
  if (!atLeft || !atRight) return 0;
  const middle = chunks[1] as Chunk;
  if (chunks.length === 2) return [first, last].some((chunk) => PAGE_NUMBER.test(chunkText(chunk.words))) ? 2 : 1;
  return Math.abs(middle.box.x0 + middle.box.x1 - left - right) < size * 4 ? 2 : 0;
}

/** Whether a box stands in the middle of the page or of its text. */
function isCentred(box: Box, page: MarginPage, { left, right, body }: PageMeasure): boolean {
  const middle = (box.x0 + box.x1) / 2;
  return [page.width / 2, (left + right) / 2].some((at) => Math.abs(middle - at) < body * 0.5);
}

/** Whether the next row inwards follows at the distance and in the size of one text (furniture.test.ts, a repeated row). */
function runsOn(row: MarginRow, chunks: readonly Chunk[]): boolean {
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  const { gap, next } = nextInwards(row, chunks);
  return gap < size * 0.6 && Math.abs((next?.size ?? 0) - size) < size * 0.06;
}

/** The nearest chunk on the text's side of a row, and how far it is. */
function nextInwards(row: MarginRow, chunks: readonly Chunk[]): { gap: number; next: Chunk | undefined } {
  let gap = Infinity;
  let next: Chunk | undefined;
  for (const chunk of chunks) {
    const distance = row.top ? chunk.box.y0 - row.box.y1 : row.box.y0 - chunk.box.y1;
    if (distance > -1 && distance < gap) {
      gap = distance;
      next = chunk;
    }
  }
  return { gap, next };
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
