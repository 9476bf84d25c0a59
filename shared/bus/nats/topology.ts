// The streams, buckets and consumers that this product keeps in NATS, made by whichever process comes first.
import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';

/** A store that a restarted server still has, and its twin that never touches a disk. */
export interface Pair {
  durable: string;
  volatile: string;
}

export const JOB_STREAMS: Pair = { durable: 'PARSEMESH_JOBS', volatile: 'PARSEMESH_JOBS_VOLATILE' };
export const PAYLOAD_BUCKETS: Pair = { durable: 'parsemesh-payloads', volatile: 'parsemesh-payloads-volatile' };
export const STATE_BUCKETS: Pair = { durable: 'parsemesh-state-durable', volatile: 'parsemesh-state' };

const JOB_SUBJECTS: Pair = { durable: 'parsemesh.jobs', volatile: 'parsemesh.jobs-volatile' };
const DURABLE_STATE_TTL_MS = 400 * 24 * 60 * 60_000;
const STREAM_NAME_IN_USE = 10058;

/** The subject of a queue's jobs. */
export function jobSubject(kind: keyof Pair, queue: string): string {
  return `${JOB_SUBJECTS[kind]}.${queue}`;
}

/** The stream of events, and the subject of one kind. */
export const EVENT_STREAM = 'PARSEMESH_EVENTS';
export const eventSubject = (kind: string): string => `parsemesh.events.${kind}`;

/** The stream behind an Object Store or KV bucket. */
export const payloadStream = (bucket: string): string => `OBJ_${bucket}`;
export const stateStream = (bucket: string): string => `KV_${bucket}`;

const storageOf = (kind: keyof Pair): StorageType => (kind === 'durable' ? StorageType.File : StorageType.Memory);

type Config = Partial<StreamConfig> & { name: string };

/** What a deployment may choose of its streams. */
interface StreamChoices {
  replicas: number;
  /** Bytes of volatile payloads that the server holds at once. */
  volatileBytes: number;
}

function streamConfigs(kind: keyof Pair, { replicas, volatileBytes }: StreamChoices): Config[] {
  const bounded = (bytes: number) => (kind === 'volatile' ? { max_bytes: bytes } : {});
  const common = { storage: storageOf(kind), num_replicas: replicas };
  const payloads = PAYLOAD_BUCKETS[kind];
  const state = STATE_BUCKETS[kind];
  return [
    {
      ...common,
      name: JOB_STREAMS[kind],
      subjects: [`${JOB_SUBJECTS[kind]}.*`],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      ...bounded(TRANSPORT_LIMITS.volatileJobBytes),
      max_age: nanos(TRANSPORT_LIMITS.jobTtlMs),
      duplicate_window: nanos(TRANSPORT_LIMITS.duplicateWindowMs),
    },
    // The two below are what the Object Store and KV clients themselves would make (their published layouts).
    {
      ...common,
      name: payloadStream(payloads),
      subjects: [`$O.${payloads}.C.>`, `$O.${payloads}.M.>`],
      max_age: nanos(TRANSPORT_LIMITS.payloadTtlMs),
      discard: DiscardPolicy.New,
      ...bounded(volatileBytes),
      allow_rollup_hdrs: true,
      allow_direct: true,
    },
    {
      ...common,
      name: stateStream(state),
      subjects: [`$KV.${state}.>`],
      max_msgs_per_subject: 1,
      max_age: nanos(kind === 'durable' ? DURABLE_STATE_TTL_MS : TRANSPORT_LIMITS.stateMemoryTtlMs),
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      allow_direct: true,
    },
  ];
}

/**
 * The server has no room: a stream is as large as it may be, the account's or the server's own memory or disk is used up
 * (`JSStreamStoreFailedF`, `JSAccountResourcesExceededErr`, `JSInsufficientResourcesErr`, `JSMemoryResourcesExceededErr`,
 * `JSStorageResourcesExceededErr` of the server's errors.json).
 */
const NO_ROOM: ReadonlySet<number> = new Set([10077, 10002, 10023, 10028, 10047]);

/** Whether the server refused for want of room. */
export function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && NO_ROOM.has(error.code);
}

/** Makes every stream that is not there. Safe to run from many processes at once and again after each reconnect. */
export async function ensureStreams(manager: JetStreamManager, choices: StreamChoices): Promise<void> {
  await ensureStream(manager, {
    name: EVENT_STREAM,
    subjects: [eventSubject('*')],
    storage: StorageType.File,
    num_replicas: choices.replicas,
    max_age: nanos(TRANSPORT_LIMITS.eventTtlMs),
    max_bytes: TRANSPORT_LIMITS.eventBytes,
    duplicate_window: nanos(2 * TRANSPORT_LIMITS.eventRetryMs),
  });
  for (const kind of ['durable', 'volatile'] as const)
    for (const config of streamConfigs(kind, choices)) await ensureStream(manager, config);
}

async function ensureStream(manager: JetStreamManager, config: Config): Promise<void> {
  try {
    await addOrUpdate(manager, config);
  } catch (error) {
    if (!isFull(error) || config.max_bytes === undefined) throw error;
    // It has less memory than that to promise: then what it has is the bound.
    const { max_bytes: _, ...unbounded } = config;
    await addOrUpdate(manager, unbounded);
  }
}

async function addOrUpdate(manager: JetStreamManager, config: Config): Promise<void> {
  try {
    // The server answers with the stream that is there when its configuration is the same.
    await manager.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NAME_IN_USE) throw error;
    await manager.streams.update(config.name, config);
  }
}

/**
 * Makes a queue's consumers, named as the queue. The server never gives a job up by itself (`max_deliver` unlimited):
 * the requester counts attempts and refuses one too many, so no advisory can be lost and a job that a busy worker
 * gave straight back has not used up an attempt.
 */
export async function ensureConsumers(manager: JetStreamManager, queue: string): Promise<void> {
  for (const kind of ['durable', 'volatile'] as const)
    await manager.consumers.add(JOB_STREAMS[kind], {
      durable_name: queue,
      filter_subject: jobSubject(kind, queue),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(TRANSPORT_LIMITS.ackWaitMs),
      max_ack_pending: 10_000,
      max_waiting: 8_192,
    });
}
