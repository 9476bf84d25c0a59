// Payloads in NATS Object Store buckets: written as that store lays them out, read one chunk at a time so that a slow reader holds nothing back in memory.
import { createHash } from 'node:crypto';
import { nuid } from '@nats-io/nats-core';
import { type ObjectInfo, type ObjectStore, Objm, setSha256Backend } from '@nats-io/obj';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import {
  BusUnavailableError,
  PayloadMissingError,
  type PayloadRef,
  type PayloadStore,
  type PutOptions,
} from '../bus.ts';
import type { Link } from './link.ts';
import { PAYLOAD_BUCKETS, payloadStream } from './topology.ts';

const DIGEST_PREFIX = 'SHA-256=';

/** A PayloadStore on one file bucket and one memory bucket, both swept by age. */
export async function createNatsPayloadStore(link: Link): Promise<PayloadStore> {
  // The client's default hash is written in JavaScript and costs five times the whole transfer.
  setSha256Backend('native');
  const objects = new Objm(link.client);
  return new NatsPayloadStore(link, {
    durable: await objects.open(PAYLOAD_BUCKETS.durable, false),
    volatile: await objects.open(PAYLOAD_BUCKETS.volatile, false),
  });
}

class NatsPayloadStore implements PayloadStore {
  readonly #link: Link;
  readonly #buckets: { durable: ObjectStore; volatile: ObjectStore };

  constructor(link: Link, buckets: { durable: ObjectStore; volatile: ObjectStore }) {
    this.#link = link;
    this.#buckets = buckets;
  }

  async put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef> {
    const name = nuid.next();
    const slices = new Slices(source);
    try {
      const info = await this.#bucket(options).put(
        { name, options: { max_chunk_size: TRANSPORT_LIMITS.objectChunkBytes } },
        ReadableStream.from(slices),
      );
      return { id: `${name}.${info.nuid}`, size: info.size, volatile: options.volatile };
    } catch (error) {
      await slices.return();
      if (slices.fault !== undefined) throw slices.fault;
      throw new BusUnavailableError('the payload could not be stored', { cause: error });
    }
  }

  async get(ref: PayloadRef): Promise<AsyncIterable<Uint8Array>> {
    const [name = ''] = ref.id.split('.');
    let info: ObjectInfo | null;
    try {
      info = await this.#bucket(ref).info(name);
    } catch (cause) {
      throw new BusUnavailableError('the payload could not be looked up', { cause });
    }
    if (!info || info.deleted) throw new PayloadMissingError('the payload is gone: it was deleted or grew too old');
    return this.#read(info);
  }

  async delete(ref: PayloadRef): Promise<void> {
    const [name = '', object = ''] = ref.id.split('.');
    const bucket = PAYLOAD_BUCKETS[ref.volatile ? 'volatile' : 'durable'];
    const subjects = [
      `$O.${bucket}.M.${Buffer.from(name).toString('base64url')}${padding(name)}`,
      `$O.${bucket}.C.${object}`,
    ];
    try {
      // Purged rather than marked as deleted: nothing stays behind.
      for (const filter of subjects) await this.#link.manager.streams.purge(payloadStream(bucket), { filter });
    } catch (cause) {
      throw new BusUnavailableError('the payload could not be deleted; its age will', { cause });
    }
  }

  async close(): Promise<void> {
    // The connection is the transport's.
  }

  #bucket(kind: { volatile: boolean }): ObjectStore {
    return kind.volatile ? this.#buckets.volatile : this.#buckets.durable;
  }

  /** Asks for the next chunk while the last is being used; checks the digest at the end. */
  async *#read(info: ObjectInfo): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const stream = payloadStream(info.bucket);
    const subject = `$O.${info.bucket}.C.${info.nuid}`;
    const ask = (seq: number) => {
      const answer = this.#link.manager.direct.getMessage(stream, { seq, next_by_subj: subject });
      answer.catch(() => undefined); // a reader that leaves early never hears of it
      return answer;
    };
    let next = info.chunks > 0 ? ask(1) : undefined;
    for (let left = info.chunks; next !== undefined; ) {
      let message: Awaited<typeof next>;
      try {
        message = await next;
      } catch (cause) {
        throw new BusUnavailableError('the payload could not be read', { cause });
      }
      if (!message) throw new PayloadMissingError('part of the payload is gone: it was deleted while it was read');
      left -= 1;
      next = left > 0 ? ask(message.seq + 1) : undefined;
      hash.update(message.data);
      yield message.data;
    }
    const expected = info.digest.slice(DIGEST_PREFIX.length).replace(/=+$/, '');
    if (hash.digest('base64url') !== expected) throw new Error('the payload came back changed: its digest differs');
  }
}

const padding = (name: string): string => '='.repeat((3 - (Buffer.byteLength(name) % 3)) % 3);

/** The source in pieces no larger than a chunk, remembering whether it was the source that failed. */
class Slices implements AsyncIterableIterator<Uint8Array> {
  readonly #pieces: AsyncGenerator<Uint8Array>;
  fault: unknown;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#pieces = this.#cut(source);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#pieces.next();
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    return this.#pieces.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#cut(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const size = TRANSPORT_LIMITS.objectChunkBytes;
    try {
      for await (const bytes of source)
        for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    } catch (error) {
      this.fault = error ?? new Error('the source of a payload failed');
      throw error;
    }
  }
}
