// Serves the health checks and metrics of a worker service on its operations port.
import { createServer, type Server } from 'node:http';
import { listen, OPS_VARIABLES } from './listen.ts';
import { collectProcessMetrics } from './metrics.ts';
import { scrape } from './sampled-metrics.ts';

export interface Readiness {
  ok: boolean;
  /** Why the service is not ready, for the operator. */
  reason?: string;
}

/** Serves /livez, /readyz and /metrics. @param port 0 picks a free port @throws ConfigError as `listen` does */
export async function startOpsServer(options: {
  host: string;
  port: number;
  ready: () => Readiness;
}): Promise<{ port: number; close(): Promise<void> }> {
  collectProcessMetrics();
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      json(405, { success: false, error: 'Method Not Allowed', code: 'METHOD_NOT_ALLOWED' });
    else if (path === '/livez') json(200, { status: 'ok' });
    else if (path === '/readyz') {
      const ready = options.ready();
      json(ready.ok ? 200 : 503, ready.ok ? { status: 'ok' } : { status: 'unavailable', reason: ready.reason });
    } else if (path === '/metrics')
      void scrape().then(({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text));
    else json(404, { success: false, error: 'Not Found', code: 'NOT_FOUND' });
  });
  const port = await listen(server, { host: options.host, port: options.port, variables: OPS_VARIABLES });
  return {
    port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
