// Opens the NATS connection, reconnects when it is lost, and reports when the connection and its streams are ready.
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { AuthorizationError, type NatsConnection, TimeoutError } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { msUntil } from '../deadline.ts';
import { connectOptions, DEFAULT_SERVICE, type ServerOptions } from './connect.ts';
import { ServerClock } from './server-clock.ts';
import { answerAdminRequests, directAdmin, remoteAdmin, type StreamAdmin } from './stream-admin.ts';
import type { StreamChoices } from './topology.ts';

/** The methods of a pino logger that the bus uses. */
export interface BusLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface ConnectionOptions extends ServerOptions {
  log?: BusLog;
  replicas?: number;
  volatileBytes?: number;
  queues?: readonly string[];
  signal?: AbortSignal;
}

const FIRST_RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 2_000;
/**
 * A connection on which the server does not answer is given up after 3 to 4.5 s: a caller may wait at most 5 s longer than a
 * fault lasts. It is not given up earlier, because a busy process or server may pause for some seconds.
 */
const PING_INTERVAL_MS = 1_500;
const MAX_PINGS_OUT = 2;
/**
 * Timeout of one attempt to connect. The operating system repeats the first packet after 1, 3 and 7 s, so a longer attempt
 * would end late when the network is back.
 */
const CONNECT_TIMEOUT_MS = 3_000;
/** Timeout of one JetStream API request. */
const API_TIMEOUT_MS = 3_000;
/** Interval of the log message that the first connection attempt still waits for the server. */
const WAITING_LOG_MS = 5_000;
/** How long `close` waits until the server has received all published messages. */
const FLUSH_TIMEOUT_MS = 1_000;
const NO_LOG: BusLog = { info() {}, warn() {} };

/**
 * Connects to the NATS server and creates missing streams. Waits if the server is not running yet.
 * @throws Error if the server's `max_payload` is too small
 */
export async function openConnection(options: ConnectionOptions): Promise<BusConnection> {
  const { log = NO_LOG, replicas = 1, volatileBytes = TRANSPORT_LIMITS.volatilePayloadBytes } = options;
  const backoff = new ReconnectBackoff();
  const nats = await connectToServer(options, log, backoff);
  const maxPayload = nats.info?.max_payload ?? 0;
  if (maxPayload < TRANSPORT_LIMITS.messageBytes) {
    await nats.close();
    throw new Error(
      `the NATS server allows messages of ${maxPayload} bytes; set its max_payload to ${TRANSPORT_LIMITS.messageBytes} or more`,
    );
  }
  const manager = await jetstreamManager(nats, { timeout: API_TIMEOUT_MS, checkAPI: false });
  const managesStreams = await mayManageStreams(nats, options.service);
  const connection = new BusConnection(
    nats,
    manager,
    log,
    { replicas, volatileBytes },
    managesStreams,
    options.service,
  );
  await connection.start(backoff, options.queues ?? []);
  return connection;
}

/**
 * Tries to connect until the server accepts the connection. Logs the cause of a failure when it changes, and then from time
 * to time: the server may not be running yet, but a certificate may also be wrong.
 * @throws AuthorizationError if the server rejects the credentials, or the reason of `signal`
 */
async function connectToServer(
  options: ConnectionOptions,
  log: BusLog,
  backoff: ReconnectBackoff,
): Promise<NatsConnection> {
  let logged = { message: '', at: 0 };
  for (;;)
    try {
      const nats = await connect({
        ...connectOptions(options),
        maxReconnectAttempts: -1,
        reconnectDelayHandler: () => backoff.nextDelay(),
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: MAX_PINGS_OUT,
        timeout: CONNECT_TIMEOUT_MS,
        // Otherwise the client captures a stack trace for each request, which costs more CPU than the request.
        noAsyncTraces: true,
      });
      backoff.reset();
      return nats;
    } catch (err) {
      if (err instanceof AuthorizationError) throw err;
      const message = String(err);
      if (message !== logged.message || performance.now() - logged.at >= WAITING_LOG_MS) {
        logged = { message, at: performance.now() };
        log.warn({ err }, 'waiting for the NATS server at NATS_URL');
      }
      await sleep(backoff.nextDelay(), undefined, options.signal ? { signal: options.signal } : {});
    }
}

/**
 * Whether the user of this connection may create streams. With one user for all services it may, so a worker needs no
 * gateway to start. The users of docs/nats.md may not.
 */
async function mayManageStreams(nats: NatsConnection, service = DEFAULT_SERVICE): Promise<boolean> {
  while (!answersForWorkers(service) && !nats.isClosed())
    try {
      await nats.request('$JS.API.INFO', '', { timeout: API_TIMEOUT_MS });
      return true;
    } catch (error) {
      // Anything else is a refusal: the user may not send this request, or its account has no JetStream of its own.
      if (!(error instanceof TimeoutError)) return false;
    }
  return true;
}

/** Whether a process of this service also manages the streams of workers that may not. */
const answersForWorkers = (service: string): boolean => service === DEFAULT_SERVICE || service === 'gateway';

/** Doubles the delay after each failed attempt, with jitter, so that many clients do not reconnect at the same time. */
class ReconnectBackoff {
  #attempts = 0;

  nextDelay(): number {
    this.#attempts += 1;
    const delay = Math.min(FIRST_RECONNECT_MS * 2 ** Math.min(this.#attempts, 8), MAX_RECONNECT_MS);
    return delay * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}

/** A NATS connection with its JetStream clients. */
export class BusConnection {
  readonly nats: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly log: BusLog;
  /** The service of this process. */
  readonly service: string;
  /** Copies of each stream. */
  readonly replicas: number;
  /** Whether this process creates and changes streams itself. Otherwise it asks the gateways. */
  readonly managesStreams: boolean;
  readonly admin: StreamAdmin;
  readonly clock: ServerClock;
  readonly #reconnectListeners = new Set<() => void>();
  readonly #waiters = new Set<(ready: boolean) => void>();
  /** Queues that this process uses, and whether their streams exist. */
  readonly #queues = new Map<string, Promise<void>>();
  #connected = true;
  #streamsReady = false;
  #ensuringStreams: Promise<void> | undefined;

  constructor(
    nats: NatsConnection,
    manager: JetStreamManager,
    log: BusLog,
    streamChoices: StreamChoices,
    managesStreams: boolean,
    service = DEFAULT_SERVICE,
  ) {
    this.nats = nats;
    this.service = service;
    this.replicas = streamChoices.replicas;
    this.managesStreams = managesStreams;
    this.admin = this.managesStreams ? directAdmin(manager, streamChoices) : remoteAdmin(nats, service);
    if (answersForWorkers(service))
      answerAdminRequests(nats, { ...this.admin, ensureStreams: () => this.restoreStreams() });
    this.jetstream = jetstream(nats, { timeout: API_TIMEOUT_MS });
    this.manager = manager;
    this.log = log;
    this.clock = new ServerClock({
      jetstream: this.jetstream,
      manager,
      ready: () => this.ready(),
      onError: (err) => log.warn({ err }, "the server's clock could not be measured"),
    });
  }

  /** Follows the status of the connection. Resolves when all streams exist, also those of these queues. */
  async start(backoff: ReconnectBackoff, queues: readonly string[]): Promise<void> {
    void this.#followStatus(backoff);
    // As streams that may be missing, so that they are created again if the server is too slow: a new cluster often is.
    for (const queue of queues) this.#queues.set(queue, Promise.resolve());
    await this.#prepareStreams();
    await this.clock.measure();
  }

  /** False while the connection is lost, and after a reconnect until all streams exist again. */
  ready(): boolean {
    return this.#connected && this.#streamsReady && !this.nats.isClosed();
  }

  /**
   * Resolves to true when the connection is ready, or to false at `until` (epoch milliseconds), when `signal` aborts or when
   * the connection is closed.
   */
  async whenReady(until: number, signal?: AbortSignal): Promise<boolean> {
    if (this.ready()) return true;
    if (signal?.aborted || this.nats.isClosed()) return false;
    return new Promise((resolve) => {
      const settle = (ready: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#waiters.delete(settle);
        resolve(ready);
      };
      const onAbort = (): void => settle(false);
      const timer = setTimeout(onAbort, msUntil(until));
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(settle);
    });
  }

  /** Creates missing streams. A server that restarts loses the streams that it keeps in memory. */
  restoreStreams(): Promise<void> {
    this.#ensuringStreams ??= this.#ensureAllStreams().finally(() => {
      this.#ensuringStreams = undefined;
    });
    return this.#ensuringStreams;
  }

  async #ensureAllStreams(): Promise<void> {
    await this.admin.ensureStreams();
    for (const queue of this.#queues.keys()) await this.admin.ensureQueue(queue);
  }

  /** Creates the streams of a queue before its first use, and from then on after each reconnect. */
  ensureQueue(queue: string): Promise<void> {
    let streams = this.#queues.get(queue);
    if (!streams) {
      streams = this.admin.ensureQueue(queue);
      this.#queues.set(queue, streams);
      streams.catch(() => this.#queues.delete(queue));
    }
    return streams;
  }

  /** Asks the server for a sign of life. Returns a function that tells whether it has answered. */
  probe(): () => boolean {
    let answered = false;
    this.nats.flush().then(
      () => {
        answered = true;
      },
      () => undefined,
    );
    return () => answered;
  }

  /** Calls `listener` after each reconnect, when all streams exist. Returns a function that removes the listener. */
  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  closed(): boolean {
    return this.nats.isClosed();
  }

  async close(): Promise<void> {
    this.clock.close();
    if (this.nats.isClosed()) return;
    // Send the answers and acknowledgements that were published just before.
    if (this.#connected)
      await Promise.race([
        this.nats.flush().catch(() => undefined),
        sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false }),
      ]);
    await this.nats.close();
    this.#wakeWaiters(false);
  }

  async #followStatus(backoff: ReconnectBackoff): Promise<void> {
    for await (const status of this.nats.status()) {
      if (status.type === 'disconnect' && this.#connected) {
        this.#connected = false;
        this.#streamsReady = false;
        this.log.warn({}, 'the connection to the NATS server was lost');
      } else if (status.type === 'error') {
        this.log.warn({ err: status.error }, 'the NATS server reported an error');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        backoff.reset();
        this.log.info({}, 'reconnected to the NATS server');
        void this.#prepareStreams().then(() => {
          if (!this.#streamsReady) return;
          for (const listener of this.#reconnectListeners) listener();
          // It may be another server.
          void this.clock.measure();
        });
      }
    }
  }

  /** Tries to create the streams until they exist or the connection is lost. */
  async #prepareStreams(): Promise<void> {
    this.#streamsReady = false;
    for (let attempt = 1; this.#connected && !this.nats.isClosed(); attempt++) {
      try {
        await this.restoreStreams();
        this.#streamsReady = true;
        this.#wakeWaiters(true);
        return;
      } catch (err) {
        // If two processes create the same stream at the same time, a server older than 2.10 returns an error to one of them.
        if (attempt > 1)
          this.log.warn(
            { err, attempt },
            this.managesStreams
              ? 'the streams could not be created; trying again'
              : 'waiting for a gateway, which creates the streams',
          );
        await sleep(Math.min(100 * attempt, MAX_RECONNECT_MS));
      }
    }
  }

  #wakeWaiters(ready: boolean): void {
    for (const waiter of this.#waiters) waiter(ready);
    this.#waiters.clear();
  }
}
