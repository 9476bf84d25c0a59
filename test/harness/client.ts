// Sends HTTP requests to the product byte by byte, because the tests must send requests that HTTP client libraries refuse to send.
import assert from 'node:assert/strict';
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { z } from 'zod';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { errorResponseSchema, type ParseResponse, parseResponseSchema } from '#shared/contract/response.ts';
import type { Product } from './product.ts';

export interface Part {
  name: string;
  body: Uint8Array | string;
  fileName?: string;
  contentType?: string;
  /** Replaces the `Content-Disposition` line. */
  disposition?: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The parsed JSON, or the text if the body is not JSON. */
  body: unknown;
  text: string;
}

interface SendOptions {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Undefined: the product's own key; null: no Authorization header. */
  key?: string | null;
  signal?: AbortSignal;
  /** Milliseconds until the client gives up, so that a server that hangs fails one test and not the complete run. */
  clientTimeoutMs?: number;
}

export interface ParseRequest {
  file: Uint8Array | string;
  fileName: string;
  /**
   * An object is sent as JSON, with the longest timeout if it has none; a string is sent unchanged.
   * Without options, that timeout alone is sent. To send no options part at all, use `sendParts`.
   */
  options?: string | object;
  /** Content type of the file part. */
  contentType?: string;
  /** Content type of the options part; none by default, as both public SDKs do. */
  optionsType?: string;
  fileFirst?: boolean;
  key?: string | null;
  headers?: Record<string, string | string[]>;
  signal?: AbortSignal;
  clientTimeoutMs?: number;
}

/** The longest timeout that the API accepts. A slow machine must not decide whether a request succeeds. */
export const LONGEST_TIMEOUT_MS: number = REQUEST_LIMITS.timeoutMaxMs;
const CLIENT_TIMEOUT_MS = LONGEST_TIMEOUT_MS + 30_000;

export const BOUNDARY = 'parsemesh-test-boundary-7f3a';

/** The bytes of a multipart body, and its content type. `end: false` omits the last boundary. */
export function multipart(parts: readonly Part[], { end = true } = {}): { body: Buffer; contentType: string } {
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const fileName = part.fileName === undefined ? '' : `; filename="${part.fileName}"`;
    const lines = [
      `--${BOUNDARY}`,
      part.disposition ?? `Content-Disposition: form-data; name="${part.name}"${fileName}`,
      ...(part.contentType === undefined ? [] : [`Content-Type: ${part.contentType}`]),
    ];
    pieces.push(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(part.body), Buffer.from('\r\n'));
  }
  if (end) pieces.push(Buffer.from(`--${BOUNDARY}--\r\n`));
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${BOUNDARY}` };
}

/** Resolves when the request accepts more bytes, or has ended. */
function untilWritable(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const next = () => {
      request.off('drain', next).off('close', next);
      resolve();
    };
    request.on('drain', next).on('close', next);
  });
}

/**
 * Sends one request and returns the response, even if it arrives before the complete body is sent.
 * @throws Error if the connection closes without a response.
 */
export function send(product: Pick<Product, 'url' | 'key'>, options: SendOptions = {}): Promise<Answer> {
  const key = options.key === undefined ? product.key : options.key;
  const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...options.headers };
  return new Promise<Answer>((resolve, reject) => {
    const body = options.body;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : undefined;
    const target = new URL(options.path ?? '/v2/parse', product.url);
    const request = httpRequest(target, {
      method: options.method ?? 'POST',
      headers: { ...(bytes ? { 'content-length': String(bytes.byteLength) } : {}), ...headers },
      agent: false,
      signal: AbortSignal.any([
        AbortSignal.timeout(options.clientTimeoutMs ?? CLIENT_TIMEOUT_MS),
        ...(options.signal ? [options.signal] : []),
      ]),
    });
    let answered = false;
    // A server that responds early closes the connection while the body is being sent. The response then counts, and not
    // the write error. The event 'close' comes after both.
    let failure: Error | undefined;
    request.on('error', (error) => {
      failure ??= error;
    });
    request.on('close', () => {
      if (!answered) reject(failure ?? new Error('the connection closed without a response'));
    });
    request.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        let decoded: unknown = text;
        try {
          decoded = JSON.parse(text);
        } catch {
          // The body is not JSON, so the caller gets the text.
        }
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: decoded, text });
        request.destroy();
      });
    });
    if (bytes || body === undefined) request.end(bytes);
    else
      void (async () => {
        try {
          for await (const chunk of body as AsyncIterable<Uint8Array>) {
            if (answered || request.destroyed) return;
            if (!request.write(chunk)) await untilWritable(request);
          }
          request.end();
        } catch (error) {
          request.destroy(error instanceof Error ? error : new Error(String(error)));
        }
      })();
  });
}

/** `POST /v2/parse` with one file and options. The options come first, as in the public SDKs, unless `fileFirst` is set. */
export function parse(product: Pick<Product, 'url' | 'key'>, request: ParseRequest): Promise<Answer> {
  const { options = {}, optionsType, fileFirst } = request;
  const text = typeof options === 'string' ? options : JSON.stringify({ timeout: LONGEST_TIMEOUT_MS, ...options });
  const filePart: Part = {
    name: 'file',
    body: request.file,
    fileName: request.fileName,
    contentType: request.contentType,
  };
  const optionsPart: Part = { name: 'options', body: text, contentType: optionsType };
  const { body, contentType } = multipart(fileFirst ? [filePart, optionsPart] : [optionsPart, filePart]);
  return send(product, {
    body,
    headers: { 'content-type': contentType, ...request.headers },
    key: request.key,
    signal: request.signal,
    clientTimeoutMs: request.clientTimeoutMs,
  });
}

/** Sends a POST with a multipart body of these parts. The parts may be invalid. */
export function sendParts(
  product: Pick<Product, 'url' | 'key'>,
  parts: readonly Part[],
  options: SendOptions = {},
): Promise<Answer> {
  const { body, contentType } = multipart(parts);
  return send(product, { ...options, body, headers: { 'content-type': contentType, ...options.headers } });
}

interface RawOptions {
  /** Stop once the received text matches. */
  until?: RegExp;
  /** Disconnect this many milliseconds after the bytes were written. */
  disconnectAfterMs?: number;
}

/** Writes raw bytes to the server's socket and returns the text that it receives until the connection closes. */
export function sendRaw(
  product: Pick<Product, 'url'>,
  bytes: string | Uint8Array,
  { until, disconnectAfterMs }: RawOptions = {},
): Promise<string> {
  const { hostname, port } = new URL(product.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: hostname, port: Number(port) });
    socket.setEncoding('latin1');
    socket.write(bytes, () => {
      if (disconnectAfterMs !== undefined) setTimeout(() => socket.destroy(), disconnectAfterMs);
    });
    socket.on('data', (chunk) => {
      text += chunk;
      if (until?.test(text)) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)));
  });
}

/** Asserts a documented 200 response and returns its `data`. */
export function successData(answer: Answer): ParseResponse['data'] {
  assert.equal(answer.status, 200, `expected 200, got ${answer.status}: ${answer.text.slice(0, 600)}`);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  const parsed = parseResponseSchema.safeParse(answer.body);
  assert.ok(parsed.success, `the response does not have the documented shape: ${parsed.error?.message}`);
  assert.ok(answer.headers['x-request-id'], 'X-Request-Id is missing');
  return parsed.data.data;
}

export type ErrorBody = z.infer<typeof errorResponseSchema>;

/** Asserts a documented error response with this status, and with this code if it is given. */
export function errorBody(answer: Answer, status: number, code?: string): ErrorBody {
  assert.equal(answer.status, status, `expected ${status}, got ${answer.status}: ${answer.text.slice(0, 600)}`);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  const parsed = errorResponseSchema.safeParse(answer.body);
  assert.ok(parsed.success, `the error does not have the documented shape: ${answer.text.slice(0, 600)}`);
  assert.notEqual(parsed.data.error.trim(), '');
  assert.doesNotMatch(
    parsed.data.error,
    /\bat .*:\d+:\d+|node_modules|\/(?:tmp|home|root|work|usr)\//,
    'the message contains internal details',
  );
  if (code !== undefined) assert.equal(parsed.data.code, code);
  assert.ok(answer.headers['x-request-id'], 'X-Request-Id is missing');
  return parsed.data;
}
