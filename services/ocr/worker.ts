// The OCR service's work on one page job: grey pixels in, words with boxes and confidences out, with a few warm engines kept between jobs.
import { ParseError } from '#shared/contract/errors.ts';
import type { JobHandler, OcrJob, OcrPage } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { machineFaultError } from '#shared/contract/machine-fault.ts';
import { setHeapGrowth } from '#shared/runtime/gc/heap-growth.ts';
import { BudgetError, type Engine } from './engine.ts';
import { checkRequestedLanguages, readEngineSetting } from './engines.ts';
import { checkLanguageCount, configuredLanguages } from './languages.ts';
import { readPage } from './reading.ts';
import { WarmEngines } from './warm-engines.ts';

/** Resolutions outside of which a job's word is not believed. */
const DPI_RANGE = [30, 2400] as const;
const USUAL_DPI = 200;
/** A page is a few times as large as all that lives between two of them. */
const HEAP_GROWTH = 3;

const engines = new WarmEngines();

/** @param requested languages of the job; empty for the languages of the configuration. */
async function engineFor(requested: readonly string[]): Promise<Engine> {
  checkLanguageCount(requested);
  checkRequestedLanguages(requested);
  const languages = requested.length > 0 ? requested : configuredLanguages();
  checkLanguageCount(languages);
  return engines.take(languages, readEngineSetting());
}

function checkJob(job: OcrJob, payload: Uint8Array): void {
  const { width, height } = job;
  if (
    !Number.isSafeInteger(width) ||
    !Number.isSafeInteger(height) ||
    width < 1 ||
    height < 1 ||
    payload.length !== width * height
  )
    throw new ParseError(
      'BAD_REQUEST',
      'Bad Request: a page image must hold one byte for each of its width x height pixels',
    );
  if (width * height > DOCUMENT_LIMITS.pagePixels)
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      `Page ${job.pageNumber} has ${width} x ${height} pixels, more than the ${DOCUMENT_LIMITS.pagePixels} that OCR takes; render it at a lower resolution`,
    );
}

/**
 * Reads one page image.
 * @throws ParseError BAD_REQUEST (wrong size, language not installed), DOCUMENT_TOO_COMPLEX (too many pixels, or a pattern without end), SERVICE_UNAVAILABLE (no
 * language data, or the machine cannot work, or the system ended the engine twice), CONVERSION_FAILED (the engine broke on this page; the next page gets a new one).
 */
export const handle: JobHandler<OcrJob> = async (job, payload, context) => {
  context.signal.throwIfAborted();
  checkJob(job, payload);
  const dpi = job.dpi >= DPI_RANGE[0] && job.dpi <= DPI_RANGE[1] ? job.dpi : USUAL_DPI;
  const reader = await engineFor(job.languages);
  let reply: OcrPage;
  try {
    reader.allow(DOCUMENT_LIMITS.ocrPageCpuMs);
    reply = await readPage(reader, { width: job.width, height: job.height, pixels: payload }, dpi, job.rotation);
  } catch (cause) {
    // A trap leaves a core's memory in an unknown state.
    await engines.discard(reader);
    if (cause instanceof BudgetError)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `Page ${job.pageNumber} is no page of text: OCR did not come to an end in ${DOCUMENT_LIMITS.ocrPageCpuMs / 1000} seconds of processor time`,
        { cause },
      );
    if (cause instanceof ParseError) throw cause;
    const machineError = machineFaultError(cause);
    if (machineError) throw machineError;
    throw new ParseError('CONVERSION_FAILED', `Page ${job.pageNumber} made the OCR engine fail`, { cause });
  }
  if (reader.unfit) await engines.discard(reader);
  return { reply };
};

/** Loads the default languages, so that the first page does not wait. Without their data it waits for the first job to say so. */
export async function warm(): Promise<void> {
  setHeapGrowth(HEAP_GROWTH);
  try {
    await engineFor([]);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
}

/** Closes the engines and frees their memory. */
export const close = (): Promise<void> => engines.close();
