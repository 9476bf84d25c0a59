// Starts the HTTP edge: listeners, keys, limits and routes, and the way it ends without dropping a request.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { QUEUE_NAMES } from '#shared/contract/services.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Readiness } from '#shared/runtime/health.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { collectProcessMetrics, initGatewayMetrics, productVersion, type RouteLabel } from '#shared/runtime/metrics.ts';
import { sampleConnection, sampleQueues } from '#shared/runtime/sampled-metrics.ts';
import { errorBody, sendError } from './answer.ts';
import { createApp, type Route, setCommonHeaders } from './app.ts';
import { openKeys } from './auth/open-keys.ts';
import { openContext, requestId } from './context.ts';
import { createConcurrency } from './limits/concurrency.ts';
import { countBadRequest, observeRequest } from './observe.ts';
import { documentationHandlers } from './routes/documentation.ts';
import { formatsHandler } from './routes/formats.ts';
import { operationsHandlers } from './routes/operations.ts';
import { parseHandler } from './routes/parse.ts';
import type { PumpLimits } from './upload/pump.ts';

export interface GatewayOptions {
  config: Pick<
    Config,
    'host' | 'port' | 'opsHost' | 'opsPort' | 'keys' | 'keysFile' | 'apiKey' | 'llm' | 'drainLingerMs'
  >;
  log: Logger;
  transport: Transport;
  /** For tests; REQUEST_LIMITS otherwise. */
  uploadLimits?: Partial<PumpLimits>;
}

export interface Gateway {
  url: string;
  port: number;
  /** Where probes and metrics are, when they have a port of their own. */
  opsUrl: string | undefined;
  /** Value of the key that this start made, to be shown once. */
  firstKey: string | undefined;
  /** Lingers (`drainLingerMs`), refuses new work, finishes what runs, closes the listeners. */
  drain(): Promise<void>;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

const address = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Answers what is not HTTP, or came too slowly, in the shape of every other error. */
function answerBadRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new ParseError('REQUEST_TIMEOUT', 'Request Timeout: the request headers did not arrive in time')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? new ParseError('BAD_REQUEST', 'Bad Request: the request headers are too large')
        : new ParseError('BAD_REQUEST', 'Bad Request: the request is not valid HTTP/1.1');
  countBadRequest(refusal.status, refusal.code);
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId(undefined)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function harden(server: Server, listener: RequestListener): Server {
  // Who answers on a socket already must not be interrupted by the answer to a fault behind it.
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => answering.set(request.socket, response));
  // The invitation to send a body is given where the checks before it are passed.
  server.on('checkContinue', (request, response) => {
    answering.set(request.socket, response);
    listener(request, response);
  });
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket);
    if (response?.headersSent && !response.writableFinished) socket.destroy();
    else answerBadRequest(error, socket);
  });
  server.headersTimeout = REQUEST_LIMITS.headersTimeoutMs;
  // The body has watches of its own.
  server.requestTimeout = 0;
  server.timeout = REQUEST_LIMITS.socketIdleMs;
  server.keepAliveTimeout = REQUEST_LIMITS.keepAliveMs;
  return server;
}

/**
 * Opens the API (and the operations port, where one is configured).
 * @throws KeyFileError for a broken keys file; ConfigError for a kubeconfig that names no cluster; the listener's error where a port is taken
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, transport } = options;
  const keys = await openKeys(config, log);
  /** Told to stop: not ready, and each answer the last of its connection. */
  let draining = false;
  let refusing = false;
  const idle = { requests: 0, wake: (): void => undefined };
  const ready = (): Readiness =>
    draining
      ? { ok: false, reason: 'draining' }
      : !keys.ready()
        ? { ok: false, reason: 'the API keys are not loaded yet' }
        : transport.bus.connected()
          ? { ok: true }
          : { ok: false, reason: 'the message bus is away' };

  const parse = parseHandler({
    config,
    log,
    transport,
    keys,
    concurrency: createConcurrency(transport.state),
    ...(options.uploadLimits ? { uploadLimits: options.uploadLimits } : {}),
  });
  const routes: Record<string, Route> = {
    '/v2/parse': {
      label: '/v2/parse',
      method: 'POST',
      handler: (request, response) => {
        if (refusing)
          throw new ParseError(
            'SERVICE_UNAVAILABLE',
            'Service Unavailable: this server is shutting down. Send the request again.',
            { retryAfterSeconds: 1 },
          );
        return parse(request, response);
      },
    },
    '/v2/parse/formats': { label: '/v2/parse/formats', method: 'GET', handler: formatsHandler(keys) },
  };
  for (const [path, handler] of Object.entries(documentationHandlers(productVersion())))
    routes[path] = { label: path === '/openapi.json' ? path : '/docs', method: 'GET', handler };
  const operations: Record<string, Route> = Object.fromEntries(
    Object.entries(operationsHandlers(ready)).map(([path, handler]) => [
      path,
      { label: path as RouteLabel, method: 'GET' as const, handler },
    ]),
  );
  collectProcessMetrics();
  initGatewayMetrics();
  const endShowing = [sampleConnection(transport.bus), sampleQueues(transport.bus, QUEUE_NAMES)];

  const open = (table: Record<string, Route>): Server => {
    const app = createApp(table, log);
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      const context = openContext(request, response);
      setCommonHeaders(response, context.id);
      if (draining) response.setHeader('Connection', 'close');
      idle.requests++;
      response.once('close', () => {
        idle.requests--;
        idle.wake();
      });
      // RFC 9112, 3.2: such a request must be refused; node's own refusal has no body.
      const noHost = request.httpVersion === '1.1' && request.headers.host === undefined;
      observeRequest(request, response, log, () => {
        if (!noHost) return app(request, response);
        context.code = 'BAD_REQUEST';
        sendError(request, response, new ParseError('BAD_REQUEST', 'Bad Request: the request has no Host header'));
      });
    };
    return harden(
      createServer(
        { maxHeaderSize: REQUEST_LIMITS.headerBytes, connectionsCheckingInterval: 2_000, requireHostHeader: false },
        listener,
      ),
      listener,
    );
  };

  const separate = config.opsPort !== undefined;
  const server = open(separate ? routes : { ...routes, ...operations });
  const ops = separate ? open(operations) : undefined;
  const port = await listen(server, config.port, config.host);
  const opsPort = ops && config.opsPort !== undefined ? await listen(ops, config.opsPort, config.opsHost) : undefined;

  const close = (one: Server): Promise<void> => new Promise((resolve) => one.close(() => resolve()));
  return {
    url: address(config.host, port),
    port,
    opsUrl: opsPort === undefined ? undefined : address(config.opsHost, opsPort),
    firstKey: keys.firstKey,
    async drain() {
      draining = true;
      // A client that holds a connection open would lose what it sends at the moment of the end; it is told to go first.
      if (config.drainLingerMs > 0) await sleep(config.drainLingerMs);
      refusing = true;
      const closed = close(server);
      while (idle.requests > 0) {
        const woken = Promise.withResolvers<void>();
        idle.wake = woken.resolve;
        await woken.promise;
      }
      server.closeIdleConnections();
      server.closeAllConnections();
      await closed;
      if (ops) {
        ops.closeIdleConnections();
        await close(ops);
      }
      for (const end of endShowing) end();
      await keys.close();
    },
  };
}
