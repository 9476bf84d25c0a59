// Decodes bytes to text for every format, so that all formats choose the charset by the same rules.
import { isUtf8 } from 'node:buffer';
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
/** Bytes that are decoded at once where the text is not kept. */
const CHUNK_BYTES = 64 * 1024;
const UTF8_MARK_BYTES = 3;

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

/** The text in pieces. A character is never divided between two pieces. */
function* decodePieces(bytes: Uint8Array, charset: string): Generator<string> {
  const buffer = asBuffer(bytes);
  const [decode, end] = decoderFor(charset);
  for (let at = 0; at < buffer.length; at += CHUNK_BYTES) yield decode(buffer.subarray(at, at + CHUNK_BYTES));
  yield end();
}

function decoderFor(charset: string): [decode: (bytes: Buffer) => string, end: () => string] {
  try {
    const decoder = new TextDecoder(charset);
    return [(bytes) => decoder.decode(bytes, { stream: true }), () => decoder.decode()];
  } catch {
    const decoder = iconv.getDecoder(charset);
    return [(bytes) => decoder.write(bytes), () => decoder.end() ?? ''];
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Whether at most one of 200 characters is not valid UTF-8. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  let wrong = 0;
  let length = 0;
  for (const piece of decodePieces(bytes, 'utf-8')) {
    length += piece.length;
    wrong += piece.split('\uFFFD').length - 1;
  }
  return wrong * 200 < length;
}

/** Whether bytes are the start of a text in UTF-8, which may end inside a character. */
function startsAsUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * The name of the encoding of a text, in lower case. It is, in this order: that of a byte order mark, the declared charset, UTF-16
 * by its null bytes, a declaration in the markup, UTF-8 if the bytes are valid, a guess.
 */
function detectCharset(bytes: Uint8Array, options: DecodeOptions & { truncated?: boolean }): string {
  const mark = byteOrderMark(bytes);
  if (mark) return mark;
  const stated = options.charset === undefined ? undefined : canonicalCharset(options.charset);
  const declared = stated ?? utf16ByNulls(bytes) ?? (options.markup ? declaredInMarkup(bytes) : undefined);
  if (declared !== undefined && declared !== 'utf-8') return declared;
  // A document that declares UTF-8 may have a few wrong bytes. With many, the declaration is wrong.
  if ((options.truncated ? startsAsUtf8(bytes) : isUtf8(bytes)) || (declared === 'utf-8' && isMostlyUtf8(bytes)))
    return 'utf-8';
  return guessCharset(bytes.subarray(0, SAMPLE_BYTES));
}

/** Decodes text. Never throws. Removes a byte order mark. */
export function decodeText(bytes: Uint8Array, options: DecodeOptions = {}): DecodedText {
  const charset = detectCharset(bytes, options);
  return { text: decodeAs(bytes, charset), charset };
}

/**
 * Text of any charset as UTF-8, for a reader that does not need all of it at once. Never throws. Removes a byte order mark.
 * @returns a function that yields the text from its start each time it is called; a chunk may end inside a character
 */
export function decodeToUtf8(bytes: Uint8Array, options: DecodeOptions = {}): () => Iterable<Buffer> {
  const charset = detectCharset(bytes, options);
  if (charset !== 'utf-8' || !isUtf8(bytes))
    return function* () {
      for (const piece of decodePieces(bytes, charset)) yield Buffer.from(piece);
    };
  const text = asBuffer(byteOrderMark(bytes) ? bytes.subarray(UTF8_MARK_BYTES) : bytes);
  return function* () {
    for (let at = 0; at < text.length; at += CHUNK_BYTES) yield text.subarray(at, at + CHUNK_BYTES);
  };
}

/** Decodes a stream of bytes, as `decodeText` does. The encoding is detected in the first chunk. */
export async function* decodeStream(
  chunks: AsyncIterable<Buffer>,
  options: DecodeOptions = {},
): AsyncGenerator<string> {
  let decoder: ReturnType<typeof decoderFor> | undefined;
  for await (const chunk of chunks) {
    decoder ??= decoderFor(detectCharset(chunk, { ...options, truncated: true }));
    yield decoder[0](chunk);
  }
  if (decoder) yield decoder[1]();
}
