// Turns the converter of a service into its job handler: convert, then render.
import type { ConvertJob, JobContext, JobHandler, JobOutput, RecordReport, RenderOptions } from '../contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from './document.ts';
import { renderRecord } from './render.ts';
import { checkSelectors } from './selectors.ts';

/** Converts one file. @throws ParseError if the file cannot be converted */
type Converter = (file: SourceFile, options: RenderOptions, context: JobContext) => Promise<ConvertedDocument>;

/** The job handler of a converter service: the reply is the report of the record, and the payload is the fields as JSON. */
export function conversionHandler(convert: Converter): JobHandler<ConvertJob> {
  return async (job, payload, context): Promise<JobOutput<RecordReport>> => {
    checkSelectors(job.options.includeTags, 'includeTags');
    checkSelectors(job.options.excludeTags, 'excludeTags');
    const file: SourceFile = {
      bytes: payload,
      fileName: job.fileName,
      extension: job.extension,
      ...(job.charset === undefined ? {} : { charset: job.charset }),
    };
    const { fields, metadata, warnings } = renderRecord(await convert(file, job.options, context), job.options);
    return { reply: { metadata, warnings }, payload: JSON.stringify(fields) };
  };
}
