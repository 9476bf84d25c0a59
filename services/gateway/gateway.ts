// Starts the HTTP gateway, and drains it before a shutdown, so that no request is lost.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { QUEUE_NAMES } from '#shared/contract/services.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Readiness } from '#shared/runtime/health.ts';
import { API_VARIABLES, listen, OPS_VARIABLES } from '#shared/runtime/listen.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { collectProcessMetrics, initGatewayMetrics, productVersion, type RouteLabel } from '#shared/runtime/metrics.ts';
import { sampleConnection, sampleQueues } from '#shared/runtime/sampled-metrics.ts';
import { createApp, type Handler, type Route, type Routes, setCommonHeaders } from './app.ts';
import { KeyWatch } from './audit/key-watch.ts';
import { RefusalAudit } from './audit/refusals.ts';
import { AuditTrail } from './audit/trail.ts';
import { openKeySource } from './auth/key-source.ts';
import type { Key, KeySource } from './auth/keys.ts';
import { BusWaitLimit } from './bus-wait.ts';
import { createContext } from './context.ts';
import { closeServer, createHttpServer } from './http-server.ts';
import { ConcurrencyLimiter } from './limits/concurrency.ts';
import { sendError } from './responses/error.ts';
import { documentationHandlers } from './routes/documentation.ts';
import { formatsHandler } from './routes/formats.ts';
import { operationsHandlers } from './routes/operations.ts';
import { pageHandlers } from './routes/page.ts';
import { parseHandler } from './routes/parse.ts';
import { processHandler } from './routes/process.ts';
import { teamHandlers } from './routes/team.ts';
import { SchemaChecker } from './schema-check.ts';
import { recordRequest } from './telemetry.ts';
import type { UploadLimits } from './upload/request-body.ts';

export interface GatewayOptions {
  config: Pick<
    Config,
    | 'host'
    | 'port'
    | 'corsOrigins'
    | 'trustProxy'
    | 'opsHost'
    | 'opsPort'
    | 'keys'
    | 'keysFile'
    | 'apiKey'
    | 'audit'
    | 'llm'
    | 'drainLingerMs'
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
 * @throws KeyFileError for an invalid keys file; ConfigError for a kubeconfig without a cluster, and for a port or an address that cannot be used
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, transport } = options;
  const keys = new LateKeySource();
  const trail = new AuditTrail(log, transport.events, config.audit);
  const refusals = new RefusalAudit(trail);
  const shutdown: Shutdown = { draining: false, rejecting: false };
  const active = new ActiveRequests();
  const open = (routes: Routes) => createHttpServer(requestListener(routes, options, shutdown, { active, refusals }));

  const api = apiRoutes(options, { keys, trail }, shutdown);
  const operations = operationsRoutes(() => readiness(shutdown, keys, transport));
  const separateOps = config.opsPort !== undefined;
  const server = open(separateOps ? api : { ...api, ...operations });
  const opsServer = separateOps ? open(operations) : undefined;
  const stopMetrics = startMetrics(transport);
  const port = await listen(server, { host: config.host, port: config.port, variables: API_VARIABLES });
  const opsPort =
    opsServer && config.opsPort !== undefined
      ? await listen(opsServer, { host: config.opsHost, port: config.opsPort, variables: OPS_VARIABLES })
      : undefined;
  // After the ports, because a start that fails must not create the first key, which nobody would see.
  const keyWatch = new KeyWatch(trail, config.keys.source);
  await keys
    .open(() => openKeySource(config, log, keyWatch.observe))
    .catch(async (error: unknown) => {
      keyWatch.stop();
      stopMetrics();
      await Promise.all([server, opsServer].map((one) => one && closeServer(one)));
      throw error;
    });

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
      keyWatch.stop();
      refusals.flush();
      await trail.close();
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
  { keys, trail }: { keys: KeySource; trail: AuditTrail },
  shutdown: Shutdown,
): Routes {
  const deps = {
    config,
    log,
    transport,
    keys,
    trail,
    concurrency: new ConcurrencyLimiter(transport.state),
    schemas: new SchemaChecker(transport),
    busWaits: new BusWaitLimit(transport.bus),
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

/** The keys, which are loaded after the server has its port. Until then, the gateway is not ready. */
class LateKeySource implements KeySource {
  #source: KeySource | undefined;

  async open(source: () => Promise<KeySource>): Promise<void> {
    this.#source = await source();
  }

  find(token: string): Key | undefined {
    return this.#source?.find(token);
  }

  ready(): boolean {
    return this.#source?.ready() ?? false;
  }

  get firstKey(): string | undefined {
    return this.#source?.firstKey;
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }
}

/** Prepares each request (context, common headers, telemetry) and passes it to the app. */
function requestListener(
  routes: Routes,
  { config, log }: GatewayOptions,
  shutdown: Shutdown,
  { active, refusals }: { active: ActiveRequests; refusals: RefusalAudit },
): RequestListener {
  const app = createApp(routes, log, config);
  return (request: IncomingMessage, response: ServerResponse): void => {
    const context = createContext(request, response);
    setCommonHeaders(response, context.id);
    if (shutdown.draining) response.setHeader('Connection', 'close');
    active.add(response, () => refusals.record(context));
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

  /** @param onClose is called when the response is complete or its connection is closed */
  add(response: ServerResponse, onClose: () => void): void {
    this.#count++;
    response.once('close', () => {
      onClose();
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
function startMetrics(transport: Transport): () => void {
  collectProcessMetrics();
  initGatewayMetrics();
  const stops = [sampleConnection(transport), sampleQueues(transport.bus, QUEUE_NAMES)];
  return () => {
    for (const stop of stops) stop();
  };
}
