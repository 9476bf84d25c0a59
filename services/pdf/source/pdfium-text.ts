// Reads a page's characters out of PDFium with three calls a character and the rest once per text object.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { type FontFace, hasFixedPitch, readFontFace } from './fonts.ts';
import type { QuarterTurn } from './geometry.ts';
import { concatenate, type Matrix, mapBox, turnBox } from './geometry.ts';
import { glyphText, isSpaceCode } from './glyph-text.ts';
import type { PageContent, TextStyle } from './page-model.ts';
import { decodeUtf8, type Pdfium, readSized } from './pdfium-module.ts';
import type { ActualTexts, TaggedObjects, Told } from './pdfium-tags.ts';
import { isSlanted, SlantedText } from './slanted-text.ts';
import { SpokenGlyphs } from './spoken-glyphs.ts';
import { type PlacedGlyph, type Tag, WordBuilder } from './word-builder.ts';

interface TextRun {
  style: TextStyle;
  direction: QuarterTurn;
  invisible: boolean;
  /** Nothing in the file says what its first glyph means: neither do its others. */
  unnamed: boolean;
  /** Baseline minus bottom of the loose box, in user space (only for upright text). */
  looseDrop: number;
  upright: boolean;
  /** Of the baseline as displayed, radians, where that is at no quarter turn. */
  slant: number | undefined;
  /** Baseline of glyphs that stand one under the other (WMode 1), read as if the line were turned to the right: all have one. */
  vertical: number | undefined;
  /** What the tags of the file say of it. */
  tag: Tag | undefined;
  /** Of its font (Styles.shownIn). */
  shown: Uint8Array;
}

const NO_STYLE: TextStyle = { font: '', size: 0, bold: false, italic: false, monospace: false, color: 0 };

/** By handle. Of one page only: a font goes with the pages that use it, and its handle may be another's next. */
type FontCache = Map<number, FontFace>;

/** The styles of a page, one object for each, so that words of one style share it. */
class Styles {
  readonly #byFont = new Map<number, Map<number, TextStyle>>();
  readonly #shown = new Map<number, Uint8Array>();

  /** @param size in steps of a twentieth of a point, at most 2,000 */
  of(font: number, face: FontFace, size: number, color: number, skewed: boolean, outlined: boolean): TextStyle {
    let styles = this.#byFont.get(font);
    if (!styles) this.#byFont.set(font, (styles = new Map()));
    // One number for all the rest: 16 bits of size, 24 of colour and two.
    const key = (Math.round(size * 20) * 0x1000000 + color) * 4 + (skewed ? 2 : 0) + (outlined ? 1 : 0);
    let style = styles.get(key);
    if (!style) {
      style = {
        font: face.name,
        size,
        bold: face.bold || outlined,
        italic: face.italic || skewed,
        monospace: face.monospace,
        color,
      };
      styles.set(key, style);
    }
    return style;
  }

  /** By ASCII code: 1 where the page shows the character in this font. */
  shownIn(font: number): Uint8Array {
    let shown = this.#shown.get(font);
    if (!shown) this.#shown.set(font, (shown = new Uint8Array(0x80)));
    return shown;
  }

  /** Marks the fonts whose widths say that their pitch is fixed. Only characters that the page shows have a width of their own. */
  findFixedPitch(widthOf: (font: number, code: number) => number): void {
    for (const [font, shown] of this.#shown) {
      const styles = [...(this.#byFont.get(font)?.values() ?? [])];
      if (styles.every((style) => style.monospace)) continue;
      if (hasFixedPitch((character) => (shown[character.charCodeAt(0)] ? widthOf(font, character.charCodeAt(0)) : 0)))
        for (const style of styles) style.monospace = true;
    }
  }
}

/**
 * @param page, textPage PDFium handles
 * @param display user space to the displayed frame
 * @param scratch 64 bytes of module memory
 */
export function readText(
  pdfium: Pdfium,
  textPage: number,
  display: Matrix,
  width: number,
  height: number,
  scratch: number,
  actualTexts: ActualTexts,
  tags: TaggedObjects | undefined,
): Pick<PageContent, 'words' | 'glyphs' | 'unmappedGlyphs' | 'cutText'> {
  const builder = new WordBuilder(width, height);
  const styles = new Styles();
  const fonts: FontCache = new Map();
  const runs = new Map<number, TextRun>();
  const all = pdfium.FPDFText_CountChars(textPage);
  const count = Math.min(all, DOCUMENT_LIMITS.pdfPageCharacters);
  let glyphs = 0;
  let unmapped = 0;
  let lastObject = 0;
  let run: TextRun | undefined;
  /** What the glyphs of the object stand for. */
  let told: Told | undefined;
  const spoken = new SpokenGlyphs(builder);
  const slanted = new SlantedText(builder, Math.min(width, height));
  // One for all characters: the builder keeps what it needs of it.
  const glyph: PlacedGlyph = {
    text: '',
    code: 0,
    x0: 0,
    x1: 0,
    baseline: 0,
    style: NO_STYLE,
    direction: 0,
    invisible: false,
    tag: undefined,
  };
  for (let i = 0; i < count; i++) {
    let code = pdfium.FPDFText_GetUnicode(textPage, i) >>> 0;
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < count) {
      // A character past U+FFFF comes as two, of one glyph: an equation's letters (fixtures/pdf/equation-letters.pdf).
      const low = pdfium.FPDFText_GetUnicode(textPage, i + 1) >>> 0;
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i++;
      }
    }
    if (isSpaceCode(code)) {
      const guessed = pdfium.FPDFText_GetTextObject(textPage, i) === 0;
      if (!spoken.space(guessed) && !slanted.space()) builder.space(guessed);
      continue;
    }
    const object = pdfium.FPDFText_GetTextObject(textPage, i);
    if (object === 0 && code < 0x20) continue;
    const letters = glyphText(code) ?? (isSymbolBullet(pdfium, textPage, i, code) ? BULLET : null);
    // A code of a font without names that happens to be a control's.
    const text = letters === '' && code < 0x20 ? null : letters;
    if (text === '') continue;
    glyphs++;
    const instead = text === null ? actualTexts.ofUnnamed(object) : undefined;
    if (text === null && !instead) {
      unmapped++;
      continue;
    }
    if (object !== lastObject || !run) {
      lastObject = object;
      run = runs.get(object);
      if (!run) {
        run = readRun(pdfium, textPage, i, object, display, scratch, fonts, styles);
        run.tag = tags?.of(object);
        if (code >= FIRST_IDEOGRAPH && standsUnder(pdfium, textPage, i, object, scratch)) {
          const direction = ((run.direction + 90) % 360) as QuarterTurn;
          // The glyph's own origin is the left end of its foot: the em square ends there when the line is turned.
          const foot = mapBox(display, ...originOf(pdfium, textPage, i, scratch));
          const { y0 } = turnBox(foot, ((360 - direction) % 360) as QuarterTurn, width, height);
          run = { ...run, vertical: y0 - run.style.size * 0.22, direction };
        }
        runs.set(object, run);
      }
      told = actualTexts.ofNamed(object) ?? (run.unnamed ? actualTexts.ofUnnamed(object) : undefined);
    }
    if (code < 0x80) run.shown[code] = 1;
    let x0: number;
    let x1: number;
    let baseline: number;
    if (run.slant !== undefined && text !== null) {
      const origin = mapBox(display, ...originOf(pdfium, textPage, i, scratch));
      spoken.end();
      slanted.add(text, origin.x0, origin.y0, run.slant, run.style, run.invisible);
      if (run.unnamed) unmapped++;
      continue;
    }
    slanted.end();
    if (run.vertical !== undefined) {
      pdfium.FPDFText_GetLooseCharBox(textPage, i, scratch);
      const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.heap.f32.subarray(scratch >> 2, (scratch >> 2) + 4);
      const turn = ((360 - run.direction) % 360) as QuarterTurn;
      ({ x0, x1 } = turnBox(mapBox(display, left, bottom, right, top), turn, width, height));
      baseline = run.vertical;
    } else if (run.upright) {
      pdfium.FPDFText_GetLooseCharBox(textPage, i, scratch);
      const f32 = pdfium.heap.f32;
      const left = f32[scratch >> 2] ?? 0;
      const right = f32[(scratch >> 2) + 2] ?? 0;
      const y = (f32[(scratch >> 2) + 3] ?? 0) + run.looseDrop;
      const a = display.a * left + display.c * y + display.e;
      const b = display.a * right + display.c * y + display.e;
      x0 = Math.min(a, b);
      x1 = Math.max(a, b);
      baseline = display.b * left + display.d * y + display.f;
    } else {
      pdfium.FPDFText_GetCharBox(textPage, i, scratch, scratch + 8, scratch + 16, scratch + 24);
      pdfium.FPDFText_GetCharOrigin(textPage, i, scratch + 32, scratch + 40);
      const f64 = pdfium.heap.f64;
      const at = scratch >> 3;
      const turn = ((360 - run.direction) % 360) as QuarterTurn;
      const tight = turnBox(
        mapBox(display, f64[at] ?? 0, f64[at + 2] ?? 0, f64[at + 1] ?? 0, f64[at + 3] ?? 0),
        turn,
        width,
        height,
      );
      const ox = f64[at + 4] ?? 0;
      const oy = f64[at + 5] ?? 0;
      const origin = turnBox(mapBox(display, ox, oy, ox, oy), turn, width, height);
      x0 = Math.min(origin.x0, tight.x0);
      x1 = Math.max(tight.x1, x0);
      baseline = origin.y0;
    }
    if (!(Number.isFinite(x0) && Number.isFinite(x1) && Number.isFinite(baseline))) continue;
    glyph.text = text ?? '';
    glyph.code = code;
    glyph.x0 = x0;
    glyph.x1 = x1;
    glyph.baseline = baseline;
    glyph.style = run.style;
    glyph.direction = run.direction;
    glyph.invisible = run.invisible;
    glyph.tag = run.tag;
    const said = told ?? instead;
    if (said) {
      spoken.add(said, glyph);
      continue;
    }
    spoken.end();
    if (run.unnamed || (code > 0x7e && pdfium.FPDFText_HasUnicodeMapError(textPage, i) === 1)) unmapped++;
    builder.add(glyph);
  }
  spoken.end();
  slanted.end();
  styles.findFixedPitch((font, code) =>
    font !== 0 && pdfium.FPDFFont_GetGlyphWidth(font, code, GLYPH_UNITS, scratch)
      ? (pdfium.heap.f32[scratch >> 2] ?? 0)
      : 0,
  );
  return { words: builder.finish(), glyphs, unmappedGlyphs: unmapped, cutText: all > count };
}

function readRun(
  pdfium: Pdfium,
  textPage: number,
  index: number,
  object: number,
  display: Matrix,
  scratch: number,
  fonts: FontCache,
  styles: Styles,
): TextRun {
  const matrix: Matrix = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  if (pdfium.FPDFText_GetMatrix(textPage, index, scratch)) {
    const f32 = pdfium.heap.f32;
    const at = scratch >> 2;
    matrix.a = f32[at] ?? 1;
    matrix.b = f32[at + 1] ?? 0;
    matrix.c = f32[at + 2] ?? 0;
    matrix.d = f32[at + 3] ?? 1;
  }
  const shown = concatenate(matrix, { ...display, e: 0, f: 0 });
  const angle = Math.atan2(shown.b, shown.a);
  const direction = ((((Math.round((angle * 2) / Math.PI) % 4) + 4) % 4) * 90) as QuarterTurn;
  const fontSize = pdfium.FPDFText_GetFontSize(textPage, index);
  let size = Math.abs(fontSize) * Math.hypot(shown.c, shown.d);

  pdfium.FPDFText_GetCharBox(textPage, index, scratch, scratch + 8, scratch + 16, scratch + 24);
  pdfium.FPDFText_GetCharOrigin(textPage, index, scratch + 32, scratch + 40);
  const f64 = pdfium.heap.f64;
  const at = scratch >> 3;
  const tightHeight =
    direction % 180 === 0
      ? Math.abs((f64[at + 3] ?? 0) - (f64[at + 2] ?? 0))
      : Math.abs((f64[at + 1] ?? 0) - (f64[at] ?? 0));
  const originY = f64[at + 5] ?? 0;
  // Type 3 fonts carry their scale in the font's own matrix: the nominal size says nothing there.
  if (!(size > 0.5) || tightHeight > size * 3) size = Math.max(tightHeight * 1.3, 1);
  size = Math.min(size, 2000);
  pdfium.FPDFText_GetLooseCharBox(textPage, index, scratch);
  const looseBottom = pdfium.heap.f32[(scratch >> 2) + 3] ?? 0;
  const upright = matrix.b === 0 && matrix.c === 0 && matrix.a > 0 && display.b === 0 && direction === 0;

  const font = object === 0 ? 0 : pdfium.FPDFTextObj_GetFont(object);
  let face = fonts.get(font);
  if (!face) {
    face = font === 0 ? readFontFace('') : readFace(pdfium, font);
    fonts.set(font, face);
  }
  let color = 0;
  let alpha = 255;
  if (object !== 0 && pdfium.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)) {
    const i32 = pdfium.heap.i32;
    const p = scratch >> 2;
    color = (((i32[p] ?? 0) & 255) << 16) | (((i32[p + 1] ?? 0) & 255) << 8) | ((i32[p + 2] ?? 0) & 255);
    alpha = (i32[p + 3] ?? 255) & 255;
  }
  const mode = object === 0 ? 0 : pdfium.FPDFTextObj_GetTextRenderMode(object);
  // Slanted upright fonts made by a skewed matrix are italic to the reader.
  const skewed = direction === 0 && Math.abs(matrix.c) > Math.abs(matrix.d) * 0.15 && Math.abs(matrix.b) < 1e-3;
  return {
    style: styles.of(font, face, Math.round(size * 20) / 20, color, skewed, mode === 2),
    direction,
    invisible: mode === 3 || mode === 7 || alpha === 0,
    unnamed: pdfium.FPDFText_HasUnicodeMapError(textPage, index) === 1,
    looseDrop: originY - looseBottom,
    upright,
    slant: isSlanted(angle) ? angle : undefined,
    vertical: undefined,
    tag: undefined,
    shown: styles.shownIn(font),
  };
}

/** Scripts that are written downwards begin here. */
const FIRST_IDEOGRAPH = 0x2e80;

/**
 * Whether the next glyph of a text object stands under this one: within an object the text only moves as its font writes, so a font that writes
 * downwards it is (fixtures/pdf/vertical-japanese.pdf).
 */
function standsUnder(pdfium: Pdfium, textPage: number, index: number, object: number, scratch: number): boolean {
  if (object === 0 || pdfium.FPDFText_GetTextObject(textPage, index + 1) !== object) return false;
  if (!pdfium.FPDFText_GetMatrix(textPage, index, scratch)) return false;
  const [a = 1, b = 0, c = 0, d = 1] = pdfium.heap.f32.subarray(scratch >> 2, (scratch >> 2) + 4);
  const [x0, y0] = originOf(pdfium, textPage, index, scratch);
  const [x1, y1] = originOf(pdfium, textPage, index + 1, scratch);
  const along = Math.abs((x1 - x0) * a + (y1 - y0) * b) / Math.hypot(a, b);
  const down = -((x1 - x0) * c + (y1 - y0) * d) / Math.hypot(c, d);
  return down > along * 2;
}

/** Where a glyph stands, as a box of no size in user space. */
function originOf(pdfium: Pdfium, textPage: number, index: number, scratch: number): [number, number, number, number] {
  pdfium.FPDFText_GetCharOrigin(textPage, index, scratch + 32, scratch + 40);
  const f64 = pdfium.heap.f64;
  const x = f64[(scratch + 32) >> 3] ?? 0;
  const y = f64[(scratch + 40) >> 3] ?? 0;
  return [x, y, x, y];
}

const BULLET = '•';

/**
 * Whether a glyph of a symbol font that the file does not name begins a line, with white space after it: whatever it looks like, it is a bullet
 * there. Symbol fonts have their glyphs at U+F020 to U+F0FF (OpenType, cmap table, platform 3 encoding 0).
 */
function isSymbolBullet(pdfium: Pdfium, textPage: number, index: number, code: number): boolean {
  if (code < 0xf020 || code > 0xf0ff) return false;
  const at = (place: number) => pdfium.FPDFText_GetUnicode(textPage, place) >>> 0;
  return (index === 0 || at(index - 1) === 0x0a) && isSpaceCode(at(index + 1));
}

/** Size at which the widths of characters are compared: the unit of a glyph's space (ISO 32000-1, 9.2.4). */
const GLYPH_UNITS = 1_000;

function readFace(pdfium: Pdfium, font: number): FontFace {
  const name = decodeUtf8(readSized(pdfium, (buffer, size) => pdfium.FPDFFont_GetBaseFontName(font, buffer, size)));
  const flags = pdfium.FPDFFont_GetFlags(font);
  return readFontFace(name, Math.max(flags, 0), pdfium.FPDFFont_GetWeight(font));
}
