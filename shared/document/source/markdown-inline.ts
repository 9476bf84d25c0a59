// Reads the inline marks of Markdown with source offsets, in linear time also on hostile input.
import { readReference } from './character-references.ts';
import { readTag, type Tag } from './html-tag.ts';
import type { Range } from './markdown-lines.ts';

/**
 * One piece of a Markdown text. `start` and `end` are the UTF-16 source offsets of the piece with its marks. Emphasis marks and the
 * backslash of a line break have no token.
 */
export type InlineToken = { start: number; end: number } & (
  | { kind: 'text' }
  /** An escaped character or a character reference; `text` is its decoded text. */
  | { kind: 'decoded'; text: string }
  /** A code span; `text` is the range between the backticks. */
  | { kind: 'code'; text: Range }
  /** A footnote reference, `[^label]`. */
  | { kind: 'note' }
  /** `[`, or `![` of an image. A later `target` closes it, unless the brackets are not a link. */
  | { kind: 'open'; image: boolean }
  /** `](url "title")`. The title's range includes its quotes and the blanks around them. */
  | { kind: 'target'; url: Range; title: Range }
  /** `<https://...>`; `url` is the range between the brackets. */
  | { kind: 'autolink'; url: Range }
  /** `<jane@example.org>`. */
  | { kind: 'mail' }
  | { kind: 'tag'; tag: Tag }
  /** `<!-- ... -->`; `text` is the range between the marks. */
  | { kind: 'comment'; text: Range }
);

const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Characters that may be next to an emphasis mark of underscores on its outer side. */
const OUTSIDE = /[\s()[\]<>"'.,;:!?|*~]/;
const AUTOLINK = /<(?:([a-z][a-z0-9+.-]{1,31}:[^\s<>]{1,2000})|[^\s<>@]{1,64}@[^\s<>@]{1,255})>/iy;
const NOTE = /\[\^[^\s[\]]{1,100}\](?!\()/y;
/** Code units that are searched for the end of a link or a code span. */
const CONSTRUCT_UNITS = 8_192;
/** Code units that all searches without a result may read together. After that, links, code spans and comments of the range are read as text. This limits the time for many opening marks without a closing mark. */
const FAILED_SEARCH_UNITS = 256 * 1024;

/** The mark that is found at an offset. */
interface Found {
  /** Offset after it. */
  next: number;
  /** `plain`: no mark, part of the text around it. `mark`: syntax that has no token. */
  token: InlineToken | 'plain' | 'mark';
}

/** The pieces of source[start, end), in order and without overlaps. The range is one block: a line of text or a table cell. */
export function* readInline(source: string, start: number, end: number): Generator<InlineToken> {
  const reader = new InlineReader(source, start, end);
  let textStart = start;
  let index = start;
  while (index < end) {
    const found = reader.read(index, textStart);
    if (!found || found.token === 'plain') {
      index = found?.next ?? index + 1;
      continue;
    }
    const { token, next } = found;
    const tokenStart = token === 'mark' ? index : token.start;
    if (textStart < tokenStart) yield { kind: 'text', start: textStart, end: tokenStart };
    if (token !== 'mark') yield token;
    index = next;
    textStart = next;
  }
  if (textStart < end) yield { kind: 'text', start: textStart, end };
}

class InlineReader {
  readonly #source: string;
  readonly #start: number;
  readonly #end: number;
  readonly #lastTarget: number;
  #searchLeft = FAILED_SEARCH_UNITS;

  constructor(source: string, start: number, end: number) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    this.#lastTarget = start + source.slice(start, end).lastIndexOf('](');
  }

  /** @param textStart start of the text that precedes `index` and is in no token yet */
  read(index: number, textStart: number): Found | undefined {
    switch (this.#source[index]) {
      case '\\':
        return this.#escape(index);
      case '&':
        return this.#reference(index);
      case '`':
        return this.#code(index);
      case '*':
      case '_':
      case '~':
        return this.#emphasis(index);
      case '[':
        return this.#open(index, textStart);
      case ']':
        return this.#target(index);
      case '<':
        return this.#source.startsWith('<!--', index)
          ? this.#comment(index)
          : (this.#autolink(index) ?? this.#tag(index));
      default:
        return undefined;
    }
  }

  #escape(index: number): Found | undefined {
    const next = index + 1;
    const character = this.#source[next] ?? '';
    if (PUNCTUATION.test(character))
      return { next: next + 1, token: { kind: 'decoded', text: character, start: index, end: next + 1 } };
    return next === this.#end ? { next, token: 'mark' } : undefined;
  }

  #reference(index: number): Found | undefined {
    const reference = readReference(this.#source, index);
    if (!reference || index + reference.length > this.#end) return undefined;
    const next = index + reference.length;
    return { next, token: { kind: 'decoded', text: reference.text, start: index, end: next } };
  }

  /** CommonMark 6.1. A backtick that opens no code span is dropped. */
  #code(index: number): Found {
    const source = this.#source;
    const runOf = (at: number): number => {
      let after = at + 1;
      while (after < this.#end && source[after] === '`') after += 1;
      return after - at;
    };
    const width = runOf(index);
    const start = index + width;
    if (this.#searchLeft > 0) {
      const stop = Math.min(this.#end, index + CONSTRUCT_UNITS);
      for (let at = start; at < stop; ) {
        if (source[at] !== '`') {
          at += 1;
          continue;
        }
        const run = runOf(at);
        if (run === width)
          return { next: at + run, token: { kind: 'code', text: [start, at], start: index, end: at + run } };
        at += run;
      }
      this.#searchLeft -= stop - index;
    }
    return { next: index + 1, token: 'mark' };
  }

  /** A run of `*`, `_` or `~`. It is a mark if it touches a word; `_` only at the edge of one, `~` only in pairs. */
  #emphasis(index: number): Found {
    const source = this.#source;
    const character = source[index];
    let next = index + 1;
    while (next < this.#end && source[next] === character) next += 1;
    const length = next - index;
    if (character === '~') return { next, token: length === 2 ? 'mark' : 'plain' };
    const before = index > this.#start ? source[index - 1]! : ' ';
    const after = next < this.#end ? source[next]! : ' ';
    if (length > 3 || (/\s/.test(before) && /\s/.test(after))) return { next, token: 'plain' };
    const edge = (OUTSIDE.test(before) && !/\s/.test(after)) || (OUTSIDE.test(after) && !/\s/.test(before));
    return { next, token: character === '*' || edge ? 'mark' : 'plain' };
  }

  #open(index: number, textStart: number): Found | undefined {
    NOTE.lastIndex = index;
    const note = NOTE.exec(this.#source);
    const next = index + (note?.[0].length ?? 1);
    if (note && next <= this.#end) return { next, token: { kind: 'note', start: index, end: next } };
    const marked = this.#source[index - 1] === '!';
    if (!marked && index >= this.#lastTarget) return undefined;
    const image = marked && index > textStart;
    return { next: index + 1, token: { kind: 'open', image, start: image ? index - 1 : index, end: index + 1 } };
  }

  /** `](url "title")` (CommonMark 6.3). */
  #target(index: number): Found | undefined {
    const position = index + 1;
    if (this.#source[position] !== '(' || this.#searchLeft <= 0) return undefined;
    const data = /^\(\s?data:/i.test(this.#source.slice(position, position + 8));
    const stop = data ? this.#end : Math.min(this.#end, position + CONSTRUCT_UNITS);
    const found = data ? this.#dataTarget(position, stop) : this.#linkTarget(position, stop);
    if (!found) {
      this.#searchLeft -= stop - position;
      return undefined;
    }
    const [url, close] = found;
    const next = close + 1;
    return { next, token: { kind: 'target', url, title: [url[1], close], start: index, end: next } };
  }

  #dataTarget(position: number, stop: number): [url: Range, close: number] | undefined {
    const close = this.#find(')', position, stop);
    return close < 0 ? undefined : [[position + 1, close], close];
  }

  #linkTarget(position: number, stop: number): [url: Range, close: number] | undefined {
    const source = this.#source;
    let start = position + 1;
    if (source[start] === '<') {
      const end = this.#find('>', start, stop);
      const close = end < 0 ? -1 : this.#find(')', end, stop);
      return close < 0 ? undefined : [[start + 1, end], close];
    }
    while (source[start] === ' ') start += 1;
    let depth = 0;
    let end = start;
    for (; end < stop; end += 1) {
      const character = source[end]!;
      if (character === '\\') end += 1;
      else if (character === '(') depth += 1;
      else if (character === ')') {
        if (depth === 0) return [[start, end], end];
        depth -= 1;
      } else if (/\s/.test(character)) break;
    }
    const title = /^\s+(["'])/.exec(source.slice(end, Math.min(stop, end + 64)));
    if (!title) return undefined;
    const quote = this.#find(title[1]!, end + title[0].length, stop);
    const close = quote < 0 ? -1 : this.#find(')', quote, stop);
    return close < 0 ? undefined : [[start, end], close];
  }

  #comment(index: number): Found | undefined {
    if (this.#searchLeft <= 0) return undefined;
    const close = this.#find('-->', index, this.#end);
    if (close < 0) {
      this.#searchLeft -= this.#end - index;
      return undefined;
    }
    const next = close + 3;
    return { next, token: { kind: 'comment', text: [Math.min(index + 4, close), close], start: index, end: next } };
  }

  #autolink(index: number): Found | undefined {
    AUTOLINK.lastIndex = index;
    const link = AUTOLINK.exec(this.#source);
    const next = index + (link?.[0].length ?? 0);
    if (!link || next > this.#end) return undefined;
    return link[1] === undefined
      ? { next, token: { kind: 'mail', start: index, end: next } }
      : { next, token: { kind: 'autolink', url: [index + 1, next - 1], start: index, end: next } };
  }

  #tag(index: number): Found | undefined {
    const tag = readTag(this.#source, index, this.#end);
    return tag && { next: tag.end, token: { kind: 'tag', tag, start: index, end: tag.end } };
  }

  #find(needle: string, from: number, stop: number): number {
    const found = this.#source.slice(from, stop).indexOf(needle);
    return found < 0 ? -1 : from + found;
  }
}
