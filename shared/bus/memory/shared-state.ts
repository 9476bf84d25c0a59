// Shared numbers of a deployment that is one process: a map whose values grow old.
import type { SharedState } from '../bus.ts';

interface Value {
  /** Kept as JSON, so that no caller holds a reference into the store. */
  json: string;
  /** Epoch milliseconds. */
  expires: number;
}

const SWEEP_MS = 30_000;

/** A SharedState in this process's memory. */
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
    // Nothing awaits between read and write, so no other writer can come between.
    async update(key, change, { ttlMs }) {
      const current = read(key);
      const { next, result } = change(current);
      if (next === undefined) values.delete(key);
      else if (next !== current) values.set(key, { json: JSON.stringify(next), expires: Date.now() + ttlMs });
      return result;
    },
    async close() {
      clearInterval(sweep);
      values.clear();
    },
  };
}
