// Splits the bytes of a CSV file into fields as they arrive, because strings of all fields of a large file need ten times its size.
import type { Dialect } from './dialect.ts';
import { byteTraits, setTrait, TRAIT } from './traits.ts';

/** Receives the fields of a file in order. */
export interface FieldReceiver {
  /**
   * One field, without its quotes and escapes. The bytes are valid only during the call.
   * @param traits the traits of all its bytes
   */
  field(bytes: Buffer, start: number, end: number, traits: number): void;
  /** The end of a line that is not empty. */
  endRow(): void;
}

const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;

/** The byte at an offset that is in the range. */
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] as number;

/** What the next byte belongs to. */
const STATE = { START: 0, AFTER_CR: 1, PLAIN: 2, QUOTED: 3, ESCAPED: 4, AFTER_QUOTE: 5 } as const;

/**
 * Reads CSV (RFC 4180) as spreadsheet programs do: rows may have any number of fields, a line ends with CR LF, LF or CR, empty
 * lines are skipped, and a quote inside an unquoted field is text. A quoted field that continues after its closing quote is text
 * with both quotes.
 */
export class CsvReader {
  readonly #receiver: FieldReceiver;
  readonly #delimiter: Buffer;
  readonly #quotes: boolean;
  readonly #doubledQuotes: boolean;
  /** Traits of the bytes outside and inside of quotes. */
  readonly #plain = byteTraits();
  readonly #quoted = byteTraits();
  #state: number = STATE.START;
  /** Fields of the current row that are complete. */
  #fields = 0;
  #traits = 0;
  /** The part of the current field that is not in the current chunk, or that is not the same as in the file. */
  #kept = Buffer.allocUnsafe(4096);
  #keptLength = 0;

  /**
   * @param quotes whether quotes have a meaning
   */
  constructor(dialect: Pick<Dialect, 'delimiter' | 'escape'>, quotes: boolean, receiver: FieldReceiver) {
    this.#receiver = receiver;
    this.#delimiter = Buffer.from(dialect.delimiter);
    this.#quotes = quotes;
    this.#doubledQuotes = dialect.escape === '"';
    for (const byte of [CR, LF, this.#delimiter[0] as number]) setTrait(this.#plain, byte, TRAIT.END);
    for (const byte of [QUOTE, dialect.escape.charCodeAt(0)]) setTrait(this.#quoted, byte, TRAIT.END);
  }

  /** Reads a chunk of UTF-8. It may end anywhere, but not inside of a delimiter of several bytes. @throws any error of the receiver */
  write(chunk: Buffer): void {
    const length = chunk.length;
    let at = 0;
    /** The part of the field that is in this chunk. */
    let start = 0;
    let stop = 0;
    while (at < length) {
      const byte = byteAt(chunk, at);
      switch (this.#state) {
        case STATE.AFTER_CR:
          this.#state = STATE.START;
          if (byte === LF) at++;
          break;
        case STATE.START:
          start = at;
          if (byte === QUOTE && this.#quotes) {
            start = ++at;
            this.#state = STATE.QUOTED;
          } else this.#state = STATE.PLAIN;
          break;
        case STATE.PLAIN:
          at = this.#scan(this.#plain, chunk, at);
          stop = at;
          if (at === length) break;
          if (byteAt(chunk, at) !== CR && byteAt(chunk, at) !== LF && !this.#isDelimiter(chunk, at)) {
            // Another character that starts with the same byte as the delimiter.
            this.#traits |= byteAt(this.#plain, byteAt(chunk, at)) & ~TRAIT.END;
            stop = ++at;
            break;
          }
          at += this.#endPlain(chunk, start, at);
          break;
        case STATE.QUOTED:
          at = this.#scan(this.#quoted, chunk, at);
          stop = at;
          if (at === length) break;
          if (chunk[at] === QUOTE) this.#state = STATE.AFTER_QUOTE;
          else {
            this.#keep(chunk, start, at);
            start = stop;
            this.#state = STATE.ESCAPED;
          }
          at++;
          break;
        case STATE.ESCAPED:
          // The scan does not look at this byte.
          this.#traits |= byteAt(this.#quoted, byte) & ~TRAIT.END;
          start = at;
          stop = ++at;
          this.#state = STATE.QUOTED;
          break;
        default:
          if (byte === QUOTE && this.#doubledQuotes) {
            this.#keep(chunk, start, stop);
            start = at;
            stop = ++at;
            this.#traits |= byteAt(this.#plain, QUOTE);
            this.#state = STATE.QUOTED;
          } else if (byte === CR || byte === LF || this.#isDelimiter(chunk, at)) {
            this.#endField(chunk, start, stop);
            at += this.#endLineOrField(byte);
          } else {
            this.#keep(chunk, start, stop);
            this.#restoreQuotes();
            start = at;
            this.#state = STATE.PLAIN;
          }
      }
    }
    const inField = this.#state !== STATE.START && this.#state !== STATE.AFTER_CR;
    if (inField) this.#keep(chunk, start, stop);
  }

  /** Ends the last row. @returns false if a quote was not closed; the fields since that quote are wrong then */
  end(): boolean {
    const state = this.#state;
    if (state === STATE.QUOTED || state === STATE.ESCAPED) return false;
    if (state === STATE.AFTER_QUOTE || this.#keptLength > 0 || this.#fields > 0) {
      this.#endField(this.#kept, 0, 0);
      this.#receiver.endRow();
    }
    return true;
  }

  /** The offset of the next byte that may end the field, or the length of the chunk. */
  #scan(table: Uint8Array, chunk: Buffer, from: number): number {
    const length = chunk.length;
    let at = from;
    let traits = this.#traits;
    for (; at < length; at++) {
      const trait = byteAt(table, byteAt(chunk, at));
      if ((trait & TRAIT.END) !== 0) break;
      traits |= trait;
    }
    this.#traits = traits;
    return at;
  }

  #isDelimiter(chunk: Buffer, at: number): boolean {
    const delimiter = this.#delimiter;
    if (chunk[at] !== delimiter[0]) return false;
    return delimiter.length === 1 || chunk.compare(delimiter, 0, delimiter.length, at, at + delimiter.length) === 0;
  }

  /** @returns the length of the delimiter or line end */
  #endPlain(chunk: Buffer, start: number, end: number): number {
    const byte = byteAt(chunk, end);
    const isEmptyLine = (byte === CR || byte === LF) && this.#fields === 0 && start === end && this.#keptLength === 0;
    if (isEmptyLine) {
      this.#state = byte === CR ? STATE.AFTER_CR : STATE.START;
      return 1;
    }
    this.#endField(chunk, start, end);
    return this.#endLineOrField(byte);
  }

  #endField(chunk: Buffer, start: number, end: number): void {
    const traits = this.#traits;
    this.#traits = 0;
    this.#fields++;
    if (this.#keptLength === 0) {
      this.#receiver.field(chunk, start, end, traits);
      return;
    }
    this.#keep(chunk, start, end);
    const length = this.#keptLength;
    this.#keptLength = 0;
    this.#receiver.field(this.#kept, 0, length, traits);
  }

  /** @param byte the first of the delimiter or line end @returns the length of the delimiter or line end */
  #endLineOrField(byte: number): number {
    this.#state = byte === CR ? STATE.AFTER_CR : STATE.START;
    if (byte !== CR && byte !== LF) return this.#delimiter.length;
    this.#fields = 0;
    this.#receiver.endRow();
    return 1;
  }

  /** The quotes around the kept bytes are text, because the field continues after them. */
  #restoreQuotes(): void {
    const content = this.#keptLength;
    this.#reserve(2);
    this.#kept.copyWithin(1, 0, content);
    this.#kept[0] = QUOTE;
    this.#kept[content + 1] = QUOTE;
    this.#keptLength = content + 2;
    this.#traits |= byteAt(this.#plain, QUOTE);
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (end <= start) return;
    this.#reserve(end - start);
    chunk.copy(this.#kept, this.#keptLength, start, end);
    this.#keptLength += end - start;
  }

  #reserve(bytes: number): void {
    const needed = this.#keptLength + bytes;
    if (needed <= this.#kept.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#kept.length * 2));
    this.#kept.copy(larger, 0, 0, this.#keptLength);
    this.#kept = larger;
  }
}
