// Writes paragraphs, list items, quotes, code and tables as they come, and nests the lists, which office formats keep flat.
import type { InlineText } from './inline.ts';
import { escapeHtml } from './inline.ts';

export interface ListPlace {
  /** 0 for the outermost. */
  level: number;
  ordered: boolean;
  /** The number an ordered item shows; written where a list starts with another than 1. */
  number?: number;
  /** Items of different lists are never joined. */
  list?: string;
}

interface OpenList {
  level: number;
  ordered: boolean;
  list: string | undefined;
}

/** One run of blocks: a body, a table cell, a note, a slide. */
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

  /** One or more lines of code; neighbouring ones become one block. */
  code(text: string): void {
    this.#closeLists();
    if (this.#open !== 'code') {
      this.#closeOpen();
      this.#html.push('<pre><code>');
      this.#open = 'code';
    } else this.#html.push('\n');
    this.#html.push(escapeHtml(text));
  }

  item(inline: InlineText, place: ListPlace): void {
    const html = inline.toHtml();
    if (html === '') return;
    this.#closeOpen();
    while (this.#lists.length > 0) {
      const inner = this.#lists.at(-1) as OpenList;
      const joins = inner.level === place.level && inner.ordered === place.ordered && inner.list === place.list;
      if (inner.level < place.level || joins) break;
      // A list that stands at this level by another name continues one that was opened deeper or elsewhere.
      this.#closeList();
    }
    const inner = this.#lists.at(-1);
    if (inner && inner.level === place.level) this.#html.push('</li><li>');
    else {
      const start = place.ordered && place.number !== undefined && place.number !== 1 ? ` start="${place.number}"` : '';
      this.#html.push(place.ordered ? `<ol${start}><li>` : '<ul><li>');
      this.#lists.push({ level: place.level, ordered: place.ordered, list: place.list });
    }
    this.#html.push(html);
  }

  /** Finished markup that stands on its own. */
  block(html: string): void {
    if (html === '') return;
    this.#closeLists();
    this.#closeOpen();
    this.#html.push(html, '\n');
  }

  isEmpty(): boolean {
    return this.#html.length === 0;
  }

  /** Ends all that is open and gives the markup. */
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

/** A table; a single cell is written as what it holds, since one cell tables are frames and not data. */
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

/** A cell that holds one paragraph is written without it. */
export function unwrapParagraph(html: string): string {
  const inside = /^<p>([\s\S]*)<\/p>\s*$/.exec(html)?.[1];
  return inside !== undefined && !inside.includes('<p>') ? inside : html.trim();
}
