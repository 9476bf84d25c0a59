// The HTTP surface: every known path with its methods, and one JSON answer for everything else.
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { ParseError } from '#shared/contract/errors.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Logger } from '#shared/runtime/log.ts';
import type { RouteLabel } from '#shared/runtime/metrics.ts';
import { isCancelled, sendError, toParseError } from './answer.ts';
import { contextOf } from './context.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** One path: its metric label and the method that it knows. */
export interface Route {
  label: RouteLabel;
  method: 'GET' | 'POST';
  handler: Handler;
}

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
} as const;

/** Headers that every answer carries. */
export function setCommonHeaders(response: ServerResponse, requestId: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  response.setHeader('X-Request-Id', requestId);
}

/** Answers what a handler threw, and logs what the caller is not told. */
function answerError(log: Logger): (error: unknown, request: Request, response: Response, next: NextFunction) => void {
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
    if (known.status >= 500) log.error(line, 'a request failed');
    else log.debug(line, 'a request was refused');
    sendError(request, response, known);
  };
}

/** @param routes handlers by path */
export function createApp(routes: Readonly<Record<string, Route>>, log: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  for (const [path, { label, method, handler }] of Object.entries(routes)) {
    const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
    app.all(path, async (request: Request, response: Response) => {
      contextOf(response).route = label;
      if (!allowed.includes(request.method)) {
        response.setHeader('Allow', allowed.join(', '));
        throw new ParseError('METHOD_NOT_ALLOWED', `Method Not Allowed: ${path} takes ${method}`);
      }
      await handler(request, response);
    });
  }
  app.use(() => {
    throw new ParseError('NOT_FOUND');
  });
  app.use(answerError(log));
  return app;
}
