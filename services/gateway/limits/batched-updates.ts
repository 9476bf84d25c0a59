// Makes one update of the shared state from the changes of many requests, because each update reads and writes the claims of a whole team.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SharedState } from '#shared/bus/bus.ts';

type Update = SharedState['update'];
type Options = Parameters<Update>[2];

/** A change that waits for the update before it. */
interface Change {
  // The type of the result is known to the caller of `update` only.
  change: (current: unknown) => { next: unknown; result: unknown };
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  options: Options;
}

/** Changes in one update. Each costs time in proportion to the size of the value. */
const MAX_CHANGES = 100;

export class BatchedUpdates {
  readonly #state: Pick<SharedState, 'update'>;
  /** By key: the changes that wait while an update of the key runs. */
  readonly #waiting = new Map<string, Change[]>();

  constructor(state: Pick<SharedState, 'update'>) {
    this.#state = state;
  }

  /**
   * As `SharedState.update`. The changes of one key are made in the order of the calls, also within one update. While the bus is unavailable, an
   * update waits as long as the most patient of its callers. A change may still be made after its caller's signal has aborted.
   */
  update<T>(key: string, change: (current: unknown) => { next: unknown; result: T }, options: Options): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { signal } = options;
      const onAbort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const entry: Change = {
        change,
        options,
        resolve: (result) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(result as T);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      const waiting = this.#waiting.get(key);
      if (waiting) {
        waiting.push(entry);
        return;
      }
      const changes = [entry];
      this.#waiting.set(key, changes);
      void this.#run(key, changes);
    });
  }

  async #run(key: string, changes: Change[]): Promise<void> {
    while (changes.length > 0) {
      const batch = changes.splice(0, MAX_CHANGES);
      try {
        const results = await this.#state.update(key, (current) => applyAll(batch, current), optionsOf(batch));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      // The state in memory answers in the same turn of the event loop. Others must have their turn too.
      if (changes.length > 0) await nextTurn();
    }
    this.#waiting.delete(key);
  }
}

/** The options of an update with these changes. */
function optionsOf(batch: readonly Change[]): Options {
  const ends = batch.flatMap(({ options: { until } }) => (until === undefined ? [] : [until]));
  const ttlMs = Math.max(...batch.map(({ options }) => options.ttlMs));
  return ends.length === 0 ? { ttlMs } : { ttlMs, until: Math.max(...ends) };
}

function applyAll(batch: readonly Change[], current: unknown): { next: unknown; result: unknown[] } {
  let value = current;
  const results = batch.map(({ change }) => {
    const { next, result } = change(value);
    value = next;
    return result;
  });
  return { next: value, result: results };
}
