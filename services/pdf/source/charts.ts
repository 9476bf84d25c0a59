// Tells a chart from a table: figures along axes stand in columns too, but only a chart has slanting lines drawn through it.
// Its rules are tested in charts.test.ts, and with whole pages in ../layout/page.test.ts.
import { area, type Box, boundingBox, intersectionArea } from './geometry.ts';
import type { PageContent, Ruling } from './page-model.ts';

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

/** Axes: the least length of each, and how far apart they may end where they meet, in points. */
const AXIS = { length: 50, meet: 3 };
/** Strokes that make a curve where axes are drawn around it, and how far from the axes' box they stand, in points: round corners are none. */
const AXIS_STROKES = 3;
const INSIDE = 4;
/** Bars stand on one height, in points, and have at least this many heights: shaded cells of one row have one. */
const BAR_FOOT = 1;
const BAR_HEIGHTS = { axes: 3, alone: 4 };
/** Widest bar, as a share of all bars' width. */
const BAR_WIDTH = 0.4;
/** Pieces of drawing of one page in which charts are looked for: a page with more is a map or a drawing. */
const MOST_PIECES = 2000;

/** The boxes of the charts of a page, from axis to axis: bars of unlike heights that stand on one line, and curves between axes. */
export function findPlots(page: PageContent): Box[] {
  const { rulings, regions, slants = [] } = page;
  if (regions.length < BAR_HEIGHTS.axes && slants.length < 2 * AXIS_STROKES) return [];
  if (rulings.length + regions.length > MOST_PIECES) return [];
  const axes = findAxes(rulings);
  const bars = findBars(page).flatMap(({ box, heights }) => {
    const around = axes.filter(
      (one) => intersectionArea(one, box) > area(box) / 2 && Math.abs(one.y1 - box.y1) < AXIS.meet,
    );
    if (heights < (around.length > 0 ? BAR_HEIGHTS.axes : BAR_HEIGHTS.alone)) return [];
    return [boundingBox([box, ...around])];
  });
  const curves = axes.filter((box) => !bars.some((one) => intersectionArea(one, box) > 0) && holdsLine(slants, box));
  return [...bars, ...curves];
}

/** Where a level line goes out from the foot of an upright one. */
function findAxes(rulings: readonly Ruling[]): Box[] {
  const long = rulings.filter((one) => one.end - one.start >= AXIS.length);
  const level = long.filter((one) => one.horizontal);
  return long
    .filter((one) => !one.horizontal)
    .flatMap((upright) =>
      level
        .filter((one) => Math.abs(one.at - upright.end) < AXIS.meet && Math.abs(one.start - upright.at) < AXIS.meet)
        .map((one): Box => ({ x0: upright.at, x1: one.end, y0: upright.start, y1: one.at })),
    );
}

/** Painted areas that stand on one line, with the number of their heights. */
function findBars({ regions }: PageContent): { box: Box; heights: number }[] {
  const groups: Box[][] = [];
  for (const { box } of [...regions].sort((a, b) => a.box.y1 - b.box.y1)) {
    const group = groups.at(-1);
    if (group?.[0] && box.y1 - group[0].y1 < BAR_FOOT) group.push(box);
    else groups.push([box]);
  }
  return groups.flatMap((group) => {
    if (group.length < BAR_HEIGHTS.axes) return [];
    const box = boundingBox(group);
    const slim = group.every((one) => one.x1 - one.x0 < (box.x1 - box.x0) * BAR_WIDTH);
    return slim ? [{ box, heights: new Set(group.map((one) => Math.round(one.y1 - one.y0))).size }] : [];
  });
}

/** Whether slanting strokes run through a box, away from its edges. */
function holdsLine(slants: readonly number[], box: Box): boolean {
  const xs: number[] = [];
  for (let n = 0; n + 1 < slants.length; n += 2) {
    const x = slants[n] ?? 0;
    const y = slants[n + 1] ?? 0;
    if (x > box.x0 + INSIDE && x < box.x1 - INSIDE && y > box.y0 + INSIDE && y < box.y1 - INSIDE) xs.push(x);
  }
  return xs.length >= AXIS_STROKES && Math.max(...xs) - Math.min(...xs) > (box.x1 - box.x0) * MIN_REACH;
}
