// Who serves which queue right now, told by the workers themselves once a second.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { Link } from './link.ts';
import { PRESENCE_ALL, PRESENCE_ASK, presenceSubject } from './protocol.ts';

export interface Presence {
  /** Workers of the queue heard of within `presenceTtlMs`. */
  count(queue: string): number;
  /** Says that `worker` serves `queue`, now and every `presenceMs`, until the function given back is called. */
  announce(queue: string, worker: string): () => void;
  close(): void;
}

/** Listens to the workers of all queues and asks them to speak at once. */
export function createPresence(link: Link): Presence {
  const { connection } = link;
  const heard = new Map<string, Map<string, number>>();
  const own = new Set<{ queue: string; worker: string }>();

  const say = (word: 'here' | 'gone', queue: string, worker: string): void => {
    if (link.ready()) connection.publish(presenceSubject(word, queue, worker));
  };
  const sayAll = (): void => {
    for (const { queue, worker } of own) say('here', queue, worker);
  };
  const ask = (): void => {
    if (!link.closed()) connection.publish(PRESENCE_ASK);
  };

  const listening = connection.subscribe(PRESENCE_ALL, {
    callback(error, message) {
      const [, , word, queue, worker] = message.subject.split('.');
      if (error || queue === undefined || worker === undefined) return;
      const workers = heard.get(queue) ?? new Map<string, number>();
      heard.set(queue, workers);
      if (word === 'here') workers.set(worker, Date.now());
      else workers.delete(worker);
    },
  });
  const answering = connection.subscribe(PRESENCE_ASK, { callback: sayAll });
  const timer = setInterval(sayAll, TRANSPORT_LIMITS.presenceMs);
  timer.unref();
  const endReturn = link.onReturn(() => {
    ask();
    sayAll();
  });
  ask();

  return {
    count(queue) {
      const workers = heard.get(queue);
      if (!workers) return 0;
      const oldest = Date.now() - TRANSPORT_LIMITS.presenceTtlMs;
      for (const [worker, at] of workers) if (at < oldest) workers.delete(worker);
      return workers.size;
    },
    announce(queue, worker) {
      const entry = { queue, worker };
      own.add(entry);
      say('here', queue, worker);
      return () => {
        if (own.delete(entry)) say('gone', queue, worker);
      };
    },
    close() {
      clearInterval(timer);
      endReturn();
      listening.unsubscribe();
      answering.unsubscribe();
    },
  };
}
