// Stops code that takes too long, also inside a regular expression, without the end of its process.
import { types } from 'node:util';
import { createContext, Script } from 'node:vm';

/** The code did not end within its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

const call = new Script('work()');

/**
 * Runs synchronous code. V8 stops it at the limit, which its `vm` module offers for scripts only, so a script calls the code.
 * @param limitMs wall time
 * @throws TimeLimitError; any error of `work`
 */
export function withinTimeLimit<T>(limitMs: number, work: () => T): T {
  try {
    return call.runInContext(createContext({ work }), { timeout: limitMs }) as T;
  } catch (error) {
    // The error is one of the other context, so `instanceof` does not recognize it.
    if (types.isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new TimeLimitError(`not finished after ${limitMs} ms`, { cause: error });
    throw error;
  }
}
