// Decodes bytes to text for every format, so that all formats choose the charset by the same rules.
import iconv from 'iconv-lite';
import { guessCharset } from './charset-guess.ts';

interface DecodeOptions {
  /** The label that the upload or a container declares (WHATWG Encoding). A byte order mark has priority. */
  charset?: string;
  /** HTML or XML: look for `<meta charset>` and for an XML declaration. */
  markup?: boolean;
}

interface DecodedText {
  text: string;
  /** Name of the encoding, in lower case. */
  charset: string;
}

/** Bytes in which to look for a `<meta>` declaration. The HTML Standard (13.2.3.2) names 1024, but many pages have the declaration later. */
const PRESCAN_BYTES = 4096;
/** Bytes that are used to guess an encoding. */
const SAMPLE_BYTES = 64 * 1024;

/** The name of the encoding with this label, or undefined if it cannot be decoded. */
function canonicalCharset(label: string): string | undefined {
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

/** The encoding of a byte order mark (WHATWG Encoding, 6.1), or undefined. */
export function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** UTF-16 without a byte order mark, found by the null bytes of ASCII characters. Undefined for all other text. */
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
  // A declaration that is readable as ASCII is not UTF-16 (HTML Standard, 13.2.3.2).
  return charset === undefined || charset.startsWith('utf-16') ? charset && 'utf-8' : charset;
}

/** The text if the bytes are valid UTF-8, else undefined. */
function asUtf8(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Decodes text. The encoding is, in this order: a byte order mark, the declared charset, UTF-16 by its null bytes, a
 * declaration in the markup, UTF-8 if the bytes are valid, a guess. Never throws. Removes a byte order mark.
 */
export function decodeText(bytes: Uint8Array, options: DecodeOptions = {}): DecodedText {
  const mark = byteOrderMark(bytes);
  if (mark) return { text: decodeAs(bytes, mark), charset: mark };
  const stated = options.charset === undefined ? undefined : canonicalCharset(options.charset);
  const declared = stated ?? utf16ByNulls(bytes) ?? (options.markup ? declaredInMarkup(bytes) : undefined);
  if (declared !== undefined && declared !== 'utf-8') return { text: decodeAs(bytes, declared), charset: declared };
  const utf8 = asUtf8(bytes);
  if (utf8 !== undefined) return { text: utf8, charset: 'utf-8' };
  // A document that declares UTF-8 may have a few wrong bytes. With many, the declaration is wrong.
  if (declared === 'utf-8') {
    const text = decodeAs(bytes, 'utf-8');
    const wrong = text.split('\uFFFD').length - 1;
    if (wrong * 200 < text.length) return { text, charset: 'utf-8' };
  }
  const charset = guessCharset(bytes.subarray(0, SAMPLE_BYTES));
  return { text: decodeAs(bytes, charset), charset };
}
