// What an API key is and may do, and the one question the gateway asks of wherever keys are kept.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** What a key may be allowed: to parse at all, zero data retention, audit events. */
export const PERMISSIONS = ['parse', 'zdr', 'audit'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What a key's holder may use. */
export const planSchema = z.object({
  /** Keys of one team share its concurrency. */
  team: z.string().min(1).max(128),
  /** Requests a minute. */
  rate: z.int().min(1).max(10_000_000),
  /** Documents worked on at once. */
  concurrency: z.int().min(1).max(1_000_000),
  /** Requests that may wait for one of those places. */
  queue: z.int().min(0).max(1_000_000),
  /** Credits in all; null is unlimited. */
  credits: z.int().min(0).nullable(),
  allow: z.array(z.enum(PERMISSIONS)),
});
export type Plan = z.infer<typeof planSchema>;

/** A key as it is kept: its hash, never its value. */
export const keySchema = planSchema.extend({
  /** Short, public name of the key in logs and lists. */
  id: z.string().min(1).max(64),
  /** SHA-256 of the key's value, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.iso.datetime(),
  /** A key with this is refused; it stays listed so that its value cannot come back by `API_KEY`. */
  revokedAt: z.iso.datetime().optional(),
});
export type Key = z.infer<typeof keySchema>;

/** Where keys are kept: a file here, Secrets in a cluster. */
export interface KeySource {
  /** The live key with this value, or undefined where it is unknown or revoked. */
  find(token: string): Key | undefined;
  /** Whether the keys were read once; before that nobody can be told from a stranger. */
  ready(): boolean;
  /** The value of a key that was made on this start, for the operator to see once. */
  readonly firstKey: string | undefined;
  close(): Promise<void>;
}

/** The plan of the key that the first start makes: everything allowed, nothing scarce. */
export const FIRST_KEY_PLAN: Plan = {
  team: 'default',
  rate: 60_000,
  concurrency: 200,
  queue: 1_000,
  credits: null,
  allow: [...PERMISSIONS],
};

/** What `npm run keys -- create` gives where no flag says otherwise (a team of its own, so that keys do not crowd each other). */
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

/** A new key's value: 256 random bits. */
export function randomToken(): string {
  return `pm-${randomBytes(32).toString('base64url')}`;
}

/** A key ready to be kept. @param plan `team` falls back to a team of the key's own */
export function makeKey(token: string, plan: Omit<Plan, 'team'> & { team?: string }, now = new Date()): Key {
  const id = randomBytes(6).toString('hex');
  return { ...plan, team: plan.team ?? `team-${id}`, id, sha256: hashToken(token), createdAt: now.toISOString() };
}

/** Keys by hash; a lookup takes the same time whether a guess is near or far, since only digests are compared. */
export class KeyRing {
  private readonly byHash: ReadonlyMap<string, Key>;

  constructor(keys: readonly Key[]) {
    this.byHash = new Map(keys.filter((key) => key.revokedAt === undefined).map((key) => [key.sha256, key]));
  }

  find(token: string): Key | undefined {
    const hash = hashToken(token);
    const key = this.byHash.get(hash);
    return key && timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash)) ? key : undefined;
  }
}
