// The one Prometheus registry of a process and every metric the product counts, each with its labels and all the values they may take, so that no request can make a series.
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERROR_CODES } from '../contract/errors.ts';
import { FORMATS } from '../contract/formats.ts';
import { MEMORY_LIMITS_MIB } from '../contract/limits.ts';
import { PII_ENTITIES } from '../contract/options.ts';

export const registry = new Registry();

/** Seconds: from a small file's parse to the longest `timeout` of a request. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const codes = Object.keys(ERROR_CODES);
const queues = Object.keys(MEMORY_LIMITS_MIB);
/** An isolated process names the queue that it calls, so what it says is held to this list. */
export const queueLabel = (queue: string): string => knownLabel([...queues, 'other'], queue, 'other');
const statuses = new Set([200, 499, ...Object.values(ERROR_CODES).map(({ status }) => status)]);

/** Paths that are counted by name; `/docs` stands for its page and all that the page loads. */
export const ROUTES = [
  '/v2/parse',
  '/v2/parse/formats',
  '/openapi.json',
  '/docs',
  '/livez',
  '/readyz',
  '/metrics',
  'other',
] as const;
export type RouteLabel = (typeof ROUTES)[number];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const;
const CODES = ['OK', 'CANCELLED', ...codes] as const;
const REFUSALS = ['credits', 'rate', 'concurrency', 'upload_size', 'document'] as const;
const END_REASONS = ['start', 'crash', 'memory', 'deadline', 'cancelled', 'idle', 'worn', 'drain'] as const;

/** A metric as docs/metrics.md tells of it: every label with the values it may take; undefined where one process has one value. */
export interface MetricDescription {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: Readonly<Record<string, readonly string[] | undefined>>;
}

const described: MetricDescription[] = [];
/** Every metric of ours, in the order of this file. */
export const METRICS: readonly MetricDescription[] = described;

type Labels<L extends string> = Readonly<Record<L, readonly string[] | undefined>>;

function describe<L extends string>(type: MetricDescription['type'], name: string, help: string, labels: Labels<L>) {
  described.push({ type, name, help, labels });
  return { name, help, labelNames: Object.keys(labels) as L[], registers: [registry] };
}
const counter = <L extends string = never>(name: string, help: string, labels = {} as Labels<L>): Counter<L> =>
  new Counter<L>(describe('counter', name, help, labels));
const gauge = <L extends string = never>(name: string, help: string, labels = {} as Labels<L>): Gauge<L> =>
  new Gauge<L>(describe('gauge', name, help, labels));
const histogram = <L extends string = never>(name: string, help: string, labels = {} as Labels<L>): Histogram<L> =>
  new Histogram<L>({ ...describe('histogram', name, help, labels), buckets: DURATION_BUCKETS });

/** A value where it is one of the known, else `other`: for words that come from outside, or out of an isolated process. */
export function knownLabel<T extends string>(known: readonly T[], value: string | undefined, other: T): T {
  return known.find((one) => one === value) ?? other;
}

export const methodLabel = (method: string | undefined): string => knownLabel(METHODS, method, 'other');
/** An error code of ours; an isolated process that was taken over may say anything. */
export const codeLabel = (code: string): string => knownLabel(CODES, code, 'UNKNOWN_ERROR');

const formats = FORMATS.map((format) => format.extension.slice(1));
export const formatLabel = (extension: string): string =>
  knownLabel([...formats, 'other'], extension.slice(1), 'other');

export const httpRequests = counter(
  'parsemesh_http_requests_total',
  'HTTP requests answered; status 499 where the client left before its answer.',
  {
    route: ROUTES,
    method: METHODS,
    status: [...statuses].sort((a, b) => a - b).map(String),
    code: CODES,
  },
);
export const httpDuration = histogram(
  'parsemesh_http_request_duration_seconds',
  'From the head of a request to the end of its answer.',
  {
    route: ROUTES,
    method: METHODS,
    status: [...statuses].sort((a, b) => a - b).map(String),
  },
);
export const httpInFlight = gauge(
  'parsemesh_http_requests_in_flight',
  'HTTP requests of the API being answered (probes and scrapes left out).',
);
export const uploadedBytes = counter('parsemesh_uploaded_bytes_total', 'Bytes of files that were received whole.');
export const limitRefusals = counter(
  'parsemesh_limit_refusals_total',
  'Parse requests refused by a limit: of the key (credits, rate, concurrency), of the upload, or of what a document may unfold to.',
  { reason: REFUSALS },
);
export const creditsCharged = counter('parsemesh_credits_charged_total', 'Credits charged for answered parses.');

export const queueWaiting = gauge(
  'parsemesh_queue_waiting_jobs',
  'Jobs of the queue that no worker has taken; told by every gateway of the whole mesh, so take the max, not the sum.',
  { queue: queues },
);
export const queueRunning = gauge(
  'parsemesh_queue_running_jobs',
  'Jobs taken and not acknowledged, in the whole mesh; told by every gateway.',
  { queue: queues },
);
export const queueAge = gauge(
  'parsemesh_queue_oldest_job_age_seconds',
  'How long the oldest waiting job of the queue waits, 0 where none does; told by every gateway.',
  { queue: queues },
);
export const queueWorkers = gauge(
  'parsemesh_queue_workers',
  'Workers that said within the last seconds that they serve the queue; told by every gateway.',
  { queue: queues },
);
export const busConnected = gauge(
  'parsemesh_bus_connected',
  '1 while this process has its way to the other processes, 0 while the message bus is away.',
);

export const jobs = counter('parsemesh_jobs_total', 'Jobs answered by this process; outcome is OK or the error code.', {
  queue: queues,
  outcome: CODES,
});
export const jobDuration = histogram('parsemesh_job_duration_seconds', 'A job in its worker, from taken to answered.', {
  queue: queues,
});
export const jobsInFlight = gauge('parsemesh_jobs_in_flight', 'Jobs running in this process.', { queue: queues });
export const jobSlots = gauge('parsemesh_job_slots', 'Jobs that this process runs at once.', { queue: queues });
export const cancelledJobs = counter(
  'parsemesh_cancelled_jobs_total',
  'Jobs stopped while they ran, because the caller left or the deadline passed.',
  { queue: queues, reason: ['cancelled', 'deadline'] },
);
export const redeliveries = counter(
  'parsemesh_redeliveries_total',
  'Jobs taken for the second or third time, because their worker died or gave them back.',
  { queue: queues },
);
export const deadLetters = counter(
  'parsemesh_dead_letters_total',
  'Jobs given up after the last attempt, each answered as CONVERSION_FAILED; counted by whoever asked.',
  { queue: [...queues, 'other'] },
);

export const conversions = counter(
  'parsemesh_conversions_total',
  'Documents converted, by format; outcome is OK or the error code.',
  { format: [...formats, 'other'], outcome: CODES },
);
export const conversionDuration = histogram(
  'parsemesh_conversion_duration_seconds',
  'A conversion in its worker, OCR of its pages included.',
  { format: [...formats, 'other'] },
);
export const ocrPages = counter(
  'parsemesh_ocr_pages_total',
  'Page images read; outcome is OK, EMPTY where no word was found, or the error code.',
  { outcome: ['EMPTY', ...CODES] },
);
export const ocrPageDuration = histogram('parsemesh_ocr_page_duration_seconds', 'OCR of one page image in its worker.');
export const redactions = counter('parsemesh_redactions_total', 'Personal data redacted, by entity.', {
  entity: PII_ENTITIES,
});
export const payloadStored = counter(
  'parsemesh_payload_stored_bytes_total',
  'Bytes put into the payload store, because they do not fit a message.',
);

export const processEnds = counter(
  'parsemesh_isolated_process_ends_total',
  'Isolated conversion processes that ended, by reason: crash, memory, deadline, cancelled and start cost a job; idle, worn and drain are housekeeping.',
  { queue: queues, reason: END_REASONS },
);
export const isolatedProcesses = gauge(
  'parsemesh_isolated_processes',
  'Isolated conversion processes that are there, busy or idle.',
  { queue: queues },
);
export const isolatedMemory = gauge(
  'parsemesh_isolated_process_resident_memory_bytes',
  'Resident memory of the largest isolated process of the queue and all it started.',
  { queue: queues },
);
export const isolatedMemoryLimit = gauge(
  'parsemesh_isolated_process_memory_limit_bytes',
  'Resident memory past which an isolated process is killed.',
  { queue: queues },
);
export const treeMemory = gauge(
  'parsemesh_process_tree_resident_memory_bytes',
  'Resident memory of this process and all below it.',
);
export const memoryLimit = gauge(
  'parsemesh_memory_limit_bytes',
  'Memory that the container may take, or the machine has.',
);
export const buildInfo = gauge('parsemesh_build_info', 'Always 1; its labels tell what runs.', {
  version: undefined,
  node_version: undefined,
});

/** Shows what a queue's worker may count, from 0 on: a rate needs a first value. */
export function initQueueMetrics(queue: string, concurrency: number): void {
  jobSlots.set({ queue }, concurrency);
  jobsInFlight.inc({ queue }, 0);
  redeliveries.inc({ queue }, 0);
  for (const reason of ['cancelled', 'deadline']) cancelledJobs.inc({ queue, reason }, 0);
  for (const reason of END_REASONS) processEnds.inc({ queue, reason }, 0);
  if (queue === 'ocr') ocrPages.inc({ outcome: 'OK' }, 0);
  if (queue === 'pii') for (const entity of PII_ENTITIES) redactions.inc({ entity }, 0);
  for (const format of FORMATS)
    if (format.service === queue) conversions.inc({ format: format.extension.slice(1), outcome: 'OK' }, 0);
}

/** Shows what a gateway may count, from 0 on. */
export function initGatewayMetrics(): void {
  for (const reason of REFUSALS) limitRefusals.inc({ reason }, 0);
  for (const queue of queues) deadLetters.inc({ queue }, 0);
  const parse = { route: '/v2/parse', method: 'POST' };
  httpRequests.inc({ ...parse, status: '200', code: 'OK' }, 0);
  httpRequests.inc({ ...parse, status: '500', code: 'UNKNOWN_ERROR' }, 0);
}

/** The product's version. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : '0.0.0';
}

let collecting = false;

/** Adds the process' own figures (memory, CPU, event loop) and what it is. Once a process. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: registry });
  buildInfo.set({ version: productVersion(), node_version: process.versions.node }, 1);
}
