// Events on a stream of the bus, kept for whoever collects them, each stored once however often it had to be sent.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { BusUnavailableError, type EventLog } from '../bus.ts';
import type { Link } from './link.ts';
import { eventSubject } from './topology.ts';

const RETRY_MS = 500;

/** An EventLog on a stream with a size and an age; the oldest goes first. */
export function createNatsEventLog(link: Link): EventLog {
  let waiting = 0;
  return {
    async append(kind, event) {
      if (waiting >= TRANSPORT_LIMITS.eventsWaiting)
        throw new BusUnavailableError('too many events wait for the bus already');
      waiting += 1;
      const until = Date.now() + TRANSPORT_LIMITS.eventRetryMs;
      const msgID = randomUUID();
      const text = JSON.stringify(event);
      try {
        for (;;) {
          if (!(await link.whenReady(until))) throw new BusUnavailableError('the bus is away');
          try {
            await link.client.publish(eventSubject(kind), text, { msgID });
            return;
          } catch (cause) {
            if (Date.now() >= until) throw new BusUnavailableError('the bus did not take the event', { cause });
            await link.repair().catch(() => undefined);
            await sleep(RETRY_MS);
          }
        }
      } finally {
        waiting -= 1;
      }
    },
  };
}
