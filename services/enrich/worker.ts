// The enrich service's job handler: adds `summary` and `json` to a record, from its Markdown, which is already redacted.
import type { EnrichJob, JobHandler, RecordReport } from '#shared/contract/jobs.ts';
import { recordFieldsSchema } from '#shared/contract/response.ts';
import { readConfig } from '#shared/runtime/config.ts';
import type { ChatLimits } from './chat.ts';
import { extractJson } from './extraction.ts';
import { summarize } from './summary.ts';

/** The first language of the metadata as a tag that `Intl` accepts, or undefined. */
function languageOf(value: unknown): string | undefined {
  const tag = Array.isArray(value) ? value[0] : value;
  try {
    return typeof tag === 'string' ? Intl.getCanonicalLocales(tag.replace('_', '-'))[0] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Adds the requested fields and removes those that were made for this stage only.
 * @throws ParseError MODEL_NOT_CONFIGURED, SCHEMA_INVALID, EXTRACTION_FAILED, BAD_GATEWAY, SERVICE_UNAVAILABLE, REQUEST_TIMEOUT
 */
export const handle: JobHandler<EnrichJob> = async (job, payload, context) => {
  const fields = recordFieldsSchema.parse(JSON.parse(Buffer.from(payload).toString('utf8')));
  const config = readConfig().llm;
  const limits: ChatLimits = { signal: context.signal, deadline: context.deadline };
  const markdown = fields.markdown ?? '';
  const warnings = [...job.warnings];
  if (job.json) {
    const extraction = await extractJson(markdown, job.json, config, limits);
    fields.json = extraction.value;
    warnings.push(...extraction.warnings);
  }
  if (job.summary) {
    const summary = await summarize(markdown, config, limits, languageOf(job.metadata.language));
    fields.summary = summary.text;
    warnings.push(...summary.warnings);
  }
  for (const name of job.drop) delete fields[name];
  const reply: RecordReport = { metadata: job.metadata, warnings: [...new Set(warnings)] };
  return { reply, payload: JSON.stringify(fields) };
};
