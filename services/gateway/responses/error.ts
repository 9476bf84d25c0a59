// Turns any error into the documented error response, and sends it so that a client that is still uploading can read it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CancelledError } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { machineFaultError } from '#shared/contract/machine-fault.ts';
import { toCallerError } from '#shared/runtime/bus-errors.ts';
import { contextOf } from '../context.ts';
import { errorBody } from './error-body.ts';
import { sendJson, startJson } from './json.ts';

/** Maps any error to one that the client may see. Messages of unknown errors are not shown to the client. */
export function toParseError(error: unknown): ParseError {
  const known = toCallerError(error);
  if (known instanceof ParseError) return known;
  return machineFaultError(error) ?? new ParseError('UNKNOWN_ERROR', undefined, { cause: error });
}

/** True if the client has disconnected, so there is no response to send. */
export function isCancelled(error: unknown): boolean {
  return error instanceof CancelledError;
}

const continued = new WeakSet<IncomingMessage>();

/** Sends `100 Continue` once, if the client waits for it before it sends the body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect === undefined || continued.has(request)) return;
  continued.add(request);
  response.writeContinue();
}

/** Sends an error response, or an error event if the response is an event stream. Destroys the connection if another response has already started. */
export function sendError(request: IncomingMessage, response: ServerResponse, error: ParseError): void {
  const { events } = contextOf(response);
  if (events) {
    events.fail(error);
    return;
  }
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (error.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', Math.max(1, Math.ceil(error.retryAfterSeconds)));
  if (error.code === 'UNAUTHORIZED') response.setHeader('WWW-Authenticate', 'Bearer');
  const unreadBody = hasBody(request) && !request.complete;
  if (unreadBody) response.setHeader('Connection', 'close');
  if (unreadBody && moreBodyExpected(request, error) && request.method !== 'HEAD') {
    response.write(startJson(response, error.status, errorBody(error)));
    discardBodyThenEnd(request, response);
  } else sendJson(response, error.status, errorBody(error));
}

const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/** False for a client that waits for `100 Continue`, because it has sent no body, and for a stalled client. */
function moreBodyExpected(request: IncomingMessage, error: ParseError): boolean {
  const waitsForContinue = request.headers.expect !== undefined && !continued.has(request);
  return !waitsForContinue && error.code !== 'REQUEST_TIMEOUT';
}

/**
 * Reads and discards the rest of the request body before it ends the response. If the gateway closed the connection at once,
 * the client would see a connection reset instead of the response.
 */
function discardBodyThenEnd(request: IncomingMessage, response: ServerResponse): void {
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
