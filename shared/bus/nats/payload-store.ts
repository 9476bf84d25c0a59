// Implements PayloadStore on NATS Object Store buckets, without `get` of the package, which has no backpressure.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { headers, type MsgHdrs, nuid } from '@nats-io/nats-core';
import { Base64UrlPaddedCodec, type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import {
  BusUnavailableError,
  PayloadMissingError,
  type PayloadRef,
  type PayloadStore,
  type PutOptions,
  StoreFullError,
} from '../bus.ts';
import type { BusConnection } from './connection.ts';
import { type Durability, isFull, PAYLOAD_BUCKETS, payloadStream } from './topology.ts';

const DIGEST_PREFIX = 'SHA-256=';
const RETRY_MS = 200;

/** A PayloadStore on one file bucket and one memory bucket. The server deletes payloads at their maximum age. */
export async function createNatsPayloadStore(connection: BusConnection): Promise<PayloadStore> {
  const objects = new Objm(connection.jetstream);
  return new NatsPayloadStore(connection, {
    durable: await objects.open(PAYLOAD_BUCKETS.durable, false),
    volatile: await objects.open(PAYLOAD_BUCKETS.volatile, false),
  });
}

class NatsPayloadStore implements PayloadStore {
  readonly #connection: BusConnection;
  readonly #buckets: Record<Durability, ObjectStore>;

  constructor(connection: BusConnection, buckets: Record<Durability, ObjectStore>) {
    this.#connection = connection;
    this.#buckets = buckets;
  }

  async put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef> {
    const bucket = bucketOf(options);
    const [name, object] = [nuid.next(), nuid.next()];
    const chunks = new ChunkWriter(this.#connection, chunkSubject(bucket, object));
    try {
      for await (const bytes of source) await chunks.write(bytes);
      const written = await chunks.end();
      const meta = {
        name,
        bucket,
        nuid: object,
        ...written,
        mtime: new Date().toISOString(),
        options: { max_chunk_size: TRANSPORT_LIMITS.objectChunkBytes },
      };
      const rollup = headers();
      rollup.set('Nats-Rollup', 'sub');
      await publish(this.#connection, metaSubject(bucket, name), JSON.stringify(meta), rollup);
      return { id: `${name}.${object}`, size: written.size, volatile: options.volatile };
    } catch (error) {
      await this.#purge(bucket, [chunkSubject(bucket, object), metaSubject(bucket, name)]).catch(() => {
        // The bus is unavailable. The server deletes the chunks at their maximum age.
      });
      throw error;
    }
  }

  async get(ref: PayloadRef, { until = 0 }: { until?: number } = {}): Promise<AsyncIterable<Uint8Array>> {
    const [name = ''] = ref.id.split('.');
    const bucket = this.#buckets[durabilityOf(ref)];
    const info = await this.#retryUntil(
      until,
      () => bucket.info(name),
      'the metadata of the payload could not be read',
    );
    if (!info || info.deleted)
      throw new PayloadMissingError('the payload does not exist: it was deleted or reached its maximum age');
    return this.#read(info, until);
  }

  async delete(ref: PayloadRef): Promise<void> {
    const [name = '', object = ''] = ref.id.split('.');
    const bucket = bucketOf(ref);
    try {
      // `delete` of the package would keep a marker message for each deleted payload.
      await this.#purge(bucket, [metaSubject(bucket, name), chunkSubject(bucket, object)]);
    } catch (cause) {
      throw new BusUnavailableError('the payload could not be deleted; the server deletes it at its maximum age', {
        cause,
      });
    }
  }

  async close(): Promise<void> {
    // The transport closes the connection.
  }

  async #purge(bucket: string, subjects: string[]): Promise<void> {
    for (const filter of subjects) await this.#connection.manager.streams.purge(payloadStream(bucket), { filter });
  }

  /**
   * Repeats a failed request until `until` (epoch milliseconds).
   * @throws BusUnavailableError with the message `failure`
   */
  async #retryUntil<Result>(until: number, request: () => Promise<Result>, failure: string): Promise<Result> {
    for (;;)
      try {
        return await request();
      } catch (cause) {
        // The client may not have noticed yet that the connection is lost, so `whenReady` alone does not wait.
        await sleep(Math.min(RETRY_MS, Math.max(0, until - Date.now())));
        if (Date.now() >= until || !(await this.#connection.whenReady(until)))
          throw new BusUnavailableError(failure, { cause });
      }
  }

  /**
   * Requests the next chunk while the caller uses the current one. Checks the digest at the end. `get` of the package would
   * load the entire payload into memory if the reader is slow.
   */
  async *#read(info: ObjectInfo, until: number): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const stream = payloadStream(info.bucket);
    const subject = chunkSubject(info.bucket, info.nuid);
    const requestChunk = (seq: number) => {
      const chunk = this.#retryUntil(
        until,
        () => this.#connection.manager.direct.getMessage(stream, { seq, next_by_subj: subject }),
        'the payload could not be read',
      );
      // A reader that stops early does not await the last request. Its rejection must not be unhandled.
      chunk.catch(() => undefined);
      return chunk;
    };
    let next = info.chunks > 0 ? requestChunk(1) : undefined;
    for (let left = info.chunks; next !== undefined; ) {
      const message: Awaited<typeof next> = await next;
      if (!message)
        throw new PayloadMissingError('a chunk of the payload does not exist: it was deleted during the read');
      left -= 1;
      next = left > 0 ? requestChunk(message.seq + 1) : undefined;
      hash.update(message.data);
      yield message.data;
    }
    const expected = info.digest.slice(DIGEST_PREFIX.length).replace(/=+$/, '');
    if (hash.digest('base64url') !== expected) throw new Error('the payload is corrupt: its digest differs');
  }
}

const durabilityOf = ({ volatile }: { volatile: boolean }): Durability => (volatile ? 'volatile' : 'durable');
const bucketOf = (payload: { volatile: boolean }): string => PAYLOAD_BUCKETS[durabilityOf(payload)];
const chunkSubject = (bucket: string, object: string): string => `$O.${bucket}.C.${object}`;
const metaSubject = (bucket: string, name: string): string => `$O.${bucket}.M.${Base64UrlPaddedCodec.encode(name)}`;

/** @throws StoreFullError, BusUnavailableError */
async function publish(
  connection: BusConnection,
  subject: string,
  data: Uint8Array | string,
  messageHeaders?: MsgHdrs,
): Promise<void> {
  try {
    await connection.jetstream.publish(subject, data, messageHeaders && { headers: messageHeaders });
  } catch (cause) {
    if (isFull(cause)) throw new StoreFullError('the payload store is full', { cause });
    throw new BusUnavailableError('the payload could not be stored', { cause });
  }
}

/** Splits a stream into chunks of equal size. One buffer is enough, because each chunk is acknowledged before the next one is filled. */
class ChunkWriter {
  readonly #connection: BusConnection;
  readonly #subject: string;
  readonly #hash = createHash('sha256');
  readonly #buffer = new Uint8Array(TRANSPORT_LIMITS.objectChunkBytes);
  #filled = 0;
  #size = 0;
  #chunks = 0;

  constructor(connection: BusConnection, subject: string) {
    this.#connection = connection;
    this.#subject = subject;
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

  async end(): Promise<{ size: number; chunks: number; digest: string }> {
    if (this.#filled > 0) await this.#send();
    const digest = `${DIGEST_PREFIX}${Base64UrlPaddedCodec.encode(new Uint8Array(this.#hash.digest()))}`;
    return { size: this.#size, chunks: this.#chunks, digest };
  }

  async #send(): Promise<void> {
    const chunk = this.#buffer.subarray(0, this.#filled);
    this.#hash.update(chunk);
    this.#size += chunk.length;
    this.#chunks += 1;
    await publish(this.#connection, this.#subject, chunk);
    this.#filled = 0;
  }
}
