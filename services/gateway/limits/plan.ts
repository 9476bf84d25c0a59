// Checks a request against the plan of its key before the body is read: credits, then rate, then the concurrency queue.
import type { SharedState } from '#shared/bus/bus.ts';
import type { Key } from '../auth/keys.ts';
import type { ConcurrencyLimiter } from './concurrency.ts';
import { type CreditHold, holdCredit } from './credits.ts';
import { enforceRate } from './rate.ts';

/**
 * Runs the checks over the shared state, which may take seconds while the bus is not connected.
 * @param requestId unique
 * @returns the credit that the request holds; the caller charges or releases it
 * @throws ParseError PAYMENT_REQUIRED, RATE_LIMIT_EXCEEDED, CONCURRENCY_LIMIT_REACHED; BusUnavailableError. No credit is held then.
 */
export async function checkPlan(
  { state, concurrency }: { state: SharedState; concurrency: ConcurrencyLimiter },
  key: Key,
  requestId: string,
): Promise<CreditHold> {
  const credit = await holdCredit(state, key, requestId);
  try {
    await enforceRate(state, key.id, key.rate);
    await concurrency.check(key);
    return credit;
  } catch (error) {
    void credit.release().catch(() => undefined);
    throw error;
  }
}
