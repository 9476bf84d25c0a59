// Divides the lines of a plain text into paragraphs, lists, and blocks whose layout has a meaning: tables, drawings, code.
import { indentOf, isWrapped, joinLines, LIST_MARKER } from './wrapping.ts';

export type PlainBlock =
  /** Each line is shown on a line of its own. */
  | { kind: 'paragraph'; lines: string[] }
  /** The text of an item does not contain its marker. `start`: the number of the first item; undefined for bullets. */
  | { kind: 'list'; start?: number; items: string[][] }
  | { kind: 'preformatted'; lines: string[] };

/** A line of more code units is a paragraph: its program wraps lines on the screen and ends each paragraph with one line break. */
const PARAGRAPH_LINE = 150;
/** Columns of indentation beyond the document's own, from which the indentation of a block has a meaning. */
const CODE_INDENT = 4;
/** Lines of a block that are searched for columns. */
const SEARCHED_LINES = 200;
const DRAWN = /^\s*[|+].*[|+]$|[\u2500-\u259f]/;
/** White space inside a line that is too wide for the space between two words. */
const WIDE_GAP = /\S {3,}(?=\S)|\S *\t\s*(?=\S)/g;
/** The line between the header and the rows of a table of characters. */
const TABLE_RULE = /^(?=.*[|+])(?=.*[-=]{2})[\s|:+=-]+$/;
const BULLET = /^(\s*)([-*+•·‣–])(\s+)(?=\S)/;
const NUMBER = /^(\s*)(\d{1,4})([.)])(\s+)(?=\S)/;

/**
 * The blocks of one run of lines without a blank line.
 * @param base the indentation that most lines of the document have
 */
export function blocksOf(lines: readonly string[], width: number | undefined, base: number): PlainBlock[] {
  if (isDrawn(lines) || hasColumns(lines)) return [{ kind: 'preformatted', lines: [...lines] }];
  const list = listOf(lines, width);
  if (list) return [list];
  const indents = lines.map(indentOf);
  const [first = 0, second = first] = indents;
  const even = indents.slice(1).every((indent) => indent === second);
  const items = wrappedItems(lines, width);
  if (items) return [{ kind: 'paragraph', lines: items }];
  const code =
    !isCentered(lines) &&
    (!even || (lines.length > 1 && (second > first || Math.min(first, second) >= base + CODE_INDENT)));
  if (code) return [{ kind: 'preformatted', lines: [...lines] }];
  const texts = lines.map((line) => line.trim());
  if (texts.some((text) => text.length > PARAGRAPH_LINE))
    return texts.map((text) => ({ kind: 'paragraph', lines: [text] }));
  return [{ kind: 'paragraph', lines: texts }];
}

/** Whether most lines are part of a table or a drawing of characters. */
function isDrawn(lines: readonly string[]): boolean {
  if (lines.length < 2) return false;
  let drawn = 0;
  for (const line of lines) {
    const start = line.slice(0, 1_000);
    if (TABLE_RULE.test(start)) return true;
    if (DRAWN.test(start)) drawn++;
  }
  return drawn * 2 >= lines.length;
}

/** Whether text starts at the same column, after a gap, in most lines. One line needs two wide gaps. */
function hasColumns(lines: readonly string[]): boolean {
  const searched = lines.slice(0, SEARCHED_LINES);
  if (searched.length === 1) return ((searched[0] ?? '').slice(0, 1_000).trim().match(WIDE_GAP)?.length ?? 0) >= 2;
  const columns = new Map<number, number>();
  const found = searched.map((line) => gapEnds(line.slice(0, 1_000)));
  for (const ends of found) for (const end of new Set(ends)) columns.set(end, (columns.get(end) ?? 0) + 1);
  const aligned = found.filter((ends) => ends.some((end) => end < 0 || (columns.get(end) ?? 0) >= 2)).length;
  return aligned >= 2 && aligned * 2 >= searched.length;
}

/** The columns where text starts after two spaces or more, but not after the marker of an item or the end of a sentence; -1 for a tab. */
function gapEnds(line: string): number[] {
  const start = LIST_MARKER.exec(line)?.[0].length ?? line.length - line.trimStart().length;
  const ends: number[] = [];
  for (const match of line.slice(start).matchAll(/(\S)( {2,}|[ ]*\t\s*)(?=\S)/g)) {
    const [all, before = '', gap = ''] = match;
    if (gap.includes('\t')) ends.push(-1);
    else if (gap.length > 2 || !/[.!?:;,"')\]”’]/.test(before)) ends.push(start + match.index + all.length);
  }
  return ends;
}

/** Whether the lines have the same middle, like the lines of a title. */
function isCentered(lines: readonly string[]): boolean {
  if (lines.length < 2 || lines.length > 12) return false;
  const middles = lines.map((line) => (indentOf(line) + line.length) / 2);
  return Math.max(...middles) - Math.min(...middles) <= 1.5 && middles.every((middle) => middle >= 12);
}

/** A list of at least two items with the same bullet, or with consecutive numbers; undefined for any other run. */
function listOf(lines: readonly string[], width: number | undefined): PlainBlock | undefined {
  const opening = BULLET.exec(lines[0] ?? '') ?? NUMBER.exec(lines[0] ?? '');
  if (!opening) return undefined;
  const numbered = opening[4] !== undefined;
  const indent = indentOf(lines[0] ?? '');
  const items: string[][] = [];
  for (const line of lines) {
    const marker = (numbered ? NUMBER : BULLET).exec(line);
    if (marker && indentOf(line) === indent) {
      const expected = numbered ? Number(opening[2]) + items.length : opening[2];
      if ((numbered ? Number(marker[2]) : marker[2]) !== expected || (numbered && marker[3] !== opening[3]))
        return undefined;
      items.push([line]);
    } else if (indentOf(line) > indent && !LIST_MARKER.test(line)) items.at(-1)?.push(line);
    else return undefined;
  }
  if (items.length < 2) return undefined;
  const written = items.map((item) => {
    const [first = '', ...rest] = item;
    const texts = [first.replace(LIST_MARKER, ''), ...rest.map((line) => line.trim())];
    return isWrapped(item, width) ? [joinLines(texts)] : texts;
  });
  return { kind: 'list', items: written, ...(numbered ? { start: Number(opening[2]) } : {}) };
}

/**
 * The joined lines of a run that is wrapped: one for a paragraph, or one for each item that begins with a marker.
 * Undefined if the lines were not wrapped.
 */
function wrappedItems(lines: readonly string[], width: number | undefined): string[] | undefined {
  if (width === undefined || lines.length < 2) return undefined;
  const items: string[][] = [];
  for (const line of lines) {
    const item = items.at(-1);
    if (item === undefined || LIST_MARKER.test(line.slice(0, 80))) items.push([line]);
    else item.push(line);
  }
  let joined = 0;
  for (const item of items) {
    const rest = item.slice(1).map(indentOf);
    if (item.length > 1 && (!rest.every((indent) => indent === rest[0]) || !isWrapped(item, width))) return undefined;
    if (item.length > 1) joined++;
  }
  return joined === 0 ? undefined : items.map(joinLines);
}
