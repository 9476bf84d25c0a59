// Counts the workers of each queue and their running jobs from the announcements that every worker publishes once a second.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { BusConnection } from './connection.ts';
import { ALL_ANNOUNCEMENTS, ANNOUNCE_REQUEST_SUBJECT, announcementSubject, type WorkerState } from './protocol.ts';
import type { Durability } from './topology.ts';

/** Sequence numbers of running jobs in the two streams of a queue. */
export type RunningJobs = Record<Durability, number[]>;

export interface WorkerRegistry {
  /** Number of workers whose last announcement for the queue is at most `presenceTtlMs` old. */
  count(queue: string): number;
  /** The jobs that these workers announced. A job that has started since is missing; one that has ended since is included. */
  running(queue: string): Record<Durability, Set<number>>;
  /** Announces `worker` and its running jobs now and every `presenceMs`. */
  announce(queue: string, worker: string, running: () => RunningJobs): Announcer;
  close(): void;
}

interface Announcer {
  /** The worker accepts no new job. Its running jobs are still announced. */
  drain(): void;
  stop(): void;
}

interface Announcement {
  /** Epoch milliseconds. */
  at: number;
  draining: boolean;
  running: RunningJobs;
}

/** A worker of this process. */
interface OwnWorker {
  queue: string;
  worker: string;
  state: WorkerState;
  running: () => RunningJobs;
}

/** Reads the jobs in an announcement. Returns no jobs if the text is malformed. */
function readRunning(text: string): RunningJobs {
  try {
    const { durable, volatile } = JSON.parse(text) as Partial<Record<Durability, unknown>>;
    const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.filter(Number.isSafeInteger) : []);
    return { durable: numbers(durable), volatile: numbers(volatile) };
  } catch {
    return { durable: [], volatile: [] };
  }
}

/** Subscribes to the announcements of all workers and requests one from each of them. */
export function createWorkerRegistry(connection: BusConnection): WorkerRegistry {
  const { nats } = connection;
  /** The last announcements, by queue and worker. */
  const lastSeen = new Map<string, Map<string, Announcement>>();
  const ownWorkers = new Set<OwnWorker>();

  const publish = (state: WorkerState, queue: string, worker: string, running?: RunningJobs): void => {
    if (connection.ready()) nats.publish(announcementSubject(state, queue, worker), JSON.stringify(running ?? {}));
  };
  const announceAll = (): void => {
    for (const { queue, worker, state, running } of ownWorkers) publish(state, queue, worker, running());
  };
  const requestAnnouncements = (): void => {
    if (!connection.closed()) nats.publish(ANNOUNCE_REQUEST_SUBJECT);
  };

  const announcements = nats.subscribe(ALL_ANNOUNCEMENTS, {
    callback(error, message) {
      const [, , state, queue, worker] = message.subject.split('.');
      if (error || queue === undefined || worker === undefined) return;
      const workers = lastSeen.get(queue) ?? new Map<string, Announcement>();
      lastSeen.set(queue, workers);
      if (state === 'gone') workers.delete(worker);
      else
        workers.set(worker, {
          at: Date.now(),
          draining: state === 'draining',
          running: readRunning(message.string()),
        });
    },
  });
  const announceRequests = nats.subscribe(ANNOUNCE_REQUEST_SUBJECT, { callback: announceAll });
  const timer = setInterval(announceAll, TRANSPORT_LIMITS.presenceMs);
  timer.unref();
  const removeReconnectListener = connection.onReconnect(() => {
    requestAnnouncements();
    announceAll();
  });
  requestAnnouncements();

  const present = (queue: string): Announcement[] => {
    const workers = lastSeen.get(queue);
    if (!workers) return [];
    const oldest = Date.now() - TRANSPORT_LIMITS.presenceTtlMs;
    for (const [worker, { at }] of workers) if (at < oldest) workers.delete(worker);
    return [...workers.values()];
  };

  return {
    count: (queue) => present(queue).filter(({ draining }) => !draining).length,
    running(queue) {
      const workers = present(queue);
      const all = (durability: Durability) => new Set(workers.flatMap(({ running }) => running[durability]));
      return { durable: all('durable'), volatile: all('volatile') };
    },
    announce(queue, worker, running) {
      const own: OwnWorker = { queue, worker, state: 'here', running };
      const announceOwn = (): void => publish(own.state, queue, worker, running());
      ownWorkers.add(own);
      announceOwn();
      return {
        drain() {
          own.state = 'draining';
          announceOwn();
        },
        stop() {
          if (ownWorkers.delete(own)) publish('gone', queue, worker);
        },
      };
    },
    close() {
      clearInterval(timer);
      removeReconnectListener();
      announcements.unsubscribe();
      announceRequests.unsubscribe();
    },
  };
}
