// Joins the parts of a table that a page or column break parted, and drops the header that a later part repeats.
// Its rules are tested in continuation.test.ts, and with whole pages in broken-tables.test.ts.
import { overlap } from '../source/geometry.ts';
import type { Draft, TableCell, TableDraft } from '../text/blocks.ts';
import { joinHyphenated, type Vocabulary } from '../text/inline.ts';

/** Widths of the parts agree to this share. */
const SAME_WIDTH = 0.06;

/** Drafts in reading order, each broken table in the place of its first part. */
export function mergeTables(drafts: readonly Draft[], vocabulary: Vocabulary): Draft[] {
  const result: Draft[] = [];
  const bottom = bodyBottom(drafts);
  const running = runningFigures(drafts);
  let open: { table: TableDraft; last: TableDraft } | undefined;
  for (const one of drafts) {
    if (one.kind === 'furniture' || running.has(one)) {
      result.push(one);
      continue;
    }
    if (one.kind !== 'table') {
      open = undefined;
      result.push(one);
      continue;
    }
    const draft = open ? withEmptyColumns(one, open.table) : one;
    if (open && carriesOn(open.last, draft, bottom)) {
      const repeated = headerRepeats(open.table, draft);
      const rows = draft.grid.rows.slice(repeated);
      const last = open.table.grid.rows.at(-1) ?? [];
      if (open.table.grid.rows.length > open.table.grid.headerRows && isBrokenRow(last, rows[0] ?? []))
        open.table.grid.rows.splice(-1, 1, joinRows(last, rows.shift() ?? [], vocabulary));
      open.table.grid.rows.push(...rows);
      open.last = draft;
      continue;
    }
    const copy: TableDraft = { ...one, grid: { ...one.grid, rows: [...one.grid.rows] } };
    open = { table: copy, last: one };
    result.push(copy);
  }
  return result;
}

/** Figures that stand at one place on several pages, as a mark in the page's head does: they end no table. */
function runningFigures(drafts: readonly Draft[]): Set<Draft> {
  const figures = drafts.filter((draft) => draft.kind === 'figure');
  const places = Map.groupBy(figures, ({ box }) => [box.x0, box.y0, box.x1, box.y1].map(Math.round).join());
  return new Set([...places.values()].filter((same) => same.length > 1).flat());
}

/** Where the pages end, running feet aside. */
function bodyBottom(drafts: readonly Draft[]): number {
  return Math.max(...drafts.map((draft) => (draft.kind === 'furniture' ? -Infinity : draft.box.y1)));
}

/** The part of a table with the columns that hold text in the part above it only (continuation.test.ts). */
function withEmptyColumns(next: TableDraft, before: TableDraft): TableDraft {
  const from = drawnPlaces(next, before) ?? openPlaces(next, before);
  if (!from) return next;
  const rows = next.grid.rows.map((row) => {
    const moved = row.map((cell) => {
      const column = from[cell.column] ?? 0;
      return { ...cell, column, colspan: (from[cell.column + cell.colspan - 1] ?? column) - column + 1 };
    });
    const taken = new Set(
      moved.flatMap(({ column, colspan }) => Array.from({ length: colspan }, (_, n) => column + n)),
    );
    const empty = Array.from({ length: before.grid.columns }, (_, column) => column).flatMap((column) =>
      taken.has(column) || from.includes(column) ? [] : [{ html: '', text: '', column, colspan: 1, rowspan: 1 }],
    );
    return [...moved, ...empty].sort((a, b) => a.column - b.column);
  });
  return { ...next, grid: { ...before.grid, headerRows: next.grid.headerRows, rows } };
}

/** The columns of a drawn part among those of the part above it. */
function drawnPlaces(next: TableDraft, before: TableDraft): number[] | undefined {
  const [above, own] = [before.grid.drawn, next.grid.drawn];
  if (!above || above.length !== own?.length || own.some((told, n) => told && !above[n])) return undefined;
  const places = above.flatMap((told, n) => (told ? [n] : []));
  return own.flatMap((told, n) => (told ? [places.indexOf(n)] : []));
}

/** The columns that white space parts among the more columns of the part on the page before: each under one of them. */
function openPlaces(next: TableDraft, before: TableDraft): number[] | undefined {
  const [above, own] = [before.grid.extents, next.grid.extents];
  if (!above || !own || own.length >= above.length || next.pageIndex === before.pageIndex) return undefined;
  const under = own.map(({ x0, x1 }) =>
    above.flatMap((column, n) => (overlap(x0, x1, column.x0, column.x1) > 0 ? [n] : [])),
  );
  const places = under.flatMap((columns) => (columns.length === 1 ? columns : []));
  const inOrder = places.every((place, n) => n === 0 || place > (places[n - 1] ?? 0));
  return inOrder && places.length === own.length ? places : undefined;
}

/** Rows that a page has room for where a table carries on over its end: a row is not always broken. */
const ROOM = 2;

function carriesOn(before: TableDraft, next: TableDraft, bottom: number): boolean {
  if (before.grid.columns !== next.grid.columns) return false;
  const nextPage = next.pageIndex === before.pageIndex + 1;
  // A column is filled before the next begins: the first part begins lower, or is no shorter.
  const nextColumn =
    next.pageIndex === before.pageIndex &&
    next.box.x0 > before.box.x1 &&
    (next.box.y0 < before.box.y0 - 3 || (next.box.y0 < before.box.y0 + 3 && next.box.y1 < before.box.y1 + 3));
  if (!nextPage && !nextColumn) return false;
  if (next.begun && nextPage && before.source === 'tagged') return true;
  const pace = (next.box.y1 - next.box.y0) / next.grid.rows.length;
  // A table that ends long before its page does has no more rows.
  if (nextPage && bottom - before.box.y1 > pace * ROOM) return false;
  const width = before.box.x1 - before.box.x0;
  if (Math.abs(next.box.x1 - next.box.x0 - width) > width * SAME_WIDTH) return false;
  if (headerRepeats(before, next) > 0) return true;
  // Without the header again: the same place, which is on the next page, and rows like those above.
  return (
    Math.abs(before.box.x0 - next.box.x0) < 6 &&
    before.source === next.source &&
    !looksLikeHeader(next.grid.rows[0] ?? [], before.grid.rows.at(-1) ?? [])
  );
}

function headerRepeats(before: TableDraft, next: TableDraft): number {
  const rows = Math.max(1, before.grid.headerRows);
  for (let n = 0; n < rows; n++)
    if (rowText(before.grid.rows[n]) !== rowText(next.grid.rows[n]) || rowText(next.grid.rows[n]) === '') return 0;
  return rows < next.grid.rows.length ? rows : 0;
}

function rowText(row: readonly TableCell[] | undefined): string {
  return (row ?? []).map((cell) => cell.text.toLowerCase().replace(/\s+/g, '')).join('|');
}

/** Words alone over rows that hold figures (continuation.test.ts). */
function looksLikeHeader(row: readonly TableCell[], above: readonly TableCell[]): boolean {
  const figures = (cells: readonly TableCell[]) => cells.slice(1).filter((cell) => /\d/.test(cell.text)).length;
  return figures(above) > 0 && figures(row) === 0;
}

/** Words of a cell that a break may go through. */
const BREAKABLE_WORDS = 3;

/**
 * Whether a break went through a row: what stands in the first row after it has text above it that is not at its end, and most of it, its label
 * always, begins in the middle of a sentence (broken-tables.test.ts).
 */
function isBrokenRow(above: readonly TableCell[], below: readonly TableCell[]): boolean {
  if ([...above, ...below].some((cell) => cell.colspan > 1 || cell.rowspan > 1)) return false;
  const filled = below
    .filter((cell) => cell.text !== '')
    .map(({ text, column }) => ({ text, column, over: textAt(above, column), open: /^[\p{Ll}(]/u.test(text) }));
  return (
    filled.every(({ column, over, open }) => over !== '' && (open || (column > 0 && !/[.!?]$/.test(over)))) &&
    filled.filter(({ open }) => open).length * 2 >= filled.length &&
    filled.some(({ open, over }) => open && over.split(' ').length >= BREAKABLE_WORDS)
  );
}

function textAt(row: readonly TableCell[], column: number): string {
  return row.find((cell) => cell.column === column)?.text ?? '';
}

function joinRows(above: readonly TableCell[], below: readonly TableCell[], vocabulary: Vocabulary): TableCell[] {
  return above.map((cell) => {
    const rest = below.find((one) => one.column === cell.column);
    if (!rest?.text) return cell;
    const last = cell.text.split(' ').at(-1) ?? '';
    const joined = joinHyphenated(last, rest.text.split(' ')[0] ?? '', vocabulary);
    const glue = joined === undefined ? ' ' : '';
    const cut = joined === undefined ? 0 : last.length - joined.length;
    return {
      ...cell,
      text: cell.text.slice(0, cell.text.length - cut) + glue + rest.text,
      html: (cut === 0 ? cell.html : cell.html.replace(/[-\u00ad\u2010]((?:<\/[a-z]+>)*)$/, '$1')) + glue + rest.html,
    };
  });
}
