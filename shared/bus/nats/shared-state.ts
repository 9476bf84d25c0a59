// Implements SharedState on NATS KV buckets: values with a short time to live are in memory, the others on disk.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { BusUnavailableError, type Patience, type SharedState, StoreFullError } from '../bus.ts';
import { endOfPatience } from '../deadline.ts';
import type { BusConnection } from './connection.ts';
import { type Durability, isFull, STATE_BUCKETS, stateStream } from './topology.ts';

interface StoredValue {
  value: unknown;
  /** Epoch milliseconds on the server's clock. */
  expires: number;
  /** Identifies the update that wrote the value. With it, an update recognizes its own write if the acknowledgement was lost. */
  writer: string;
}

interface Entry {
  stored: StoredValue | undefined;
  /** Sequence number of the key's last message; 0 if there is no message. */
  revision: number;
}

/** When an operation stops waiting for the bus. */
interface End {
  /** Epoch milliseconds. */
  until: number;
  signal: AbortSignal | undefined;
}

type Change<T> = (current: unknown) => { next: unknown; result: T };

const CONFLICT_DELAY_BASE_MS = 1;
const CONFLICT_DELAY_MAX_MS = 60;
const FAULT_DELAY_BASE_MS = 20;
const FAULT_DELAY_MAX_MS = 500;

/** A SharedState that all processes on the same NATS server share. */
export function createNatsSharedState(connection: BusConnection): SharedState {
  return new NatsSharedState(connection);
}

class NatsSharedState implements SharedState {
  readonly #connection: BusConnection;
  /** The last update of each key in this process. Updates of the same key run one after the other to avoid conflicts. */
  readonly #lastUpdates = new Map<string, Promise<unknown>>();

  constructor(connection: BusConnection) {
    this.#connection = connection;
  }

  now(): number {
    return this.#connection.clock.now() ?? Date.now();
  }

  async get(key: string, patience: Patience = {}): Promise<unknown> {
    const end = endOf(patience);
    const entries = await Promise.all([
      this.#readWithRetry('volatile', key, end),
      this.#readWithRetry('durable', key, end),
    ]);
    return entries.map(({ stored }) => this.#currentValue(stored)).find((value) => value !== undefined);
  }

  update<T>(key: string, change: Change<T>, { ttlMs, ...patience }: { ttlMs: number } & Patience): Promise<T> {
    const previous = this.#lastUpdates.get(key) ?? Promise.resolve();
    // The timeout starts before the update waits for earlier ones. Otherwise the timeouts of queued updates would add up
    // while the bus is unavailable.
    const end = endOf(patience);
    const update = previous.then(() => this.#compareAndSet(key, change, ttlMs, end));
    const settled = update
      .catch(() => undefined)
      .then(() => {
        if (this.#lastUpdates.get(key) === settled) this.#lastUpdates.delete(key);
      });
    this.#lastUpdates.set(key, settled);
    return update;
  }

  async close(): Promise<void> {
    // The transport closes the connection.
  }

  async #compareAndSet<T>(key: string, change: Change<T>, ttlMs: number, end: End): Promise<T> {
    const durability: Durability = ttlMs > TRANSPORT_LIMITS.stateMemoryTtlMs ? 'durable' : 'volatile';
    const writer = randomUUID();
    /** The result of a write whose acknowledgement did not arrive. */
    let unconfirmed: { result: T } | undefined;
    for (let conflicts = 0, faults = 0; ; ) {
      const { stored, revision } = await this.#readWithRetry(durability, key, end);
      if (unconfirmed && stored?.writer === writer) return unconfirmed.result;
      const current = this.#currentValue(stored);
      const { next, result } = change(current);
      if (next === current) return result;
      try {
        await this.#write(durability, key, next, { expires: this.now() + ttlMs, writer, revision });
        return result;
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence) {
          conflicts += 1;
          await sleep(Math.random() * Math.min(CONFLICT_DELAY_BASE_MS * 2 ** conflicts, CONFLICT_DELAY_MAX_MS));
          continue;
        }
        if (isFull(error)) throw new StoreFullError('the store of the shared state is full', { cause: error });
        unconfirmed = { result };
        await this.#recover(error, ++faults, end);
      }
    }
  }

  async #readWithRetry(durability: Durability, key: string, end: End): Promise<Entry> {
    for (let faults = 0; ; ) {
      // Without this check, a request on a lost connection would fail only at its own timeout.
      if (!(await this.#connection.whenReady(end.until, end.signal)))
        throw new BusUnavailableError('the shared state is unavailable');
      try {
        return await this.#read(durability, key);
      } catch (error) {
        await this.#recover(error, ++faults, end);
      }
    }
  }

  /** Waits until the connection is ready and creates missing buckets. @throws BusUnavailableError at the end */
  async #recover(cause: unknown, faults: number, { until, signal }: End): Promise<void> {
    if (!(await this.#connection.whenReady(until, signal)) || signal?.aborted || Date.now() >= until)
      throw new BusUnavailableError('the shared state is unavailable', { cause });
    await this.#connection.restoreStreams().catch(() => undefined);
    await sleep(Math.min(FAULT_DELAY_BASE_MS * 2 ** faults, FAULT_DELAY_MAX_MS));
  }

  #currentValue(stored: StoredValue | undefined): unknown {
    return stored && stored.expires > this.now() ? stored.value : undefined;
  }

  async #read(durability: Durability, key: string): Promise<Entry> {
    const message = await this.#connection.manager.direct.getMessage(stateStream(STATE_BUCKETS[durability]), {
      last_by_subj: subjectOf(durability, key),
    });
    if (!message) return { stored: undefined, revision: 0 };
    const deleted = message.header.has('KV-Operation');
    return { stored: deleted ? undefined : message.json<StoredValue>(), revision: message.seq };
  }

  async #write(
    durability: Durability,
    key: string,
    value: unknown,
    { expires, writer, revision }: { expires: number; writer: string; revision: number },
  ): Promise<void> {
    const subject = subjectOf(durability, key);
    const expect = { lastSubjectSequence: revision };
    if (value !== undefined) {
      const stored = JSON.stringify({ value, expires, writer } satisfies StoredValue);
      await this.#connection.jetstream.publish(subject, stored, { expect });
      return;
    }
    const purge = headers();
    purge.set('KV-Operation', 'PURGE');
    purge.set('Nats-Rollup', 'sub');
    await this.#connection.jetstream.publish(subject, '', { expect, headers: purge });
  }
}

function endOf(patience: Patience): End {
  return { until: endOfPatience(patience, Date.now() + TRANSPORT_LIMITS.stateRetryMs), signal: patience.signal };
}

/** The subject of a key. A character that a subject cannot contain becomes `=` and the hexadecimal value of each byte. */
function subjectOf(durability: Durability, key: string): string {
  const safe = key.replace(/[^\w-]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `=${byte.toString(16)}`).join(''),
  );
  return `$KV.${STATE_BUCKETS[durability]}.${safe}`;
}
