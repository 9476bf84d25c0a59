// Converts a deadline into a delay that `setTimeout` accepts.

/** The longest delay that `setTimeout` accepts. A longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Milliseconds until `deadline` (epoch milliseconds), at least 0 and at most the longest delay of `setTimeout`. */
export function msUntil(deadline: number): number {
  return Math.max(0, Math.min(deadline - Date.now(), MAX_TIMEOUT_MS));
}
