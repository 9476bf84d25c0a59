// One NATS connection that comes back by itself, and tells when it is usable again with everything in its place.
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { readAddress } from './address.ts';
import { ensureStreams } from './topology.ts';

/** What of a pino logger is used here. */
export interface BusLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface Link {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly log: BusLog;
  /** False while the connection is down, or up again but with streams still missing. */
  ready(): boolean;
  /** Resolves to true once usable, to false when `until` (epoch milliseconds) comes or the link closes first. */
  whenReady(until: number): Promise<boolean>;
  /** Makes missing streams again (those in memory do not outlive their server). */
  repair(): Promise<void>;
  /** Calls back after each return of the connection; gives back a function that ends that. */
  onReturn(listener: () => void): () => void;
  closed(): boolean;
  close(): Promise<void>;
}

interface LinkOptions {
  url: string;
  name: string;
  log?: BusLog;
  replicas?: number;
  volatileBytes?: number;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;
/** JetStream answers within this or the call is tried again. */
const API_TIMEOUT_MS = 3_000;
const WAITING_LOG_MS = 5_000;
const SILENT: BusLog = { info() {}, warn() {} };

/** Opens the connection; waits for a server that is not there yet. @throws Error when `max_payload` is too small */
export async function openLink(options: LinkOptions): Promise<Link> {
  const log = options.log ?? SILENT;
  let tries = 0;
  const waiting = setInterval(() => log.warn({}, 'waiting for the NATS server that NATS_URL names'), WAITING_LOG_MS);
  const connection = await connect({
    ...readAddress(options.url),
    name: options.name,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectDelayHandler: () => {
      tries += 1;
      return Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 8), LONGEST_RETRY_MS) * (0.5 + Math.random() / 2);
    },
    pingInterval: 10_000,
    maxPingOut: 2,
    // A stack trace for each message sent costs more than the message.
    noAsyncTraces: true,
  }).finally(() => clearInterval(waiting));
  const allowed = connection.info?.max_payload ?? 0;
  if (allowed < TRANSPORT_LIMITS.messageBytes) {
    await connection.close();
    throw new Error(
      `the NATS server allows messages of ${allowed} bytes; set its max_payload to ${TRANSPORT_LIMITS.messageBytes} or more`,
    );
  }
  tries = 0;
  const client = jetstream(connection, { timeout: API_TIMEOUT_MS });
  const manager = await jetstreamManager(connection, { timeout: API_TIMEOUT_MS, checkAPI: false });
  const { replicas = 1, volatileBytes = TRANSPORT_LIMITS.volatilePayloadBytes } = options;

  let up = true;
  let prepared = false;
  const listeners = new Set<() => void>();
  const waiters = new Set<(ready: boolean) => void>();
  const wake = (ready: boolean): void => {
    for (const waiter of waiters) waiter(ready);
    waiters.clear();
  };

  let repairing: Promise<void> | undefined;
  const repair = (): Promise<void> => {
    repairing ??= ensureStreams(manager, { replicas, volatileBytes }).finally(() => {
      repairing = undefined;
    });
    return repairing;
  };
  const prepare = async (): Promise<void> => {
    prepared = false;
    for (let attempt = 1; up && !connection.isClosed(); attempt++) {
      try {
        await repair();
        prepared = true;
        wake(true);
        return;
      } catch (err) {
        // Servers before 2.10 refuse one of two processes that make the same stream at the same moment.
        if (attempt > 1) log.warn({ err, attempt }, 'the streams on the bus are not in place yet');
        await sleep(Math.min(100 * attempt, LONGEST_RETRY_MS));
      }
    }
  };

  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' && up) {
        up = false;
        prepared = false;
        log.warn({}, 'the message bus is away');
      } else if (status.type === 'error') {
        log.warn({ err: status.error }, 'the message bus complains');
      } else if (status.type === 'reconnect') {
        up = true;
        tries = 0;
        log.info({}, 'the message bus is back');
        void prepare().then(() => {
          if (prepared) for (const listener of listeners) listener();
        });
      }
    }
  };
  void watch();
  await prepare();

  const ready = (): boolean => up && prepared && !connection.isClosed();
  return {
    connection,
    client,
    manager,
    log,
    ready,
    async whenReady(until) {
      if (ready()) return true;
      if (connection.isClosed()) return false;
      return new Promise((resolve) => {
        const settle = (value: boolean): void => {
          clearTimeout(timer);
          waiters.delete(settle);
          resolve(value);
        };
        const timer = setTimeout(() => settle(false), Math.max(0, Math.min(until - Date.now(), 2 ** 31 - 1)));
        waiters.add(settle);
      });
    },
    repair,
    onReturn(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    closed: () => connection.isClosed(),
    async close() {
      if (connection.isClosed()) return;
      // Lets what was just published (answers, acknowledgements) leave first, if there is a server to leave to.
      if (up) await Promise.race([connection.flush().catch(() => undefined), sleep(1_000, undefined, { ref: false })]);
      await connection.close();
      wake(false);
    },
  };
}
