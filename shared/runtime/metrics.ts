// The one Prometheus registry of a process and every metric the product counts, so that names and labels are seen together.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();

const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export const httpRequests = new Counter({
  name: 'parsemesh_http_requests_total',
  help: 'HTTP requests answered.',
  labelNames: ['route', 'method', 'status'],
  registers: [registry],
});
export const httpDuration = new Histogram({
  name: 'parsemesh_http_request_duration_seconds',
  help: 'From the first byte of a request to the last of its answer.',
  labelNames: ['route'],
  buckets: DURATION_BUCKETS,
  registers: [registry],
});
export const httpInFlight = new Gauge({
  name: 'parsemesh_http_requests_in_flight',
  help: 'HTTP requests being answered.',
  registers: [registry],
});
export const uploadedBytes = new Counter({
  name: 'parsemesh_uploaded_bytes_total',
  help: 'Bytes of uploaded files.',
  registers: [registry],
});
export const limitRefusals = new Counter({
  name: 'parsemesh_limit_refusals_total',
  help: 'Requests refused by a limit.',
  labelNames: ['limit'],
  registers: [registry],
});
export const creditsCharged = new Counter({
  name: 'parsemesh_credits_charged_total',
  help: 'Credits charged for answered parses.',
  registers: [registry],
});
export const cancelledJobs = new Counter({
  name: 'parsemesh_cancelled_jobs_total',
  help: 'Jobs stopped before their end.',
  labelNames: ['queue', 'reason'],
  registers: [registry],
});
export const conversions = new Counter({
  name: 'parsemesh_conversions_total',
  help: 'Documents converted.',
  labelNames: ['format', 'outcome'],
  registers: [registry],
});
export const jobs = new Counter({
  name: 'parsemesh_jobs_total',
  help: 'Jobs answered by this process.',
  labelNames: ['queue', 'outcome'],
  registers: [registry],
});
export const jobDuration = new Histogram({
  name: 'parsemesh_job_duration_seconds',
  help: 'A job in its worker, from taken to answered.',
  labelNames: ['queue'],
  buckets: DURATION_BUCKETS,
  registers: [registry],
});
export const jobsInFlight = new Gauge({
  name: 'parsemesh_jobs_in_flight',
  help: 'Jobs running in this process.',
  labelNames: ['queue'],
  registers: [registry],
});
export const processEnds = new Counter({
  name: 'parsemesh_conversion_process_ends_total',
  help: 'Isolated conversion processes that ended, by reason.',
  labelNames: ['queue', 'reason'],
  registers: [registry],
});

let collecting = false;

/** Adds the process' own figures (memory, CPU, event loop). Once a process. */
export function collectProcessMetrics(): void {
  if (collecting) return;
  collecting = true;
  collectDefaultMetrics({ register: registry });
}
