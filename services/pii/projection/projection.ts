// The text of a document without its syntax, every code unit of it tied to the source, so that finders read prose and edits leave structure alone.
import type { LabelledCell, Span } from '../recognizer.ts';
import { type Encoding, type ReplaceStyle, replacementFor } from '../replacement.ts';

/** A stretch of readable text. `from[i]` and `to[i]` are the source offsets of view unit `i`, or -1 where syntax was put aside. */
export interface Projection {
  kind: 'text' | 'attribute' | 'url';
  encoding: Encoding;
  text: string;
  from: readonly number[];
  to: readonly number[];
  cells: readonly LabelledCell[];
}

/** Source text [start, end) becomes `text`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** View units after which a projection is handed out at the next paragraph border, and where it is cut without one. */
export const CHUNK_UNITS = 32_768;
export const CHUNK_UNITS_MAX = 49_152;

/** What separates table cells in a view: no finder reads over it. */
const CELL_BORDER = '\n|\n';

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

  /** Puts `text` for the whole source range [from, to). */
  emit(text: string, from: number, to: number): void {
    if (text === '') return;
    this.#parts.push(text);
    for (let index = 0; index < text.length; index += 1) {
      this.#from.push(index === 0 ? from : to);
      this.#to.push(to);
    }
    this.#last = text[text.length - 1]!;
  }

  /** Copies the source range unit by unit. */
  copy(source: string, from: number, to: number): void {
    if (to <= from) return;
    this.#parts.push(source.slice(from, to));
    for (let index = from; index < to; index += 1) {
      this.#from.push(index);
      this.#to.push(index + 1);
    }
    this.#last = source[to - 1]!;
  }

  /** Text that has no source: a border. */
  gap(text: string): void {
    this.#parts.push(text);
    for (let index = 0; index < text.length; index += 1) {
      this.#from.push(-1);
      this.#to.push(-1);
    }
    this.#last = text[text.length - 1] ?? this.#last;
  }

  border(): void {
    if (this.#last !== '\n') this.gap('\n');
  }

  openCell(): void {
    this.gap(CELL_BORDER);
    this.#cellStart = this.length;
  }

  /** Ends the open cell; gives its text back, for headings. */
  closeCell(label: string): string {
    if (this.#cellStart < 0) return '';
    const start = this.#cellStart;
    this.#cellStart = -1;
    if (label !== '' && this.length > start) this.#cells.push({ start, end: this.length, label });
    return this.length - start < 200 ? this.#tail(this.length - start) : '';
  }

  #tail(length: number): string {
    let text = '';
    for (let index = this.#parts.length - 1; index >= 0 && text.length < length; index -= 1)
      text = this.#parts[index]! + text;
    return text.slice(text.length - length).trim();
  }

  /** What was built so far, and an empty builder again. Nothing where there is no text. */
  take(): Projection[] {
    if (this.#from.length === 0) return [];
    const taken: Projection = {
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
    return [taken];
  }
}

/**
 * The edits that write a found span into the source. Syntax inside the span stays: the first piece carries the marker and the
 * others go. Lines stay too, each with a marker of its own, except inside a secret (a key block is one thing).
 */
export function editsForSpan(projection: Projection, span: Span, source: string, style: ReplaceStyle): Edit[] {
  const { from, to, text } = projection;
  const edits: Edit[] = [];
  const oneThing = span.entity === 'SECRET' && style !== 'mask';
  let marked = false;
  let index = span.start;
  while (index < span.end) {
    if (from[index] === -1 || (!oneThing && text[index] === '\n')) {
      if (text[index] === '\n') marked = oneThing && marked;
      index += 1;
      continue;
    }
    let end = index + 1;
    while (end < span.end && from[end] === to[end - 1] && (oneThing || text[end] !== '\n')) end += 1;
    let first = index;
    let last = end - 1;
    const rest = marked && style === 'tag';
    while (!rest && first < last && /\s/.test(text[first]!)) first += 1;
    while (last > first && /\s/.test(text[last]!)) last -= 1;
    if (rest || !/^\s$/.test(text[first]!)) {
      const start = from[first]!;
      const stop = to[last]!;
      const replaced =
        marked && style === 'tag'
          ? ''
          : replacementFor(span.entity, source.slice(start, stop), style, projection.encoding);
      edits.push({ start, end: stop, text: replaced });
      marked = true;
    }
    index = end;
  }
  return edits;
}
