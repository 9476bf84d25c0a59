// Payloads in NATS Object Store buckets, in that store's own layout, but written from one buffer and read a chunk at a time, so that neither side ever holds a payload whole.
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
import type { Link } from './link.ts';
import { isFull, PAYLOAD_BUCKETS, payloadStream } from './topology.ts';

const DIGEST_PREFIX = 'SHA-256=';
const RETRY_MS = 200;

/** A PayloadStore on one file bucket and one memory bucket, both swept by age. */
export async function createNatsPayloadStore(link: Link): Promise<PayloadStore> {
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
    const bucket = bucketOf(options);
    const [name, object] = [nuid.next(), nuid.next()];
    const chunks = new ChunkWriter(this.#link, chunkSubject(bucket, object));
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
      await publish(this.#link, metaSubject(bucket, name), JSON.stringify(meta), rollup);
      return { id: `${name}.${object}`, size: written.size, volatile: options.volatile };
    } catch (error) {
      await this.#purge(bucket, [chunkSubject(bucket, object), metaSubject(bucket, name)]).catch(() => {
        // The bus is away: what was written is removed by its age.
      });
      throw error;
    }
  }

  async get(ref: PayloadRef, { until = 0 }: { until?: number } = {}): Promise<AsyncIterable<Uint8Array>> {
    const [name = ''] = ref.id.split('.');
    const bucket = this.#buckets[ref.volatile ? 'volatile' : 'durable'];
    const info = await this.#persist(() => bucket.info(name), until, 'the payload could not be looked up');
    if (!info || info.deleted) throw new PayloadMissingError('the payload is gone: it was deleted or grew too old');
    return this.#read(info, until);
  }

  async delete(ref: PayloadRef): Promise<void> {
    const [name = '', object = ''] = ref.id.split('.');
    const bucket = bucketOf(ref);
    try {
      // Purged rather than marked as deleted: nothing stays behind.
      await this.#purge(bucket, [metaSubject(bucket, name), chunkSubject(bucket, object)]);
    } catch (cause) {
      throw new BusUnavailableError('the payload could not be deleted; its age will', { cause });
    }
  }

  async close(): Promise<void> {
    // The connection is the transport's.
  }

  async #purge(bucket: string, subjects: string[]): Promise<void> {
    for (const filter of subjects) await this.#link.manager.streams.purge(payloadStream(bucket), { filter });
  }

  /** Asks again while the bus is away, until a time (epoch milliseconds) that no answer is worth waiting past. */
  async #persist<Answer>(ask: () => Promise<Answer>, until: number, failure: string): Promise<Answer> {
    for (;;)
      try {
        return await ask();
      } catch (cause) {
        // A server that has just died may not have been missed yet, so the connection's word alone is not enough.
        await sleep(Math.min(RETRY_MS, Math.max(0, until - Date.now())));
        if (Date.now() >= until || !(await this.#link.whenReady(until)))
          throw new BusUnavailableError(failure, { cause });
      }
  }

  /** Asks for the next chunk while the last is being used; checks the digest at the end. */
  async *#read(info: ObjectInfo, until: number): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    const stream = payloadStream(info.bucket);
    const subject = chunkSubject(info.bucket, info.nuid);
    const ask = (seq: number) => {
      const answer = this.#persist(
        () => this.#link.manager.direct.getMessage(stream, { seq, next_by_subj: subject }),
        until,
        'the payload could not be read',
      );
      answer.catch(() => undefined); // a reader that leaves early never hears of it
      return answer;
    };
    let next = info.chunks > 0 ? ask(1) : undefined;
    for (let left = info.chunks; next !== undefined; ) {
      const message: Awaited<typeof next> = await next;
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

const bucketOf = (kind: { volatile: boolean }): string => PAYLOAD_BUCKETS[kind.volatile ? 'volatile' : 'durable'];
const chunkSubject = (bucket: string, object: string): string => `$O.${bucket}.C.${object}`;
const metaSubject = (bucket: string, name: string): string => `$O.${bucket}.M.${Base64UrlPaddedCodec.encode(name)}`;

async function publish(link: Link, subject: string, data: Uint8Array | string, marks?: MsgHdrs): Promise<void> {
  try {
    await link.client.publish(subject, data, marks && { headers: marks });
  } catch (cause) {
    if (isFull(cause)) throw new StoreFullError('the bus has no room for the payload', { cause });
    throw new BusUnavailableError('the payload could not be stored', { cause });
  }
}

/** Gathers bytes of any size into chunks of one, in one buffer (the connection has copied a chunk by the time it is acknowledged). */
class ChunkWriter {
  readonly #link: Link;
  readonly #subject: string;
  readonly #hash = createHash('sha256');
  readonly #buffer = new Uint8Array(TRANSPORT_LIMITS.objectChunkBytes);
  #filled = 0;
  #size = 0;
  #chunks = 0;

  constructor(link: Link, subject: string) {
    this.#link = link;
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
    await publish(this.#link, this.#subject, chunk);
    this.#filled = 0;
  }
}
