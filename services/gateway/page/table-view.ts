// Shows each table of the document by itself, to copy it as Markdown or as CSV.
import { copyButton, element } from './elements.ts';
import { LazySections } from './lazy-sections.ts';
import { type RenderContext, renderMarkdown } from './rendered-markdown.ts';
import { type TableSpan, toCsv } from './tables.ts';
import { countText } from './units.ts';

/** Rows that are shown of one table. CSV and Markdown have all of them. */
const SHOWN_ROWS = 200;
const ESTIMATED_HEIGHT = 240;

export function fillTables(
  panel: HTMLElement,
  tables: readonly TableSpan[],
  markdown: string,
  context: RenderContext,
): void {
  if (tables.length === 0) {
    panel.append(element('p', { class: 'empty' }, 'This document has no tables.'));
    return;
  }
  const host = element('div', { class: 'tables' });
  panel.append(host);
  new LazySections(host, panel, {
    length: markdown.length,
    sections: tables.map(({ start, end }, index) => ({
      height: ESTIMATED_HEIGHT,
      fill: (section) => section.append(tableCard(markdown.slice(start, end).trim(), index + 1, context)),
    })),
  });
}

/** The rows of a longer table are not read, because the browser would stop responding. */
const TABLE_LENGTH = 250_000;

function tableCard(source: string, number: number, context: RenderContext): HTMLElement {
  const isLong = source.length > TABLE_LENGTH;
  // A line of a pipe table is a row. HTML tables are never that long.
  const shown = isLong
    ? source
        .split('\n', SHOWN_ROWS + 2)
        .join('\n')
        .slice(0, TABLE_LENGTH)
    : source;
  const rendered = element('div', {}, renderMarkdown(shown, context));
  const table = isLong ? null : rendered.querySelector('table');
  const rows = table ? rowsOf(table) : [];
  const size = table
    ? `${countText(rows.length, 'row')}, ${countText(rows[0]?.length ?? 0, 'column')}`
    : 'too large for CSV';
  if (table) for (const row of [...table.rows].slice(SHOWN_ROWS)) row.remove();
  return element(
    'section',
    { class: 'table-card', 'aria-label': `Table ${number}` },
    element(
      'header',
      {},
      element('h3', {}, `Table ${number}`),
      element('span', { class: 'hint' }, size),
      copyButton('Copy Markdown', () => source),
      ...(table ? [copyButton('Copy CSV', () => toCsv(rows))] : []),
    ),
    rendered,
    ...(isLong || rows.length > SHOWN_ROWS
      ? [element('p', { class: 'hint' }, `The first ${SHOWN_ROWS} rows are shown. A copy has all rows.`)]
      : []),
  );
}

/** The text of each cell. A cell that spans several columns or rows is followed by empty cells. */
function rowsOf(table: HTMLTableElement): string[][] {
  const rows: string[][] = [...table.rows].map(() => []);
  for (const [index, row] of [...table.rows].entries()) {
    let column = 0;
    for (const cell of row.cells) {
      while (rows[index]![column] !== undefined) column++;
      for (let down = 0; down < Math.max(1, cell.rowSpan); down++)
        for (let across = 0; across < cell.colSpan; across++) {
          const target = rows[index + down];
          if (target) target[column + across] = down === 0 && across === 0 ? textOf(cell) : '';
        }
      column += cell.colSpan;
    }
  }
  return rows.map((row) => Array.from(row, (text) => text ?? ''));
}

const textOf = (cell: HTMLTableCellElement): string => (cell.textContent ?? '').trim();
