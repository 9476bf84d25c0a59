// Collects runs of formatted text and writes them with as few nested elements as possible, because office formats split text into many runs.
import { escapeHtml } from '#shared/document/escape-html.ts';

/** The formats of a run and their elements, the outermost element first. */
const ELEMENTS = [
  ['bold', 'strong'],
  ['italic', 'em'],
  ['strike', 'del'],
  ['superscript', 'sup'],
  ['subscript', 'sub'],
  ['code', 'code'],
] as const;

type FormatName = (typeof ELEMENTS)[number][0];
export type RunFormat = Partial<Record<FormatName, boolean>>;

interface Piece {
  /** Escaped text or finished markup. */
  html: string;
  /** Is finished markup, which gets no formats. */
  atom: boolean;
  format: RunFormat;
  href: string | undefined;
}

/** A link target that is relative or has an allowed scheme; undefined for scripts, local files and anchors in the document. */
export function linkTarget(href: string | undefined): string | undefined {
  const target = href?.trim();
  if (!target || target.startsWith('#')) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(target)?.[1]?.toLowerCase();
  if (scheme !== undefined && !['http', 'https', 'mailto', 'tel', 'ftp', 'ftps', 'sms'].includes(scheme))
    return undefined;
  return target;
}

/** The runs of one paragraph. */
export class InlineText {
  #pieces: Piece[] = [];

  /** Adds plain text; a line break in it becomes `<br>`. */
  text(text: string, format: RunFormat = {}, href?: string): void {
    if (text === '') return;
    const html = escapeHtml(text).replace(/\r\n?|\n|\v/g, '<br>');
    const last = this.#pieces.at(-1);
    if (last && !last.atom && last.href === href && sameFormat(last.format, format)) last.html += html;
    else this.#pieces.push({ html, atom: false, format, href });
  }

  /** Adds finished markup (an image, a formula, a footnote reference). */
  markup(html: string, href?: string): void {
    this.#pieces.push({ html, atom: true, format: {}, href });
  }

  isEmpty(): boolean {
    return this.#pieces.every((piece) => !piece.atom && isBlank(piece.html));
  }

  /** Removes the text that the pattern matches at the start of the first run, and returns it. */
  takePrefix(pattern: RegExp): string | undefined {
    const piece = this.#pieces.find((one) => one.atom || !isBlank(one.html));
    if (!piece || piece.atom) return undefined;
    const found = pattern.exec(piece.html)?.[0];
    if (found !== undefined) piece.html = piece.html.slice(found.length);
    return found;
  }

  /** Appends the runs of another paragraph. */
  append(other: InlineText): void {
    this.#pieces.push(...other.#pieces);
  }

  /** Removes formats that headings do not need. */
  withoutFormat(...names: FormatName[]): this {
    for (const piece of this.#pieces) {
      piece.format = { ...piece.format };
      for (const name of names) piece.format[name] = false;
    }
    return this;
  }

  /** Replaces line breaks by spaces, for headings. */
  withoutBreaks(): this {
    for (const piece of this.#pieces) piece.html = piece.html.replaceAll('<br>', ' ');
    return this;
  }

  toHtml(): string {
    return writeLinks(neutralBlanks(this.#pieces)).trim();
  }
}

function sameFormat(a: RunFormat, b: RunFormat): boolean {
  return ELEMENTS.every(([name]) => Boolean(a[name]) === Boolean(b[name]));
}

function isBlank(html: string): boolean {
  return /^(?:[\s\u00a0]|<br>)*$/.test(html);
}

/** Gives white space the format that both its neighbours have, so that it does not split an emphasis in two. */
function neutralBlanks(pieces: Piece[]): Piece[] {
  return pieces.map((piece, i) => {
    if (piece.atom || !isBlank(piece.html)) return piece;
    const before = pieces[i - 1];
    const after = pieces[i + 1];
    const format: RunFormat = {};
    if (before && after)
      for (const [name] of ELEMENTS) format[name] = Boolean(before.format[name] && after.format[name]);
    const href = before && after && before.href === after.href ? before.href : undefined;
    return { ...piece, format, href };
  });
}

/** Groups consecutive pieces that have the same key. */
function groups<K>(pieces: Piece[], key: (piece: Piece) => K): [K, Piece[]][] {
  const found: [K, Piece[]][] = [];
  for (const piece of pieces) {
    const value = key(piece);
    const last = found.at(-1);
    if (last && last[0] === value) last[1].push(piece);
    else found.push([value, [piece]]);
  }
  return found;
}

function writeLinks(pieces: Piece[]): string {
  let html = '';
  for (const [href, inside] of groups(pieces, (piece) => piece.href)) {
    const text = writeFormats(inside, 0);
    html += href === undefined ? text : wrap(`<a href="${escapeHtml(href)}">`, text, '</a>');
  }
  return html;
}

function writeFormats(pieces: Piece[], depth: number): string {
  const element = ELEMENTS[depth];
  if (!element) return pieces.map((piece) => piece.html).join('');
  const [name, tag] = element;
  let html = '';
  for (const [on, inside] of groups(pieces, (piece) => Boolean(piece.format[name]))) {
    const text = writeFormats(inside, depth + 1);
    html += on ? wrap(`<${tag}>`, text, `</${tag}>`) : text;
  }
  return html;
}

/** Wraps markup in an element, but leaves white space and line breaks at its ends outside. Does not write an empty element. */
function wrap(open: string, html: string, close: string): string {
  let start = 0;
  let end = html.length;
  for (;;) {
    if (/[\s\u00a0]/.test(html.charAt(start)) && start < end) start++;
    else if (html.startsWith('<br>', start)) start += 4;
    else break;
  }
  for (;;) {
    if (end > start && /[\s\u00a0]/.test(html.charAt(end - 1))) end--;
    else if (end - 4 >= start && html.endsWith('<br>', end)) end -= 4;
    else break;
  }
  if (start >= end) return html;
  return html.slice(0, start) + open + html.slice(start, end) + close + html.slice(end);
}
