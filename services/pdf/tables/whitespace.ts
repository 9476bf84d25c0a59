// Finds tables that nothing but white space marks, among the rows of one column; prose, lists and forms must not pass.
// Made by hand, what needs its rules: whitespace.test.ts, and ../layout/page.test.ts for whole pages.

import { holdsCurve, liesOnPicture } from '../source/charts.ts';
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { PageContent, Ruling } from '../source/page-model.ts';
import type { TableGrid } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type Chunk, chunkText, groupRows } from '../text/lines.ts';
import { isCaption, isNumbering, isTableCaption, readMarker } from '../text/markers.ts';
import { type ColumnCut, findColumns, readCut, type TextRow, textRows } from './alignment.ts';
import { type FoundTable, tableConfidence } from './grid.ts';

/** Rows with cells side by side that a table needs, and with a ruling inside it or a caption. */
const MIN_ROWS = 3;
const MIN_TOLD_ROWS = 2;
/** Lines from a caption to the rows that it names. */
const CAPTION_LINES = 4;
/** White space between the rows of one table, and between it and its caption, in type sizes. */
const MAX_GAP = 2.2;
/** White space between the lines of one cell, in type sizes. */
const LINE_GAP = 0.55;
/** Lines without a second cell in a row (wrapped labels) before the table is over. */
const MAX_LONE_LINES = 3;
/** Edges this close are aligned, in points. */
const ALIGNED = 3.5;

type ColumnPart = { chunks: Chunk[]; table?: undefined } | { table: FoundTable; chunks?: undefined };

/** A column's chunks as stretches of text and tables, top to bottom. */
export function splitTables(chunks: readonly Chunk[], page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const rows = groupRows(chunks);
  const parts: ColumnPart[] = [];
  let text: Chunk[] = [];
  let i = 0;
  while (i < rows.length) {
    const row = rows[i] as Chunk[];
    if (row.length < 2 || isCaptionLine(row)) {
      text.push(...row);
      i++;
      continue;
    }
    const end = runEnd(rows, i);
    const run = rows.slice(i, end);
    const table = readRun(run, page.rulings, isCaptioned(rows, i, end), vocabulary);
    if (table && !holdsCurve(page, table.box) && !liesOnPicture(page, table.box)) {
      if (text.length > 0) parts.push({ chunks: text });
      text = [];
      parts.push({ table });
      // A run that was refused is refused whole: its tail is not tried again row by row.
    } else text.push(...run.flat());
    i = end;
  }
  if (text.length > 0) parts.push({ chunks: text });
  return parts;
}

function rowBox(row: readonly Chunk[]) {
  return boundingBox(row.map((chunk) => chunk.box));
}

/** The row after the last of a run of rows that could be one table. */
function runEnd(rows: readonly Chunk[][], start: number): number {
  let end = start + 1;
  let lone = 0;
  let left = rowBox(rows[start] as Chunk[]).x0;
  let right = rowBox(rows[start] as Chunk[]).x1;
  const full = [rows[start] as Chunk[]];
  for (let i = start + 1; i < rows.length; i++) {
    const row = withoutMarker(rows[i] as Chunk[]);
    const above = rows[i - 1] as Chunk[];
    if (!isClose(above, row) || isCaptionLine(row)) break;
    const box = rowBox(row);
    if (row.length >= 2) {
      lone = 0;
      left = Math.min(left, box.x0);
      right = Math.max(right, box.x1);
      full.push(row);
      end = i + 1;
      continue;
    }
    if (goesOnCell(row[0] as Chunk, rowBox(above), full)) {
      end = i + 1;
      continue;
    }
    lone++;
    const wide = box.x1 - box.x0 > (right - left) * 0.62;
    if (lone > MAX_LONE_LINES || (wide && (row[0]?.words.length ?? 0) > 5)) break;
  }
  return end + (isWrappedLabel(rows[end - 1], rows[end]) ? 1 : 0);
}

/** Whether no more white space stands between two rows than between those of one table. */
function isClose(above: readonly Chunk[], below: readonly Chunk[]): boolean {
  return rowBox(below).y0 - rowBox(above).y1 <= Math.max(...below.map((chunk) => chunk.size)) * MAX_GAP;
}

/** Whether a lone line goes on a long cell: close under the line above, it stands in a column of the rows so far that is not their first. */
function goesOnCell(lone: Chunk, above: Box, full: readonly Chunk[][]): boolean {
  const [[first]] = full as [[Chunk]];
  if (isNumbering(chunkText(first.words)) || lone.box.y0 - above.y1 > lone.size * LINE_GAP) return false;
  return full.some((row) => {
    const place = row.findIndex((chunk) => Math.abs(chunk.box.x0 - lone.box.x0) < ALIGNED);
    return place > 0 && lone.box.x1 < (row[place + 1]?.box.x0 ?? Infinity);
  });
}

/** An item of a list is one line, however far its marker stands from its text. */
function withoutMarker(row: Chunk[]): Chunk[] {
  return row.length === 2 && readMarker(chunkText((row[0] as Chunk).words)) ? row.slice(1) : row;
}

/** Whether a lone line goes on the first cell of the row above it. */
function isWrappedLabel(above: readonly Chunk[] = [], [lone]: readonly Chunk[] = []): boolean {
  const [first, second] = above as [Chunk, Chunk?];
  if (!lone || !second) return false;
  const tight = lone.box.y0 - rowBox(above).y1 < first.size * LINE_GAP;
  const narrow = lone.box.x1 < second.box.x0 - 2;
  if (isCaption(chunkText(lone.words))) return false;
  return tight && narrow && Math.abs(lone.box.x0 - first.box.x0) < ALIGNED * 3 && lone.words.length <= 4;
}

/** Whether a row, which justified type may have cut into cells, begins with a table's caption. */
function isCaptionLine(row: readonly Chunk[]): boolean {
  return isTableCaption(chunkText((row[0] as Chunk).words));
}

/** Whether a table's caption stands close over rows, lines of a head between them, or close under them. */
function isCaptioned(rows: readonly Chunk[][], start: number, end: number): boolean {
  const next = rows[end];
  if (next && isClose(rows[end - 1] as Chunk[], next) && isCaptionLine(next)) return true;
  for (let n = start - 1; n >= Math.max(0, start - CAPTION_LINES); n--) {
    const row = rows[n] as Chunk[];
    if (!isClose(row, rows[n + 1] as Chunk[])) return false;
    if (isCaptionLine(row)) return true;
  }
  return false;
}

function readRun(
  run: readonly Chunk[][],
  rulings: readonly Ruling[],
  captioned: boolean,
  vocabulary: Vocabulary,
): FoundTable | undefined {
  const words = run.flatMap((row) => row.flatMap((chunk) => chunk.words));
  const box = boundingBox(words.map((word) => word.box));
  const rules = rulings.filter((line) => line.horizontal && line.at > box.y0 - 8 && line.at < box.y1 + 8);
  const wideRules = rules.filter((line) => overlap(line.start, line.end, box.x0, box.x1) > (box.x1 - box.x0) * 0.6);
  const multi = run.filter((row) => row.length >= 2).length;
  const told = captioned || wideRules.length > 0;
  if (multi < (told ? MIN_TOLD_ROWS : MIN_ROWS)) return undefined;
  const rows = textRows(words);
  const cut = findColumns(rows);
  if (!cut || !looksTabular(run, rows, cut, told)) return undefined;
  const edges = wideRules.map((line) => line.at).filter((y) => y > box.y0 && y < box.y1);
  const heads = rules.filter((line) => !wideRules.includes(line));
  const grid = readCut(rows, cut, { edges, rowRules: edges.length >= 3 }, heads, vocabulary);
  if (grid.rows.length < 2 || isSparse(grid)) return undefined;
  return { box, grid, words, sideways: [], source: 'aligned', ocr: tableConfidence(words) };
}

/** Labels strewn over a chart fill few cells of the grid that they seem to make. */
function isSparse(grid: TableGrid): boolean {
  const filled = grid.rows.flat().filter((cell) => cell.text !== '').length;
  return filled < grid.rows.length * grid.columns * 0.4;
}

interface ColumnView {
  cells: string[];
  aligned: number;
}

function looksTabular(run: readonly Chunk[][], rows: readonly TextRow[], cut: ColumnCut, told: boolean): boolean {
  const columns: ColumnView[] = cut.extents.map((_, column) => viewColumn(rows, cut, column));
  const filled = columns.filter((column) => column.cells.length >= Math.max(2, rows.length * 0.2));
  if (filled.length < 2) return false;
  if (filled.slice(1).some((column) => column.aligned < 0.55)) return false;
  const cells = filled.flatMap((column) => column.cells);
  const wordsPerCell = cells.reduce((sum, cell) => sum + cell.split(' ').length, 0) / cells.length;
  const numeric = filled.slice(1).flatMap((column) => column.cells);
  const numericShare =
    numeric.filter((cell) => /\d/.test(cell) || /^[-–—.]+$/.test(cell)).length / Math.max(1, numeric.length);
  // The figures along a chart's axes, without a word.
  const named = (texts: readonly string[]) => texts.filter((text) => /\p{L}{2}/u.test(text)).length;
  const head = rows[0]?.segments.map((segment) => chunkText(segment.words)) ?? [];
  if (!told && named(cells) < cells.length * 0.2 && named(head) < 2) return false;
  // Two columns alone are a list of terms, a letterhead or broken prose as often as a table.
  if (filled.length === 2 && !told) {
    const dense = run.filter((row) => row.length >= 2).length >= run.length * 0.7;
    if (isLabelled(run, cut)) return true;
    return dense && (numericShare > 0.6 || (rows.length >= 5 && wordsPerCell <= 3.5));
  }
  return told || wordsPerCell <= 4.5;
}

/** Whether short labels, which are no numbering, stand beside texts of a few lines, all of both at one edge. */
function isLabelled(run: readonly Chunk[][], { separators: [gutter = 0] }: ColumnCut): boolean {
  const chunks = run.flat();
  const labels = chunks.filter((chunk) => chunk.box.x1 < gutter);
  const texts = chunks.filter((chunk) => chunk.box.x0 > gutter);
  const pairs = run.filter((row) => row.length === 2).length;
  if (texts.length > pairs * 2.5 || labels.length + texts.length < chunks.length * 0.9) return false;
  const numbered = labels.some(({ words }) => isNumbering(chunkText(words)));
  const words = (of: readonly Chunk[]) => of.reduce((sum, chunk) => sum + chunk.words.length, 0) / of.length;
  const [left, right] = [columnBox(labels), columnBox(texts)];
  return (
    !numbered &&
    words(labels) <= 3 &&
    words(texts) >= 3 &&
    left.aligned >= labels.length * 0.9 &&
    right.aligned >= texts.length * 0.9 &&
    left.width < right.width * 0.6
  );
}

/** The width of a column of chunks, and how many of them begin at its edge. */
function columnBox(chunks: readonly Chunk[]): { width: number; aligned: number } {
  const { x0, x1 } = rowBox(chunks);
  return { width: x1 - x0, aligned: chunks.filter(({ box }) => box.x0 < x0 + ALIGNED).length };
}

function viewColumn(rows: readonly TextRow[], cut: ColumnCut, column: number): ColumnView {
  const left = cut.separators[column - 1] ?? -Infinity;
  const right = cut.separators[column] ?? Infinity;
  const cells: { text: string; x0: number; x1: number }[] = [];
  for (const row of rows) {
    const inside = row.segments.filter((segment) => segment.x0 > left && segment.x1 < right);
    if (inside.length === 0) continue;
    cells.push({
      text: inside.map((segment) => chunkText(segment.words)).join(' '),
      x0: Math.min(...inside.map((segment) => segment.x0)),
      x1: Math.max(...inside.map((segment) => segment.x1)),
    });
  }
  const share = (edge: (cell: (typeof cells)[number]) => number) => {
    const values = cells.map(edge).sort((a, b) => a - b);
    let best = 0;
    for (let i = 0, j = 0; i < values.length; i++) {
      while ((values[i] ?? 0) - (values[j] ?? 0) > ALIGNED) j++;
      best = Math.max(best, i - j + 1);
    }
    return best / Math.max(1, values.length);
  };
  return {
    cells: cells.map((cell) => cell.text),
    aligned: Math.max(
      share((c) => c.x0),
      share((c) => c.x1),
      share((c) => (c.x0 + c.x1) / 2),
    ),
  };
}
