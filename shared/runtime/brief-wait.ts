// Bounds waits: a bus that is away must hold back what a caller is owed neither past its deadline nor for mere tidying.

const PATIENCE_MS = 200;

/** What may still be waited for once a request's time is up: its answer is owed within 250 ms, and a bus that works takes a few. */
export const LATE_PATIENCE_MS = 50;

/** Resolves when `tidying` has ended in whatever way, or after a moment; the rest of it goes on unheard. Never rejects. */
export async function waitBriefly(tidying: Promise<unknown>, patienceMs = PATIENCE_MS): Promise<void> {
  await waitUntil(
    tidying.catch(() => undefined),
    Date.now() + patienceMs,
  );
}

/**
 * Resolves when `work` is done or `until` (epoch milliseconds) comes; the rest of it goes on unheard.
 * @returns whether it was done
 * @throws what `work` throws by then
 */
export async function waitUntil(work: Promise<unknown>, until: number): Promise<boolean> {
  const moment = Promise.withResolvers<false>();
  const timer = setTimeout(() => moment.resolve(false), Math.max(0, until - Date.now()));
  // What it throws later is nobody's any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work.then(() => true), moment.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What `work` gives.
 * @throws what `late` makes once `until` (epoch milliseconds) comes first; the rest of the work goes on unheard
 */
export async function orLate<T>(work: Promise<T>, until: number, late: () => Error): Promise<T> {
  if (await waitUntil(work, until)) return work;
  throw late();
}
