// Implements PayloadStore on two streams, not with an Object Store of the client: its readers need more permissions, and its `get` has no backpressure.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import {
  BusUnavailableError,
  type Patience,
  PayloadMissingError,
  type PayloadRef,
  type PayloadStore,
  type PutOptions,
  StoreFullError,
} from '../bus.ts';
import { endOfPatience } from '../deadline.ts';
import type { BusConnection } from './connection.ts';
import {
  chunkSubject,
  formatAddress,
  newAddress,
  type PayloadAddress,
  parseAddress,
  streamOf,
} from './payload-address.ts';
import { isFull } from './topology.ts';

const RETRY_MS = 200;
/** How long a server of a cluster may be behind the others: it may answer that a chunk that was just stored does not exist. */
const REPLICA_LAG_MS = 2_000;
const REPLICA_RETRY_MS = 25;

/** A PayloadStore on one file stream and one memory stream. The server deletes payloads at their maximum age. */
export function createNatsPayloadStore(connection: BusConnection): PayloadStore {
  return new NatsPayloadStore(connection);
}

interface Chunk {
  data: Uint8Array;
}

class NatsPayloadStore implements PayloadStore {
  readonly #connection: BusConnection;

  constructor(connection: BusConnection) {
    this.#connection = connection;
  }

  async put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef> {
    const { volatile, reader = this.#connection.service } = options;
    const writer = new ChunkWriter(
      (subject, data) => publish(this.#connection, subject, data, options),
      () =>
        newAddress({
          durability: volatile ? 'volatile' : 'durable',
          reader: typeof reader === 'string' ? reader : reader(),
          writer: this.#connection.service,
        }),
    );
    try {
      for await (const bytes of source) await writer.write(bytes);
      return { ...(await writer.end()), volatile };
    } catch (error) {
      if (writer.address && this.#connection.ready())
        await this.#connection.admin.deletePayload(writer.address).catch(() => {
          // The server deletes the chunks at their maximum age.
        });
      throw error;
    }
  }

  async get(ref: PayloadRef, { until = 0 }: { until?: number } = {}): Promise<AsyncIterable<Uint8Array>> {
    const address = parseAddress(ref);
    const first = await this.#chunk(address, 0, until);
    if (!first) throw new PayloadMissingError('the payload does not exist: it was deleted or reached its maximum age');
    return this.#read(ref, address, first, until);
  }

  async delete(ref: PayloadRef): Promise<void> {
    try {
      await this.#connection.admin.deletePayload(parseAddress(ref));
    } catch (cause) {
      throw new BusUnavailableError('the payload could not be deleted; the server deletes it at its maximum age', {
        cause,
      });
    }
  }

  async close(): Promise<void> {
    // The transport closes the connection.
  }

  /**
   * Reads one chunk by its exact subject, which the permissions of a user can name. Repeats a failed request until `until`.
   * @returns null if the chunk does not exist
   * @throws BusUnavailableError
   */
  async #chunk(address: PayloadAddress, index: number, until: number): Promise<Chunk | null> {
    const query = { last_by_subj: chunkSubject(address, index) };
    const lagEnd = this.#connection.replicas > 1 ? performance.now() + REPLICA_LAG_MS : 0;
    for (;;)
      try {
        const message = await this.#connection.manager.direct.getMessage(streamOf(address), query);
        if (message || performance.now() >= lagEnd) return message;
        await sleep(REPLICA_RETRY_MS);
      } catch (cause) {
        // The client may not have noticed yet that the connection is lost, so `whenReady` alone does not wait.
        await sleep(Math.min(RETRY_MS, Math.max(0, until - Date.now())));
        if (Date.now() >= until || !(await this.#connection.whenReady(until)))
          throw new BusUnavailableError('the payload could not be read', { cause });
      }
  }

  /** Requests the next chunk while the caller uses the current one, and no other: a slow reader needs little memory. Checks the digest at the end. */
  async *#read(ref: PayloadRef, address: PayloadAddress, first: Chunk, until: number): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    let received = 0;
    let chunk: Chunk | null = first;
    for (let index = 1; chunk; index++) {
      const { data }: Chunk = chunk;
      received += data.length;
      const next = received < ref.size ? this.#chunk(address, index, until) : undefined;
      // A reader that stops early does not await the last request. Its rejection must not be unhandled.
      next?.catch(() => undefined);
      hash.update(data);
      yield data;
      if (!next) break;
      chunk = await next;
    }
    if (!chunk) throw new PayloadMissingError('a chunk of the payload does not exist: it was deleted during the read');
    if (received !== ref.size || hash.digest('base64url') !== ref.digest)
      throw new Error('the payload is corrupt: its size or digest differs');
  }
}

/**
 * Stores one chunk. By default it waits for `payloadRetryMs`: the servers of a cluster need some seconds to choose a new
 * leader. A chunk that is stored twice does no harm, because only the last message of its subject is read.
 * @throws StoreFullError, BusUnavailableError
 */
async function publish(
  connection: BusConnection,
  subject: string,
  data: Uint8Array,
  patience: Patience,
): Promise<void> {
  const end = endOfPatience(patience, Date.now() + TRANSPORT_LIMITS.payloadRetryMs);
  const { signal } = patience;
  for (;;)
    try {
      // Without this check, a request on a lost connection would fail only at its own timeout.
      if (!(await connection.whenReady(end, signal))) throw new BusUnavailableError('the message bus is not connected');
      await connection.jetstream.publish(subject, data);
      return;
    } catch (cause) {
      if (isFull(cause)) throw new StoreFullError('the payload store is full', { cause });
      if (signal?.aborted || connection.closed() || Date.now() + RETRY_MS >= end)
        throw new BusUnavailableError('the payload could not be stored', { cause });
      await sleep(RETRY_MS);
    }
}

/** Splits a stream into chunks of equal size. One buffer is enough, because each chunk is acknowledged before the next one is filled. */
class ChunkWriter {
  readonly #publish: (subject: string, data: Uint8Array) => Promise<void>;
  readonly #newAddress: () => PayloadAddress;
  readonly #hash = createHash('sha256');
  readonly #buffer = new Uint8Array(TRANSPORT_LIMITS.objectChunkBytes);
  /** Undefined until the first chunk is sent. */
  address: PayloadAddress | undefined;
  #filled = 0;
  #size = 0;
  #chunks = 0;

  constructor(publishChunk: (subject: string, data: Uint8Array) => Promise<void>, createAddress: () => PayloadAddress) {
    this.#publish = publishChunk;
    this.#newAddress = createAddress;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; ) {
      const part = bytes.subarray(start, start + this.#buffer.length - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      start += part.length;
      if (this.#filled === this.#buffer.length) await this.#send();
    }
  }

  /** Sends the rest; an empty payload is one empty chunk. */
  async end(): Promise<{ id: string; size: number; digest: string }> {
    if (this.#filled > 0 || this.#chunks === 0) await this.#send();
    const address = this.address ?? this.#newAddress();
    return { id: formatAddress(address), size: this.#size, digest: this.#hash.digest('base64url') };
  }

  async #send(): Promise<void> {
    this.address ??= this.#newAddress();
    const chunk = this.#buffer.subarray(0, this.#filled);
    this.#hash.update(chunk);
    this.#size += chunk.length;
    const index = this.#chunks++;
    await this.#publish(chunkSubject(this.address, index), chunk);
    this.#filled = 0;
  }
}
