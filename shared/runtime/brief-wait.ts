// Lets an answer wait for the tidying behind it only briefly: a bus that is away must not hold back what the caller is owed.

const PATIENCE_MS = 200;

/** Resolves when `tidying` has ended in whatever way, or after a moment; the rest of it goes on unheard. Never rejects. */
export async function waitBriefly(tidying: Promise<unknown>): Promise<void> {
  const moment = Promise.withResolvers<void>();
  const timer = setTimeout(moment.resolve, PATIENCE_MS);
  await Promise.race([tidying.catch(() => undefined), moment.promise]);
  clearTimeout(timer);
}
