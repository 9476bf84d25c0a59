// Limits the request rate of an API key with GCRA, which needs one number per key in the shared state.
import type { Patience, SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';

const WINDOW_MS = 60_000;
/** Tolerates floating-point rounding, so that a caller who waits exactly as long as required is accepted. */
const TOLERANCE_MS = 0.001;

interface RateResult {
  allowed: boolean;
  /** The theoretical arrival time to store, epoch milliseconds. A rejected request does not change it. */
  arrival: number;
  /** Milliseconds until a request is allowed; 0 if this one is. */
  waitMs: number;
}

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling). It allows a burst of one minute's requests,
 * then one request every 60 s / perMinute.
 * @param arrival the stored theoretical arrival time, epoch milliseconds; undefined for the first request of a key
 */
export function checkRate(arrival: number | undefined, now: number, perMinute: number): RateResult {
  const current = Math.max(arrival ?? now, now);
  const next = current + WINDOW_MS / perMinute;
  const waitMs = next - WINDOW_MS - now;
  return waitMs <= TOLERANCE_MS
    ? { allowed: true, arrival: next, waitMs: 0 }
    : { allowed: false, arrival: current, waitMs };
}

/** Whole seconds for `Retry-After`: rounded up, and at least 1. */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil((milliseconds - TOLERANCE_MS) / 1_000));
}

/**
 * Counts one request against the rate of a key.
 * @throws ParseError RATE_LIMIT_EXCEEDED with the seconds after which the next request is allowed
 */
export async function enforceRate(
  state: SharedState,
  keyId: string,
  perMinute: number,
  patience: Patience = {},
): Promise<void> {
  const result = await state.update(
    `rate.${keyId}`,
    (current) => {
      const checked = checkRate(typeof current === 'number' ? current : undefined, state.now(), perMinute);
      return { next: checked.allowed ? checked.arrival : current, result: checked };
    },
    { ttlMs: 2 * WINDOW_MS, ...patience },
  );
  if (result.allowed) return;
  const retryAfterSeconds = wholeSeconds(result.waitMs);
  throw new ParseError(
    'RATE_LIMIT_EXCEEDED',
    `Rate limit exceeded: this API key may send ${perMinute} ${perMinute === 1 ? 'request' : 'requests'} per minute. Please wait ${retryAfterSeconds} s and send the request again.`,
    { retryAfterSeconds },
  );
}
