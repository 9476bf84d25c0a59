// Measures the text of a Rich Text file before LibreOffice reads it, because the time that LibreOffice needs grows with the square of the text.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;
/** Groups of bytes that LibreOffice does not lay out as text: pictures, embedded files and fonts, theme data. */
const DATA_GROUP =
  /^\\(?:\*\\)?(?:pict|shppict|nonshppict|objdata|objclass|fontemb|fontfile|themedata|colorschememapping|datastore|blipuid)(?![a-z])/;
const LONGEST_NAME = 40;

/**
 * Bytes of the file outside of pictures and other data. A brace after a backslash is text (Rich Text Format 1.9.1, "Basic Entities").
 * Stops counting above the limit.
 */
function textBytes(bytes: Buffer): number {
  let size = 0;
  let depth = 0;
  /** Depth of the data group that is skipped; 0 outside. */
  let skipped = 0;
  for (let at = 0; at < bytes.length && size <= DOCUMENT_LIMITS.rtfTextBytes; at++) {
    const byte = bytes[at];
    if (skipped === 0) size++;
    if (byte === BACKSLASH) {
      at++;
      if (skipped === 0) size++;
    } else if (byte === OPEN_BRACE) {
      depth++;
      if (
        skipped === 0 &&
        bytes[at + 1] === BACKSLASH &&
        DATA_GROUP.test(bytes.toString('latin1', at + 1, at + LONGEST_NAME))
      )
        skipped = depth;
    } else if (byte === CLOSE_BRACE) {
      if (depth === skipped) skipped = 0;
      depth = Math.max(0, depth - 1);
    }
  }
  return size;
}

/** @throws ParseError DOCUMENT_TOO_COMPLEX above `DOCUMENT_LIMITS.rtfTextBytes` */
export function checkRtfSize(bytes: Uint8Array): void {
  if (bytes.length <= DOCUMENT_LIMITS.rtfTextBytes) return;
  if (textBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) <= DOCUMENT_LIMITS.rtfTextBytes) return;
  throw new ParseError(
    'DOCUMENT_TOO_COMPLEX',
    `The Rich Text file has more than ${DOCUMENT_LIMITS.rtfTextBytes} bytes of text and formatting, besides its pictures. Save it as .docx, or split it, and send it again`,
  );
}
