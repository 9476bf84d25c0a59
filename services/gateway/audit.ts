// One audit event a parse for keys that have audit: who, how much and what came of it; never a file's name or content.
import type { ParseOptions } from '#shared/contract/options.ts';
import type { Logger } from '#shared/runtime/log.ts';
import type { RequestContext } from './context.ts';
import type { Upload } from './upload/receive.ts';

/** What became known of a parse by the time it ended. */
export interface ParseFacts {
  options?: ParseOptions;
  upload?: Pick<Upload, 'bytes' | 'format'>;
  uploadMs?: number;
  queuedMs?: number;
  creditsUsed?: number;
}

/** Writes the event to the log as `audit`. @param outcome `success`, `cancelled` or the error code */
export function auditParse(log: Logger, context: RequestContext, facts: ParseFacts, outcome: string): void {
  const { key } = context;
  if (!key?.allow.includes('audit')) return;
  log.info(
    {
      audit: {
        event: 'parse',
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
      },
    },
    'audit',
  );
}
