// A job's bytes on their way: inside the message while they are small, through the payload store when they are not.
import { setTimeout as sleep } from 'node:timers/promises';
import { BusUnavailableError, type PayloadRef, type PayloadStore } from '../bus/bus.ts';
import { TRANSPORT_LIMITS } from '../contract/limits.ts';
import { waitBriefly } from './brief-wait.ts';
import { payloadStored } from './metrics.ts';

/** Between two tries to store where the store is away. */
const STORE_AGAIN_MS = 250;

export type JobPayload = { inline: Uint8Array } | { ref: PayloadRef };

export const EMPTY_PAYLOAD: JobPayload = { inline: new Uint8Array(0) };

/** Bytes of a payload. */
export function payloadSize(payload: JobPayload): number {
  return 'inline' in payload ? payload.inline.byteLength : payload.ref.size;
}

/**
 * Takes a stream in: what fits a message stays inline, more is streamed to the store chunk by chunk.
 * @throws what the source throws; nothing is left in the store then.
 */
export async function storePayload(
  store: PayloadStore,
  source: AsyncIterable<Uint8Array>,
  options: { volatile: boolean },
): Promise<JobPayload> {
  const iterator = source[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let size = 0;
  while (size <= TRANSPORT_LIMITS.inlinePayloadBytes) {
    const next = await iterator.next();
    if (next.done) return { inline: Buffer.concat(head) };
    head.push(next.value);
    size += next.value.byteLength;
  }
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* head;
      for (;;) {
        const next = await iterator.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return put(store, whole(), options);
}

async function put(
  store: PayloadStore,
  source: AsyncIterable<Uint8Array>,
  options: { volatile: boolean },
): Promise<JobPayload> {
  const ref = await store.put(source, options);
  payloadStored.inc(ref.size);
  return { ref };
}

/** Like `storePayload`, for bytes that are in memory already: where the store goes away they are stored anew when it is back, up to `until` (epoch milliseconds). */
export async function packPayload(
  store: PayloadStore,
  bytes: Uint8Array,
  { volatile, until = 0 }: { volatile: boolean; until?: number },
): Promise<JobPayload> {
  if (bytes.byteLength <= TRANSPORT_LIMITS.inlinePayloadBytes) return { inline: bytes };
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.byteLength; at += TRANSPORT_LIMITS.objectChunkBytes)
      yield bytes.subarray(at, at + TRANSPORT_LIMITS.objectChunkBytes);
  };
  for (;;)
    try {
      return await put(store, chunks(), { volatile });
    } catch (error) {
      if (!(error instanceof BusUnavailableError) || Date.now() + STORE_AGAIN_MS >= until) throw error;
      await sleep(STORE_AGAIN_MS);
    }
}

/** The payload's bytes as they come; `until` as in `PayloadStore.get`. @throws PayloadMissingError */
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

/** The whole payload in memory; `until` as in `PayloadStore.get`. @throws PayloadMissingError */
export async function readPayload(
  store: PayloadStore,
  payload: JobPayload,
  options: { until?: number } = {},
): Promise<Uint8Array> {
  if ('inline' in payload) return payload.inline;
  const bytes = Buffer.allocUnsafe(payload.ref.size);
  let at = 0;
  for await (const chunk of await store.get(payload.ref, options)) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Forgets a payload; never throws and waits only briefly, since the store sweeps what is left by age. */
export async function releasePayload(store: PayloadStore, payload: JobPayload | undefined): Promise<void> {
  if (payload && 'ref' in payload) await waitBriefly(store.delete(payload.ref));
}
