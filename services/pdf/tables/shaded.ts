// Finds tables whose cells are painted one by one: the edges at which the painted cells meet are the columns of every row, painted or not.
// Its rules are tested in shaded.test.ts, and with whole pages in ../layout/page.test.ts.

import { area, type Box, boundingBox, centreInside, overlap } from '../source/geometry.ts';
import type { PageContent, Region, Ruling, Word } from '../source/page-model.ts';
import { isWhite } from '../source/rulings.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type ColumnCut, readAligned, rowWords, type TextRow, textRows } from './alignment.ts';
import { type FoundTable, isTable, tableConfidence } from './grid.ts';
import { withoutHeadingBars } from './heading-bars.ts';

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
/** A taller area than this, by the height of what is painted on it, is a ground under several cells and no layer of one. */
const MAX_LAYER = 2;
/** White space, in type sizes, at which a table without lines is over. */
const MAX_GAP = 2.2;
/** Of the lines of a frame's only row, those that stand alone: rows of a table are not that empty. */
const LIST_SHARE = 0.6;
/** White space between the lines of one cell, in type sizes. */
const LINE_GAP = 0.6;

/** A painted cell: its reach across and its height. */
interface Span {
  start: number;
  end: number;
  y0: number;
  y1: number;
}

/** Stretches between painted edges that hold text, from which on each is taken for one row: a painted head alone says nothing of the rows under it. */
const MIN_ROW_BANDS = 4;

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
  const tables: FoundTable[] = [];
  const taken = new Set<Word>();
  const groups = tableRows(paintedRows(withoutNested(cells)));
  for (const { rows, end } of groups.flatMap((group) => partAtHeads(group, words))) {
    const free = words.filter((word) => !taken.has(word) && word.box.y0 < end);
    const table = readShaded(rows, free, page.rulings, vocabulary);
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
  if (colours > MAX_COLOURS || painted.length > MAX_CELLS * 2) return [];
  const cells = visible(painted).map((region) => region.box);
  return withoutHeadingBars(cells, page.words);
}

/** Without what is painted inside an area of its own colour, as word processors do with a cell's paragraphs and layers (shaded.test.ts: cells painted twice). */
function visible(painted: readonly Region[]): Region[] {
  return painted.filter(
    ({ box, color }, n) =>
      !painted.some(
        (other, m) =>
          m !== n &&
          other.color === color &&
          other.box.x0 < box.x0 + SAME &&
          other.box.x1 > box.x1 - SAME &&
          other.box.y0 < box.y0 + SAME &&
          other.box.y1 > box.y1 - SAME &&
          other.box.y1 - other.box.y0 < (box.y1 - box.y0) * MAX_LAYER &&
          (m < n || area(other.box) > area(box) + 1),
      ),
  );
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

/** The painted rows of tables that stand one above the other: a row that repeats the words of the first begins the next table (shaded.test.ts: a head again). */
function partAtHeads(rows: readonly PaintedRow[], words: readonly Word[]): { rows: PaintedRow[]; end: number }[] {
  const textOf = (row: PaintedRow) =>
    words
      .filter(({ box }) => centreInside(box, { x0: row.xs[0] ?? 0, x1: row.xs.at(-1) ?? 0, y0: row.y0, y1: row.y1 }))
      .map((word) => word.text)
      .join(' ');
  const [head, ...others] = rows.toSorted((a, b) => a.y0 - b.y0) as [PaintedRow, ...PaintedRow[]];
  const first = textOf(head);
  const parts = [[head]];
  for (const row of others)
    if (first !== '' && textOf(row) === first) parts.push([row]);
    else parts.at(-1)?.push(row);
  return parts.map((part, n) => ({ rows: part, end: parts[n + 1]?.[0]?.y0 ?? Infinity }));
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
  const paint = {
    x0,
    x1,
    y0: Math.min(...painted.map((row) => row.y0)),
    y1: Math.max(...painted.map((row) => row.y1)),
  };
  const frame = frameAround(paint, rulings);
  const { y0: top, y1: bottom } = frame ?? paint;
  if (isBeside(painted, x0, x1, words)) return undefined;
  const inside = words.filter((word) => word.box.x0 > x0 - 2 && word.box.x1 < x1 + 2);
  const lines = textRows(inside);
  const middle = (row: TextRow) => (row.box.y0 + row.box.y1) / 2;
  const within = lines.filter((row) => middle(row) > top && middle(row) < bottom);
  const cells = painted.flatMap((row) => cellsOf(row, within));
  const behind = within.map((row) => cellsBehind(row, cells));
  const crossed = within.filter((row, n) => {
    const inside = (x: number) => behind[n]?.some((cell) => x > cell.start + SAME && x < cell.end - SAME);
    return runsOver(
      row,
      xs.filter((x) => !inside(x)),
    );
  }).length;
  if (within.length === 0 || crossed > within.length * 0.15 || isCoarse(within, xs)) return undefined;
  const level = rulings.filter((line) => line.horizontal);
  const wide = level.filter((line) => overlap(line.start, line.end, x0, x1) > (x1 - x0) * 0.9);
  const over = lines.filter((row) => middle(row) <= top).reverse();
  const under = lines.filter((row) => middle(row) >= bottom);
  const above = frame ? [] : reachOut(over, xs, wide, top, -1);
  const below = frame ? [] : reachOut(under, xs, wide, bottom, 1);
  const rows = [...above.reverse(), ...within, ...below];
  const box = boundingBox(rows.map((row) => row.box));
  const edges = distinct([...painted.flatMap((row) => [row.y0, row.y1]), ...wide.map((line) => line.at)]).filter(
    (y) => y > box.y0 && y < box.y1,
  );
  const lists = frame !== undefined && isLists(within.filter((row) => middle(row) > paint.y1));
  const separators = xs.slice(1, -1);
  const cut: ColumnCut = {
    separators,
    extents: xs.slice(0, -1).map((left, n) => ({ x0: left + 1, x1: (xs[n + 1] ?? 0) - 1 })),
  };
  const grid = readAligned(
    rows,
    {
      edges,
      // Under a head without paint, the painted rows are every second one.
      rowRules: above.length > 0 || lists || countBands(rows, edges) >= MIN_ROW_BANDS,
    },
    [...behind.flat(), ...level.filter((line) => !wide.includes(line))],
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

function countBands(rows: readonly TextRow[], edges: readonly number[]): number {
  return new Set(rows.map(({ box }) => edges.filter((y) => y < (box.y0 + box.y1) / 2).length)).size;
}

/** The heights between which lines at both sides of the painted rows close the table in (shaded.test.ts: a frame). */
function frameAround(paint: Box, rulings: readonly Ruling[]): { y0: number; y1: number } | undefined {
  const sides = [paint.x0, paint.x1].map((x) =>
    rulings.find(
      (line) =>
        !line.horizontal &&
        Math.abs(line.at - x) < SAME * 2 &&
        line.start < paint.y0 + SAME * 2 &&
        line.end > paint.y1 - SAME * 2,
    ),
  );
  const [left, right] = sides;
  if (!left || !right) return undefined;
  return { y0: Math.max(left.start, right.start), y1: Math.min(left.end, right.end) };
}

/** Whether lines are of cells that hold lists of unlike length, one beside the other: only the first of them have text side by side. */
function isLists(lines: readonly TextRow[]): boolean {
  const first = lines.findIndex((line) => line.segments.length < 2);
  const single = lines.filter((line) => line.segments.length < 2).length;
  return single > lines.length * LIST_SHARE && first + single === lines.length;
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

/** The cells of a painted row, without the bands behind several pieces of text: such a band is a row of cells, not one (shaded.test.ts: rows painted as bands). */
function cellsOf({ y0, y1, xs }: PaintedRow, lines: readonly TextRow[]): Span[] {
  const own = lines.filter((line) => isWithin(line, y0, y1));
  const parted = (start: number, end: number) =>
    own.some((line) => line.segments.filter(({ x0, x1 }) => x1 > start + SAME && x0 < end - SAME).length > 1);
  return xs.slice(1).flatMap((end, n) => {
    const start = xs[n] ?? 0;
    return parted(start, end) ? [] : [{ start, end, y0, y1 }];
  });
}

/** The painted cells behind a line of text: each is the reach of the words in it, as a line under them would be. */
function cellsBehind(row: TextRow, cells: readonly Span[]): Ruling[] {
  return cells
    .filter(({ y0, y1 }) => isWithin(row, y0, y1))
    .map(({ start, end }) => ({ horizontal: true, at: row.box.y1, start, end, thickness: 1, color: 0 }));
}

function isWithin(row: TextRow, y0: number, y1: number): boolean {
  const y = (row.box.y0 + row.box.y1) / 2;
  return y > y0 && y < y1;
}

/** Whether the text is cut further than the paint: bands of colour over several columns. */
function isCoarse(rows: readonly TextRow[], xs: readonly number[]): boolean {
  const cut = rows.filter((row) => {
    const middles = row.segments.map((segment) => xs.findIndex((x) => x > (segment.x0 + segment.x1) / 2));
    return new Set(middles).size < middles.length;
  }).length;
  return cut > rows.length * 0.4;
}

/** Whether a line alone stands apart from the row above it, at another edge or in another type. */
function isLoose(line: TextRow, above: TextRow): boolean {
  if (line.box.y0 - above.box.y1 <= line.size * LINE_GAP) return false;
  const [one, other] = [line.segments[0]?.words[0]?.style, above.segments[0]?.words[0]?.style];
  return Math.abs(line.box.x0 - above.box.x0) > SAME || one?.size !== other?.size || one?.bold !== other?.bold;
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
  const end = own.findLastIndex((line) => line.segments.length >= 2) + 1;
  // Words alone at the end are what stands before or follows the table, but for lines that go on a cell.
  const loose = own.findIndex((line, n) => n >= Math.max(1, end) && (way < 0 || isLoose(line, own[n - 1] as TextRow)));
  if (loose > 0) own.length = loose;
  return own.some((line) => line.segments.length >= 2) ? own : [];
}
