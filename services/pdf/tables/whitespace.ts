// Finds tables that nothing but white space marks, among the lines of one column; prose, lists, forms and letterheads must not pass.
// Its rules are tested in whitespace.test.ts, and with whole pages in ../layout/page.test.ts.

import { holdsCurve, liesOnPicture } from '../source/charts.ts';
import { boundingBox, overlap } from '../source/geometry.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import type { TableGrid } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { type Chunk, chunkText, groupRows } from '../text/lines.ts';
import { isTableCaption } from '../text/markers.ts';
import { CELL_GAP, findColumns, readCut, textRows, writesSpaces } from './alignment.ts';
import { findTwoTables, sidesAt } from './beside.ts';
import { type CentredRows, findCentredRows, HEAD_GAP } from './centred.ts';
import { type FoundTable, tableConfidence } from './grid.ts';
import { bestStretch, type ColumnLine, columnLines, type Stretch } from './stretch.ts';
import { judge } from './verdict.ts';

/** Lines from a caption to the rows that it names. */
const CAPTION_LINES = 4;
/** White space between the lines of one table, and between it and its caption, in type sizes. */
const MAX_GAP = 2.2;
/** A line drawn over this share of a stretch is one of its own. */
const WIDE_RULE = 0.6;
/** How far outside the text a table's first or last line is drawn, in points. */
const RULE_REACH = 8;
/** Fewer of a grid's cells than this hold text where labels are strewn over a chart. */
const MIN_FILL = 0.4;

type ColumnPart = { chunks: Chunk[]; table?: undefined } | { table: FoundTable; chunks?: undefined };

interface Block {
  lines: ColumnLine[];
  /** Whether the caption of a table stands close above it, and below it. */
  captionAbove: boolean;
  captionBelow: boolean;
}

/** A column's chunks as stretches of text and tables, top to bottom. */
export function splitTables(chunks: readonly Chunk[], page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const parts: ColumnPart[] = [];
  for (const block of blocksOf(columnLines(groupRows(chunks)))) parts.push(...splitBlock(block, page, vocabulary));
  const joined: ColumnPart[] = [];
  for (const part of parts) {
    const open = joined.at(-1);
    if (part.chunks && open?.chunks && !apart.has(part.chunks) && !apart.has(open.chunks))
      open.chunks.push(...part.chunks);
    else joined.push(part);
  }
  return joined;
}

/** The tables of a page that lines of text at different heights tell: otherwise the texts in their cells are taken for columns of text. */
export function findCentredTables(chunks: readonly Chunk[], page: PageContent, vocabulary: Vocabulary): FoundTable[] {
  return blocksOf(columnLines(groupRows(chunks))).flatMap((block) => {
    const rows = findCentredRows(block.lines);
    if (!rows) return [];
    const [first, last] = [block.lines[rows.start], block.lines[rows.end - 1]];
    // A table that lines at one height tell may have other rows too.
    const longer = splitBlock(block, page, vocabulary).some(
      ({ table }) => table && first && last && (table.box.y0 < first.box.y0 - 1 || table.box.y1 > last.box.y1 + 1),
    );
    if (longer) return [];
    return readCentred(rows, block.lines.slice(rows.start, rows.end), page, vocabulary);
  });
}

/** Chunks that are read as one piece: the sides of a letterhead. */
const apart = new WeakSet<Chunk[]>();

/** Lines that stand close to each other, the captions of tables apart. */
function blocksOf(lines: readonly ColumnLine[]): Block[] {
  const blocks: Block[] = [];
  let above: ColumnLine | undefined;
  for (const line of lines) {
    const open = blocks.at(-1);
    const close = above !== undefined && line.box.y0 - above.box.y1 <= line.size * MAX_GAP;
    if (isCaptionLine(line)) {
      if (open && close) open.captionBelow = true;
      blocks.push({ lines: [line], captionAbove: false, captionBelow: false });
    } else if (open && close && !(open.lines.length === 1 && above && isCaptionLine(above))) open.lines.push(line);
    else blocks.push({ lines: [line], captionAbove: close, captionBelow: false });
    above = line;
  }
  return blocks;
}

/** Whether a line, which justified type may have cut into cells, begins with a table's caption. */
function isCaptionLine({ chunks: [first] }: ColumnLine): boolean {
  return first !== undefined && isTableCaption(chunkText(first.words));
}

function splitBlock(block: Block, page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const { lines } = block;
  const stretch = bestStretch(lines);
  if (!stretch) return [textPart(lines)];
  const { start, end } = stretch;
  const captioned = (block.captionAbove && start < CAPTION_LINES) || (block.captionBelow && end === lines.length);
  const before: Block = { ...block, lines: lines.slice(0, start), captionBelow: false };
  const after: Block = { ...block, lines: lines.slice(end), captionAbove: false };
  return [
    ...(start > 0 ? splitBlock(before, page, vocabulary) : []),
    ...readStretch(stretch, captioned, page, vocabulary),
    ...(end < lines.length ? splitBlock(after, page, vocabulary) : []),
  ];
}

function textPart(lines: readonly ColumnLine[]): ColumnPart {
  return { chunks: lines.flatMap((line) => line.chunks) };
}

function readStretch(stretch: Stretch, captioned: boolean, page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const words = stretch.lines.flatMap((line) => line.chunks.flatMap((chunk) => chunk.words));
  const box = boundingBox(words.map((word) => word.box));
  const rules = page.rulings.filter(
    (line) => line.horizontal && line.at > box.y0 - RULE_REACH && line.at < box.y1 + RULE_REACH,
  );
  const wideRules = rules.filter(
    (line) => overlap(line.start, line.end, box.x0, box.x1) > (box.x1 - box.x0) * WIDE_RULE,
  );
  const verdict = judge(stretch, captioned || wideRules.length > 0);
  if (verdict === 'sides') return sidesOf(stretch);
  if (verdict === 'text' || holdsCurve(page, box) || liesOnPicture(page, box)) return [textPart(stretch.lines)];
  const read = (own: readonly Word[]) => readWords(own, rules, wideRules, vocabulary) ?? [];
  const x = wideRules.length === 0 ? findTwoTables(stretch.lines, stretch.cut) : undefined;
  const two = x === undefined ? [] : sidesAt(words, x).flatMap(read);
  const tables = two.length === 2 ? two : [read(words)].flat();
  return tables.length > 0 ? tables.map((table) => ({ table })) : [textPart(stretch.lines)];
}

/** The table that words make, or undefined where they make none. */
function readWords(
  words: readonly Word[],
  rules: readonly Ruling[],
  wideRules: readonly Ruling[],
  vocabulary: Vocabulary,
): FoundTable | undefined {
  const box = boundingBox(words.map((word) => word.box));
  const rows = textRows(words, CELL_GAP, writesSpaces(words));
  const cut = findColumns(rows);
  if (!cut) return undefined;
  const edges = wideRules.map((line) => line.at).filter((y) => y > box.y0 && y < box.y1);
  const heads = rules.filter((line) => !wideRules.includes(line));
  const grid = readCut(rows, cut, { edges, rowRules: edges.length >= 3 }, heads, vocabulary);
  if (grid.rows.length < 2 || isSparse(grid)) return undefined;
  return { box, grid, words: [...words], sideways: [], source: 'aligned', ocr: tableConfidence(words) };
}

function readCentred(
  { cut, edges }: CentredRows,
  lines: readonly ColumnLine[],
  page: PageContent,
  vocabulary: Vocabulary,
): FoundTable[] {
  const words = lines.flatMap((line) => line.chunks.flatMap((chunk) => chunk.words));
  const box = boundingBox(words.map((word) => word.box));
  const grid = readCut(textRows(words, HEAD_GAP), cut, { edges, rowRules: true }, [], vocabulary);
  if (isSparse(grid) || holdsCurve(page, box) || liesOnPicture(page, box)) return [];
  return [{ box, grid, words, sideways: [], source: 'aligned', ocr: tableConfidence(words) }];
}

/** The two sides of a letterhead: the left is read to its end, then the right. */
function sidesOf({ lines, cut }: Stretch): ColumnPart[] {
  const [gutter = 0] = cut.separators;
  const all = lines.flatMap((line) => line.chunks);
  const sides = [all.filter(({ box }) => box.x1 <= gutter), all.filter(({ box }) => box.x1 > gutter)];
  return sides.map((chunks) => {
    apart.add(chunks);
    return { chunks };
  });
}

/** Labels strewn over a chart fill few cells of the grid that they seem to make. */
function isSparse(grid: TableGrid): boolean {
  const filled = grid.rows.flat().filter((cell) => cell.text !== '').length;
  return filled < grid.rows.length * grid.columns * MIN_FILL;
}
