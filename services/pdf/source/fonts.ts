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
