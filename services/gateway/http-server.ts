// Creates HTTP servers with the gateway's timeouts, and answers input that is not valid HTTP with a JSON error.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { requestId } from './context.ts';
import { errorBody } from './responses/error-body.ts';
import { countInvalidRequest } from './telemetry.ts';

export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(
    // Node's own response to a request without a Host header has no body, so the listener rejects such requests.
    { maxHeaderSize: REQUEST_LIMITS.headerBytes, connectionsCheckingInterval: 2_000, requireHostHeader: false },
    listener,
  );
  // Without this handler Node sends `100 Continue` at once. The listener sends it after its checks.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  answerInvalidRequests(server);
  server.headersTimeout = REQUEST_LIMITS.headersTimeoutMs;
  // Uploads have their own timeouts.
  server.requestTimeout = 0;
  server.timeout = REQUEST_LIMITS.socketIdleMs;
  server.keepAliveTimeout = REQUEST_LIMITS.keepAliveMs;
  return server;
}

/** Stops listening. Resolves when every connection has ended. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function answerInvalidRequests(server: Server): void {
  const latestResponse = new WeakMap<Duplex, ServerResponse>();
  const remember = (request: IncomingMessage, response: ServerResponse): void =>
    void latestResponse.set(request.socket, response);
  server.on('request', remember);
  server.on('checkContinue', remember);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = latestResponse.get(socket);
    // An error response inside an unfinished response would corrupt it.
    if (response?.headersSent && !response.writableFinished) socket.destroy();
    else answerInvalidRequest(error, socket);
  });
}

function answerInvalidRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const rejection = rejectionFor(error);
  countInvalidRequest(rejection.status, rejection.code);
  const body = JSON.stringify(errorBody(rejection));
  socket.end(
    [
      `HTTP/1.1 ${rejection.status} ${STATUS_CODES[rejection.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId(undefined)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function rejectionFor(error: NodeJS.ErrnoException): ParseError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ParseError(
      'REQUEST_TIMEOUT',
      `Request Timeout: the request headers did not arrive within ${REQUEST_LIMITS.headersTimeoutMs / 1_000} s. Send the request again.`,
    );
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new ParseError(
      'BAD_REQUEST',
      `Bad Request: the request headers are too large; send at most ${REQUEST_LIMITS.headerBytes} bytes`,
    );
  return new ParseError('BAD_REQUEST', 'Bad Request: the request is not valid HTTP/1.1');
}
