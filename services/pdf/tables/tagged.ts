// Reads tables that the tags of the file name, where the cells make a grid on the page: writers also tag layouts as tables, and leave spans out.
// Pages made by hand that need its rules: tagged.test.ts.
import { type Box, boundingBox, overlap } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import { isCell, isGroup, nearest, type StructureElement, textBlockAround } from '../source/structure.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type Chunk, groupRows } from '../text/lines.ts';
import { buildGrid, type FoundTable, isTable, type RawCell, tableConfidence } from './grid.ts';

/** Words of one cell on average, at most: a cell of a layout holds paragraphs. */
const MOST_WORDS = 40;
/** Share of the cells that must have words. */
const LEAST_FILLED = 0.25;
/** Share of the cells that may stand where their row and column do not. */
const STRAYS = 0.05;
/** How far boxes of words of neighbouring rows and columns may overlap, in type sizes: boxes are higher and wider than the letters. */
const SLACK = 0.35;

interface TaggedCell extends RawCell {
  head: boolean;
  /** Of its words; undefined for an empty cell. */
  box: Box | undefined;
}

/** @param sideways turned words (sideways column heads) */
export function findTaggedTables(
  chunks: readonly Chunk[],
  sideways: readonly Word[],
  vocabulary: Vocabulary,
): FoundTable[] {
  const upright = chunks.flatMap((chunk) => chunk.words);
  const turned = new Set(sideways);
  const byTable = Map.groupBy([...upright, ...sideways], ({ element }) => nearest(element, isTableElement));
  const tables: FoundTable[] = [];
  for (const [element, words] of byTable) {
    if (!element || holdsTable(element)) continue;
    const cells = readCells(element, words);
    if (!cells) continue;
    const rows = 1 + Math.max(...cells.map((cell) => cell.row + cell.rowspan - 1));
    const columns = 1 + Math.max(...cells.map((cell) => cell.column + cell.colspan - 1));
    const grid = buildGrid(cells, rows, columns, vocabulary, 'drawn', countHeadRows(cells));
    const alone = grid.rows.length === 1 && grid.columns > 1 && goesOn(element);
    if (!alone && !isTable(grid)) continue;
    const own = cells.flatMap((cell) => cell.words);
    const inside = own.filter((word) => !turned.has(word));
    tables.push({
      box: boundingBox(own.map((word) => word.box)),
      grid,
      words: inside,
      sideways: own.filter((word) => turned.has(word)),
      source: 'tagged',
      begun: isBegun(element),
      ocr: tableConfidence(inside),
    });
  }
  return tables;
}

const isTableElement = ({ type }: StructureElement) => type === 'Table';

function holdsTable(element: StructureElement): boolean {
  return element.children.some((child) => child && (isTableElement(child) || holdsTable(child)));
}

/** Whether rows of a table stand on other pages: of a row that is alone on its page, the others tell that it is one. */
function goesOn(element: StructureElement): boolean {
  return element.children.some((child) => !child || (child.type !== 'TR' && goesOn(child)));
}

/** Whether the first row of a table stands on another page, since nothing of it stands on this one. */
function isBegun({ children: [first] }: StructureElement): boolean {
  return !first || (first.type !== 'TR' && first.type !== 'Caption' && isBegun(first));
}

/** The cells of a table with their places in the grid, or undefined where they make none on the page. */
function readCells(table: StructureElement, words: readonly Word[]): TaggedCell[] | undefined {
  const byCell = Map.groupBy(words, ({ element }) => nearest(element, isCell));
  const rows = rowsOf(table).map((row) => slotsOf(row).map((slot) => makeCell(slot, slot && byCell.get(slot))));
  const filled = rows.flat().filter((cell) => cell.box);
  if (filled.length < 2 || words.length > filled.length * MOST_WORDS) return undefined;
  if (filled.length < rows.flat().length * LEAST_FILLED) return undefined;
  const size = Math.max(...words.map((word) => word.style.size));
  if (!rowsFollow(rows, size)) return undefined;
  const placed = placeBySpans(rows);
  return columnsFollow(placed, size) ? placed : placeByBoxes(rows, size);
}

function rowsOf(element: StructureElement): StructureElement[] {
  return element.children.flatMap((child) => (!child ? [] : child.type === 'TR' ? [child] : rowsOf(child)));
}

/** The cells of a row; undefined for one in which nothing stands. */
function slotsOf(row: StructureElement): (StructureElement | undefined)[] {
  return row.children.flatMap((child) => (!child || isCell(child) ? [child] : slotsOf(child)));
}

function makeCell(slot: StructureElement | undefined, words: Word[] = []): TaggedCell {
  return {
    row: 0,
    column: 0,
    rowspan: slot?.rowspan ?? 1,
    colspan: slot?.colspan ?? 1,
    words,
    head: slot?.type === 'TH',
    box: words.length > 0 ? boundingBox(words.map((word) => word.box)) : undefined,
  };
}

/** Whether each row stands below the one before it. */
function rowsFollow(rows: readonly TaggedCell[][], size: number): boolean {
  let floor = -Infinity;
  let strays = 0;
  let count = 0;
  for (const row of rows) {
    const flat = row.filter((cell) => cell.rowspan === 1).flatMap((cell) => cell.box ?? []);
    if (flat.length === 0) continue;
    count += flat.length;
    strays += flat.filter((box) => box.y0 < floor - size * SLACK).length;
    floor = Math.max(floor, ...flat.map((box) => box.y1));
  }
  return strays <= count * STRAYS;
}

/** Places cells as HTML does: each in the first free column of its row. */
function placeBySpans(rows: readonly TaggedCell[][]): TaggedCell[] {
  const taken = rows.map(() => new Set<number>());
  return rows.flatMap((cells, row) => {
    let column = 0;
    return cells.map((cell) => {
      while (taken[row]?.has(column)) column++;
      const rowspan = Math.min(cell.rowspan, rows.length - row);
      const placed = { ...cell, row, column, rowspan };
      for (let r = row; r < row + rowspan; r++) for (let c = column; c < column + cell.colspan; c++) taken[r]?.add(c);
      column += cell.colspan;
      return placed;
    });
  });
}

/** Whether the cells of each column stand right of those of the column before it. */
function columnsFollow(cells: readonly TaggedCell[], size: number): boolean {
  const narrow = cells.filter((cell) => cell.colspan === 1 && cell.box);
  const byColumn = Map.groupBy(narrow, (cell) => cell.column);
  const columns = [...byColumn].sort(([a], [b]) => a - b).map(([, own]) => own);
  let strays = 0;
  for (const [n, right] of columns.entries()) {
    const left = columns[n - 1];
    if (!left) continue;
    // Most cells tell where the column ends: one that juts out is the stray.
    const end = edgeOf(left, (box) => box.x1, 1 - STRAYS);
    const start = edgeOf(right, (box) => box.x0, STRAYS);
    if (end <= start + size * SLACK) continue;
    strays += right.filter((cell) => (cell.box as Box).x0 < end - size * SLACK).length;
  }
  const rows = Map.groupBy(cells, (cell) => cell.row);
  for (const row of rows.values()) {
    const sorted = row.filter((cell) => cell.box).sort((a, b) => a.column - b.column);
    strays += sorted.filter(
      (cell, n) => n > 0 && (cell.box as Box).x0 < (sorted[n - 1]?.box?.x1 ?? 0) - size * SLACK,
    ).length;
  }
  return strays <= narrow.length * STRAYS;
}

function edgeOf(cells: readonly TaggedCell[], edge: (box: Box) => number, share: number): number {
  const edges = cells.map((cell) => edge(cell.box as Box)).sort((a, b) => a - b);
  return edges[Math.round((edges.length - 1) * share)] ?? 0;
}

/** Places cells by the columns that the fullest rows show: spans were left out, or cells of a row are not in their order. */
function placeByBoxes(rows: readonly TaggedCell[][], size: number): TaggedCell[] | undefined {
  const count = Math.max(...rows.map((row) => row.filter((cell) => cell.box).length));
  const full = rows.filter((row) => row.filter((cell) => cell.box).length === count);
  if (count < 2 || full.length < 2) return undefined;
  const bands: { x0: number; x1: number }[] = [];
  for (const row of full)
    for (const [n, box] of row
      .flatMap((cell) => cell.box ?? [])
      .sort((a, b) => a.x0 - b.x0)
      .entries()) {
      const band = bands[n];
      if (!band) bands.push({ x0: box.x0, x1: box.x1 });
      else {
        band.x0 = Math.min(band.x0, box.x0);
        band.x1 = Math.max(band.x1, box.x1);
      }
    }
  if (bands.some((band, n) => n > 0 && band.x0 < (bands[n - 1]?.x1 ?? 0) - size * SLACK)) return undefined;
  return rows.flatMap((cells, row) =>
    cells.flatMap((cell) => {
      const { box } = cell;
      if (!box) return [];
      const over = bands.flatMap((band, n) => (overlap(band.x0, band.x1, box.x0, box.x1) > 0 ? [n] : []));
      const column =
        over[0] ??
        Math.max(
          0,
          bands.findLastIndex((band) => band.x0 <= box.x0),
        );
      const colspan = (over.at(-1) ?? column) - column + 1;
      return [{ ...cell, row, column, colspan, rowspan: Math.min(cell.rowspan, rows.length - row) }];
    }),
  );
}

/** The first rows whose cells are heads, all of them; undefined where no row says so. */
function countHeadRows(cells: readonly TaggedCell[]): number | undefined {
  const rows = [...Map.groupBy(cells, (cell) => cell.row)].sort(([a], [b]) => a - b).map(([, row]) => row);
  const first = rows.findIndex((row) => row.some((cell) => cell.box && !cell.head));
  return first === 0 || !cells.some((cell) => cell.head) ? undefined : first < 0 ? 1 : first;
}

/** Share of the letters of a table that tell what it is. */
const MOST_LETTERS = 0.8;
/** Width of a gap inside a line, in type sizes, at which a tabulator stood. */
const TAB_GAP = 1.5;

/**
 * Whether the tags call what looks like a table text: paragraphs, and blocks of several lines. Rows that are one paragraph each, with
 * tabulators, stay a table, and so do lines of which the tags say nothing.
 */
export function isTaggedAsText(table: FoundTable): boolean {
  if (table.source === 'tagged') return false;
  let letters = 0;
  let text = 0;
  for (const [block, words] of Map.groupBy(table.words, ({ element, tag }) =>
    tag ? textBlockAround(element) : undefined,
  )) {
    const count = words.reduce((sum, word) => sum + word.text.length, 0);
    letters += count;
    if (!block) continue;
    const box = boundingBox(words.map((word) => word.box));
    const isWide = box.x1 - box.x0 > (table.box.x1 - table.box.x0) / 2;
    const lines = groupRows(words);
    const isCellLike = lines.length === 1 && (isGroup(block) || lines.some(isTabbed));
    if (table.source === 'aligned' ? !isCellLike : isWide && lines.length > 1) text += count;
  }
  return text > letters * MOST_LETTERS;
}

function isTabbed(line: readonly Word[]): boolean {
  return line.some((word, n) => n > 0 && word.box.x0 - (line[n - 1]?.box.x1 ?? 0) > word.style.size * TAB_GAP);
}
