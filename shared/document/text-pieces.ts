// Writes texts that are too large for memory into the JSON of a record, piece by piece.
import { isAscii } from 'node:buffer';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';

/**
 * A text in pieces. Bytes are UTF-8 that is escaped already, as it stands between the quotes of a JSON string; they are complete characters,
 * and valid until the next piece is taken.
 */
export type TextPieces = Iterable<string | Buffer>;

/** Bytes of a yielded chunk, at least. */
const CHUNK_BYTES = 256 * 1024;

/** A text as it stands between the quotes of a JSON string. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The same pieces. @throws ParseError DOCUMENT_TOO_COMPLEX above `DOCUMENT_LIMITS.fieldLength`. In escaped pieces, escapes count too. */
function* limited(text: TextPieces): Generator<string | Buffer> {
  let length = 0;
  for (const piece of text) {
    length += typeof piece === 'string' || isAscii(piece) ? piece.length : piece.toString('utf8').length;
    if (length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The content of the document would be longer than ${DOCUMENT_LIMITS.fieldLength} characters; split the document into smaller files`,
      );
    yield piece;
  }
}

/** The JSON of a string with this text, in chunks. @throws ParseError DOCUMENT_TOO_COMPLEX above `DOCUMENT_LIMITS.fieldLength` */
export function* jsonString(text: TextPieces): Generator<Buffer> {
  const chunk = new Chunk();
  chunk.add(Buffer.from('"'));
  for (const piece of limited(text)) {
    chunk.add(typeof piece === 'string' ? Buffer.from(escapeJson(piece)) : piece);
    if (chunk.size >= CHUNK_BYTES) yield chunk.take();
  }
  chunk.add(Buffer.from('"'));
  yield chunk.take();
}

/** Collects bytes. */
class Chunk {
  #buffer = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);
  size = 0;

  add(bytes: Buffer): void {
    if (this.size + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(this.size + bytes.length);
      this.#buffer.copy(larger, 0, 0, this.size);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.size);
    this.size += bytes.length;
  }

  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.size));
    this.size = 0;
    return taken;
  }
}

/** All pieces as one string, for a text that is needed as a whole. @throws ParseError DOCUMENT_TOO_COMPLEX above `DOCUMENT_LIMITS.fieldLength` */
export function joinPieces(text: TextPieces): string {
  const parts: string[] = [];
  for (const piece of limited(text))
    parts.push(typeof piece === 'string' ? piece : (JSON.parse(`"${piece.toString('utf8')}"`) as string));
  return parts.join('');
}
