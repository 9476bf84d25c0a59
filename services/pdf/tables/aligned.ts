// Finds tables that are set by alignment where lines or shading say that there is one: booktabs rules, zebra rows.
// Its rules are tested in aligned.test.ts, and with whole pages in ../layout/page.test.ts.

import { type Box, boundingBox, centreInside } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type Chunk, chunkText } from '../text/lines.ts';
import { isCaption, isTableCaption } from '../text/markers.ts';
import {
  type ColumnCut,
  columnAt,
  findColumns,
  parts,
  readAligned,
  rowWords,
  stackedRow,
  type TextRow,
  textRows,
} from './alignment.ts';
import { type FoundTable, isTable, tableConfidence } from './grid.ts';
import type { HeadMemory } from './head-memory.ts';
import { findHeadedTables, HEAD_LINES, rowsBelow } from './headed.ts';
import { distinct, findShadedTables, paintedCells } from './shaded.ts';
import { readsAsText } from './verdict.ts';

/** Ends of rules of one table agree to this, in points. */
const SAME_END = 6;
/** Rules and bars no longer than this bound no table. */
const MIN_LENGTH = 60;
/** Painted boxes as high as this hold more than a row. */
const MAX_BAR = 160;

/** A stretch of page that lines or shading mark as one piece. */
interface Evidence {
  x0: number;
  x1: number;
  /** y of the rules or shading edges, top to bottom; the first and last bound the table. */
  edges: number[];
  /** Rules that are heavier than the others: a table's first and last (booktabs). */
  heavy: boolean[];
  /** Shading marks rows one by one; rules may hold many. */
  zebra: boolean;
}

export function findAlignedTables(
  page: PageContent,
  chunks: readonly Chunk[],
  vocabulary: Vocabulary,
  heads: HeadMemory,
): FoundTable[] {
  const tables: FoundTable[] = [];
  const taken = new Set<Word>();
  const words = chunks.flatMap((chunk) => chunk.words);
  const level = page.rulings.filter((line) => line.horizontal);
  let chunkOf: Map<Word, Chunk> | undefined;
  for (const table of findShadedTables(page, words, vocabulary)) keep(table);
  for (const evidence of zebraEvidence(page)) collect(evidence);
  for (const table of findHeadedTables(
    page,
    words.filter((word) => !taken.has(word)),
    vocabulary,
  ))
    keep(table);
  for (const evidence of ruleEvidence(level)) collect(evidence);
  return tables;

  function collect(evidence: Evidence): void {
    const free = words.filter((word) => !taken.has(word));
    chunkOf ??= new Map(chunks.flatMap((chunk) => chunk.words.map((word) => [word, chunk] as const)));
    for (const table of readEvidence(evidence, free, chunkOf, level, vocabulary, heads)) keep(table);
  }

  function keep(table: FoundTable): void {
    for (const word of table.words) taken.add(word);
    tables.push(table);
  }
}

/** Horizontal rules of one width, one above the other (aligned.test.ts: rules are of one table where both ends agree). */
function ruleEvidence(level: readonly Ruling[]): Evidence[] {
  const rules = level.filter((line) => line.end - line.start > MIN_LENGTH).sort((a, b) => a.at - b.at);
  const spans = rules.slice(0, 500).map((rule) => ({ x0: rule.start, x1: rule.end, rule }));
  return groupByEnds(spans).map(({ x0, x1, members }) => ({
    x0,
    x1,
    edges: members.map(({ rule }) => rule.at),
    heavy: heavyRules(members.map(({ rule }) => rule)),
    zebra: false,
  }));
}

interface Span {
  x0: number;
  x1: number;
}

/** Spans whose ends agree with those of the first. */
function groupByEnds<T extends Span>(spans: readonly T[]): (Span & { members: T[] })[] {
  const groups: (Span & { members: T[] })[] = [];
  for (const span of spans) {
    const { x0, x1 } = span;
    const group = groups.find((one) => Math.abs(one.x0 - x0) <= SAME_END && Math.abs(one.x1 - x1) <= SAME_END);
    if (group) group.members.push(span);
    else groups.push({ x0, x1, members: [span] });
  }
  return groups;
}

function heavyRules(group: readonly Ruling[]): boolean[] {
  const most = Math.max(...group.map((rule) => rule.thickness));
  const least = Math.min(...group.map((rule) => rule.thickness));
  return group.map((rule) => most > least * 1.35 && rule.thickness > (most + least) / 2);
}

/** Shaded rows of one width, one above the other at an even pace. */
function zebraEvidence(page: PageContent): Evidence[] {
  const cells = paintedCells(page)
    .filter((cell) => cell.y1 - cell.y0 < MAX_BAR)
    .slice(0, 3_000);
  return groupByEnds(joinCells(cells).filter((bar) => bar.x1 - bar.x0 > MIN_LENGTH))
    .filter(({ members }) => members.length >= 2 || isShadedRow(members[0] as Box, page.words))
    .map(({ x0, x1, members }) => ({
      x0,
      x1,
      edges: distinct(members.flatMap((bar) => [bar.y0, bar.y1])),
      heavy: [],
      zebra: true,
    }));
}

/** One bar alone is a row of a table only where it holds a row cut into several cells; a shaded heading or note is one piece. */
function isShadedRow(bar: Box, words: readonly Word[]): boolean {
  const rows = textRows(words.filter((word) => centreInside(word.box, bar)));
  return rows.length <= 4 && (rows[0]?.segments.length ?? 0) >= 3;
}

/** Cells shaded one by one are one bar. */
function joinCells(cells: Box[]): Box[] {
  const bars: Box[] = [];
  for (const row of groupByTop(cells)) {
    row.sort((a, b) => a.x0 - b.x0);
    let open: Box | undefined;
    for (const cell of row) {
      if (open && cell.x0 - open.x1 < 4) open.x1 = Math.max(open.x1, cell.x1);
      else {
        open = { ...cell };
        bars.push(open);
      }
    }
  }
  return bars;
}

function groupByTop(boxes: Box[]): Box[][] {
  boxes.sort((a, b) => a.y0 - b.y0);
  const rows: Box[][] = [];
  for (const box of boxes) {
    const row = rows.at(-1);
    if (row?.[0] && box.y0 - row[0].y0 < 2) row.push(box);
    else rows.push([box]);
  }
  return rows;
}

/** The tables that a stretch of evidence holds; rules of two tables, or of a table and the page's head, come as one stretch. */
function readEvidence(
  evidence: Evidence,
  words: readonly Word[],
  chunkOf: ReadonlyMap<Word, Chunk>,
  rulings: readonly Ruling[],
  vocabulary: Vocabulary,
  heads: HeadMemory,
): FoundTable[] {
  const { x0, x1, edges } = evidence;
  const last = edges.at(-1) ?? 0;
  const within = words.filter((word) => {
    const x = (word.box.x0 + word.box.x1) / 2;
    return x > x0 - 4 && x < x1 + 4;
  });
  const bands: Word[][] = Array.from({ length: edges.length + 1 }, () => []);
  for (const word of within) {
    const y = (word.box.y0 + word.box.y1) / 2;
    let n = 0;
    while (n < edges.length && y > (edges[n] ?? 0)) n++;
    bands[n]?.push(word);
  }
  // Outside the outermost edges only a zebra table goes on: by the unshaded row of the pattern.
  const inner = bands.map((band, n) => {
    const outside = n === 0 || n === edges.length;
    if (!outside) return band;
    return evidence.zebra ? outerRow(band, n === 0, edges, last) : [];
  });
  const size = usualSize(inner.flat());
  const tables: FoundTable[] = [];
  /** The head over the first rule, which may be empty, and the bands of a table. */
  let run = [headAt(0)];
  const flush = (head: Word[]) => {
    const told = run.slice(1).some((band) => band.length > 0);
    const table = told ? readRun(run, evidence, rulings, vocabulary, heads) : undefined;
    if (table) tables.push(table);
    run = [head];
  };
  inner.forEach((band, n) => {
    // Below a heavy rule that closed a table with a head, the next begins.
    if (evidence.heavy[n - 1] && run.filter((one) => one.length > 0).length >= 2) flush([]);
    const rows = textRows(band);
    // A caption between two rules stands between two tables.
    const caption = isTableCaption(chunkText(rowWords(rows.slice(0, 1))));
    const row =
      isTabular(rows, evidence) ||
      fits(band, bandColumns([...run.slice(-MIN_BANDS), ...inner.slice(n, n + MIN_BANDS)]));
    if (!caption && !holdsTitle(rows, size) && row && !isRunningText(band, evidence, chunkOf, run)) run.push(band);
    else {
      run.push(footAt(n));
      flush(headAt(n));
    }
  });
  if (!evidence.zebra) run.push(openBelow(run, last, within));
  run.push(footAt(edges.length));
  flush([]);
  return tables;

  /** The head of a table in the band over its first rule. */
  function headAt(n: number): Word[] {
    if (evidence.zebra) return [];
    const head = headOver(bands[n] ?? [], inner.slice(n + 1, n + 1 + MIN_BANDS), edges[n] ?? Infinity);
    return holdsTitle(textRows(head), size) ? [] : head;
  }

  /** The last row of a table in the band under its last rule. */
  function footAt(n: number): Word[] {
    if (evidence.zebra || evidence.heavy[n - 1]) return [];
    const above = inner.slice(Math.max(0, n - MIN_BANDS), n);
    if (!above.every((row) => row.length > 0 && run.includes(row))) return [];
    const foot = footUnder(bands[n] ?? [], above, edges.slice(0, n));
    return holdsTitle(textRows(foot), size) ? [] : foot;
  }
}

/** Type this much larger than that of most of a table's words is a title's. */
const TITLE_SIZE = 1.13;

/** Whether a line alone in larger type than that of the table stands among rows: what is between two rules holds a title, and is no row. */
function holdsTitle(rows: readonly TextRow[], size: number): boolean {
  return rows.some((row) => row.segments.length === 1 && row.size > size * TITLE_SIZE);
}

function usualSize(words: readonly Word[]): number {
  return words.map((word) => word.style.size).sort((a, b) => a - b)[words.length >> 1] ?? Infinity;
}

/** Bands between rules whose columns tell that each is a row. */
const MIN_BANDS = 3;

/** The columns of bands of which each is taken for one row. */
function bandColumns(bands: readonly (readonly Word[])[]): ColumnCut | undefined {
  const rows = bands.filter((band) => band.length > 0).map(stackedRow);
  if (rows.length < MIN_BANDS) return undefined;
  const cut = findColumns(rows);
  return cut?.separators.some((x) => parts(rows, x, 0.6)) ? cut : undefined;
}

/** Whether every stack of lines of a band stands in one column. */
function fits(band: readonly Word[], columns: ColumnCut | undefined): boolean {
  if (!columns) return false;
  const { segments } = stackedRow(band);
  const at = (x: number) => columnAt(columns.separators, x);
  return segments.every(({ x0, x1 }) => at(x0 + 1) === at(x1 - 1));
}

/** White space between a head and the rule under it, in type sizes (aligned.test.ts: a rule under every row). */
const HEAD_GAP = 1.2;

/** The head over the first rule of a table whose rows are ruled below: lines close over the rule and each other, in its columns. */
function headOver(band: readonly Word[], below: readonly Word[][], edge: number): Word[] {
  const rows = textRows(band).reverse();
  const [nearest] = rows;
  if (!nearest || edge - nearest.box.y1 > nearest.size * HEAD_GAP) return [];
  const words = rowWords(tightRows(rows, true).reverse());
  if (isCaption(chunkText(words))) return [];
  return fits(words, bandColumns([words, ...below])) || standsOver(words, below[0] ?? []) ? words : [];
}

/** Whether lines hold heads of several of the columns that the rows under a rule make, where no other rule parts these. */
function standsOver(head: readonly Word[], below: readonly Word[]): boolean {
  // Most lines over a rule are text: these are known without a look at what is below.
  if (stackedRow(head).segments.length < 2) return false;
  const rows = textRows(below);
  const columns = rows.length >= MIN_BANDS ? findColumns(rows) : undefined;
  return columns?.separators.some((x) => parts(rows, x, 0.6)) === true && fits(head, columns);
}

/** How much more white space than the other rows the last row may have between itself and the rule above it, in points. */
const SAME_GAP = 2;

/** The last row of a table that has a rule between rows and none below them: lines as close under the last rule as those of the other rows, in their columns. */
function footUnder(band: readonly Word[], above: readonly Word[][], edges: readonly number[]): Word[] {
  const rules = edges.slice(-above.length - 1, -1);
  if (above.length < MIN_BANDS || rules.length < above.length) return [];
  const gaps = above.map((row, n) => Math.min(...row.map(({ box }) => box.y0)) - (rules[n] ?? 0));
  const rows = textRows(band);
  const [nearest] = rows;
  if (!nearest || nearest.box.y0 - (edges.at(-1) ?? 0) > Math.max(...gaps) + SAME_GAP) return [];
  const words = rowWords(tightRows(rows, false));
  const several = stackedRow(words).segments.length >= 2;
  return several && !isCaption(chunkText(words)) && fits(words, bandColumns([...above, words])) ? words : [];
}

/** White space between the lines of one row, in type sizes. */
const LINE_GAP = 0.6;

/** Those of the rows, the nearest to an edge first, that stand as tightly as lines of one text and are in type of one size. */
function tightRows(rows: readonly TextRow[], above: boolean): TextRow[] {
  const end = rows.findIndex((row, n) => {
    const before = rows[n - 1];
    if (!before) return false;
    const gap = above ? before.box.y0 - row.box.y1 : row.box.y0 - before.box.y1;
    const resized = Math.max(row.size, before.size) > Math.min(row.size, before.size) * TITLE_SIZE;
    return gap > row.size * LINE_GAP || resized;
  });
  return rows.slice(0, end < 0 ? rows.length : end);
}

/** Lines a band of running text has at least: fewer may be a table's wide cell. */
const TEXT_LINES = 3;

/** Lines of columns of prose between two tables whose rules have one width, whose pieces are far longer than those of the table above them; gaps that justification opened part no piece. */
function isRunningText(
  band: readonly Word[],
  evidence: Evidence,
  chunkOf: ReadonlyMap<Word, Chunk>,
  run: readonly Word[][],
): boolean {
  const pieces = (words: readonly Word[]) => [...new Set(words.flatMap((word) => chunkOf.get(word) ?? []))];
  const usualWords = (chunks: readonly Chunk[]) =>
    chunks.map((chunk) => chunk.words.length).sort((a, b) => a - b)[chunks.length >> 1] ?? 0;
  const own = pieces(band);
  if (holdsParagraph(own, evidence)) return true;
  const lines = textRows(band).length;
  if (lines < TEXT_LINES || usualWords(own) < 4) return false;
  const width = evidence.x1 - evidence.x0;
  const wide = own.filter((chunk) => chunk.box.x1 - chunk.box.x0 > width * 0.3).length;
  return wide >= own.length * 0.75 && usualWords(own) > usualWords(pieces(run.flat())) * 1.5;
}

/** Lines of a paragraph take up this share of the width between the ends of the rules at least. */
const FULL_WIDTH = 0.85;

/** Whether several lines in a row are each one piece from edge to edge. */
function holdsParagraph(pieces: readonly Chunk[], { x0, x1 }: Evidence): boolean {
  let lines = 0;
  for (const { box } of pieces.toSorted((a, b) => a.box.y0 - b.box.y0)) {
    lines = box.x1 - box.x0 > (x1 - x0) * FULL_WIDTH ? lines + 1 : 0;
    if (lines === TEXT_LINES) return true;
  }
  return false;
}

/** Rows of a head between two rules that no rule closes below: the table's body, up to the first line that is none of its rows. */
function openBelow(run: readonly Word[][], last: number, words: readonly Word[]): Word[] {
  const filled = run.filter((band) => band.length > 0);
  const head = textRows(filled.flat());
  if (filled.length !== 1 || head.length > HEAD_LINES) return [];
  return rowWords(rowsBelow(head, last, words));
}

/** The row next to the shading, where it is as near as the rows are high (aligned.test.ts: around shaded rows). */
function outerRow(band: readonly Word[], above: boolean, edges: readonly number[], last: number): Word[] {
  const rows = above ? textRows(band).reverse() : textRows(band);
  const [row] = rows;
  if (!row) return [];
  const pace = (last - (edges[0] ?? 0)) / Math.max(1, edges.length - 1);
  const distance = above ? (edges[0] ?? 0) - row.box.y1 : row.box.y0 - last;
  if (distance >= pace * 0.6 || row.segments.length < 2) return [];
  // Its cells may wrap; one line alone over a head is no part of it.
  const own = tightRows(rows, above);
  const alone = above ? own.findIndex((one) => one.segments.length < 2) : -1;
  return rowWords(alone < 0 ? own : own.slice(0, alone));
}

/** Rows cut by wide gaps or far from full (empty cells); lines of prose are neither (aligned.test.ts: lines between rules are rows). */
function isTabular(rows: readonly TextRow[], evidence: Evidence): boolean {
  if (rows.length === 1) return true;
  const width = evidence.x1 - evidence.x0;
  const cut = rows.filter((row) => row.segments.length >= 2).length;
  const fit = rows.filter((row) => row.segments.length >= 2 || row.box.x1 - row.box.x0 < width * 0.5).length;
  return cut >= rows.length * 0.45 || (fit >= rows.length * 0.9 && evidence.edges.length >= 3);
}

function readRun(
  bands: readonly Word[][],
  evidence: Evidence,
  rulings: readonly Ruling[],
  vocabulary: Vocabulary,
  heads: HeadMemory,
): FoundTable | undefined {
  const words = bands.flat();
  const filledBands = bands.filter((band) => band.length > 0).length;
  const rows = textRows(words);
  const multi = rows.filter((row) => row.segments.length >= 2).length;
  const headed = (rows[0]?.segments.length ?? 0) >= 2;
  const banded = bandColumns(bands);
  if (!headed && !banded && multi < Math.max(2, rows.length * 0.3)) return undefined;
  const { x0, x1, edges } = evidence;
  const width = x1 - x0;
  const short = rulings.filter((line) => line.end - line.start < width * 0.9);
  const lined = findColumns(rows);
  const own = (banded?.separators.length ?? 0) > (lined?.separators.length ?? 0) ? banded : lined;
  const known = heads.recall(rows, x0, width, (own?.separators.length ?? 0) + 1);
  const read = readAligned(rows, { edges, rowRules: filledBands >= 4 }, short, vocabulary, known ?? own);
  if (!read || !isTable(read.grid) || readsAsText({ lines: rows, cut: read.cut })) return undefined;
  heads.learn(rows, x0, width, read.cut);
  const box = boundingBox(words.map((word) => word.box));
  const whole = {
    x0: Math.min(box.x0, x0),
    x1: Math.max(box.x1, x1),
    y0: Math.min(box.y0, ...edges.filter((y) => y > box.y0 - 14)),
    y1: Math.max(box.y1, ...edges.filter((y) => y < box.y1 + 14)),
  };
  return { box: whole, grid: read.grid, words, sideways: [], source: 'aligned', ocr: tableConfidence(words) };
}
