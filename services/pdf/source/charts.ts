// Tells a chart from a table: figures along axes stand in columns too, but only a chart has slanting lines drawn through it.
// Made by hand, what needs its rules: charts.test.ts, and ../layout/page.test.ts for whole pages.
import { area, type Box, intersectionArea } from './geometry.ts';
import type { PageContent } from './page-model.ts';

/** Slanting strokes that make a curve, and the share of the box's width that they reach over; an arrow or a tick is less. */
const MIN_STROKES = 10;
const MIN_REACH = 0.25;

/** Share of a box that a picture takes up, and of the page above which a picture is its ground. */
const PICTURE_SHARE = 0.6;
const GROUND_SHARE = 0.5;

/** Whether a box lies on a picture: words printed over one are its labels. */
export function liesOnPicture(page: PageContent, box: Box): boolean {
  const ground = page.width * page.height * GROUND_SHARE;
  const share = page.images
    .filter((image) => area(image.box) < ground)
    .reduce((sum, image) => sum + intersectionArea(image.box, box), 0);
  return share > area(box) * PICTURE_SHARE;
}

/** Whether a curve is drawn inside a box. */
export function holdsCurve(page: PageContent, box: Box): boolean {
  const { slants = [] } = page;
  let count = 0;
  let left = Infinity;
  let right = -Infinity;
  for (let n = 0; n + 1 < slants.length; n += 2) {
    const x = slants[n] ?? 0;
    const y = slants[n + 1] ?? 0;
    if (x < box.x0 || x > box.x1 || y < box.y0 || y > box.y1) continue;
    count++;
    left = Math.min(left, x);
    right = Math.max(right, x);
  }
  return count >= MIN_STROKES && right - left > (box.x1 - box.x0) * MIN_REACH;
}
