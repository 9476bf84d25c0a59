// How a key lies in a Kubernetes Secret: its hash and its plan as plain text fields, so that a person or a GitOps tool can write one by hand.
import type { V1Secret } from '@kubernetes/client-node';
import { z } from 'zod';
import { type Key, keySchema, NEW_KEY_PLAN, PERMISSIONS } from './keys.ts';

/** What the Secrets of API keys carry unless `KEYS_SELECTOR` says otherwise. */
export const DEFAULT_SELECTOR = 'parsemesh.dev/api-key=true';
const NAME_PREFIX = 'parsemesh-key-';

const number = z
  .string()
  .regex(/^\d{1,12}$/, 'not a whole number')
  .transform(Number);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** A field that is not one of these is a slip of the pen, and a plan other than the one that was meant: refused. */
const fieldsSchema = z.strictObject({
  sha256: z.string(),
  id: z.string().optional(),
  team: z.string().optional(),
  rate: number.optional(),
  concurrency: number.optional(),
  queue: number.optional(),
  credits: z.union([z.literal('unlimited').transform(() => null), number]).optional(),
  allow: list.pipe(z.array(z.enum(PERMISSIONS))).optional(),
  revokedAt: z.string().optional(),
});

/** The Secret is labelled as a key and is none; says which field is wrong, and never a field's value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

function complain(issues: readonly z.core.$ZodIssue[]): SecretError {
  const first = issues[0];
  const where = first?.path.join('.');
  return new SecretError(`${where ? `${where}: ` : ''}${first?.message ?? 'not valid'}`);
}

/**
 * The key in a Secret. Fields that are left out have the plan of a new key; `id` falls back to the Secret's name.
 * @throws SecretError
 */
export function readSecret(secret: V1Secret): Key {
  const texts = Object.entries(secret.data ?? {}).map(([name, value]) => [
    name,
    // A text editor's last line feed is not part of a value.
    Buffer.from(value, 'base64').toString('utf8').trim(),
  ]);
  const fields = fieldsSchema.safeParse(Object.fromEntries(texts));
  if (!fields.success) throw complain(fields.error.issues);
  const { sha256, id = secret.metadata?.name ?? '', ...plan } = fields.data;
  const created = secret.metadata?.creationTimestamp ?? new Date(0);
  const key = keySchema.safeParse({
    ...NEW_KEY_PLAN,
    team: `team-${id}`,
    ...Object.fromEntries(Object.entries(plan).filter(([, value]) => value !== undefined)),
    id,
    sha256: sha256.toLowerCase(),
    createdAt: new Date(created).toISOString(),
  });
  if (!key.success) throw complain(key.error.issues);
  return key.data;
}

/** The labels that a selector of `name=value` terms asks for. @throws SecretError for any other term */
function labelsOf(selector: string): Record<string, string> {
  return Object.fromEntries(
    selector.split(',').map((term) => {
      const [, name, value] = /^\s*([^\s=!]+)\s*==?\s*([^\s=!]*)\s*$/.exec(term) ?? [];
      if (name === undefined || value === undefined)
        throw new SecretError(`no labels can be made of the selector "${selector}": it must be of name=value terms`);
      return [name, value];
    }),
  );
}

/** The Secret of a new key, readable in a diff. @throws SecretError where the selector names no labels */
export function writeSecret(key: Key, place: { namespace: string | undefined; selector: string }): V1Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${NAME_PREFIX}${key.id}`,
      ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
      labels: labelsOf(place.selector),
    },
    type: 'Opaque',
    stringData: {
      id: key.id,
      sha256: key.sha256,
      team: key.team,
      rate: String(key.rate),
      concurrency: String(key.concurrency),
      queue: String(key.queue),
      credits: String(key.credits ?? 'unlimited'),
      allow: key.allow.join(','),
      ...(key.revokedAt === undefined ? {} : { revokedAt: key.revokedAt }),
    },
  };
}
