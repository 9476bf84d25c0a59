// Defines the streams, buckets and consumers of this product in NATS, and creates those that are missing.
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

/** `durable` data is stored in files, so a restarted server still has it. `volatile` data is only in memory. */
export type Durability = 'durable' | 'volatile';
type Names = Readonly<Record<Durability, string>>;

export const DURABILITIES: readonly Durability[] = ['durable', 'volatile'];
export const JOB_STREAMS: Names = { durable: 'PARSEMESH_JOBS', volatile: 'PARSEMESH_JOBS_VOLATILE' };
export const PAYLOAD_BUCKETS: Names = { durable: 'parsemesh-payloads', volatile: 'parsemesh-payloads-volatile' };
export const STATE_BUCKETS: Names = { durable: 'parsemesh-state-durable', volatile: 'parsemesh-state' };

const JOB_SUBJECTS: Names = { durable: 'parsemesh.jobs', volatile: 'parsemesh.jobs-volatile' };
const DURABLE_STATE_TTL_MS = 400 * 24 * 60 * 60_000;
/** The server's error `JSStreamNameExistErr`. */
const STREAM_NAME_IN_USE = 10058;

/** The subject of a queue's jobs. */
export function jobSubject(durability: Durability, queue: string): string {
  return `${JOB_SUBJECTS[durability]}.${queue}`;
}

const EVENT_STREAM = 'PARSEMESH_EVENTS';
/** The subject of one kind of event. */
export const eventSubject = (kind: string): string => `parsemesh.events.${kind}`;

/** The stream of an Object Store bucket. */
export const payloadStream = (bucket: string): string => `OBJ_${bucket}`;
/** The stream of a KV bucket. */
export const stateStream = (bucket: string): string => `KV_${bucket}`;

type Config = Partial<StreamConfig> & { name: string };

/** The settings of the streams that a deployment can choose. */
export interface StreamChoices {
  replicas: number;
  /** Maximum size of all volatile payloads together, in bytes. */
  volatileBytes: number;
}

function streamConfigs(durability: Durability, { replicas, volatileBytes }: StreamChoices): Config[] {
  const isDurable = durability === 'durable';
  const boundedInMemory = (bytes: number) => (isDurable ? {} : { max_bytes: bytes });
  const common = { storage: isDurable ? StorageType.File : StorageType.Memory, num_replicas: replicas };
  const payloads = PAYLOAD_BUCKETS[durability];
  const state = STATE_BUCKETS[durability];
  return [
    {
      ...common,
      name: JOB_STREAMS[durability],
      subjects: [`${JOB_SUBJECTS[durability]}.*`],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      ...boundedInMemory(TRANSPORT_LIMITS.volatileJobBytes),
      max_age: nanos(TRANSPORT_LIMITS.jobTtlMs),
      duplicate_window: nanos(TRANSPORT_LIMITS.duplicateWindowMs),
    },
    // The next two streams have the layout that the Object Store and KV clients create (NATS ADR-20 and ADR-8).
    {
      ...common,
      name: payloadStream(payloads),
      subjects: [`$O.${payloads}.C.>`, `$O.${payloads}.M.>`],
      max_age: nanos(TRANSPORT_LIMITS.payloadTtlMs),
      discard: DiscardPolicy.New,
      ...boundedInMemory(volatileBytes),
      allow_rollup_hdrs: true,
      allow_direct: true,
    },
    {
      ...common,
      name: stateStream(state),
      subjects: [`$KV.${state}.>`],
      max_msgs_per_subject: 1,
      max_age: nanos(isDurable ? DURABLE_STATE_TTL_MS : TRANSPORT_LIMITS.stateMemoryTtlMs),
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      allow_direct: true,
    },
  ];
}

/**
 * Error codes of a full server: a stream has reached its maximum size, or the memory or disk of the account or the server
 * is used up (`JSStreamStoreFailedF`, `JSAccountResourcesExceededErr`, `JSInsufficientResourcesErr`, `JSMemoryResourcesExceededErr`,
 * `JSStorageResourcesExceededErr` in the server's errors.json).
 */
const FULL_ERRORS: ReadonlySet<number> = new Set([10077, 10002, 10023, 10028, 10047]);

/** Whether the server rejected a request because it is full. */
export function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && FULL_ERRORS.has(error.code);
}

/** Creates the streams that are missing. Many processes may call it at the same time and after each reconnect. */
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
  for (const durability of DURABILITIES)
    for (const config of streamConfigs(durability, choices)) await ensureStream(manager, config);
}

async function ensureStream(manager: JetStreamManager, config: Config): Promise<void> {
  try {
    await addOrUpdate(manager, config);
  } catch (error) {
    if (!isFull(error) || config.max_bytes === undefined) throw error;
    // The server cannot reserve this much memory. Without `max_bytes`, only the server's own memory limit applies.
    const { max_bytes: _, ...unbounded } = config;
    await addOrUpdate(manager, unbounded);
  }
}

async function addOrUpdate(manager: JetStreamManager, config: Config): Promise<void> {
  try {
    // If a stream with the same configuration exists, the server returns it.
    await manager.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NAME_IN_USE) throw error;
    await manager.streams.update(config.name, config);
  }
}

/**
 * Creates the consumers of a queue, which have the name of the queue. The server redelivers without a limit (no
 * `max_deliver`), because the requester counts the attempts: a delivery that a worker returned because it had no free slot
 * is not an attempt.
 */
export async function ensureConsumers(manager: JetStreamManager, queue: string): Promise<void> {
  for (const durability of DURABILITIES)
    await manager.consumers.add(JOB_STREAMS[durability], {
      durable_name: queue,
      filter_subject: jobSubject(durability, queue),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(TRANSPORT_LIMITS.ackWaitMs),
      max_ack_pending: 10_000,
      max_waiting: 8_192,
    });
}
