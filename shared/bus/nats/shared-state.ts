// Implements SharedState on NATS KV buckets: values with a short time to live are in memory, the others on disk.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { BusUnavailableError, type SharedState } from '../bus.ts';
import type { BusConnection } from './connection.ts';
import { type Durability, STATE_BUCKETS, stateStream } from './topology.ts';

interface StoredValue {
  value: unknown;
  /** Epoch milliseconds. */
  expires: number;
  /** Identifies the update that wrote the value. With it, an update recognizes its own write if the acknowledgement was lost. */
  writer: string;
}

interface Entry {
  stored: StoredValue | undefined;
  /** Sequence number of the key's last message; 0 if there is no message. */
  revision: number;
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

  async get(key: string): Promise<unknown> {
    const entries = await Promise.all([this.#readWithRetry('volatile', key), this.#readWithRetry('durable', key)]);
    return entries.map(({ stored }) => currentValue(stored)).find((value) => value !== undefined);
  }

  update<T>(key: string, change: Change<T>, { ttlMs }: { ttlMs: number }): Promise<T> {
    const previous = this.#lastUpdates.get(key) ?? Promise.resolve();
    // The timeout starts before the update waits for earlier ones. Otherwise the timeouts of queued updates would add up
    // while the bus is unavailable.
    const until = Date.now() + TRANSPORT_LIMITS.stateRetryMs;
    const update = previous.then(() => this.#compareAndSet(key, change, ttlMs, until));
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

  async #compareAndSet<T>(key: string, change: Change<T>, ttlMs: number, until: number): Promise<T> {
    const durability: Durability = ttlMs > TRANSPORT_LIMITS.stateMemoryTtlMs ? 'durable' : 'volatile';
    const writer = randomUUID();
    /** The result of a write whose acknowledgement did not arrive. */
    let unconfirmed: { result: T } | undefined;
    for (let conflicts = 0, faults = 0; ; ) {
      const { stored, revision } = await this.#readWithRetry(durability, key, until);
      if (unconfirmed && stored?.writer === writer) return unconfirmed.result;
      const current = currentValue(stored);
      const { next, result } = change(current);
      if (next === current) return result;
      try {
        await this.#write(durability, key, next, { expires: Date.now() + ttlMs, writer, revision });
        return result;
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence) {
          conflicts += 1;
          await sleep(Math.random() * Math.min(CONFLICT_DELAY_BASE_MS * 2 ** conflicts, CONFLICT_DELAY_MAX_MS));
          continue;
        }
        unconfirmed = { result };
        await this.#recover(error, ++faults, until);
      }
    }
  }

  async #readWithRetry(
    durability: Durability,
    key: string,
    until = Date.now() + TRANSPORT_LIMITS.stateRetryMs,
  ): Promise<Entry> {
    for (let faults = 0; ; ) {
      // Without this check, a request on a lost connection would fail only at its own timeout.
      if (!(await this.#connection.whenReady(until))) throw new BusUnavailableError('the shared state is unavailable');
      try {
        return await this.#read(durability, key);
      } catch (error) {
        await this.#recover(error, ++faults, until);
      }
    }
  }

  /** Waits until the connection is ready and creates missing buckets. @throws BusUnavailableError at `until` */
  async #recover(cause: unknown, faults: number, until: number): Promise<void> {
    if (!(await this.#connection.whenReady(until)) || Date.now() >= until)
      throw new BusUnavailableError('the shared state is unavailable', { cause });
    await this.#connection.restoreStreams().catch(() => undefined);
    await sleep(Math.min(FAULT_DELAY_BASE_MS * 2 ** faults, FAULT_DELAY_MAX_MS));
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

function currentValue(stored: StoredValue | undefined): unknown {
  return stored && stored.expires > Date.now() ? stored.value : undefined;
}

/** The subject of a key. A character that a subject cannot contain becomes `=` and the hexadecimal value of each byte. */
function subjectOf(durability: Durability, key: string): string {
  const safe = key.replace(/[^\w-]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `=${byte.toString(16)}`).join(''),
  );
  return `$KV.${STATE_BUCKETS[durability]}.${safe}`;
}
