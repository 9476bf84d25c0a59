// Joins the parts of a table that a page or column break parted, and drops the header that a later part repeats.
import type { Draft, TableCell, TableDraft } from '../layout/blocks.ts';

/** Widths of the parts agree to this share. */
const SAME_WIDTH = 0.06;

/** Drafts in reading order, each broken table in the place of its first part. */
export function mergeTables(drafts: readonly Draft[]): Draft[] {
  const result: Draft[] = [];
  let open: { table: TableDraft; last: TableDraft } | undefined;
  for (const draft of drafts) {
    if (draft.kind === 'furniture') {
      result.push(draft);
      continue;
    }
    if (draft.kind !== 'table') {
      open = undefined;
      result.push(draft);
      continue;
    }
    if (open && carriesOn(open.last, draft)) {
      const repeated = headerRepeats(open.table, draft);
      open.table.grid.rows.push(...draft.grid.rows.slice(repeated));
      open.last = draft;
      continue;
    }
    const copy: TableDraft = { ...draft, grid: { ...draft.grid, rows: [...draft.grid.rows] } };
    open = { table: copy, last: draft };
    result.push(copy);
  }
  return result;
}

function carriesOn(before: TableDraft, next: TableDraft): boolean {
  if (before.grid.columns !== next.grid.columns) return false;
  const nextPage = next.pageIndex === before.pageIndex + 1;
  const nextColumn = next.pageIndex === before.pageIndex && next.box.y0 < before.box.y0 && next.box.x0 > before.box.x1;
  if (!nextPage && !nextColumn) return false;
  const width = before.box.x1 - before.box.x0;
  if (Math.abs(next.box.x1 - next.box.x0 - width) > width * SAME_WIDTH) return false;
  if (headerRepeats(before, next) > 0) return true;
  // Without the header again: the same place on the next page, and rows like those above.
  return (
    nextPage &&
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

/** Words alone over rows that hold figures. */
function looksLikeHeader(row: readonly TableCell[], above: readonly TableCell[]): boolean {
  const figures = (cells: readonly TableCell[]) => cells.slice(1).filter((cell) => /\d/.test(cell.text)).length;
  return figures(above) > 0 && figures(row) === 0;
}
