// What a key's plan says to a request before its body is read: a credit held, one request of the rate, and a queue with room.
import type { SharedState } from '#shared/bus/bus.ts';
import type { Key } from '../auth/keys.ts';
import type { Concurrency } from './concurrency.ts';
import { type CreditHold, claimCredit } from './credits.ts';
import { takeRate } from './rate.ts';

/**
 * Asks the shared state, which may take seconds where the bus is away.
 * @returns the credit that is held for the request; whoever gets it settles it
 * @throws ParseError PAYMENT_REQUIRED, RATE_LIMIT_EXCEEDED, CONCURRENCY_LIMIT_REACHED; BusUnavailableError. No credit is held then.
 */
export async function admit(
  { state, concurrency }: { state: SharedState; concurrency: Concurrency },
  key: Key,
  requestKey: string,
): Promise<CreditHold> {
  const credit = await claimCredit(state, key, requestKey);
  try {
    await takeRate(state, key.id, key.rate);
    await concurrency.check(key);
    return credit;
  } catch (error) {
    void credit.release().catch(() => undefined);
    throw error;
  }
}
