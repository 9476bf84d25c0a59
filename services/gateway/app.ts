// Routes requests to handlers, and answers everything else with a JSON error.
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { ParseError } from '#shared/contract/errors.ts';
import { AUDIT_LIMITS } from '#shared/contract/limits.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import type { RouteLabel } from '#shared/runtime/metrics.ts';
import { clientAddress } from './client-address.ts';
import { contextOf } from './context.ts';
import { CROSS_ORIGIN_PATHS, crossOriginMiddleware } from './cors.ts';
import { isCancelled, sendError, toParseError } from './responses/error.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface Route {
  /** Metric label. */
  label: RouteLabel;
  method: 'GET' | 'POST' | 'PUT';
  handler: Handler;
}

/** Routes by path. */
export type Routes = Readonly<Record<string, Route>>;

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
} as const;

/** Sets the headers that every response carries. */
export function setCommonHeaders(response: ServerResponse, requestId: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  response.setHeader('X-Request-Id', requestId);
}

export function createApp(
  routes: Routes,
  log: Logger,
  { corsOrigins, trustProxy }: Pick<Config, 'corsOrigins' | 'trustProxy'>,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  app.set('trust proxy', trustProxy);
  app.use(describeClient);
  const crossOrigin = crossOriginMiddleware(corsOrigins);
  if (crossOrigin) app.use(CROSS_ORIGIN_PATHS, crossOrigin);
  for (const [path, { label, method, handler }] of Object.entries(routes)) {
    const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
    app.all(path, async (request: Request, response: Response) => {
      contextOf(response).route = label;
      if (!allowed.includes(request.method)) {
        response.setHeader('Allow', allowed.join(', '));
        throw new ParseError('METHOD_NOT_ALLOWED', `Method Not Allowed: send a ${method} request to ${path}`);
      }
      await handler(request, response);
    });
  }
  app.use(() => {
    throw new ParseError('NOT_FOUND');
  });
  app.use(handleError(log));
  return app;
}

/** Notes who sent the request, for audit events. */
function describeClient(request: Request, response: Response, next: NextFunction): void {
  const context = contextOf(response);
  const address = clientAddress(request);
  const userAgent = request.headers['user-agent']?.slice(0, AUDIT_LIMITS.userAgentLength);
  if (address !== undefined) context.address = address;
  if (userAgent !== undefined) context.userAgent = userAgent;
  next();
}

/** Sends the error response for an error of a handler, and logs its cause, which the client does not see. */
function handleError(log: Logger): (error: unknown, request: Request, response: Response, next: NextFunction) => void {
  return (error, request, response, _next) => {
    const context = contextOf(response);
    if (isCancelled(error)) {
      context.code = 'CANCELLED';
      response.destroy();
      return;
    }
    const known = toParseError(error);
    context.code = known.code;
    const line = { requestId: context.id, code: known.code, cause: describeCause(known.cause ?? known) };
    if (known.status >= 500) log.error(line, 'request failed');
    else log.debug(line, 'request rejected');
    sendError(request, response, known);
  };
}
