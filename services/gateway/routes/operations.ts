// Serves /livez, /readyz and /metrics: the probes of the cluster and the metrics for Prometheus.
import { ParseError } from '#shared/contract/errors.ts';
import type { Readiness } from '#shared/runtime/health.ts';
import { scrape } from '#shared/runtime/sampled-metrics.ts';
import type { Handler } from '../app.ts';
import { sendCompressible } from '../responses/compression.ts';
import { errorBody } from '../responses/error-body.ts';
import { sendJson } from '../responses/json.ts';

/** Handlers by path. */
export function operationsHandlers(ready: () => Readiness): Record<'/livez' | '/readyz' | '/metrics', Handler> {
  return {
    '/livez': (_request, response) => sendJson(response, 200, { status: 'ok' }),
    '/readyz': (_request, response) => {
      const state = ready();
      if (state.ok) return sendJson(response, 200, { status: 'ok' });
      const error = new ParseError('SERVICE_UNAVAILABLE', `Service Unavailable: ${state.reason ?? 'not ready'}`);
      sendJson(response, error.status, errorBody(error));
    },
    '/metrics': async (request, response) => {
      const { contentType, text } = await scrape();
      sendCompressible(request, response, contentType, text);
    },
  };
}
