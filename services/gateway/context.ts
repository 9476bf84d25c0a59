// Keeps what is known about one request while it is processed: id, route, API key, error code, and a signal for a client disconnect.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CancelledError } from '#shared/bus/bus.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { RouteLabel } from '#shared/runtime/metrics.ts';
import type { Key } from './auth/keys.ts';
import type { EventStream } from './responses/event-stream.ts';

export interface RequestContext {
  /** The `X-Request-Id`, shown to the client and in logs. The client may choose it, so it may not be unique. */
  readonly id: string;
  /** Unique. Identifies the request's credit hold and concurrency claim in the shared state. */
  readonly uniqueId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Aborts with a CancelledError if the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Metric label. */
  route: RouteLabel;
  /** IP address of the client. */
  address?: string;
  /** Start of the `User-Agent` header. */
  userAgent?: string;
  /** Set after authentication, also if the key has expired. */
  key?: Key;
  /** Set once the response is an event stream. */
  events?: EventStream;
  /** Error code of the response. */
  code?: string;
}

const REQUEST_ID = /^[A-Za-z0-9._-]+$/;
const contexts = new WeakMap<ServerResponse, RequestContext>();

/** Returns the client's request id if it is short and has only safe characters, otherwise a new one. */
export function requestId(header: string | string[] | undefined): string {
  const usable =
    typeof header === 'string' && header.length <= REQUEST_LIMITS.requestIdLength && REQUEST_ID.test(header);
  return usable ? header : randomUUID();
}

export function createContext(request: IncomingMessage, response: ServerResponse): RequestContext {
  const disconnected = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) disconnected.abort(new CancelledError('the client disconnected'));
  });
  const context: RequestContext = {
    id: requestId(request.headers['x-request-id']),
    uniqueId: randomUUID(),
    startedAt: Date.now(),
    signal: disconnected.signal,
    route: 'other',
  };
  contexts.set(response, context);
  return context;
}

export function contextOf(response: ServerResponse): RequestContext {
  const context = contexts.get(response);
  if (!context) throw new Error('the request has no context');
  return context;
}
