// Defines the audit events that the gateway writes; docs/audit.md is generated from these schemas.
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';
import { AUDIT_LIMITS } from './limits.ts';

const time = z.iso.datetime().meta({ description: 'When the event was written, UTC.' });
const count = z.int().min(0);
const keyId = z.string().meta({ description: '`id` of the API key.' });
const team = z.string().meta({ description: 'Team of the API key.' });
const address = z
  .string()
  .optional()
  .meta({ description: 'IP address of the client, as TRUST_PROXY determines it (docs/configuration.md).' });
const userAgent = z
  .string()
  .max(AUDIT_LIMITS.userAgentLength)
  .optional()
  .meta({ description: `First ${AUDIT_LIMITS.userAgentLength} characters of the \`User-Agent\` header.` });

/** Error codes of a refusal: the request was not allowed, so nothing was parsed. */
export const REFUSAL_CODES = [
  'UNAUTHORIZED',
  'PAYMENT_REQUIRED',
  'FORBIDDEN',
  'RATE_LIMIT_EXCEEDED',
  'CONCURRENCY_LIMIT_REACHED',
] as const satisfies readonly ErrorCode[];
export type RefusalCode = (typeof REFUSAL_CODES)[number];

const parse = z
  .strictObject({
    event: z.literal('parse'),
    time,
    requestId: z.string().meta({ description: '`X-Request-Id` of the response.' }),
    keyId,
    team,
    address,
    userAgent,
    username: z.string().optional().meta({ description: '`auditMetadata.username` of the request.' }),
    origin: z.string().optional().meta({ description: '`origin` of the request.' }),
    integration: z.string().optional().meta({ description: '`integration` of the request.' }),
    formats: z.array(z.string()).optional().meta({ description: 'Requested output formats.' }),
    format: z.string().optional().meta({ description: 'Detected file format, as an extension.' }),
    fileBytes: count.optional().meta({ description: 'Size of the file in bytes.' }),
    zeroDataRetention: z
      .boolean()
      .optional()
      .meta({ description: 'Whether the request asked for zero data retention.' }),
    redaction: z
      .strictObject({
        mode: z.string().meta({ description: 'Mode of `redactPII`.' }),
        entities: z
          .record(z.string(), count)
          .optional()
          .meta({ description: 'Number of redactions by entity. Absent if the redaction was not finished.' }),
      })
      .optional()
      .meta({
        description: '`mode`, and `entities` with the number of redactions by entity. Absent without `redactPII`.',
      }),
    outcome: z
      .enum(['success', 'cancelled', ...(Object.keys(ERROR_CODES) as ErrorCode[])])
      .meta({ description: '`success`, `cancelled` (the client disconnected) or the error code.' }),
    creditsUsed: count.meta({ description: 'Credits that were charged.' }),
    uploadMs: count.optional().meta({ description: 'Milliseconds until the upload was complete.' }),
    queuedMs: count.optional().meta({ description: 'Milliseconds that the request waited for a slot of its team.' }),
    totalMs: count.meta({ description: 'Milliseconds until the response was ready.' }),
  })
  .meta({ description: 'A request to parse a file was accepted, and has ended.' });

const refusal = z
  .strictObject({
    event: z.literal('refusal'),
    time,
    code: z.enum(REFUSAL_CODES).meta({ description: 'Error code of the response.' }),
    status: z.int().meta({ description: 'HTTP status of the response.' }),
    route: z.string().meta({ description: 'Route of the first request, as in the metrics.' }),
    requestId: z.string().meta({ description: '`X-Request-Id` of the first response.' }),
    keyId: keyId.optional().meta({ description: '`id` of the API key. Absent for an unknown key.' }),
    team: team.optional().meta({ description: 'Team of the API key. Absent for an unknown key.' }),
    address: address.meta({
      description: 'IP address of the first request. Absent if `count` is a sum over several addresses or keys.',
    }),
    userAgent,
    count: count.min(1).meta({ description: 'Number of refused requests.' }),
    firstAt: z.iso.datetime().meta({ description: 'When the first of them was refused, UTC.' }),
    lastAt: z.iso.datetime().meta({ description: 'When the last of them was refused, UTC.' }),
  })
  .meta({
    description: 'Requests were refused: wrong key (401), no credits (402), no permission (403) or a limit (429).',
  });

const keyFields = {
  time,
  keyId,
  team,
  keyHash: z.string().meta({ description: 'First 12 hexadecimal digits of the SHA-256 hash of the key.' }),
  source: z.enum(['file', 'kubernetes']).meta({ description: 'Where the key is stored (KEYS_SOURCE).' }),
};
const by = z.string().optional().meta({
  description: 'Who did it, as `npm run keys` recorded it: user and host. Absent if the key was stored in another way.',
});

const keyCreated = z
  .strictObject({
    event: z.literal('key-created'),
    ...keyFields,
    by,
    rate: count.meta({ description: 'Requests per minute.' }),
    concurrency: count.meta({ description: 'Documents at the same time.' }),
    queue: count.meta({ description: 'Requests that may wait.' }),
    credits: count.nullable().meta({ description: 'Credits in total; null is unlimited.' }),
    allow: z.array(z.string()).meta({ description: 'Permissions.' }),
    expires: z.iso.datetime().optional().meta({ description: 'When the key expires.' }),
  })
  .meta({ description: 'The gateway found a new key.' });
const keyChanged = z
  .strictObject({
    event: z.literal('key-changed'),
    ...keyFields,
    changes: z
      .record(z.string(), z.strictObject({ from: z.json(), to: z.json() }))
      .meta({ description: 'Each changed field with its old and new value; null if it was or is absent.' }),
  })
  .meta({ description: 'Plan, permissions, team, `id` or expiry of a key were changed.' });
const keyRevoked = z
  .strictObject({ event: z.literal('key-revoked'), ...keyFields, by })
  .meta({ description: 'A key was revoked.' });
const keyDeleted = z
  .strictObject({ event: z.literal('key-deleted'), ...keyFields })
  .meta({ description: 'A key was deleted from the file, or its Secret was deleted or is no longer valid.' });
const keyExpired = z
  .strictObject({
    event: z.literal('key-expired'),
    ...keyFields,
    expires: z.iso.datetime().meta({ description: 'When the key expired.' }),
  })
  .meta({ description: 'A key has reached its expiry.' });

/** Every kind of event, in the order of the documentation. */
export const AUDIT_EVENTS = [parse, refusal, keyCreated, keyChanged, keyRevoked, keyDeleted, keyExpired] as const;
export const auditEventSchema = z.discriminatedUnion('event', AUDIT_EVENTS);
export type AuditEvent = z.infer<typeof auditEventSchema>;
export type ParseEvent = z.infer<typeof parse>;
export type RefusalEvent = z.infer<typeof refusal>;
