// Prints results as a table and marks those that miss their target.
export type Cell = string | number | undefined;

export const MiB = 1024 * 1024;

const formatCell = (cell: Cell) =>
  cell === undefined
    ? '-'
    : typeof cell === 'string'
      ? cell
      : Math.abs(cell) >= 100
        ? cell.toFixed(0)
        : cell.toFixed(1);

/** Prints a title, column headings and rows. The first column is aligned to the left, the others to the right. */
export function printTable(title: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const cells = [columns.map(String), ...rows.map((row) => row.map(formatCell))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? '').length)));
  console.log(`\n${title}`);
  for (const row of cells)
    console.log(
      `  ${row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join('  ')}`,
    );
}

/** The ratio of two costs, or undefined if one is missing. */
export const ratioCell = (cost: number | undefined, other: number | undefined): Cell =>
  cost === undefined || other === undefined || other <= 0 ? undefined : `${(cost / other).toFixed(2)}x`;

export const targetCell = (value: number | undefined, target: number | undefined): Cell =>
  value === undefined || target === undefined ? undefined : `${value <= target ? 'ok' : 'OVER'} (<= ${target})`;
