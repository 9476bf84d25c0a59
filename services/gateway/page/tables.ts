// Finds the tables of the Markdown, and writes the cells of a table as CSV.
import { fenceAfter } from './segments.ts';

/** A table of the Markdown, `[start, end)`. */
export interface TableSpan {
  start: number;
  end: number;
}

/** Pipe tables and HTML tables, in document order. */
export function findTables(markdown: string): TableSpan[] {
  const tables: TableSpan[] = [];
  let pipeStart = -1;
  let htmlStart = -1;
  let depth = 0;
  let fence = '';
  for (let line = 0; line < markdown.length; ) {
    const lineEnd = markdown.indexOf('\n', line);
    const next = lineEnd === -1 ? markdown.length : lineEnd + 1;
    const text = markdown.slice(line, next).trimEnd();
    if (htmlStart < 0) fence = fenceAfter(fence, text);
    const isRow = fence === '' && htmlStart < 0 && /^\s*\|/.test(text);
    if (isRow && pipeStart < 0) pipeStart = line;
    if (!isRow && pipeStart >= 0) {
      addPipeTable(tables, markdown, pipeStart, line);
      pipeStart = -1;
    }
    if (fence === '' && !isRow) {
      for (const { 0: tag, index } of text.matchAll(/<\/?table\b[^>]*>/gi)) {
        if (!tag.startsWith('</') && depth++ === 0) htmlStart = line + index;
        if (tag.startsWith('</') && depth > 0 && --depth === 0) {
          tables.push({ start: htmlStart, end: line + index + tag.length });
          htmlStart = -1;
        }
      }
    }
    line = next;
  }
  if (pipeStart >= 0) addPipeTable(tables, markdown, pipeStart, markdown.length);
  return tables;
}

/** A pipe table has a line of dashes below its first row. */
function addPipeTable(tables: TableSpan[], markdown: string, start: number, end: number): void {
  const second = markdown.indexOf('\n', start) + 1;
  if (second === 0 || second >= end) return;
  const secondEnd = markdown.indexOf('\n', second);
  const line = markdown.slice(second, secondEnd === -1 ? end : secondEnd);
  if (/^\s*\|[\s|:-]*-[\s|:-]*$/.test(line)) tables.push({ start, end });
}

/** Rows as CSV (RFC 4180). */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
