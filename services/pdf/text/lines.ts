// Joins words into chunks: pieces of one line with no wide gap inside, the atoms of columns, paragraphs and tables.
// Pages made by hand that need its rules: paragraph-rules.test.ts and lines.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import { isRightToLeft } from '../source/glyph-text.ts';
import type { Word } from '../source/page-model.ts';

/** A gap this wide (in type sizes) ends a chunk between neighbours in the stream; justified prose stays below it. */
const STREAM_GAP = 1.0;
/** Words that are no neighbours in the stream join over a normal space only. */
const GEOMETRIC_GAP = 0.4;

export interface Chunk {
  /** In reading order (left to right, or right to left for such scripts). */
  words: Word[];
  box: Box;
  baseline: number;
  /** Type size of most of its characters. */
  size: number;
}

/** Gaps of one justified line are alike to this, in type sizes, however wide they are. */
const EVEN_GAPS = 0.3;
/** Widest space that justification opens. */
const JUSTIFIED_GAP = 3.2;

/** @param words upright words of one page */
export function buildChunks(words: readonly Word[]): Chunk[] {
  const chunks: Chunk[] = [];
  let run: Word[] = [];
  let previous: Word | undefined;
  for (const word of words) {
    if (previous && !followsOn(previous, word)) {
      chunks.push(...cutRun(run).map(makeChunk));
      run = [];
    }
    run.push(word);
    previous = word;
  }
  if (run.length > 0) chunks.push(...cutRun(run).map(makeChunk));
  return mergeNeighbours(chunks);
}

/** Whether a word stands after its predecessor in the stream on one line, at a distance that justification may open. */
function followsOn(previous: Word, word: Word): boolean {
  const size = Math.max(previous.style.size, word.style.size);
  if (previous.place?.line !== word.place?.line) return false;
  if (!sameRow(previous.box, word.box)) return false;
  const backwards = word.box.x1 <= previous.box.x0 + 0.5;
  if (backwards && direction(word) >= 0 && direction(previous) >= 0) return false;
  return gapBetween(previous, word) < size * JUSTIFIED_GAP;
}

function gapBetween(previous: Word, word: Word): number {
  return Math.max(word.box.x0 - previous.box.x1, previous.box.x0 - word.box.x1);
}

/** Cuts a run of neighbours at its wide gaps, unless all its gaps are alike: a justified line. */
function cutRun(run: Word[]): Word[][] {
  let widest = 0;
  let least = Infinity;
  let spaces = 0;
  let size = 0;
  for (let i = 1; i < run.length; i++) {
    const previous = run[i - 1] as Word;
    const word = run[i] as Word;
    if (word.spaceBefore === false) continue;
    const gap = gapBetween(previous, word);
    spaces++;
    size = Math.max(size, word.style.size);
    widest = Math.max(widest, gap);
    least = Math.min(least, gap);
  }
  if (spaces >= 2 && widest - least < size * EVEN_GAPS) return [run];
  let piece: Word[] = [];
  const pieces: Word[][] = [];
  for (const [n, word] of run.entries()) {
    const previous = run[n - 1];
    if (!previous || gapBetween(previous, word) >= Math.max(previous.style.size, word.style.size) * STREAM_GAP) {
      piece = [];
      pieces.push(piece);
    }
    piece.push(word);
  }
  return pieces;
}

function sameRow(a: Box, b: Box): boolean {
  return overlap(a.y0, a.y1, b.y0, b.y1) >= 0.5 * Math.min(a.y1 - a.y0, b.y1 - b.y0);
}

/** @param words at least one */
export function makeChunk(words: Word[]): Chunk {
  words.sort((a, b) => a.box.x0 - b.box.x0);
  if (words.some((word) => direction(word) < 0)) putInReadingOrder(words);
  const { box, style } = mainWord(words);
  return {
    words,
    box: boundingBox(words.map((word) => word.box)),
    baseline: box.y1 - style.size * 0.22,
    size: style.size,
  };
}

/** 1 for a word that reads from left to right in the layout's frame, -1 for one that reads from right to left. */
function direction(word: Word): -1 | 1 {
  const { text, mirrored } = word;
  if (isRightToLeft(text.charCodeAt(0)) || isRightToLeft(text.charCodeAt(text.length - 1))) return mirrored ? 1 : -1;
  return mirrored ? -1 : 1;
}

/**
 * Puts the words of a line, given from left to right, in the order in which they are read: by the direction of most words, and runs of the other
 * direction the other way round (fixtures/pdf/right-to-left.pdf).
 */
function putInReadingOrder(words: Word[]): void {
  // Numbers and signs go with what is around them.
  const directions = new Map<Word | undefined, number>(
    words.map((word) => [word, /\p{L}/u.test(word.text) ? direction(word) : 0]),
  );
  const of = (word: Word | undefined) => directions.get(word) ?? 0;
  const sum = words.reduce((total, word) => total + of(word), 0);
  // On a page of the other direction a line with Latin names is a line of that page; there the frame is mirrored.
  const ofPage = words.some((word) => word.mirrored && of(word) > 0);
  const base = sum < 0 && !ofPage ? -1 : 1;
  if (base < 0) words.reverse();
  const runs: Word[][] = [];
  for (let start = 0; start < words.length; start++) {
    let end = start;
    if (of(words[start]) === -base)
      for (let next = start + 1; next < words.length && of(words[next]) !== base; next++)
        if (of(words[next]) === -base) end = next;
    runs.push(words.slice(start, end + 1).reverse());
    start = end;
  }
  words.splice(
    0,
    words.length,
    ...pairBrackets(runs.some((run) => of(run[0]) === -base) ? settleSpaces(runs) : runs.flat()),
  );
}

/** Gap between two words of a line, in type sizes, that is a space. */
const SPACE = 0.16;

/** The words of a line that has runs of both directions: the space around a run is that at its edges. */
function settleSpaces(runs: readonly (readonly Word[])[]): Word[] {
  let before: Box | undefined;
  return runs.flatMap((run) => {
    const whole = boundingBox(run.map((word) => word.box));
    const words = run.map((word, n) => {
      const [from, to] = n === 0 ? [before, whole] : [(run[n - 1] as Word).box, word.box];
      const spaced = from !== undefined && Math.max(to.x0 - from.x1, from.x0 - to.x1) > word.style.size * SPACE;
      return { ...word, spaceBefore: spaced, settled: true };
    });
    before = whole;
    return words;
  });
}

const BRACKETS = ['()', '[]', '{}'];

/** Engines turn a bracket round with its line, and may miss one of a pair: of two that open or two that close, the first opens. */
function pairBrackets(words: readonly Word[]): Word[] {
  let paired = [...words];
  for (const [open = '', close = ''] of BRACKETS) {
    const lone: { word: number; at: number; sign: string }[] = [];
    paired.forEach(({ text }, word) => {
      for (const [at, sign] of [...text].entries()) {
        if (sign !== open && sign !== close) continue;
        if (sign === close && lone.at(-1)?.sign === open) lone.pop();
        else lone.push({ word, at, sign });
      }
    });
    if (lone.length !== 2) continue;
    paired = paired.map((one, n) => {
      const signs = [...one.text];
      for (const [order, { word, at }] of lone.entries()) if (word === n) signs[at] = order === 0 ? open : close;
      return lone.some(({ word }) => word === n) ? { ...one, text: signs.join('') } : one;
    });
  }
  return paired;
}

/** The longest word of the size that most characters have. */
function mainWord(words: readonly Word[]): Word {
  const bySize = new Map<number, { length: number; word: Word }>();
  for (const word of words) {
    const entry = bySize.get(word.style.size);
    if (!entry) bySize.set(word.style.size, { length: word.text.length, word });
    else {
      entry.length += word.text.length;
      if (word.text.length > entry.word.text.length) entry.word = word;
    }
  }
  return [...bySize.values()].reduce((best, entry) => (entry.length > best.length ? entry : best)).word;
}

/** Joins chunks of one row that stand a normal space apart, in whatever order the stream gave them. */
function mergeNeighbours(chunks: Chunk[]): Chunk[] {
  return groupRows(chunks).flatMap((row) => {
    const merged: Chunk[] = [];
    let open: Chunk | undefined;
    for (const chunk of row) {
      const gap = open ? chunk.box.x0 - open.box.x1 : Infinity;
      const size = open ? Math.max(open.size, chunk.size) : 0;
      if (
        open &&
        open.words[0]?.place?.line === chunk.words[0]?.place?.line &&
        gap < size * GEOMETRIC_GAP &&
        gap > -size * 0.5
      ) {
        open = makeChunk([...open.words, ...chunk.words]);
        merged[merged.length - 1] = open;
      } else {
        open = chunk;
        merged.push(chunk);
      }
    }
    return merged;
  });
}

/** Chunks whose middles lie at one height, each row from left to right, rows from top to bottom. */
export function groupRows<T extends { box: Box }>(items: readonly T[]): T[][] {
  const sorted = [...items].sort((a, b) => a.box.y0 + a.box.y1 - (b.box.y0 + b.box.y1));
  const rows: T[][] = [];
  let row: T[] = [];
  let limit = -Infinity;
  let height = 0;
  for (const item of sorted) {
    const middle = (item.box.y0 + item.box.y1) / 2;
    const itemHeight = item.box.y1 - item.box.y0;
    const marked = row.length > 0 && row.every((one) => isRaised(one.box, item.box));
    if (middle > limit && !marked) {
      row = [];
      rows.push(row);
      height = itemHeight;
      limit = middle + itemHeight * 0.45;
    } else if (itemHeight > height) {
      // A raised mark came first: the line's own height rules.
      height = itemHeight;
      limit = Math.max(limit, middle + itemHeight * 0.3);
    }
    row.push(item);
  }
  for (const one of rows) one.sort((a, b) => a.box.x0 - b.box.x0);
  return rows;
}

/** A raised mark overlaps the line that it belongs to by more than this share of its own height. */
const RAISED_OVERLAP = 0.6;

/** Whether a smaller box is that of a raised mark on a line of this height; lines one above the other hardly overlap. */
function isRaised(mark: Box, line: Box): boolean {
  const height = mark.y1 - mark.y0;
  return height < line.y1 - line.y0 && overlap(mark.y0, mark.y1, line.y0, line.y1) > height * RAISED_OVERLAP;
}

/** Whether white space stands between two neighbours of a line. */
export function spaceBetween(previous: Word, word: Word): boolean {
  if (word.settled) return word.spaceBefore === true;
  if (word.spaceBefore === true) return true;
  const gap = word.box.x0 >= previous.box.x0 ? word.box.x0 - previous.box.x1 : previous.box.x0 - word.box.x1;
  // A raised number stands apart by a hair of the larger type.
  const size = word.superscript
    ? Math.max(previous.style.size, word.style.size) * 1.4
    : Math.min(previous.style.size, word.style.size);
  if (word.spaceBefore === false && gap < size * 0.2) return false;
  return gap > size * SPACE;
}

/** The chunk's text with single spaces. */
export function chunkText(words: readonly Word[]): string {
  let text = '';
  let previous: Word | undefined;
  for (const word of words) {
    if (previous && spaceBetween(previous, word)) text += ' ';
    text += word.text;
    previous = word;
  }
  return text;
}
