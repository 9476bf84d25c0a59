// Charges credits: a request holds one credit while it runs, and is charged only if it succeeds.
import type { Patience, SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Key } from '../auth/keys.ts';

/** Ten years. The shared state deletes a value this long after its last write, and an account must never be deleted. */
const ACCOUNT_TTL_MS = 10 * 365 * 24 * 3_600_000;
/** A hold that is older than the longest request is void, because the gateway that made it has crashed. */
const HOLD_MS = REQUEST_LIMITS.timeoutMaxMs + REQUEST_LIMITS.uploadMaxMs;
const DOCUMENT_COST = 1;
const JSON_COST = 4;

/** Credits for one parse: 1 per document, 1 per PDF page, 4 for `json`. */
export function parseCost(parse: { pdfPages: number | undefined; json: boolean }): number {
  return DOCUMENT_COST + (parse.pdfPages ?? 0) + (parse.json ? JSON_COST : 0);
}

interface Account {
  used: number;
  /** One held credit for each running request. Maps the request id to the epoch milliseconds after which the hold is void. */
  holds: Record<string, number>;
}

function parseAccount(value: unknown): Account {
  return typeof value === 'object' && value !== null ? (value as Account) : { used: 0, holds: {} };
}

/** Adds a hold of one credit. Pure. @returns undefined if no credit is left */
export function addHold(account: Account, id: string, limit: number, now: number): Account | undefined {
  const live = Object.entries(account.holds).filter(([, expires]) => expires > now);
  if (account.used + live.length >= limit) return undefined;
  return { used: account.used, holds: Object.fromEntries([...live, [id, now + HOLD_MS]]) };
}

/** Removes a hold and charges `cost` credits (0 for a failed request). Pure. */
export function settleHold(account: Account, id: string, cost: number): Account {
  const { [id]: _, ...holds } = account.holds;
  return { used: account.used + cost, holds };
}

/** The credit that one running request holds. */
export interface CreditHold {
  /** Charges a successful request and removes the hold. */
  charge(cost: number): Promise<void>;
  /** Removes the hold without a charge. Has no effect after `charge`. */
  release(): Promise<void>;
}

const UNLIMITED: CreditHold = { charge: async () => undefined, release: async () => undefined };

const accountName = (keyId: string): string => `credits.${keyId}`;

/** Credits that a key has left, without those that running requests hold. @returns undefined for a key without a limit */
export async function remainingCredits(
  state: SharedState,
  key: Pick<Key, 'id' | 'credits'>,
): Promise<number | undefined> {
  if (key.credits === null) return undefined;
  const { used } = parseAccount(await state.get(accountName(key.id)));
  return Math.max(0, key.credits - used);
}

/**
 * Holds one credit of a key for a request.
 * @param requestId unique
 * @throws ParseError PAYMENT_REQUIRED if the key has no credit left
 */
export async function holdCredit(
  state: SharedState,
  key: Pick<Key, 'id' | 'credits'>,
  requestId: string,
  patience: Patience = {},
): Promise<CreditHold> {
  const limit = key.credits;
  if (limit === null) return UNLIMITED;
  const name = accountName(key.id);
  const held = await state.update(
    name,
    (current) => {
      const next = addHold(parseAccount(current), requestId, limit, state.now());
      return next ? { next, result: true } : { next: current, result: false };
    },
    { ttlMs: ACCOUNT_TTL_MS, ...patience },
  );
  if (!held) throw new ParseError('PAYMENT_REQUIRED');
  let settled = false;
  const settle = async (cost: number): Promise<void> => {
    if (settled) return;
    settled = true;
    await state.update(
      name,
      (current) => ({ next: settleHold(parseAccount(current), requestId, cost), result: undefined }),
      { ttlMs: ACCOUNT_TTL_MS, until: Date.now() + TRANSPORT_LIMITS.settleRetryMs },
    );
  };
  return { charge: settle, release: () => settle(0) };
}
