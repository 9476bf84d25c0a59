// What is known of one request while it is answered: its id, its route, whose it is, and a signal for when the client leaves.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CancelledError } from '#shared/bus/bus.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { RouteLabel } from '#shared/runtime/metrics.ts';
import type { Key } from './auth/keys.ts';

export interface RequestContext {
  /** What the client sees and logs carry; the client may choose it. */
  readonly id: string;
  /** Ours alone, unique: the name of holds and claims. */
  readonly claim: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Fires when the client goes away before its answer is out. */
  readonly signal: AbortSignal;
  /** Metric label. */
  route: RouteLabel;
  key?: Key;
  /** The error code of the answer. */
  code?: string;
}

const REQUEST_ID = /^[A-Za-z0-9._-]+$/;
const contexts = new WeakMap<ServerResponse, RequestContext>();

export function requestId(inbound: string | string[] | undefined): string {
  const sane =
    typeof inbound === 'string' && inbound.length <= REQUEST_LIMITS.requestIdLength && REQUEST_ID.test(inbound);
  return sane ? inbound : randomUUID();
}

/** Opens the context of a request. */
export function openContext(request: IncomingMessage, response: ServerResponse): RequestContext {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort(new CancelledError('the client went away'));
  });
  const context: RequestContext = {
    id: requestId(request.headers['x-request-id']),
    claim: randomUUID(),
    startedAt: Date.now(),
    signal: left.signal,
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
