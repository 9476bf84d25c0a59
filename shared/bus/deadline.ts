// Converts a deadline into a delay that `setTimeout` accepts, and the patience of an operation into a deadline.
import type { Patience } from './bus.ts';

/** The longest delay that `setTimeout` accepts. A longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Milliseconds until `deadline` (epoch milliseconds), at least 0 and at most the longest delay of `setTimeout`. */
export function msUntil(deadline: number): number {
  return Math.max(0, Math.min(deadline - Date.now(), MAX_TIMEOUT_MS));
}

/** When an operation stops waiting for the bus: epoch milliseconds. @param byDefault applies if it has no `Patience` */
export function endOfPatience({ until, signal }: Patience, byDefault: number): number {
  return until ?? (signal ? Number.POSITIVE_INFINITY : byDefault);
}
