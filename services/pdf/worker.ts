// What the isolated PDF process runs.
import type { ConvertJob, JobHandler } from '#shared/contract/jobs.ts';
import { conversionHandler } from '#shared/document/convert.ts';
import { convertPdf } from './convert.ts';
import { loadPdfium } from './source/pdfium-module.ts';

export const handle: JobHandler<ConvertJob> = conversionHandler(convertPdf);

/** Compiles the WebAssembly module before the first job. */
export async function warm(): Promise<void> {
  await loadPdfium();
}
