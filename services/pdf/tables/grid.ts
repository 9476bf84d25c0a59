// The shape that every table finder gives, and how the text of a cell is read.
// Its rules are tested in grid.test.ts.

import type { Box } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import type { TableCell, TableDraft, TableGrid } from '../text/blocks.ts';
import { inlineHtml, type Vocabulary } from '../text/inline.ts';
import { buildChunks, chunkText, groupRows } from '../text/lines.ts';
import { readSideways } from '../text/upright.ts';

export interface FoundTable {
  box: Box;
  grid: TableGrid;
  words: Word[];
  /** Turned words inside cells (sideways column heads). */
  sideways: Word[];
  source: TableDraft['source'];
  /** The tags of the file have rows of the same table on an earlier page. */
  begun?: boolean;
  ocr: number | null;
}

/** A cell before its text is read. */
export interface RawCell {
  row: number;
  column: number;
  rowspan: number;
  colspan: number;
  words: Word[];
}

/** Whether what was read is a table: cells beside each other, and over each other. */
export function isTable(grid: TableGrid | undefined): grid is TableGrid {
  return (grid?.columns ?? 0) >= 2 && (grid?.rows.length ?? 0) >= 2;
}

/** The lines of a cell in reading order: the upright ones, then those of each other direction. */
function readLines(words: readonly Word[]): Word[][] {
  const turned = words.filter((word) => word.direction !== 0);
  const upright = turned.length > 0 ? words.filter((word) => word.direction === 0) : words;
  // Only how the words lie to each other counts, so any page size does.
  return [upright, ...readSideways(turned, 0, 0).map((group) => group.words)].flatMap((group) =>
    groupRows(buildChunks(group)).map((row) => row.flatMap((chunk) => chunk.words)),
  );
}

/** The cell's lines in order, as inline HTML; bold is left out in header cells. */
function readCell(cell: RawCell, vocabulary: Vocabulary, header: boolean): TableCell {
  const lines = readLines(cell.words);
  return {
    html: inlineHtml(lines, vocabulary, { plain: header }),
    text: lines.map(chunkText).join(' '),
    column: cell.column,
    colspan: cell.colspan,
    rowspan: cell.rowspan,
  };
}

/**
 * Cells of a whole table as rows; rows and columns in which nothing stands are left out.
 * @param heads header rows, where these are known
 */
export function buildGrid(
  cells: readonly RawCell[],
  rowCount: number,
  columnCount: number,
  vocabulary: Vocabulary,
  edges: 'drawn' | 'open',
  heads?: number,
): TableGrid {
  const usedRows = usedLines(cells, rowCount, (cell) => cell.row);
  const usedColumns = usedLines(cells, columnCount, (cell) => cell.column);
  const kept = cells
    .map((cell) => shrink(cell, usedRows, usedColumns))
    .filter((cell) => cell.rowspan > 0 && cell.colspan > 0)
    .sort((a, b) => a.column - b.column);
  const rows: RawCell[][] = Array.from({ length: usedRows.filter(Boolean).length }, () => []);
  for (const cell of kept) rows[cell.row]?.push(cell);
  const headerRows = heads === undefined ? countHeaderRows(rows) : usedRows.slice(0, heads).filter(Boolean).length;
  if (edges === 'open') stretchHeads(rows, headerRows);
  return {
    rows: rows.map((row, index) => row.map((cell) => readCell(cell, vocabulary, index < headerRows))),
    columns: usedColumns.filter(Boolean).length,
    headerRows,
    ...(edges === 'drawn' ? { drawn: usedColumns } : { extents: extentsOf(kept, usedColumns.filter(Boolean).length) }),
  };
}

/** Where the text of each column lies; cells over several columns tell nothing. */
function extentsOf(cells: readonly RawCell[], columns: number): { x0: number; x1: number }[] {
  const extents = Array.from({ length: columns }, () => ({ x0: Infinity, x1: -Infinity }));
  for (const { column, colspan, words } of cells)
    for (const { box } of colspan === 1 ? words : []) {
      const extent = extents[column] as { x0: number; x1: number };
      extent.x0 = Math.min(extent.x0, box.x0);
      extent.x1 = Math.max(extent.x1, box.x1);
    }
  return extents;
}

/** A head that has a column to itself takes the empty cells above and below it, where other heads stand in several rows (grid.test.ts). */
function stretchHeads(rows: RawCell[][], headerRows: number): void {
  for (let n = 0; n < headerRows; n++)
    for (const cell of [...(rows[n] ?? [])]) {
      if (cell.words.length === 0 || cell.colspan > 1) continue;
      const take = (row: number): boolean => {
        const cells = rows[row] ?? [];
        const at = cells.findIndex((one) => one.column === cell.column);
        const other = cells[at];
        if (!other || other.words.length > 0) return false;
        cells.splice(at, 1);
        return true;
      };
      while (cell.row + cell.rowspan < headerRows && take(cell.row + cell.rowspan)) cell.rowspan++;
      let top = cell.row;
      while (take(top - 1)) top--;
      rows[n]?.splice(rows[n]?.indexOf(cell) ?? 0, 1);
      cell.rowspan += cell.row - top;
      cell.row = top;
      rows[top]?.push(cell);
      rows[top]?.sort((a, b) => a.column - b.column);
    }
}

function usedLines(cells: readonly RawCell[], count: number, place: (cell: RawCell) => number): boolean[] {
  const used = new Array<boolean>(count).fill(false);
  // A spanning cell claims its first line only.
  for (const cell of cells) if (cell.words.length > 0) used[place(cell)] = true;
  return used;
}

function shrink(cell: RawCell, rows: readonly boolean[], columns: readonly boolean[]): RawCell {
  const count = (used: readonly boolean[], from: number, to: number) => used.slice(from, to).filter(Boolean).length;
  return {
    ...cell,
    row: count(rows, 0, cell.row),
    column: count(columns, 0, cell.column),
    rowspan: count(rows, cell.row, cell.row + cell.rowspan),
    colspan: count(columns, cell.column, cell.column + cell.colspan),
  };
}

/** Rows that a head may have. */
const MAX_HEADER_ROWS = 4;

/** The first row, and those below it that its tall cells reach or that stand under a head over several columns. */
function countHeaderRows(rows: readonly (readonly RawCell[])[]): number {
  let count = 1;
  for (let n = 0; n < count; n++) {
    const row = rows[n] ?? [];
    const tallest = Math.max(1, ...row.map((cell) => cell.rowspan));
    const grouped = row.length > 1 && row.some((cell) => cell.colspan > 1 && cell.words.length > 0);
    count = Math.min(rows.length - 1, MAX_HEADER_ROWS, Math.max(count, n + (grouped ? 2 : 1), n + tallest));
  }
  return count;
}

export function tableConfidence(words: readonly Word[]): number | null {
  const known = words.filter((word) => word.confidence !== undefined);
  return known.length === 0 ? null : known.reduce((sum, word) => sum + (word.confidence ?? 0), 0) / known.length;
}
