// Estimates when a team has a free slot or a free position in its queue, for the `Retry-After` of a request that is refused.
import { type Durations, longestDuration, momentsAbove, type RecentDurations } from './service-times.ts';
import { type Claim, liveClaims, type TeamClaims, type TeamLimits } from './slots.ts';

/** A freed slot may be taken this many milliseconds later, because another gateway looks for it only so often. */
const HANDOVER_MS = 100;
/** Standard deviations above the mean that a sum of durations rarely exceeds, also one of a few durations of a wide range. */
const DEVIATIONS = 3;

/** What is estimated from: the claims of a team, and how long its recent documents took. */
interface Situation {
  claims: TeamClaims;
  durations: RecentDurations;
  /** Epoch milliseconds. */
  now: number;
}

/** Epoch milliseconds. With 95 % probability the request has ended by then, and certainly at its deadline. */
function endOf({ deadline, work, since }: Claim, { durations, now }: Situation): number {
  const start = since ?? now;
  return Math.min(deadline, start + longestDuration(durations(work), now - start));
}

/**
 * Whether a new request would be refused now, and until when.
 * @returns undefined if it would be accepted, otherwise the epoch milliseconds by which the queue has a free position. One is free as soon as
 * a running document ends, which the next request in the queue replaces, and as soon as the deadline of a waiting request passes.
 */
export function queueFullUntil(situation: Situation, limits: TeamLimits): number | undefined {
  const claims = liveClaims(situation.claims, situation.now);
  const { held, waiting } = claims;
  const tooMany = held.length + waiting.length - limits.concurrency - limits.queue;
  if (held.length < limits.concurrency || waiting.length < limits.queue) return undefined;
  const ends = [...held.map((claim) => endOf(claim, situation)), ...waiting.map(({ deadline }) => deadline)];
  return nthSmallest(ends, tooMany) + (waiting.length > 0 ? HANDOVER_MS : 0);
}

/**
 * Epoch milliseconds by which a slot is free for a request that is last in the queue; `now` if one is free.
 * @param id request whose own claim does not count
 */
export function slotFreeAt(situation: Situation, limits: Pick<TeamLimits, 'concurrency'>, id: string): number {
  const { now } = situation;
  const { held, waiting } = liveClaims(situation.claims, now);
  const others = [...held, ...waiting].filter((claim) => claim.id !== id);
  // A slot is free when fewer requests than slots are left.
  const tooMany = others.length - limits.concurrency;
  if (tooMany < 0) return now;
  const byDeadline = nthSmallest(
    others.map(({ deadline }) => deadline),
    tooMany,
  );
  const isQueued = others.some(({ since }) => since === undefined);
  if (!isQueued)
    return nthSmallest(
      others.map((claim) => endOf(claim, situation)),
      tooMany,
    );
  // Until a slot is free, all slots work. So they cannot need longer than all the work that is left, divided by the slots.
  return Math.min(byDeadline, now + workLeft(others, situation) / limits.concurrency);
}

/** Milliseconds of work that these requests do not exceed together, with 95 % probability if they are like the recent ones. */
function workLeft(claims: readonly Claim[], situation: Situation): number {
  const { now } = situation;
  const durations = withRunning(claims, situation);
  const ofWaiting = new Map<string, ReturnType<typeof momentsAbove>>();
  const momentsOf = ({ work, since }: Claim): ReturnType<typeof momentsAbove> => {
    if (since !== undefined) return momentsAbove(situation.durations(work), now - since);
    if (!ofWaiting.has(work)) ofWaiting.set(work, momentsAbove(durations(work), 0));
    return ofWaiting.get(work);
  };
  let [longest, certain, mean, variance] = [0, 0, 0, 0];
  for (const claim of claims) {
    const handover = claim.since === undefined ? HANDOVER_MS : 0;
    const atMost = endOf(claim, situation) - now + handover;
    const moments = momentsOf(claim);
    longest += atMost;
    if (moments) {
      mean += moments.mean - (now - (claim.since ?? now)) + handover;
      variance += moments.variance;
    } else certain += atMost;
  }
  return Math.min(longest, certain + mean + DEVIATIONS * Math.sqrt(variance));
}

/** The recent durations, and those of the running documents. Without the latter, only short ones would be known at the start of a load. */
function withRunning(claims: readonly Claim[], situation: Situation): RecentDurations {
  const running = claims.flatMap((claim) => {
    if (claim.since === undefined) return [];
    const known = momentsAbove(situation.durations(claim.work), situation.now - claim.since);
    return [{ work: claim.work, duration: known?.mean ?? endOf(claim, situation) - claim.since }];
  });
  const all = new Map<string, Durations>();
  return (work) => {
    const durations =
      all.get(work) ??
      [
        ...situation.durations(work),
        ...running.filter((one) => one.work === work).map(({ duration }) => duration),
      ].sort((a, b) => a - b);
    all.set(work, durations);
    return durations;
  };
}

/** @param n from 0; at most the last one */
const nthSmallest = (values: number[], n: number): number =>
  values.sort((a, b) => a - b)[Math.min(n, values.length - 1)] ?? Number.POSITIVE_INFINITY;
