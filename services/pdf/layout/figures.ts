// What OCR read in a picture as the HTML of its figure: a drawn table as a table, all else as the blocks that OCR saw, since a chart's labels stand in rows and are no table.
// Pages made by hand that need its rules: figures.test.ts.
import { escapeHtml } from '#shared/document/escape-html.ts';
import { type Box, boundingBox } from '../source/geometry.ts';
import type { PageContent, ReadFigure, Word } from '../source/page-model.ts';
import type { FoundTable } from '../tables/grid.ts';
import { tableHtml } from '../tables/html.ts';
import { findRuledTables } from '../tables/ruled.ts';
import type { FigureDraft } from '../text/blocks.ts';
import type { Vocabulary } from '../text/inline.ts';
import { buildChunks } from '../text/lines.ts';
import { meanConfidence } from './paragraphs.ts';

/** The figure with its words. */
export function draftFigure(
  page: PageContent,
  figure: ReadFigure,
  vocabulary: Vocabulary,
  toDisplayed: (box: Box) => Box,
): FigureDraft {
  const { words, rulings, box } = figure;
  const inside: PageContent = { ...page, words, rulings, regions: [], images: [], slants: [], figures: [] };
  const tables = findRuledTables(inside, buildChunks(words), [], vocabulary);
  const taken = new Set(tables.flatMap((table) => table.words));
  const parts = [
    ...tables.map((table) => ({ at: firstLine(table), html: tableHtml(table.grid) })),
    ...blocksOf(words.filter((word) => !taken.has(word))),
  ].sort((a, b) => a.at - b.at);
  return {
    kind: 'figure',
    pageIndex: page.index,
    box: toDisplayed(boundingBox([box, ...words.map((word) => word.box)])),
    ocr: meanConfidence([words]),
    html: parts.map((part) => part.html).join(''),
  };
}

const firstLine = (table: FoundTable) => Math.min(...table.words.map((word) => word.place?.line ?? 0));

function blocksOf(words: readonly Word[]): { at: number; html: string }[] {
  const blocks = new Map<number, { at: number; words: string[] }>();
  for (const { text, place } of words) {
    const block = blocks.get(place?.block ?? 0);
    if (block) block.words.push(text);
    else blocks.set(place?.block ?? 0, { at: place?.line ?? 0, words: [text] });
  }
  return [...blocks.values()].map((block) => ({ at: block.at, html: `<p>${escapeHtml(block.words.join(' '))}</p>` }));
}
