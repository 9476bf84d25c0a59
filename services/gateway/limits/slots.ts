// Computes which requests of a team hold a concurrency slot, in pure functions, because a compare-and-set update may run them again.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';

/** A request that holds a slot or waits for one. */
export interface Claim {
  id: string;
  /** Epoch milliseconds on the clock of the shared state, as all times here. The claim is void after this unless it is renewed, because its gateway has crashed. */
  expires: number;
  /** Epoch milliseconds. The request is finished by then in any case. */
  deadline: number;
  /** What decides how long the document takes, for example `.pdf`. */
  work: string;
  /** Epoch milliseconds at which the request got its slot; absent while it waits. */
  since?: number;
}

export interface TeamClaims {
  held: Claim[];
  /** In order of arrival. */
  waiting: Claim[];
}

export const NO_CLAIMS: TeamClaims = { held: [], waiting: [] };

export interface TeamLimits {
  /** Number of slots. */
  concurrency: number;
  /** Number of requests that may wait for a slot. */
  queue: number;
}

export type ClaimResult =
  | { state: 'held' }
  | { state: 'waiting' }
  /** The request has no claim. `claims`: those of the other requests. */
  | { state: 'rejected'; claims: TeamClaims };

/** Removes claims that have expired or passed their deadline. */
export function liveClaims(claims: TeamClaims, now: number): TeamClaims {
  const isLive = (claim: Claim): boolean => claim.expires > now && claim.deadline > now;
  return { held: claims.held.filter(isLive), waiting: claims.waiting.filter(isLive) };
}

/** How many requests hold a slot, and how many wait for one. */
export function countClaims(current: TeamClaims, now: number): { held: number; waiting: number } {
  const { held, waiting } = liveClaims(current, now);
  return { held: held.length, waiting: waiting.length };
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
  const renewed = (list: Claim[]): Claim[] =>
    list.map((other) => (other.id === claim.id ? { ...claim, ...sinceOf(other) } : other));
  if (held.some((other) => other.id === claim.id))
    return { claims: { held: renewed(held), waiting }, result: { state: 'held' } };
  const hasRoom = held.length + waiting.length < TRANSPORT_LIMITS.teamRequests;
  const position = waiting.findIndex((other) => other.id === claim.id);
  const ahead = position === -1 ? waiting.length : position;
  if (held.length + ahead < limits.concurrency && (hasRoom || position !== -1))
    return {
      claims: { held: [...held, { ...claim, since: now }], waiting: waiting.filter((other) => other.id !== claim.id) },
      result: { state: 'held' },
    };
  if (position !== -1) return { claims: { held, waiting: renewed(waiting) }, result: { state: 'waiting' } };
  if (waiting.length < limits.queue && hasRoom)
    return { claims: { held, waiting: [...waiting, claim] }, result: { state: 'waiting' } };
  return { claims: { held, waiting }, result: { state: 'rejected', claims: { held, waiting } } };
}

const sinceOf = ({ since }: Claim): Pick<Claim, 'since'> => (since === undefined ? {} : { since });

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

/** How many requests are before each one, with a slot or waiting; 0 for one that has a slot. */
interface Places {
  byId: ReadonlyMap<string, number>;
  total: number;
}

const placesOf = new WeakMap<TeamClaims, Places>();

/**
 * How many requests must end before this one gets a slot: 0 if it has one, or may claim one now. A thousand waiting requests read the same
 * claims, so their places are computed once, with the time of the first call.
 */
export function requestsAhead(
  current: TeamClaims,
  limits: Pick<TeamLimits, 'concurrency'>,
  id: string,
  now: number,
): number {
  let places = placesOf.get(current);
  if (!places) {
    const { held, waiting } = liveClaims(current, now);
    const byId = new Map(waiting.map((claim, index) => [claim.id, held.length + index]));
    for (const claim of held) byId.set(claim.id, 0);
    places = { byId, total: held.length + waiting.length };
    placesOf.set(current, places);
  }
  // A request without a claim comes last.
  return Math.max(0, (places.byId.get(id) ?? places.total) - limits.concurrency + 1);
}
