// Stores events on a JetStream stream, with a message id so that a retry does not store an event twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { BusUnavailableError, type EventLog } from '../bus.ts';
import type { BusConnection } from './connection.ts';
import { eventSubject } from './topology.ts';

const RETRY_MS = 500;

/** An EventLog on a stream with a maximum size and age. The server deletes the oldest events first. */
export function createNatsEventLog(connection: BusConnection): EventLog {
  let waiting = 0;
  return {
    async append(kind, event, id) {
      if (waiting >= TRANSPORT_LIMITS.eventsWaiting)
        throw new BusUnavailableError('too many events already wait for the message bus');
      waiting += 1;
      const until = Date.now() + TRANSPORT_LIMITS.eventRetryMs;
      const msgID = id ?? randomUUID();
      const text = JSON.stringify(event);
      try {
        for (;;) {
          if (!(await connection.whenReady(until))) throw new BusUnavailableError('the message bus is unavailable');
          try {
            await connection.jetstream.publish(eventSubject(kind), text, { msgID });
            return;
          } catch (cause) {
            if (Date.now() >= until) throw new BusUnavailableError('the event could not be stored', { cause });
            await connection.restoreStreams().catch(() => undefined);
            await sleep(RETRY_MS);
          }
        }
      } finally {
        waiting -= 1;
      }
    },
  };
}
