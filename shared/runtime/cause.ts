// Describes an unexpected error for the log without its message; separate from the logger, so that an isolated process does not load pino.

export interface LoggedCause {
  name: string;
  code?: string;
  frames: string[];
  cause?: LoggedCause;
}

/**
 * The parts of an error that may be logged: class, code and stack frames. The message is left out, because
 * the error messages of parsers often quote the document.
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
