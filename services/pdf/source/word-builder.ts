// Joins glyphs, as an engine's content stream gives them, into words by geometry; every engine goes through it.
import type { QuarterTurn } from './geometry.ts';
import { turnBox } from './geometry.ts';
import { isRightToLeft } from './glyph-text.ts';
import type { TextStyle, Word } from './page-model.ts';
import type { StructureElement } from './structure.ts';

/** Gap between two glyphs of one word, in type sizes; beyond it a new word begins. */
const WORD_GAP = 0.2;
/** How far a glyph may step back over the one before it (kerning, italic overhang), in type sizes. */
const KERNING = 0.45;

/** What a tagged file says of a glyph: its element, or that it is no part of the text. */
export type Tag = StructureElement | 'artifact';

/** How far the left edge of a letter may step to the right of those before it where text runs to the left, and how far it may reach over them. */
const RIGHTWARDS = 0.05;
const OVERLAP = 1.5;

/** A glyph that is printed again, to look bold, stands at most this far beside its first print: in its own widths, and in type sizes. Letters that repeat, as in `all`, stand further apart in the tightest type. */
const OVERPRINT = { width: 0.4, size: 0.15 };
/** Words back from a glyph in which its first print is looked for, and from an accent its letter: engines give overlapping glyphs late. */
const REACH = 16;
/** Letters at the end of a word in which the first print is looked for: a file can make one word of a whole page. */
const MOST_LETTERS = 100;
/** A word is bold where at least this share of its letters is printed again. */
const BOLD_SHARE = 0.5;

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
  tag?: Tag;
}

interface OpenWord extends Omit<PlacedGlyph, 'code'> {
  spaceBefore: boolean | null;
  rightToLeft: boolean;
  /** Edges of its last glyph, and where that begins in `text`. */
  lastX0: number;
  lastX1: number;
  lastOffset: number;
  /** Left edges of its glyphs, and where each begins in `text`. */
  edges: number[];
  offsets: number[];
  /** Glyphs of it that were printed again. */
  overprints: number;
}

/** Spacing accents and the combining marks that they stand for where TeX paints them over a letter. */
const ACCENTS: ReadonlyMap<number, string> = new Map([
  [0x60, '\u0300'],
  [0xa8, '\u0308'],
  [0xaf, '\u0304'],
  [0xb4, '\u0301'],
  [0xb8, '\u0327'],
  [0x2c6, '\u0302'],
  [0x2c7, '\u030c'],
  [0x2d8, '\u0306'],
  [0x2d9, '\u0307'],
  [0x2da, '\u030a'],
  [0x2db, '\u0328'],
  [0x2dc, '\u0303'],
  [0x2dd, '\u030b'],
]);
/** Takes glyphs in stream order (a glyph may be filled anew for the next); `finish` gives the words in the displayed frame. */
export class WordBuilder {
  readonly #width: number;
  readonly #height: number;
  readonly #words: Word[] = [];
  /** The last words as they were built, the newest last, for accents that come after their letter and letters that are printed again. */
  readonly #recent: { built: OpenWord; word: Word }[] = [];
  #accent: PlacedGlyph | undefined;
  #open: OpenWord | undefined;
  #spaced = false;
  #guessed = false;

  /** @param width, height of the page as displayed, points */
  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  add(glyph: PlacedGlyph): void {
    const waiting = this.#accent;
    if (waiting) {
      this.#accent = undefined;
      if (covers(glyph.x0, glyph.x1, glyph, waiting)) {
        this.#append({ ...glyph, text: accented(glyph.text, waiting) });
        return;
      }
      this.#append(waiting);
    }
    if ((glyph.code > 0x7e || glyph.code === 0x60) && ACCENTS.has(glyph.code)) {
      if (!this.#accentBack(glyph)) this.#accent = { ...glyph };
      return;
    }
    this.#append(glyph);
  }

  #append(glyph: PlacedGlyph): void {
    const open = this.#open;
    if (open && this.#isOverprint(open, glyph)) {
      // Engines suppose a space where the text steps back.
      this.#guessed = false;
      return;
    }
    if (open && !this.#spaced && !this.#guessed && this.#carriesOn(open, glyph)) {
      if (open.rightToLeft && glyph.x0 === open.lastX0 && glyph.x1 === open.lastX1) {
        // Letters of one glyph, as of a ligature: engines turn them round with the line.
        open.text = open.text.slice(0, open.lastOffset) + glyph.text + open.text.slice(open.lastOffset);
        return;
      }
      open.lastX0 = glyph.x0;
      open.lastX1 = glyph.x1;
      open.lastOffset = open.text.length;
      open.edges.push(glyph.x0);
      open.offsets.push(open.text.length);
      open.text += glyph.text;
      if (glyph.x0 < open.x0) open.x0 = glyph.x0;
      if (glyph.x1 > open.x1) open.x1 = glyph.x1;
      return;
    }
    const spaceBefore = this.#spaced ? true : this.#touches(open, glyph) ? false : null;
    this.#close();
    this.#open = {
      text: glyph.text,
      x0: glyph.x0,
      x1: glyph.x1,
      baseline: glyph.baseline,
      style: glyph.style,
      direction: glyph.direction,
      invisible: glyph.invisible,
      tag: glyph.tag,
      spaceBefore,
      rightToLeft: isRightToLeft(glyph.code),
      lastX0: glyph.x0,
      lastX1: glyph.x1,
      lastOffset: 0,
      edges: [glyph.x0],
      offsets: [0],
      overprints: 0,
    };
    this.#spaced = false;
    this.#guessed = false;
  }

  /** Whether a glyph is printed again over one of the last words; the word then counts it. */
  #isOverprint(open: OpenWord, glyph: PlacedGlyph): boolean {
    if (!open.rightToLeft && glyph.x0 > open.lastX0 + glyph.style.size * OVERPRINT.size) return false;
    // Letters of one glyph, as of a ligature, have exactly one box.
    if (glyph.x0 === open.lastX0 && glyph.x1 === open.lastX1) return false;
    if (printsAgain(open, glyph)) {
      open.overprints++;
      return true;
    }
    for (let n = this.#recent.length - 1; n >= 0; n--) {
      const { built, word } = this.#recent[n] as { built: OpenWord; word: Word };
      if (!printsAgain(built, glyph)) continue;
      built.overprints++;
      word.style = styleOf(built);
      return true;
    }
    return false;
  }

  /** Puts an accent on a letter that came before it. */
  #accentBack(accent: PlacedGlyph): boolean {
    const open = this.#open;
    if (open && accentWord(open, accent)) return true;
    for (let n = this.#recent.length - 1; n >= 0; n--) {
      const recent = this.#recent[n];
      if (!recent || !accentWord(recent.built, accent)) continue;
      recent.word.text = tidy(recent.built.text);
      return true;
    }
    return false;
  }

  /** White space stood here: in the stream, or only the engine supposes it (then the gap will decide). */
  space(guessed = false): void {
    // Engines suppose one between an accent and the letter that it is painted over.
    if (this.#accent) {
      if (guessed) return;
      this.#append(this.#accent);
      this.#accent = undefined;
    }
    if (guessed) this.#guessed = true;
    else this.#spaced = true;
  }

  finish(): Word[] {
    if (this.#accent) this.#append(this.#accent);
    this.#accent = undefined;
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
    const backwards = open.rightToLeft && (isRightToLeft(glyph.code) || glyph.text === '\u200c');
    // A word of Latin letters ends where one that reads the other way begins.
    if (!open.rightToLeft && isRightToLeft(glyph.code)) return false;
    const gap = backwards ? open.x0 - glyph.x1 : glyph.x0 - open.x1;
    // Arabic letters reach far under and over each other.
    if (backwards && gap < 0) return glyph.x0 <= open.x0 + size * RIGHTWARDS && gap > -size * OVERLAP;
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
    // TeX's large brackets and operators hang from their baseline.
    const rise = open.style.font.startsWith('CMEX') ? 0 : 0.78;
    const upright = {
      x0: open.x0,
      x1: open.x1,
      y0: open.baseline - size * rise,
      y1: open.baseline + size * (1 - rise),
    };
    const sideways = open.direction === 90 || open.direction === 270;
    const word: Word = {
      text,
      box: turnBox(
        upright,
        open.direction,
        sideways ? this.#height : this.#width,
        sideways ? this.#width : this.#height,
      ),
      baseline: open.baseline,
      style: styleOf(open),
      direction: open.direction,
      spaceBefore: open.spaceBefore,
      invisible: open.invisible,
      index: this.#words.length,
    };
    if (open.tag === 'artifact') word.artifact = true;
    else if (open.tag) word.element = open.tag;
    this.#words.push(word);
    this.#recent.push({ built: open, word });
    if (this.#recent.length > REACH) this.#recent.shift();
  }
}

/** Whether a word has the same letter of the same size at almost the same place. */
function printsAgain(word: OpenWord, glyph: PlacedGlyph): boolean {
  const { size } = glyph.style;
  const reach = Math.min((glyph.x1 - glyph.x0) * OVERPRINT.width, size * OVERPRINT.size);
  if (word.direction !== glyph.direction || word.invisible !== glyph.invisible) return false;
  if (glyph.x0 < word.x0 - reach || glyph.x0 > word.x1) return false;
  if (word.style.size !== size || Math.abs(word.baseline - glyph.baseline) > size * OVERPRINT.size) return false;
  const { edges, offsets } = word;
  for (let n = edges.length - 1; n >= Math.max(0, edges.length - MOST_LETTERS); n--)
    if (
      Math.abs((edges[n] ?? 0) - glyph.x0) <= reach &&
      word.text.slice(offsets[n], offsets[n + 1] ?? word.text.length) === glyph.text
    )
      return true;
  return false;
}

/** The style of a word; bold where its letters are printed again. */
function styleOf({ style, overprints, edges }: OpenWord): TextStyle {
  return style.bold || overprints < edges.length * BOLD_SHARE || overprints === 0 ? style : { ...style, bold: true };
}

/** Whether an accent stands over the middle of a letter of its line. */
function covers(x0: number, x1: number, letter: { baseline: number; direction: QuarterTurn }, accent: PlacedGlyph) {
  const middle = (accent.x0 + accent.x1) / 2;
  const { size } = accent.style;
  return (
    letter.direction === accent.direction &&
    Math.abs(letter.baseline - accent.baseline) < size * 0.35 &&
    middle > x0 &&
    middle < x1 &&
    Math.min(x1, accent.x1) - Math.max(x0, accent.x0) > (accent.x1 - accent.x0) * 0.5
  );
}

/** Accents the letter of a word over which the accent stands, if there is one. */
function accentWord(open: OpenWord, accent: PlacedGlyph): boolean {
  if (!covers(open.x0, open.x1, open, accent)) return false;
  const { edges, offsets } = open;
  for (let n = edges.length - 1; n >= 0; n--) {
    const from = edges[n] ?? 0;
    if (!covers(from, edges[n + 1] ?? open.x1, open, accent)) continue;
    const start = offsets[n] ?? 0;
    const end = offsets[n + 1] ?? open.text.length;
    const letter = open.text.slice(start, end);
    if (!/^\p{L}$/u.test(letter)) return false;
    const text = accented(letter, accent);
    open.text = open.text.slice(0, start) + text + open.text.slice(end);
    for (let later = n + 1; later < offsets.length; later++)
      offsets[later] = (offsets[later] ?? 0) + text.length - letter.length;
    return true;
  }
  return false;
}

/** A letter with its accent, composed (fixtures/pdf/painted-accents.pdf). */
function accented(letter: string, accent: PlacedGlyph): string {
  if (!/^\p{L}$/u.test(letter)) return accent.text + letter;
  const base = letter === 'ı' ? 'i' : letter === 'ȷ' ? 'j' : letter;
  return (base + (ACCENTS.get(accent.code) ?? '')).normalize('NFC');
}

/** Half-spaces that do not stand between letters of a script that joins or stacks its letters. */
const IDLE_HALF_SPACE =
  /(?<![\u0600-\u08ff\u0900-\u0dff\ufb50-\ufefc])\u200c|\u200c(?![\u0600-\u08ff\u0900-\u0dff\ufb50-\ufefc])/g;

/** Soft hyphens stay only at a word's end, where the line was broken; letters and their marks are composed; half-spaces stay where they tell (word-builder.test.ts). */
function tidy(text: string): string {
  let plain = true;
  for (let i = 0; i < text.length; i++)
    if (text.charCodeAt(i) > 0x7e) {
      plain = false;
      break;
    }
  if (plain) return text;
  const inner = text.includes('\u00ad') ? text.slice(0, -1).replaceAll('\u00ad', '') + text.slice(-1) : text;
  const told = inner.includes('\u200c') ? inner.replace(IDLE_HALF_SPACE, '') : inner;
  return told.normalize('NFC').replace(/^\u00ad$/, '-');
}

/** Text painted twice with a hair's offset, to look bold or shadowed, is read once (and is bold). */
function dropOverprints(words: Word[]): Word[] {
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
