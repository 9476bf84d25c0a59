// Converts keys to and from Kubernetes Secrets: hash and plan are plain text fields that a person or a GitOps tool can write.
import type { V1Secret } from '@kubernetes/client-node';
import { z } from 'zod';
import { type Key, keySchema, NEW_KEY_PLAN, PERMISSIONS } from './keys.ts';

const NAME_PREFIX = 'parsemesh-key-';
/** Annotations, because a gateway of an earlier version would reject a Secret with fields that it does not know. */
const CREATED_BY = 'parsemesh.dev/created-by';
export const REVOKED_BY = 'parsemesh.dev/revoked-by';

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

/** Strict: an unknown field is most likely a typo, and ignoring it would give the key a plan that its author did not intend. */
const fieldsSchema = z.strictObject({
  sha256: z.string(),
  id: z.string().optional(),
  team: z.string().optional(),
  rate: number.optional(),
  concurrency: number.optional(),
  queue: number.optional(),
  credits: z.union([z.literal('unlimited').transform(() => null), number]).optional(),
  allow: list.pipe(z.array(z.enum(PERMISSIONS))).optional(),
  expires: z
    .string()
    // A person may write a date only, which means the start of that day, UTC.
    .transform((text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00.000Z` : text))
    .optional(),
  revokedAt: z.string().optional(),
});

/** The Secret is not a valid key. The message names the field, never its value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * Reads the key of a Secret. Missing plan fields get the values of a new key; a missing `id` is the Secret's name.
 * @throws SecretError
 */
export function parseSecret(secret: V1Secret): Key {
  const texts = Object.entries(secret.data ?? {}).map(([name, value]) => [
    name,
    // Text editors add a line feed at the end of a file.
    Buffer.from(value, 'base64').toString('utf8').trim(),
  ]);
  const fields = fieldsSchema.safeParse(Object.fromEntries(texts));
  if (!fields.success) throw toSecretError(fields.error.issues);
  const { sha256, id = secret.metadata?.name ?? '', ...plan } = fields.data;
  const { creationTimestamp: created = new Date(0), annotations = {} } = secret.metadata ?? {};
  const createdBy = annotations[CREATED_BY];
  const revokedBy = annotations[REVOKED_BY];
  const key = keySchema.safeParse({
    ...NEW_KEY_PLAN,
    team: `team-${id}`,
    ...Object.fromEntries(Object.entries(plan).filter(([, value]) => value !== undefined)),
    id,
    sha256: sha256.toLowerCase(),
    createdAt: new Date(created).toISOString(),
    ...(createdBy === undefined ? {} : { createdBy }),
    ...(revokedBy === undefined ? {} : { revokedBy }),
  });
  if (!key.success) throw toSecretError(key.error.issues);
  return key.data;
}

/** Builds the Secret of a new key, with fields that are readable in a diff. @throws SecretError if a term of the selector is not `name=value` */
export function buildSecret(key: Key, target: { namespace: string | undefined; selector: string }): V1Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${NAME_PREFIX}${key.id}`,
      ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
      labels: labelsFor(target.selector),
      ...(key.createdBy === undefined ? {} : { annotations: { [CREATED_BY]: key.createdBy } }),
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
      ...(key.expires === undefined ? {} : { expires: key.expires }),
      ...(key.revokedAt === undefined ? {} : { revokedAt: key.revokedAt }),
    },
  };
}

/** The labels that a selector of `name=value` terms matches. @throws SecretError for any other term */
function labelsFor(selector: string): Record<string, string> {
  return Object.fromEntries(
    selector.split(',').map((term) => {
      const [, name, value] = /^\s*([^\s=!]+)\s*==?\s*([^\s=!]*)\s*$/.exec(term) ?? [];
      if (name === undefined || value === undefined)
        throw new SecretError(
          `the selector "${selector}" cannot be turned into labels: use name=value terms, joined by commas`,
        );
      return [name, value];
    }),
  );
}

function toSecretError(issues: readonly z.core.$ZodIssue[]): SecretError {
  const first = issues[0];
  const field = first?.path.join('.');
  return new SecretError(`${field ? `${field}: ` : ''}${first?.message ?? 'not valid'}`);
}
