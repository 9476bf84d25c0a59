// Orders the shapes of a slide as they are read: as the file lists them, but never one before another that stands above it.

/** Where a shape is and how large, in any one unit; null where the file does not say. */
export interface Placed {
  box: { x: number; y: number; width: number; height: number } | null;
}

/** Slides with more shapes are drawings; they keep the file's order. */
const ORDERED_SHAPES = 500;
/** Boxes may overlap by this share of the smaller one and still be above each other. */
const OVERLAP = 0.1;

/** Wholly above, and over some of the same columns. Boxes that lie on each other say nothing about their order. */
function isAbove(a: Placed, b: Placed): boolean {
  if (!a.box || !b.box || a.box.height <= 0 || b.box.height <= 0) return false;
  const tolerance = OVERLAP * Math.min(a.box.height, b.box.height);
  if (a.box.y + a.box.height > b.box.y + tolerance) return false;
  return a.box.x < b.box.x + b.box.width && b.box.x < a.box.x + a.box.width;
}

/** A new array; shapes that nothing constrains keep their order. Quadratic in the shapes of one slide, which are bounded. */
export function inReadingOrder<S extends Placed>(shapes: readonly S[]): S[] {
  if (shapes.length > ORDERED_SHAPES) return [...shapes];
  const waiting = [...shapes];
  const ordered: S[] = [];
  const blockers = new Map(waiting.map((shape) => [shape, waiting.filter((other) => isAbove(other, shape)).length]));
  while (waiting.length > 0) {
    const free = waiting.findIndex((shape) => blockers.get(shape) === 0);
    // With the tolerance two boxes could block each other; then the file's order holds.
    const [next] = waiting.splice(Math.max(free, 0), 1);
    if (!next) break;
    ordered.push(next);
    for (const shape of waiting) if (isAbove(next, shape)) blockers.set(shape, (blockers.get(shape) ?? 1) - 1);
  }
  return ordered;
}
