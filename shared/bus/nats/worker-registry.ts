// Counts the workers of each queue from the announcements that every worker publishes once a second.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { BusConnection } from './connection.ts';
import { ALL_ANNOUNCEMENTS, ANNOUNCE_REQUEST_SUBJECT, announcementSubject } from './protocol.ts';

export interface WorkerRegistry {
  /** Number of workers whose last announcement for the queue is at most `presenceTtlMs` old. */
  count(queue: string): number;
  /** Announces `worker` now and every `presenceMs`, until the returned function is called. */
  announce(queue: string, worker: string): () => void;
  close(): void;
}

/** Subscribes to the announcements of all workers and requests one from each of them. */
export function createWorkerRegistry(connection: BusConnection): WorkerRegistry {
  const { nats } = connection;
  /** Epoch milliseconds of the last announcement, by queue and worker. */
  const lastSeen = new Map<string, Map<string, number>>();
  const ownWorkers = new Set<{ queue: string; worker: string }>();

  const publish = (state: 'here' | 'gone', queue: string, worker: string): void => {
    if (connection.ready()) nats.publish(announcementSubject(state, queue, worker));
  };
  const announceAll = (): void => {
    for (const { queue, worker } of ownWorkers) publish('here', queue, worker);
  };
  const requestAnnouncements = (): void => {
    if (!connection.closed()) nats.publish(ANNOUNCE_REQUEST_SUBJECT);
  };

  const announcements = nats.subscribe(ALL_ANNOUNCEMENTS, {
    callback(error, message) {
      const [, , state, queue, worker] = message.subject.split('.');
      if (error || queue === undefined || worker === undefined) return;
      const workers = lastSeen.get(queue) ?? new Map<string, number>();
      lastSeen.set(queue, workers);
      if (state === 'here') workers.set(worker, Date.now());
      else workers.delete(worker);
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

  return {
    count(queue) {
      const workers = lastSeen.get(queue);
      if (!workers) return 0;
      const oldest = Date.now() - TRANSPORT_LIMITS.presenceTtlMs;
      for (const [worker, at] of workers) if (at < oldest) workers.delete(worker);
      return workers.size;
    },
    announce(queue, worker) {
      const own = { queue, worker };
      ownWorkers.add(own);
      publish('here', queue, worker);
      return () => {
        if (ownWorkers.delete(own)) publish('gone', queue, worker);
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
