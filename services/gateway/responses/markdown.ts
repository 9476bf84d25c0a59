// Reads the Markdown out of the JSON text of a record as a stream, because it may have tens of megabytes.
import { StringDecoder } from 'node:string_decoder';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
/** Bytes of the longest escape in a JSON string, such as `\u00fc`. */
const LONGEST_ESCAPE = 6;
/** The first half of a character that JSON escapes as two, such as `\ud83d\ude00`. */
const HIGH_SURROGATE = /^\\u[dD][89a-bA-B]/;

const noMarkdown = (cause?: unknown): ParseError =>
  new ParseError('BAD_GATEWAY', 'Bad Gateway: a service returned a record without Markdown', { cause });

/**
 * The value of the member `markdown` as UTF-8.
 * @param fields JSON text of one object, in chunks
 * @throws ParseError BAD_GATEWAY if the object has no complete string `markdown`
 */
export async function* readMarkdown(fields: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const member = new MemberSearch('"markdown"');
  let text: StringText | undefined;
  for await (const chunk of fields) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (!text) {
      const start = member.find(bytes);
      if (start === undefined) continue;
      text = new StringText();
      bytes = bytes.subarray(start);
    }
    const decoded = text.decode(bytes);
    if (decoded.length > 0) yield decoded;
    if (text.complete) return;
  }
  throw noMarkdown();
}

/** Finds the string value of one member of the outermost object. */
class MemberSearch {
  readonly #name: string;
  /** Open objects and lists. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The start of the string that is being read, with its quotes. Only as long as the name, plus one. */
  #string = '';
  /** The last string was the name of the member. */
  #isName = false;
  /** The value of the member follows. */
  #isValue = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the offset of the first byte in the value, after its quote, or undefined if the value has not started. */
  find(bytes: Uint8Array): number | undefined {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (this.#inString) this.#readString(byte);
      else if (byte === QUOTE) {
        if (this.#isValue) return at + 1;
        this.#inString = true;
        this.#string = '"';
      } else this.#readStructure(byte);
    }
    return undefined;
  }

  #readString(byte: number): void {
    if (this.#string.length <= this.#name.length) this.#string += String.fromCharCode(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      this.#isName = this.#depth === 1 && this.#string === this.#name;
    }
  }

  #readStructure(byte: number): void {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth -= 1;
    if (byte === COLON && this.#isName) this.#isValue = true;
    else if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#isValue = false;
    if (byte === COLON || byte === COMMA) this.#isName = false;
  }
}

/** Decodes the text of one JSON string, which arrives in chunks that may end inside an escape or a character. */
class StringText {
  readonly #decoder = new StringDecoder('utf8');
  /** The end of the last chunk, if an escape may continue in the next one. */
  #rest: Buffer = Buffer.alloc(0);
  complete = false;

  /** @throws ParseError BAD_GATEWAY if the text is not valid */
  decode(chunk: Buffer): Buffer {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = endOfString(bytes);
    this.complete = end >= 0;
    const cut = this.complete ? end : startOfLastEscape(bytes);
    this.#rest = Buffer.from(bytes.subarray(cut));
    try {
      return Buffer.from(JSON.parse(`"${this.#decoder.write(bytes.subarray(0, cut))}"`) as string);
    } catch (error) {
      throw noMarkdown(error);
    }
  }
}

/** Offset of the quote that ends the string, or -1. */
function endOfString(bytes: Buffer): number {
  let at = bytes.indexOf(QUOTE);
  while (at >= 0 && isEscaped(bytes, at)) at = bytes.indexOf(QUOTE, at + 1);
  return at;
}

/** Offset of an escape at the end that may continue in the next chunk, else the length. */
function startOfLastEscape(bytes: Buffer): number {
  const end = bytes.length;
  let cut = end;
  for (let at = end - 1; at >= 0 && at > end - LONGEST_ESCAPE; at--)
    if (bytes[at] === BACKSLASH && !isEscaped(bytes, at)) {
      cut = at;
      break;
    }
  const before = cut - LONGEST_ESCAPE;
  const isSecondHalf =
    before >= 0 && HIGH_SURROGATE.test(bytes.toString('latin1', before, cut)) && !isEscaped(bytes, before);
  return isSecondHalf ? before : cut;
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let start = at;
  while (start > 0 && bytes[start - 1] === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

/** The warnings as the value of the `X-Warning` header: printable ASCII of at most `warningHeaderLength` characters. */
export function warningHeader(warnings: readonly string[]): string {
  const text = warnings.join(' ').replace(/[^\x20-\x7e]+/g, '?');
  const { warningHeaderLength } = REQUEST_LIMITS;
  return text.length <= warningHeaderLength ? text : `${text.slice(0, warningHeaderLength - 3)}...`;
}
