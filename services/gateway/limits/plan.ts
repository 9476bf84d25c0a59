// Checks a request against the plan of its key before the body is read: credits, then rate, then the concurrency queue.
import type { Patience, SharedState } from '#shared/bus/bus.ts';
import type { Key } from '../auth/keys.ts';
import type { ConcurrencyLimiter } from './concurrency.ts';
import { type CreditHold, holdCredit } from './credits.ts';
import { enforceRate } from './rate.ts';

/**
 * Runs the checks over the shared state. While the bus is not connected, they wait as long as `patience` says.
 * @param requestId unique
 * @returns the credit that the request holds; the caller charges or releases it
 * @throws ParseError PAYMENT_REQUIRED, RATE_LIMIT_EXCEEDED, CONCURRENCY_LIMIT_REACHED; BusUnavailableError. No credit is held then.
 */
export async function checkPlan(
  { state, concurrency }: { state: SharedState; concurrency: ConcurrencyLimiter },
  key: Key,
  requestId: string,
  patience: Patience,
): Promise<CreditHold> {
  const credit = await holdCredit(state, key, requestId, patience);
  try {
    await enforceRate(state, key.id, key.rate, patience);
    await concurrency.check(key, patience);
    return credit;
  } catch (error) {
    void credit.release().catch(() => undefined);
    throw error;
  }
}
