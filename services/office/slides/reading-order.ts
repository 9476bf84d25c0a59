// Sorts the shapes of a slide into reading order: the order of the file, except that a shape comes after all shapes above it.

export interface Boxed {
  /** Position and size in any unit; null if the file has none. */
  box: { x: number; y: number; width: number; height: number } | null;
}

/** A slide with more shapes is a drawing and keeps the order of the file. */
const ORDERED_SHAPES = 500;
/** A box is above another one even if they overlap by this share of the height of the smaller one. */
const OVERLAP = 0.1;

/** Whether box `a` is above box `b` and shares some of its width. Boxes that overlap more have no order. */
function isAbove(a: Boxed, b: Boxed): boolean {
  if (!a.box || !b.box || a.box.height <= 0 || b.box.height <= 0) return false;
  const tolerance = OVERLAP * Math.min(a.box.height, b.box.height);
  if (a.box.y + a.box.height > b.box.y + tolerance) return false;
  return a.box.x < b.box.x + b.box.width && b.box.x < a.box.x + a.box.width;
}

/** Returns a sorted copy. Shapes that are not above each other keep their order. The time is quadratic in the number of shapes. */
export function inReadingOrder<S extends Boxed>(shapes: readonly S[]): S[] {
  if (shapes.length > ORDERED_SHAPES) return [...shapes];
  const waiting = [...shapes];
  const ordered: S[] = [];
  const blockers = new Map(waiting.map((shape) => [shape, waiting.filter((other) => isAbove(other, shape)).length]));
  while (waiting.length > 0) {
    const free = waiting.findIndex((shape) => blockers.get(shape) === 0);
    // Because of the tolerance two boxes can block each other; then the order of the file is used.
    const [next] = waiting.splice(Math.max(free, 0), 1);
    if (!next) break;
    ordered.push(next);
    for (const shape of waiting) if (isAbove(next, shape)) blockers.set(shape, (blockers.get(shape) ?? 1) - 1);
  }
  return ordered;
}
