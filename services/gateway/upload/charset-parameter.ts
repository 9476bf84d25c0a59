// Reads the charset parameter of a part's Content-Type, because busboy reports the MIME type of a file part without its parameters.

const CHARSET = /^content-type:[^\r\n]*?;[ \t]*charset=[ \t]*"?([A-Za-z0-9_.:-]{1,40})/im;
const PART_NAME = /^content-disposition:[ \t]*form-data[^\r\n]*?;[ \t]*name="?([^"\r\n;]*)/im;

/** The longest block of part headers, in bytes, that busboy accepts. */
export const MAX_PART_HEADER_BYTES = 16 * 1024;

/**
 * Returns the charset of the first part with this name, in lower case. The header block of the part must be complete in `bytes`.
 * @param bytes the most recent bytes of a multipart body
 */
export function findCharsetParameter(bytes: Buffer, boundary: string, partName: string): string | undefined {
  const delimiter = Buffer.from(`--${boundary}\r\n`, 'latin1');
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + 1)) {
    const start = at + delimiter.length;
    const end = bytes.indexOf('\r\n\r\n', start);
    if (end === -1 || end - start > MAX_PART_HEADER_BYTES) continue;
    const headers = bytes.toString('latin1', start, end);
    if (PART_NAME.exec(headers)?.[1] === partName) return CHARSET.exec(headers)?.[1]?.toLowerCase();
  }
  return undefined;
}
