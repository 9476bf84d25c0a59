// The way of one document over the bus: converted, redacted where asked, enriched where asked; each stage's payload is let go when the next has answered.
import type { Transport } from '#shared/bus/bus.ts';
import type { ConvertJob, EnrichJob, Job, RecordHead, RedactJob } from '#shared/contract/jobs.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import type { FieldName } from '#shared/contract/response.ts';
import type { QueueName } from '#shared/contract/services.ts';
import { dispatch } from '#shared/runtime/dispatch.ts';
import { deletePayload, type JobPayload } from '#shared/runtime/payload.ts';
import type { Upload } from './upload/receive.ts';

export interface PipelineContext {
  transport: Transport;
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  signal: AbortSignal;
}

/** What the stages made: `RecordFields` as JSON text (the caller releases it), and what goes beside it. */
export interface ParsedRecord {
  head: RecordHead;
  fields: JobPayload;
}

/** The fields that a converter is to fill, and those of them that no caller asked for. */
export function plannedFields(options: ParseOptions, service: string): { fields: FieldName[]; drop: FieldName[] } {
  const fields = new Set<FieldName>();
  for (const format of options.formats) if (format !== 'summary' && format !== 'json') fields.add(format);
  if (service === 'pdf' && options.pdf.pages) fields.add('pages');
  if (service === 'pdf' && options.pdf.blocks) fields.add('blocks');
  const drop: FieldName[] = [];
  if (needsEnrichment(options) && !fields.has('markdown')) {
    fields.add('markdown');
    drop.push('markdown');
  }
  return { fields: [...fields], drop };
}

function needsEnrichment(options: ParseOptions): boolean {
  return options.formats.has('summary') || options.formats.has('json');
}

/**
 * Runs a stored upload through its stages. The upload's own payload is let go as soon as it is converted.
 * @throws ParseError what a stage answered, 408 at the deadline, 503 where a service is away; CancelledError
 */
export async function runPipeline(upload: Upload, context: PipelineContext): Promise<ParsedRecord> {
  const { transport, requestId, deadline, signal } = context;
  const { options, format } = upload;
  const { fields, drop } = plannedFields(options, format.service);

  const stage = async (queue: QueueName, job: Job, input: JobPayload): Promise<ParsedRecord> => {
    const release = (): Promise<void> => deletePayload(transport.payloads, input);
    const asked = { deadline, signal, volatile: options.zeroDataRetention };
    try {
      const { reply, payload } = await dispatch<RecordHead>(transport, queue, job, input, asked);
      await release();
      return { head: reply, fields: payload };
    } catch (error) {
      // Who is owed an error is not kept waiting for the tidying.
      void release();
      throw error;
    }
  };

  const convert: ConvertJob = {
    kind: 'convert',
    requestId,
    fileName: upload.fileName,
    extension: format.extension,
    container: format.container,
    ...(upload.charset === undefined ? {} : { charset: upload.charset }),
    options: {
      fields,
      includeTags: options.includeTags,
      excludeTags: options.excludeTags,
      onlyMainContent: options.onlyMainContent,
      blockAds: options.blockAds,
      removeBase64Images: options.removeBase64Images,
      pdf: options.pdf,
    },
  };
  let record = await stage(format.service, convert, upload.payload);
  if (options.redact) {
    const redact: RedactJob = { kind: 'redact', requestId, options: options.redact, ...record.head };
    record = await stage('pii', redact, record.fields);
  }
  if (needsEnrichment(options)) {
    const enrich: EnrichJob = {
      kind: 'enrich',
      requestId,
      summary: options.formats.has('summary'),
      ...(options.json ? { json: options.json } : {}),
      drop,
      ...record.head,
    };
    record = await stage('enrich', enrich, record.fields);
  }
  return record;
}
