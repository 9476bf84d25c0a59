// Declares the stages of a parse, and the events that a client receives with `Accept: text/event-stream` (docs/api.md, "Event stream").
import { z } from 'zod';
import { errorResponseSchema } from './response.ts';

/** The stages of a parse in their order: the upload, the wait for a slot and a worker, and the services. */
export const STAGES = ['receive', 'queue', 'convert', 'redact', 'enrich'] as const;
export type Stage = (typeof STAGES)[number];

const pagesDone = z.int().min(0).optional().meta({ description: 'Pages that are read, including those that failed.' });
const pages = z.int().min(0).optional().meta({ description: 'Pages to read.' });

/** How far a conversion is. Page counts are absent while they are not known, and for formats without pages. */
export const jobProgressSchema = z.object({
  /** `ocr` while at least one page is with the OCR service. */
  stage: z.enum(['convert', 'ocr']),
  pagesDone,
  pages,
});
export type JobProgress = z.infer<typeof jobProgressSchema>;

/** Data of `event: progress`. */
export const progressEventSchema = z
  .object({
    stage: z.enum(['queue', 'convert', 'ocr', 'redact', 'enrich']).meta({
      description: '`queue` while the request waits for a slot or a worker, `ocr` while a page is with OCR.',
    }),
    pagesDone,
    pages,
  })
  .meta({ id: 'ProgressEvent' });
export type ProgressEvent = z.infer<typeof progressEventSchema>;

/** Data of `event: timings`: milliseconds by stage. Stages that did not run are absent. */
export const timingsEventSchema = z
  .partialRecord(z.enum(STAGES), z.number().min(0))
  .meta({ id: 'TimingsEvent', description: 'Milliseconds of each stage that ran.' });
export type Timings = z.infer<typeof timingsEventSchema>;

/** Data of `event: error`. */
export const errorEventSchema = errorResponseSchema
  .extend({
    status: z.int().meta({ description: 'The status that the response would have had.' }),
    retryAfter: z.int().min(1).optional().meta({ description: 'Value of the `Retry-After` header, in seconds.' }),
  })
  .meta({ id: 'ErrorEvent' });
export type ErrorEvent = z.infer<typeof errorEventSchema>;
