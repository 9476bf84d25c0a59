// Parts the caption of a table or figure from the text beside it, so that it does not become the end of a paragraph or of a list item.
// Pages made by hand that need its rules: captions.test.ts.
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import { type Chunk, chunkText, groupRows } from '../text/lines.ts';

/** Lines of the longest caption that is looked for. */
const MOST_LINES = 3;
/** Farthest that a caption stands from its table or figure, in type sizes. */
const REACH = 2.5;
/** Type that differs by this many points from that of the next line is another. */
const OTHER_SIZE = 0.3;
/** Room at the end of a line, in type sizes, that a paragraph ends with. */
const ROOM = 3;

/** A word and a number, as the captions of all languages begin: `Table 3`, `Abb. 2.1`, `Рис. 4`. A year or an amount has more digits. */
const LABEL = /^[\p{Lu}\p{Lo}]\p{L}*\.?\s?(?:[A-Z]\.)?\d{1,3}(?:[.-]\d{1,3})*\s?(?:[.:–—|]|\s|$)/u;

/**
 * The pieces of a column's text between two tables or figures: captions at its ends are pieces of their own.
 * @param chunks from top to bottom
 */
export function partCaptions(chunks: readonly Chunk[], above: Box | undefined, below: Box | undefined): Chunk[][] {
  const rows = groupRows(chunks);
  if (rows.length < 2) return [[...chunks]];
  const first = above ? endOfCaption(rows, above) : 0;
  const last = below ? startOfCaption(rows, below) : rows.length;
  if (first > last) return [[...chunks]];
  return [rows.slice(0, first), rows.slice(first, last), rows.slice(last)].flatMap((piece) => {
    const inPiece = new Set(piece.flat());
    return inPiece.size > 0 ? [chunks.filter((chunk) => inPiece.has(chunk))] : [];
  });
}

/** The row with which the caption of what stands below begins; the number of rows where there is none. */
function startOfCaption(rows: readonly Chunk[][], below: Box): number {
  const none = rows.length;
  if (!isNear(rows.at(-1), below)) return none;
  for (let n = none - 1; n > 0 && n >= none - MOST_LINES; n--) {
    const row = rows[n] as Chunk[];
    // A caption of several lines fills all but its last.
    if (n < none - 1 && !goesOn(rows, n)) return none;
    if (LABEL.test(textOf(row))) return endsThere(rows, n - 1) || isOtherType(rows[n - 1], row) ? n : none;
  }
  return none;
}

/** The row after the caption of what stands above; 0 where there is none or nothing tells its end. */
function endOfCaption(rows: readonly Chunk[][], above: Box): number {
  if (!LABEL.test(textOf(rows[0])) || !isNear(rows[0], above)) return 0;
  for (let n = 1; n < rows.length && n <= MOST_LINES; n++) {
    if (isOtherType(rows[n - 1], rows[n])) return n;
    if (!goesOn(rows, n - 1)) return 0;
  }
  return 0;
}

/** Whether a row ends a sentence, or leaves room at its end. */
function endsThere(rows: readonly Chunk[][], n: number): boolean {
  return /[.!?:;。！？]["”’')\]]*$/u.test(textOf(rows[n])) || leavesRoom(rows, n);
}

/** Whether a row has no room for the first word of the next, which is set in the same type. */
function goesOn(rows: readonly Chunk[][], n: number): boolean {
  const last = rows[n]?.at(-1)?.words.at(-1);
  const next = rows[n + 1]?.[0]?.words[0];
  if (!last || !next || last.style.font !== next.style.font) return false;
  const right = Math.max(...rows.flat().map(({ box }) => box.x1));
  return right - last.box.x1 < next.box.x1 - next.box.x0 + next.style.size;
}

function leavesRoom(rows: readonly Chunk[][], n: number): boolean {
  const row = rows[n] as Chunk[];
  const right = Math.max(...rows.flat().map(({ box }) => box.x1));
  return right - Math.max(...row.map(({ box }) => box.x1)) > (row[0]?.size ?? 0) * ROOM;
}

function isOtherType(a: readonly Chunk[] | undefined, b: readonly Chunk[] | undefined): boolean {
  const [one, other] = [a?.[0], b?.[0]];
  if (!one || !other) return false;
  return Math.abs(one.size - other.size) > OTHER_SIZE;
}

function isNear(row: readonly Chunk[] | undefined, float: Box): boolean {
  if (!row?.[0]) return false;
  const box = boundingBox(row.map((chunk) => chunk.box));
  const gap = -overlap(box.y0, box.y1, float.y0, float.y1);
  return gap < row[0].size * REACH && overlap(box.x0, box.x1, float.x0, float.x1) > 0;
}

function textOf(row: readonly Chunk[] | undefined): string {
  return (row ?? []).map((chunk) => chunkText(chunk.words)).join(' ');
}
