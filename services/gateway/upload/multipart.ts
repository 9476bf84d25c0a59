// Creates the multipart parser of one request, after it has checked the request headers.
import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { fileTooLarge } from './request-body.ts';

export interface MultipartParser {
  parser: busboy.Busboy;
  boundary: string;
}

/** A curl command that sends a document with these options. The text is the same on every server, so the address is an example. */
export const curlExample = (options: unknown = { formats: ['markdown'] }): string =>
  `curl -H "Authorization: Bearer $API_KEY" -F file=@document.pdf -F 'options=${JSON.stringify(options)}' http://localhost:8080/v2/parse`;

/** The error for a request without a document. */
export const missingFile = (reason: string): ParseError =>
  new ParseError('BAD_REQUEST', `Missing file upload: ${reason}`);

export function invalidMultipart(reason: string, cause?: unknown): ParseError {
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: the multipart form-data request is invalid: ${reason}`,
    cause === undefined ? {} : { cause },
  );
}

/**
 * Checks Content-Encoding, Content-Type and Content-Length, then creates the parser.
 * @throws ParseError BAD_REQUEST, PAYLOAD_TOO_LARGE
 */
export function createMultipartParser(request: IncomingMessage): MultipartParser {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw invalidMultipart(
      'compressed request bodies are not supported; send the body without a Content-Encoding header',
    );
  const boundary = readBoundary(request);
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  if (declaredBytes > REQUEST_LIMITS.fileBytes + REQUEST_LIMITS.uploadOverheadBytes)
    throw fileTooLarge(REQUEST_LIMITS.fileBytes);
  try {
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"` },
      defParamCharset: 'utf8',
      // busboy returns a field without a charset as base64, so its bytes stay unchanged and invalid UTF-8 can be detected.
      defCharset: 'base64',
      limits: {
        fieldSize: REQUEST_LIMITS.optionsBytes + 1,
        fileSize: REQUEST_LIMITS.fileBytes + 1,
        parts: REQUEST_LIMITS.parts,
        headerPairs: REQUEST_LIMITS.partHeaderPairs,
      },
    });
    return { parser, boundary };
  } catch (error) {
    throw invalidMultipart('its Content-Type cannot be parsed', error);
  }
}

/** Returns the boundary parameter. @throws ParseError BAD_REQUEST if the request is not multipart/form-data */
function readBoundary(request: IncomingMessage): string {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data[ \t]*(;|$)/i.test(contentType))
    throw invalidMultipart(
      `the Content-Type must be multipart/form-data with a boundary. Send the document in a part named \`file\` and the options as JSON in a part named \`options\`, for example with ${curlExample()}`,
    );
  const match = /;[ \t]*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))[ \t]*(?:;|$)/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined)
    throw invalidMultipart('its Content-Type has no boundary; let your HTTP client set the Content-Type header');
  return boundary;
}
