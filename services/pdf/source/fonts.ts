// What a font's name and descriptor say about how its text looks.

export interface FontFace {
  name: string;
  bold: boolean;
  italic: boolean;
  monospace: boolean;
}

const BOLD = /bold|black|heavy|demi|semibd|,bd|-bd|cmbx|cmb10|-b(?:$|[^a-z])|[-_]med(?:i|$)/i;
/** The style of a face in its PostScript name, if it is not a bold one: `-Regular`, `-Italic`. */
const STATED_WEIGHT = /[-,](?:regular|roman|normal|book|italic|oblique|it)$/i;
const ITALIC = /ital|obli|slanted|cmti|cmsl|-it(?:$|[^a-z])/i;
const MONOSPACE = /mono|courier|consol|menlo|typewriter|cmtt|andale|fixed|code(?:$|[^a-z])|inconsolata|lettergothic/i;

/**
 * Reads a face from its PostScript name and, where the engine gives them, descriptor values.
 * @param flags font descriptor flags (ISO 32000-1, table 123): 1 fixed pitch, 7 italic, 19 force bold
 * @param weight 100 to 900; 0 where unknown. PDFium computes it from the width of the stems, which Chromium measures too wide
 *   in faces with serifs, so it only counts where the name states no style
 */
export function readFontFace(rawName: string, flags = 0, weight = 0): FontFace {
  const name = rawName.replace(/^[A-Z]{6}\+/, '').slice(0, 128);
  const light = /light|thin/i.test(name) && !/bold/i.test(name);
  const heavy = weight >= 600 && !STATED_WEIGHT.test(name);
  return {
    name,
    bold: !light && (BOLD.test(name) || heavy || (flags & 0x40000) !== 0),
    italic: ITALIC.test(name) || (flags & 0x40) !== 0,
    monospace: MONOSPACE.test(name) || ((flags & 1) !== 0 && flags > 0),
  };
}

/** Letters and signs that are narrow in a face with widths of its own for each, and those that are wide. */
const NARROW = 'ijlft.,:;I|()';
const WIDE = 'mwMWOQGDH@';
/** Widths of one pitch differ by no more than the rounding of their numbers. */
const SAME_WIDTH = 0.01;

/**
 * Whether narrow and wide characters of a face are equally wide: many fixed-pitch fonts say so neither in their name nor in their flags.
 * @param widthOf in any unit; 0 if the face has no such character
 */
export function hasFixedPitch(widthOf: (character: string) => number): boolean {
  const narrow = [...NARROW].map(widthOf).filter((width) => width > 0);
  const wide = [...WIDE].map(widthOf).filter((width) => width > 0);
  if (narrow.length === 0 || wide.length === 0) return false;
  return Math.max(...narrow, ...wide) <= Math.min(...narrow, ...wide) * (1 + SAME_WIDTH);
}
