// Makes a service's job handler of its converter: convert, render, answer.
import type { ConvertJob, JobContext, JobHandler, JobOutput, RecordHead, RenderOptions } from '../contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from './document.ts';
import { renderRecord } from './render.ts';
import { checkSelectors } from './selectors.ts';

/** Turns one file into a document. @throws ParseError for a fault of the file. */
export type Converter = (file: SourceFile, options: RenderOptions, context: JobContext) => Promise<ConvertedDocument>;

/** The whole of a converter service's `worker.ts`: the answer's head as reply, its fields as JSON payload. */
export function conversionHandler(convert: Converter): JobHandler<ConvertJob> {
  return async (job, payload, context): Promise<JobOutput<RecordHead>> => {
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
