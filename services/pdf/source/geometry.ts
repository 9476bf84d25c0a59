// Boxes and affine maps in the one frame that layout works in: points, origin at the top left of the page as it is displayed, y downwards.

/** Points; `x0 <= x1`, `y0 <= y1`. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** Quarter turns clockwise in degrees. */
export type QuarterTurn = 0 | 90 | 180 | 270;

/** `x' = a x + c y + e`, `y' = b x + d y + f` (ISO 32000-1, 8.3.4). */
export interface Matrix {
  a: number;
  b: number;
  c: number;
  d: number;
  e: number;
  f: number;
}

/** The map that does `first` and then `second`. */
export function concatenate(first: Matrix, second: Matrix): Matrix {
  return {
    a: first.a * second.a + first.b * second.c,
    b: first.a * second.b + first.b * second.d,
    c: first.c * second.a + first.d * second.c,
    d: first.c * second.b + first.d * second.d,
    e: first.e * second.a + first.f * second.c + second.e,
    f: first.e * second.b + first.f * second.d + second.f,
  };
}

/** The smallest upright box that holds a box's image under a map. */
export function mapBox(matrix: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  const ax = matrix.a * x0 + matrix.c * y0 + matrix.e;
  const ay = matrix.b * x0 + matrix.d * y0 + matrix.f;
  const bx = matrix.a * x1 + matrix.c * y1 + matrix.e;
  const by = matrix.b * x1 + matrix.d * y1 + matrix.f;
  if ((matrix.b === 0 && matrix.c === 0) || (matrix.a === 0 && matrix.d === 0))
    return { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
  const cx = matrix.a * x0 + matrix.c * y1 + matrix.e;
  const cy = matrix.b * x0 + matrix.d * y1 + matrix.f;
  const dx = matrix.a * x1 + matrix.c * y0 + matrix.e;
  const dy = matrix.b * x1 + matrix.d * y0 + matrix.f;
  return {
    x0: Math.min(ax, bx, cx, dx),
    y0: Math.min(ay, by, cy, dy),
    x1: Math.max(ax, bx, cx, dx),
    y1: Math.max(ay, by, cy, dy),
  };
}

/**
 * From PDF user space (origin at the bottom left) to the displayed frame.
 * @param crop the visible box in user space, `y0` its bottom
 */
export function displayMatrix(crop: Box, rotation: QuarterTurn): Matrix {
  switch (rotation) {
    case 90:
      return { a: 0, b: 1, c: 1, d: 0, e: -crop.y0, f: -crop.x0 };
    case 180:
      return { a: -1, b: 0, c: 0, d: 1, e: crop.x1, f: -crop.y0 };
    case 270:
      return { a: 0, b: -1, c: -1, d: 0, e: crop.y1, f: crop.x1 };
    default:
      return { a: 1, b: 0, c: 0, d: -1, e: -crop.x0, f: crop.y1 };
  }
}

/** A box of a `width` x `height` page after the page was turned clockwise. */
export function turnBox(box: Box, turn: QuarterTurn, width: number, height: number): Box {
  switch (turn) {
    case 90:
      return { x0: height - box.y1, y0: box.x0, x1: height - box.y0, y1: box.x1 };
    case 180:
      return { x0: width - box.x1, y0: height - box.y1, x1: width - box.x0, y1: height - box.y0 };
    case 270:
      return { x0: box.y0, y0: width - box.x1, x1: box.y1, y1: width - box.x0 };
    default:
      return box;
  }
}

/** The box around a box of a `width` x `height` page after the page was tilted about its centre, degrees clockwise. */
export function tiltBox(box: Box, degrees: number, width: number, height: number): Box {
  const cos = Math.cos((degrees * Math.PI) / 180);
  const sin = Math.sin((degrees * Math.PI) / 180);
  const corners = [box.x0, box.x1].flatMap((x) =>
    [box.y0, box.y1].map((y) => {
      const dx = x - width / 2;
      const dy = y - height / 2;
      return { x: width / 2 + dx * cos - dy * sin, y: height / 2 + dx * sin + dy * cos };
    }),
  );
  const xs = corners.map((corner) => corner.x);
  const ys = corners.map((corner) => corner.y);
  return { x0: Math.min(...xs), x1: Math.max(...xs), y0: Math.min(...ys), y1: Math.max(...ys) };
}

export function unionBox(a: Box, b: Box): Box {
  return { x0: Math.min(a.x0, b.x0), y0: Math.min(a.y0, b.y0), x1: Math.max(a.x1, b.x1), y1: Math.max(a.y1, b.y1) };
}

/** The box around some boxes; at least one is needed. */
export function boundingBox(boxes: readonly Box[]): Box {
  const all: Box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (const box of boxes) {
    if (box.x0 < all.x0) all.x0 = box.x0;
    if (box.y0 < all.y0) all.y0 = box.y0;
    if (box.x1 > all.x1) all.x1 = box.x1;
    if (box.y1 > all.y1) all.y1 = box.y1;
  }
  return all;
}

export function area(box: Box): number {
  return Math.max(0, box.x1 - box.x0) * Math.max(0, box.y1 - box.y0);
}

export function intersectionArea(a: Box, b: Box): number {
  const width = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0);
  const height = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return width > 0 && height > 0 ? width * height : 0;
}

/** Length that two intervals share; negative is the gap between them. */
export function overlap(a0: number, a1: number, b0: number, b1: number): number {
  return Math.min(a1, b1) - Math.max(a0, b0);
}

/** Whether a box's centre lies in another. */
export function centreInside(inner: Box, outer: Box): boolean {
  const x = (inner.x0 + inner.x1) / 2;
  const y = (inner.y0 + inner.y1) / 2;
  return x >= outer.x0 && x <= outer.x1 && y >= outer.y0 && y <= outer.y1;
}
