// Makes an upload's file name safe to show and to take an extension from; it is never used as a path.
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

/** Controls, and the characters that turn the direction of text around and so disguise an extension. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The base name of what the client sent, whatever system its path is of.
 * @throws ParseError BAD_REQUEST where it is longer than REQUEST_LIMITS.fileNameBytes
 */
export function cleanFileName(raw: string): string {
  if (Buffer.byteLength(raw) > REQUEST_LIMITS.fileNameBytes)
    throw new ParseError(
      'BAD_REQUEST',
      `Bad Request: the file's name is longer than ${REQUEST_LIMITS.fileNameBytes} bytes; send a shorter one`,
    );
  const base = raw.split(/[/\\]/).at(-1)?.replace(INVISIBLE, '').trim() ?? '';
  return base === '.' || base === '..' ? '' : base;
}
