// The three seams to whatever carries jobs, payloads and shared numbers between processes; memory and NATS implement them, one contract suite holds both.

/** A job on its way: a small JSON header and the bytes that fit beside it. */
export interface JobMessage {
  /** Unique; also the key for cancelling. */
  id: string;
  header: unknown;
  body: Uint8Array;
}

export interface JobAnswer {
  header: unknown;
  body: Uint8Array;
}

export interface RequestOptions {
  /** Epoch milliseconds; past it the request rejects and the work is cancelled. */
  deadline: number;
  signal?: AbortSignal;
  /** Keep the message off every disk (zero data retention). */
  volatile?: boolean;
  /** Called each time a worker takes the job: the wait in the queue is over. */
  onStarted?: () => void;
}

/** One attempt at a job. */
export interface Delivery {
  message: JobMessage;
  /** 1 for the first. */
  attempt: number;
  deadline: number;
  volatile: boolean;
  /** Fires when the requester cancelled, went away or the deadline passed. */
  signal: AbortSignal;
}

export interface ServeOptions {
  /** Jobs taken at once; no more are pulled than can run. */
  concurrency: number;
  /**
   * Resolves: the answer is sent, then the job acknowledged. Rejects: the job is given back for another attempt
   * (an infrastructure fault; a fault of the document is an answer).
   */
  handler: (delivery: Delivery) => Promise<JobAnswer>;
}

export interface Consumer {
  /** Takes no new job, lets those that run finish, then resolves. */
  drain(): Promise<void>;
}

export interface QueueDepth {
  /** Jobs nobody has taken yet. */
  pending: number;
  /** Jobs taken and not yet answered. One that a full worker gave straight back may count here until the next worker asks. */
  running: number;
  /** Milliseconds that the oldest of the waiting jobs waits; 0 where none does. */
  oldestMs: number;
}

/** Work queues with answers. */
export interface Bus {
  /**
   * Puts a job in a queue and waits for its answer.
   * @throws NoWorkerError, DeadlineError, CancelledError, AbandonedError, BusUnavailableError
   */
  request(queue: string, message: JobMessage, options: RequestOptions): Promise<JobAnswer>;
  serve(queue: string, options: ServeOptions): Promise<Consumer>;
  /** Workers that said lately that they serve the queue. */
  workers(queue: string): number;
  depth(queue: string): Promise<QueueDepth>;
  /** False while the way to the other processes is down. */
  connected(): boolean;
  close(): Promise<void>;
}

export interface PayloadRef {
  id: string;
  size: number;
  volatile: boolean;
}

export interface PutOptions {
  /** Keep it off every disk. */
  volatile: boolean;
}

/** Bytes too large for a message, kept until deleted or swept by age. */
export interface PayloadStore {
  /**
   * Stores a stream chunk by chunk, never whole in memory unless `volatile` demands it. A source that throws leaves nothing behind.
   * @throws StoreFullError, and nothing of the stream is left
   */
  put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PayloadRef>;
  /**
   * The bytes, chunk by chunk. Where the store goes away in between, reading goes on when it is back, up to `until` (epoch milliseconds; absent: not at all).
   * @throws PayloadMissingError; BusUnavailableError
   */
  get(ref: PayloadRef, options?: { until?: number }): Promise<AsyncIterable<Uint8Array>>;
  /** Fine when it is already gone. */
  delete(ref: PayloadRef): Promise<void>;
  close(): Promise<void>;
}

/** Small JSON values that all gateways share, changed by compare-and-set. */
export interface SharedState {
  get(key: string): Promise<unknown>;
  /**
   * Reads, computes and writes until no other writer came between. `change` must be pure: it may run several times.
   * `next: undefined` deletes the key; the very value that was given back leaves without writing.
   * A value not written for `ttlMs` is gone. One key keeps to one `ttlMs`.
   */
  update<T>(
    key: string,
    change: (current: unknown) => { next: unknown; result: T },
    options: { ttlMs: number },
  ): Promise<T>;
  close(): Promise<void>;
}

/** Events kept for whoever collects them. */
export interface EventLog {
  /**
   * Keeps one event, waiting for a bus that is away.
   * @param kind a name of small letters
   * @throws BusUnavailableError where it could not be kept in time
   */
  append(kind: string, event: object): Promise<void>;
}

/** All of them, from one connection. */
export interface Transport {
  kind: 'memory' | 'nats';
  bus: Bus;
  payloads: PayloadStore;
  state: SharedState;
  /** Undefined where no server is there to keep them. */
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
/** The job was given to workers as often as allowed and none lived to answer. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}
export class BusUnavailableError extends Error {
  override readonly name = 'BusUnavailableError';
}
/** The store has no room for more; there will be when others are done. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
export class PayloadMissingError extends Error {
  override readonly name = 'PayloadMissingError';
}
