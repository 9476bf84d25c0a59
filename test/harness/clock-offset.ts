// Starts a process whose clock is wrong by a number of seconds, so that tests show what happens on nodes without time synchronization.

/** The variable that `offset-clock.ts` reads: milliseconds that are added to the time of day. */
export const CLOCK_OFFSET_VARIABLE = 'CLOCK_OFFSET_MS';

/** Environment variables for a Node process, and for the Node processes that it starts. @param seconds positive: the clock is ahead */
export function clockOffset(seconds: number): Record<string, string> {
  if (seconds === 0) return {};
  return {
    NODE_OPTIONS: `--import=${new URL('./offset-clock.ts', import.meta.url).href}`,
    [CLOCK_OFFSET_VARIABLE]: String(seconds * 1_000),
  };
}
