// Writes a table grid as HTML.
import type { TableGrid } from '../layout/blocks.ts';

export function tableHtml(grid: TableGrid): string {
  const row = (cells: TableGrid['rows'][number], tag: 'th' | 'td') =>
    `<tr>${cells
      .map(
        (cell) =>
          `<${tag}${cell.colspan > 1 ? ` colspan="${cell.colspan}"` : ''}${cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : ''}>${cell.html}</${tag}>`,
      )
      .join('')}</tr>`;
  const head = grid.rows.slice(0, grid.headerRows);
  const body = grid.rows.slice(grid.headerRows);
  const thead = head.length === 0 ? '' : `<thead>${head.map((cells) => row(cells, 'th')).join('')}</thead>`;
  const tbody = body.length === 0 ? '' : `<tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody>`;
  return `<table>${thead}${tbody}</table>`;
}
