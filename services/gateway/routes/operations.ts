// /livez, /readyz and /metrics: what a cluster and Prometheus ask, beside the API or on a port of their own.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ParseError } from '#shared/contract/errors.ts';
import type { Readiness } from '#shared/runtime/health.ts';
import { scrape } from '#shared/runtime/sampled-metrics.ts';
import { errorBody, sendJson } from '../answer.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export function operationsHandlers(ready: () => Readiness): Record<'/livez' | '/readyz' | '/metrics', Handler> {
  return {
    '/livez': (_request, response) => sendJson(response, 200, { status: 'ok' }),
    '/readyz': (_request, response) => {
      const state = ready();
      if (state.ok) return sendJson(response, 200, { status: 'ok' });
      const refusal = new ParseError('SERVICE_UNAVAILABLE', `Service Unavailable: ${state.reason ?? 'not ready'}`);
      sendJson(response, refusal.status, errorBody(refusal));
    },
    '/metrics': async (_request, response) => {
      const { contentType, text } = await scrape();
      response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    },
  };
}
