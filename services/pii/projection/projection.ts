// Builds projections: the text of a document without its syntax, with the source offsets of each code unit, so that edits keep the syntax.
import type { LabelledCell, Span } from '../recognizer.ts';
import { type Encoding, type ReplaceStyle, replacementFor } from '../replacement.ts';

/** A piece of readable text. `from[i]` and `to[i]` are the source offsets of its code unit `i`, or -1 for a unit that has no source. */
export interface Projection {
  kind: 'text' | 'attribute' | 'url';
  encoding: Encoding;
  text: string;
  from: readonly number[];
  to: readonly number[];
  cells: readonly LabelledCell[];
}

/** Replaces source[start, end) by `text`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Code units after which a projection ends at the end of the next paragraph. */
export const CHUNK_UNITS = 32_768;
/** Code units after which a projection ends at any position. */
export const CHUNK_UNITS_MAX = 49_152;

/** Separates table cells in a projection. No finding crosses it. */
const CELL_SEPARATOR = '\n|\n';
/** A cell of this length is not a heading. */
const HEADING_UNITS = 200;

export class ProjectionBuilder {
  readonly kind: Projection['kind'];
  readonly encoding: Encoding;
  #parts: string[] = [];
  #from: number[] = [];
  #to: number[] = [];
  #cells: LabelledCell[] = [];
  #cellStart = -1;
  #last = '\n';

  constructor(kind: Projection['kind'], encoding: Encoding) {
    this.kind = kind;
    this.encoding = encoding;
  }

  get length(): number {
    return this.#from.length;
  }

  /** Adds `text`, which stands for the source range [from, to). */
  emit(text: string, from: number, to: number): void {
    if (text === '') return;
    this.#parts.push(text);
    for (let index = 0; index < text.length; index += 1) {
      this.#from.push(index === 0 ? from : to);
      this.#to.push(to);
    }
    this.#last = text[text.length - 1]!;
  }

  /** Adds the source range [from, to) unit by unit. */
  copy(source: string, from: number, to: number): void {
    if (to <= from) return;
    this.#parts.push(source.slice(from, to));
    for (let index = from; index < to; index += 1) {
      this.#from.push(index);
      this.#to.push(index + 1);
    }
    this.#last = source[to - 1]!;
  }

  /** Adds text that has no source, such as a separator. */
  gap(text: string): void {
    this.#parts.push(text);
    for (let index = 0; index < text.length; index += 1) {
      this.#from.push(-1);
      this.#to.push(-1);
    }
    this.#last = text[text.length - 1] ?? this.#last;
  }

  /** Starts a new line, unless the text is at the start of one. */
  startLine(): void {
    if (this.#last !== '\n') this.gap('\n');
  }

  openCell(): void {
    this.gap(CELL_SEPARATOR);
    this.#cellStart = this.length;
  }

  /** Ends the open cell. @param label heading of its column @returns its text, or an empty string if it is too long for a heading */
  closeCell(label: string): string {
    if (this.#cellStart < 0) return '';
    const start = this.#cellStart;
    this.#cellStart = -1;
    if (label !== '' && this.length > start) this.#cells.push({ start, end: this.length, label });
    return this.length - start < HEADING_UNITS ? this.#tail(this.length - start) : '';
  }

  #tail(length: number): string {
    let text = '';
    for (let index = this.#parts.length - 1; index >= 0 && text.length < length; index -= 1)
      text = this.#parts[index]! + text;
    return text.slice(text.length - length).trim();
  }

  /** Returns the projection so far, if it has text, and starts a new one. */
  flush(): Projection[] {
    if (this.#from.length === 0) return [];
    const projection: Projection = {
      kind: this.kind,
      encoding: this.encoding,
      text: this.#parts.join(''),
      from: this.#from,
      to: this.#to,
      cells: this.#cells,
    };
    this.#parts = [];
    this.#from = [];
    this.#to = [];
    this.#cells = [];
    return [projection];
  }
}

/**
 * The edits that replace a found span in the source. Syntax inside the span stays: the first piece becomes the marker and the others
 * are deleted. Line breaks stay too, and each line has a marker of its own, except in a secret (a key block is one fragment).
 */
export function editsForSpan(projection: Projection, span: Span, source: string, style: ReplaceStyle): Edit[] {
  const { from, to, text } = projection;
  const edits: Edit[] = [];
  const acrossLines = span.entity === 'SECRET' && style !== 'mask';
  /** Whether the marker of this line is written. */
  let marked = false;
  let index = span.start;
  while (index < span.end) {
    if (from[index] === -1 || (!acrossLines && text[index] === '\n')) {
      if (text[index] === '\n') marked = acrossLines && marked;
      index += 1;
      continue;
    }
    const end = pieceEnd(projection, index, span.end, acrossLines);
    const deleted = marked && style === 'tag';
    const piece = trimmedPiece(text, index, end, deleted);
    if (piece) {
      const start = from[piece.first]!;
      const stop = to[piece.last]!;
      const replaced = deleted
        ? ''
        : replacementFor(span.entity, source.slice(start, stop), style, projection.encoding);
      edits.push({ start, end: stop, text: replaced });
      marked = true;
    }
    index = end;
  }
  return edits;
}

/** The end of the piece at `start`: the first unit whose source is not contiguous, or the end of the line. */
function pieceEnd({ from, to, text }: Projection, start: number, most: number, acrossLines: boolean): number {
  let end = start + 1;
  while (end < most && from[end] === to[end - 1] && (acrossLines || text[end] !== '\n')) end += 1;
  return end;
}

/** The first and last unit of text[start, end) without blanks around it; undefined if it is blank. A piece that is deleted keeps no blanks before it. */
function trimmedPiece(
  text: string,
  start: number,
  end: number,
  deleted: boolean,
): { first: number; last: number } | undefined {
  let first = start;
  let last = end - 1;
  while (!deleted && first < last && /\s/.test(text[first]!)) first += 1;
  while (last > first && /\s/.test(text[last]!)) last -= 1;
  return deleted || !/\s/.test(text[first]!) ? { first, last } : undefined;
}
