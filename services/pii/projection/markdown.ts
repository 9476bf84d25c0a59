// Projects Markdown: prose without its marks, cells with their headings, link targets beside it.
import { readReference } from './entities.ts';
import { projectAttributes } from './html.ts';
import { CHUNK_UNITS, CHUNK_UNITS_MAX, type Projection, ProjectionBuilder } from './projection.ts';
import { INLINE_ELEMENTS, readTag } from './tag.ts';
import { projectUrl } from './url.ts';

const FENCE = /^[\s>]{0,40}(`{3,}|~{3,})/;
const PREFIX = /^(?:\s{0,3}>)*\s*(?:#{1,6}(?=\s)\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?/;
const RULE = /^[\s|:-]{3,}$/;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** What may stand outside an emphasis mark of underscores. */
const OUTSIDE = /[\s()[\]"'.,;:!?|*~]/;
/** Code units that are searched for the end of a link, a code span or a comment. */
const INLINE_REACH = 8_192;
/** Code units of one line that such searches may go through in vain; past it the line's marks are read as text. */
const VAIN_SEARCH = 256 * 1024;

/** What is left of `VAIN_SEARCH`: many openings without an end must not make the reading quadratic. */
interface Budget {
  left: number;
}

interface Builders {
  text: ProjectionBuilder;
  titles: ProjectionBuilder;
  attributes: ProjectionBuilder;
  urls: ProjectionBuilder;
}

/** Offset behind the code span that opens at `position`, and the width of its fence; undefined where it never closes. */
function codeSpan(
  source: string,
  position: number,
  end: number,
  budget: Budget,
): { width: number; close: number } | undefined {
  let width = 1;
  while (source[position + width] === '`') width += 1;
  if (budget.left <= 0) return undefined;
  const reach = Math.min(end, position + INLINE_REACH);
  for (let index = position + width; index < reach; ) {
    if (source[index] !== '`') {
      index += 1;
      continue;
    }
    let run = 1;
    while (source[index + run] === '`') run += 1;
    if (run === width) return { width, close: index };
    index += run;
  }
  budget.left -= reach - position;
  return undefined;
}

function indexWithin(source: string, needle: string, from: number, limit: number): number {
  const found = source.slice(from, limit).indexOf(needle);
  return found < 0 ? -1 : from + found;
}

interface LinkTarget {
  start: number;
  stop: number;
  /** Place of the closing bracket. */
  close: number;
}

/** The `(target "title")` that begins at `position` (which holds `(`): CommonMark 6.3. */
function linkTarget(source: string, position: number, end: number, budget: Budget): LinkTarget | undefined {
  if (budget.left <= 0) return undefined;
  const inline = /^\(\s?data:/i.test(source.slice(position, position + 8));
  const reach = inline ? end : Math.min(end, position + INLINE_REACH);
  const target = inline ? dataTarget(source, position, reach) : findTarget(source, position, reach);
  if (!target) budget.left -= reach - position;
  return target;
}

function dataTarget(source: string, position: number, reach: number): LinkTarget | undefined {
  const close = indexWithin(source, ')', position, reach);
  return close < 0 ? undefined : { start: position + 1, stop: close, close };
}

function findTarget(source: string, position: number, reach: number): LinkTarget | undefined {
  let start = position + 1;
  if (source[start] === '<') {
    const stop = indexWithin(source, '>', start, reach);
    const close = stop < 0 ? -1 : indexWithin(source, ')', stop, reach);
    return close < 0 ? undefined : { start: start + 1, stop, close };
  }
  while (source[start] === ' ') start += 1;
  let depth = 0;
  let stop = start;
  for (; stop < reach; stop += 1) {
    const character = source[stop]!;
    if (character === '\\') stop += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      if (depth === 0) return { start, stop, close: stop };
      depth -= 1;
    } else if (/\s/.test(character)) break;
  }
  // A title may follow.
  const opened = /^\s+(["'])/.exec(source.slice(stop, Math.min(reach, stop + 64)));
  if (!opened) return undefined;
  const closing = indexWithin(source, opened[1]!, stop + opened[0].length, reach);
  const close = closing < 0 ? -1 : indexWithin(source, ')', closing, reach);
  return close < 0 ? undefined : { start, stop, close };
}

/** A run of `*`, `_` or `~`: its length, and whether it marks emphasis (`*` and `~~` that touch a word, `_` at the edge of one). */
function emphasisRun(source: string, position: number, start: number, end: number): { length: number; marks: boolean } {
  const character = source[position]!;
  let length = 1;
  while (position + length < end && source[position + length] === character) length += 1;
  if (character === '~') return { length, marks: length === 2 };
  const previous = position > start ? source[position - 1]! : ' ';
  const next = position + length < end ? source[position + length]! : ' ';
  if (length > 3 || (/\s/.test(previous) && /\s/.test(next))) return { length, marks: false };
  const edge = (OUTSIDE.test(previous) && !/\s/.test(next)) || (OUTSIDE.test(next) && !/\s/.test(previous));
  return { length, marks: character === '*' || edge };
}

function projectInline(builders: Builders, source: string, start: number, end: number): void {
  const { text } = builders;
  const budget: Budget = { left: VAIN_SEARCH };
  const lastLink = start + source.slice(start, end).lastIndexOf('](');
  let copied = start;
  let index = start;
  /** Copies what was plain so far and goes on behind `next`. */
  const skip = (next: number): void => {
    text.copy(source, copied, index);
    index = next;
    copied = next;
  };
  while (index < end) {
    const character = source[index]!;
    if (character === '\\' && PUNCTUATION.test(source[index + 1] ?? '')) {
      const at = index;
      skip(at + 2);
      text.emit(source[at + 1]!, at, at + 2);
    } else if (character === '\\' && index + 1 === end) skip(end);
    else if (character === '&') {
      const reference = readReference(source, index);
      if (!reference || index + reference.length > end) index += 1;
      else {
        const at = index;
        skip(at + reference.length);
        text.emit(reference.text, at, at + reference.length);
      }
    } else if (character === '`') {
      const span = codeSpan(source, index, end, budget);
      const width = span?.width ?? 1;
      skip(index + width);
      if (span) {
        text.copy(source, index, span.close);
        index = span.close + span.width;
        copied = index;
      }
    } else if (character === '*' || character === '_' || character === '~') {
      const run = emphasisRun(source, index, start, end);
      if (run.marks) skip(index + run.length);
      else index += run.length;
    } else if (character === ']' && source[index + 1] === '(') {
      const target = linkTarget(source, index + 1, end, budget);
      if (!target) {
        index += 1;
        continue;
      }
      const after = target.close + 1;
      skip(after);
      text.gap(']');
      projectUrl(builders.urls, source, target.start, target.stop);
      builders.titles.gap('\n\n');
      builders.titles.copy(source, target.stop, target.close);
    } else if (character === '[' && (source[index - 1] === '!' || index < lastLink)) {
      skip(index + 1);
      text.gap('[');
    } else if (character === '<') {
      const next = markup(builders, source, index, end, budget, () => text.copy(source, copied, index));
      if (next === index) index += 1;
      else {
        index = next;
        copied = next;
      }
    } else index += 1;
  }
  text.copy(source, copied, end);
}

/** A comment, an autolink or a tag at `position`; gives the offset behind it, or `position` where none stands there. */
function markup(
  builders: Builders,
  source: string,
  position: number,
  end: number,
  budget: Budget,
  flush: () => void,
): number {
  if (source.startsWith('<!--', position)) {
    const close = budget.left > 0 ? indexWithin(source, '-->', position, end) : -1;
    if (close < 0) {
      budget.left -= end - position;
      return position;
    }
    flush();
    return close + 3;
  }
  const autolink = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]{1,2000}|[^\s<>@]{1,64}@[^\s<>@]{1,255})>/iy;
  autolink.lastIndex = position;
  const link = autolink.exec(source);
  if (link && position + link[0].length <= end) {
    const inner = link[1]!;
    const first = position + 1;
    const last = position + link[0].length - 1;
    flush();
    if (/^[a-z][a-z0-9+.-]{1,31}:/i.test(inner)) {
      projectUrl(builders.urls, source, first, last);
      builders.text.gap(' ');
    } else {
      // The brackets go with the address, or the marker would stand in two pairs.
      builders.text.emit(source[first]!, position, first + 1);
      builders.text.copy(source, first + 1, last - 1);
      builders.text.emit(source[last - 1]!, last - 1, last + 1);
    }
    return last + 1;
  }
  const tag = readTag(source, position, end);
  if (!tag) return position;
  flush();
  projectAttributes(tag, source, builders.attributes, builders.urls);
  if (!INLINE_ELEMENTS.has(tag.name)) builders.text.gap(tag.name === 'td' || tag.name === 'th' ? '\n|\n' : '\n');
  return tag.end;
}

/** Places of the unescaped pipes of a table row. */
function pipes(source: string, start: number, end: number): number[] {
  const places: number[] = [];
  for (let index = start; index < end; index += 1) {
    if (source[index] === '\\') index += 1;
    else if (source[index] === '|') places.push(index);
  }
  return places;
}

/** The projections of a Markdown text, in chunks that end at paragraph borders (a table may be cut between rows). */
export function* projectMarkdown(source: string): Generator<Projection> {
  const builders: Builders = {
    text: new ProjectionBuilder('text', 'raw'),
    titles: new ProjectionBuilder('attribute', 'raw'),
    attributes: new ProjectionBuilder('attribute', 'html'),
    urls: new ProjectionBuilder('url', 'percent'),
  };
  const { text } = builders;
  let fence = '';
  let headings: string[] | undefined;
  for (let start = 0; start <= source.length; ) {
    const newline = source.indexOf('\n', start);
    const end = newline < 0 ? source.length : newline;
    const line = end - start > INLINE_REACH ? source.slice(start, start + INLINE_REACH) : source.slice(start, end);
    const mark = FENCE.exec(line)?.[1];
    const trimmed = line.trim();
    if (fence !== '') {
      if (mark?.startsWith(fence) && trimmed.replace(/^[\s>]+/, '') === mark) fence = '';
      else text.copy(source, start, end);
    } else if (mark) fence = mark;
    else if (/^(?:>\s*)*\|/.test(trimmed)) {
      const places = pipes(source, start, end);
      const isRule = RULE.test(trimmed);
      const row: string[] = [];
      for (let column = 0; column < places.length && !isRule; column += 1) {
        const stop = places[column + 1] ?? end;
        if (column + 1 >= places.length && source.slice(places[column]! + 1, stop).trim() === '') break;
        text.openCell();
        projectInline(builders, source, places[column]! + 1, stop);
        const heading = headings?.[column] ?? '';
        const value = text.closeCell(heading);
        if (!headings) row.push(value.toLowerCase());
      }
      headings ??= row;
      if (text.length >= CHUNK_UNITS) for (const builder of Object.values(builders)) yield* builder.take();
    } else {
      headings = undefined;
      if (!RULE.test(line)) {
        const prefix = PREFIX.exec(line)?.[0].length ?? 0;
        // Blanks at the end make a hard line break: a mark, no text.
        let last = end;
        while (last > start && (source[last - 1] === ' ' || source[last - 1] === '\r')) last -= 1;
        for (let from = start + prefix; from < last; from += CHUNK_UNITS) {
          projectInline(builders, source, from, Math.min(last, from + CHUNK_UNITS));
          if (text.length > CHUNK_UNITS_MAX) yield* text.take();
        }
      }
    }
    if (newline < 0) break;
    text.copy(source, end, end + 1);
    if (trimmed === '' ? text.length >= CHUNK_UNITS : text.length >= CHUNK_UNITS_MAX)
      for (const builder of Object.values(builders)) yield* builder.take();
    start = end + 1;
  }
  for (const builder of Object.values(builders)) yield* builder.take();
}
