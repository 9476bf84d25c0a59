// The enrich service's job handler: adds `summary` and `json` to a record, from its Markdown, which is already redacted, and checks JSON Schemas.
import type { EnrichJob, JobHandler, RecordReport, SchemaJob } from '#shared/contract/jobs.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { readConfig } from '#shared/runtime/config.ts';
import type { ChatLimits } from './chat.ts';
import { extractJson } from './extraction.ts';
import { EXTRACTIVE_UNITS } from './extractive.ts';
import { RecordText } from './record-text.ts';
import { readSchema } from './schema.ts';
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
const enrich: JobHandler<EnrichJob> = async (job, payload, context) => {
  const record = new RecordText(payload);
  const changes: RecordFields = {};
  const config = readConfig().llm;
  const limits: ChatLimits = { signal: context.signal, deadline: context.deadline };
  const markdown = record.start('markdown', EXTRACTIVE_UNITS);
  const warnings = [...job.warnings];
  if (job.json) {
    const extraction = await extractJson(markdown, job.json, config, limits);
    changes.json = extraction.value;
    warnings.push(...extraction.warnings);
  }
  if (job.summary) {
    const summary = await summarize(markdown, config, limits, languageOf(job.metadata.language));
    changes.summary = summary.text;
    warnings.push(...summary.warnings);
  }
  for (const name of job.drop) changes[name] = undefined;
  const reply: RecordReport = { metadata: job.metadata, warnings: [...new Set(warnings)] };
  return { reply, payload: record.with(changes) };
};

/** @throws ParseError SCHEMA_INVALID; those of `enrich` */
export const handle: JobHandler<EnrichJob | SchemaJob> = async (job, payload, context) => {
  if (job.kind === 'enrich') return enrich(job, payload, context);
  readSchema(JSON.parse(Buffer.from(payload).toString('utf8')));
  return { reply: null };
};
