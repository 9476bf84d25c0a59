// Writes a table as a pipe table, or as an HTML table if cells have spans or contain blocks that a pipe table cannot contain.
import type { ChildNode, Element, ParentNode } from 'domhandler';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { collectInline, linkOf, type MarkdownScope, marksOf } from './collect.ts';
import { holds, isElement, isText, textOf } from './dom.ts';
import { BLOCK, HEADING, SILENT, TABLE_SECTION } from './elements.ts';
import { escapeHtml } from './escape-html.ts';
import { escapeText } from './escape-markdown.ts';
import { collapseSpace, renderInline } from './inline.ts';
import { formulaOf } from './math.ts';

interface Cell {
  element: Element;
  header: boolean;
  colspan: number;
  rowspan: number;
}

interface Table {
  rows: Cell[][];
  caption: Element | undefined;
}

/** Blocks that a cell of a pipe table cannot contain. */
const NO_PIPE_CELL = new Set(['ul', 'ol', 'dl', 'pre', 'table', 'blockquote', 'hr', 'listing', 'xmp']);
/** Short rows are padded with empty cells if the grid has at most PADDING_FACTOR slots per cell, plus PADDING_FLOOR slots. */
const PADDING_FACTOR = 2;
const PADDING_FLOOR = 10_000;

type TableLayout =
  /** A layout table: its cells are written as blocks, one after the other. */
  { kind: 'layout'; cells: Element[] } | { kind: 'markdown'; caption: Element | undefined; text: string };

/** Chooses how to write a table, and writes it. `webpage`: the table may be a layout table. */
export function renderTable(element: Element, scope: MarkdownScope, webpage: boolean): TableLayout {
  const table = readTable(element);
  const cells = table.rows.flat();
  if (isLayout(element, table, cells, webpage))
    return { kind: 'layout', cells: [...(table.caption ? [table.caption] : []), ...cells.map((cell) => cell.element)] };
  const rows = dropSpannedColumns(table.rows);
  const plain = rows?.every((row) =>
    row.every(
      (cell) =>
        cell.colspan === 1 && cell.rowspan === 1 && !holds(cell.element, (inner) => NO_PIPE_CELL.has(inner.name)),
    ),
  )
    ? rows
    : undefined;
  return {
    kind: 'markdown',
    caption: table.caption,
    text: plain ? pipeTable(plain, scope) : htmlTable(rows ?? table.rows, scope),
  };
}

/** The value of `colspan` or `rowspan`. 0 means all rows that are left: `rest`. */
function span(value: string | undefined, rest: number): number {
  const number = value === undefined ? 1 : Number.parseInt(value, 10);
  if (value?.trim() === '0') return rest;
  return Number.isFinite(number) ? Math.min(Math.max(number, 1), DOCUMENT_LIMITS.tableSpan) : 1;
}

function readTable(element: Element): Table {
  const rows: Cell[][] = [];
  let caption: Element | undefined;
  const readRow = (row: Element): void => {
    const cells = row.children.filter(
      (child): child is Element => isElement(child) && (child.name === 'td' || child.name === 'th'),
    );
    rows.push(
      cells.map((cell) => ({
        element: cell,
        header: cell.name === 'th',
        colspan: span(cell.attribs.colspan, 1),
        rowspan: span(cell.attribs.rowspan, DOCUMENT_LIMITS.tableSpan),
      })),
    );
  };
  for (const child of element.children) {
    if (!isElement(child)) continue;
    if (child.name === 'caption') caption ??= child;
    else if (child.name === 'tr') readRow(child);
    else if (TABLE_SECTION.has(child.name))
      for (const row of child.children) if (isElement(row) && row.name === 'tr') readRow(row);
  }
  return { rows: rows.filter((row) => row.length > 0), caption };
}

/** A layout table has at most one cell, or a role that marks it, or it is on a web page and has tables or headings in its cells and no `th`. */
function isLayout(element: Element, table: Table, cells: Cell[], webpage: boolean): boolean {
  if (cells.length <= 1) return true;
  const role = element.attribs.role?.toLowerCase();
  if (role === 'presentation' || role === 'none') return true;
  if (!webpage || table.caption || cells.some((cell) => cell.header)) return false;
  return cells.some((cell) => holds(cell.element, ({ name }) => name === 'table' || HEADING.has(name)));
}

/**
 * Removes columns in which no cell starts, so that a table in which all rows span the same columns becomes a plain table.
 * Returns undefined if the grid is far larger than the number of its cells.
 */
function dropSpannedColumns(rows: Cell[][]): Cell[][] | undefined {
  if (rows.every((row) => row.every((cell) => cell.colspan === 1 && cell.rowspan === 1))) return rows;
  let slots = 0;
  let count = 0;
  rows.forEach((row, index) => {
    for (const cell of row) {
      cell.rowspan = Math.min(cell.rowspan, rows.length - index);
      slots += cell.colspan * cell.rowspan;
      count++;
    }
  });
  if (slots > 50 * count + PADDING_FLOOR) return undefined;

  const starts: number[][] = [];
  const columnStarts = new Set<number>();
  /** For each column, the number of rows that a cell from above still covers. */
  const covered: number[] = [];
  rows.forEach((row, index) => {
    let column = 0;
    starts[index] = row.map((cell) => {
      while ((covered[column] ?? 0) > 0) column++;
      const start = column;
      columnStarts.add(start);
      for (let offset = 0; offset < cell.colspan; offset++) covered[column++] = cell.rowspan;
      return start;
    });
    for (let at = 0; at < covered.length; at++) covered[at] = Math.max(0, (covered[at] ?? 0) - 1);
  });
  const kept = [...columnStarts].sort((a, b) => a - b);
  const positions = new Map(kept.map((column, position) => [column, position]));
  const position = (column: number): number => {
    for (let at = column; at <= (kept[kept.length - 1] ?? 0); at++) {
      const found = positions.get(at);
      if (found !== undefined) return found;
    }
    return kept.length;
  };
  return rows.map((row, index) =>
    row.map((cell, at) => {
      const start = starts[index]?.[at] ?? 0;
      return { ...cell, colspan: Math.max(1, position(start + cell.colspan) - position(start)) };
    }),
  );
}

function pipeTable(rows: Cell[][], scope: MarkdownScope): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const count = rows.reduce((sum, row) => sum + row.length, 0);
  const pad = width * rows.length <= count * PADDING_FACTOR + PADDING_FLOOR;
  const lines: string[] = [];
  rows.forEach((row, index) => {
    const cells = row.map((cell) => cellMarkdown(cell, scope));
    if (pad || index === 0) while (cells.length < width) cells.push('');
    lines.push(`| ${cells.join(' | ')} |`);
    if (index === 0)
      lines.push(`| ${Array.from({ length: width }, (_, column) => delimiterCell(row[column])).join(' | ')} |`);
  });
  return lines.join('\n');
}

/** The cell of the delimiter row, with the alignment of the header cell. */
function delimiterCell(cell: Cell | undefined): string {
  const align = (
    cell?.element.attribs.align ?? /text-align\s*:\s*(left|right|center)/i.exec(cell?.element.attribs.style ?? '')?.[1]
  )?.toLowerCase();
  return align === 'right' ? '---:' : align === 'center' ? ':---:' : align === 'left' ? ':---' : '---';
}

function cellMarkdown(cell: Cell, scope: MarkdownScope): string {
  const { children } = cell.element;
  const [only] = children;
  // Fast path, because most cells of a large table contain only one text.
  if (only === undefined) return '';
  if (children.length === 1 && isText(only))
    return escapeText(collapseSpace(only.data).trim(), { lineStart: false, cell: true, link: false });
  return renderInline(collectInline(cell.element.children, { scope, cell: true, heading: cell.header }, []), {
    cell: true,
    heading: false,
  });
}

/** One line for each row, without blank lines, because a blank line ends an HTML block (CommonMark 4.6). */
function htmlTable(rows: Cell[][], scope: MarkdownScope): string {
  // Rows of empty cells are left out, unless a cell spans rows, because its span counts the empty rows.
  const spansRows = rows.some((row) => row.some((cell) => cell.rowspan > 1));
  const kept = spansRows
    ? rows
    : rows.filter((row) =>
        row.some((cell) => textOf([cell.element]).trim() !== '' || holds(cell.element, ({ name }) => name === 'img')),
      );
  const lines = kept.map((row) => {
    const cells = row.map((cell) => {
      const name = cell.header ? 'th' : 'td';
      const spans = `${cell.colspan > 1 ? ` colspan="${cell.colspan}"` : ''}${cell.rowspan > 1 ? ` rowspan="${cell.rowspan}"` : ''}`;
      return `<${name}${spans}>${trimmedHtml(plainHtml(cell.element.children, scope))}</${name}>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return ['<table>', ...lines, '</table>'].join('\n');
}

const KEPT_BLOCKS = new Set([
  'ul',
  'ol',
  'li',
  'dl',
  'dt',
  'dd',
  'blockquote',
  'table',
  'tr',
  'td',
  'th',
  'tbody',
  'thead',
  'tfoot',
  'pre',
  'hr',
  'caption',
]);

function isTablePart(node: ParentNode | null): boolean {
  return isElement(node) && (node.name === 'table' || node.name === 'tr' || TABLE_SECTION.has(node.name));
}

/** Keeps the elements that Markdown readers show inside an HTML table (emphasis, links, images, lists), and only the text of others. */
function plainHtml(nodes: readonly ChildNode[], scope: MarkdownScope): string {
  let out = '';
  for (const node of nodes) {
    if (isText(node)) {
      const text = collapseSpace(node.data);
      // White space between rows and cells is only indentation of the source.
      if (text !== ' ' || !isTablePart(node.parent)) out += escapeHtml(text);
    } else if (isElement(node)) {
      const next = plainElement(node, scope);
      // A block of which only the text is written starts on a new line.
      const apart = BLOCK.has(node.name) && !KEPT_BLOCKS.has(node.name);
      if (apart && out.trim() !== '' && next !== '' && !/<(?:br|hr)>$|<\/(?:ul|ol|dl|table|blockquote|pre)>$/.test(out))
        out = `${out.trimEnd()}<br>`;
      out += apart && next !== '' ? `${next}<br>` : next;
    }
  }
  return out;
}

function trimmedHtml(html: string): string {
  let text = html.trim();
  while (text.endsWith('<br>')) text = text.slice(0, -4).trimEnd();
  return text;
}

function plainElement(element: Element, scope: MarkdownScope): string {
  const number = scope.footnotes.references.get(element);
  if (number !== undefined) return `[^${number}]`;
  const { name, attribs } = element;
  if (name === 'br') return '<br>';
  if (name === 'hr') return '<hr>';
  if (name === 'img') {
    if (attribs.src === undefined && !attribs.alt) return '';
    return `<img src="${escapeHtml(attribs.src ?? '')}" alt="${escapeHtml(attribs.alt ?? '')}">`;
  }
  const formula = formulaOf(element);
  if (formula) return `$${escapeHtml(formula.latex)}$`;
  if (SILENT.has(name) || scope.footnotes.backlinks.has(element)) return '';
  if (name === 'pre') return `<pre>${escapeHtml(textOf(element.children)).trim().replaceAll('\n', '&#10;')}</pre>`;
  if (name === 'code' || name === 'kbd' || name === 'samp' || name === 'tt')
    return `<code>${escapeHtml(collapseSpace(textOf(element.children)))}</code>`;
  const inner = plainHtml(element.children, scope);
  if (KEPT_BLOCKS.has(name)) {
    const spans =
      name === 'td' || name === 'th'
        ? ['colspan', 'rowspan']
            .map((key) => (span(attribs[key], 1) > 1 ? ` ${key}="${span(attribs[key], 1)}"` : ''))
            .join('')
        : '';
    return `<${name}${spans}>${trimmedHtml(inner)}</${name}>`;
  }
  if (inner.trim() === '') return inner;
  let marked = BLOCK.has(name) ? trimmedHtml(inner) : inner;
  for (const mark of marksOf(element)) marked = `<${mark.kind}>${marked}</${mark.kind}>`;
  const link = linkOf(element);
  return link ? `<a href="${escapeHtml(link.href ?? '')}">${marked}</a>` : marked;
}
