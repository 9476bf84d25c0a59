// Reads tables whose cells are drawn with lines: rulings that cross make a grid, missing edges make spans.
// Its rules are tested in ruled.test.ts, and with whole pages in ../layout/page.test.ts.

import { type Box, boundingBox, centreInside, overlap } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import type { TableGrid } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type Chunk, groupRows } from '../text/lines.ts';
import { findColumns, numericShare, rowWords, textRows } from './alignment.ts';
import { buildGrid, type FoundTable, isTable, type RawCell, tableConfidence } from './grid.ts';
import { CROSS, closeOpenBody, continueColumnLines, SAME } from './open-body.ts';
import { groupLinesIntoRows } from './rows.ts';

/** More lines than this are a drawing. */
const MAX_LINES = 2_500;
const MAX_CELLS = 40_000;
/** Share of a cell's edge that must be drawn. */
const DRAWN = 0.6;

export function findRuledTables(
  page: PageContent,
  chunks: readonly Chunk[],
  sideways: readonly Word[],
  vocabulary: Vocabulary,
): FoundTable[] {
  if (page.rulings.length > MAX_LINES) return [];
  const words = chunks.flatMap((chunk) => chunk.words);
  const taken = new Set<Word>();
  const tables: FoundTable[] = [];
  const groups = connect(page.rulings);
  const alone = groups.filter((lines) => lines.every((line) => line.horizontal)).flat();
  for (const lines of groups) {
    const free = words.filter((word) => !taken.has(word));
    const body = closeOpenBody(lines, alone, page.rulings, free);
    const table =
      (body.length > 0 ? readGrid([...lines, ...body], free, sideways, vocabulary) : undefined) ??
      readGrid(lines, free, sideways, vocabulary);
    if (!table) continue;
    for (const word of table.words) taken.add(word);
    tables.push(table);
  }
  return tables;
}

/** Groups of lines that touch, the largest first. */
function connect(rulings: readonly Ruling[]): Ruling[][] {
  const horizontal = rulings.filter((line) => line.horizontal);
  const vertical = rulings.filter((line) => !line.horizontal);
  const groupOf = new Map(rulings.map((line) => [line, [line]]));
  for (const h of horizontal)
    for (const v of vertical)
      if (v.at >= h.start - CROSS && v.at <= h.end + CROSS && h.at >= v.start - CROSS && h.at <= v.end + CROSS) {
        const group = groupOf.get(h) ?? [];
        const other = groupOf.get(v) ?? [];
        if (group === other) continue;
        for (const line of other) groupOf.set(line, group);
        group.push(...other);
      }
  return [...new Set(groupOf.values())].sort((a, b) => b.length - a.length);
}

/** Places of lines of one direction, near ones as one. */
function positions(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const places: { sum: number; count: number; last: number }[] = [];
  for (const value of sorted) {
    const open = places.at(-1);
    if (open && value - open.last <= SAME) {
      open.sum += value;
      open.count++;
      open.last = value;
    } else places.push({ sum: value, count: 1, last: value });
  }
  return places.map((place) => place.sum / place.count);
}

function readGrid(
  lines: readonly Ruling[],
  words: readonly Word[],
  sideways: readonly Word[],
  vocabulary: Vocabulary,
): FoundTable | undefined {
  const horizontal = lines.filter((line) => line.horizontal);
  const vertical = lines.filter((line) => !line.horizontal);
  if (horizontal.length < 2) return undefined;
  // Open sides: the lines' ends are the border.
  const left = Math.min(...horizontal.map((line) => line.start));
  const right = Math.max(...horizontal.map((line) => line.end));
  const top = Math.min(...vertical.map((line) => line.start));
  const bottom = Math.max(...vertical.map((line) => line.end));
  const withEnds = (values: number[], low: number, high: number) => {
    const ends = [...values];
    if (!values.some((value) => Math.abs(value - low) <= SAME * 2)) ends.push(low);
    if (!values.some((value) => Math.abs(value - high) <= SAME * 2)) ends.push(high);
    return positions(ends);
  };
  let xs = withEnds(
    vertical.map((line) => line.at),
    left,
    right,
  );
  let ys = withEnds(
    horizontal.map((line) => line.at),
    top,
    bottom,
  );
  if (xs.length < 3) return undefined;
  const box: Box = { x0: xs[0] ?? 0, x1: xs.at(-1) ?? 0, y0: ys[0] ?? 0, y1: ys.at(-1) ?? 0 };
  const inside = words.filter((word) => centreInside(word.box, box));
  vertical.push(...continueColumnLines(xs, ys, drawnEdges(xs, ys, vertical), inside));
  ys = splitOpenRows(xs, ys, horizontal, inside);
  xs = splitOpenColumns(xs, vertical, inside);
  const columns = xs.length - 1;
  const rows = ys.length - 1;
  if (rows * columns > MAX_CELLS) return undefined;
  const turned = sideways.filter((word) => centreInside(word.box, box));
  const cells = mergeCells(xs, ys, horizontal, vertical);
  place(cells, xs, ys, [...inside, ...turned]);
  const filled = cells.filter((cell) => cell.words.length > 0);
  // A chart's grid has lines and little text; a form's box has one text.
  if (filled.length < cells.length * 0.2) return undefined;
  const grid = buildGrid(cells, rows, columns, vocabulary, 'drawn');
  if (!isTable(grid) && !(isLoneRow(grid, cells) && endsOver(box, xs, words))) return undefined;
  return { box, grid, words: inside, sideways: turned, source: 'ruled', ocr: tableConfidence(inside) };
}

/** Cells of a drawn row that stands alone: the head of a table that goes on over the page, where fewer are a letterhead or a note. */
const LONE_ROW_CELLS = 3;

/** Whether a grid is one row of drawn cells that all hold text. */
function isLoneRow(grid: TableGrid, cells: readonly RawCell[]): boolean {
  return cells.length >= LONE_ROW_CELLS && grid.rows.length === 1 && grid.columns === cells.length;
}

/** How far below a drawn head the first open row stands at most, by the height of the head. */
const NEXT_ROW = 1;

/** Type this much larger than that of a row is no type of the rows below it. */
const OTHER_SIZE = 1.13;

/** Whether no text stands close below a box in its first column or in several, as it does under the head of a table whose other rows have no lines. */
function endsOver(box: Box, xs: readonly number[], words: readonly Word[]): boolean {
  const reach = box.y1 + (box.y1 - box.y0) * NEXT_ROW;
  const below = words.filter(
    (word) =>
      word.box.y0 > box.y1 - CROSS && word.box.y0 < reach && overlap(word.box.x0, word.box.x1, box.x0, box.x1) > 0,
  );
  const [next] = textRows(below);
  const own = words.filter((word) => centreInside(word.box, box));
  const size = Math.max(0, ...textRows(own).map((row) => row.size));
  const isBold = (row: readonly Word[]) => row.every((word) => word.style.bold);
  // Larger or bolder type is a heading's.
  if (next && (next.size > size * OTHER_SIZE || (isBold(rowWords([next])) && !isBold(own)))) return true;
  const columns = new Set(below.map((word) => upper(xs, word.box.x0)));
  return columns.size < 2 && !columns.has(1);
}

/**
 * Column rules without row rules: where a band between two lines holds several rows of text that stand side by side in
 * several columns, each becomes a row of the grid.
 */
function splitOpenRows(
  xs: readonly number[],
  ys: readonly number[],
  horizontal: Ruling[],
  words: readonly Word[],
): number[] {
  const result = [...ys];
  const addRow = (y: number) => {
    result.push(y);
    // The split counts as drawn.
    horizontal.push({
      horizontal: true,
      at: y,
      start: xs[0] ?? 0,
      end: xs.at(-1) ?? 0,
      thickness: 0,
      color: 0,
    });
  };
  for (let i = 0; i + 1 < ys.length; i++) {
    const y0 = ys[i] ?? 0;
    const y1 = ys[i + 1] ?? 0;
    const band = words.filter((word) => (word.box.y0 + word.box.y1) / 2 > y0 && (word.box.y0 + word.box.y1) / 2 < y1);
    const lines = groupRows(band);
    const columnOf = (word: Word) => xs.findIndex((x) => x > (word.box.x0 + word.box.x1) / 2);
    const columnsOf = (line: readonly Word[]) => new Set(line.map(columnOf)).size;
    // Where bands are many, only figures are sure to be rows.
    const open = ys.length <= 5;
    const rows =
      open || numericShare(textRows(band)) > 0.7
        ? openRows(lines, xs.length - 1, (word) => Math.min(xs.length - 2, Math.max(0, columnOf(word) - 1)))
        : [];
    for (const y of rows.length > 0 ? rows : blankStripes(lines, columnsOf)) addRow(y);
  }
  return result.sort((a, b) => a - b);
}

/** Heights between the rows of a band, or none where its lines do not make rows that are full enough. */
function openRows(lines: readonly Word[][], columns: number, columnOf: (word: Word) => number): number[] {
  const sheet = lines.map((line) => {
    return {
      cells: [...Map.groupBy(line, columnOf)].map(([column, words]) => ({ words, from: column, to: column })),
      box: boundingBox(line.map((word) => word.box)),
      size: Math.max(...line.map((word) => word.style.size)),
    };
  });
  const groups = groupLinesIntoRows(
    sheet,
    columns,
    sheet.map(() => 0),
  );
  const filled = groups.map(
    (group) => new Set(group.flatMap((n) => sheet[n]?.cells.map((cell) => cell.from) ?? [])).size,
  );
  const full = filled.filter((count) => count >= Math.max(2, columns * 0.6)).length;
  if (full < groups.length * 0.65) return [];
  return groups.slice(1).map((group, n) => {
    const above = Math.max(...(groups[n] ?? []).map((i) => sheet[i]?.box.y1 ?? 0));
    return (above + Math.min(...group.map((i) => sheet[i]?.box.y0 ?? 0))) / 2;
  });
}

/** Heights at which white space runs through all columns of a band, much wider than between its lines. */
function blankStripes(lines: readonly (readonly Word[])[], columnsOf: (line: readonly Word[]) => number): number[] {
  const gaps: { y: number; gap: number }[] = [];
  let floor = Math.max(...(lines[0] ?? []).map((word) => word.box.y1));
  for (const line of lines.slice(1)) {
    const top = Math.min(...line.map((word) => word.box.y0));
    gaps.push({ y: (floor + top) / 2, gap: top - floor });
    floor = Math.max(floor, ...line.map((word) => word.box.y1));
  }
  const usual = gaps.map((one) => one.gap).sort((a, b) => a - b)[Math.floor((gaps.length - 1) / 2)] ?? 0;
  const size = Math.max(...lines.flatMap((line) => line.map((word) => word.style.size)));
  const stripes = gaps.filter((one) => one.gap > usual + size * 0.7);
  // Paragraphs of one long cell are no rows: most pieces must have text side by side.
  const pieces: number[] = [];
  let piece = 0;
  lines.forEach((line, n) => {
    piece = Math.max(piece, columnsOf(line));
    const gap = gaps[n];
    if (gap === undefined || stripes.includes(gap)) {
      pieces.push(piece);
      piece = 0;
    }
  });
  return pieces.filter((columns) => columns >= 2).length >= pieces.length * 0.6 ? stripes.map((one) => one.y) : [];
}

/** Two columns of figures between two column rules: white space parts them. */
function splitOpenColumns(xs: readonly number[], vertical: Ruling[], words: readonly Word[]): number[] {
  const result = [...xs];
  for (let i = 0; i + 1 < xs.length; i++) {
    const x0 = xs[i] ?? 0;
    const x1 = xs[i + 1] ?? 0;
    const rows = textRows(words.filter((word) => word.box.x0 > x0 - 1 && word.box.x1 < x1 + 1));
    const parted = rows.filter((row) => row.segments.length >= 2);
    if (parted.length < 4 || parted.length < rows.length * 0.7 || numericShare(parted) < 0.7) continue;
    const cut = findColumns(parted);
    for (const x of cut?.separators ?? []) {
      result.push(x);
      const sides = parted.filter((row) => row.segments.every((segment) => segment.x1 <= x + 1 || segment.x0 >= x - 1));
      vertical.push({
        horizontal: false,
        at: x,
        start: (sides[0]?.box.y0 ?? 0) - 1,
        end: (sides.at(-1)?.box.y1 ?? 0) + 1,
        thickness: 0,
        color: 0,
      });
    }
  }
  return result.sort((a, b) => a - b);
}

/** The grid's cells; two that no drawn edge parts are one. */
function mergeCells(
  xs: readonly number[],
  ys: readonly number[],
  horizontal: readonly Ruling[],
  vertical: readonly Ruling[],
): RawCell[] {
  const columns = xs.length - 1;
  const rows = ys.length - 1;
  const rightEdge = drawnEdges(xs, ys, vertical);
  const bottomEdge = drawnEdges(ys, xs, horizontal);
  const owner = new Int32Array(rows * columns).fill(-1);
  const cells: RawCell[] = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      if (owner[row * columns + column] !== -1) continue;
      let colspan = 1;
      while (owner[row * columns + column + colspan] === -1 && !rightEdge(column + colspan, row)) colspan++;
      let rowspan = 1;
      const open = (r: number): boolean => {
        for (let c = column; c < column + colspan; c++) {
          if (bottomEdge(r, c)) return false;
          if (c > column && rightEdge(c, r)) return false;
        }
        return true;
      };
      while (open(row + rowspan)) rowspan++;
      for (let r = row; r < row + rowspan; r++)
        for (let c = column; c < column + colspan; c++) owner[r * columns + c] = cells.length;
      cells.push({ row, column, rowspan, colspan, words: [] });
    }
  return cells;
}

/** Whether the edge at line `index` of `across` is drawn along the interval `along[n]`..`along[n + 1]`; those that bound the grid always are. */
function drawnEdges(
  across: readonly number[],
  along: readonly number[],
  lines: readonly Ruling[],
): (index: number, n: number) => boolean {
  const drawn = across.slice(1, -1).map((at) => {
    const covered = new Array<number>(along.length).fill(0);
    for (const line of lines) {
      if (Math.abs(line.at - at) > SAME * 1.5) continue;
      for (let n = 0; n + 1 < along.length; n++)
        covered[n] = Math.max(covered[n] ?? 0, overlap(line.start, line.end, along[n] ?? 0, along[n + 1] ?? 0));
    }
    return covered.map((length, n) => length >= ((along[n + 1] ?? 0) - (along[n] ?? 0)) * DRAWN);
  });
  return (index, n) => drawn[index - 1]?.[n] ?? true;
}

function place(cells: RawCell[], xs: readonly number[], ys: readonly number[], words: readonly Word[]): void {
  const columns = xs.length - 1;
  const rows = ys.length - 1;
  const byPlace = new Map<number, RawCell>();
  for (const cell of cells)
    for (let r = cell.row; r < cell.row + cell.rowspan; r++)
      for (let c = cell.column; c < cell.column + cell.colspan; c++) byPlace.set(r * columns + c, cell);
  for (const word of words) {
    const column = Math.min(columns - 1, Math.max(0, upper(xs, (word.box.x0 + word.box.x1) / 2) - 1));
    const row = Math.min(rows - 1, Math.max(0, upper(ys, (word.box.y0 + word.box.y1) / 2) - 1));
    byPlace.get(row * columns + column)?.words.push(word);
  }
}

/** Index of the first value above `value`. */
function upper(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
