// Compresses response bodies for clients that accept it (docs/api.md, "Compression").
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Transform, type Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { chooseEncoding } from './accept.ts';

/**
 * The lowest levels, because they cost 5 (br) and 10 (gzip) ms of CPU time per MB, where the cheapest conversion, of CSV, costs 60. Higher levels cost
 * several times as much for bodies that are 10 % smaller.
 */
const ENCODERS: Readonly<Record<string, () => Transform>> = {
  br: () =>
    createBrotliCompress({
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        // 256 KiB of memory per response, not 4 MiB.
        [constants.BROTLI_PARAM_LGWIN]: 18,
      },
    }),
  gzip: () => createGzip({ level: constants.Z_BEST_SPEED }),
};
/** If the client likes both equally well, the one that costs less. */
const PREFERRED = ['br', 'gzip'];
/** Pictures and PDF files are compressed already. */
const COMPRESSIBLE = /^(?:text\/|application\/(?!pdf)|image\/svg)/;

/**
 * Sends status 200 and the headers of a body.
 * @param size bytes of the body, if it is known. A body below `compressFromBytes` is not compressed.
 * @returns the stream to which the caller writes the body. It compresses, if the client accepts it.
 */
export function startBody(
  request: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  size?: number,
): Writable {
  response.appendHeader('Vary', 'Accept-Encoding');
  const isLarge = size === undefined || size >= REQUEST_LIMITS.compressFromBytes;
  const encoding = isLarge && COMPRESSIBLE.test(contentType) ? chooseEncoding(request, PREFERRED) : undefined;
  const createEncoder = encoding === undefined ? undefined : ENCODERS[encoding];
  if (encoding === undefined || !createEncoder) {
    response.writeHead(200, { 'Content-Type': contentType, ...(size === undefined ? {} : { 'Content-Length': size }) });
    return response;
  }
  response.writeHead(200, { 'Content-Type': contentType, 'Content-Encoding': encoding });
  // The response to a HEAD request has no body.
  if (request.method === 'HEAD') return response;
  const encoder = createEncoder();
  // A failure closes the connection; the client notices that the body is incomplete.
  pipeline(encoder, response, () => undefined);
  return encoder;
}

/** Sends a text or a file with status 200. */
export function sendCompressible(
  request: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  body: string | Uint8Array,
): void {
  startBody(request, response, contentType, Buffer.byteLength(body)).end(body);
}
