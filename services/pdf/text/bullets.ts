// Writes drawn bullets as words: a disc, a circle or a square that stands before a line as the marker of a list item does.
// Pages made by hand that need its rules: bullets.test.ts; a file that does: fixtures/pdf/drawn-bullets.pdf.

import { liesOnPicture } from '../source/charts.ts';
import type { Box } from '../source/geometry.ts';
import type { Mark, PageContent, Word } from '../source/page-model.ts';
import { readMarker } from './markers.ts';

const SIGNS = { disc: '•', circle: '◦', square: '▪' } as const;

/** Sides of a bullet, in type sizes; a larger circle is a button to choose with. */
const LEAST_SIDE = 0.12;
const GREATEST_SIDE = 0.7;
const GREATEST_CIRCLE = 0.55;
/** Height of its middle above the baseline, in type sizes: the small letters. */
const LOWEST = 0.05;
const HIGHEST = 0.62;
/** Foot of a word's box below its baseline, in type sizes. */
const DESCENT = 0.22;
/** Room between it and its text, in type sizes. */
const LEAST_GAP = 0.15;
const GREATEST_GAP = 2.2;
/** Room that it has on its left, in type sizes: a nearer word is of the same line. */
const LEFT_ROOM = 1.5;
/** Bullets of one list stand this exactly below each other, and before their texts, in points. */
const SAME_EDGE = 1;
/** Sides of bullets of one list differ by less than this share. */
const SAME_SIDE = 0.15;
/** How far an only inner item stands right of the item around it, and below it, in type sizes. */
const GREATEST_INDENT = 5;
const GREATEST_FALL = 15;
/** Most room between two lines of a list, from foot to foot, in type sizes. */
const GREATEST_HOLE = 3.5;
/** Height of the bands by which words are looked up, in points. */
const BAND = 16;

interface Candidate {
  mark: Mark;
  /** First of the line. */
  word: Word;
  /** The line is bold from end to end: a heading with an ornament. */
  bold: boolean;
}

/** @param page upright; what OCR read is left as it is */
export function withBullets(page: PageContent): PageContent {
  const { marks = [], words } = page;
  if (marks.length === 0 || words.length === 0 || words.some((word) => word.place)) return page;
  const bands = bandsOf(words);
  const candidates = marks.flatMap((mark) => standsAsBullet(mark, page, bands) ?? []);
  const bullets = new Map(chooseBullets(candidates, words).map(({ mark, word }) => [word, mark]));
  if (bullets.size === 0) return page;
  return {
    ...page,
    words: words.flatMap((word) => {
      const mark = bullets.get(word);
      return mark ? [writeBullet(mark, word), { ...word, spaceBefore: true }] : [word];
    }),
  };
}

function writeBullet({ box, shape }: Mark, word: Word): Word {
  const { link: _, ...rest } = word;
  return { ...rest, text: SIGNS[shape], box: { ...word.box, x0: box.x0, x1: box.x1 } };
}

type Bands = ReadonlyMap<number, readonly Word[]>;

function bandsOf(words: readonly Word[]): Bands {
  const bands = new Map<number, Word[]>();
  for (const word of words) {
    const middle = (word.box.y0 + word.box.y1) / 2;
    const band = bands.get(Math.floor(middle / BAND));
    if (band) band.push(word);
    else bands.set(Math.floor(middle / BAND), [word]);
  }
  return bands;
}

/** Words whose boxes a height crosses; taller type than two bands is none that has bullets. */
function wordsAt(bands: Bands, y: number): Word[] {
  const band = Math.floor(y / BAND);
  return [band - 1, band, band + 1].flatMap(
    (one) => bands.get(one)?.filter(({ box }) => box.y0 <= y && y <= box.y1) ?? [],
  );
}

function standsAsBullet(mark: Mark, page: PageContent, bands: Bands): Candidate | undefined {
  const { box } = mark;
  const y = (box.y0 + box.y1) / 2;
  const row = wordsAt(bands, y);
  let word: Word | undefined;
  let left = -Infinity;
  for (const one of row) {
    if (one.box.x1 <= box.x0 + 0.5) left = Math.max(left, one.box.x1);
    else if (one.box.x0 < box.x1) return undefined;
    else if (!word || one.box.x0 < word.box.x0) word = one;
  }
  if (!word || readMarker(word.text)) return undefined;
  const { size } = word.style;
  if (!hasBulletSize(mark, size)) return undefined;
  const height = word.box.y1 - size * DESCENT - y;
  if (height < size * LOWEST || height > size * HIGHEST) return undefined;
  const gap = word.box.x0 - box.x1;
  if (gap < size * LEAST_GAP || gap > size * GREATEST_GAP) return undefined;
  if (!mark.label) {
    if (box.x0 - left < size * LEFT_ROOM) return undefined;
    const around: Box = { x0: box.x0 - size * LEFT_ROOM, x1: word.box.x0, y0: box.y0, y1: box.y1 };
    if (page.marks?.some((other) => other !== mark && touches(other.box, around))) return undefined;
    if (crossesLine(page, box, word.box.x0) || liesOnPicture(page, box)) return undefined;
  }
  const line = row.filter((one) => one.box.x0 >= box.x1);
  return { mark, word, bold: line.every((one) => one.style.bold) };
}

function hasBulletSize({ box, shape }: Mark, size: number): boolean {
  const greatest = shape === 'circle' ? GREATEST_CIRCLE : GREATEST_SIDE;
  const sides = [box.x1 - box.x0, box.y1 - box.y0];
  return sides.every((side) => side >= size * LEAST_SIDE && side <= size * greatest);
}

function touches(a: Box, b: Box): boolean {
  return a.x0 < b.x1 && a.x1 > b.x0 && a.y0 < b.y1 && a.y1 > b.y0;
}

/** Whether a line runs through a mark or between it and its text: a time line, a slider, the edge of a cell. */
function crossesLine({ rulings }: PageContent, box: Box, textStart: number): boolean {
  return rulings.some(({ horizontal, at, start, end }) =>
    horizontal
      ? at > box.y0 && at < box.y1 && start < box.x1 && end > box.x0
      : at > box.x0 && at < textStart && start < box.y1 && end > box.y0,
  );
}

/** Those that a tag names, those that stand in a column of like ones, and the only items of inner lists. */
function chooseBullets(candidates: readonly Candidate[], words: readonly Word[]): Candidate[] {
  const chosen = new Set(candidates.filter(({ mark }) => mark.label));
  for (const column of columnsOf(candidates.filter(({ mark }) => !mark.label)))
    if (isList(column, words)) for (const one of column) chosen.add(one);
  const outer = [...chosen];
  for (const one of candidates) if (!chosen.has(one) && outer.some((other) => isInside(one, other))) chosen.add(one);
  return [...chosen];
}

/** Marks of one size below each other, before texts that begin below each other. */
function columnsOf(candidates: readonly Candidate[]): Candidate[][] {
  const columns: Candidate[][] = [];
  const sorted = [...candidates].sort((a, b) => a.mark.box.x0 - b.mark.box.x0);
  for (const one of sorted) {
    const column = columns.find(([first]) => first && standsBelow(first, one));
    if (column) column.push(one);
    else columns.push([one]);
  }
  for (const column of columns) column.sort((a, b) => a.word.box.y1 - b.word.box.y1);
  return columns;
}

function standsBelow(a: Candidate, b: Candidate): boolean {
  const side = a.mark.box.x1 - a.mark.box.x0;
  return (
    Math.abs(a.mark.box.x0 - b.mark.box.x0) < SAME_EDGE &&
    Math.abs(a.word.box.x0 - b.word.box.x0) < SAME_EDGE &&
    Math.abs(side - (b.mark.box.x1 - b.mark.box.x0)) < side * SAME_SIDE
  );
}

/**
 * Whether items follow each other in a column of marks: points of a chart that stand below each other have nothing between them, or labels further in.
 * The bullets of a list are alike; the keys of a legend differ, so that they can be told apart.
 */
function isList(column: readonly Candidate[], words: readonly Word[]): boolean {
  const [first] = column;
  if (!first || column.length < 2) return false;
  const read = column.filter(({ word }) => /\p{L}/u.test(word.text));
  if (read.length * 2 <= column.length || column.every(({ bold }) => bold)) return false;
  const { size } = first.word.style;
  const edge = first.word.box.x0;
  const starts = words.filter(({ box }) => box.x0 > edge - SAME_EDGE && box.x0 < edge + size * GREATEST_INDENT);
  const feet = starts.map(({ box }) => box.y1).sort((a, b) => a - b);
  let like = 0;
  let unlike = 0;
  let next = 0;
  for (const [n, one] of column.entries()) {
    const above = column[n - 1];
    let foot = above?.word.box.y1 ?? one.word.box.y1;
    let hole = 0;
    for (; next < feet.length && (feet[next] as number) <= one.word.box.y1; next++) {
      hole = Math.max(hole, (feet[next] as number) - foot);
      foot = feet[next] as number;
    }
    if (!above || hole > size * GREATEST_HOLE) continue;
    if (above.mark.shape === one.mark.shape && above.mark.color === one.mark.color) like++;
    else unlike++;
  }
  return like > 0 && like >= unlike;
}

function isInside(inner: Candidate, outer: Candidate): boolean {
  const { size } = outer.word.style;
  const indent = inner.mark.box.x0 - outer.mark.box.x0;
  const fall = inner.word.box.y0 - outer.word.box.y0;
  return (
    indent > size * 0.5 &&
    indent < size * GREATEST_INDENT &&
    fall > size * 0.5 &&
    fall < size * GREATEST_FALL &&
    inner.mark.color === outer.mark.color &&
    Math.abs(inner.word.style.size - size) < size * 0.2
  );
}
