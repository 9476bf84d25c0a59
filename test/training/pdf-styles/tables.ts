// Draws random tables: columns of labels, numbers and texts, with spanning heads, groups, totals, empty and wrapped cells.
import type { Align, Cell, Table, TableDesign } from './model.ts';
import { type Author, NUMBER_KINDS, type NumberKind } from './text.ts';

interface Column {
  align: Align;
  head: string;
  write: () => string;
}

interface TableWish {
  design: TableDesign;
  rows: number;
  columns: number;
  /** Characters that fit into a line of the text around the table. */
  room: number;
  /** Most columns that may hold sentences. */
  texts?: number;
}

/** Words of the longest text in a cell. It wraps. */
const WRAPPED_WORDS = 14;
/** Characters of the widest column, if there is room for all words. Longer texts wrap. */
const WIDEST_COLUMN = 28;
/** Characters of the space at both sides of a cell. */
const CELL_SPACE = 3;

const cell = (text: string, align: Align, more: Partial<Cell> = {}): Cell => ({
  text,
  align,
  columns: 1,
  rows: 1,
  bold: false,
  ...more,
});

function drawColumns(author: Author, { columns, texts = 1 }: TableWish): Column[] {
  const { random } = author;
  const numberAlign = random.pick(['right', 'right', 'center', 'left'] as const);
  const longHeads = random.oneIn(4);
  const label: Column = {
    align: random.oneIn(6) ? 'center' : 'left',
    head: random.oneIn(4) ? '' : author.phrase(1, 2),
    write: () => author.phrase(1, 4),
  };
  const empties = random.pick([0, 0, 0, 12, 5]);
  const others = Array.from({ length: columns - 1 }, (_, at): Column => {
    const head = random.oneIn(7) ? author.number('year') : author.phrase(1, longHeads ? 6 : 2);
    if (at < texts && random.oneIn(2)) {
      const most = random.pick([3, 5, WRAPPED_WORDS]);
      return { align: random.oneIn(5) ? 'center' : 'left', head, write: () => author.phrase(1, most) };
    }
    const kind: NumberKind = random.pick(NUMBER_KINDS);
    const write = () =>
      empties > 0 && random.oneIn(empties) ? random.pick(['', '', '–', 'n/a']) : author.number(kind);
    return { align: numberAlign, head, write };
  });
  return [label, ...others];
}

/** One or two rows: with two, neighbours share a head above their own. */
function drawHead(author: Author, columns: readonly Column[], align: Align | undefined): Cell[][] {
  const heads = columns.map((column) => cell(column.head, align ?? column.align, { bold: true }));
  if (columns.length < 4 || !author.random.oneIn(4)) return [heads];
  const first = author.between(1, columns.length - 3);
  const spans = first + 4 <= columns.length - 1 && author.random.oneIn(2) ? [first, first + 2] : [first];
  const width = spans.length === 1 ? author.between(2, columns.length - first) : 2;
  const upper: Cell[] = [];
  const lower: Cell[] = [];
  heads.forEach((head, at) => {
    const start = spans.find((span) => at >= span && at < span + width);
    if (start === undefined) upper.push({ ...head, rows: 2 });
    else {
      if (start === at) upper.push(cell(author.phrase(1, 2), 'center', { columns: width, bold: true }));
      lower.push(head);
    }
  });
  return [upper, lower];
}

/** Shares of the width, so that no word is cut. Undefined if the room is too small. */
function widthsOf(rows: readonly (readonly Cell[])[], columns: number, room: number): number[] | undefined {
  const least = new Array<number>(columns).fill(CELL_SPACE);
  const wanted = [...least];
  for (const row of rows.filter((one) => one.length === columns))
    row.forEach(({ text }, at) => {
      const longestWord = Math.max(0, ...text.split(' ').map((word) => word.length));
      least[at] = Math.max(least[at]!, longestWord + CELL_SPACE);
      wanted[at] = Math.max(wanted[at]!, least[at]!, Math.min(WIDEST_COLUMN, text.length + CELL_SPACE));
    });
  const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width, 0);
  const spare = room - sum(least);
  if (spare < 0) return undefined;
  const given = Math.min(1, spare / Math.max(1, sum(wanted) - sum(least)));
  const widths = least.map((width, at) => width + (wanted[at]! - width) * given);
  return widths.map((width) => width / sum(widths));
}

/** Draws a table. If its words do not fit, it has fewer columns or rows without long texts. */
export function drawTable(author: Author, wish: TableWish): Table {
  const table = drawGrid(author, wish);
  if (table !== undefined) return table;
  return drawTable(author, wish.columns > 2 ? { ...wish, columns: wish.columns - 1 } : { ...wish, texts: 0 });
}

function drawGrid(author: Author, wish: TableWish): Table | undefined {
  const { random } = author;
  const columns = drawColumns(author, wish);
  const head = drawHead(author, columns, random.oneIn(3) ? 'center' : undefined);
  const bolder = random.oneIn(3);
  const body: Cell[][] = [];
  const groups = wish.rows > 5 && random.oneIn(4) ? author.between(3, 6) : 0;
  const seen = new Set<string>();
  for (let row = 0; row < wish.rows; row++) {
    if (groups > 0 && row % groups === 0)
      body.push([
        cell(author.phrase(1, 3), random.oneIn(2) ? 'left' : 'center', { columns: columns.length, bold: bolder }),
      ]);
    body.push(
      columns.map(({ align, write }, at) => {
        let text = write();
        // Each row has its own label, as rows of real tables have.
        while (at === 0 && seen.has(text)) text = author.phrase(2, 5);
        if (at === 0) seen.add(text);
        return cell(text, align);
      }),
    );
  }
  if (random.oneIn(5))
    body.push(
      columns.map(({ align, write }, at) => cell(at === 0 ? author.phrase(1, 1) : write(), align, { bold: bolder })),
    );
  const share = random.pick([1, 1, 1, 0.85, 0.7]);
  // The words of a head whose rows have spans are in the row of all columns.
  const measured = [columns.map((column) => cell(column.head, 'left')), ...body];
  const widths = widthsOf(measured, columns.length, wish.room * share);
  if (widths === undefined) return undefined;
  return {
    design: wish.design,
    rows: [...head, ...body],
    headRows: head.length,
    widths,
    share,
    vertical: random.pick(['top', 'top', 'middle', 'middle', 'bottom']),
    repeatsHead: random.oneIn(2),
  };
}

/** Boxes with a name and a value each, as a form has. */
export function drawForm(author: Author, design: TableDesign, room: number): Table {
  const pairs = room > 70 ? author.random.pick([1, 2]) : 1;
  const rows = Array.from({ length: author.between(4, 9) }, () =>
    Array.from({ length: pairs }, () => [
      cell(author.phrase(1, 3), 'left', { bold: true }),
      cell(
        author.random.oneIn(6) ? '' : author.random.pick([author.name(), author.date(), author.phrase(1, 4)]),
        'left',
      ),
    ]).flat(),
  );
  return {
    design,
    rows,
    headRows: 0,
    widths: widthsOf(rows, pairs * 2, room) ?? new Array<number>(pairs * 2).fill(0.5 / pairs),
    share: 1,
    vertical: 'top',
    repeatsHead: false,
  };
}

/** Positions of an invoice with their sum. */
export function drawInvoice(author: Author, design: TableDesign, room: number): Table {
  const price = (cents: number) => (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 });
  const heads = Array.from({ length: 5 }, (_, at) =>
    cell(author.phrase(1, 1), at < 2 ? 'left' : 'right', { bold: true }),
  );
  let sum = 0;
  const positions = Array.from({ length: author.between(2, 12) }, (_, at) => {
    const [count, cents] = [author.between(1, 20), author.between(100, 90_000)];
    sum += count * cents;
    const values = [String(at + 1), author.phrase(2, 8), String(count), price(cents), price(count * cents)];
    return values.map((value, column) => cell(value, column < 2 ? 'left' : 'right'));
  });
  const total = [
    cell(author.phrase(1, 2), 'right', { columns: 4, bold: true }),
    cell(price(sum), 'right', { bold: true }),
  ];
  const rows = author.random.oneIn(2) ? [heads, ...positions, total] : [heads, ...positions];
  return {
    design,
    rows,
    headRows: 1,
    widths: widthsOf([heads, ...positions], 5, room) ?? [0.12, 0.34, 0.18, 0.18, 0.18],
    share: 1,
    vertical: 'top',
    repeatsHead: false,
  };
}
