// Tells a heading on a painted bar from a painted row of a table, so that no table is built on it.
// Pages made by hand that need its rules: heading-bars.test.ts.
import { type Box, centreInside, overlap } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import { readMarker } from '../text/markers.ts';
import { type TextRow, textRows } from './alignment.ts';

/** Painted rows of a table are nearer to each other than this, in heights of the bar. */
const ALONE = 1.5;
/** Lines of a heading. */
const MAX_LINES = 2;
/** A bar is as wide as the text under it, give or take this share of its width. */
const WIDER = 0.02;

/** The painted areas that are not the bar of a heading: one piece of text alone on a bar, over text in one piece. */
export function withoutHeadingBars(cells: readonly Box[], words: readonly Word[]): Box[] {
  return cells.filter((cell) => !isHeadingBar(cell, cells, words));
}

function isHeadingBar(bar: Box, cells: readonly Box[], words: readonly Word[]): boolean {
  const reach = (bar.y1 - bar.y0) * ALONE;
  const around = { x0: bar.x0 - reach, x1: bar.x1 + reach, y0: bar.y0 - reach, y1: bar.y1 + reach };
  if (cells.some((cell) => cell !== bar && overlaps(cell, around))) return false;
  const on = textRows(words.filter((word) => centreInside(word.box, bar)));
  if (on.length === 0 || on.length > MAX_LINES || !on.every((row) => row.segments.length === 1)) return false;
  const below = words.filter(({ box }) => box.y0 > bar.y1 - 1 && overlap(box.x0, box.x1, bar.x0, bar.x1) > 0);
  const top = Math.min(...below.map((word) => word.box.y0));
  const next = textRows(below.filter((word) => word.box.y0 < top + word.style.size))[0];
  const slack = (bar.x1 - bar.x0) * WIDER;
  return next !== undefined && isText(next) && next.box.x0 > bar.x0 - slack && next.box.x1 < bar.x1 + slack;
}

/** A line in one piece, or with the mark of a list's item before it. */
function isText({ segments }: TextRow): boolean {
  const marked = segments.length === 2 && segments[0]?.words.length === 1;
  return segments.length === 1 || (marked && readMarker(segments[0]?.words[0]?.text ?? '') !== undefined);
}

function overlaps(one: Box, other: Box): boolean {
  return overlap(one.x0, one.x1, other.x0, other.x1) > 0 && overlap(one.y0, one.y1, other.y0, other.y1) > 0;
}
