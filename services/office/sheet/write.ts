// Writes a workbook as semantic HTML, or directly as Markdown if it is so large that an HTML tree would cost too much memory.
import type { Element } from 'domhandler';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { isElement, walk } from '#shared/document/dom.ts';
import { toMarkdown } from '#shared/document/markdown.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { type Sheet, sheetHtml, sheetMarkdown } from './sheet.ts';

/** A workbook with more cells is written directly as Markdown; HTML is written too only if it is requested. */
const STREAMED_CELLS = 20_000;

/** The semantic HTML of the sheets, and for a large workbook the Markdown. */
export function writeSheets(sheets: Sheet[], options: RenderOptions): { html: string; markdown?: string } {
  let cells = 0;
  for (const sheet of sheets) for (const row of sheet.rows) cells += row.cells.length;
  const selects = options.includeTags.length > 0 || options.excludeTags.length > 0;
  if (cells <= STREAMED_CELLS || selects) return { html: joinSheets(sheets.map(sheetHtml)) };
  const needsHtml = options.fields.some((field) => field !== 'markdown');
  return {
    html: needsHtml ? joinSheets(sheets.map(sheetHtml)) : '',
    markdown: joinSheets(
      sheets.map((sheet) =>
        joinSheets([sheetMarkdown(sheet), options.embeddedImages ? picturesMarkdown(sheet) : ''], '\n\n'),
      ),
      '\n\n',
    ),
  };
}

/** The pictures of a sheet, as references to the collection of pictures. */
function picturesMarkdown({ drawings }: Sheet): string {
  const images: Element[] = [];
  walk(parseHtml(drawings).body.children, (node) => {
    if (isElement(node) && node.name === 'img') images.push(node);
    return true;
  });
  return toMarkdown(images, { webpage: false, apart: true });
}

function joinSheets(parts: string[], separator = '\n'): string {
  return parts.filter((part) => part !== '').join(separator);
}
