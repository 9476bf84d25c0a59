// Declares every Prometheus metric of the product, with all values that its labels may have, so that no request can create new time series.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERROR_CODES } from '../contract/errors.ts';
import { FORMATS } from '../contract/formats.ts';
import { PII_ENTITIES } from '../contract/options-schema.ts';
import { QUEUE_NAMES, type QueueName } from '../contract/services.ts';

export const registry = new Registry();

/** Seconds, from the conversion of a small file to the longest `timeout` of a request. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const codes = Object.keys(ERROR_CODES);
/** The `queue` label. An isolated process chooses the queue that it calls, so an unknown name becomes `other`. */
export const queueLabel = (queue: string): string => knownLabel([...QUEUE_NAMES, 'other'], queue, 'other');
const statuses = new Set([200, 304, 499, ...Object.values(ERROR_CODES).map(({ status }) => status)]);

/** Values of the `route` label; `/` and `/docs` include all files that their pages load. */
const ROUTES = [
  '/',
  '/v2/parse',
  '/v2/parse/formats',
  '/process',
  '/v2/team/credit-usage',
  '/v2/team/queue-status',
  '/v2/concurrency-check',
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
/** States of an API key. `active` keys do not expire within 14 days. */
const KEY_STATES = ['active', 'expiring', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];
const REFUSALS = ['credits', 'rate', 'concurrency', 'upload_size', 'document'] as const;
/**
 * Why an isolated process ended. `start`: it never became ready. `idle`: it had no job for 5 minutes. `worn`: it was replaced after 1,000 jobs,
 * because it used too much memory while idle, or after an error that may have left it in an undefined state.
 */
const END_REASONS = ['start', 'crash', 'memory', 'deadline', 'cancelled', 'idle', 'worn', 'drain'] as const;
export type EndReason = (typeof END_REASONS)[number];

/** A metric for docs/metrics.md. `labels` lists the values that each label may have; undefined if each process has its own value. */
interface MetricDescription {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: Readonly<Record<string, readonly string[] | undefined>>;
}

const described: MetricDescription[] = [];
/** Every metric that this file declares, in its order. */
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

/** Returns `value` if it is known, else `other`. For values from requests and isolated processes. */
function knownLabel<T extends string>(known: readonly T[], value: string | undefined, other: T): T {
  return known.find((one) => one === value) ?? other;
}

export const methodLabel = (method: string | undefined): string => knownLabel(METHODS, method, 'other');
/** The error code as a label. A compromised isolated process may send any text. */
export const codeLabel = (code: string): string => knownLabel(CODES, code, 'UNKNOWN_ERROR');

const formats = FORMATS.map((format) => format.extension.slice(1));
export const formatLabel = (extension: string): string =>
  knownLabel([...formats, 'other'], extension.slice(1), 'other');

export const httpRequests = counter(
  'parsemesh_http_requests_total',
  'HTTP requests. Status 499 means that the client closed the connection before the response.',
  {
    route: ROUTES,
    method: METHODS,
    status: [...statuses].sort((a, b) => a - b).map(String),
    code: CODES,
  },
);
export const httpDuration = histogram(
  'parsemesh_http_request_duration_seconds',
  'Seconds from the headers of a request to the end of the response.',
  {
    route: ROUTES,
    method: METHODS,
    status: [...statuses].sort((a, b) => a - b).map(String),
  },
);
export const httpInFlight = gauge(
  'parsemesh_http_requests_in_flight',
  'HTTP requests that the gateway is processing, without probes and scrapes.',
);
export const uploadedBytes = counter('parsemesh_uploaded_bytes_total', 'Bytes of completely uploaded files.');
export const limitRefusals = counter(
  'parsemesh_limit_refusals_total',
  'Parse requests that exceeded a limit of the key (credits, rate, concurrency), of the upload size or of the document content.',
  { reason: REFUSALS },
);
export const apiKeys = gauge(
  'parsemesh_api_keys',
  'API keys by state. `expiring` keys are active and expire within 14 days. Reported by every gateway: use max, not sum.',
  { state: KEY_STATES },
);
export const creditsCharged = counter(
  'parsemesh_credits_charged_total',
  'Credits charged for successful parse requests.',
);

export const queueWaiting = gauge(
  'parsemesh_queue_waiting_jobs',
  'Jobs in the queue that no worker has received. Every gateway reports the value of the complete system: use max, not sum.',
  { queue: QUEUE_NAMES },
);
export const queueRunning = gauge(
  'parsemesh_queue_running_jobs',
  'Jobs that workers have received and not acknowledged. Reported by every gateway: use max, not sum.',
  { queue: QUEUE_NAMES },
);
export const queueAge = gauge(
  'parsemesh_queue_oldest_job_age_seconds',
  'Seconds that the oldest job in the queue has been waiting; 0 if none waits. Reported by every gateway: use max, not sum.',
  { queue: QUEUE_NAMES },
);
export const queueWorkers = gauge(
  'parsemesh_queue_workers',
  'Workers that recently announced that they serve the queue. Reported by every gateway: use max, not sum.',
  { queue: QUEUE_NAMES },
);
export const busConnected = gauge(
  'parsemesh_bus_connected',
  '1 if this process is connected to the message bus, otherwise 0.',
);
export const clockSkew = gauge(
  'parsemesh_clock_skew_seconds',
  'Seconds that the clock of this machine is ahead of the clock of the message bus (negative: behind). 0 on the in-memory bus.',
);

export const jobs = counter(
  'parsemesh_jobs_total',
  'Jobs that this process has answered. `outcome` is OK or the error code.',
  {
    queue: QUEUE_NAMES,
    outcome: CODES,
  },
);
export const jobDuration = histogram(
  'parsemesh_job_duration_seconds',
  'Seconds from the delivery of a job to its answer.',
  {
    queue: QUEUE_NAMES,
  },
);
export const jobsInFlight = gauge('parsemesh_jobs_in_flight', 'Jobs that this process is running.', {
  queue: QUEUE_NAMES,
});
const jobSlots = gauge('parsemesh_job_slots', 'Jobs that this process can run at the same time.', {
  queue: QUEUE_NAMES,
});
export const cancelledJobs = counter(
  'parsemesh_cancelled_jobs_total',
  'Running jobs that were stopped because the caller closed the connection or the deadline passed.',
  { queue: QUEUE_NAMES, reason: ['cancelled', 'deadline'] },
);
export const redeliveries = counter(
  'parsemesh_redeliveries_total',
  'Jobs delivered for the second or third time, because the first worker exited or returned the job.',
  { queue: QUEUE_NAMES },
);
export const deadLetters = counter(
  'parsemesh_dead_letters_total',
  'Jobs whose last allowed attempt failed; they are answered with CONVERSION_FAILED. Counted by the process that sent the job.',
  { queue: [...QUEUE_NAMES, 'other'] },
);

export const conversions = counter(
  'parsemesh_conversions_total',
  'Conversions of documents, by format. `outcome` is OK or the error code.',
  { format: [...formats, 'other'], outcome: CODES },
);
export const conversionDuration = histogram(
  'parsemesh_conversion_duration_seconds',
  'Seconds for one conversion in its worker, including OCR of its pages.',
  { format: [...formats, 'other'] },
);
export const ocrPages = counter(
  'parsemesh_ocr_pages_total',
  'Page images that OCR has read. `outcome` is OK, EMPTY if the page has no words, or the error code.',
  { outcome: ['EMPTY', ...CODES] },
);
export const ocrPageDuration = histogram(
  'parsemesh_ocr_page_duration_seconds',
  'Seconds for the OCR of one page image.',
);
export const redactions = counter('parsemesh_redactions_total', 'Redacted text fragments, by PII entity.', {
  entity: PII_ENTITIES,
});
export const payloadStored = counter(
  'parsemesh_payload_stored_bytes_total',
  'Bytes written to the payload store, because they were too large for a message.',
);

export const processEnds = counter(
  'parsemesh_isolated_process_ends_total',
  'Isolated processes that have ended, by reason. With `start`, `crash`, `memory`, `deadline` and `cancelled` a job failed. `idle`, `worn` (replaced after long use) and `drain` are normal.',
  { queue: QUEUE_NAMES, reason: END_REASONS },
);
export const isolatedProcesses = gauge('parsemesh_isolated_processes', 'Isolated processes, busy and idle.', {
  queue: QUEUE_NAMES,
});
export const isolatedMemory = gauge(
  'parsemesh_isolated_process_resident_memory_bytes',
  'Resident memory of the largest isolated process of the queue, including its child processes.',
  { queue: QUEUE_NAMES },
);
export const isolatedMemoryLimit = gauge(
  'parsemesh_isolated_process_memory_limit_bytes',
  'Resident memory above which an isolated process is killed.',
  { queue: QUEUE_NAMES },
);
export const treeMemory = gauge(
  'parsemesh_process_tree_resident_memory_bytes',
  'Resident memory of this process and all its descendants.',
);
export const memoryLimit = gauge(
  'parsemesh_memory_limit_bytes',
  'Memory limit of the container, or the memory of the machine.',
);
const eventLoopDelay = histogram(
  'parsemesh_event_loop_delay_seconds',
  'The longest delay of the event loop in each second. While it is delayed, the process answers no request and sends no heartbeat.',
);
const buildInfo = gauge(
  'parsemesh_build_info',
  'Always 1. The labels contain the version of the product and of Node.js.',
  {
    version: undefined,
    node_version: undefined,
  },
);

/** Sets the counters of a worker to 0, because `rate()` in Prometheus needs a first value. */
export function initQueueMetrics(queue: QueueName, concurrency: number): void {
  jobSlots.set({ queue }, concurrency);
  jobsInFlight.inc({ queue }, 0);
  redeliveries.inc({ queue }, 0);
  for (const reason of ['cancelled', 'deadline']) cancelledJobs.inc({ queue, reason }, 0);
  for (const reason of END_REASONS) processEnds.inc({ queue, reason }, 0);
  if (queue === 'ocr') ocrPages.inc({ outcome: 'OK' }, 0);
  if (queue === 'pii') for (const entity of PII_ENTITIES) redactions.inc({ entity }, 0);
  for (const format of FORMATS)
    if (format.queue === queue) conversions.inc({ format: format.extension.slice(1), outcome: 'OK' }, 0);
}

/** Sets the counters of a gateway to 0, because `rate()` in Prometheus needs a first value. */
export function initGatewayMetrics(): void {
  for (const reason of REFUSALS) limitRefusals.inc({ reason }, 0);
  for (const queue of QUEUE_NAMES) deadLetters.inc({ queue }, 0);
  const parse = { route: '/v2/parse', method: 'POST' };
  httpRequests.inc({ ...parse, status: '200', code: 'OK' }, 0);
  httpRequests.inc({ ...parse, status: '500', code: 'UNKNOWN_ERROR' }, 0);
}

/** The version in package.json. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : '0.0.0';
}

/** Milliseconds between two looks at the event loop. */
const DELAY_RESOLUTION_MS = 20;

/** Observes the longest delay of each second, so that a percentile is a share of time. A delay of several seconds is one observation. */
function measureEventLoopDelay(): void {
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delays.enable();
  setInterval(() => {
    if (delays.count === 0) return;
    // Node measures from one look to the next.
    eventLoopDelay.observe(Math.max(0, delays.max / 1e9 - DELAY_RESOLUTION_MS / 1_000));
    delays.reset();
  }, 1_000).unref();
}

let collecting = false;

/** Adds the metrics of the process (memory, CPU, event loop) and the build. Only the first call has an effect. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: registry });
  measureEventLoopDelay();
  buildInfo.set({ version: productVersion(), node_version: process.versions.node }, 1);
}
