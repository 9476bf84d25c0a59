// Finds running headers, footers and page numbers by their repetition over pages, and on a single page by their place and size.
// Pages made by hand that need its rules: furniture.test.ts and page-rules.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import { type Chunk, chunkText, groupRows } from '../text/lines.ts';
import { isCaption, romanValue } from '../text/markers.ts';

/** Rows looked at from each edge of a page. */
const ROWS = 4;
/** Share of the page's height, from each edge, in which furniture stands. */
const ZONE = 0.14;
/** Where margins are wide, so that nothing stands nearer to the edge: rows that count the pages are looked for up to here. */
const WIDE_MARGIN = 0.25;

type FurnitureRole = 'page_header' | 'page_footer' | 'page_number';

interface MarginRow {
  chunks: Chunk[];
  box: Box;
  text: string;
  /** Its text without its numbers, and their values. */
  key: string;
  numbers: readonly number[];
  top: boolean;
  /** Nothing stands nearer to the edge, but the row is far from it: only a number that runs with the pages tells that it is furniture. */
  far: boolean;
}

/** Arabic and Roman numbers in lower-case text, and the characters of a row in which they are looked for. */
const NUMBERS = /\d+|\b[ivxlc]+\b/g;
const KEY_LENGTH = 200;

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

/** What stands between the number of a page and the number of all pages. */
const OF_PAGES = String.raw`\s*(?:\/|of|von|de|sur|di|из|av|van)\s*\d{1,4}`;

const PAGE_NUMBER = new RegExp(
  String.raw`^[-–—|·•\s]*(?:(?:page|seite|p\.|pg\.?|página|pagina|стр\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:${OF_PAGES})?[-–—|·•\s]*$`,
  'iu',
);

/** A piece of a row that counts the pages: "Page 5 of 28". */
const PAGE_OF_PAGES = new RegExp(String.raw`^(?:\p{L}+\.?\s+)?\d{1,4}${OF_PAGES}$`, 'iu');

/** What a publisher's or a library's site prints on the edge of a page that was fetched from it (furniture.test.ts, a stamp). */
const STAMP = /^(?:downloaded (?:from|by|via)\b.{0,200}(?:https?:|www\.|\bon \S+ \d|\d{4})|digiti[sz]ed by \S+$)/i;
/** Share of the page's height, from each edge, in which text seldom stands. */
const OUTER = 0.1;
/** Rows of a page of running text, at least; a form or a letter has a spread first row too. */
const FULL_PAGE_ROWS = 12;

/** Rows that stood on several pages read so far, by their text without numbers. */
export type FurnitureMemory = Map<string, RowMemory>;

interface RowMemory {
  /** The first page that has it. */
  first: number;
  places: RowPlace[];
}

/** One row on one page. */
interface RowPlace {
  page: number;
  y: number;
  /** Its text with its numbers, and their values in reading order. */
  text: string;
  numbers: readonly number[];
}

/** Rows that are remembered from one run of pages to the next, and pages of each. */
const REMEMBERED_ROWS = 200;
const REMEMBERED_PAGES = 64;
/** Heights of one running head differ by less than this from page to page, in points. */
const SAME_HEIGHT = 8;
/** Pages that a running head stands on: so many, or this share of a run that has fewer. */
const REPEATED_PAGES = 3;
const REPEATED_SHARE = 0.3;
/** Type this much larger than the page's text is a heading's or a title's. */
const HEADING_SIZE = 1.15;
/** Type below this share of the text's is smaller than it. */
const SMALLER = 0.92;
/** Rows of one place and one type differ in height by no more than rounding, in points. */
const SAME_SLOT = 1.5;

/**
 * The running furniture of a run of pages; pages come in their order.
 * @param seen what earlier runs of the document repeated; what this one did is added
 * @param isBookmarked whether the outline names this text on a page: it is a heading there
 */
export function findFurniture(
  pages: readonly MarginPage[],
  seen: FurnitureMemory = new Map(),
  isBookmarked: (pageIndex: number, text: string) => boolean = () => false,
): Map<number, FoundFurniture[]> {
  const rows = new Map(pages.map((page) => [page.index, marginRows(page)]));
  for (const [index, margin] of rows) for (const row of margin) remember(seen, index, row);
  const body = bodySize(pages.flatMap((page) => page.chunks));
  const repeated = new Set<MarginRow>();
  // A head that names the section which begins below it stands on the page twice.
  const isNamed = (row: MarginRow, page: MarginPage) =>
    isBookmarked(page.index, row.text) &&
    !page.chunks.some((chunk) => !row.chunks.includes(chunk) && isBookmarked(page.index, chunkText(chunk.words)));
  for (const page of pages)
    for (const row of rows.get(page.index) ?? [])
      if (isArtifact(row, page) || (!isNamed(row, page) && isRepeated(row, page, body, seen, pages.length)))
        repeated.add(row);
  const found = new Map<number, EdgeRow[]>();
  for (const page of pages)
    found.set(
      page.index,
      furnitureOf(page, rows.get(page.index) ?? [], (row) => repeated.has(row)),
    );
  const slots = slotsOf([...found.values()].flat().flatMap(({ row }) => (repeated.has(row) ? [row] : [])));
  for (const page of pages) {
    const margin = rows.get(page.index) ?? [];
    const isSure = (row: MarginRow) => repeated.has(row) || (standsInSlot(row, slots) && !isNamed(row, page));
    if (margin.some((row) => !repeated.has(row) && isSure(row)))
      found.set(page.index, furnitureOf(page, margin, isSure));
  }
  forgetOnce(seen);
  return new Map(
    [...found].flatMap(([index, own]) =>
      own.length === 0 ? [] : [[index, own.map(({ row, role }) => ({ role, chunks: row.chunks, box: row.box }))]],
    ),
  );
}

/** Share of the other letters of a page that must be tagged before a row without a tag is told from them. */
const TAGGED_PAGE = 0.95;

/** Whether a tagged file says of a row that it is no part of the text: the row is an artifact, or the only text of its page without a tag. */
function isArtifact(row: MarginRow, page: MarginPage): boolean {
  const own = row.chunks.flatMap((chunk) => chunk.words);
  if (own.some((word) => word.element)) return false;
  const count = (words: readonly Word[]) => words.reduce((sum, word) => sum + word.text.length, 0);
  const others = page.chunks.flatMap((chunk) => chunk.words).filter((word) => !own.includes(word) && !word.artifact);
  const tagged = count(others.filter((word) => word.element));
  return tagged > 0 && (own.every((word) => word.artifact) || tagged >= count(others) * TAGGED_PAGE);
}

function remember(seen: FurnitureMemory, page: number, row: MarginRow): void {
  const entry = seen.get(row.key) ?? { first: page, places: [] };
  entry.places.push({ page, y: row.box.y0, text: row.text, numbers: row.numbers });
  seen.set(row.key, entry);
}

/**
 * Whether a row stands on other pages at its height: the same text, or text whose number runs with the page number. Type larger than the text is
 * a title's unless the same words stand over most pages, and then the first of them is.
 */
function isRepeated(row: MarginRow, page: MarginPage, body: number, seen: FurnitureMemory, run: number): boolean {
  const entry = seen.get(row.key) as RowMemory;
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  const large = size > body * HEADING_SIZE;
  // A heading whose number happens to run with the pages has it in its own line, not at the other margin.
  const heading = large || (row.chunks.length === 1 && size >= body * SMALLER && isSetInBold(row, page));
  const mayRun = PAGE_NUMBER.test(row.text) || !heading;
  // Far from the edge the head of a table may be repeated, and the only row of a page is its text.
  if (row.far && page.chunks.length === row.chunks.length) return false;
  const own = new Set([page.index]);
  for (const place of entry.places) {
    if (place.page === page.index || Math.abs(place.y - row.box.y0) >= SAME_HEIGHT) continue;
    const runs = mayRun && runsWithPages(row.numbers, place, page.index);
    if (row.far ? runs && place.text !== row.text : runs || place.text === row.text) own.add(place.page);
  }
  if (!large) return own.size >= Math.max(2, Math.min(REPEATED_PAGES, run * REPEATED_SHARE));
  return own.size >= Math.max(REPEATED_PAGES, Math.min(run, REMEMBERED_PAGES) / 2) && entry.first !== page.index;
}

/** Whether numbers of two rows differ as the numbers of their pages do, or not at all. */
function runsWithPages(numbers: readonly number[], place: RowPlace, page: number): boolean {
  const step = page - place.page;
  return numbers.every((value, n) => {
    const difference = value - (place.numbers[n] ?? Number.NaN);
    return difference === 0 || difference === step;
  });
}

/** Whether a row is bold where the text of its page is not. */
function isSetInBold(row: MarginRow, page: MarginPage): boolean {
  const share = (chunks: readonly Chunk[]) => {
    const words = chunks.flatMap((chunk) => chunk.words);
    return words.filter((word) => word.style.bold).length / Math.max(1, words.length);
  };
  return share(row.chunks) > 0.9 && share(page.chunks) < 0.5;
}

interface Slot {
  y: number;
  type: string;
  count: number;
}

/** Heights and types at which rows are repeated. */
function slotsOf(repeated: readonly MarginRow[]): Slot[] {
  const slots: Slot[] = [];
  for (const row of repeated) {
    const type = typeOf(row.chunks[0]);
    const slot = slots.find((one) => one.type === type && Math.abs(one.y - row.box.y0) < SAME_SLOT);
    if (slot) slot.count++;
    else slots.push({ y: row.box.y0, type, count: 1 });
  }
  return slots.filter((slot) => slot.count >= REPEATED_PAGES);
}

/** Whether a row stands where other pages have their running head, in its type: the name of another section. */
function standsInSlot(row: MarginRow, slots: readonly Slot[]): boolean {
  const type = typeOf(row.chunks[0]);
  return slots.some((slot) => slot.type === type && Math.abs(slot.y - row.box.y0) < SAME_SLOT);
}

/** @param isSure whether other pages show that a row is furniture */
function furnitureOf(page: MarginPage, margin: readonly MarginRow[], isSure: (row: MarginRow) => boolean): EdgeRow[] {
  const measure = measurePage(page);
  const surest = margin.find((row) => weighRow(row, page, measure).points >= ENOUGH);
  const own: EdgeRow[] = [];
  for (const top of [true, false]) {
    const edge: EdgeRow[] = [];
    let sure = 0;
    // From the edge inwards; a row that is none ends the search, one that only may be waits for the next.
    for (const row of margin.filter((one) => one.top === top)) {
      const evidence = isSure(row) ? { points: ENOUGH, parted: false } : weighRow(row, page, measure, surest);
      if (evidence.points < MAYBE) break;
      edge.push({ row, role: roleOf(row), parted: evidence.parted });
      if (evidence.points >= ENOUGH) sure = edge.length;
    }
    edge.length = sure;
    // Lines that run on into the text are text, however often they are repeated.
    for (let last = edge.at(-1); last && !last.parted && runsOn(last.row, page.chunks); last = edge.at(-1)) edge.pop();
    own.push(...edge);
  }
  return own;
}

/** Keeps the rows that are repeated, those that came last where they are many. */
function forgetOnce(seen: FurnitureMemory): void {
  for (const [key, entry] of seen) {
    if (new Set(entry.places.map((place) => place.page)).size < 2) seen.delete(key);
    entry.places = entry.places.slice(-REMEMBERED_PAGES);
  }
  for (const key of seen.keys()) {
    if (seen.size <= REMEMBERED_ROWS) break;
    seen.delete(key);
  }
}

function roleOf(row: MarginRow): FurnitureRole {
  if (PAGE_NUMBER.test(row.text)) return 'page_number';
  return row.top ? 'page_header' : 'page_footer';
}

/** The rows near an edge, from the edge inwards; where none is near, the outermost one. */
function marginRows(page: MarginPage): MarginRow[] {
  return [true, false].flatMap((top) => {
    const within = (share: number) => {
      const zone = page.height * share;
      const chunks = page.chunks.filter(({ box }) => (top ? box.y1 < zone : box.y0 > page.height - zone));
      const rows = groupRows(chunks);
      return top ? rows : rows.reverse();
    };
    const near = within(ZONE).slice(0, ROWS);
    if (near.length > 0) return near.map((row) => marginRow(row, top, false));
    return within(WIDE_MARGIN)
      .slice(0, 1)
      .map((row) => marginRow(row, top, true));
  });
}

function marginRow(chunks: Chunk[], top: boolean, far: boolean): MarginRow {
  const text = chunks.map((chunk) => chunkText(chunk.words)).join(' ');
  const numbers: number[] = [];
  const key = text
    .toLowerCase()
    .slice(0, KEY_LENGTH)
    .replace(NUMBERS, (number) => {
      numbers.push(/\d/.test(number) ? Number(number) : romanValue(number));
      return '#';
    })
    .replace(/\s+/g, ' ');
  return { chunks, box: boundingBox(chunks.map((chunk) => chunk.box)), text, key, numbers, top, far };
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
  page: MarginPage,
  measure: PageMeasure,
  surest?: MarginRow,
): { points: number; parted: boolean } {
  const { body } = measure;
  const { text } = row;
  const size = Math.max(...row.chunks.map((chunk) => chunk.size));
  if (row.far || page.chunks.length <= row.chunks.length) return { points: 0, parted: false };
  const { gap } = nextInwards(row, page.chunks);
  // A speck of the scanner.
  if (!/[\p{L}\p{N}]/u.test(text)) return { points: MAYBE, parted: false };
  if (PAGE_NUMBER.test(text)) {
    // In the middle of the foot it stands nearer to the text than anywhere else (fixtures/pdf/near-number.pdf; furniture.test.ts, a page number).
    const least = !row.top && isCentred(row.box, page, measure) ? 0.2 : 0.9;
    return { points: size <= body * 1.15 && gap > body * least ? ENOUGH : 0, parted: false };
  }
  if (
    size <= body * HEADING_SIZE &&
    gap > body &&
    row.chunks.length > 1 &&
    row.chunks.some((chunk) => PAGE_OF_PAGES.test(chunkText(chunk.words)))
  )
    return { points: ENOUGH, parted: false };
  const pieces = marginPieces(row, page, measure);
  const spread = pieces > 1;
  if (spread && measure.lines >= FULL_PAGE_ROWS && goesOnBelow(row, page)) return { points: ENOUGH, parted: true };
  if (size > body * 1.25 || isCaption(text)) return { points: 0, parted: false };
  const outer = row.top ? row.box.y1 < page.height * OUTER : row.box.y0 > page.height * (1 - OUTER);
  let points = 0;
  if (STAMP.test(text)) points += 3;
  if (pieces > 0 && gap > size * 0.7 && measure.lines >= FULL_PAGE_ROWS) points += pieces > 1 ? 3 : 1;
  if (surest && isTypeOfMargins(row, surest, page)) points += 1;
  const typed = points > 0 || size < body * SMALLER;
  if (outer) points += 1;
  // furniture.test.ts, type a good deal smaller.
  if (size < body * SMALLER) points += size < body * 0.6 ? 2 : 1;
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
