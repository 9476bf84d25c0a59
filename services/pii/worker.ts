// The PII service's job handler: returns a record with its personal data redacted.
import { ParseError } from '#shared/contract/errors.ts';
import type { JobHandler, RecordReport, RedactJob } from '#shared/contract/jobs.ts';
import { PII_LIMITS } from '#shared/contract/limits.ts';
import { recordFieldsSchema } from '#shared/contract/response.ts';
import { detectorFor } from './detect.ts';
import { compromiseModel } from './model/compromise.ts';
import { httpModel } from './model/http.ts';
import type { PiiModel } from './model/model.ts';
import { RecordRedaction } from './record.ts';
import { Redactor } from './redactor.ts';

/** The HTTP model at `PII_MODEL_URL` if it is set, else the built-in one. */
function modelFor(env: NodeJS.ProcessEnv): PiiModel {
  const url = env.PII_MODEL_URL?.trim();
  return url ? httpModel(url) : compromiseModel();
}

/**
 * Redacts every text of the record (docs/api.md, "Redaction"). A job that fails returns no part of the record.
 * @throws ParseError BAD_GATEWAY from a configured model, REQUEST_TIMEOUT at the deadline
 */
export const handle: JobHandler<RedactJob> = async (job, payload, context) => {
  const fields = recordFieldsSchema.parse(JSON.parse(Buffer.from(payload).toString('utf8')));
  const detector = detectorFor(
    job.options,
    job.options.mode === 'fast' ? undefined : modelFor(process.env),
    context.signal,
  );
  try {
    const redacted = await new RecordRedaction(new Redactor(detector, job.options.replaceStyle)).run(fields, {
      metadata: job.metadata,
      warnings: job.warnings,
    });
    const reply: RecordReport = redacted.report;
    if (detector.modelLimitReached())
      reply.warnings.push(
        `The document is long: after its first ${PII_LIMITS.modelUnits} characters, names and places were found by rules and lists, without the model.`,
      );
    return { reply, payload: JSON.stringify(redacted.fields) };
  } catch (cause) {
    if (context.signal.aborted) throw new ParseError('REQUEST_TIMEOUT', undefined, { cause });
    throw cause;
  }
};

/** Loads the built-in model's word lists. */
export async function warm(): Promise<void> {
  await compromiseModel().find('Warm up with Jane Doe of Paris.', new AbortController().signal);
}
