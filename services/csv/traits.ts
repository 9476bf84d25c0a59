// Classifies the bytes of UTF-8 text, so that one look at each byte tells how a cell is written.

/** What the bytes of a cell have in common: each bit is set if one of its bytes has the property. */
export const TRAIT = {
  /** Ends a field: the delimiter or a line end outside of quotes, a quote or an escape inside of them. */
  END: 1,
  /** A character that is not whitespace. */
  CONTENT: 2,
  /** A space. */
  SPACE: 4,
  /** A character that Markdown or a table line may give a meaning, or whitespace other than a space. */
  MARKDOWN: 8,
  /** A character that HTML gives a meaning, a control character, or whitespace other than a space. */
  HTML: 16,
  /** A character that JSON escapes. */
  JSON: 32,
  /** The first byte of a character that may be whitespace outside of ASCII. */
  WIDE: 64,
} as const;

const SPACE = 0x20;
/** First bytes of the characters outside of ASCII that are whitespace (ECMA-262, 11.2, as `String.prototype.trim` uses it). */
const WIDE_FIRST: readonly number[] = [0xc2, 0xe1, 0xe2, 0xe3, 0xef];
const MARKDOWN_SPECIAL = '\\`*_<&~|[]';
const HTML_SPECIAL = '&<>';
const JSON_SPECIAL = '"\\';

/** The traits of each byte of a field, without `END`. */
export function byteTraits(): Uint8Array {
  const traits = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    if (byte === SPACE) traits[byte] = TRAIT.SPACE;
    else if (byte >= 0x09 && byte <= 0x0d) traits[byte] = TRAIT.MARKDOWN | TRAIT.HTML | TRAIT.JSON;
    else if (byte < SPACE) traits[byte] = TRAIT.CONTENT | TRAIT.HTML | TRAIT.JSON;
    else if (byte < 0x80) traits[byte] = TRAIT.CONTENT;
    else if (WIDE_FIRST.includes(byte)) traits[byte] = TRAIT.WIDE;
    else if (byte >= 0xc0) traits[byte] = TRAIT.CONTENT;
  }
  for (const character of MARKDOWN_SPECIAL) setTrait(traits, character.charCodeAt(0), TRAIT.MARKDOWN);
  for (const character of HTML_SPECIAL) setTrait(traits, character.charCodeAt(0), TRAIT.HTML);
  for (const character of JSON_SPECIAL) setTrait(traits, character.charCodeAt(0), TRAIT.JSON);
  return traits;
}

/** Adds a trait to a byte. */
export function setTrait(traits: Uint8Array, byte: number, trait: number): void {
  traits[byte] = (traits[byte] ?? 0) | trait;
}

/** The length of the whitespace character outside of ASCII at an offset, in bytes; 0 if there is none. */
function wideSpaceAt(bytes: Uint8Array, at: number): number {
  const [second, third] = [bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  switch (bytes[at]) {
    case 0xc2: // U+00A0
      return second === 0xa0 ? 2 : 0;
    case 0xe1: // U+1680
      return second === 0x9a && third === 0x80 ? 3 : 0;
    case 0xe2: // U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
      if (second === 0x80) return third <= 0x8a || third === 0xa8 || third === 0xa9 || third === 0xaf ? 3 : 0;
      return second === 0x81 && third === 0x9f ? 3 : 0;
    case 0xe3: // U+3000
      return second === 0x80 && third === 0x80 ? 3 : 0;
    case 0xef: // U+FEFF
      return second === 0xbb && third === 0xbf ? 3 : 0;
    default:
      return 0;
  }
}

/** Whether a cell contains whitespace outside of ASCII. */
export function hasWideSpace(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) >= 0xc2 && wideSpaceAt(bytes, at) > 0) return true;
  return false;
}

/** Whether a cell shows nothing. @param traits of its bytes */
export function isBlank(bytes: Uint8Array, start: number, end: number, traits: number): boolean {
  if ((traits & TRAIT.CONTENT) !== 0) return false;
  if ((traits & TRAIT.WIDE) === 0) return true;
  for (let at = start; at < end; ) {
    const byte = bytes[at] ?? 0;
    const length = byte <= SPACE ? 1 : wideSpaceAt(bytes, at);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Whether two spaces follow each other in a cell. */
export function hasDoubleSpace(bytes: Uint8Array, start: number, end: number): boolean {
  let before = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === SPACE && before === SPACE) return true;
    before = byte;
  }
  return false;
}
