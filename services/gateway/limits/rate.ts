// The request rate of a key: GCRA, one number per key, the same for one gateway and for ten.
import type { SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';

const WINDOW_MS = 60_000;
/** Rounding of doubles must not refuse a caller who waited to the millisecond. */
const TOLERANCE_MS = 0.001;

export interface RateVerdict {
  allowed: boolean;
  /** The theoretical arrival time to keep, epoch milliseconds; unchanged by a refusal. */
  arrival: number;
  /** Milliseconds until a request would be let in; 0 where this one was. */
  waitMs: number;
}

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A; virtual scheduling): a minute's worth of requests may come at
 * once, then one every 60 s / perMinute.
 * @param arrival what the last verdict gave, epoch milliseconds; undefined for a key never seen
 */
export function judgeRate(arrival: number | undefined, now: number, perMinute: number): RateVerdict {
  const current = Math.max(arrival ?? now, now);
  const next = current + WINDOW_MS / perMinute;
  const waitMs = next - WINDOW_MS - now;
  return waitMs <= TOLERANCE_MS
    ? { allowed: true, arrival: next, waitMs: 0 }
    : { allowed: false, arrival: current, waitMs };
}

/** Whole seconds for `Retry-After`: at least 1, and never sooner than true. */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil((milliseconds - TOLERANCE_MS) / 1_000));
}

/**
 * Counts one request against a key's rate.
 * @throws ParseError RATE_LIMIT_EXCEEDED with the seconds after which the next one is let in
 */
export async function takeRate(state: SharedState, keyId: string, perMinute: number): Promise<void> {
  const now = Date.now();
  const verdict = await state.update(
    `rate.${keyId}`,
    (current) => {
      const judged = judgeRate(typeof current === 'number' ? current : undefined, now, perMinute);
      return { next: judged.allowed ? judged.arrival : current, result: judged };
    },
    { ttlMs: 2 * WINDOW_MS },
  );
  if (verdict.allowed) return;
  const retryAfterSeconds = wholeSeconds(verdict.waitMs);
  throw new ParseError(
    'RATE_LIMIT_EXCEEDED',
    `Rate limit exceeded: this API key may send ${perMinute} requests a minute. Please wait ${retryAfterSeconds} s and send the request again.`,
    { retryAfterSeconds },
  );
}
