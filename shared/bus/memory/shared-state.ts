// Implements SharedState within one process: a map whose values expire.
import type { SharedState } from '../bus.ts';

interface Value {
  /** Stored as JSON, so that no caller can modify the stored value. */
  json: string;
  /** Epoch milliseconds. */
  expires: number;
}

const SWEEP_MS = 30_000;

/** A SharedState in the memory of this process. */
export function createMemorySharedState(): SharedState {
  const values = new Map<string, Value>();
  const sweep = setInterval(() => {
    const now = Date.now();
    for (const [key, value] of values) if (value.expires <= now) values.delete(key);
  }, SWEEP_MS);
  sweep.unref();

  const read = (key: string): unknown => {
    const value = values.get(key);
    if (!value || value.expires <= Date.now()) return undefined;
    return JSON.parse(value.json);
  };

  return {
    async get(key) {
      return read(key);
    },
    // There is no `await` between read and write, so no other update can run in between.
    async update(key, change, { ttlMs }) {
      const current = read(key);
      const { next, result } = change(current);
      if (next === undefined) values.delete(key);
      else if (next !== current) values.set(key, { json: JSON.stringify(next), expires: Date.now() + ttlMs });
      return result;
    },
    now: () => Date.now(),
    async close() {
      clearInterval(sweep);
      values.clear();
    },
  };
}
