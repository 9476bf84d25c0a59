// Reads the tree of parts of a MIME message (RFC 2045, RFC 2046), with limits on its parts, its depth and its headers.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { decodeBase64, decodeHeader, decodeQuotedPrintable, readParameters } from './header-values.ts';

export interface MimePart {
  /** Raw values by lower-case name, in order, one character for each byte. */
  headers: Map<string, string[]>;
  /** In lower case, such as `text/plain`. */
  type: string;
  parameters: ReadonlyMap<string, string>;
  /** `attachment`, `inline`, another value, or empty. */
  disposition: string;
  /** The name of the file, or undefined. */
  fileName?: string;
  /** The parts of a multipart. Empty for all other types. */
  children: MimePart[];
  /** There is no text in the body. */
  empty: boolean;
  /** The decoded content of a part that is not a multipart. */
  content: () => Buffer;
}

/** Counts the parts of one file, also those of messages in messages. */
export interface MimeCount {
  parts: number;
}

const FIELD = /^([!-9;-~]{1,200})[ \t]*:/;

function tooComplex(what: string): ParseError {
  return new ParseError('DOCUMENT_TOO_COMPLEX', `The message has ${what}; remove some of them and send it again`);
}

/**
 * Reads a message.
 * @param depth the number of parts around it
 * @throws ParseError DOCUMENT_CORRUPT if it does not begin with a header field, DOCUMENT_TOO_COMPLEX above `mailParts`,
 * `mailDepth` or `mailHeaderBytes`
 */
export function readMime(bytes: Buffer, count: MimeCount, depth = 0): MimePart {
  // One character for each byte, so that positions in the text are positions in the bytes.
  const text = bytes.toString('latin1');
  const start = /^(?:\xef\xbb\xbf)?(?:[ \t]*\r?\n){0,100}(?:>?From [^\n]{0,1000}\n)?/.exec(text)?.[0].length ?? 0;
  if (!FIELD.test(text.slice(start, start + 300)))
    throw new ParseError('DOCUMENT_CORRUPT', 'The file is not a mail message: it does not begin with header fields');
  return new MimeReader(bytes, text, count).part(start, text.length, 'text/plain', depth);
}

class MimeReader {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #count: MimeCount;

  constructor(bytes: Buffer, text: string, count: MimeCount) {
    this.#bytes = bytes;
    this.#text = text;
    this.#count = count;
  }

  part(start: number, end: number, defaultType: string, depth: number): MimePart {
    if (++this.#count.parts > DOCUMENT_LIMITS.mailParts)
      throw tooComplex(`more than ${DOCUMENT_LIMITS.mailParts} parts`);
    if (depth > DOCUMENT_LIMITS.mailDepth)
      throw tooComplex(`parts nested deeper than ${DOCUMENT_LIMITS.mailDepth} levels`);
    const { headers, bodyStart } = this.#headers(start, end);
    const contentType = readParameters(headers.get('content-type')?.[0] ?? '');
    const type = /^[\w.+-]+\/[\w.+-]+$/.test(contentType.value) ? contentType.value : defaultType;
    const disposition = readParameters(headers.get('content-disposition')?.[0] ?? '');
    const fileName = disposition.parameters.get('filename') || contentType.parameters.get('name');
    const boundary = contentType.parameters.get('boundary');
    const multipart = type.startsWith('multipart/') && boundary !== undefined && boundary !== '';
    const children = multipart
      ? this.#pieces(bodyStart, end, boundary).map(([from, to]) =>
          this.part(from, to, type === 'multipart/digest' ? 'message/rfc822' : 'text/plain', depth + 1),
        )
      : [];
    return {
      headers,
      // A multipart without a boundary, or of which no part begins, is shown as text.
      type: type.startsWith('multipart/') && children.length === 0 ? 'text/plain' : type,
      parameters: contentType.parameters,
      disposition: disposition.value,
      ...(fileName === undefined ? {} : { fileName }),
      children,
      empty: this.#text.slice(bodyStart, Math.min(end, bodyStart + 1_000)).trim() === '',
      content: () => this.#content(bodyStart, end, headers.get('content-transfer-encoding')?.[0] ?? ''),
    };
  }

  /** The header fields, with folded lines joined, and the start of the body. */
  #headers(start: number, end: number): { headers: Map<string, string[]>; bodyStart: number } {
    const headers = new Map<string, string[]>();
    let at = start;
    let name: string | undefined;
    let lines: string[] = [];
    const add = (): void => {
      if (name === undefined) return;
      const values = headers.get(name) ?? [];
      values.push(lines.join(' ').trim());
      headers.set(name, values);
    };
    while (at < end) {
      if (at - start > DOCUMENT_LIMITS.mailHeaderBytes)
        throw tooComplex(`a header of more than ${DOCUMENT_LIMITS.mailHeaderBytes} bytes`);
      let stop = this.#text.indexOf('\n', at);
      if (stop < 0 || stop > end) stop = end;
      if (stop - start > DOCUMENT_LIMITS.mailHeaderBytes && at === start)
        throw tooComplex(`a header of more than ${DOCUMENT_LIMITS.mailHeaderBytes} bytes`);
      const line = this.#text.slice(at, Math.min(stop, at + DOCUMENT_LIMITS.mailHeaderBytes + 1)).replace(/\r$/, '');
      if (line === '') {
        at = stop + 1;
        break;
      }
      const field = FIELD.exec(line);
      if (/^[ \t]/.test(line) && name !== undefined) lines.push(line.trim());
      else if (field) {
        add();
        name = field[1]?.toLowerCase();
        lines = [line.slice(field[0].length)];
      } else break;
      at = stop + 1;
    }
    add();
    return { headers, bodyStart: Math.min(at, end) };
  }

  /** The parts between the lines of a boundary. The last part may have no line after it. */
  #pieces(start: number, end: number, boundary: string): [start: number, end: number][] {
    const mark = `--${boundary}`;
    const pieces: [number, number][] = [];
    let open: number | undefined;
    for (
      let at = this.#text.indexOf(mark, start);
      at >= 0 && at < end;
      at = this.#text.indexOf(mark, at + mark.length)
    ) {
      if (at > start && this.#text.charAt(at - 1) !== '\n') continue;
      let stop = this.#text.indexOf('\n', at);
      if (stop < 0 || stop > end) stop = end;
      const rest = this.#text.slice(at + mark.length, Math.min(stop, at + mark.length + 100)).trimEnd();
      if (rest !== '' && rest !== '--') continue;
      if (pieces.length > DOCUMENT_LIMITS.mailParts) throw tooComplex(`more than ${DOCUMENT_LIMITS.mailParts} parts`);
      if (open !== undefined) pieces.push([open, Math.max(open, this.#withoutLineBreak(at))]);
      open = rest === '--' ? undefined : Math.min(stop + 1, end);
      if (rest === '--') break;
    }
    if (open !== undefined && open < end) pieces.push([open, end]);
    return pieces;
  }

  /** The line break before a boundary is part of the boundary (RFC 2046, 5.1.1). */
  #withoutLineBreak(at: number): number {
    return this.#text.charAt(at - 2) === '\r' ? at - 2 : at - 1;
  }

  #content(start: number, end: number, encoding: string): Buffer {
    switch (
      encoding
        .trim()
        .toLowerCase()
        .replace(/[;\s].*$/, '')
    ) {
      case 'base64':
        return decodeBase64(this.#text.slice(start, end));
      case 'quoted-printable':
        return decodeQuotedPrintable(this.#text.slice(start, end));
      default:
        return this.#bytes.subarray(start, end);
    }
  }
}

/** The decoded value of a field; empty without the field. */
export function headerOf(part: MimePart, name: string): string {
  return decodeHeader(part.headers.get(name)?.[0] ?? '');
}
