// Bytes become text here for every format, because a wrong guess turns a good file into mojibake and each format would guess differently.
import iconv from 'iconv-lite';
import { guessCharset } from './charset-guess.ts';

export interface DecodeOptions {
  /** What the upload or a container named; a WHATWG label. A BOM wins over it. */
  charset?: string;
  /** HTML or XML: the head is searched for `<meta charset>` and the XML declaration. */
  markup?: boolean;
}

export interface DecodedText {
  text: string;
  /** Lower-case name of the encoding that was used. */
  charset: string;
}

/** Bytes searched for a `<meta>` declaration (WHATWG "prescan" looks at 1024; real pages put it later). */
const PRESCAN_BYTES = 4096;
/** Bytes that statistics look at. */
const SAMPLE_BYTES = 64 * 1024;
/** The decoder's own name of a label, or undefined where nothing can decode it. */
export function canonicalCharset(label: string): string | undefined {
  const trimmed = label.trim().replace(/^["']|["']$/g, '');
  if (trimmed === '' || trimmed.length > 40) return undefined;
  try {
    return new TextDecoder(trimmed).encoding;
  } catch {
    return iconv.encodingExists(trimmed) ? trimmed.toLowerCase() : undefined;
  }
}

function decodeAs(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), charset);
  }
}

/** The encoding that a byte order mark states (WHATWG Encoding, 6.1), or undefined. */
export function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** UTF-16 without a mark, told by where the null bytes of ASCII characters lie; undefined for anything else. */
export function utf16ByNulls(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1;
  if (length < 4) return undefined;
  let even = 0;
  let odd = 0;
  for (let i = 0; i < length; i += 2) {
    if (bytes[i] === 0) even++;
    if (bytes[i + 1] === 0) odd++;
  }
  const pairs = length / 2;
  if (odd > pairs * 0.3 && even < pairs * 0.02) return 'utf-16le';
  if (even > pairs * 0.3 && odd < pairs * 0.02) return 'utf-16be';
  return undefined;
}

function declaredInMarkup(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PRESCAN_BYTES)).toString(
    'latin1',
  );
  const xml = /^\s{0,64}<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([\w.:-]{1,40})["']/.exec(head)?.[1];
  const label = xml ?? /<meta\b[^>]{0,300}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([\w.:-]{1,40})/i.exec(head)?.[1];
  const charset = label === undefined ? undefined : canonicalCharset(label);
  // A declaration that could be read as ASCII cannot be UTF-16 (WHATWG prescan, last step).
  return charset === undefined || charset.startsWith('utf-16') ? charset && 'utf-8' : charset;
}

/** Strict UTF-8, or undefined. */
function asUtf8(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Decodes text of unknown or declared encoding: byte order mark, then the declared charset, then what markup says of
 * itself, UTF-16 by its nulls, valid UTF-8, a statistical guess, windows-1252. Never throws; a leading mark is removed.
 */
export function decodeText(bytes: Uint8Array, options: DecodeOptions = {}): DecodedText {
  const mark = byteOrderMark(bytes);
  if (mark) return { text: decodeAs(bytes, mark), charset: mark };
  const stated = options.charset === undefined ? undefined : canonicalCharset(options.charset);
  const declared = stated ?? utf16ByNulls(bytes) ?? (options.markup ? declaredInMarkup(bytes) : undefined);
  if (declared !== undefined && declared !== 'utf-8') return { text: decodeAs(bytes, declared), charset: declared };
  const utf8 = asUtf8(bytes);
  if (utf8 !== undefined) return { text: utf8, charset: 'utf-8' };
  // A document that says UTF-8 and has a few stray bytes is still UTF-8; one that has many said it wrongly.
  if (declared === 'utf-8') {
    const text = decodeAs(bytes, 'utf-8');
    const wrong = text.split('\uFFFD').length - 1;
    if (wrong * 200 < text.length) return { text, charset: 'utf-8' };
  }
  const charset = guessCharset(bytes.subarray(0, SAMPLE_BYTES));
  return { text: decodeAs(bytes, charset), charset };
}
