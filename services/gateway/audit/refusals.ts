// Counts refused requests, so that a client that is refused again and again cannot fill the event stream.
import { isIPv6 } from 'node:net';
import { REFUSAL_CODES, type RefusalCode, type RefusalEvent } from '#shared/contract/audit-events.ts';
import { ERROR_CODES } from '#shared/contract/errors.ts';
import { AUDIT_LIMITS } from '#shared/contract/limits.ts';
import type { RequestContext } from '../context.ts';
import type { AuditTrail } from './trail.ts';

type Counted = Omit<RefusalEvent, 'time'>;

/** Writes one event for the refused requests of one address and key with one error code in one minute. */
export class RefusalAudit {
  readonly #trail: AuditTrail;
  /** Requests without a known key are counted apart, so that they cannot hide the refusals of known keys. */
  readonly #unknown = new RefusalCounter(AUDIT_LIMITS.refusalAddresses);
  readonly #known = new RefusalCounter(AUDIT_LIMITS.refusalKeys);
  #timer: NodeJS.Timeout | undefined;

  constructor(trail: AuditTrail) {
    this.#trail = trail;
  }

  /** Counts a request if its error code is that of a refusal. */
  record(context: RequestContext): void {
    const code = REFUSAL_CODES.find((one) => one === context.code);
    if (code === undefined || !this.#trail.covers(context.key)) return;
    (context.key ? this.#known : this.#unknown).add(code, context, new Date().toISOString());
    this.#timer ??= setTimeout(() => this.flush(), AUDIT_LIMITS.refusalWindowMs).unref();
  }

  /** Writes the events of the requests that were counted since the last call. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const event of [...this.#unknown.take(), ...this.#known.take()]) this.#trail.write(event);
  }
}

/** Refused requests by code, key and address. Requests beyond `maxGroups` are counted together by their code. */
class RefusalCounter {
  readonly #maxGroups: number;
  #groups = new Map<string, Counted>();
  #rest = new Map<string, Counted>();

  constructor(maxGroups: number) {
    this.#maxGroups = maxGroups;
  }

  add(code: RefusalCode, context: RequestContext, now: string): void {
    const { key, address } = context;
    const name = JSON.stringify([code, key?.id, address && network(address)]);
    const known = this.#groups.get(name);
    if (known) {
      count(known, now);
      return;
    }
    const first: Counted = {
      event: 'refusal',
      code,
      status: ERROR_CODES[code].status,
      route: context.route,
      requestId: context.id,
      count: 1,
      firstAt: now,
      lastAt: now,
    };
    if (this.#groups.size < this.#maxGroups) {
      const { userAgent } = context;
      this.#groups.set(name, { ...first, keyId: key?.id, team: key?.team, address, userAgent });
      return;
    }
    const rest = this.#rest.get(code);
    if (rest) count(rest, now);
    else this.#rest.set(code, first);
  }

  /** Returns the counts and starts again. */
  take(): Counted[] {
    const counted = [...this.#groups.values(), ...this.#rest.values()];
    this.#groups = new Map();
    this.#rest = new Map();
    return counted;
  }
}

function count(refusals: Counted, now: string): void {
  refusals.count += 1;
  refusals.lastAt = now;
}

/** The part of an address that one client cannot change: of an IPv6 address the first 64 bits, because a client has all addresses of such a network. */
function network(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const start = groups(head);
  const missing = tail === undefined ? 0 : 8 - start.length - groups(tail).length;
  const all = [...start, ...Array<string>(Math.max(0, missing)).fill('0'), ...groups(tail ?? '')];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':');
}
