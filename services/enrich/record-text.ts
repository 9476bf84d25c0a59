// Reads and changes single fields of a record without decoding the others, because a record may have hundreds of megabytes.
import { ParseError } from '#shared/contract/errors.ts';
import type { FieldName } from '#shared/contract/response.ts';

/** The start of a text, and the length of the complete text in UTF-16 code units. */
export interface TextStart {
  text: string;
  length: number;
}

interface Member {
  name: string;
  /** Offsets of its value. */
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
/** Bytes of a JSON string that are decoded at once. */
const STEP_BYTES = 256 * 1024;
/** Bytes of two escapes that are one character. */
const LONGEST_CHARACTER = 12;

const notARecord = (cause?: unknown): ParseError =>
  new ParseError('BAD_GATEWAY', 'Bad Gateway: a service returned an invalid record', { cause });

/** The offset after a JSON string. @param start of its first quote */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at + 1;
  }
  throw notARecord();
}

/** The offset after a JSON value, which the next comma or closing brace of its object follows. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      continue;
    }
    const closes = byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (depth === 0 && (closes || byte === COMMA)) return at;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (closes) depth--;
    at++;
  }
  throw notARecord();
}

/** The JSON of one object without whitespace between its tokens, as `JSON.stringify` writes it. */
export class RecordText {
  readonly #bytes: Buffer;
  readonly #members: Member[] = [];

  /** @throws ParseError BAD_GATEWAY if the bytes are not such an object */
  constructor(record: Uint8Array) {
    const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
    this.#bytes = bytes;
    const last = bytes.length - 1;
    if (bytes[0] !== OPEN_BRACE || bytes[last] !== CLOSE_BRACE) throw notARecord();
    for (let at = 1; at < last; ) {
      const nameEnd = endOfString(bytes, at);
      const start = nameEnd + 1;
      const end = endOfValue(bytes, start);
      this.#members.push({ name: bytes.toString('utf8', at + 1, nameEnd - 1), start, end });
      at = end + 1;
    }
  }

  /** The first `most` code units of a text, or all of a shorter one; empty if there is no such text. @throws ParseError BAD_GATEWAY */
  start(name: FieldName, most: number): TextStart {
    const member = this.#members.find((one) => one.name === name);
    if (!member || this.#bytes[member.start] !== QUOTE) return { text: '', length: 0 };
    const last = member.end - 1;
    let text = '';
    let length = 0;
    for (let at = member.start + 1; at < last; ) {
      const end = this.#cut(at, last);
      try {
        const piece = JSON.parse(`"${this.#bytes.toString('utf8', at, end)}"`) as string;
        length += piece.length;
        if (text.length < most) text += piece;
      } catch (error) {
        throw notARecord(error);
      }
      at = end;
    }
    return { text: text.slice(0, most), length };
  }

  /** The offset at which a part of a string can end that starts at `from`: not inside a character or an escape. */
  #cut(from: number, last: number): number {
    const end = from + STEP_BYTES;
    if (end + LONGEST_CHARACTER >= last) return last;
    // An ASCII character that no escape can contain, with an ordinary character before it.
    for (let at = end; at < last; at++) if (this.#bytes[at] === 0x20 && this.#bytes[at - 1] !== BACKSLASH) return at;
    return last;
  }

  /** The JSON of the record with other values for some fields, and without the fields that are undefined. */
  *with(changes: Readonly<Partial<Record<FieldName, unknown>>>): Generator<Uint8Array> {
    const changed = Object.entries(changes);
    let separator = '{';
    for (const { name, start, end } of this.#members) {
      if (changed.some(([other]) => other === name)) continue;
      yield Buffer.from(`${separator}${JSON.stringify(name)}:`);
      yield this.#bytes.subarray(start, end);
      separator = ',';
    }
    for (const [name, value] of changed) {
      if (value === undefined) continue;
      yield Buffer.from(`${separator}${JSON.stringify(name)}:${JSON.stringify(value)}`);
      separator = ',';
    }
    yield Buffer.from(separator === '{' ? '{}' : '}');
  }
}
