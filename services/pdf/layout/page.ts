// Lays out one page: furniture aside, tables whole, columns in reading order, lines to paragraphs.
// Pages made by hand that need its rules: page-rules.test.ts and figures.test.ts; files that do are named where the rule stands.
import { escapeHtml } from '#shared/document/escape-html.ts';
import { holdsCurve } from '../source/charts.ts';
import { area, type Box, boundingBox, centreInside, intersectionArea, overlap } from '../source/geometry.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import { findAlignedTables } from '../tables/aligned.ts';
import type { FoundTable } from '../tables/grid.ts';
import type { HeadMemory } from '../tables/head-memory.ts';
import { findRuledTables } from '../tables/ruled.ts';
import { findTaggedTables, isTaggedAsText } from '../tables/tagged.ts';
import { findCentredTables, splitTables } from '../tables/whitespace.ts';
import type { Draft, FigureDraft, FurnitureDraft, TableDraft } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { buildChunks, type Chunk, chunkText, groupRows } from '../text/lines.ts';
import { readMarker } from '../text/markers.ts';
import { readSideways, turnBack, type UprightPage } from '../text/upright.ts';
import { partCaptions } from './captions.ts';
import { findChartLabels } from './chart-labels.ts';
import type { LayoutItem } from './column-sides.ts';
import { type Column, cutColumns } from './columns.ts';
import { draftFigure } from './figures.ts';
import { type FlowPlace, followOcr } from './flows.ts';
import type { FoundFurniture } from './furniture.ts';
import { draftParagraphs, makeLine, makeLines, meanConfidence } from './paragraphs.ts';

/** Images below this share of the page, or thinner than this, are ornaments. */
const FIGURE_SHARE = 0.004;
const FIGURE_SIDE = 18;
/** An image that covers this much of the page is its background or its scan. */
const BACKGROUND_SHARE = 0.75;
/** Of the lower one's height, what two tables share that stand beside one another. */
const BESIDE_SHARE = 0.5;

interface Item extends LayoutItem {
  chunk?: Chunk;
  draft?: TableDraft | FigureDraft;
  /** Where OCR read it. */
  place?: FlowPlace;
}

/**
 * The drafts of a page in reading order, furniture first and last.
 * @param chunks of the upright page, furniture included
 */
export function layoutPage(
  upright: UprightPage,
  chunks: readonly Chunk[],
  furniture: readonly FoundFurniture[],
  vocabulary: Vocabulary,
  bodySize: number,
  heads: HeadMemory,
): Draft[] {
  const { page, toDisplayed } = upright;
  const apart = new Set(furniture.flatMap((one) => one.chunks));
  const text = chunks.filter((chunk) => !apart.has(chunk));
  const charts = findChartLabels(page, text, upright.sideways, toDisplayed);
  const body = without(text, charts);
  const tables = findTables(upright, body, vocabulary, heads);
  const rest = without(body, tables);
  const items: Item[] = [
    ...tables.map((table) => tableItem(table, page.index, toDisplayed)),
    ...figureItems(page, toDisplayed),
    ...charts.map(({ draft, box }): Item => ({ draft, box, words: 0, size: 0, atom: true })),
    ...(page.figures ?? []).map(
      (figure): Item => ({
        draft: draftFigure(page, figure, vocabulary, toDisplayed),
        box: figure.box,
        words: 0,
        size: 0,
        atom: true,
      }),
    ),
    ...rest.map(
      (chunk): Item => ({
        chunk,
        box: chunk.box,
        // Figures alone are a table's: no prose stands beside a gutter there.
        words: chunk.words.some((word) => /\p{L}/u.test(word.text)) ? chunk.words.length : 0,
        size: chunk.size,
        atom: false,
        ...streamPlace(chunk.words),
        ...firstNumber(chunk.words),
        ...firstPlace(chunk.words),
      }),
    ),
  ];
  const columns = page.words.some((word) => word.place) ? followOcr(items, (item) => item.place) : cutColumns(items);
  const drafts = columns.flatMap((column) => draftColumn(column, upright, vocabulary, bodySize));
  const inTables = new Set([...tables.flatMap((table) => table.sideways), ...charts.flatMap((chart) => chart.words)]);
  const loose = upright.sideways.filter((word) => !inTables.has(word));
  const frame = boundingBox(items.map((item) => item.box));
  const aside = draftSideways(page, loose, toDisplayed, vocabulary).map((one) => asStamp(one, body, frame, upright));
  const edges = furniture.map((one) => furnitureDraft(one, page.index, toDisplayed));
  return [
    ...edges.filter((one) => one.box.y1 <= page.height / 2),
    ...drafts,
    ...aside,
    ...edges.filter((one) => one.box.y1 > page.height / 2),
  ];
}

/** The tables of a page that need no columns of text to be known: tagged ones, then those that are drawn. */
function findTables(
  { page, sideways }: UprightPage,
  body: readonly Chunk[],
  vocabulary: Vocabulary,
  heads: HeadMemory,
): FoundTable[] {
  const tagged = findTaggedTables(body, sideways, vocabulary);
  const find = (chunks: readonly Chunk[]) => {
    const ruled = findRuledTables(page, chunks, sideways, vocabulary);
    const aligned = findAlignedTables(page, without(chunks, ruled), vocabulary, heads);
    // A chart's axis and the lines of its grid are rules too (page.test.ts, a curve).
    const drawn = [...ruled, ...aligned.filter((table) => !holdsCurve(page, table.box))];
    return [...drawn, ...findCentredTables(without(chunks, drawn), page, vocabulary)];
  };
  const free = without(body, tagged);
  const found = find(free);
  const drawn = found.some(holdsHeading) ? find(free.filter((chunk) => !isTaggedHeading(chunk.words))) : found;
  return [...tagged, ...drawn.filter((table) => !isTaggedAsText(table))];
}

/** A heading that the tags name stands in no table. */
function holdsHeading({ words }: FoundTable): boolean {
  return words.some((word) => typeof word.tag === 'object');
}

function isTaggedHeading(words: readonly Word[]): boolean {
  return words.every((word) => typeof word.tag === 'object');
}

type ColumnPart = ReturnType<typeof splitTables>[number];

/** The tables of a column and the text between them. */
function splitColumn(chunks: readonly Chunk[], page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const parts = splitTables(chunks, page, vocabulary);
  const tables = parts.flatMap(({ table }) => table ?? []);
  if (tables.some(holdsHeading)) return joinTexts(splitAtHeadings(chunks, page, vocabulary));
  if (!tables.some(isTaggedAsText)) return parts;
  return joinTexts(parts.map((part) => (part.table && isTaggedAsText(part.table) ? asText(part.table, chunks) : part)));
}

function asText(table: FoundTable, chunks: readonly Chunk[]): ColumnPart {
  const words = new Set(table.words);
  return { chunks: chunks.filter((chunk) => chunk.words.some((word) => words.has(word))) };
}

function splitAtHeadings(chunks: readonly Chunk[], page: PageContent, vocabulary: Vocabulary): ColumnPart[] {
  const parts: ColumnPart[] = [];
  let run: Chunk[] = [];
  for (const chunk of chunks) {
    if (!isTaggedHeading(chunk.words)) {
      run.push(chunk);
      continue;
    }
    parts.push(...splitTables(run, page, vocabulary), { chunks: [chunk] });
    run = [];
  }
  return [...parts, ...splitTables(run, page, vocabulary)];
}

/** Texts that follow each other are one: its lines are measured together. */
function joinTexts(parts: readonly ColumnPart[]): ColumnPart[] {
  const joined: ColumnPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.chunks && part.chunks) joined[joined.length - 1] = { chunks: [...last.chunks, ...part.chunks] };
    else joined.push(part);
  }
  return joined;
}

/** The chunks that no table or chart took; a chunk that one took in part keeps its other words. */
function without(chunks: readonly Chunk[], tables: readonly { words: readonly Word[] }[]): Chunk[] {
  if (tables.length === 0) return [...chunks];
  const taken = new Set(tables.flatMap((table) => table.words));
  return chunks.flatMap((chunk) => {
    if (!chunk.words.some((word) => taken.has(word))) return [chunk];
    return buildChunks(chunk.words.filter((word) => !taken.has(word)));
  });
}

function tableItem(table: FoundTable, pageIndex: number, toDisplayed: (box: Box) => Box): Item {
  const draft: TableDraft = {
    kind: 'table',
    pageIndex,
    box: toDisplayed(table.box),
    ocr: table.ocr,
    grid: table.grid,
    source: table.source,
    ...(table.begun && { begun: true }),
    size: median(table.words.map((word) => word.style.size)),
    letters: table.words.reduce((sum, word) => sum + word.text.length, 0),
  };
  return {
    draft,
    box: table.box,
    words: 0,
    size: 0,
    atom: true,
    ...streamPlace(table.words),
    ...firstPlace(table.words),
  };
}

function streamPlace(words: readonly Word[]): { order: number; letters: number } {
  let order = Infinity;
  let letters = 0;
  for (const word of words) {
    order = Math.min(order, word.index);
    letters += word.text.length;
  }
  return { order, letters };
}

function firstNumber(words: readonly Word[]): { number?: number } {
  const marker = readMarker(words[0]?.text ?? '');
  return marker?.style === 'decimal' ? { number: marker.value } : {};
}

function firstPlace(words: readonly Word[]): { place?: FlowPlace } {
  const [place] = words.flatMap((word) => word.place ?? []).sort((a, b) => a.line - b.line);
  return { place };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 10;
}

function figureItems(page: PageContent, toDisplayed: (box: Box) => Box): Item[] {
  const pageArea = page.width * page.height;
  const pictures: { box: Box; descriptions: (string | undefined)[] }[] = [];
  for (const { box, description } of [...page.images.slice(0, 400), ...(page.drawings ?? [])]) {
    if (
      Math.min(box.x1 - box.x0, box.y1 - box.y0) < FIGURE_SIDE ||
      area(box) < pageArea * FIGURE_SHARE ||
      area(box) > pageArea * BACKGROUND_SHARE
    )
      continue;
    // Strips and layers of one picture are one figure.
    const near = pictures.find((other) => intersectionArea(grow(other.box, 2), box) > 0);
    if (near) {
      near.box = boundingBox([near.box, box]);
      near.descriptions.push(description);
    } else pictures.push({ box, descriptions: [description] });
  }
  const texts = page.words;
  return pictures
    .filter(
      ({ box }) =>
        !texts.some((word) => centreInside(word.box, box)) &&
        !page.figures?.some((figure) => intersectionArea(figure.box, box) > 0),
    )
    .map(({ box, descriptions }) => ({
      draft: { kind: 'figure', pageIndex: page.index, box: toDisplayed(box), ocr: null, ...described(descriptions) },
      box,
      words: 0,
      size: 0,
      atom: true,
    }));
}

/** What the pieces of a picture are said to show, each thing once. */
function described(descriptions: readonly (string | undefined)[]): { description?: string } {
  const told = [...new Set(descriptions)].filter((one) => one !== undefined);
  return told.length > 0 ? { description: told.join(' ') } : {};
}

function grow(box: Box, by: number): Box {
  return { x0: box.x0 - by, y0: box.y0 - by, x1: box.x1 + by, y1: box.y1 + by };
}

function draftColumn(column: Column<Item>, upright: UprightPage, vocabulary: Vocabulary, bodySize: number): Draft[] {
  const context = {
    pageIndex: upright.page.index,
    vocabulary,
    column: column.box,
    toPage: upright.toDisplayed,
  };
  const drafts: Draft[] = [];
  let chunks: Chunk[] = [];
  let above: Box | undefined;
  const flush = (below: Box | undefined) => {
    const parts = splitColumn(chunks, upright.page, vocabulary);
    for (const [n, part] of parts.entries()) {
      if (part.table) {
        const { draft } = tableItem(part.table, upright.page.index, upright.toDisplayed);
        if (draft) drafts.push(draft);
        above = part.table.box;
        continue;
      }
      const next = n + 1 < parts.length ? parts[n + 1]?.table?.box : below;
      for (const piece of partCaptions(part.chunks, above, next))
        drafts.push(...draftParagraphs(makeLines(piece, upright.page.rulings, bodySize), context));
      above = undefined;
    }
    chunks = [];
  };
  const atoms = sideBySide(column.items.filter((item) => item.draft).sort((a, b) => a.box.y0 - b.box.y0));
  const lines = column.items.flatMap((item) => item.chunk ?? []).sort((a, b) => a.box.y0 - b.box.y0);
  let next = 0;
  for (const atom of atoms) {
    const middle = (atom.box.y0 + atom.box.y1) / 2;
    for (; next < lines.length; next++) {
      const line = lines[next] as Chunk;
      // Text beside a figure is read before it only where it begins above it.
      if (line.box.y0 + line.box.y1 >= 2 * Math.min(middle, atom.box.y0 + (line.box.y1 - line.box.y0))) break;
      chunks.push(line);
    }
    flush(atom.box);
    if (atom.draft) drafts.push(atom.draft);
    above = atom.box;
  }
  chunks.push(...lines.slice(next));
  flush(undefined);
  return drafts;
}

/** Tables and figures top to bottom, those that stand beside one another from left to right. */
function sideBySide(sorted: readonly Item[]): Item[] {
  const ordered: Item[] = [];
  for (const item of sorted) {
    const { box } = item;
    const place = ordered.findIndex(
      (other) =>
        box.x1 <= other.box.x0 &&
        overlap(box.y0, box.y1, other.box.y0, other.box.y1) >
          Math.min(box.y1 - box.y0, other.box.y1 - other.box.y0) * BESIDE_SHARE,
    );
    ordered.splice(place < 0 ? ordered.length : place, 0, item);
  }
  return ordered;
}

function draftSideways(
  page: PageContent,
  words: UprightPage['sideways'],
  toDisplayed: (box: Box) => Box,
  vocabulary: Vocabulary,
): Draft[] {
  return readSideways(words, page.width, page.height).flatMap(({ direction, words: group }) => {
    const lines = groupRows(buildChunks(group)).map((row) => makeLine(row));
    const back = (box: Box) => toDisplayed(turnBack(box, direction, page));
    return draftParagraphs(lines, {
      pageIndex: page.index,
      vocabulary,
      column: boundingBox(lines.map((line) => line.box)),
      toPage: back,
    });
  });
}

/** Lines of text that make a page one of running text. */
const FULL_PAGE_LINES = 8;

/** Share of the page's sides in which such a line stands. */
const STAMP_ZONE = 0.15;
/** Its least length, as a share of the page's height. */
const STAMP_LENGTH = 0.05;

/**
 * What runs up the outer margin of a page of text is no part of it: where a copy was fetched, a journal's name (fixtures/pdf/margin-stamp.pdf).
 * The upright numbers of a chart's axis stand further in (fixtures/pdf/upright-axis.pdf).
 */
function asStamp(draft: Draft, body: readonly Chunk[], frame: Box, { page, turn, toDisplayed }: UprightPage): Draft {
  if (draft.kind !== 'text') return draft;
  const lines = body.filter((chunk) => chunk.words.length > 2);
  if (lines.length < FULL_PAGE_LINES) return draft;
  // Across the text and along it, as the page is shown.
  const spans = (one: Box) =>
    turn % 180 === 0 ? [one.x0, one.x1, one.y1 - one.y0] : [one.y0, one.y1, one.x1 - one.x0];
  const [start = 0, end = 0, length = 0] = spans(draft.box);
  const [textStart = 0, textEnd = 0] = spans(toDisplayed(frame));
  const beside = end <= textStart || start >= textEnd;
  const inset = Math.min(start, page.width - end);
  if (!beside || inset > page.width * STAMP_ZONE || length < page.height * STAMP_LENGTH) return draft;
  const { pageIndex, box, ocr, html } = draft;
  return { kind: 'furniture', role: 'page_header', pageIndex, box, ocr, html, text: draft.text };
}

function furnitureDraft(found: FoundFurniture, pageIndex: number, toDisplayed: (box: Box) => Box): FurnitureDraft {
  const text = found.chunks.map((chunk) => chunkText(chunk.words)).join(' ');
  return {
    kind: 'furniture',
    role: found.role,
    pageIndex,
    box: toDisplayed(found.box),
    ocr: meanConfidence(found.chunks.map((chunk) => chunk.words)),
    text,
    html: escapeHtml(text),
  };
}
