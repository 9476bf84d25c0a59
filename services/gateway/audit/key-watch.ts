// Compares the API keys before and after each change, to write audit events and to count keys by state.
import { KEYS_LIMITS } from '#shared/contract/limits.ts';
import type { Config } from '#shared/runtime/config.ts';
import { apiKeys, type KeyState } from '#shared/runtime/metrics.ts';
import { isExpired, type Key, type KeyObserver, type StoredKey } from '../auth/keys.ts';
import type { AuditTrail } from './trail.ts';

/** Fields whose change is an event. */
const FIELDS = ['id', 'team', 'rate', 'concurrency', 'queue', 'credits', 'allow', 'expires'] as const;

/** The state of a key at a time in epoch milliseconds. */
function keyState(key: Key, now: number): KeyState {
  if (key.revokedAt !== undefined) return 'revoked';
  if (isExpired(key, now)) return 'expired';
  return isExpired(key, now + KEYS_LIMITS.expiryNoticeMs) ? 'expiring' : 'active';
}

/** The first keys that it receives are the ones that existed before; they write no event. */
export class KeyWatch {
  readonly #trail: AuditTrail;
  readonly #source: Config['keys']['source'];
  /** By hash. Undefined until the keys are loaded. */
  #keys: ReadonlyMap<string, StoredKey> | undefined;
  /** Hashes of keys whose expiry has been reached. */
  #expired = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(trail: AuditTrail, source: Config['keys']['source']) {
    this.#trail = trail;
    this.#source = source;
    this.#timer = setInterval(() => this.checkExpiry(), KEYS_LIMITS.expiryCheckMs).unref();
  }

  /** Receives all keys when they are loaded, and again after each change. */
  readonly observe: KeyObserver = (stored) => {
    const before = this.#keys;
    const after = new Map(stored.map((one) => [one.key.sha256, one]));
    this.#keys = after;
    if (!before) {
      const now = Date.now();
      this.#expired = new Set(stored.filter(({ key }) => isExpired(key, now)).map(({ key }) => key.sha256));
    } else {
      for (const [hash, one] of after) this.#compare(before.get(hash)?.key, one);
      for (const [hash, { key, version }] of before)
        if (!after.has(hash)) this.#trail.write({ event: 'key-deleted', ...this.#identify(key) }, version);
    }
    this.checkExpiry();
  };

  /** Writes an event for each key that has expired since the last call, and counts the keys by state. */
  checkExpiry(): void {
    if (!this.#keys) return;
    const now = Date.now();
    const counts: Record<KeyState, number> = { active: 0, expiring: 0, expired: 0, revoked: 0 };
    for (const [hash, { key }] of this.#keys) {
      const state = keyState(key, now);
      counts[state] += 1;
      if (state !== 'expired' || key.expires === undefined) this.#expired.delete(hash);
      else if (!this.#expired.has(hash)) {
        this.#expired.add(hash);
        const { expires } = key;
        this.#trail.write({ event: 'key-expired', ...this.#identify(key), expires }, expires);
      }
    }
    for (const [state, count] of Object.entries(counts)) apiKeys.set({ state }, count);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #compare(before: Key | undefined, { key, version }: StoredKey): void {
    const { rate, concurrency, queue, credits, allow, expires, createdBy, revokedBy, revokedAt } = key;
    const identity = this.#identify(key);
    if (!before)
      this.#trail.write(
        { event: 'key-created', ...identity, by: createdBy, rate, concurrency, queue, credits, allow, expires },
        version,
      );
    const changed = before
      ? FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(key[field]))
      : [];
    const changes = Object.fromEntries(
      changed.map((field) => [field, { from: before?.[field] ?? null, to: key[field] ?? null }]),
    );
    if (before?.revokedAt !== undefined && revokedAt === undefined)
      changes.revokedAt = { from: before.revokedAt, to: null };
    if (Object.keys(changes).length > 0) this.#trail.write({ event: 'key-changed', ...identity, changes }, version);
    if (revokedAt !== undefined && before?.revokedAt === undefined)
      this.#trail.write({ event: 'key-revoked', ...identity, by: revokedBy }, version);
  }

  #identify({ id, team, sha256 }: Key) {
    return { keyId: id, team, keyHash: sha256.slice(0, 12), source: this.#source };
  }
}
