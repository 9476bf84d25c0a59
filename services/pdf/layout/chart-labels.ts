// Takes the numbers and names along the axes of drawn charts out of the text: they stand in rows and columns of their own, and no sentence goes through them.
// Pages made by hand that need its rules: chart-labels.test.ts.
import { escapeHtml } from '#shared/document/escape-html.ts';
import { findPlots } from '../source/charts.ts';
import { type Box, boundingBox, centreInside, overlap } from '../source/geometry.ts';
import type { PageContent, Word } from '../source/page-model.ts';
import type { FigureDraft } from '../text/blocks.ts';
import { type Chunk, chunkText, groupRows, makeChunk } from '../text/lines.ts';
import { isCaption } from '../text/markers.ts';

/** A gap of this many type sizes parts two labels of a row; words of one label stand closer. */
const LABEL_GAP = 0.5;
/** Farthest that a label stands from its axis, in type sizes. */
const REACH = 1.5;
/** Steps between labels differ by at most this share of the step. */
const EVEN = 0.2;
/** Labels of one side stand under each other to this many points. */
const SAME_EDGE = 1.5;
/** Widest label beside an axis, as a share of the chart's width. */
const SIDE_WIDTH = 0.35;
/** Fewest labels beside an axis, and under one. */
const LEAST = { beside: 2, under: 3 };
/** Words of a line of prose: a box with such a line inside is no chart. */
const PROSE_WORDS = 8;
/** Type inside a chart that is this much larger than that of its labels is a title's. */
const LABEL_SIZE = 1.1;
/** How far out the name of an axis stands that is written upwards, in type sizes. */
const NAME_REACH = 6;

const NUMERIC = /^[^\p{L}]*\p{Nd}[^\p{L}]*\p{L}{0,2}%?$/u;

interface ChartLabels {
  draft: FigureDraft;
  /** Of the page as it stands upright: of the chart with its labels. */
  box: Box;
  words: Word[];
}

/**
 * @param chunks of the upright page, without its furniture
 * @param sideways words of the page that do not read upright
 */
export function findChartLabels(
  page: PageContent,
  chunks: readonly Chunk[],
  sideways: readonly Word[],
  toDisplayed: (box: Box) => Box,
): ChartLabels[] {
  if (chunks.some((chunk) => chunk.words.some((word) => word.place))) return [];
  return findPlots(page).flatMap((plot) => {
    const inside = chunks.filter((chunk) => centreInside(chunk.box, plot));
    if (inside.some((chunk) => chunk.words.length >= PROSE_WORDS)) return [];
    const outside = chunks.filter((chunk) => !inside.includes(chunk));
    const beside = [true, false].map((left) => labelsBeside(plot, outside, left));
    const under = labelsUnder(
      plot,
      outside.filter((chunk) => !beside.flat().includes(chunk)),
    );
    const along = [...beside.flat(), ...under];
    if (along.length === 0) return [];
    const size = Math.max(...along.map((label) => label.size)) * LABEL_SIZE;
    const rows = [...groupRows(inside.filter((chunk) => chunk.size < size)), ...beside, under];
    const names = sideways.filter((word) => isName(word, plot));
    const labels = rows.filter((row) => row.length > 0);
    const words = [...labels.flatMap((row) => row.flatMap((label) => label.words)), ...names];
    const box = boundingBox([plot, ...words.map((word) => word.box)]);
    const texts = [...labels.map((row) => row.map((label) => chunkText(label.words)).join(' ')), chunkText(names)];
    const html = texts
      .filter((text) => text !== '')
      .map((text) => `<p>${escapeHtml(text)}</p>`)
      .join('');
    return [
      {
        draft: { kind: 'figure', pageIndex: page.index, box: toDisplayed(box), ocr: null, html, labels: true },
        box,
        words,
      },
    ];
  });
}

/** The labels of a piece of a line: engines give those of a row as one line of text. */
function labelsOf(chunk: Chunk): Chunk[] {
  const labels: Word[][] = [];
  let last: Word | undefined;
  for (const word of chunk.words) {
    const label = labels.at(-1);
    if (label && last && word.box.x0 - last.box.x1 < chunk.size * LABEL_GAP) label.push(word);
    else labels.push([word]);
    last = word;
  }
  return labels.map(makeChunk);
}

/** The row right under a chart, where its pieces follow each other in even steps. */
function labelsUnder(plot: Box, chunks: readonly Chunk[]): Chunk[] {
  const near = chunks.filter(({ box, size }) => box.y0 > plot.y1 - size * 0.5 && box.y0 < plot.y1 + size * REACH);
  const row = groupRows(near)[0] ?? [];
  const outside = row.some(({ box, size }) => box.x0 < plot.x0 - size * 2 || box.x1 > plot.x1 + size * 2);
  if (outside || isCaption(row.map((chunk) => chunkText(chunk.words)).join(' '))) return [];
  const labels = row.flatMap(labelsOf);
  return labels.length >= LEAST.under && isEven(labels.map(({ box }) => (box.x0 + box.x1) / 2)) ? labels : [];
}

/** The numbers at the left or the right of a chart, one above the other in even steps. */
function labelsBeside(plot: Box, chunks: readonly Chunk[], left: boolean): Chunk[] {
  const gap = ({ box }: Chunk) => (left ? plot.x0 - box.x1 : box.x0 - plot.x1);
  const near = chunks.filter(
    (chunk) =>
      gap(chunk) > -SAME_EDGE &&
      gap(chunk) < chunk.size * REACH &&
      overlap(chunk.box.y0, chunk.box.y1, plot.y0 - chunk.size, plot.y1 + chunk.size) > 0 &&
      chunk.box.x1 - chunk.box.x0 < (plot.x1 - plot.x0) * SIDE_WIDTH &&
      NUMERIC.test(chunkText(chunk.words)),
  );
  const least = Math.min(...near.map(gap));
  const labels = near.filter((chunk) => gap(chunk) - least < SAME_EDGE).sort((a, b) => a.box.y0 - b.box.y0);
  return labels.length >= LEAST.beside && isEven(labels.map(({ box }) => (box.y0 + box.y1) / 2)) ? labels : [];
}

/** Whether places follow each other in even steps; a step may be left out. */
function isEven(places: readonly number[]): boolean {
  const steps = places.slice(1).map((place, n) => Math.abs(place - (places[n] ?? 0)));
  const step = Math.min(...steps);
  return steps.every((one) => Math.abs(one / step - Math.round(one / step)) < EVEN);
}

/** Whether a word is written upwards along a chart. */
function isName({ box, style }: Word, plot: Box): boolean {
  const reach = style.size * NAME_REACH;
  return (
    overlap(box.x0, box.x1, plot.x0 - reach, plot.x1 + reach) > 0 &&
    (box.y0 + box.y1) / 2 > plot.y0 &&
    (box.y0 + box.y1) / 2 < plot.y1
  );
}
