// Joins blocks of Markdown: indents quotes and lists, and separates blocks by one blank line.
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';

/** Quotes and lists that are nested deeper are written at this depth, because each level makes each line longer. */
const DEEPEST_PREFIX = 24;

interface Frame {
  /** The start of every line. */
  prefix: string;
  /** The start of the first line. */
  first: string;
  empty: boolean;
  /** The kind of the last block, for tight lists. */
  last: BlockKind | '';
  /** A list item: a list in it follows its text without a blank line. */
  item: boolean;
}

type BlockKind = 'text' | 'list' | 'other';

export class MarkdownWriter {
  readonly #lines: string[] = [];
  #length = 0;
  #lastBlank = true;
  #frames: Frame[] = [{ prefix: '', first: '', empty: true, last: '', item: false }];

  get #frame(): Frame {
    return this.#frames[this.#frames.length - 1]!;
  }

  /** Whether the next block starts a list item, on the line of its marker. */
  get atItemStart(): boolean {
    return this.#frame.item && this.#frame.empty;
  }

  /** Writes one block. Its lines must be Markdown already. */
  block(kind: BlockKind, text: string): void {
    if (text === '') return;
    this.#separate(kind);
    for (const line of text.split('\n')) this.#line(line);
    this.#frame.last = kind;
  }

  /** Writes a quote: each line that `content` writes starts with `> `. */
  quote(content: () => void): void {
    this.#nest('other', '> ', '> ', false, content);
  }

  /** Writes a list. Its items follow each other without blank lines. */
  list(content: () => void): void {
    this.#separate('list');
    content();
    this.#frame.last = 'list';
  }

  /** Writes one list item: the marker and the first line, then the other lines with the indentation of the first. */
  item(marker: string, content: () => void): void {
    this.#nest('item', marker, ' '.repeat(marker.length), true, content);
  }

  /** The complete text, without blank lines at its start and end. */
  toString(): string {
    let end = this.#lines.length;
    while (end > 0 && this.#lines[end - 1] === '') end--;
    let start = 0;
    while (start < end && this.#lines[start] === '') start++;
    return this.#lines.slice(start, end).join('\n');
  }

  #nest(kind: BlockKind | 'item', first: string, rest: string, item: boolean, content: () => void): void {
    if (kind !== 'item') this.#separate(kind);
    const outer = this.#frame;
    const flat = this.#frames.length > DEEPEST_PREFIX;
    const lead = outer.empty ? outer.first : outer.prefix;
    const frame: Frame = flat
      ? { prefix: outer.prefix, first: outer.first, empty: outer.empty, last: '', item: false }
      : { prefix: outer.prefix + rest, first: lead + first, empty: true, last: '', item };
    this.#frames.push(frame);
    content();
    if (frame.empty && item && !flat) this.#line('');
    this.#frames.pop();
    if (!frame.empty) outer.empty = false;
    if (kind !== 'item') outer.last = kind;
  }

  #separate(kind: BlockKind): void {
    const frame = this.#frame;
    if (frame.empty || this.#lastBlank) return;
    if (frame.item && kind === 'list' && frame.last === 'text') return;
    this.#push(frame.prefix.trimEnd());
    this.#lastBlank = true;
  }

  #line(text: string): void {
    const frame = this.#frame;
    const start = frame.empty ? frame.first : frame.prefix;
    frame.empty = false;
    this.#push((start + text).trimEnd());
    this.#lastBlank = false;
  }

  #push(line: string): void {
    this.#length += line.length + 1;
    if (this.#length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The Markdown of the document would be longer than ${DOCUMENT_LIMITS.fieldLength} characters; split the document into smaller files`,
      );
    this.#lines.push(line);
  }
}
