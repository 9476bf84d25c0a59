// How every answer leaves: one shape for errors, and a close that lets a client who is still sending read why it was refused.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AbandonedError,
  BusUnavailableError,
  CancelledError,
  DeadlineError,
  NoWorkerError,
  PayloadMissingError,
  StoreFullError,
} from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { storeFullError } from '#shared/runtime/dispatch.ts';
import { countStreamedBytes } from '#shared/runtime/gc/streamed-bytes.ts';

const RETRY_SOON_SECONDS = 2;

/** The body of an error answer (SPEC 7.1, DECISIONS "Errors"). */
export function errorBody(error: ParseError): Record<string, unknown> {
  return {
    success: false,
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
  };
}

/** What the caller is told of anything thrown; only what is ours keeps its words. */
export function toParseError(error: unknown): ParseError {
  if (error instanceof ParseError) return error;
  if (error instanceof BusUnavailableError || error instanceof PayloadMissingError || error instanceof NoWorkerError)
    return new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: the message bus does not answer. Try again later.',
      {
        cause: error,
        retryAfterSeconds: RETRY_SOON_SECONDS,
      },
    );
  if (error instanceof StoreFullError) return storeFullError(error);
  if (error instanceof DeadlineError) return new ParseError('REQUEST_TIMEOUT', undefined, { cause: error });
  if (error instanceof AbandonedError) return new ParseError('CONVERSION_FAILED', undefined, { cause: error });
  return new ParseError('UNKNOWN_ERROR', undefined, { cause: error });
}

/** True where there is nobody left to answer. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CancelledError;
}

const continued = new WeakSet<IncomingMessage>();

/** Lets a client that asked first (`Expect: 100-continue`) send its body. */
export function inviteBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect === undefined || continued.has(request)) return;
  continued.add(request);
  response.writeContinue();
}

const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Reads on for a while and throws it away, then ends the answer, so that the client sees the answer and not a reset. */
function linger(request: IncomingMessage, response: ServerResponse): void {
  let left: number = REQUEST_LIMITS.lingerBytes;
  const finish = (): void => {
    clearTimeout(timer);
    request.off('data', onData).off('end', finish).off('close', finish);
    response.end();
  };
  const onData = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, REQUEST_LIMITS.lingerMs);
  request.on('error', () => undefined);
  request.on('data', onData).once('end', finish).once('close', finish);
  request.resume();
}

/** Answers with an error, whatever state the request is in. */
export function sendError(request: IncomingMessage, response: ServerResponse, error: ParseError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (error.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', Math.max(1, Math.ceil(error.retryAfterSeconds)));
  if (error.code === 'UNAUTHORIZED') response.setHeader('WWW-Authenticate', 'Bearer');
  const unread = hasBody(request) && !request.complete;
  if (unread) response.setHeader('Connection', 'close');
  // Who waits for "100 Continue" has sent nothing yet; who stalled will send nothing more.
  const nothingComes =
    (request.headers.expect !== undefined && !continued.has(request)) || error.code === 'REQUEST_TIMEOUT';
  if (!unread || nothingComes || request.method === 'HEAD') {
    sendJson(response, error.status, errorBody(error));
    return;
  }
  const text = JSON.stringify(errorBody(error));
  response.writeHead(error.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.write(text);
  linger(request, response);
}

/** An answer whose first bytes are there: whole where `rest` is undefined. */
export interface HeldAnswer {
  head: Uint8Array[];
  rest: AsyncIterator<Uint8Array> | undefined;
}

/** Reads an answer's beginning, most often all of it, so that what fails there can still be told. @throws what `chunks` throws */
export async function holdAnswer(chunks: AsyncIterable<Uint8Array>): Promise<HeldAnswer> {
  const rest = chunks[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (let size = 0; size <= REQUEST_LIMITS.responseBufferBytes; ) {
    const next = await rest.next();
    if (next.done) return { head, rest: undefined };
    head.push(next.value);
    size += next.value.byteLength;
  }
  return { head, rest };
}

/**
 * Sends a JSON answer: at once where it is whole, else chunk by chunk, no faster than the client reads.
 * @throws CancelledError where the client goes away or stops reading; what the rest of the answer throws
 */
export async function sendAnswer(response: ServerResponse, answer: HeldAnswer, signal: AbortSignal): Promise<void> {
  const { head, rest } = answer;
  if (signal.aborted) throw new CancelledError('the client went away');
  const contentType = { 'Content-Type': 'application/json; charset=utf-8' };
  if (!rest) {
    const size = head.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    response.writeHead(200, { ...contentType, 'Content-Length': size });
    for (const chunk of head) response.write(chunk);
    response.end();
    return;
  }
  response.writeHead(200, contentType);
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield* head.splice(0);
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  };
  try {
    for await (const chunk of all()) {
      if (signal.aborted) throw new CancelledError('the client went away');
      countStreamedBytes(chunk.byteLength);
      if (response.write(chunk)) continue;
      const patience = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMITS.responseStallMs)]);
      await once(response, 'drain', { signal: patience }).catch((cause: unknown) => {
        throw new CancelledError('the client went away, or reads no more', { cause });
      });
    }
  } finally {
    await rest.return?.();
  }
  response.end();
}
