// Lets scripts of other origins call the API from a browser (docs/api.md, "Cross-origin requests").
import cors from 'cors';
import type { RequestHandler } from 'express';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { Config } from '#shared/runtime/config.ts';

/** The paths that scripts of other origins may call. */
export const CROSS_ORIGIN_PATHS = '/v2';

/** Answers preflight requests, and adds the CORS headers to all other responses, errors too. Undefined if `CORS_ORIGINS` is empty. */
export function crossOriginMiddleware(origins: Config['corsOrigins']): RequestHandler | undefined {
  if (origins.length === 0) return undefined;
  const addHeaders = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Request-Id', 'Accept'],
    exposedHeaders: ['X-Request-Id', 'Retry-After', 'Server-Timing', 'X-Warning'],
    maxAge: REQUEST_LIMITS.preflightMaxAgeSeconds,
  });
  return (request, response, next) => {
    // The package takes each OPTIONS request for a preflight. One without this header is not, and is answered with 405.
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] === undefined) return next();
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    addHeaders(request, response, next);
  };
}
