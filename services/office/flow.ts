// Writes paragraphs, list items, quotes, code and tables as HTML, and nests list items, which office formats store as a flat sequence.
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { InlineText } from './inline.ts';

export interface ListPosition {
  /** 0 is the outermost level. */
  level: number;
  ordered: boolean;
  /** The number that an ordered item shows; written if a list does not start with 1. */
  number?: number;
  /** The id of the list. Items with different ids are never joined into one list. */
  list?: string;
}

interface OpenList {
  level: number;
  ordered: boolean;
  list: string | undefined;
}

/** Collects the blocks of a body, a table cell, a note or a slide. */
export class Flow {
  #html: string[] = [];
  #lists: OpenList[] = [];
  #open: 'quote' | 'code' | undefined;

  paragraph(inline: InlineText): void {
    const html = inline.toHtml();
    if (html !== '') this.block(`<p>${html}</p>`);
  }

  /** @param level 1 to 6 */
  heading(level: number, inline: InlineText): void {
    const html = inline.withoutFormat('bold').withoutBreaks().toHtml();
    if (html !== '') this.block(`<h${level}>${html}</h${level}>`);
  }

  quote(inline: InlineText): void {
    const html = inline.toHtml();
    if (html === '') return;
    this.#closeLists();
    if (this.#open !== 'quote') {
      this.#closeOpen();
      this.#html.push('<blockquote>');
      this.#open = 'quote';
    }
    this.#html.push(`<p>${html}</p>`);
  }

  /** Adds one or more lines of code. Consecutive calls add to the same block. */
  code(text: string): void {
    this.#closeLists();
    if (this.#open !== 'code') {
      this.#closeOpen();
      this.#html.push('<pre><code>');
      this.#open = 'code';
    } else this.#html.push('\n');
    this.#html.push(escapeHtml(text));
  }

  item(inline: InlineText, position: ListPosition): void {
    const html = inline.toHtml();
    if (html === '') return;
    this.#closeOpen();
    while (this.#lists.length > 0) {
      const inner = this.#lists.at(-1) as OpenList;
      const joins =
        inner.level === position.level && inner.ordered === position.ordered && inner.list === position.list;
      if (inner.level < position.level || joins) break;
      this.#closeList();
    }
    const inner = this.#lists.at(-1);
    if (inner && inner.level === position.level) this.#html.push('</li><li>');
    else {
      const { ordered, number, list, level } = position;
      const start = ordered && number !== undefined && number !== 1 ? ` start="${number}"` : '';
      this.#html.push(ordered ? `<ol${start}><li>` : '<ul><li>');
      this.#lists.push({ level, ordered, list });
    }
    this.#html.push(html);
  }

  /** Adds finished markup as a block of its own. */
  block(html: string): void {
    if (html === '') return;
    this.#closeLists();
    this.#closeOpen();
    this.#html.push(html, '\n');
  }

  isEmpty(): boolean {
    return this.#html.length === 0;
  }

  /** Closes all open elements and returns the markup. */
  finish(): string {
    this.#closeLists();
    this.#closeOpen();
    return this.#html.join('');
  }

  #closeList(): void {
    const list = this.#lists.pop();
    if (list) this.#html.push(list.ordered ? '</li></ol>' : '</li></ul>');
    if (this.#lists.length === 0) this.#html.push('\n');
  }

  #closeLists(): void {
    while (this.#lists.length > 0) this.#closeList();
  }

  #closeOpen(): void {
    if (this.#open === 'quote') this.#html.push('</blockquote>\n');
    if (this.#open === 'code') this.#html.push('</code></pre>\n');
    this.#open = undefined;
  }
}

export interface Cell {
  html: string;
  colspan?: number;
  rowspan?: number;
  header?: boolean;
}

/** A table. A table of one cell is a frame and not data, so only the content of the cell is written. */
export function writeTable(rows: Cell[][]): string {
  if (rows.length === 0 || rows.every((row) => row.every((cell) => cell.html === ''))) return '';
  const only = rows.length === 1 && rows[0]?.length === 1 ? rows[0][0] : undefined;
  if (only) return only.html;
  const lines = rows.map((row) => {
    const cells = row.map(({ html, colspan = 1, rowspan = 1, header }) => {
      const spans = (colspan > 1 ? ` colspan="${colspan}"` : '') + (rowspan > 1 ? ` rowspan="${rowspan}"` : '');
      return header ? `<th${spans}>${html}</th>` : `<td${spans}>${html}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<table>\n${lines.join('\n')}\n</table>`;
}

/** Removes the `<p>` around the content of a cell that has only one paragraph. */
export function unwrapParagraph(html: string): string {
  const inside = /^<p>([\s\S]*)<\/p>\s*$/.exec(html)?.[1];
  return inside !== undefined && !inside.includes('<p>') ? inside : html.trim();
}
