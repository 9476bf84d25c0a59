// Reads single values from the Prometheus page of a process, so that a test can wait for an event instead of a time.

/**
 * The value of a sample of `/metrics`, or 0 if the process has not counted it yet.
 * @param sample the name with its labels, as the page prints them: `parsemesh_jobs_in_flight{queue="ocr"}`
 */
async function metricValue(opsUrl: string, sample: string): Promise<number> {
  // No keep-alive: an idle connection would be open when the product is told to stop.
  const response = await fetch(`${opsUrl}/metrics`, { headers: { connection: 'close' } });
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${sample} `));
  return Number(line?.slice(sample.length + 1) ?? 0);
}

/** OCR pages that the process is working on. */
export const ocrPagesInWork = (opsUrl: string): Promise<number> =>
  metricValue(opsUrl, 'parsemesh_jobs_in_flight{queue="ocr"}');

/** OCR pages that the process has answered without an error. */
export const ocrPagesDone = (opsUrl: string): Promise<number> =>
  metricValue(opsUrl, 'parsemesh_jobs_total{queue="ocr",outcome="OK"}');
