// Joins glyphs, as an engine's content stream gives them, into words by geometry; every engine goes through it.
import type { QuarterTurn } from './geometry.ts';
import { turnBox } from './geometry.ts';
import { isRightToLeft } from './glyph-text.ts';
import type { TextStyle, Word } from './page-model.ts';

/** Gap between two glyphs of one word, in type sizes; beyond it a new word begins. */
const WORD_GAP = 0.2;
/** How far a glyph may step back over the one before it (kerning, italic overhang), in type sizes. */
const KERNING = 0.45;

/** One glyph in the frame in which its text reads upright. */
export interface PlacedGlyph {
  text: string;
  code: number;
  x0: number;
  x1: number;
  baseline: number;
  style: TextStyle;
  direction: QuarterTurn;
  invisible: boolean;
}

interface OpenWord extends PlacedGlyph {
  spaceBefore: boolean | null;
  rightToLeft: boolean;
}

/** Takes glyphs in stream order; `finish` gives the words in the displayed frame. */
export class WordBuilder {
  readonly #width: number;
  readonly #height: number;
  readonly #words: Word[] = [];
  #open: OpenWord | undefined;
  #spaced = false;
  #guessed = false;

  /** @param width, height of the page as displayed, points */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  add(glyph: PlacedGlyph): void {
    const open = this.#open;
    if (open && !this.#spaced && !this.#guessed && this.#carriesOn(open, glyph)) {
      open.text += glyph.text;
      if (glyph.x0 < open.x0) open.x0 = glyph.x0;
      if (glyph.x1 > open.x1) open.x1 = glyph.x1;
      return;
    }
    const spaceBefore = this.#spaced ? true : this.#touches(open, glyph) ? false : null;
    this.#close();
    this.#open = { ...glyph, spaceBefore, rightToLeft: isRightToLeft(glyph.code) };
    this.#spaced = false;
    this.#guessed = false;
  }

  /** White space stood here: in the stream, or only the engine supposes it (then the gap will decide). */
  space(guessed = false): void {
    if (guessed) this.#guessed = true;
    else this.#spaced = true;
  }

  finish(): Word[] {
    this.#close();
    return dropOverprints(this.#words);
  }

  #touches(open: OpenWord | undefined, glyph: PlacedGlyph): boolean {
    if (!open || open.direction !== glyph.direction) return false;
    const size = Math.max(open.style.size, glyph.style.size);
    if (Math.abs(open.baseline - glyph.baseline) > size * 0.6) return false;
    return Math.abs(glyph.x0 - open.x1) < size * 0.12;
  }

  #carriesOn(open: OpenWord, glyph: PlacedGlyph): boolean {
    if (open.style !== glyph.style || open.direction !== glyph.direction || open.invisible !== glyph.invisible)
      return false;
    const size = glyph.style.size;
    if (Math.abs(open.baseline - glyph.baseline) > size * 0.12) return false;
    const gap = open.rightToLeft && isRightToLeft(glyph.code) ? open.x0 - glyph.x1 : glyph.x0 - open.x1;
    return gap < size * WORD_GAP && gap > -size * KERNING;
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    const text = tidy(open.text);
    if (text === '') {
      this.#spaced = true;
      return;
    }
    const { size } = open.style;
    const upright = { x0: open.x0, x1: open.x1, y0: open.baseline - size * 0.78, y1: open.baseline + size * 0.22 };
    const sideways = open.direction === 90 || open.direction === 270;
    this.#words.push({
      text,
      box: turnBox(
        upright,
        open.direction,
        sideways ? this.#height : this.#width,
        sideways ? this.#width : this.#height,
      ),
      baseline: open.baseline,
      style: open.style,
      direction: open.direction,
      spaceBefore: open.spaceBefore,
      invisible: open.invisible,
      index: this.#words.length,
    });
  }
}

/** Soft hyphens stay only at a word's end, where the line was broken; letters and their marks are composed. */
function tidy(text: string): string {
  let plain = true;
  for (let i = 0; i < text.length; i++)
    if (text.charCodeAt(i) > 0x7e) {
      plain = false;
      break;
    }
  if (plain) return text;
  const inner = text.includes('\u00ad') ? text.slice(0, -1).replaceAll('\u00ad', '') + text.slice(-1) : text;
  return inner.normalize('NFC').replace(/^\u00ad$/, '-');
}

/** Text painted twice with a hair's offset, to look bold or shadowed, is read once (and is bold). */
export function dropOverprints(words: Word[]): Word[] {
  const seen = new Map<string, Word[]>();
  const kept: Word[] = [];
  for (const word of words) {
    const key = `${word.text}\u0000${Math.round(word.box.y0 / 8)}`;
    const twins = seen.get(key);
    const tolerance = word.style.size * 0.15;
    const twin = twins?.find(
      (other) =>
        Math.abs(other.box.x0 - word.box.x0) <= tolerance &&
        Math.abs(other.box.y0 - word.box.y0) <= tolerance &&
        Math.abs(other.box.x1 - word.box.x1) <= tolerance,
    );
    if (twin) {
      if (twin.invisible !== word.invisible) twin.invisible = false;
      else twin.style = { ...twin.style, bold: true };
      continue;
    }
    if (twins) {
      // Bounded: a page that repeats one word at one height thousands of times is no page of text.
      if (twins.length < 64) twins.push(word);
    } else seen.set(key, [word]);
    kept.push(word);
  }
  return kept;
}
