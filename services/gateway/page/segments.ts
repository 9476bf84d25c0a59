// Divides the Markdown into segments that belong to one block each, and into sections that the page renders when they are visible.
import type { Block, PageBlocks } from '#shared/contract/response.ts';

interface PlacedBlock {
  block: Block;
  pageNumber: number;
}

/** A part of the Markdown, `[start, end)`. Text between blocks, such as a page marker, has no block. */
export interface Segment {
  start: number;
  end: number;
  placed: PlacedBlock | undefined;
  /** The head of the pipe table that a former segment starts, `[start, end)`. Without it, the rows of this segment are no table. */
  tableHead?: readonly [number, number];
}

/** Sections get at least this many characters, so that a long document has few of them. */
const SECTION_LENGTH = 8_192;
/** A segment longer than this is divided at a line break, so that no section takes long to render. */
const SEGMENT_LENGTH = 32_768;

/** Every block by its id. */
export function placeBlocks(pages: readonly PageBlocks[]): Map<string, PlacedBlock> {
  return new Map(
    pages.flatMap(({ pageNumber, items }) => items.map((block) => [block.id, { block, pageNumber }] as const)),
  );
}

/** The segments of the Markdown in order, without gaps. */
export function segmentsOf(markdown: string, blocks: Iterable<PlacedBlock>): Segment[] {
  const placed = [...blocks].filter(({ block }) => block.markdownSpan !== null).sort((a, b) => startOf(a) - startOf(b));
  const segments: Segment[] = [];
  let position = 0;
  for (const item of placed) {
    const [start, end] = item.block.markdownSpan ?? [0, 0];
    if (start < position || end <= start || end > markdown.length) continue;
    if (start > position) segments.push(...plainSegments(markdown, position, start));
    segments.push({ start, end, placed: item });
    position = end;
  }
  if (position < markdown.length) segments.push(...plainSegments(markdown, position, markdown.length));
  return segments;
}

const startOf = ({ block }: PlacedBlock): number => block.markdownSpan?.[0] ?? 0;

/** Text without blocks, divided between paragraphs, never inside a fenced code block or an HTML table unless it is very long. */
function plainSegments(markdown: string, from: number, to: number): Segment[] {
  const segments: Segment[] = [];
  const state = new LineState();
  let start = from;
  let head: Segment['tableHead'];
  for (let line = from; line < to; ) {
    const lineEnd = markdown.indexOf('\n', line);
    const next = lineEnd === -1 || lineEnd >= to ? to : lineEnd + 1;
    const length = line - start;
    const text = markdown.slice(line, next);
    if ((length >= SECTION_LENGTH && state.isBetweenParagraphs(text)) || length >= SEGMENT_LENGTH) {
      segments.push({ start, end: line, placed: undefined, ...(head ? { tableHead: head } : {}) });
      start = line;
      head = state.tableHead(text);
    }
    state.read(text, line, next);
    line = next;
  }
  if (start < to) segments.push({ start, end: to, placed: undefined, ...(head ? { tableHead: head } : {}) });
  return segments;
}

/** What the lines so far have opened. */
class LineState {
  #fence = '';
  #htmlTables = 0;
  #blank = false;
  /** Start of the pipe table that the last line belongs to, and the ends of its lines so far (of the first two). */
  #tableStart = -1;
  #tableLines: number[] = [];

  read(text: string, start: number, end: number): void {
    this.#fence = fenceAfter(this.#fence, text);
    if (this.#fence === '')
      this.#htmlTables = Math.max(0, this.#htmlTables + count(text, /<table\b/gi) - count(text, /<\/table>/gi));
    this.#blank = text.trim() === '';
    if (!isRow(text)) this.#tableStart = -1;
    else if (this.#tableStart < 0) [this.#tableStart, this.#tableLines] = [start, [end]];
    else if (this.#tableLines.length < 2) this.#tableLines.push(end);
  }

  /** Whether a paragraph ends before this line. A list can continue after an empty line. */
  isBetweenParagraphs(next: string): boolean {
    return this.#blank && this.#fence === '' && this.#htmlTables === 0 && /^[^\s\-*+\d>]/.test(next);
  }

  /** The head of the pipe table that this line continues. */
  tableHead(next: string): Segment['tableHead'] {
    const end = this.#tableLines[1];
    return this.#tableStart >= 0 && end !== undefined && isRow(next) ? [this.#tableStart, end] : undefined;
  }
}

const isRow = (line: string): boolean => line.startsWith('|');

/** The mark of the fenced code block that is open after a line; empty if none is. */
export function fenceAfter(fence: string, line: string): string {
  const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
  if (mark === undefined) return fence;
  return fence === '' ? mark : mark.startsWith(fence) ? '' : fence;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Consecutive segments, grouped to sections. */
export function sectionsOf(segments: readonly Segment[]): Segment[][] {
  const sections: Segment[][] = [];
  let length = 0;
  for (const segment of segments) {
    const last = sections.at(-1);
    if (!last || length >= SECTION_LENGTH) {
      sections.push([segment]);
      length = 0;
    } else last.push(segment);
    length += segment.end - segment.start;
  }
  return sections;
}
