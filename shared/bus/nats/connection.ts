// Opens the NATS connection, reconnects when it is lost, and reports when the connection and its streams are ready.
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { msUntil } from '../deadline.ts';
import { readAddress } from './address.ts';
import { ensureStreams, type StreamChoices } from './topology.ts';

/** The methods of a pino logger that the bus uses. */
export interface BusLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface ConnectionOptions {
  url: string;
  name: string;
  log?: BusLog;
  replicas?: number;
  volatileBytes?: number;
}

const FIRST_RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 2_000;
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
  const connection = new BusConnection(nats, manager, log, { replicas, volatileBytes });
  await connection.start(backoff);
  return connection;
}

async function connectToServer(
  options: ConnectionOptions,
  log: BusLog,
  backoff: ReconnectBackoff,
): Promise<NatsConnection> {
  const waiting = setInterval(() => log.warn({}, 'waiting for the NATS server at NATS_URL'), WAITING_LOG_MS);
  try {
    const nats = await connect({
      ...readAddress(options.url),
      name: options.name,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: true,
      reconnectDelayHandler: () => backoff.nextDelay(),
      pingInterval: 10_000,
      maxPingOut: 2,
      // Otherwise the client captures a stack trace for each request, which costs more CPU than the request.
      noAsyncTraces: true,
    });
    backoff.reset();
    return nats;
  } finally {
    clearInterval(waiting);
  }
}

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
  readonly #streamChoices: StreamChoices;
  readonly #reconnectListeners = new Set<() => void>();
  readonly #waiters = new Set<(ready: boolean) => void>();
  #connected = true;
  #streamsReady = false;
  #ensuringStreams: Promise<void> | undefined;

  constructor(nats: NatsConnection, manager: JetStreamManager, log: BusLog, streamChoices: StreamChoices) {
    this.nats = nats;
    this.jetstream = jetstream(nats, { timeout: API_TIMEOUT_MS });
    this.manager = manager;
    this.log = log;
    this.#streamChoices = streamChoices;
  }

  /** Follows the status of the connection. Resolves when all streams exist. */
  async start(backoff: ReconnectBackoff): Promise<void> {
    void this.#followStatus(backoff);
    await this.#prepareStreams();
  }

  /** False while the connection is lost, and after a reconnect until all streams exist again. */
  ready(): boolean {
    return this.#connected && this.#streamsReady && !this.nats.isClosed();
  }

  /** Resolves to true when the connection is ready, or to false at `until` (epoch milliseconds) or when it is closed. */
  async whenReady(until: number): Promise<boolean> {
    if (this.ready()) return true;
    if (this.nats.isClosed()) return false;
    return new Promise((resolve) => {
      const settle = (ready: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(settle);
        resolve(ready);
      };
      const timer = setTimeout(() => settle(false), msUntil(until));
      this.#waiters.add(settle);
    });
  }

  /** Creates missing streams. A server that restarts loses the streams that it keeps in memory. */
  restoreStreams(): Promise<void> {
    this.#ensuringStreams ??= ensureStreams(this.manager, this.#streamChoices).finally(() => {
      this.#ensuringStreams = undefined;
    });
    return this.#ensuringStreams;
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
          if (this.#streamsReady) for (const listener of this.#reconnectListeners) listener();
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
        if (attempt > 1) this.log.warn({ err, attempt }, 'the streams could not be created; trying again');
        await sleep(Math.min(100 * attempt, MAX_RECONNECT_MS));
      }
    }
  }

  #wakeWaiters(ready: boolean): void {
    for (const waiter of this.#waiters) waiter(ready);
    this.#waiters.clear();
  }
}
