// Turns the converter of a service into its job handler: convert, then render.
import type {
  ConvertJob,
  HandlerOutput,
  JobContext,
  JobHandler,
  RecordReport,
  Redirect,
  RenderOptions,
} from '../contract/jobs.ts';
import type { ConverterQueue } from '../contract/services.ts';
import type { ConvertedDocument, SourceFile } from './document.ts';
import { renderRecord } from './render.ts';
import { checkSelectors } from './selectors.ts';
import { streamedRecord } from './streamed-record.ts';

/** Thrown by a converter whose file belongs to another queue of its service. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
  readonly queue: ConverterQueue;
  constructor(queue: ConverterQueue) {
    super(`the file belongs to the queue ${queue}`);
    this.queue = queue;
  }
}

/** Converts one file. @throws ParseError if the file cannot be converted, RedirectError */
type Converter = (file: SourceFile, options: RenderOptions, context: JobContext) => Promise<ConvertedDocument>;

/** The job handler of a converter service: the reply is the report of the record, and the payload is the fields as JSON, as a stream if the document is. */
export function conversionHandler(convert: Converter): JobHandler<ConvertJob> {
  return async (job, payload, context): Promise<HandlerOutput<RecordReport | Redirect>> => {
    checkSelectors(job.options.includeTags, 'includeTags');
    checkSelectors(job.options.excludeTags, 'excludeTags');
    const file: SourceFile = {
      bytes: payload,
      fileName: job.fileName,
      extension: job.extension,
      ...(job.charset === undefined ? {} : { charset: job.charset }),
    };
    try {
      const document = await convert(file, job.options, context);
      if (document.streamed)
        return {
          reply: { metadata: document.metadata, warnings: document.warnings },
          payload: streamedRecord(document.streamed, job.options),
        };
      const { fields, metadata, warnings } = renderRecord(document, job.options);
      return { reply: { metadata, warnings }, payload: JSON.stringify(fields) };
    } catch (error) {
      if (error instanceof RedirectError) return { reply: { queue: error.queue } };
      throw error;
    }
  };
}
