// Defines the streams, buckets and consumers of this product in NATS, and creates those that are missing.
import { createHash } from 'node:crypto';
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
export const PAYLOAD_STREAMS: Names = { durable: 'PARSEMESH_PAYLOADS', volatile: 'PARSEMESH_PAYLOADS_VOLATILE' };
export const STATE_BUCKETS: Names = { durable: 'parsemesh-state-durable', volatile: 'parsemesh-state' };

const PAYLOAD_SUBJECTS: Names = { durable: 'parsemesh.payloads', volatile: 'parsemesh.payloads-volatile' };
const JOB_STREAM_PREFIXES: Names = { durable: 'PARSEMESH_JOBS', volatile: 'PARSEMESH_JOBS_VOLATILE' };
const JOB_SUBJECTS: Names = { durable: 'parsemesh.jobs', volatile: 'parsemesh.jobs-volatile' };
/** The lane of jobs without a team. */
const COMMON_LANE = 'common';
const DURABLE_STATE_TTL_MS = 400 * 24 * 60 * 60_000;
/** The server's error `JSClusterNoPeersErrF`: no server of a cluster can reserve `max_bytes`, for example. */
const NO_SUITABLE_PEERS = 10005;
/** The server's error `JSStreamNameExistErr`. */
const STREAM_NAME_IN_USE = 10058;
/** The server's error `JSStreamNotFoundErr`. */
export const STREAM_NOT_FOUND = 10059;

/** The stream of a queue's jobs. Each queue has its own streams, so that the number of messages is the length of the queue. */
export function jobStream(durability: Durability, queue: string): string {
  return `${JOB_STREAM_PREFIXES[durability]}_${queue.toUpperCase().replaceAll('-', '_')}`;
}

/** The part of a queue that holds the jobs of one team: 16 hexadecimal digits, so that NATS shows no names of teams. */
export function laneOf(team: string | undefined): string {
  return team === undefined ? COMMON_LANE : createHash('sha256').update(team).digest('hex').slice(0, 16);
}

/** The jobs of one lane in one of the two streams of a queue. */
export interface LaneStream {
  durability: Durability;
  lane: string;
}

const LANE = /^(?:common|[0-9a-f]{16})$/;
export const isLane = (text: string): boolean => LANE.test(text);

/** The subject of the jobs of one lane, or of all lanes (`*`) of a queue. */
export function jobSubject(durability: Durability, queue: string, lane: string): string {
  return `${JOB_SUBJECTS[durability]}.${queue}.${lane}`;
}

export const EVENT_STREAM = 'PARSEMESH_EVENTS';
/** The subject of one kind of event. */
export const eventSubject = (kind: string): string => `parsemesh.events.${kind}`;

/** The subjects of payload chunks begin with this. */
export const payloadSubject = (durability: Durability): string => PAYLOAD_SUBJECTS[durability];
/** Holds one message of each process, whose time is the server's. */
export const CLOCK_STREAM = 'PARSEMESH_CLOCK';
const CLOCK_TTL_MS = 60_000;
/** The subject on which one process measures the server's clock. @param id unique */
export const clockSubject = (id: string): string => `parsemesh.clock.${id}`;

/** The stream of a KV bucket. */
export const stateStream = (bucket: string): string => `KV_${bucket}`;

type Config = Partial<StreamConfig> & { name: string };

/** The settings of the streams that a deployment can choose. */
export interface StreamChoices {
  replicas: number;
  /** Maximum size of all volatile payloads together, in bytes. */
  volatileBytes: number;
}

const storageOf = (durability: Durability): StorageType =>
  durability === 'durable' ? StorageType.File : StorageType.Memory;

function jobStreamConfig(durability: Durability, queue: string, { replicas }: StreamChoices): Config {
  return {
    name: jobStream(durability, queue),
    subjects: [jobSubject(durability, queue, '*')],
    storage: storageOf(durability),
    num_replicas: replicas,
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    ...(durability === 'durable' ? {} : { max_bytes: TRANSPORT_LIMITS.volatileJobBytes }),
    max_age: nanos(TRANSPORT_LIMITS.jobTtlMs),
    duplicate_window: nanos(TRANSPORT_LIMITS.duplicateWindowMs),
  };
}

function storeConfigs(durability: Durability, { replicas, volatileBytes }: StreamChoices): Config[] {
  const isDurable = durability === 'durable';
  const boundedInMemory = (bytes: number) => (isDurable ? {} : { max_bytes: bytes });
  const common = { storage: storageOf(durability), num_replicas: replicas };
  const state = STATE_BUCKETS[durability];
  return [
    {
      ...common,
      name: PAYLOAD_STREAMS[durability],
      subjects: [`${payloadSubject(durability)}.>`],
      max_age: nanos(TRANSPORT_LIMITS.payloadTtlMs),
      discard: DiscardPolicy.New,
      ...boundedInMemory(volatileBytes),
      // With rollup headers, every service that may store a payload could delete all of them.
      allow_rollup_hdrs: false,
      allow_direct: true,
    },
    // This stream has the layout that KV clients create (NATS ADR-8).
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

/**
 * Creates the streams that are missing, except those of queues. Many processes may call it at the same time and after each
 * reconnect.
 */
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
  await ensureStream(manager, {
    name: CLOCK_STREAM,
    subjects: [clockSubject('*')],
    storage: StorageType.Memory,
    num_replicas: choices.replicas,
    max_age: nanos(CLOCK_TTL_MS),
    max_msgs_per_subject: 1,
    allow_direct: true,
  });
  for (const durability of DURABILITIES)
    for (const config of storeConfigs(durability, choices)) await ensureStream(manager, config);
}

/** Creates the job streams of a queue if they are missing. */
export async function ensureJobStreams(
  manager: JetStreamManager,
  queue: string,
  choices: StreamChoices,
): Promise<void> {
  for (const durability of DURABILITIES) await ensureStream(manager, jobStreamConfig(durability, queue, choices));
}

async function ensureStream(manager: JetStreamManager, config: Config): Promise<void> {
  try {
    await addOrUpdate(manager, config);
  } catch (error) {
    const lacksMemory = isFull(error) || (error instanceof JetStreamApiError && error.code === NO_SUITABLE_PEERS);
    if (!lacksMemory || config.max_bytes === undefined) throw error;
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
 * Creates the consumer of one lane. The server redelivers without a limit (no `max_deliver`), because the requester counts the
 * attempts: a delivery that a worker returned because it had no free slot is not an attempt.
 * The server removes a consumer that nobody has pulled from for `laneIdleMs`, also one with unacknowledged jobs; so this time
 * is longer than any job.
 * @returns the name of the consumer. It contains the time at which the stream was created: a server that loses its store
 *   numbers the jobs from 1 again, and the acknowledgement of an old job must not remove a new one with the same number.
 */
export async function ensureLaneConsumer(
  manager: JetStreamManager,
  queue: string,
  { durability, lane }: LaneStream,
): Promise<string> {
  const stream = jobStream(durability, queue);
  const { created } = await manager.streams.info(stream);
  const name = `${lane}-${Date.parse(created).toString(36)}`;
  await manager.consumers.add(stream, {
    durable_name: name,
    filter_subject: jobSubject(durability, queue, lane),
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(TRANSPORT_LIMITS.ackWaitMs),
    max_ack_pending: 10_000,
    max_waiting: 8_192,
    inactive_threshold: nanos(TRANSPORT_LIMITS.laneIdleMs),
  });
  return name;
}

const CONSUMER_NAME = /^[\w-]{1,64}$/;
export const isConsumerName = (value: unknown): value is string =>
  typeof value === 'string' && CONSUMER_NAME.test(value);
