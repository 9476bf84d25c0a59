// Finds the figures of a page that are drawn with lines and areas (charts, diagrams), by where drawings lie close together.

import { area, type Box, centreInside, intersectionArea, overlap, unionBox } from '../source/geometry.ts';
import type { PageContent } from '../source/page-model.ts';
import type { Draft } from '../text/blocks.ts';
import { isCaption, isTableCaption } from '../text/markers.ts';

/** Points between two drawings of one figure. */
const GAP = 8;
/** The least sides and share of the page of a figure, and the most share. */
const LEAST = { side: 50, share: 0.015 };
const MOST_SHARE = 0.75;
/** Drawings of a figure, with a caption next to it and without one. */
const DRAWINGS = { captioned: 5, alone: 25 };
/** A drawing that spans this share of the page is its frame, a column rule or its background. */
const PAGE_SPAN = 0.8;
/** Text covers less of a figure than of a panel or a table. */
const TEXT_SHARE = 0.25;
/** Share of a figure that a table or another figure may take up. */
const TAKEN_SHARE = 0.1;
/** Points around a figure, so that the lines at its edges are whole. */
const EDGE = 2;
/** Points between a figure and its caption. */
const CAPTION_GAP = 60;
/** A label of an axis stands this near, in points, and takes up less than this share of the figure. */
const LABEL = { gap: 14, share: 0.08 };

/** The boxes of drawn figures that no draft stands for, each with the labels around it. */
export function findDrawnFigures(page: PageContent, drawings: readonly Box[], drafts: readonly Draft[]): Box[] {
  const pageArea = page.width * page.height;
  const taken = drafts.filter(
    (draft) => draft.kind === 'table' || (draft.kind === 'figure' && !draft.labels) || draft.kind === 'code',
  );
  const captions = drafts.filter(
    (draft) => draft.kind === 'text' && isCaption(draft.text) && !isTableCaption(draft.text),
  );
  const found = clusters(drawings.filter((box) => !spansPage(page, box))).flatMap(({ box, count }) => {
    const small = Math.min(box.x1 - box.x0, box.y1 - box.y0) < LEAST.side || area(box) < pageArea * LEAST.share;
    if (small || area(box) > pageArea * MOST_SHARE) return [];
    const captioned = captions.some((caption) => isBeside(caption.box, box));
    if (count < (captioned ? DRAWINGS.captioned : DRAWINGS.alone)) return [];
    const covered = taken.reduce((sum, draft) => sum + intersectionArea(draft.box, box), 0);
    if (covered > area(box) * TAKEN_SHARE) return [];
    const words = page.words.filter((word) => centreInside(word.box, box));
    if (words.reduce((sum, word) => sum + area(word.box), 0) > area(box) * TEXT_SHARE) return [];
    return [withLabels(box, drafts)];
  });
  // With their labels, the parts of one figure may meet.
  return clusters(found, 0).map(({ box }) => ({
    x0: box.x0 - EDGE,
    y0: box.y0 - EDGE,
    x1: box.x1 + EDGE,
    y1: box.y1 + EDGE,
  }));
}

const spansPage = (page: PageContent, box: Box): boolean =>
  box.x1 - box.x0 > page.width * PAGE_SPAN || box.y1 - box.y0 > page.height * PAGE_SPAN;

/** Boxes that lie at most `gap` points apart, as one, with their number. */
function clusters(boxes: readonly Box[], gap = GAP): { box: Box; count: number }[] {
  const sorted = [...boxes].sort((a, b) => a.y0 - b.y0);
  let found: { box: Box; count: number }[] = [];
  for (const box of sorted) {
    const near = found.filter((cluster) => isNear(cluster.box, box, gap));
    if (near.length === 0) {
      found.push({ box, count: 1 });
      continue;
    }
    const joined = near.reduce(
      (sum, cluster) => ({ box: unionBox(sum.box, cluster.box), count: sum.count + cluster.count }),
      { box, count: 1 },
    );
    found = [...found.filter((cluster) => !near.includes(cluster)), joined];
  }
  return found;
}

const isNear = (a: Box, b: Box, gap: number): boolean =>
  overlap(a.x0, a.x1, b.x0, b.x1) > -gap && overlap(a.y0, a.y1, b.y0, b.y1) > -gap;

/** Whether a caption stands right above or below a figure. */
function isBeside(caption: Box, figure: Box): boolean {
  const gap = -overlap(caption.y0, caption.y1, figure.y0, figure.y1);
  return gap < CAPTION_GAP && overlap(caption.x0, caption.x1, figure.x0, figure.x1) > 0;
}

/** A figure with the labels of its axes and the short texts at its edges. */
function withLabels(figure: Box, drafts: readonly Draft[]): Box {
  let box = figure;
  for (const draft of drafts) {
    if (draft.kind === 'figure' && draft.labels && intersectionArea(draft.box, figure) > 0)
      box = unionBox(box, draft.box);
    if (draft.kind !== 'text' || isCaption(draft.text) || area(draft.box) > area(figure) * LABEL.share) continue;
    const beside =
      overlap(draft.box.x0, draft.box.x1, figure.x0, figure.x1) > -LABEL.gap &&
      overlap(draft.box.y0, draft.box.y1, figure.y0, figure.y1) > -LABEL.gap;
    if (beside) box = unionBox(box, draft.box);
  }
  return box;
}
