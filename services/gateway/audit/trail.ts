// Writes audit events to standard output and to the event stream of the bus.
import { createHash } from 'node:crypto';
import type { EventLog } from '#shared/bus/bus.ts';
import type { AuditEvent } from '#shared/contract/audit-events.ts';
import { waitForCleanup } from '#shared/runtime/bounded-wait.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import type { Key } from '../auth/keys.ts';

type Unwritten<Event> = Event extends unknown ? Omit<Event, 'time'> : never;
/** An event before it has its time. */
type NewAuditEvent = Unwritten<AuditEvent>;

export class AuditTrail {
  readonly #log: Logger;
  readonly #events: EventLog | undefined;
  readonly #scope: Config['audit'];
  readonly #pending = new Set<Promise<void>>();

  /**
   * @param events undefined if the bus has no event stream
   * @param scope `keys`: requests whose key has the permission `audit`; `all`: every request
   */
  constructor(log: Logger, events: EventLog | undefined, scope: Config['audit']) {
    // Audit events are written at level info, even if LOG_LEVEL is higher.
    this.#log = log.level === 'silent' ? log : log.child({}, { level: 'info' });
    this.#events = events;
    this.#scope = scope;
  }

  /** Whether requests with this key write events. @param key undefined for a request without a known key */
  covers(key: Key | undefined): boolean {
    return this.#scope === 'all' || (key?.allow.includes('audit') ?? false);
  }

  /**
   * Writes an event. Does not wait for the event stream.
   * @param version for an event that every gateway writes: what distinguishes it from an equal event at another time. The event
   * stream stores it once.
   */
  write(event: NewAuditEvent, version?: string): void {
    const audit = { ...event, time: new Date().toISOString() };
    this.#log.info({ audit }, 'audit');
    if (!this.#events) return;
    const id =
      version === undefined
        ? undefined
        : createHash('sha256')
            .update(JSON.stringify([event, version]))
            .digest('hex');
    const stored = this.#events.append('audit', audit, id).catch((error: unknown) => {
      const requestId = 'requestId' in event ? event.requestId : undefined;
      this.#log.warn(
        { requestId, cause: describeCause(error) },
        'an audit event is missing from the event stream; it is in this log only',
      );
    });
    this.#pending.add(stored);
    void stored.finally(() => this.#pending.delete(stored));
  }

  /** Waits briefly for the events that the stream has not stored yet. */
  async close(): Promise<void> {
    await waitForCleanup(Promise.all(this.#pending));
  }
}
