// Chooses how a workbook is written: as semantic HTML, or straight to Markdown where a tree of its cells would cost more than it gives.
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { type Sheet, sheetHtml, sheetMarkdown } from './sheet.ts';

/** Cells past which a workbook goes straight to Markdown, unless HTML is asked for too. */
const STREAMED_CELLS = 20_000;

/** Semantic HTML of a workbook's sheets, and for a large one its Markdown. */
export function writeSheets(sheets: Sheet[], options: RenderOptions): { html: string; markdown?: string } {
  let cells = 0;
  for (const sheet of sheets) for (const row of sheet.rows) cells += row.cells.length;
  const selects = options.includeTags.length > 0 || options.excludeTags.length > 0;
  if (cells <= STREAMED_CELLS || selects) return { html: joinSheets(sheets.map(sheetHtml)) };
  const needsHtml = options.fields.some((field) => field !== 'markdown');
  return {
    html: needsHtml ? joinSheets(sheets.map(sheetHtml)) : '',
    markdown: joinSheets(sheets.map(sheetMarkdown), '\n\n'),
  };
}

function joinSheets(parts: string[], separator = '\n'): string {
  return parts.filter((part) => part !== '').join(separator);
}
