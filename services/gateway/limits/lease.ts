// The arithmetic of a team's concurrency: places held under leases, and a first-come-first-served queue for them. Pure, so that compare-and-set may run it again.

/** A request that holds a place or waits for one. */
export interface Claim {
  id: string;
  /** Epoch milliseconds after which the claim is void unless renewed: its gateway is dead. */
  expires: number;
  /** Epoch milliseconds by which the request is surely over. */
  deadline: number;
}

export interface TeamClaims {
  held: Claim[];
  /** In the order of arrival. */
  waiting: Claim[];
}

export const NO_CLAIMS: TeamClaims = { held: [], waiting: [] };

export interface TeamLimits {
  concurrency: number;
  queue: number;
}

export type ClaimVerdict =
  | { state: 'held' }
  | { state: 'waiting' }
  /** Nothing is kept of the request. `freeAt`: epoch milliseconds by which a place in the queue is surely free. */
  | { state: 'refused'; freeAt: number };

/** Drops what nobody renewed and what must be over. */
function live(claims: TeamClaims, now: number): TeamClaims {
  const lives = (claim: Claim): boolean => claim.expires > now && claim.deadline > now;
  return { held: claims.held.filter(lives), waiting: claims.waiting.filter(lives) };
}

/** When the first of these claims is surely over, epoch milliseconds. */
function firstEnd(claims: readonly Claim[]): number {
  return claims.reduce((earliest, claim) => Math.min(earliest, claim.deadline), Number.POSITIVE_INFINITY);
}

/**
 * Asks for a place, or asks again (which renews the claim): held where one is free and nobody came before, else
 * waiting where the queue has room, else refused.
 */
export function claimPlace(
  current: TeamClaims,
  claim: Claim,
  limits: TeamLimits,
  now: number,
): { claims: TeamClaims; verdict: ClaimVerdict } {
  const { held, waiting } = live(current, now);
  const renewed = (list: Claim[]): Claim[] => list.map((one) => (one.id === claim.id ? claim : one));
  if (held.some((one) => one.id === claim.id))
    return { claims: { held: renewed(held), waiting }, verdict: { state: 'held' } };
  const known = waiting.findIndex((one) => one.id === claim.id);
  const ahead = known === -1 ? waiting.length : known;
  if (held.length + ahead < limits.concurrency)
    return {
      claims: { held: [...held, claim], waiting: waiting.filter((one) => one.id !== claim.id) },
      verdict: { state: 'held' },
    };
  if (known !== -1) return { claims: { held, waiting: renewed(waiting) }, verdict: { state: 'waiting' } };
  if (waiting.length < limits.queue)
    return { claims: { held, waiting: [...waiting, claim] }, verdict: { state: 'waiting' } };
  return { claims: { held, waiting }, verdict: { state: 'refused', freeAt: firstEnd([...held, ...waiting]) } };
}

/**
 * Keeps a held place alive. A place that was lost (the bus came back without it, or away for longer than the lease) is
 * taken again even past the limit, because its document is at work: only so do newcomers wait for it.
 */
export function renewPlace(current: TeamClaims, claim: Claim): TeamClaims {
  return { ...current, held: [...current.held.filter((one) => one.id !== claim.id), claim] };
}

/** Gives up a place, held or waited for. */
export function leavePlace(current: TeamClaims, id: string): TeamClaims {
  const others = (claim: Claim): boolean => claim.id !== id;
  return { held: current.held.filter(others), waiting: current.waiting.filter(others) };
}

/** When a newcomer would be refused now, the moment a place is surely free; else undefined. */
export function fullUntil(current: TeamClaims, limits: TeamLimits, now: number): number | undefined {
  const { held, waiting } = live(current, now);
  const full = held.length >= limits.concurrency && waiting.length >= limits.queue;
  return full ? firstEnd([...held, ...waiting]) : undefined;
}

/**
 * When a place is surely free for a request that came after all the others, epoch milliseconds; `now` where one is. Those who
 * wait have deadlines too, so enough of all that live must be over by then.
 * @param id whose own claim does not count
 */
export function placeFreeAt(
  current: TeamClaims,
  limits: Pick<TeamLimits, 'concurrency'>,
  id: string,
  now: number,
): number {
  const { held, waiting } = live(current, now);
  const ends = [...held, ...waiting].filter((claim) => claim.id !== id).map((claim) => claim.deadline);
  ends.sort((a, b) => a - b);
  return ends[ends.length - limits.concurrency] ?? now;
}
