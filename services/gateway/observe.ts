// What is seen of every request from outside: its metrics, its span, and one log line when its answer is out.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#shared/runtime/log.ts';
import { httpDuration, httpInFlight, httpRequests, methodLabel, type RouteLabel } from '#shared/runtime/metrics.ts';
import type { Span } from '#shared/runtime/traces/span.ts';
import { startSpan } from '#shared/runtime/traces.ts';
import { contextOf, type RequestContext } from './context.ts';

/** Asked by the platform every few seconds: counted, but not traced, not logged, and no work in flight. */
export const OPERATIONS: ReadonlySet<string> = new Set<RouteLabel>(['/livez', '/readyz', '/metrics']);

/** 499: the client left before there was an answer. */
const CLIENT_LEFT = 499;

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

function openSpan(request: IncomingMessage, context: RequestContext): Span {
  const traceparent = one(request.headers.traceparent);
  const tracestate = one(request.headers.tracestate);
  const method = methodLabel(request.method);
  return startSpan(method, {
    kind: 'server',
    from: {
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(tracestate === undefined ? {} : { tracestate }),
    },
    attributes: {
      'http.request.method': method === 'other' ? '_OTHER' : method,
      'url.scheme': 'http',
      'parsemesh.request_id': context.id,
    },
  });
}

/** Watches a request from its head to the close of its answer, and runs `work` as a part of its span. */
export function observeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
  work: () => void,
): void {
  const context = contextOf(response);
  const ours = !OPERATIONS.has((request.url ?? '').split('?', 1)[0] ?? '');
  const span = ours ? openSpan(request, context) : undefined;
  if (ours) httpInFlight.inc();
  response.once('close', () => {
    if (ours) httpInFlight.dec();
    const seconds = (Date.now() - context.startedAt) / 1_000;
    const left = context.code === 'CANCELLED' || !response.headersSent;
    const status = left ? CLIENT_LEFT : response.statusCode;
    const code = left ? 'CANCELLED' : (context.code ?? 'OK');
    const { route } = context;
    const method = methodLabel(request.method);
    httpRequests.inc({ route, method, status, code });
    httpDuration.observe({ route, method, status }, seconds);
    const line = {
      requestId: context.id,
      route,
      method,
      status,
      code: context.code,
      keyId: context.key?.id,
      seconds,
    };
    if (!span) {
      log.debug(line, 'request');
      return;
    }
    span.run(() => log.info(line, 'request'));
    if (route !== 'other') span.rename(`${method} ${route}`);
    span.set({ 'http.response.status_code': status, ...(route === 'other' ? {} : { 'http.route': route }) });
    if (code !== 'OK') span.set({ 'parsemesh.code': code });
    span.end(status >= 500 ? code : undefined);
  });
  if (span) span.run(work);
  else work();
}

/** Counts what is no HTTP request, or never became one. @param status of the answer it was given */
export function countBadRequest(status: number, code: string): void {
  httpRequests.inc({ route: 'other', method: 'other', status, code });
}
