// One JSON line an event, with the request id and the cause, and never a word of a document.
import { destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';

export type Logger = PinoLogger;

/** A logger to standard output that leaves out credentials wherever they stand. */
export function createLogger(config: Pick<Config, 'logLevel'>, service: string): Logger {
  return pino(
    {
      level: config.logLevel,
      base: { service, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: [
        'authorization',
        '*.authorization',
        'headers.authorization',
        'req.headers.authorization',
        'apiKey',
        '*.apiKey',
      ],
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ fd: 1, sync: true }),
  );
}

export interface LoggedCause {
  name: string;
  code?: string;
  frames: string[];
  cause?: LoggedCause;
}

/**
 * What a log may hold of an error: its class, its code and where it was thrown. Messages are left out, because parsers
 * quote the text they fail on.
 */
export function describeCause(error: unknown, depth = 0): LoggedCause {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] };
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
      ? String(error.code)
      : undefined;
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    frames,
    ...(error.cause !== undefined && depth < 3 ? { cause: describeCause(error.cause, depth + 1) } : {}),
  };
}
