// Tells which painted paths are straight lines and which are filled areas, and joins the pieces of one line.
import type { Box } from './geometry.ts';
import type { Region, Ruling } from './page-model.ts';

/** A shape this thin, in points, is a line. */
const LINE_THICKNESS = 3.2;
/** Shorter pieces are dots of a dotted line or parts of a glyph, unless they join. */
const MIN_PIECE = 0.4;
const MIN_LENGTH = 5;
/** Longer side of a dot by its shorter one: a dot may be of a line across or of one down. */
const SQUARE = 1.5;
/** Lines this close and colinear are one. */
const JOIN_GAP = 3.5;
const SAME_LINE = 1.2;

export class RulingCollector {
  readonly #page: Box;
  readonly #pieces: Ruling[] = [];
  readonly #regions: Region[] = [];
  readonly #slants: number[] = [];

  constructor(page: Box) {
    this.#page = page;
  }

  /** @param points x, y, x, y... in the displayed frame */
  stroke(points: readonly number[], closed: boolean, curved: boolean, width: number, color: number): void {
    if (curved) {
      if (!isWhite(color)) for (const coordinate of points) this.#slants.push(coordinate);
      return;
    }
    const last = points.length - 2;
    for (let i = 0; i < last; i += 2) this.#segment(points, i, i + 2, width, color);
    if (closed && last > 2) this.#segment(points, last, 0, width, color);
  }

  fill(points: readonly number[], curved: boolean, color: number): void {
    let x0 = Infinity;
    let y0 = Infinity;
    let x1 = -Infinity;
    let y1 = -Infinity;
    for (let i = 0; i < points.length; i += 2) {
      const x = points[i] ?? 0;
      const y = points[i + 1] ?? 0;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
    x0 = Math.max(x0, this.#page.x0);
    y0 = Math.max(y0, this.#page.y0);
    x1 = Math.min(x1, this.#page.x1);
    y1 = Math.min(y1, this.#page.y1);
    if (!(x1 >= x0 && y1 >= y0)) return;
    const width = x1 - x0;
    const height = y1 - y0;
    const square = Math.max(width, height) <= Math.min(width, height) * SQUARE;
    const level = height <= LINE_THICKNESS && (width > height || square);
    const upright = width <= LINE_THICKNESS && (height > width || square);
    if (level) this.#piece(true, (y0 + y1) / 2, x0, x1, height, color);
    if (upright) this.#piece(false, (x0 + x1) / 2, y0, y1, width, color);
    if (level || upright) return;
    if (!curved && points.length >= 6 && points.length <= 12) this.#regions.push({ box: { x0, y0, x1, y1 }, color });
  }

  #segment(points: readonly number[], from: number, to: number, width: number, color: number): void {
    const ax = points[from] ?? 0;
    const ay = points[from + 1] ?? 0;
    const bx = points[to] ?? 0;
    const by = points[to + 1] ?? 0;
    const dx = Math.abs(ax - bx);
    const dy = Math.abs(ay - by);
    // A short line with a broad pen is a filled bar (zebra rows drawn as strokes).
    if (width > LINE_THICKNESS * 2) {
      if (dy <= 0.5 && dx > width)
        this.fill([Math.min(ax, bx), ay - width / 2, Math.max(ax, bx), ay + width / 2, ax, ay], false, color);
      return;
    }
    if (dy <= Math.max(0.5, dx * 0.005))
      this.#piece(true, (ay + by) / 2, Math.min(ax, bx), Math.max(ax, bx), width, color);
    else if (dx <= Math.max(0.5, dy * 0.005))
      this.#piece(false, (ax + bx) / 2, Math.min(ay, by), Math.max(ay, by), width, color);
    else if (!isWhite(color)) this.#slants.push((ax + bx) / 2, (ay + by) / 2);
  }

  #piece(horizontal: boolean, at: number, start: number, end: number, thickness: number, color: number): void {
    if (end - start < MIN_PIECE || isWhite(color)) return;
    const limit = horizontal ? this.#page.y1 : this.#page.x1;
    const length = horizontal ? this.#page.x1 : this.#page.y1;
    if (at < -1 || at > limit + 1 || end < 0 || start > length) return;
    this.#pieces.push({ horizontal, at, start: Math.max(0, start), end: Math.min(length, end), thickness, color });
  }

  finish(): { rulings: Ruling[]; regions: Region[]; slants: number[] } {
    const rulings = [
      ...join(this.#pieces.filter((p) => p.horizontal)),
      ...join(this.#pieces.filter((p) => !p.horizontal)),
    ];
    return {
      rulings: rulings.filter((line) => line.end - line.start >= MIN_LENGTH),
      regions: this.#regions,
      slants: this.#slants,
    };
  }
}

export function isWhite(color: number): boolean {
  return ((color >> 16) & 255) > 247 && ((color >> 8) & 255) > 247 && (color & 255) > 247;
}

/** Colinear pieces that touch become one line: a table's rule drawn cell by cell, a dashed line. */
function join(pieces: Ruling[]): Ruling[] {
  pieces.sort((a, b) => a.at - b.at);
  const joined: Ruling[] = [];
  let group: Ruling[] = [];
  const flush = () => {
    group.sort((a, b) => a.start - b.start);
    let open: Ruling | undefined;
    for (const piece of group) {
      if (open && piece.start <= open.end + JOIN_GAP) {
        if (piece.end > open.end) open.end = piece.end;
        if (piece.thickness > open.thickness) open.thickness = piece.thickness;
      } else {
        open = { ...piece };
        joined.push(open);
      }
    }
    group = [];
  };
  for (const piece of pieces) {
    const first = group[0];
    if (first && piece.at - first.at > SAME_LINE) flush();
    group.push(piece);
  }
  flush();
  return joined;
}
