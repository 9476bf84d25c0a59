// Cleans the file name of an upload, which gives the extension and is shown to the client, but is never used as a path.
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

/** Control characters, and bidirectional marks, which can disguise an extension by reversing the text. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the base name of a Unix or Windows path; an empty string if none is left.
 * @throws ParseError BAD_REQUEST if the name is longer than REQUEST_LIMITS.fileNameBytes
 */
export function cleanFileName(raw: string): string {
  if (Buffer.byteLength(raw) > REQUEST_LIMITS.fileNameBytes)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the file name is longer than ${REQUEST_LIMITS.fileNameBytes} bytes; send a shorter name`,
    );
  const base = raw.split(/[/\\]/).at(-1)?.replace(INVISIBLE, '').trim() ?? '';
  return base === '.' || base === '..' ? '' : base;
}
