// Waits for conditions in tests and provides a fake clock, so that no test depends on the speed of the machine.
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Real time after which a test fails if its condition is still false. */
const GIVE_UP_MS = 60_000;
const POLL_MS = 5;
const STEP_MS = 50;

// A fake clock replaces the global functions, so keep the real ones.
const realSetTimeout = globalThis.setTimeout;

/** Resolves when the condition is true. GIVE_UP_MS only ends a test that would never finish. */
export async function until(condition: () => boolean | Promise<boolean>, what = String(condition)): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    assert.ok(performance.now() - start < GIVE_UP_MS, `still not true: ${what}`);
    await new Promise((resolve) => realSetTimeout(resolve, POLL_MS));
  }
}

/** Returns the result of a promise. Unlike a plain `await`, it fails instead of hanging, even while the clock is fake. */
export async function resultOf<T>(promise: Promise<T>, what: string): Promise<T> {
  let settled = false;
  const onSettled = (): void => {
    settled = true;
  };
  promise.then(onSettled, onSettled);
  await until(() => settled, what);
  return promise;
}

interface FakeClock {
  /** Moves the time forward in small steps. Pending promises run before and after each step. */
  advance(ms: number): Promise<void>;
  /** Brings the real clock back before the test ends. */
  restore(): void;
}

/**
 * Replaces `setTimeout` and `Date` of this process until the test ends. Time passes only in `advance`. Network I/O works as usual.
 * @param intervals also replace `setInterval`
 */
export function useFakeClock(t: TestContext, { intervals = false } = {}): FakeClock {
  const { timers } = t.mock;
  timers.enable({ apis: ['setTimeout', 'Date', ...(intervals ? (['setInterval'] as const) : [])], now: Date.now() });
  // Modules that import `node:timers/promises` see the replacement only after this call.
  syncBuiltinESMExports();
  const restore = (): void => {
    timers.reset();
    syncBuiltinESMExports();
  };
  t.after(restore);
  return {
    async advance(ms) {
      await new Promise((resolve) => setImmediate(resolve));
      for (let left = ms; left > 0; left -= STEP_MS) {
        timers.tick(Math.min(STEP_MS, left));
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    restore,
  };
}
