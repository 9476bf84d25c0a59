// Moves the bytes of a job: small ones inside the job message, larger ones through the payload store.
import { setTimeout as sleep } from 'node:timers/promises';
import { BusUnavailableError, type PayloadRef, type PayloadStore, type PutOptions } from '../bus/bus.ts';
import { TRANSPORT_LIMITS } from '../contract/limits.ts';
import { waitForCleanup } from './bounded-wait.ts';
import { payloadStored } from './metrics.ts';

/** Pause before another attempt when the store is unavailable. */
const STORE_RETRY_MS = 250;

export type JobPayload = { inline: Uint8Array } | { ref: PayloadRef };

export const EMPTY_PAYLOAD: JobPayload = { inline: new Uint8Array(0) };

/** Size of a payload in bytes. */
export function payloadSize(payload: JobPayload): number {
  return 'inline' in payload ? payload.inline.byteLength : payload.ref.size;
}

/**
 * Reads a stream into a payload. Up to `inlinePayloadBytes` it stays in memory, for the job message; a larger one is streamed to the store.
 * @throws the source's own error; the store then deletes the chunks that it has stored
 */
export async function storePayload(
  store: PayloadStore,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<JobPayload> {
  const iterator = source[Symbol.asyncIterator]();
  const buffered: Uint8Array[] = [];
  let size = 0;
  while (size <= TRANSPORT_LIMITS.inlinePayloadBytes) {
    const next = await iterator.next();
    if (next.done) return { inline: Buffer.concat(buffered) };
    buffered.push(next.value);
    size += next.value.byteLength;
  }
  const all = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* buffered;
      for (;;) {
        const next = await iterator.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return put(store, all(), options);
}

async function put(store: PayloadStore, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<JobPayload> {
  const ref = await store.put(source, options);
  payloadStored.inc(ref.size);
  return { ref };
}

/**
 * Like `storePayload`, for bytes that are already in memory. While the store is unavailable it retries, until `until` (epoch milliseconds).
 * @throws BusUnavailableError if no time is left for a retry before `until`, or if `until` is not set
 */
export async function storeBytes(
  store: PayloadStore,
  bytes: Uint8Array,
  { until = 0, ...options }: PutOptions & { until?: number },
): Promise<JobPayload> {
  if (bytes.byteLength <= TRANSPORT_LIMITS.inlinePayloadBytes) return { inline: bytes };
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset < bytes.byteLength; offset += TRANSPORT_LIMITS.objectChunkBytes)
      yield bytes.subarray(offset, offset + TRANSPORT_LIMITS.objectChunkBytes);
  };
  for (;;)
    try {
      return await put(store, chunks(), options);
    } catch (error) {
      if (!(error instanceof BusUnavailableError) || Date.now() + STORE_RETRY_MS >= until) throw error;
      await sleep(STORE_RETRY_MS);
    }
}

/** Streams the payload; `until` as in `PayloadStore.get`. @throws PayloadMissingError */
export async function openPayload(
  store: PayloadStore,
  payload: JobPayload,
  options: { until?: number } = {},
): Promise<AsyncIterable<Uint8Array>> {
  if ('ref' in payload) return store.get(payload.ref, options);
  const { inline } = payload;
  return (async function* () {
    yield inline;
  })();
}

/** Reads the complete payload into memory; `until` as in `PayloadStore.get`. @throws PayloadMissingError */
export async function readPayload(
  store: PayloadStore,
  payload: JobPayload,
  options: { until?: number } = {},
): Promise<Uint8Array> {
  if ('inline' in payload) return payload.inline;
  const bytes = Buffer.allocUnsafe(payload.ref.size);
  let offset = 0;
  for await (const chunk of await store.get(payload.ref, options)) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** Deletes a payload. Never throws and waits at most 200 ms: the store removes leftover payloads when they expire. */
export async function deletePayload(store: PayloadStore, payload: JobPayload | undefined): Promise<void> {
  if (payload && 'ref' in payload) await waitForCleanup(store.delete(payload.ref));
}
