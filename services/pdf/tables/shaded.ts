// Finds tables whose cells are painted one by one: the edges at which the painted cells meet are the columns of every row, painted or not.
// Made by hand, what needs its rules: shaded.test.ts, and ../layout/page.test.ts for whole pages.

import { area, type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import { isWhite } from '../source/rulings.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type ColumnCut, readAligned, rowWords, type TextRow, textRows } from './alignment.ts';
import { type FoundTable, isTable, tableConfidence } from './grid.ts';

/** Edges this close are one, in points. */
const SAME = 1.5;
/** Cells smaller than this are bars of a chart or marks. */
const MIN_WIDTH = 12;
const MIN_HEIGHT = 7;
const MAX_CELLS = 1_500;
/** Colours of the heads and rows of one page's tables. */
const MAX_COLOURS = 12;
/** A paragraph painted inside its cell fills this much of its width. */
const NESTED_WIDTH = 0.8;
/** White space, in type sizes, at which a table without lines is over. */
const MAX_GAP = 2.2;

/** Painted cells that stand side by side and meet. */
interface PaintedRow {
  y0: number;
  y1: number;
  /** Left edges and the last right one. */
  xs: number[];
}

export function findShadedTables(page: PageContent, words: readonly Word[], vocabulary: Vocabulary): FoundTable[] {
  const cells = paintedCells(page);
  if (cells.length > MAX_CELLS) return [];
  const level = page.rulings.filter((line) => line.horizontal);
  const tables: FoundTable[] = [];
  const taken = new Set<Word>();
  for (const rows of tableRows(paintedRows(withoutNested(cells)))) {
    const free = words.filter((word) => !taken.has(word));
    const table = readShaded(rows, free, level, vocabulary);
    if (!table) continue;
    for (const word of table.words) taken.add(word);
    tables.push(table);
  }
  return tables;
}

/** What is painted as a cell or a row of them; nothing where the colours go by value, which say nothing of rows and columns (heat-map.test.ts). */
export function paintedCells(page: PageContent): Box[] {
  const painted = page.regions.filter(
    ({ box, color }) => !isWhite(color) && box.x1 - box.x0 > MIN_WIDTH && box.y1 - box.y0 >= MIN_HEIGHT,
  );
  const colours = new Set(painted.map((region) => region.color)).size;
  return colours > MAX_COLOURS ? [] : painted.map((region) => region.box);
}

/** Edges in their order, those that are nearly the same once. */
export function distinct(edges: readonly number[]): number[] {
  return [...edges].sort((a, b) => a - b).filter((at, n, all) => at - (all[n - 1] ?? -Infinity) > SAME);
}

/** Without the paragraphs that are painted once more inside their cells, as word processors do (shaded.test.ts: a paragraph painted at the top of its cell). */
function withoutNested(cells: readonly Box[]): Box[] {
  return cells.filter(
    (cell) =>
      !cells.some(
        (other) =>
          other.x0 <= cell.x0 + 0.5 &&
          other.x1 >= cell.x1 - 0.5 &&
          other.y0 <= cell.y0 + 0.5 &&
          other.y1 >= cell.y1 - 0.5 &&
          cell.x1 - cell.x0 > (other.x1 - other.x0) * NESTED_WIDTH &&
          area(cell) < area(other) * 0.999,
      ),
  );
}

function paintedRows(cells: Box[]): PaintedRow[] {
  const rows: PaintedRow[] = [];
  const sorted = [...cells].sort((a, b) => a.y0 - b.y0);
  for (let n = 0; n < sorted.length; ) {
    const first = sorted[n] as Box;
    const line: Box[] = [];
    for (; n < sorted.length && (sorted[n] as Box).y0 - first.y0 < SAME; n++) line.push(sorted[n] as Box);
    line.sort((a, b) => a.x0 - b.x0);
    let open: { cells: Box[]; x1: number } | undefined;
    const runs: { cells: Box[]; x1: number }[] = [];
    for (const cell of line) {
      if (open && Math.abs(cell.x0 - open.x1) < SAME) {
        open.cells.push(cell);
        open.x1 = cell.x1;
      } else {
        open = { cells: [cell], x1: cell.x1 };
        runs.push(open);
      }
    }
    for (const run of runs)
      rows.push({
        y0: first.y0,
        // A cell over several rows is taller than its neighbours.
        y1: Math.min(...run.cells.map((cell) => cell.y1)),
        xs: [...run.cells.map((cell) => cell.x0), run.x1],
      });
  }
  return rows;
}

/** Rows of one table: the edges of one row are among those of the others, or part them further (shaded.test.ts: rows are of one table). */
function tableRows(rows: readonly PaintedRow[]): PaintedRow[][] {
  const groups: { rows: PaintedRow[]; xs: number[] }[] = [];
  const among = (xs: readonly number[], others: readonly number[]) =>
    xs.every((x) => others.some((other) => Math.abs(other - x) < SAME));
  for (const row of rows) {
    const x0 = row.xs[0] ?? 0;
    const x1 = row.xs.at(-1) ?? 0;
    const group = groups.find(
      ({ xs }) =>
        among([x0, x1], xs) &&
        (among(row.xs, xs) ||
          among(
            xs.filter((x) => x >= x0 && x <= x1),
            row.xs,
          )),
    );
    if (!group) groups.push({ rows: [row], xs: [...row.xs] });
    else {
      group.rows.push(row);
      group.xs.push(...row.xs);
    }
  }
  return groups.map((group) => group.rows);
}

function readShaded(
  painted: readonly PaintedRow[],
  words: readonly Word[],
  rulings: readonly Ruling[],
  vocabulary: Vocabulary,
): FoundTable | undefined {
  const xs = distinct(painted.flatMap((row) => row.xs));
  const x0 = xs[0] ?? 0;
  const x1 = xs.at(-1) ?? 0;
  const top = Math.min(...painted.map((row) => row.y0));
  const bottom = Math.max(...painted.map((row) => row.y1));
  if (isBeside(painted, x0, x1, words)) return undefined;
  const inside = words.filter((word) => word.box.x0 > x0 - 2 && word.box.x1 < x1 + 2);
  const lines = textRows(inside);
  const middle = (row: TextRow) => (row.box.y0 + row.box.y1) / 2;
  const within = lines.filter((row) => middle(row) > top && middle(row) < bottom);
  const behind = within.map((row) => cellsBehind(row, painted));
  const over = within.filter((row, n) => {
    const inside = (x: number) => behind[n]?.some((cell) => x > cell.start + SAME && x < cell.end - SAME);
    return runsOver(
      row,
      xs.filter((x) => !inside(x)),
    );
  }).length;
  if (within.length === 0 || over > within.length * 0.15 || isCoarse(within, xs)) return undefined;
  const wide = rulings.filter((line) => overlap(line.start, line.end, x0, x1) > (x1 - x0) * 0.9);
  const above = reachOut(lines.filter((row) => middle(row) <= top).reverse(), xs, wide, top, -1);
  const below = reachOut(
    lines.filter((row) => middle(row) >= bottom),
    xs,
    wide,
    bottom,
    1,
  );
  const rows = [...above.reverse(), ...within, ...below];
  const box = boundingBox(rows.map((row) => row.box));
  const edges = distinct([...painted.flatMap((row) => [row.y0, row.y1]), ...wide.map((line) => line.at)]).filter(
    (y) => y > box.y0 && y < box.y1,
  );
  const separators = xs.slice(1, -1);
  const cut: ColumnCut = {
    separators,
    extents: xs.slice(0, -1).map((left, n) => ({ x0: left + 1, x1: (xs[n + 1] ?? 0) - 1 })),
  };
  const grid = readAligned(
    rows,
    {
      edges,
      rowRules: edges.length > 0,
    },
    [...behind.flat(), ...rulings.filter((line) => !wide.includes(line))],
    vocabulary,
    cut,
  )?.grid;
  if (!isTable(grid)) return undefined;
  const own = rowWords(rows);
  return {
    box: {
      x0: Math.min(box.x0, x0),
      x1: Math.max(box.x1, x1),
      y0: Math.min(box.y0, top),
      y1: Math.max(box.y1, bottom),
    },
    grid,
    words: own,
    sideways: [],
    source: 'aligned',
    ocr: tableConfidence(own),
  };
}

/** Whether the painted rows are the coloured part of a wider table: text stands close beside most of them. */
function isBeside(painted: readonly PaintedRow[], x0: number, x1: number, words: readonly Word[]): boolean {
  const beside = painted.filter((row) =>
    words.some(
      (word) =>
        overlap(word.box.y0, word.box.y1, row.y0, row.y1) > (word.box.y1 - word.box.y0) * 0.5 &&
        ((word.box.x1 > x0 - word.style.size * 1.5 && word.box.x0 < x0 - 2) ||
          (word.box.x0 < x1 + word.style.size * 1.5 && word.box.x1 > x1 + 2)),
    ),
  ).length;
  return beside > painted.length * 0.3;
}

/** The painted cells behind a line of text: each is the reach of the words in it, as a line under them would be. */
function cellsBehind(row: TextRow, painted: readonly PaintedRow[]): Ruling[] {
  const y = (row.box.y0 + row.box.y1) / 2;
  return painted
    .filter((one) => y > one.y0 && y < one.y1)
    .flatMap(({ xs }) =>
      xs.slice(1).map((end, n) => ({
        horizontal: true,
        at: row.box.y1,
        start: xs[n] ?? 0,
        end,
        thickness: 1,
        color: 0,
      })),
    );
}

/** Whether the text is cut further than the paint: bands of colour over several columns. */
function isCoarse(rows: readonly TextRow[], xs: readonly number[]): boolean {
  const cut = rows.filter((row) => {
    const middles = row.segments.map((segment) => xs.findIndex((x) => x > (segment.x0 + segment.x1) / 2));
    return new Set(middles).size < middles.length;
  }).length;
  return cut > rows.length * 0.4;
}

/** Whether a word of the line, or a gap in one of its pieces, stands on an edge between columns. */
function runsOver(row: TextRow, xs: readonly number[]): boolean {
  return row.segments.some((segment) =>
    xs.some((x) => segment.words.some((word) => word.box.x0 < x - 2 && word.box.x1 > x + 2)),
  );
}

/** The unpainted lines next to the painted rows, up to the first that stands apart or runs over the columns. */
function reachOut(
  lines: readonly TextRow[],
  xs: readonly number[],
  wide: readonly Ruling[],
  edge: number,
  way: 1 | -1,
): TextRow[] {
  const own: TextRow[] = [];
  let at = edge;
  for (const line of lines) {
    const near = way > 0 ? line.box.y0 - at : at - line.box.y1;
    const ruled = wide.some((rule) => (way > 0 ? rule.at > line.box.y1 : rule.at < line.box.y0));
    if (near > line.size * (ruled ? MAX_GAP * 2 : MAX_GAP)) break;
    if (runsOver(line, xs)) break;
    own.push(line);
    at = way > 0 ? line.box.y1 : line.box.y0;
  }
  // Words alone at the end are what follows the table.
  while (own.length > 1 && (own.at(-1) as TextRow).segments.length < 2 && way < 0) own.pop();
  return own.some((line) => line.segments.length >= 2) ? own : [];
}
