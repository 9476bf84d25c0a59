// What a glyph's code point means as text: ligatures, soft hyphens, controls and private-use symbols, settled once for every engine.

/** Symbol and Wingdings code points that documents use as bullets and marks. */
const SYMBOL_MARKS: ReadonlyMap<number, string> = new Map([
  [0xf0b7, '•'],
  [0xf0a7, '▪'],
  [0xf06e, '■'],
  [0xf071, '❑'],
  [0xf076, '❖'],
  [0xf0d8, '➢'],
  [0xf0a8, '▪'],
  [0xf0fc, '✓'],
  [0xf0fe, '☑'],
  [0xf06f, '□'],
  [0xf0e0, '→'],
  [0xf0ae, '→'],
  [0xf02d, '-'],
  [0xf0b0, '°'],
  [0xf02b, '+'],
  [0xf03d, '='],
  [0xf0b1, '±'],
  [0xf0b4, '×'],
  [0xf0a3, '≤'],
  [0xf0b3, '≥'],
  [0xf061, 'α'],
  [0xf062, 'β'],
  [0xf06d, 'μ'],
]);

const LIGATURES = ['ff', 'fi', 'fl', 'ffi', 'ffl', 'st', 'st'];

/** It parts the halves of a Persian word, which would join; in Latin letters it only parts a ligature. */
const HALF_SPACE = '\u200c';

/**
 * The text of one code point: '' for what is no text, null for a glyph that the file does not name.
 * @param code Unicode scalar value as the engine gave it
 */
export function glyphText(code: number): string | null {
  if (code < 0x20) return code === 2 ? '-' : code === 0 ? null : '';
  if (code < 0x7f) return String.fromCharCode(code);
  if (code < 0xa0) return '';
  if (code === 0xa0) return ' ';
  if (code === 0xad) return '\u00ad';
  // A hyphen at which no line ends, as a space that no line ends at: a reader who searches types the plain one.
  if (code === 0x2011) return '-';
  if (code >= 0xfb00 && code <= 0xfb06) return LIGATURES[code - 0xfb00] ?? null;
  if (code === 0x200c) return HALF_SPACE;
  if (code >= 0x200b && code <= 0x200f) return '';
  if (code === 0xfeff || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x2064)) return '';
  if (code === 0xfffd) return null;
  if (code === 0xfffe) return '-';
  if (code === 0xffff) return null;
  if (code >= 0xd800 && code <= 0xdfff) return null;
  if (code >= 0xe000 && code <= 0xf8ff) return SYMBOL_MARKS.get(code) ?? null;
  if (code >= 0xf0000) return null;
  // Mathematical alphabets are letters in a face: a reader who searches for x types x.
  if (code >= 0x1d400 && code <= 0x1d7ff) return String.fromCodePoint(code).normalize('NFKC');
  return String.fromCodePoint(code);
}

/** Whether the code point is white space between words. */
export function isSpaceCode(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0xa0 ||
    (code >= 9 && code <= 13) ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Whether the code point belongs to a script written from right to left. */
export function isRightToLeft(code: number): boolean {
  return (code >= 0x590 && code <= 0x8ff) || (code >= 0xfb1d && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfefc);
}
