// Builds the audit event of a parse, without file names or content.
import { type ParseEvent, REFUSAL_CODES } from '#shared/contract/audit-events.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import type { RequestContext } from '../context.ts';
import type { Upload } from '../upload/receive.ts';
import type { AuditTrail } from './trail.ts';

/** What is known about a parse. The fields are set while it runs. */
export interface ParseFacts {
  options?: ParseOptions;
  upload?: Pick<Upload, 'bytes' | 'format'>;
  uploadMs?: number;
  queuedMs?: number;
  creditsUsed?: number;
  /** Number of redactions by entity. */
  redactions?: Readonly<Record<string, number>>;
}

/** Writes the event of a parse that has ended. A refused request has an event of its own. */
export function auditParse(
  trail: AuditTrail,
  context: RequestContext,
  facts: ParseFacts,
  outcome: ParseEvent['outcome'],
): void {
  const { key } = context;
  if (!key || !trail.covers(key) || REFUSAL_CODES.some((code) => code === outcome)) return;
  const { options, redactions } = facts;
  trail.write({
    event: 'parse',
    requestId: context.id,
    keyId: key.id,
    team: key.team,
    address: context.address,
    userAgent: context.userAgent,
    username: options?.auditUsername,
    origin: options?.origin,
    integration: options?.integration,
    formats: options && [...options.formats],
    format: facts.upload?.format.extension,
    fileBytes: facts.upload?.bytes,
    zeroDataRetention: options?.zeroDataRetention,
    redaction: options?.redact && { mode: options.redact.mode, entities: redactions },
    outcome,
    creditsUsed: facts.creditsUsed ?? 0,
    uploadMs: facts.uploadMs,
    queuedMs: facts.queuedMs,
    totalMs: Date.now() - context.startedAt,
  });
}
