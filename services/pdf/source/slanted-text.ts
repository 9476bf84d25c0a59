// Reads text that is set at an angle, as the heads of narrow columns and the names along an axis are: each run of it stands as words at its foot.
import type { TextStyle } from './page-model.ts';
import type { WordBuilder } from './word-builder.ts';

/** Least angle to the nearest quarter turn, radians: a scan's skew and a slight tilt are none. */
const LEAST_ANGLE = 0.26;
/** Width of a run at its foot, in type sizes: columns whose heads are slanted may be as narrow as this. */
const FOOT = 1.2;
/** Steps between the glyphs of one run, along it and across it, in type sizes. */
const STEP = 2.5;
const DRIFT = 0.5;
/** A word in this type and over this share of the page is a watermark. */
const WATERMARK_SIZE = 24;
const WATERMARK_SHARE = 0.3;

/** @param angle of a baseline as displayed, radians */
export function isSlanted(angle: number): boolean {
  const quarter = Math.PI / 2;
  return Math.abs(angle - Math.round(angle / quarter) * quarter) > LEAST_ANGLE;
}

/** A letter that is printed again, to look bold, stands at most this far beside its first print, in type sizes. */
const OVERPRINT = 0.15;

interface SlantedRun {
  text: string;
  /** Its last glyph, which may be several letters. */
  glyph: string;
  first: { x: number; y: number };
  last: { x: number; y: number };
  angle: number;
  style: TextStyle;
  invisible: boolean;
}

export class SlantedText {
  readonly #builder: WordBuilder;
  readonly #pageSide: number;
  #open: SlantedRun | undefined;
  #spaced = false;

  /** @param pageSide the shorter side of the page, points */
  constructor(builder: WordBuilder, pageSide: number) {
    this.#builder = builder;
    this.#pageSide = pageSide;
  }

  /** @param x, y the glyph's origin as displayed */
  add(text: string, x: number, y: number, angle: number, style: TextStyle, invisible: boolean): void {
    const open = this.#open;
    if (open && printsAgain(open, text, x, y)) return;
    if (open && carriesOn(open, x, y, angle, style)) {
      open.text += (this.#spaced ? ' ' : '') + text;
      open.glyph = text;
      open.last = { x, y };
    } else {
      this.end();
      this.#open = { text, glyph: text, first: { x, y }, last: { x, y }, angle, style, invisible };
    }
    this.#spaced = false;
  }

  /** White space of the text layer. @returns whether it may lie within a run */
  space(): boolean {
    this.#spaced = true;
    return this.#open !== undefined;
  }

  /** Other text follows, or none (fixtures/pdf/slanted-heads.pdf). */
  end(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const { first, last, style, invisible } = open;
    const length = Math.hypot(last.x - first.x, last.y - first.y);
    if (style.size > WATERMARK_SIZE && length > this.#pageSide * WATERMARK_SHARE) return;
    const foot = first.y >= last.y ? first : last;
    const pace = (style.size * FOOT) / open.text.length;
    let x0 = foot.x - style.size * (FOOT / 4);
    this.#builder.space();
    for (const word of open.text.split(' ')) {
      const x1 = x0 + word.length * pace;
      const code = word.codePointAt(0) ?? 0;
      this.#builder.add({ text: word, code, x0, x1, baseline: foot.y, style, direction: 0, invisible });
      this.#builder.space();
      x0 = x1 + pace;
    }
  }
}

/** Whether the last glyph of a run is printed again; letters that repeat stand further apart. */
function printsAgain(open: SlantedRun, text: string, x: number, y: number): boolean {
  const step = Math.hypot(x - open.last.x, y - open.last.y);
  return open.glyph === text && step > 0 && step < open.style.size * OVERPRINT;
}

function carriesOn(open: SlantedRun, x: number, y: number, angle: number, style: TextStyle): boolean {
  if (open.style !== style || Math.abs(open.angle - angle) > 0.02) return false;
  const dx = x - open.last.x;
  const dy = y - open.last.y;
  const along = dx * Math.cos(angle) + dy * Math.sin(angle);
  const across = Math.abs(dy * Math.cos(angle) - dx * Math.sin(angle));
  return along > -style.size * DRIFT && along < style.size * STEP && across < style.size * DRIFT;
}
