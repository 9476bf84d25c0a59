// Writes a table grid as HTML (html.test.ts).
import type { TableGrid } from '../text/blocks.ts';

export function tableHtml(grid: TableGrid): string {
  const row = (cells: TableGrid['rows'][number], tag: 'th' | 'td') =>
    `<tr>${cells
      .map(
        (cell) =>
          `<${tag}${cell.colspan > 1 ? ` colspan="${cell.colspan}"` : ''}${cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : ''}>${cell.html}</${tag}>`,
      )
      .join('')}</tr>`;
  const part = (tag: 'thead' | 'tbody', rows: TableGrid['rows'], cell: 'th' | 'td') =>
    rows.length === 0 ? '' : `<${tag}>${rows.map((cells) => row(cells, cell)).join('')}</${tag}>`;
  const head = part('thead', grid.rows.slice(0, grid.headerRows), 'th');
  return `<table>${head}${part('tbody', grid.rows.slice(grid.headerRows), 'td')}</table>`;
}
