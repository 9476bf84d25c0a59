// Records every request: its metrics, its span, and one log line when its response is complete.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#shared/runtime/log.ts';
import { httpDuration, httpInFlight, httpRequests, methodLabel, type RouteLabel } from '#shared/runtime/metrics.ts';
import type { Span } from '#shared/runtime/traces/span.ts';
import { startSpan } from '#shared/runtime/traces.ts';
import { contextOf, type RequestContext } from './context.ts';

/** Probes and scrapes arrive every few seconds. They are counted, but not traced, and not shown as in flight. */
const OPERATIONS_PATHS: ReadonlySet<string> = new Set<RouteLabel>(['/livez', '/readyz', '/metrics']);

/** Status of a request whose client disconnected before the response was complete. */
const CLIENT_DISCONNECTED = 499;

interface Outcome {
  route: RouteLabel;
  method: string;
  status: number;
  /** `OK`, `CANCELLED` or the error code. */
  code: string;
  seconds: number;
}

/** Runs `work` in the span of the request, and records the request when its response closes. */
export function recordRequest(request: IncomingMessage, response: ServerResponse, log: Logger, work: () => void): void {
  const context = contextOf(response);
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const span = OPERATIONS_PATHS.has(path) ? undefined : startRequestSpan(request, context);
  if (span) httpInFlight.inc();
  response.once('close', () => {
    const outcome = outcomeOf(request, response, context);
    const { route, method, status, code, seconds } = outcome;
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
    httpInFlight.dec();
    span.run(() => log.info(line, 'request'));
    endRequestSpan(span, outcome);
  });
  if (span) span.run(work);
  else work();
}

/** Counts a request that the HTTP parser rejected. @param status of the error response */
export function countInvalidRequest(status: number, code: string): void {
  httpRequests.inc({ route: 'other', method: 'other', status, code });
}

function outcomeOf(request: IncomingMessage, response: ServerResponse, context: RequestContext): Outcome {
  const cancelled = context.code === 'CANCELLED' || !response.headersSent;
  return {
    route: context.route,
    method: methodLabel(request.method),
    // An event stream begins with status 200, also if its last event is an error.
    status: cancelled ? CLIENT_DISCONNECTED : (context.events?.status ?? response.statusCode),
    code: cancelled ? 'CANCELLED' : (context.code ?? 'OK'),
    seconds: (Date.now() - context.startedAt) / 1_000,
  };
}

/** Starts a span that continues the client's trace (W3C Trace Context), if the request names one. */
function startRequestSpan(request: IncomingMessage, context: RequestContext): Span {
  const traceparent = headerText(request.headers.traceparent);
  const tracestate = headerText(request.headers.tracestate);
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

function endRequestSpan(span: Span, { route, method, status, code }: Outcome): void {
  if (route !== 'other') span.rename(`${method} ${route}`);
  span.set({ 'http.response.status_code': status, ...(route === 'other' ? {} : { 'http.route': route }) });
  if (code !== 'OK') span.set({ 'parsemesh.code': code });
  span.end(status >= 500 ? code : undefined);
}

const headerText = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
