// One JSON line an event, with the request id (and the trace's ids, where there are traces) and the cause, and never a word of a document.
import { destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';
import { traceFields } from './traces.ts';

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
      // A new object each time: pino adds the line's own fields to it, and the next line must not have them.
      mixin: () => ({ ...traceFields() }),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ fd: 1, sync: true }),
  );
}
