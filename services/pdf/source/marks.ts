// Collects small painted discs, circles and squares: the bullets of lists that a producer draws instead of writing.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { Box } from './geometry.ts';
import type { Mark } from './page-model.ts';
import { isWhite } from './rulings.ts';

/** Sides of a mark, in points: the largest is 0.7 of 24 point type. */
const LEAST_SIDE = 0.8;
const GREATEST_SIDE = 17;
/** Longer side by the shorter one. */
const SQUARE = 1.25;
/** Share of its box that the points of a round shape enclose, its control points included. */
const ROUND_SHARE = [0.7, 0.95] as const;
const SQUARE_SHARE = 0.98;
/** Middles this close, in points, are of one mark that is painted in several steps. */
const SAME_PLACE = 0.7;

/** How a shape is painted; `width` of the pen in points. */
type Paint = { filled: true; color: number } | { filled: false; color: number; width: number };

export class MarkCollector {
  #marks: Mark[] = [];
  /** So many that they are a drawing. */
  #tooMany = false;

  /**
   * @param points of a closed shape in the displayed frame: x, y, x, y...
   * @param label the file tags it as the label of a list item
   */
  add(points: readonly number[], curved: boolean, paint: Paint, label: boolean): void {
    if (this.#tooMany || points.length < 8 || isWhite(paint.color)) return;
    // A drawn square is a box to tick.
    if (!(curved || paint.filled)) return;
    const box = boundsOf(points);
    if (!box) return;
    const share = enclosedArea(points) / ((box.x1 - box.x0) * (box.y1 - box.y0));
    if (curved ? share < ROUND_SHARE[0] || share > ROUND_SHARE[1] : share < SQUARE_SHARE) return;
    if (this.#marks.length >= DOCUMENT_LIMITS.pdfPageMarks) {
      this.#tooMany = true;
      return;
    }
    const { color } = paint;
    if (!paint.filled) this.#marks.push({ box: grow(box, paint.width / 2), shape: 'circle', color, label });
    else this.#marks.push({ box, shape: curved ? 'disc' : 'square', color, label });
  }

  /** From top to bottom; of shapes around one point the largest. */
  finish(): Mark[] {
    if (this.#tooMany) return [];
    const marks: Mark[] = [];
    const sorted = this.#marks.sort((a, b) => a.box.y0 + a.box.y1 - b.box.y0 - b.box.y1);
    for (const mark of sorted) {
      let n = marks.length - 1;
      while (n >= 0 && middleY(mark) - middleY(marks[n] as Mark) < SAME_PLACE && !samePlace(marks[n] as Mark, mark))
        n--;
      const twin = marks[n];
      if (!(twin && samePlace(twin, mark))) marks.push(mark);
      else if (mark.box.x1 - mark.box.x0 > twin.box.x1 - twin.box.x0) marks[n] = mark;
    }
    return marks;
  }
}

const middleX = ({ box }: Mark) => (box.x0 + box.x1) / 2;
const middleY = ({ box }: Mark) => (box.y0 + box.y1) / 2;

function samePlace(a: Mark, b: Mark): boolean {
  return Math.abs(middleX(a) - middleX(b)) < SAME_PLACE && Math.abs(middleY(a) - middleY(b)) < SAME_PLACE;
}

/** The box of a shape that is small and about as wide as high. */
function boundsOf(points: readonly number[]): Box | undefined {
  let x0 = Infinity;
  let y0 = Infinity;
  let x1 = -Infinity;
  let y1 = -Infinity;
  for (let i = 0; i + 1 < points.length; i += 2) {
    const x = points[i] as number;
    const y = points[i + 1] as number;
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
    if (x1 - x0 > GREATEST_SIDE || y1 - y0 > GREATEST_SIDE) return undefined;
  }
  const shorter = Math.min(x1 - x0, y1 - y0);
  if (!(shorter >= LEAST_SIDE) || Math.max(x1 - x0, y1 - y0) > shorter * SQUARE) return undefined;
  return { x0, y0, x1, y1 };
}

function enclosedArea(points: readonly number[]): number {
  let twice = 0;
  const count = points.length;
  for (let i = 0; i + 1 < count; i += 2) {
    const next = (i + 2) % count;
    twice +=
      (points[i] as number) * (points[next + 1] as number) - (points[next] as number) * (points[i + 1] as number);
  }
  return Math.abs(twice) / 2;
}

function grow(box: Box, by: number): Box {
  return { x0: box.x0 - by, y0: box.y0 - by, x1: box.x1 + by, y1: box.y1 + by };
}
