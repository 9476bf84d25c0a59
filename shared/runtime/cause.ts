// Says what may be known outside of an error that nobody foresaw; apart from the logger, so that an isolated process need not load one.

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
