// Defines API keys: their plan, their hash, and the interface of a key source.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** `parse`: may parse files. `zdr`: may use zero data retention. `audit`: each parse writes an audit event. */
export const PERMISSIONS = ['parse', 'zdr', 'audit'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The limits and permissions of a key. */
export const planSchema = z.object({
  /** Keys of one team share its concurrency. */
  team: z.string().min(1).max(128),
  /** Requests per minute. */
  rate: z.int().min(1).max(10_000_000),
  /** Documents processed at once. */
  concurrency: z.int().min(1).max(1_000_000),
  /** Requests that may wait for a concurrency slot. */
  queue: z.int().min(0).max(1_000_000),
  /** Total credits; null is unlimited. */
  credits: z.int().min(0).nullable(),
  allow: z.array(z.enum(PERMISSIONS)),
});
export type Plan = z.infer<typeof planSchema>;

/** Characters of `createdBy` and `revokedBy`. */
const ACTOR_LENGTH = 256;

/** A key as it is stored: its hash, never its value. */
export const keySchema = planSchema.extend({
  /** Short public name of the key in logs and lists. */
  id: z.string().min(1).max(64),
  /** SHA-256 of the key's value, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.iso.datetime(),
  /** Who created it: the user and host of `npm run keys`. Not proven, because whoever may write the key may write this too. */
  createdBy: z.string().max(ACTOR_LENGTH).optional(),
  /** From this time on, requests with the key are refused. Compared with the clock of the gateway's machine. */
  expires: z.iso.datetime().optional(),
  /** Set for a revoked key. A revoked key stays in the file, so that `API_KEY` cannot add its value again. */
  revokedAt: z.iso.datetime().optional(),
  /** Who revoked it, like `createdBy`. */
  revokedBy: z.string().max(ACTOR_LENGTH).optional(),
});
export type Key = z.infer<typeof keySchema>;

/** Whether the key has expired at a time in epoch milliseconds. */
export function isExpired({ expires }: Pick<Key, 'expires'>, now: number): boolean {
  return expires !== undefined && Date.parse(expires) <= now;
}

/** A key with the version of the file or Secret that it was read from. */
export interface StoredKey {
  key: Key;
  version: string;
}

/** Is called with all valid keys, revoked ones too, when they are loaded and after each change. */
export type KeyObserver = (keys: readonly StoredKey[]) => void;

/** Where the gateway looks up keys: a file, or Kubernetes Secrets. */
export interface KeySource {
  /** Returns the key with this value, also if it has expired; undefined if it is unknown or revoked. */
  find(token: string): Key | undefined;
  /** False until the keys have been loaded once. */
  ready(): boolean;
  /** The value of a key that this start created, for the operator to see once. */
  readonly firstKey: string | undefined;
  close(): Promise<void>;
}

/** Plan of the key that the first start creates: every permission and high limits. */
export const FIRST_KEY_PLAN: Plan = {
  team: 'default',
  rate: 60_000,
  concurrency: 200,
  queue: 1_000,
  credits: null,
  allow: [...PERMISSIONS],
};

/** Default plan of `npm run keys -- create`. Each key gets its own team, so that keys do not use up each other's concurrency. */
export const NEW_KEY_PLAN: Omit<Plan, 'team'> = {
  rate: 6_000,
  concurrency: 50,
  queue: 200,
  credits: null,
  allow: ['parse'],
};

export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** Returns a new key value: 256 random bits. */
export function randomToken(): string {
  return `pm-${randomBytes(32).toString('base64url')}`;
}

/** Creates the stored form of a key. @param plan without `team`, the key gets its own team */
export function makeKey(
  token: string,
  plan: Omit<Plan, 'team'> & { team?: string } & Pick<Key, 'expires' | 'createdBy'>,
  now = new Date(),
): Key {
  const id = randomBytes(6).toString('hex');
  return { ...plan, team: plan.team ?? `team-${id}`, id, sha256: hashToken(token), createdAt: now.toISOString() };
}

/** Keys that are not revoked, by hash. Only hashes are compared, so the time of a lookup does not reveal how close a guess is. */
export class KeyIndex {
  readonly #byHash: ReadonlyMap<string, Key>;

  constructor(keys: readonly Key[]) {
    this.#byHash = new Map(keys.filter((key) => key.revokedAt === undefined).map((key) => [key.sha256, key]));
  }

  find(token: string): Key | undefined {
    const hash = hashToken(token);
    const key = this.#byHash.get(hash);
    return key && timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash)) ? key : undefined;
  }
}
