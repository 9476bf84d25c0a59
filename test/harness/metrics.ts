// Reads single values from the Prometheus page of a process, so that a test can wait for an event instead of a time.
import type { QueueName } from '#shared/contract/services.ts';

/**
 * The value of a sample of `/metrics`, or 0 if the process has not counted it yet.
 * @param sample the name with its labels, as the page prints them: `parsemesh_jobs_in_flight{queue="ocr"}`
 */
export async function metricValue(opsUrl: string, sample: string): Promise<number> {
  // No keep-alive: an idle connection would be open when the product is told to stop.
  const response = await fetch(`${opsUrl}/metrics`, { headers: { connection: 'close' } });
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${sample} `));
  return Number(line?.slice(sample.length + 1) ?? 0);
}

/** Jobs of a queue that the process is working on. */
export const jobsInWork = (opsUrl: string, queue: QueueName): Promise<number> =>
  metricValue(opsUrl, `parsemesh_jobs_in_flight{queue="${queue}"}`);

/** OCR pages that the process is working on. */
export const ocrPagesInWork = (opsUrl: string): Promise<number> => jobsInWork(opsUrl, 'ocr');

/** OCR pages that the process has answered without an error. */
export const ocrPagesDone = (opsUrl: string): Promise<number> =>
  metricValue(opsUrl, 'parsemesh_jobs_total{queue="ocr",outcome="OK"}');
