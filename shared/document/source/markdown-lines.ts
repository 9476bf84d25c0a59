// Splits Markdown into lines with source offsets and finds the kind of block that each line belongs to, in linear time.

/** UTF-16 offsets `[start, end)`. */
export type Range = readonly [start: number, end: number];

export interface MarkdownLine {
  /** Offsets of the line without its line break. */
  start: number;
  end: number;
  /** Only whitespace. */
  blank: boolean;
  content:
    | { kind: 'blank' }
    /** A line that opens or closes a fenced code block; `info` is the text after the fence: the name of the language. */
    | { kind: 'fence'; info: Range }
    /** A line of a fenced code block. */
    | { kind: 'code' }
    /** A row of a pipe table. */
    | { kind: 'row'; cells: Range[] }
    /** The row of dashes under the header of a pipe table. */
    | { kind: 'delimiter' }
    /** A thematic break. */
    | { kind: 'rule' }
    /** Text. `range` is without the marks of the block and without trailing blanks. */
    | { kind: TextKind; range: Range };
}

type TextKind = 'heading' | 'item' | 'paragraph';

const FENCE = /^[\s>]{0,40}(`{3,}|~{3,})/;
const PREFIX = /^(?:\s{0,3}>)*\s*(?:(#{1,6}(?=\s)\s+)|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?/;
const MARKER = /[^\s>]/;
const RULE = /^[\s|:-]{3,}$/;
const ROW = /^\s*(?:>\s*)*\|/;

/**
 * Reads the lines of a Markdown text, in order. Except for code fences, each line is read without its neighbours. This is enough for the
 * Markdown of this product, because each paragraph is one line and each table row starts with a pipe.
 */
export function* readLines(source: string): Generator<MarkdownLine> {
  let fence = '';
  for (let start = 0; start <= source.length; ) {
    const newline = source.indexOf('\n', start);
    const end = newline < 0 ? source.length : newline;
    const line = source.slice(start, end);
    const blank = line.trim() === '';
    const [opening = '', mark = ''] = FENCE.exec(line) ?? [];
    const info: Range = [start + opening.length, end];
    if (fence !== '') {
      const closes = mark.startsWith(fence) && source.slice(...info).trim() === '';
      if (closes) fence = '';
      yield { start, end, blank, content: closes ? { kind: 'fence', info } : { kind: 'code' } };
    } else if (mark !== '') {
      fence = mark;
      yield { start, end, blank, content: { kind: 'fence', info } };
    } else yield { start, end, blank, content: blank ? { kind: 'blank' } : readContent(source, start, end) };
    if (newline < 0) return;
    start = end + 1;
  }
}

/** The kind and content of a line outside code blocks. */
function readContent(source: string, start: number, end: number): MarkdownLine['content'] {
  const line = source.slice(start, end);
  const rule = RULE.test(line);
  if (ROW.test(line)) return rule ? { kind: 'delimiter' } : { kind: 'row', cells: cellsOf(source, start, end) };
  if (rule) return { kind: 'rule' };
  const [prefix = '', heading] = PREFIX.exec(line) ?? [];
  // Blanks at the end of a line are a hard line break (CommonMark 6.7), not text.
  let last = end;
  while (last > start && (source[last - 1] === ' ' || source[last - 1] === '\r')) last -= 1;
  const kind = heading !== undefined ? 'heading' : MARKER.test(prefix) ? 'item' : 'paragraph';
  return { kind, range: [start + prefix.length, last] };
}

/** The cells of a table row: the ranges between its unescaped pipes. Blanks after the last pipe are not a cell. */
function cellsOf(source: string, start: number, end: number): Range[] {
  const cells: Range[] = [];
  let open = -1;
  for (let index = start; index < end; index += 1) {
    if (source[index] === '\\') index += 1;
    else if (source[index] === '|') {
      if (open >= 0) cells.push([open, index]);
      open = index + 1;
    }
  }
  if (open >= 0 && source.slice(open, end).trim() !== '') cells.push([open, end]);
  return cells;
}
