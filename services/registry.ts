// The table of services that answer jobs: a new one is one row here and one folder beside this file.
import type { QueueName } from '#shared/contract/jobs.ts';

/** Each queue with the module that an isolated process loads to serve it. */
export const WORKERS: Readonly<Record<QueueName, URL>> = {
  pdf: new URL('./pdf/worker.ts', import.meta.url),
  ocr: new URL('./ocr/worker.ts', import.meta.url),
  office: new URL('./office/worker.ts', import.meta.url),
  html: new URL('./html/worker.ts', import.meta.url),
  csv: new URL('./csv/worker.ts', import.meta.url),
  pii: new URL('./pii/worker.ts', import.meta.url),
  enrich: new URL('./enrich/worker.ts', import.meta.url),
};

export const QUEUES = Object.keys(WORKERS) as QueueName[];
export const SERVICE_NAMES = ['gateway', ...QUEUES] as const;
