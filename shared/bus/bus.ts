// Defines the interfaces for jobs, payloads, shared state and events that the memory bus and the NATS bus implement.

/** A job as one message: a small JSON header, and a body with the payload if it is small enough. */
export interface JobMessage {
  /** Unique. Appears in logs. */
  id: string;
  header: unknown;
  body: Uint8Array;
}

export interface JobAnswer {
  header: unknown;
  body: Uint8Array;
}

export interface RequestOptions {
  /** Epoch milliseconds. At this time the request rejects and the job is cancelled. */
  deadline: number;
  /** Whose job it is. Teams take turns, whatever they have queued. Jobs without a team share one turn. */
  team?: string;
  signal?: AbortSignal;
  /** Never write the message to a disk (zero data retention). */
  volatile?: boolean;
  /** Called each time a worker starts an attempt at the job. */
  onStarted?: () => void;
  /**
   * Called with what the handler reports about the running attempt, as a copy through JSON. Best effort: a report may be
   * missing, and only the latest of several quick reports arrives. Never called after the answer, and never with a report of
   * an earlier attempt after a later one has started. It must not throw.
   */
  onProgress?: (report: unknown) => void;
}

/** One attempt at a job. */
export interface Delivery {
  message: JobMessage;
  /** 1 for the first attempt. */
  attempt: number;
  deadline: number;
  /** The team of the request. A job that the handler sends to another queue has the same team. */
  team: string | undefined;
  volatile: boolean;
  /** Aborts when the requester cancels the job, when the requester disconnects, or at the deadline. */
  signal: AbortSignal;
  /**
   * Reports how far the attempt is. Undefined if the requester has no `onProgress`. At most one report per `progressIntervalMs`
   * is sent, always the latest; one that is larger than `progressBytes` as JSON is not sent.
   */
  progress: ((report: unknown) => void) | undefined;
}

export interface ServeOptions {
  /**
   * The number of slots: how many jobs run at the same time. The worker pulls a job only while a slot is free. `spareSlots`
   * more may run for teams that have no running job in this worker.
   */
  concurrency: number;
  /**
   * When it resolves, the worker sends the answer and then acknowledges the job. When it rejects, the job is redelivered
   * for another attempt. Reject only for infrastructure faults. A fault of the document is an answer.
   */
  handler: (delivery: Delivery) => Promise<JobAnswer>;
}

export interface Consumer {
  /** Accepts no new job. Resolves when the running jobs are finished. */
  drain(): Promise<void>;
}

export interface QueueDepth {
  /** Jobs that wait for a worker. */
  pending: number;
  /** Jobs that a worker has received and not yet settled. On NATS, workers report them once a second. */
  running: number;
  /** Age of the oldest waiting job in milliseconds; 0 if no job waits. */
  oldestMs: number;
}

/** Work queues in which each job gets an answer. */
export interface Bus {
  /**
   * Puts a job into a queue and waits for its answer.
   * @throws NoWorkerError, DeadlineError, CancelledError, AbandonedError, BusUnavailableError, StoreFullError
   */
  request(queue: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer>;
  serve(queue: string, options: ServeOptions): Promise<Consumer>;
  /** Number of workers that recently announced that they serve the queue. */
  workers(queue: string): number;
  depth(queue: string): Promise<QueueDepth>;
  /** False while this process is not connected to the others. */
  connected(): boolean;
  close(): Promise<void>;
}

/** How long an operation waits while the bus is unavailable: until the first of both. */
export interface Patience {
  /** Epoch milliseconds. */
  until?: number;
  /** The operation also ends when it aborts. */
  signal?: AbortSignal;
}

export interface PayloadRef {
  id: string;
  /** Bytes. */
  size: number;
  volatile: boolean;
  /** SHA-256 of the payload in base64url. The memory bus does not set it. */
  digest?: string;
}

export interface PutOptions extends Patience {
  /** Never write the payload to a disk. */
  volatile: boolean;
  /**
   * The service that may read the payload, in addition to the gateway; by default the service of this process. A function is
   * called when the source yields its first chunk. The memory bus, which has only one process, ignores it.
   */
  reader?: string | (() => string);
}

/** Stores payloads that are too large for a message, until they are deleted or reach their maximum age. */
export interface PayloadStore {
  /**
   * Stores a stream chunk by chunk. If the source throws or the store is full, the chunks that are already stored are
   * deleted. While the store is unavailable it waits as its `Patience` says; by default for `payloadRetryMs`.
   * @throws StoreFullError, BusUnavailableError, or the error of the source
   */
  put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef>;
  /**
   * Reads the payload chunk by chunk. If the store becomes unavailable, reading continues after the reconnect.
   * @param options.until epoch milliseconds at which to stop waiting for a reconnect; by default it does not wait
   * @throws PayloadMissingError, BusUnavailableError
   */
  get(ref: PayloadRef, options?: { until?: number }): Promise<AsyncIterable<Uint8Array>>;
  /** Deletes the payload. A payload that is already deleted is not an error. */
  delete(ref: PayloadRef): Promise<void>;
  close(): Promise<void>;
}

/** Small JSON values that all gateways share. Each change is a compare-and-set. */
export interface SharedState {
  get(key: string, patience?: Patience): Promise<unknown>;
  /**
   * Reads the value, calls `change` and writes the result. Repeats this if another writer changed the value in between,
   * so `change` must be pure. `next: undefined` deletes the key. If `next` is the same value as `current`, nothing is
   * written. A value expires `ttlMs` after its last write. Always use the same `ttlMs` for the same key.
   * While the bus is unavailable it waits as its `Patience` says; by default for `stateRetryMs`.
   * @throws BusUnavailableError, StoreFullError
   */
  update<T>(
    key: string,
    change: (current: unknown) => { next: unknown; result: T },
    options: { ttlMs: number } & Patience,
  ): Promise<T>;
  /**
   * Epoch milliseconds on the clock that all processes share: that of the server. Values that other processes read contain
   * only times of this clock, because the clocks of two machines may differ.
   */
  now(): number;
  close(): Promise<void>;
}

/** Stores events until another program collects them. */
export interface EventLog {
  /**
   * Stores one event. Waits while the bus is unavailable.
   * @param kind a name of lower-case letters
   * @param id events with the same id within two minutes are stored once
   * @throws BusUnavailableError if the event could not be stored in time
   */
  append(kind: string, event: object, id?: string): Promise<void>;
}

/** All interfaces of one connection. */
export interface Transport {
  kind: 'memory' | 'nats';
  /** The service of this process. It is the `reader` of the payloads that this process receives. */
  service: string;
  bus: Bus;
  payloads: PayloadStore;
  state: SharedState;
  /** Undefined on the memory bus, which has no server to store events. */
  events: EventLog | undefined;
  close(): Promise<void>;
}

export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
}
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}
/** The job had the maximum number of attempts and none of them returned an answer. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}
/** A handler throws it to give a job to another worker, because this one cannot work. It does not count as an attempt. */
export class JobReturnedError extends Error {
  override readonly name = 'JobReturnedError';
}
export class BusUnavailableError extends Error {
  override readonly name = 'BusUnavailableError';
}
/** The store is full. It has space again when other jobs are finished. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
export class PayloadMissingError extends Error {
  override readonly name = 'PayloadMissingError';
}
