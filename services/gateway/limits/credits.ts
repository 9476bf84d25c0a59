// What a parse costs, and the account of keys that have a number of credits: held while a document is worked on, charged only when it succeeds.
import type { SharedState } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { Key } from '../auth/keys.ts';

/** Credits are an account, not a cache: the value outlives any pause. */
const ACCOUNT_TTL_MS = 10 * 365 * 24 * 3_600_000;
/** A hold whose gateway died comes back after the longest time a request may take. */
const HOLD_MS = REQUEST_LIMITS.timeoutMaxMs + REQUEST_LIMITS.uploadMaxMs;
const JSON_COST = 4;

/** DECISIONS "Errors": 1 a document, and 1 a page for PDF; +4 for json. */
export function parseCost(parse: { pdfPages: number | undefined; json: boolean }): number {
  return 1 + (parse.pdfPages ?? 0) + (parse.json ? JSON_COST : 0);
}

export interface Account {
  used: number;
  /** One credit each for requests under way, by request, with the epoch milliseconds after which the hold is void. */
  holds: Record<string, number>;
}

function readAccount(value: unknown): Account {
  return typeof value === 'object' && value !== null ? (value as Account) : { used: 0, holds: {} };
}

/** Puts one credit aside, or gives undefined where none is left. Pure. */
export function holdCredit(account: Account, id: string, limit: number, now: number): Account | undefined {
  const live = Object.entries(account.holds).filter(([, until]) => until > now);
  if (account.used + live.length >= limit) return undefined;
  return { used: account.used, holds: Object.fromEntries([...live, [id, now + HOLD_MS]]) };
}

/** Gives a hold back and charges what the request cost (0 where it failed). Pure. */
export function settleCredit(account: Account, id: string, cost: number): Account {
  const { [id]: _, ...holds } = account.holds;
  return { used: account.used + cost, holds };
}

/** One request's claim on its key's credits. */
export interface CreditHold {
  /** Charges a success. */
  charge(cost: number): Promise<void>;
  /** Gives the hold back where nothing was charged; fine to call always. */
  release(): Promise<void>;
}

const UNLIMITED: CreditHold = { charge: async () => undefined, release: async () => undefined };

/**
 * Claims a credit for a request.
 * @throws ParseError PAYMENT_REQUIRED where the key has none left
 */
export async function claimCredit(
  state: SharedState,
  key: Pick<Key, 'id' | 'credits'>,
  requestKey: string,
): Promise<CreditHold> {
  const limit = key.credits;
  if (limit === null) return UNLIMITED;
  const name = `credits.${key.id}`;
  const now = Date.now();
  const held = await state.update(
    name,
    (current) => {
      const next = holdCredit(readAccount(current), requestKey, limit, now);
      return next ? { next, result: true } : { next: current, result: false };
    },
    { ttlMs: ACCOUNT_TTL_MS },
  );
  if (!held) throw new ParseError('PAYMENT_REQUIRED');
  let settled = false;
  const settle = async (cost: number): Promise<void> => {
    if (settled) return;
    settled = true;
    await state.update(
      name,
      (current) => ({ next: settleCredit(readAccount(current), requestKey, cost), result: undefined }),
      {
        ttlMs: ACCOUNT_TTL_MS,
      },
    );
  };
  return { charge: settle, release: () => settle(0) };
}
