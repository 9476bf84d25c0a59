// Tells which lines of text make up each row of a table, where no line is drawn between the rows: the cheapest reading under one vertical alignment.
// Its rules are tested in rows.test.ts, and with whole pages in ../layout/page.test.ts.
import type { Box } from '../source/geometry.ts';
import type { Word } from '../source/page-model.ts';
import { ALIGNMENTS, OpenRow, type Reach, reachOf } from './open-row.ts';

/** Words of one line in one column, or over several. */
interface LineCell {
  words: Word[];
  from: number;
  to: number;
}

/** A line of text over the whole table, cut by columns. */
export interface CellLine {
  cells: readonly LineCell[];
  box: Box;
  size: number;
}

/** Lines that one row may hold. */
const MAX_ROW_LINES = 40;
const MAX_HEAD_LINES = 6;

/** What speaks against a reading, in one currency; what a wrapped cell looks like speaks for it. */
const COST = {
  /** Two figures, one over the other, in one cell. */
  stackedFigures: 2,
  /** A cell whose second line begins with a word that had room on the first. */
  hadRoom: 1,
  /** A second line in a column of which nothing tells that it wraps. */
  unprovenWrap: 0.9,
  /** A figure under words, in a column of figures. */
  figureUnderWords: 0.9,
  /** A second line that carries on: a small letter, or the first ends open. */
  carriesOn: -0.6,
  /** The type changes between the lines of a cell. */
  typeChange: 0.8,
  /** Cells over different columns in one row. */
  otherSpan: 1.5,
  /** White space between the lines of one cell. */
  hole: 2,
  /** More space between two lines of one row than the lines of cells have, for each type size. */
  wideGap: 4,
  /** A row's end where the lines are as tight as those of one cell. */
  tightEnd: 0.6,
  /** The same where most such lines go on a cell, and wider space stands between rows. */
  spacedEnd: 4.5,
} as const;

interface Sheet {
  lines: readonly CellLine[];
  /** Of the cells of each line. */
  reaches: Reach[][];
  columns: number;
  /** What it costs to have a cell of line `n` go on one of a line above, by line `n`. */
  joins: { above: number; cost: number }[][];
  /** Distance of every line from the one before it. */
  pitches: number[];
  tightest: number;
  /** Some lines stand further apart than others. */
  uneven: boolean;
  /** The lines of cells are tight, and wider space parts the rows. */
  spaced: boolean;
}

/** What the cells of one column say of how it wraps. */
interface ColumnSheet {
  /** Width of its widest line: what fits in that had room. */
  widest: number;
  /** Width up to the next column's text: what does not fit in that had no room. */
  space: number;
  /** Some line has more than one word. */
  wordy: boolean;
  /** Most of its cells are figures. */
  figures: boolean;
  wraps: boolean;
}

/**
 * Groups of consecutive lines, one a row.
 * @param lines top to bottom
 * @param bands number of the stretch between drawn lines that each line stands in: no row goes over such a line
 */
export function groupLinesIntoRows(lines: readonly CellLine[], columns: number, bands: readonly number[]): number[][] {
  const sheet = makeSheet(lines, columns, bands);
  const groups: number[][] = [];
  let start = 0;
  for (let end = 1; end <= lines.length; end++) {
    if (bands[end] === bands[start]) continue;
    groups.push(...cheapest(sheet, start, end));
    start = end;
  }
  return groups;
}

/** Whether lines that stand between two drawn lines are rows of their own: figures over figures in several of them. */
export function holdsStackedRows(lines: readonly CellLine[], bands: readonly number[]): boolean {
  const of = new Map<number, number[]>();
  lines.forEach((_, n) => {
    const band = bands[n] ?? 0;
    const known = of.get(band);
    if (known) known.push(n);
    else of.set(band, [n]);
  });
  let several = 0;
  let stacked = 0;
  for (const band of of.values()) {
    if (band.length < 2) continue;
    several++;
    let figures = 0;
    for (let n = 1; n < band.length; n++) {
      const above = lines[band[n - 1] ?? 0]?.cells ?? [];
      for (const cell of lines[band[n] ?? 0]?.cells ?? [])
        if (isFigure(cell) && above.some((one) => sameColumns(one, cell) && isFigure(one))) figures++;
    }
    if (figures >= band.length - 1) stacked++;
  }
  return stacked > several * 0.4;
}

function makeSheet(lines: readonly CellLine[], columns: number, bands: readonly number[]): Sheet {
  const pitches = lines.map((line, n) => line.box.y1 - (lines[n - 1]?.box.y1 ?? 0));
  const inner = pitches.filter((pitch, n) => bands[n] === bands[n - 1] && pitch > (lines[n]?.size ?? 10) * 0.8);
  const size = Math.max(...lines.map((line) => line.size));
  const least = Math.min(...inner);
  const pairs = cellPairs(lines, columns, bands);
  const sheets = columnSheets(lines, columns, pairs.filter(isStacked));
  const joins: Sheet['joins'] = lines.map(() => []);
  for (const pair of pairs) joins[pair.line]?.push({ above: pair.above, cost: joinCost(pair, sheets) });
  // Lines of one text are not further apart than this.
  const tightest = Math.min(least, size * 1.5);
  const carried = new Set(
    pairs
      .filter(isStacked)
      .filter((pair) => isOpen(pair) && !hadRoom(pair, (sheets[pair.cell.from] as ColumnSheet).widest))
      .map((pair) => pair.line),
  );
  return {
    lines,
    reaches: lines.map((line) => line.cells.map(reachOf)),
    columns,
    joins,
    pitches,
    tightest,
    uneven: inner.some((pitch) => pitch > least * 1.15 + 0.3),
    spaced: partsRows(pitches, tightest, carried),
  };
}

/** Lines of each kind, tight and apart, that tell what white space means, and the share of the tight ones that must go on a cell. */
const TOLD_LINES = 3;
const TOLD_SHARE = 0.5;

/** Whether white space parts the rows of a table: of its tight lines most go on a cell, and lines further apart do not. */
function partsRows(pitches: readonly number[], tightest: number, carried: ReadonlySet<number>): boolean {
  const lines = pitches.map((_, n) => n).slice(1);
  const tight = lines.filter((n) => isTight(pitches[n] ?? 0, tightest));
  const apart = lines.filter((n) => (pitches[n] ?? 0) > tightest * 1.15 + 0.3);
  const share = (of: readonly number[]) => of.filter((n) => carried.has(n)).length / of.length;
  return (
    tight.length >= TOLD_LINES &&
    apart.length >= TOLD_LINES &&
    share(tight) >= TOLD_SHARE &&
    share(apart) < 1 - TOLD_SHARE
  );
}

function isTight(pitch: number, tightest: number): boolean {
  return pitch <= tightest * 1.1 + 0.3;
}

/** A cell's piece on one line and the next line above that has text in its columns. */
interface CellPair {
  line: number;
  cell: LineCell;
  above: number;
  /** What stands there, where it is one piece in the same columns. */
  over: LineCell | undefined;
  /** In the table's head, whose cells wrap where those below need not. */
  head: boolean;
}

/** A cell's piece and the one that it may go on. */
type Stacked = Pick<CellPair, 'line' | 'cell' | 'above'> & { over: LineCell };

function cellPairs(lines: readonly CellLine[], columns: number, bands: readonly number[]): CellPair[] {
  const last = new Array<number>(columns).fill(-1);
  const heads = headLines(lines, bands);
  return lines.flatMap((line, n) => {
    const found = line.cells.flatMap((cell): CellPair[] => {
      const above = Math.max(...last.slice(cell.from, cell.to + 1));
      if (bands[above] !== bands[n]) return [];
      const near = lines[above]?.cells.filter((one) => one.from <= cell.to && one.to >= cell.from) ?? [];
      const over = near.length === 1 ? near.find((one) => sameColumns(one, cell)) : undefined;
      return [{ line: n, cell, above, over, head: n < heads }];
    });
    for (const cell of line.cells) for (let c = cell.from; c <= cell.to; c++) last[c] = n;
    return found;
  });
}

/** How many lines the head has: those above the first drawn line, or above the first line of figures. */
function headLines(lines: readonly CellLine[], bands: readonly number[]): number {
  const drawn = bands.findIndex((band) => band !== bands[0]);
  const figures = lines.findIndex((line) => line.cells.some(isFigure));
  const count = drawn > 0 ? drawn : figures;
  return count <= MAX_HEAD_LINES ? count : 0;
}

const isStacked = (pair: CellPair): pair is CellPair & Stacked => pair.over !== undefined;

function columnSheets(lines: readonly CellLine[], columns: number, pairs: readonly Stacked[]): ColumnSheet[] {
  const cells = Array.from({ length: columns }, (): LineCell[] => []);
  for (const line of lines) for (const cell of line.cells) if (cell.from === cell.to) cells[cell.from]?.push(cell);
  const left = cells.map((own) => Math.min(...own.map((cell) => cell.words[0]?.box.x0 ?? Infinity)));
  const sheets = cells.map((own, c): ColumnSheet => {
    const widest = own.reduce((most, cell) => Math.max(most, width(cell)), 0);
    const size = own[0]?.words[0]?.style.size ?? 10;
    const figures = own.filter(isFigure).length;
    return {
      widest,
      space: Math.max(widest, (left[c + 1] ?? 0) - size * 0.4 - (left[c] ?? 0)),
      wordy: own.some((cell) => cell.words.length > 1),
      figures: figures > own.length * 0.5,
      wraps: false,
    };
  });
  sheets.forEach((sheet, c) => {
    const own = pairs.filter((pair) => pair.cell.from === c);
    const carried = own.filter((pair) => isOpen(pair) && !hadRoom(pair, sheet.widest));
    sheet.wraps = carried.length > 0 || wrapsEvenly(lines, own, sheet);
  });
  return sheets;
}

/** Lines with one cell alone, as a label, none of which would have had room on the line above it, or none on the one below: no headings of groups. */
function wrapsEvenly(lines: readonly CellLine[], pairs: readonly Stacked[], sheet: ColumnSheet): boolean {
  const alone = (n: number) => lines[n]?.cells.length === 1;
  const above = pairs.filter((pair) => alone(pair.line));
  const below = pairs.filter((pair) => alone(pair.above));
  return [above, below].some((side) => side.length >= 3 && side.every((pair) => !hadRoom(pair, sheet.space)));
}

/** Whether the first word of a line had room on the line above it. */
function hadRoom({ cell, over }: Stacked, room: number): boolean {
  const first = cell.words[0] as Word;
  return width(over) + first.style.size * 0.22 + (first.box.x1 - first.box.x0) <= room - 0.5;
}

/** Whether a line reads on from the one above it. */
function isOpen({ cell, over }: Stacked): boolean {
  const last = over.words.at(-1)?.text ?? '';
  return (
    /^[\p{Ll}(]/u.test(cell.words[0]?.text ?? '') ||
    /[,;(&]$/.test(last) ||
    /^(?:and|or|of|the|in|for|to|by|with)$/.test(last)
  );
}

/** What it costs to take a line of a column for the next line of the cell above it. */
function joinCost(pair: CellPair, sheets: readonly ColumnSheet[]): number {
  if (!isStacked(pair)) return COST.otherSpan;
  const { cell, over } = pair;
  const first = cell.words[0] as Word;
  const last = over.words.at(-1) as Word;
  const figure = isFigure(cell);
  const overFigure = isFigure(over);
  const broken = /[-\u00ad\u2010–/]$/.test(last.text) && last.text.length > 1;
  if (figure && overFigure && !broken) return COST.stackedFigures;
  const sheet = sheets[cell.from] as ColumnSheet;
  let cost = 0;
  if (first.style.bold !== last.style.bold || Math.abs(first.style.size - last.style.size) > 0.6)
    cost += COST.typeChange;
  if (broken) return cost + COST.carriesOn;
  if (figure && sheet.figures) cost += COST.figureUnderWords;
  if (hadRoom(pair, sheet.widest)) return cost + COST.hadRoom;
  if (isOpen(pair)) return cost + (sheet.wordy ? COST.carriesOn : 0);
  if (pair.head) return cost;
  return cost + (sheet.wordy && !sheet.wraps ? COST.unprovenWrap : 0);
}

/** The grouping of lines `start` to `end` (exclusive) that costs least under the alignment that costs least. */
function cheapest(sheet: Sheet, start: number, end: number): number[][] {
  const count = end - start;
  const readings = ALIGNMENTS.map((alignment) => {
    const costs = new Float64Array(count + 1).fill(Infinity);
    costs[0] = 0;
    return { alignment, costs, from: new Int32Array(count + 1) };
  });
  const row = new OpenRow(sheet.columns);
  for (let b = 1; b <= count; b++) {
    row.clear();
    let inside = 0;
    const ending = endCost(sheet, start + b, end);
    // The row is lines a to b, read upwards so that its pairs and its cells add up.
    for (let a = b; a > Math.max(0, b - MAX_ROW_LINES); a--) {
      row.add(sheet.lines[start + a - 1]?.size ?? 0, sheet.reaches[start + a - 1] ?? []);
      if (a < b) inside += pairCost(sheet, start + a - 1, start + b - 1);
      const missing = row.missingCost();
      for (const { alignment, costs, from } of readings) {
        const total = (costs[a - 1] ?? Infinity) + inside + (row.misalignedCost(alignment) + missing) + ending;
        if (total < (costs[b] ?? Infinity)) {
          costs[b] = total;
          from[b] = a - 1;
        }
      }
    }
  }
  const costOf = ({ costs }: (typeof readings)[number]) => costs[count] ?? Infinity;
  const best = readings.reduce((least, reading) => (costOf(reading) < costOf(least) - 1e-6 ? reading : least));
  const groups: number[][] = [];
  for (let b = count; b > 0; ) {
    const above = best.from[b] ?? 0;
    groups.unshift(Array.from({ length: b - above }, (_, n) => start + above + n));
    b = above;
  }
  return groups;
}

/** What line `a` adds to a row whose other lines are `a + 1` to `b`: its pair with the next, and the cells that go on from it. */
function pairCost(sheet: Sheet, a: number, b: number): number {
  const pitch = sheet.pitches[a + 1] ?? 0;
  const size = sheet.lines[a + 1]?.size ?? 10;
  const excess = pitch - sheet.tightest * 1.15 - 0.3;
  let cost = excess > 0 ? (excess / size) * COST.wideGap : 0;
  for (let n = a + 1; n <= b; n++)
    for (const join of sheet.joins[n] ?? []) {
      if (join.above !== a) continue;
      const apart = (sheet.lines[n]?.box.y1 ?? 0) - (sheet.lines[a]?.box.y1 ?? 0);
      cost += join.cost + (apart > Math.max(sheet.tightest * 1.6, size * 1.2) ? COST.hole : 0);
    }
  return cost;
}

/** What it costs that a row ends above line `next`. */
function endCost(sheet: Sheet, next: number, end: number): number {
  if (next >= end) return 0;
  const line = sheet.lines[next] as CellLine;
  const pitch = sheet.pitches[next] ?? Infinity;
  // Lines that overlap stand in one row: cells that are centred against each other.
  if (pitch < line.size * 0.7) return 6;
  let cost = sheet.uneven && isTight(pitch, sheet.tightest) ? (sheet.spaced ? COST.spacedEnd : COST.tightEnd) : 0;
  for (const join of sheet.joins[next] ?? []) cost += Math.max(0, -join.cost);
  return cost;
}

function sameColumns(one: LineCell, other: LineCell): boolean {
  return one.from === other.from && one.to === other.to;
}

function width(cell: LineCell): number {
  return (cell.words.at(-1)?.box.x1 ?? 0) - (cell.words[0]?.box.x0 ?? 0);
}

/** Figures, with their signs and units, or a dash for none. */
function isFigure(cell: LineCell): boolean {
  const text = cell.words.map((word) => word.text).join('');
  return /^[^\p{L}]*\d[^\p{L}]*$/u.test(text) || /^[-–—.…]+$/u.test(text);
}
