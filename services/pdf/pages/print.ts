// Counts the print that can be seen on a rendered page and that no known word accounts for, so that OCR is asked only where there is something to read.
import type { Box } from '../source/geometry.ts';
import type { GreyImage } from '../source/page-model.ts';

/** Resolution at which letters of 5 points and more can be told from grain; it costs a hundredth of reading them. */
export const LOOK_DPI = 100;
/** Grey levels by which ink differs from what surrounds it, and how far around is looked, in inches. */
const CONTRAST = 28;
const SURROUNDINGS = 0.12;
/** Heights of letters, in inches: the bodies of 5 point type, and headlines. */
const LETTER_HEIGHT = [0.03, 0.45] as const;
/** Letters of small type touch: a word may be one piece of ink, this many times wider than high. */
const LONGEST_PIECE = 12;
/** Pieces of one line: how much their heights differ, how far their middles, and the gap between them, in heights. */
const SAME_HEIGHT = 2.3;
const SAME_LINE = 0.4;
const WORD_GAP = 1.6;
/** A letter is about this wide, in heights of the piece. */
const LETTER_WIDTH = 0.75;
/** What is shorter is no line of text: ticks, dots and specks stand beside each other too. */
const SHORTEST_LINE = 4;
/** More pieces than print has on any page are the grain of a picture. */
const MOST_PIECES = 40_000;

interface PrintedLine {
  /** In points of the page. */
  box: Box;
  /** About how many letters stand in it. */
  letters: number;
}

/**
 * Lines of print on a page, dark on light or light on dark.
 * @param known words whose ink is left out, in points
 */
export function findPrint(image: GreyImage, known: readonly Box[]): PrintedLine[] {
  const ink = inkOf(image);
  hide(ink, image, known);
  const lines = [1, 2].flatMap((polarity) => linesOf(piecesOf(ink, image, polarity), image.dpi));
  const scale = 72 / image.dpi;
  return lines.map(({ box, letters }) => ({
    box: { x0: box.x0 * scale, y0: box.y0 * scale, x1: box.x1 * scale, y1: box.y1 * scale },
    letters,
  }));
}

/** 1 where a pixel is darker than its surroundings, 2 where it is lighter, else 0. */
function inkOf({ width, height, dpi, pixels }: GreyImage): Uint8Array {
  const reach = Math.max(2, Math.round(dpi * SURROUNDINGS));
  const ink = new Uint8Array(width * height);
  const columns = new Uint32Array(width);
  for (let y = 0; y < Math.min(reach, height); y++)
    for (let x = 0; x < width; x++) columns[x] = (columns[x] ?? 0) + (pixels[y * width + x] ?? 0);
  for (let y = 0; y < height; y++) {
    const enters = y + reach;
    const leaves = y - reach - 1;
    for (let x = 0; x < width; x++) {
      let sum = columns[x] ?? 0;
      if (enters < height) sum += pixels[enters * width + x] ?? 0;
      if (leaves >= 0) sum -= pixels[leaves * width + x] ?? 0;
      columns[x] = sum;
    }
    const rows = Math.min(height - 1, enters) - Math.max(0, leaves + 1) + 1;
    let sum = 0;
    for (let x = 0; x < Math.min(reach, width); x++) sum += columns[x] ?? 0;
    for (let x = 0; x < width; x++) {
      if (x + reach < width) sum += columns[x + reach] ?? 0;
      if (x - reach - 1 >= 0) sum -= columns[x - reach - 1] ?? 0;
      const count = rows * (Math.min(width - 1, x + reach) - Math.max(0, x - reach) + 1);
      const mean = sum / count;
      const grey = pixels[y * width + x] ?? 0;
      if (grey < mean - CONTRAST) ink[y * width + x] = 1;
      else if (grey > mean + CONTRAST) ink[y * width + x] = 2;
    }
  }
  return ink;
}

function hide(ink: Uint8Array, { width, height, dpi }: GreyImage, known: readonly Box[]): void {
  const scale = dpi / 72;
  for (const box of known) {
    // The box of a word may be tighter than its ink.
    const edge = (box.y1 - box.y0) * 0.15;
    const x0 = Math.max(0, Math.floor((box.x0 - edge) * scale));
    const x1 = Math.min(width, Math.ceil((box.x1 + edge) * scale));
    const y1 = Math.min(height, Math.ceil((box.y1 + edge) * scale));
    for (let y = Math.max(0, Math.floor((box.y0 - edge) * scale)); y < y1; y++)
      if (x1 > x0) ink.fill(0, y * width + x0, y * width + x1);
  }
}

/** Connected pieces of ink of a letter's or a word's size, as boxes in pixels, by their left edges. */
function piecesOf(ink: Uint8Array, { width, height, dpi }: GreyImage, polarity: number): Box[] {
  const parents: number[] = [];
  const boxes: Box[] = [];
  const root = (label: number): number => {
    let at = label;
    while (parents[at] !== at) at = parents[at] ?? at;
    parents[label] = at;
    return at;
  };
  const join = (one: number, other: number): number => {
    const [kept, gone] = [root(one), root(other)];
    if (kept === gone) return kept;
    parents[gone] = kept;
    const [a, b] = [boxes[kept], boxes[gone]];
    if (a && b) {
      a.x0 = Math.min(a.x0, b.x0);
      a.y0 = Math.min(a.y0, b.y0);
      a.x1 = Math.max(a.x1, b.x1);
      a.y1 = Math.max(a.y1, b.y1);
    }
    return kept;
  };
  let above: { start: number; end: number; label: number }[] = [];
  for (let y = 0; y < height; y++) {
    const runs: typeof above = [];
    let first = 0;
    for (let x = 0; x < width; x++) {
      if (ink[y * width + x] !== polarity) continue;
      const start = x;
      while (x < width && ink[y * width + x] === polarity) x++;
      let label = -1;
      while (first < above.length && (above[first]?.end ?? 0) < start) first++;
      for (let at = first; at < above.length; at++) {
        const run = above[at];
        if (!run || run.start > x) break;
        label = label < 0 ? root(run.label) : join(label, run.label);
      }
      if (label < 0) {
        label = parents.length;
        parents.push(label);
        boxes.push({ x0: start, y0: y, x1: x, y1: y + 1 });
      } else {
        const box = boxes[label];
        if (box) {
          box.x0 = Math.min(box.x0, start);
          box.x1 = Math.max(box.x1, x);
          box.y1 = y + 1;
        }
      }
      runs.push({ start, end: x, label });
    }
    above = runs;
  }
  const [least, most] = [LETTER_HEIGHT[0] * dpi, LETTER_HEIGHT[1] * dpi];
  const pieces = boxes.filter((box, label) => {
    const high = box.y1 - box.y0;
    return parents[label] === label && high >= least && high <= most && box.x1 - box.x0 <= high * LONGEST_PIECE;
  });
  return pieces.length > MOST_PIECES ? [] : pieces.sort((a, b) => a.x0 - b.x0);
}

/** Pieces that stand beside each other on one line. */
function linesOf(pieces: readonly Box[], dpi: number): PrintedLine[] {
  const cell = Math.max(4, Math.round(dpi * 0.1));
  const lines: (PrintedLine & { last: Box; pieces: number })[] = [];
  /** The lines that were met at each height: only those near can go on. */
  const rows = new Map<number, typeof lines>();
  for (const piece of pieces) {
    const high = piece.y1 - piece.y0;
    const middle = (piece.y0 + piece.y1) / 2;
    const row = Math.floor(middle / cell);
    const near = [row - 1, row, row + 1].flatMap((at) => rows.get(at) ?? []);
    const line = near.find(({ last }) => {
      const other = last.y1 - last.y0;
      const taller = Math.max(high, other);
      return (
        taller <= Math.min(high, other) * SAME_HEIGHT &&
        Math.abs((last.y0 + last.y1) / 2 - middle) <= taller * SAME_LINE &&
        piece.x0 - last.x1 <= taller * WORD_GAP &&
        piece.x1 > last.x1
      );
    });
    const letters = Math.max(1, (piece.x1 - piece.x0) / (high * LETTER_WIDTH));
    if (!line) {
      const fresh = { box: { ...piece }, letters, last: piece, pieces: 1 };
      lines.push(fresh);
      rows.set(row, [...(rows.get(row) ?? []), fresh].slice(-64));
      continue;
    }
    line.letters += letters;
    line.pieces += 1;
    line.last = piece;
    line.box.x1 = Math.max(line.box.x1, piece.x1);
    line.box.y0 = Math.min(line.box.y0, piece.y0);
    line.box.y1 = Math.max(line.box.y1, piece.y1);
    const kept = rows.get(row) ?? [];
    if (!kept.includes(line)) rows.set(row, [...kept, line].slice(-64));
  }
  return lines.filter((line) => line.letters >= SHORTEST_LINE && line.pieces >= 2);
}
