// Creates the logger: one JSON line for each event, with request id, trace ids and cause, but without document content or credentials.
import { destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';
import { traceFields } from './traces.ts';

export type Logger = PinoLogger;

/** A logger to standard output that removes credentials from every line. */
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
      // Return a new object each time: pino adds the fields of the line to it, and the next line must not contain them.
      mixin: () => ({ ...traceFields() }),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ fd: 1, sync: true }),
  );
}
