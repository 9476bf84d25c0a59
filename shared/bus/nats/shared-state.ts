// Shared values in NATS KV buckets, changed by compare-and-set on the revision: short-lived ones in memory, long-lived ones on disk.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { BusUnavailableError, type SharedState } from '../bus.ts';
import type { Link } from './link.ts';
import { type Pair, STATE_BUCKETS, stateStream } from './topology.ts';

/** As stored: the value, when it ends (epoch ms), and who wrote it (to know one's own write after a lost acknowledgement). */
interface Stored {
  value: unknown;
  expires: number;
  writer: string;
}

interface Found {
  stored: Stored | undefined;
  /** 0 where the key has no message. */
  revision: number;
}

const RETRY_BASE_MS = 1;
const RETRY_MAX_MS = 60;

/** A SharedState that all processes on the same server share. */
export function createNatsSharedState(link: Link): SharedState {
  return new NatsSharedState(link);
}

class NatsSharedState implements SharedState {
  readonly #link: Link;
  /** The last change of each key under way here: this process's own writers take turns instead of racing each other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(link: Link) {
    this.#link = link;
  }

  async get(key: string): Promise<unknown> {
    const found = await Promise.all([this.#insist('volatile', key), this.#insist('durable', key)]);
    return found.map(({ stored }) => current(stored)).find((value) => value !== undefined);
  }

  update<T>(
    key: string,
    change: (current: unknown) => { next: unknown; result: T },
    { ttlMs }: { ttlMs: number },
  ): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    // From now, not from its turn: while the bus is away turns must not add up.
    const until = Date.now() + TRANSPORT_LIMITS.stateRetryMs;
    const turn = before.then(() => this.#change(key, change, ttlMs, until));
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(key) === settled) this.#turns.delete(key);
      });
    this.#turns.set(key, settled);
    return turn;
  }

  async close(): Promise<void> {
    // The connection is the transport's.
  }

  async #change<T>(
    key: string,
    change: (current: unknown) => { next: unknown; result: T },
    ttlMs: number,
    until: number,
  ): Promise<T> {
    const kind: keyof Pair = ttlMs > TRANSPORT_LIMITS.stateMemoryTtlMs ? 'durable' : 'volatile';
    const writer = randomUUID();
    let unsure: T | undefined;
    let isUnsure = false;
    for (let conflicts = 0, faults = 0; ; ) {
      const { stored, revision } = await this.#insist(kind, key, until);
      if (isUnsure && stored?.writer === writer) return unsure as T;
      const now = current(stored);
      const { next, result } = change(now);
      if (next === now) return result;
      try {
        await this.#write(kind, key, next, { expires: Date.now() + ttlMs, writer, revision });
        return result;
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence) {
          conflicts += 1;
          await sleep(Math.random() * Math.min(RETRY_BASE_MS * 2 ** conflicts, RETRY_MAX_MS));
          continue;
        }
        [isUnsure, unsure] = [true, result];
        await this.#recover(error, ++faults, until);
      }
    }
  }

  async #insist(kind: keyof Pair, key: string, until = Date.now() + TRANSPORT_LIMITS.stateRetryMs): Promise<Found> {
    for (let faults = 0; ; ) {
      // A question on a connection that is down would only hear of it by its own timeout.
      if (!(await this.#link.whenReady(until))) throw new BusUnavailableError('the shared state is out of reach');
      try {
        return await this.#read(kind, key);
      } catch (error) {
        await this.#recover(error, ++faults, until);
      }
    }
  }

  /** After a fault: waits for the bus and puts missing buckets back. @throws BusUnavailableError when patience is at its end */
  async #recover(cause: unknown, faults: number, until: number): Promise<void> {
    if (!(await this.#link.whenReady(until)) || Date.now() >= until)
      throw new BusUnavailableError('the shared state is out of reach', { cause });
    await this.#link.repair().catch(() => undefined);
    await sleep(Math.min(20 * 2 ** faults, 500));
  }

  async #read(kind: keyof Pair, key: string): Promise<Found> {
    const message = await this.#link.manager.direct.getMessage(stateStream(STATE_BUCKETS[kind]), {
      last_by_subj: subjectOf(kind, key),
    });
    if (!message) return { stored: undefined, revision: 0 };
    const deleted = message.header.has('KV-Operation');
    return { stored: deleted ? undefined : message.json<Stored>(), revision: message.seq };
  }

  async #write(
    kind: keyof Pair,
    key: string,
    value: unknown,
    { expires, writer, revision }: { expires: number; writer: string; revision: number },
  ): Promise<void> {
    const expect = { lastSubjectSequence: revision };
    const subject = subjectOf(kind, key);
    if (value !== undefined) {
      await this.#link.client.publish(subject, JSON.stringify({ value, expires, writer } satisfies Stored), { expect });
      return;
    }
    const marks = headers();
    marks.set('KV-Operation', 'PURGE');
    marks.set('Nats-Rollup', 'sub');
    await this.#link.client.publish(subject, '', { expect, headers: marks });
  }
}

function current(stored: Stored | undefined): unknown {
  return stored && stored.expires > Date.now() ? stored.value : undefined;
}

/** The key in characters a subject may hold: others as `=` and the hex of their bytes. */
function subjectOf(kind: keyof Pair, key: string): string {
  const safe = key.replace(/[^\w-]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `=${byte.toString(16)}`).join(''),
  );
  return `$KV.${STATE_BUCKETS[kind]}.${safe}`;
}
