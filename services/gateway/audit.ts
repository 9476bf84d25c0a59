// Writes one audit event per parse for keys with the `audit` permission, without file names or content.
import type { EventLog } from '#shared/bus/bus.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import { describeCause } from '#shared/runtime/cause.ts';
import type { Logger } from '#shared/runtime/log.ts';
import type { RequestContext } from './context.ts';
import type { Upload } from './upload/receive.ts';

/** What is known about a parse. The fields are set while it runs. */
export interface ParseFacts {
  options?: ParseOptions;
  upload?: Pick<Upload, 'bytes' | 'format'>;
  uploadMs?: number;
  queuedMs?: number;
  creditsUsed?: number;
}

/** Where audit events are written. */
export interface AuditTrail {
  log: Logger;
  /** Undefined if the bus has no event stream. */
  events: EventLog | undefined;
}

/** Writes the event to the log and to the event stream. @param outcome `success`, `cancelled` or the error code */
export function auditParse(trail: AuditTrail, context: RequestContext, facts: ParseFacts, outcome: string): void {
  const { key } = context;
  if (!key?.allow.includes('audit')) return;
  const { log, events } = trail;
  const audit = {
    event: 'parse',
    time: new Date().toISOString(),
    requestId: context.id,
    keyId: key.id,
    team: key.team,
    username: facts.options?.auditUsername,
    origin: facts.options?.origin,
    integration: facts.options?.integration,
    format: facts.upload?.format.extension,
    fileBytes: facts.upload?.bytes,
    zeroDataRetention: facts.options?.zeroDataRetention,
    outcome,
    creditsUsed: facts.creditsUsed ?? 0,
    uploadMs: facts.uploadMs,
    queuedMs: facts.queuedMs,
    totalMs: Date.now() - context.startedAt,
  };
  log.info({ audit }, 'audit');
  events
    ?.append('audit', audit)
    .catch((error: unknown) =>
      log.warn(
        { requestId: context.id, cause: describeCause(error) },
        'an audit event is missing from the event stream; it is in this log only',
      ),
    );
}
