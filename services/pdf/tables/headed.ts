// Finds tables whose only line is the one under their head, as word processors and reports set them.
// Its rules are tested in headed.test.ts, and with whole pages in ../layout/page.test.ts.

import { boundingBox, overlap } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import type { Vocabulary } from '../text/inline.ts';
import { readAligned, rowWords, type TextRow, textRows } from './alignment.ts';
import { type FoundTable, tableConfidence } from './grid.ts';
import { readsAsText } from './verdict.ts';

/** Shortest line that closes a head, in points, and lines of one head. */
const SHORTEST = 60;
export const HEAD_LINES = 4;
/** Rules looked at on one page. */
const MOST_RULES = 200;

export function findHeadedTables(page: PageContent, words: readonly Word[], vocabulary: Vocabulary): FoundTable[] {
  const rules = page.rulings
    .filter((line) => line.horizontal && line.end - line.start > SHORTEST)
    .sort((a, b) => a.at - b.at);
  if (rules.length > MOST_RULES) return [];
  const tables: FoundTable[] = [];
  const taken = new Set<Word>();
  for (const rule of rules) {
    const others = rules.filter((one) => one !== rule && overlap(one.start, one.end, rule.start, rule.end) > 10);
    const beside = words.filter((word) => {
      const x = (word.box.x0 + word.box.x1) / 2;
      return !taken.has(word) && x > rule.start - 4 && x < rule.end + 4;
    });
    const table = readHeaded(rule, others, beside, vocabulary);
    if (!table) continue;
    for (const word of table.words) taken.add(word);
    tables.push(table);
  }
  return tables;
}

function readHeaded(
  rule: Ruling,
  others: readonly Ruling[],
  words: readonly Word[],
  vocabulary: Vocabulary,
): FoundTable | undefined {
  const head = headAbove(rule, textRows(words.filter((word) => word.box.y1 < rule.at + 3)));
  const body = rowsBelow(head, rule.at, words);
  if (body.length < 2 || body.filter((row) => row.segments.length >= 2).length < body.length * 0.6) return undefined;
  const rows = [...head, ...body];
  const box = boundingBox(rows.map((row) => row.box));
  // With more lines at it the table is set otherwise.
  const reach = (head[0]?.size ?? 10) * 1.5;
  if (others.some((one) => one.at > box.y0 - reach && one.at < box.y1 + reach)) return undefined;
  const read = readAligned(rows, { edges: [rule.at], rowRules: false }, [], vocabulary);
  if (!read || readsAsText({ lines: rows, cut: read.cut })) return undefined;
  const own = rowWords(rows);
  return {
    box: { ...box, x0: Math.min(box.x0, rule.start), x1: Math.max(box.x1, rule.end) },
    grid: read.grid,
    words: own,
    sideways: [],
    source: 'aligned',
    ocr: tableConfidence(own),
  };
}

/** The rows that stand on the rule, tight on one another. */
function headAbove(rule: Ruling, rows: readonly TextRow[]): TextRow[] {
  const head: TextRow[] = [];
  let floor = rule.at;
  for (const row of [...rows].reverse()) {
    const wide = row.segments.length === 1 && row.box.x1 - row.box.x0 > (rule.end - rule.start) * 0.5;
    const foreign = head[0] !== undefined && !sameType(head[0], row);
    if (floor - row.box.y1 > row.size * 0.7 || head.length === HEAD_LINES || wide || foreign) break;
    head.unshift(row);
    floor = row.box.y0;
  }
  return head;
}

/** A section's heading close above the table is in another type (headed.test.ts). */
function sameType(a: TextRow, b: TextRow): boolean {
  const one = a.segments[0]?.words[0]?.style;
  const other = b.segments[0]?.words[0]?.style;
  return Math.abs((one?.size ?? 0) - (other?.size ?? 0)) < 0.5 && one?.bold === other?.bold;
}

/** The rows below a head of three cells and more that no line closes, up to the first that is no row of its columns. */
export function rowsBelow(head: readonly TextRow[], edge: number, words: readonly Word[]): TextRow[] {
  const widest = Math.max(...head.map((row) => row.segments.length));
  const heads = head.find((row) => row.segments.length === widest)?.segments ?? [];
  if (heads.length < 3) return [];
  const middles = heads.map((segment) => (segment.x0 + segment.x1) / 2);
  const body: TextRow[] = [];
  let floor = edge;
  for (const row of textRows(words.filter((word) => word.box.y0 > edge - 2))) {
    const runsOver = row.segments.some(
      (segment) => middles.filter((x) => x > segment.x0 && x < segment.x1).length >= 2,
    );
    if (row.box.y0 - floor > row.size * 1.8 || runsOver) break;
    body.push(row);
    floor = row.box.y1;
  }
  while (endsAlone(body)) body.pop();
  return body;
}

/** White space between the lines of one cell, in type sizes. */
const LINE_GAP = 0.55;

/** Whether the last row is a line alone that does not go on a cell of the row above: a note, a caption or a heading below the table. */
function endsAlone(body: readonly TextRow[]): boolean {
  const [above, last] = [body.at(-2), body.at(-1)];
  if (!last || last.segments.length > 1) return false;
  return !above || !sameType(above, last) || last.box.y0 - above.box.y1 > last.size * LINE_GAP;
}
