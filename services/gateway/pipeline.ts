// Runs one document through its stages on the bus: convert, then redact and enrich if requested.
import type { Transport } from '#shared/bus/bus.ts';
import type { ConvertJob, EnrichJob, Job, RecordReport, RedactJob, Redirect } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { ParseOptions } from '#shared/contract/options.ts';
import type { JobProgress } from '#shared/contract/progress.ts';
import type { FieldName } from '#shared/contract/response.ts';
import { isQueueName, QUEUES, type QueueName, type ServiceName } from '#shared/contract/services.ts';
import { dispatch } from '#shared/runtime/dispatch.ts';
import { deletePayload, type JobPayload } from '#shared/runtime/payload.ts';
import type { Upload } from './upload/receive.ts';

interface PipelineContext {
  transport: Transport;
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** The team of the key. */
  team: string;
  signal: AbortSignal;
  /** Called when a stage starts. `convert` starts when a worker takes the document, and again if it is redelivered. */
  onStage: (stage: 'convert' | 'redact' | 'enrich') => void;
  /** Called with the progress of the conversion. Without it, the worker reports none. */
  onProgress?: (progress: JobProgress) => void;
}

/** The result of the pipeline. */
export interface ParsedRecord {
  /** Metadata and warnings. */
  report: RecordReport;
  /** `RecordFields` as JSON text. The caller must delete it. */
  fields: JobPayload;
  /** The name of the uploaded file, redacted if redaction was requested. */
  fileName: string;
}

interface StageOptions {
  /** The service of the next stage, which reads the result. Default: the gateway. */
  resultReader?: ServiceName;
  /** Called each time a worker receives the job. */
  onStarted?: () => void;
  onProgress?: (progress: JobProgress) => void;
}

type StageResult = Pick<ParsedRecord, 'report' | 'fields'>;

/**
 * Runs the stages for a stored upload. Each stage's input is deleted when the stage has finished.
 * @throws ParseError from a stage; 408 at the deadline; 503 if a service is unavailable; CancelledError
 */
export async function runPipeline(upload: Upload, context: PipelineContext): Promise<ParsedRecord> {
  const { options, format } = upload;
  const { fields, drop } = planFields(options, format.service);
  const { onStage, onProgress } = context;
  const run = (queue: QueueName, job: Job, input: JobPayload, stage: StageOptions = {}): Promise<StageResult> =>
    runStage(context, queue, job, input, { volatile: options.zeroDataRetention, ...stage });
  const enrichment: StageOptions = needsEnrichment(options) ? { resultReader: 'enrich' } : {};

  let { fileName } = upload;
  let record = await run(format.queue, convertJob(upload, fields, context.requestId), upload.payload, {
    onStarted: () => onStage('convert'),
    ...(options.redact ? { resultReader: 'pii' } : enrichment),
    ...(onProgress ? { onProgress } : {}),
  });
  if (options.redact) {
    onStage('redact');
    const redact: RedactJob = {
      kind: 'redact',
      requestId: context.requestId,
      options: options.redact,
      metadata: { ...record.report.metadata, sourceURL: fileName },
      warnings: record.report.warnings,
    };
    record = await run('pii', redact, record.fields, enrichment);
    const { sourceURL } = record.report.metadata;
    // If the service returns no name, the response must not contain the original name.
    fileName = typeof sourceURL === 'string' ? sourceURL : '';
  }
  if (needsEnrichment(options)) {
    onStage('enrich');
    const enrich: EnrichJob = {
      kind: 'enrich',
      requestId: context.requestId,
      summary: options.formats.has('summary'),
      ...(options.json ? { json: options.json } : {}),
      drop,
      ...record.report,
    };
    record = await run('enrich', enrich, record.fields);
  }
  return { ...record, fileName };
}

async function runStage(
  { transport, deadline, team, signal }: PipelineContext,
  queue: QueueName,
  job: Job,
  input: JobPayload,
  options: StageOptions & { volatile: boolean },
): Promise<StageResult> {
  const deleteInput = (): Promise<void> => deletePayload(transport.payloads, input);
  try {
    const run = (name: QueueName) =>
      dispatch<RecordReport | Redirect>(transport, name, job, input, { deadline, team, signal, ...options });
    let { reply, payload } = await run(queue);
    const other = redirectOf(reply, queue);
    if (other !== undefined) ({ reply, payload } = await run(other));
    await deleteInput();
    if ('queue' in reply) throw new Error('a converter answered with a redirect that is not allowed');
    return { report: reply, fields: payload };
  } catch (error) {
    // Do not delay the error response for cleanup.
    void deleteInput();
    throw error;
  }
}

/** The queue that a converter names because of the content of the file. It may name only another queue of its own service. */
function redirectOf(reply: RecordReport | Redirect, queue: QueueName): QueueName | undefined {
  if (!('queue' in reply) || !isQueueName(reply.queue) || reply.queue === queue) return undefined;
  return QUEUES[reply.queue].service === QUEUES[queue].service ? reply.queue : undefined;
}

/** Chooses the fields that the converter fills, and those of them that the response must not contain. */
function planFields(options: ParseOptions, service: string): { fields: FieldName[]; drop: FieldName[] } {
  const fields = new Set<FieldName>();
  for (const format of options.formats) if (format !== 'summary' && format !== 'json') fields.add(format);
  if (service === 'pdf' && options.pdf.pages) fields.add('pages');
  if (service === 'pdf' && options.pdf.blocks) fields.add('blocks');
  const drop: FieldName[] = [];
  // Enrichment reads the Markdown, even if the client did not request it.
  if (needsEnrichment(options) && !fields.has('markdown')) {
    fields.add('markdown');
    drop.push('markdown');
  }
  return { fields: [...fields], drop };
}

function needsEnrichment(options: ParseOptions): boolean {
  return options.formats.has('summary') || options.formats.has('json');
}

/** The share of the time of a request that the stages after the conversion need. */
function laterShare(options: ParseOptions): number {
  return (
    (options.redact ? DOCUMENT_LIMITS.redactShare : 0) + (needsEnrichment(options) ? DOCUMENT_LIMITS.enrichShare : 0)
  );
}

function convertJob(upload: Upload, fields: FieldName[], requestId: string): ConvertJob {
  const { format, options } = upload;
  return {
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
      ...(options.embeddedImages ? { embeddedImages: true } : {}),
      pdf: options.pdf,
      laterShare: laterShare(options),
    },
  };
}
