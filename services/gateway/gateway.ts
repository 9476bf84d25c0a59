// Starts the HTTP gateway, and drains it before a shutdown, so that no request is lost.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { QUEUE_NAMES } from '#shared/contract/services.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Readiness } from '#shared/runtime/health.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { collectProcessMetrics, initGatewayMetrics, productVersion, type RouteLabel } from '#shared/runtime/metrics.ts';
import { sampleConnection, sampleQueues } from '#shared/runtime/sampled-metrics.ts';
import { createApp, type Handler, type Route, type Routes, setCommonHeaders } from './app.ts';
import { openKeySource } from './auth/key-source.ts';
import type { KeySource } from './auth/keys.ts';
import { createContext } from './context.ts';
import { closeServer, createHttpServer, listen } from './http-server.ts';
import { ConcurrencyLimiter } from './limits/concurrency.ts';
import { sendError } from './responses/error.ts';
import { documentationHandlers } from './routes/documentation.ts';
import { formatsHandler } from './routes/formats.ts';
import { operationsHandlers } from './routes/operations.ts';
import { pageHandlers } from './routes/page.ts';
import { parseHandler } from './routes/parse.ts';
import { processHandler } from './routes/process.ts';
import { teamHandlers } from './routes/team.ts';
import { recordRequest } from './telemetry.ts';
import type { UploadLimits } from './upload/request-body.ts';

export interface GatewayOptions {
  config: Pick<
    Config,
    'host' | 'port' | 'corsOrigins' | 'opsHost' | 'opsPort' | 'keys' | 'keysFile' | 'apiKey' | 'llm' | 'drainLingerMs'
  >;
  log: Logger;
  transport: Transport;
  /** For tests. The default is REQUEST_LIMITS. */
  uploadLimits?: Partial<UploadLimits>;
}

export interface Gateway {
  url: string;
  port: number;
  /** URL of the probes and metrics; undefined if they share the API's port. */
  opsUrl: string | undefined;
  /** Value of the API key that this start created, to be shown once. */
  firstKey: string | undefined;
  /** Waits `drainLingerMs`, rejects new parses, finishes running requests, then closes the listeners. */
  drain(): Promise<void>;
}

/** Progress of a shutdown. */
interface Shutdown {
  /** The gateway is not ready, and each response closes its connection. */
  draining: boolean;
  /** New parses are rejected with 503. */
  rejecting: boolean;
}

/**
 * Starts the API, and the operations port if one is configured.
 * @throws KeyFileError for an invalid keys file; ConfigError for a kubeconfig without a cluster; the listen error, for example EADDRINUSE
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, transport } = options;
  const keys = await openKeySource(config, log);
  const shutdown: Shutdown = { draining: false, rejecting: false };
  const active = new ActiveRequests();
  const open = (routes: Routes) => createHttpServer(requestListener(routes, options, shutdown, active));

  const api = apiRoutes(options, keys, shutdown);
  const operations = operationsRoutes(() => readiness(shutdown, keys, transport));
  const separateOps = config.opsPort !== undefined;
  const server = open(separateOps ? api : { ...api, ...operations });
  const opsServer = separateOps ? open(operations) : undefined;
  const stopMetrics = startMetrics(transport);
  const port = await listen(server, config.port, config.host);
  const opsPort =
    opsServer && config.opsPort !== undefined ? await listen(opsServer, config.opsPort, config.opsHost) : undefined;

  return {
    url: urlOf(config.host, port),
    port,
    opsUrl: opsPort === undefined ? undefined : urlOf(config.opsHost, opsPort),
    firstKey: keys.firstKey,
    async drain() {
      shutdown.draining = true;
      // Closing at once would lose requests on open connections. During this wait, each response has `Connection: close`.
      if (config.drainLingerMs > 0) await sleep(config.drainLingerMs);
      shutdown.rejecting = true;
      const closed = closeServer(server);
      await active.allFinished();
      server.closeIdleConnections();
      server.closeAllConnections();
      await closed;
      if (opsServer) {
        opsServer.closeIdleConnections();
        await closeServer(opsServer);
      }
      stopMetrics();
      await keys.close();
    },
  };
}

/** A URL that a client on this machine, or on the host of this container, can use: none can connect to a wildcard address. */
function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function readiness(shutdown: Shutdown, keys: KeySource, { bus }: Transport): Readiness {
  if (shutdown.draining) return { ok: false, reason: 'draining' };
  if (!keys.ready()) return { ok: false, reason: 'the API keys are not loaded yet' };
  return bus.connected() ? { ok: true } : { ok: false, reason: 'the message bus is not connected' };
}

function apiRoutes(
  { config, log, transport, uploadLimits }: GatewayOptions,
  keys: KeySource,
  shutdown: Shutdown,
): Routes {
  const deps = {
    config,
    log,
    transport,
    keys,
    concurrency: new ConcurrencyLimiter(transport.state),
    ...(uploadLimits ? { uploadLimits } : {}),
  };
  const routes: Record<string, Route> = {
    '/v2/parse': { label: '/v2/parse', method: 'POST', handler: unlessRejecting(shutdown, parseHandler(deps)) },
    '/process': { label: '/process', method: 'PUT', handler: unlessRejecting(shutdown, processHandler(deps)) },
    '/v2/parse/formats': { label: '/v2/parse/formats', method: 'GET', handler: formatsHandler(keys) },
  };
  for (const [path, handler] of Object.entries(teamHandlers({ ...deps, state: transport.state })))
    routes[path] = { label: path as RouteLabel, method: 'GET', handler };
  for (const [path, handler] of Object.entries(documentationHandlers(productVersion())))
    routes[path] = { label: path === '/openapi.json' ? path : '/docs', method: 'GET', handler };
  for (const [path, handler] of Object.entries(pageHandlers())) routes[path] = { label: '/', method: 'GET', handler };
  return routes;
}

function operationsRoutes(ready: () => Readiness): Routes {
  return Object.fromEntries(
    Object.entries(operationsHandlers(ready)).map(([path, handler]) => [
      path,
      { label: path as RouteLabel, method: 'GET' as const, handler },
    ]),
  );
}

function unlessRejecting(shutdown: Shutdown, handler: Handler): Handler {
  return (request, response) => {
    if (shutdown.rejecting)
      throw new ParseError(
        'SERVICE_UNAVAILABLE',
        'Service Unavailable: this server is shutting down. Send the request again.',
        { retryAfterSeconds: 1 },
      );
    return handler(request, response);
  };
}

/** Prepares each request (context, common headers, telemetry) and passes it to the app. */
function requestListener(
  routes: Routes,
  { config, log }: GatewayOptions,
  shutdown: Shutdown,
  active: ActiveRequests,
): RequestListener {
  const app = createApp(routes, log, config.corsOrigins);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const context = createContext(request, response);
    setCommonHeaders(response, context.id);
    if (shutdown.draining) response.setHeader('Connection', 'close');
    active.add(response);
    recordRequest(request, response, log, () => {
      // RFC 9112, section 3.2: a server must reject an HTTP/1.1 request without a Host header.
      if (request.httpVersion !== '1.1' || request.headers.host !== undefined) return app(request, response);
      context.code = 'BAD_REQUEST';
      sendError(
        request,
        response,
        new ParseError('BAD_REQUEST', 'Bad Request: the request has no Host header; send one'),
      );
    });
  };
}

/** Counts the requests whose response is not complete. */
class ActiveRequests {
  #count = 0;
  #onChange = (): void => undefined;

  add(response: ServerResponse): void {
    this.#count++;
    response.once('close', () => {
      this.#count--;
      this.#onChange();
    });
  }

  async allFinished(): Promise<void> {
    while (this.#count > 0) {
      const changed = Promise.withResolvers<void>();
      this.#onChange = changed.resolve;
      await changed.promise;
    }
  }
}

/** Starts the metrics that are read from the bus and the process. @returns a function that stops them */
function startMetrics({ bus }: Transport): () => void {
  collectProcessMetrics();
  initGatewayMetrics();
  const stops = [sampleConnection(bus), sampleQueues(bus, QUEUE_NAMES)];
  return () => {
    for (const stop of stops) stop();
  };
}
