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
}

/** Sections get at least this many characters, so that a long document has few of them. */
const SECTION_LENGTH = 8_192;
/** A segment longer than this is divided at a line break, so that no section takes long to render. */
const SEGMENT_LENGTH = 65_536;

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

/** Text without blocks, divided between paragraphs, never inside a fenced code block or an HTML table. */
function plainSegments(markdown: string, from: number, to: number): Segment[] {
  const segments: Segment[] = [];
  let start = from;
  let fence = '';
  let tables = 0;
  let blankBefore = false;
  for (let line = from; line < to; ) {
    const lineEnd = markdown.indexOf('\n', line);
    const next = lineEnd === -1 || lineEnd >= to ? to : lineEnd + 1;
    const text = markdown.slice(line, Math.min(next, line + 200));
    const length = line - start;
    const between = blankBefore && fence === '' && tables === 0 && /^[^\s\-*+\d>]/.test(text);
    if ((length >= SECTION_LENGTH && between) || length >= SEGMENT_LENGTH) {
      segments.push({ start, end: line, placed: undefined });
      start = line;
    }
    const mark = /^ {0,3}(```+|~~~+)/.exec(text)?.[1];
    if (mark !== undefined) fence = fence === '' ? mark : mark.startsWith(fence) ? '' : fence;
    if (fence === '') {
      const whole = markdown.slice(line, next);
      tables = Math.max(0, tables + count(whole, /<table\b/gi) - count(whole, /<\/table>/gi));
    }
    blankBefore = text.trim() === '';
    line = next;
  }
  if (start < to) segments.push({ start, end: to, placed: undefined });
  return segments;
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
