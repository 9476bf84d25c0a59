// Prints figures as columns, and marks what misses its target.
export type Cell = string | number | undefined;

const show = (cell: Cell) =>
  cell === undefined
    ? '-'
    : typeof cell === 'string'
      ? cell
      : Math.abs(cell) >= 100
        ? cell.toFixed(0)
        : cell.toFixed(1);

/** One table: a heading, columns, rows; the first column stands at the left. */
export function printTable(title: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const cells = [columns.map(String), ...rows.map((row) => row.map(show))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? '').length)));
  console.log(`\n${title}`);
  for (const row of cells)
    console.log(
      `  ${row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join('  ')}`,
    );
}

/** A ratio of ours to another's; undefined where there is none. */
export const ratio = (ours: number | undefined, theirs: number | undefined): Cell =>
  ours === undefined || theirs === undefined || theirs <= 0 ? undefined : `${(ours / theirs).toFixed(2)}x`;

export const against = (value: number | undefined, target: number | undefined): Cell =>
  value === undefined || target === undefined ? undefined : `${value <= target ? 'ok' : 'OVER'} (<= ${target})`;
