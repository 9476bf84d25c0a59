// Computes which requests of a team hold a concurrency slot, in pure functions, because a compare-and-set update may run them again.

/** A request that holds a slot or waits for one. */
export interface Claim {
  id: string;
  /** Epoch milliseconds. The claim is void after this unless it is renewed, because its gateway has crashed. */
  expires: number;
  /** Epoch milliseconds. The request is finished by then in any case. */
  deadline: number;
}

export interface TeamClaims {
  held: Claim[];
  /** In order of arrival. */
  waiting: Claim[];
}

export const NO_CLAIMS: TeamClaims = { held: [], waiting: [] };

interface TeamLimits {
  /** Number of slots. */
  concurrency: number;
  /** Number of requests that may wait for a slot. */
  queue: number;
}

export type ClaimResult =
  | { state: 'held' }
  | { state: 'waiting' }
  /** The request has no claim. `freeAt`: epoch milliseconds by which the queue has a free position. */
  | { state: 'rejected'; freeAt: number };

/** Removes claims that have expired or passed their deadline. */
function liveClaims(claims: TeamClaims, now: number): TeamClaims {
  const isLive = (claim: Claim): boolean => claim.expires > now && claim.deadline > now;
  return { held: claims.held.filter(isLive), waiting: claims.waiting.filter(isLive) };
}

/** How many requests hold a slot, and how many wait for one. */
export function countClaims(current: TeamClaims, now: number): { held: number; waiting: number } {
  const { held, waiting } = liveClaims(current, now);
  return { held: held.length, waiting: waiting.length };
}

/** The earliest deadline, epoch milliseconds. */
function earliestDeadline(claims: readonly Claim[]): number {
  return claims.reduce((earliest, claim) => Math.min(earliest, claim.deadline), Number.POSITIVE_INFINITY);
}

/**
 * Claims a slot, or renews the claim of a request that has one. The result is `held` if a slot is free and no earlier
 * request waits for it, `waiting` if the queue has a free position, otherwise `rejected`.
 */
export function claimSlot(
  current: TeamClaims,
  claim: Claim,
  limits: TeamLimits,
  now: number,
): { claims: TeamClaims; result: ClaimResult } {
  const { held, waiting } = liveClaims(current, now);
  const renewed = (list: Claim[]): Claim[] => list.map((other) => (other.id === claim.id ? claim : other));
  if (held.some((other) => other.id === claim.id))
    return { claims: { held: renewed(held), waiting }, result: { state: 'held' } };
  const position = waiting.findIndex((other) => other.id === claim.id);
  const ahead = position === -1 ? waiting.length : position;
  if (held.length + ahead < limits.concurrency)
    return {
      claims: { held: [...held, claim], waiting: waiting.filter((other) => other.id !== claim.id) },
      result: { state: 'held' },
    };
  if (position !== -1) return { claims: { held, waiting: renewed(waiting) }, result: { state: 'waiting' } };
  if (waiting.length < limits.queue)
    return { claims: { held, waiting: [...waiting, claim] }, result: { state: 'waiting' } };
  return { claims: { held, waiting }, result: { state: 'rejected', freeAt: earliestDeadline([...held, ...waiting]) } };
}

/**
 * Renews a held slot. If the slot was lost (the bus lost its state, or was not connected for longer than the lease), it
 * is claimed again even above the limit: its document is being processed, so new requests must count it.
 */
export function renewSlot(current: TeamClaims, claim: Claim): TeamClaims {
  return { ...current, held: [...current.held.filter((other) => other.id !== claim.id), claim] };
}

/** Removes a claim, held or waiting. */
export function releaseSlot(current: TeamClaims, id: string): TeamClaims {
  const isOther = (claim: Claim): boolean => claim.id !== id;
  return { held: current.held.filter(isOther), waiting: current.waiting.filter(isOther) };
}

/** Returns undefined if a new request would be accepted now, otherwise the epoch milliseconds by which a slot or a queue position is free. */
export function queueFullUntil(current: TeamClaims, limits: TeamLimits, now: number): number | undefined {
  const { held, waiting } = liveClaims(current, now);
  const full = held.length >= limits.concurrency && waiting.length >= limits.queue;
  return full ? earliestDeadline([...held, ...waiting]) : undefined;
}

/**
 * Returns the epoch milliseconds by which a slot is free for a request that is last in the queue; `now` if one is free.
 * Each claim, held or waiting, ends at its deadline at the latest. A slot is free when fewer claims than slots are left.
 * @param id request whose own claim does not count
 */
export function slotFreeAt(
  current: TeamClaims,
  limits: Pick<TeamLimits, 'concurrency'>,
  id: string,
  now: number,
): number {
  const { held, waiting } = liveClaims(current, now);
  const ends = [...held, ...waiting].filter((claim) => claim.id !== id).map((claim) => claim.deadline);
  ends.sort((a, b) => a - b);
  return ends[ends.length - limits.concurrency] ?? now;
}
