// Finds the charset that a part's Content-Type names; busboy tells the MIME type of a file part but not its parameters.

const CHARSET = /^content-type:[^\r\n]*?;[ \t]*charset=[ \t]*"?([A-Za-z0-9_.:-]{1,40})/im;
const NAMED = /^content-disposition:[ \t]*form-data[^\r\n]*?;[ \t]*name="?([^"\r\n;]*)/im;

/** Bytes of part headers that busboy reads at most, so that a header block never lies further back. */
export const HEADER_BLOCK_BYTES = 16 * 1024;

/**
 * The charset of the first part with this name whose header block lies whole in `bytes`, lower case.
 * @param bytes the latest bytes of a multipart body
 */
export function partCharset(bytes: Buffer, boundary: string, partName: string): string | undefined {
  const delimiter = Buffer.from(`--${boundary}\r\n`, 'latin1');
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + 1)) {
    const start = at + delimiter.length;
    const end = bytes.indexOf('\r\n\r\n', start);
    if (end === -1 || end - start > HEADER_BLOCK_BYTES) continue;
    const block = bytes.toString('latin1', start, end);
    if (NAMED.exec(block)?.[1] === partName) return CHARSET.exec(block)?.[1]?.toLowerCase();
  }
  return undefined;
}
