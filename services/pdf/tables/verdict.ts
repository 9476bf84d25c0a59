// Decides whether lines that agree on columns are a table, text, or the two sides of a letterhead: a few measures, each a vote.
// Its rules are tested in whitespace.test.ts.

import { chunkText } from '../text/lines.ts';
import { isNumbering } from '../text/markers.ts';
import { type ColumnCut, columnAt, type TextRow } from './alignment.ts';

/** Votes for a table; together they must pass `pass`. */
const VOTE = {
  /** Share of the cells right of the first column that are figures. */
  figures: 3,
  /** A caption or a line drawn at it. */
  told: 2.2,
  /** More columns than two, and than three. */
  third: 1,
  fourth: 0.5,
  /** Each row above three, or below; at most so many. */
  row: 0.25,
  mostRows: 1,
  /** How far cells of one column begin, end or have their middle at one place, above chance. */
  aligned: 4,
  chance: 0.75,
  /** Share of the lines that are one piece over several columns. */
  across: -3,
  /** A column whose cells line up nowhere. */
  drifting: -5,
  /** Share of cells that hold text, above that of strewn labels. */
  filled: 2,
  strewn: 0.6,
  /** Share of the cells of a column that are of one kind (figure, words), above chance. */
  agreed: 2,
  anyKind: 0.7,
  /** Each word in a cell above so many. */
  word: -0.5,
  fewWords: 2.5,
  /** Share of cells that go on a sentence begun in the row above. */
  goesOn: -3,
  /** Share of cells that are a key and its value themselves, or a key before a value. */
  keyed: -1.5,
  /** Of two columns, one begins or ends before the other. */
  ragged: -0.5,
  /** The first row is in bolder type than the others. */
  head: 0.7,
  /** Two columns whose first is nothing but numbering. */
  numbering: -3,
  pass: 2.7,
} as const;

/** Rows with cells side by side that a table needs, and one that a caption or a line tells. */
const MIN_ROWS = 3;
const MIN_TOLD_ROWS = 2;
/** Edges this close are aligned, in points. */
const ALIGNED = 3.5;
/** Share of a column's cells that line up at least. */
const LEAST_ALIGNED = 0.55;
/** White space between the sides of a letterhead, in type sizes. */
const SIDES_GAP = 2;
/** More than this share of the lines of each side has several words: names, streets, dates; the values of a form are shorter. */
const SIDE_WORDED = 0.6;
/** Lines that a side of a letterhead has at most. */
const SIDE_LINES = 9;

/** Lines that say enough of whether a drawn stretch is text, and the share of them over several columns that asks. */
const TELLING_LINES = 5;
const ASKING_SHARE = 0.15;

type Verdict = 'table' | 'text' | 'sides';

interface CellView {
  text: string;
  x0: number;
  x1: number;
  bold: boolean;
  row: number;
}

/** Lines and the columns that they are cut into. */
interface Stretch {
  lines: readonly TextRow[];
  cut: ColumnCut;
}

/** Whether the lines that rules or shading mark are text: too many run over the columns that the others seem to have, and the cells do not look like a table's either. */
export function readsAsText(stretch: Stretch): boolean {
  const across = acrossShare(stretch);
  if (stretch.lines.length < TELLING_LINES || across < ASKING_SHARE) return false;
  const rows = stretch.lines.filter((line) => line.segments.length >= 2);
  const filled = filledColumns(viewColumns(stretch), rows.length);
  return filled.length < 2 || votes(filled, rows.length, true) + VOTE.across * across <= VOTE.pass;
}

/** The columns that hold more than strewn cells. */
function filledColumns(columns: readonly CellView[][], rows: number): CellView[][] {
  return columns.filter((column) => column.length >= Math.max(2, rows * 0.2));
}

export function judge(stretch: Stretch, told: boolean): Verdict {
  const rows = stretch.lines.filter((line) => line.segments.length >= 2);
  const columns = viewColumns(stretch);
  const filled = filledColumns(columns, rows.length);
  if (
    rows.length >= (told ? MIN_TOLD_ROWS : MIN_ROWS) &&
    filled.length >= 2 &&
    isNamed(filled, told && rows.length > MIN_ROWS)
  ) {
    if (votes(filled, rows.length, told) + VOTE.across * acrossShare(stretch) > VOTE.pass) return 'table';
  }
  return rows.length >= 2 && areSides(stretch, columns) ? 'sides' : 'text';
}

/** The figures along a chart's axes stand without a word. */
function isNamed(columns: readonly CellView[][], told: boolean): boolean {
  const cells = columns.flat();
  const named = (of: readonly CellView[]) => of.filter(({ text }) => /\p{L}{2}/u.test(text)).length;
  const first = Math.min(...cells.map((cell) => cell.row));
  return (
    told ||
    columns.some((column) => named(column) >= column.length / 2) ||
    named(cells.filter((cell) => cell.row === first)) >= 2
  );
}

/** Share of the lines that are one piece over several columns: the legends of a chart, lines of text. */
function acrossShare({ lines, cut }: Stretch): number {
  const across = lines.filter(
    ({ segments, box }) =>
      segments.length === 1 && columnAt(cut.separators, box.x0 + 1) !== columnAt(cut.separators, box.x1 - 1),
  );
  return across.length / lines.length;
}

/** The cells of each column, top to bottom. */
function viewColumns({ lines, cut }: Stretch): CellView[][] {
  const columns: CellView[][] = cut.extents.map(() => []);
  let row = 0;
  for (const { segments } of lines) {
    if (segments.length < 2) continue;
    for (const { words, x0, x1 } of segments) {
      const column = columnAt(cut.separators, x0 + 1);
      if (columnAt(cut.separators, x1 - 1) !== column) continue;
      columns[column]?.push({ text: chunkText(words), x0, x1, bold: words.every((word) => word.style.bold), row });
    }
    row++;
  }
  return columns;
}

function votes(columns: readonly CellView[][], rows: number, told: boolean): number {
  const cells = columns.flat();
  const beside = columns.slice(1).flat();
  const share = (of: readonly CellView[], test: (cell: CellView) => boolean) =>
    of.filter(test).length / Math.max(1, of.length);
  const words = median(columns.map((column) => mean(column.map(({ text }) => text.split(' ').length))));
  let sum = told ? VOTE.told : 0;
  if (columns.slice(1).some((column) => alignedShare(column) < LEAST_ALIGNED)) sum += VOTE.drifting;
  sum += VOTE.figures * share(beside, ({ text }) => isFigure(text));
  sum += (columns.length >= 3 ? VOTE.third : 0) + (columns.length >= 4 ? VOTE.fourth : 0);
  sum += Math.max(-VOTE.mostRows, Math.min(VOTE.mostRows, (rows - MIN_ROWS) * VOTE.row));
  sum += VOTE.aligned * (mean(columns.map(alignedShare)) - VOTE.chance);
  sum += VOTE.filled * (cells.length / (rows * columns.length) - VOTE.strewn);
  sum += VOTE.agreed * (mean(columns.map(agreedShare)) - VOTE.anyKind);
  sum += VOTE.word * Math.max(0, words - VOTE.fewWords);
  sum += VOTE.goesOn * Math.min(...columns.map(goingOnShare));
  sum += isHead(cells) ? VOTE.head : 0;
  if (columns.length > 2) return sum;
  const [left, right] = columns as [CellView[], CellView[]];
  sum += VOTE.keyed * Math.max(share(right, isKeyed), share(left, isKey));
  sum += left[0]?.row !== right[0]?.row || left.at(-1)?.row !== right.at(-1)?.row ? VOTE.ragged : 0;
  return sum + (share(left, isNumber) > 0.5 ? VOTE.numbering : 0);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / Math.max(1, numbers.length);
}

/** Figures, with their signs and units, or a sign for none. */
function isFigure(text: string): boolean {
  return /^[^\p{L}]*\d[^\p{L}]*\p{L}{0,3}\.?$/u.test(text) || /^(?:[-–—.…]+|n\/?a\.?)$/iu.test(text);
}

const isNumber = ({ text }: CellView) => !/ /.test(text) && isNumbering(text);
const isKey = ({ text }: CellView) => /:$/.test(text);
const isKeyed = ({ text }: CellView) => /^\p{L}[^:]{0,24}:\s/u.test(text);

/** Share of a column's cells that have one edge, or their middle, at one place. */
function alignedShare(column: readonly CellView[]): number {
  const share = (place: (cell: CellView) => number) => {
    const values = column.map(place).sort((a, b) => a - b);
    let best = 0;
    for (let i = 0, j = 0; i < values.length; i++) {
      while ((values[i] ?? 0) - (values[j] ?? 0) > ALIGNED) j++;
      best = Math.max(best, i - j + 1);
    }
    return best / Math.max(1, values.length);
  };
  return Math.max(
    share((cell) => cell.x0),
    share((cell) => cell.x1),
    share((cell) => (cell.x0 + cell.x1) / 2),
  );
}

/** Share of a column's cells, its head aside, that are of the kind of most. */
function agreedShare(column: readonly CellView[]): number {
  const body = column.length > 2 ? column.slice(1) : column;
  const figures = body.filter(({ text }) => isFigure(text)).length / Math.max(1, body.length);
  return Math.max(figures, 1 - figures);
}

/** Share of a column's cells that begin small under a cell that did not end its sentence. */
function goingOnShare(column: readonly CellView[]): number {
  const goOn = column.filter(({ text }, n) => {
    const above = column[n - 1]?.text ?? '';
    return n > 0 && /^\p{Ll}/u.test(text) && / /.test(above) && !/[.!?]$/.test(above);
  }).length;
  return goOn / Math.max(1, column.length);
}

function isHead(cells: readonly CellView[]): boolean {
  const first = Math.min(...cells.map((cell) => cell.row));
  const bold = (of: readonly CellView[]) => of.filter((cell) => cell.bold).length / Math.max(1, of.length);
  return bold(cells.filter((cell) => cell.row === first)) > bold(cells.filter((cell) => cell.row > first)) + 0.5;
}

/** Whether two blocks of lines stand side by side, far apart, each tight and at one edge: sender and address, address and date. */
function areSides({ lines, cut }: Stretch, columns: readonly CellView[][]): boolean {
  const [left, right] = columns;
  if (cut.separators.length !== 1 || !left || !right || lines.length > SIDE_LINES) return false;
  const size = lines[0]?.size ?? 0;
  const gap = Math.min(...right.map((cell) => cell.x0)) - Math.max(...left.map((cell) => cell.x1));
  if (gap < size * SIDES_GAP || left.some((cell) => isKey(cell) || isNumber(cell))) return false;
  // A label stands beside each value of a form; the sides of a letterhead are as long as they happen to be, or one holds keys with their values.
  const paired = lines.every((line) => line.segments.length >= 2);
  if (paired && right.filter(isKeyed).length < right.length / 2) return false;
  const worded = (side: readonly CellView[]) => side.filter(({ text }) => / /.test(text)).length;
  return [left, right].every((side) => alignedShare(side) === 1 && worded(side) > side.length * SIDE_WORDED);
}
