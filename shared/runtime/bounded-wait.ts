// Limits how long a request waits for the bus, so that neither the bus nor cleanup delays the response.

const CLEANUP_MS = 200;

/** Milliseconds that one bus operation may take after the deadline of a request. A connected bus needs a few; the response must be sent within 250 ms. */
export const AFTER_DEADLINE_MS = 50;

/** Resolves when `cleanup` settles or after `maxMs`; the cleanup itself continues. Never rejects. */
export async function waitForCleanup(cleanup: Promise<unknown>, maxMs = CLEANUP_MS): Promise<void> {
  await finishesBy(
    cleanup.catch(() => undefined),
    Date.now() + maxMs,
  );
}

/**
 * Waits until `work` is done or `deadline` (epoch milliseconds) passes; the work itself continues.
 * @returns whether the work was done in time
 * @throws the error of `work`, if it fails in time
 */
export async function finishesBy(work: Promise<unknown>, deadline: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), Math.max(0, deadline - Date.now()));
  // The work may fail after the deadline, when no caller handles its error.
  work.catch(() => undefined);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @returns the result of `work`
 * @throws the error that `late` creates, if `deadline` (epoch milliseconds) passes first; the work itself continues
 */
export async function withDeadline<T>(work: Promise<T>, deadline: number, late: () => Error): Promise<T> {
  if (await finishesBy(work, deadline)) return work;
  throw late();
}
