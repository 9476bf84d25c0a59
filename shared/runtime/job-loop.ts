// Serves the jobs of one queue: receives only as many as it can run, runs each in an isolated process, answers, and then acknowledges.
import type { Consumer, Delivery, JobAnswer, Transport } from '../bus/bus.ts';
import { CancelledError } from '../bus/bus.ts';
import { type ErrorRecord, ParseError } from '../contract/errors.ts';
import type { Job } from '../contract/jobs.ts';
import { type QueueName, WORKER_SERVICES } from '../contract/services.ts';
import { describeCause, type LoggedCause } from './cause.ts';
import { conversionEnvironment } from './config.ts';
import { type AnswerHeader, dispatch, type JobHeader, toCallerError } from './dispatch.ts';
import { ProcessPool } from './isolation/pool.ts';
import { JobMetrics } from './job-metrics.ts';
import type { Logger } from './log.ts';
import { formatLabel, initQueueMetrics } from './metrics.ts';
import {
  deletePayload,
  EMPTY_PAYLOAD,
  type JobPayload,
  openPayload,
  payloadSize,
  readPayload,
  storeBytes,
  storePayload,
} from './payload.ts';
import { sampleConnection } from './sampled-metrics.ts';
import type { Span, SpanAttributes } from './traces/span.ts';
import { startSpan } from './traces.ts';

interface JobLoopOptions {
  transport: Transport;
  queue: QueueName;
  /** The service's worker.ts. */
  module: URL;
  concurrency: number;
  log: Logger;
  /** Start one isolated process before the first job arrives. */
  warm: boolean;
}

export interface JobLoop {
  /** Accepts no new job, finishes the running ones, then ends the isolated processes. */
  drain(): Promise<void>;
}

type LoopContext = Pick<JobLoopOptions, 'transport' | 'queue' | 'log'> & { pool: ProcessPool };

/** Serves one queue until drained. */
export async function startJobLoop(options: JobLoopOptions): Promise<JobLoop> {
  const { transport, queue, log, concurrency } = options;
  const pool = new ProcessPool(
    { queue, module: options.module, memoryMiB: WORKER_SERVICES[queue].memoryMiB, env: conversionEnvironment(queue) },
    log,
  );
  if (options.warm) await pool.warm();
  const loop: LoopContext = { transport, queue, log, pool };
  const handler = (delivery: Delivery): Promise<JobAnswer> => {
    const { job, trace } = delivery.message.header as JobHeader;
    const span = startSpan(`process ${queue}`, {
      kind: 'consumer',
      from: trace ?? {},
      attributes: jobAttributes(queue, job, delivery.attempt),
    });
    return span.run(() => runJob(loop, delivery, span));
  };
  initQueueMetrics(queue, concurrency);
  const stopSampling = sampleConnection(transport.bus);
  const consumer: Consumer = await transport.bus.serve(queue, { concurrency, handler });
  log.debug({ queue, concurrency }, 'serving');
  return {
    async drain() {
      await consumer.drain();
      await pool.close();
      stopSampling();
    },
  };
}

/** Runs one job in an isolated process. Never throws: a failure becomes an answer with an error. */
async function runJob(loop: LoopContext, delivery: Delivery, span: Span): Promise<JobAnswer> {
  const { transport, queue, log, pool } = loop;
  const { job, ref } = delivery.message.header as JobHeader;
  const { volatile, deadline } = delivery;
  const source: JobPayload = ref ? { ref } : { inline: delivery.message.body };
  const metrics = new JobMetrics(queue, delivery);
  const stored: Promise<JobPayload>[] = [];
  let answered: JobPayload | undefined;
  const fail = (error: ErrorRecord, cause: LoggedCause | undefined): JobAnswer => {
    metrics.recordFailure(error.code);
    const unexpected = error.code === 'UNKNOWN_ERROR';
    if (unexpected || cause)
      log[unexpected ? 'error' : 'info']({ requestId: job.requestId, queue, code: error.code, cause }, 'a job failed');
    return toAnswer({ outcome: { ok: false, error } });
  };
  try {
    const result = await pool.run(
      async () => ({
        job,
        deadline,
        volatile,
        payload: await openPayload(transport.payloads, source, { until: deadline }),
        payloadSize: payloadSize(source),
      }),
      {
        store: (body) => {
          const storing = storePayload(transport.payloads, body, { volatile });
          stored.push(storing);
          return storing;
        },
        // The call arrives on the process's socket, outside of this span's context.
        call: (other, otherJob, bytes, started) =>
          span.run(() => {
            const storing = storeBytes(transport.payloads, bytes, { volatile, until: deadline });
            return callOther(loop, delivery, other, otherJob, storing, started);
          }),
        progress: delivery.progress,
      },
      delivery.signal,
      job.requestId,
    );
    if (!result.ok) return fail(result.error, result.unexpected);
    if (delivery.signal.aborted) throw new CancelledError('the requester no longer waits for the answer');
    answered = result.payload;
    metrics.recordReply(job, result.reply);
    return toAnswer({ outcome: { ok: true, reply: result.reply } }, result.payload);
  } catch (error) {
    return fail(failure(error, queue), describeCause(error));
  } finally {
    // Delete every result that is not sent, also one whose process ended while it was being stored.
    for (const storing of stored)
      storing.then(
        (payload) => (payload === answered ? undefined : deletePayload(transport.payloads, payload)),
        () => undefined,
      );
    metrics.recordEnd(job);
    span.end(metrics.outcome === 'OK' ? undefined : metrics.outcome);
  }
}

function toAnswer(header: AnswerHeader, payload: JobPayload = EMPTY_PAYLOAD): JobAnswer {
  return 'ref' in payload
    ? { header: { ...header, ref: payload.ref }, body: new Uint8Array(0) }
    : { header, body: payload.inline };
}

/** Span attributes of a job. The format and a page number are the only information about the document. */
function jobAttributes(queue: QueueName, job: Job, attempt: number): SpanAttributes {
  return {
    'messaging.system': 'parsemesh',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'parsemesh.request_id': job.requestId,
    'parsemesh.attempt': attempt,
    ...(job.kind === 'convert' ? { 'parsemesh.format': formatLabel(job.extension) } : {}),
    ...(job.kind === 'ocr' ? { 'parsemesh.page': job.pageNumber } : {}),
  };
}

/** The error that the requester gets. An unavailable bus must not look like a fault of the product or of the file. */
function failure(error: unknown, queue: QueueName): ErrorRecord {
  const known = toCallerError(error, queue);
  if (known instanceof ParseError) return known.toRecord();
  if (known instanceof CancelledError) return new ParseError('REQUEST_TIMEOUT').toRecord();
  return new ParseError('UNKNOWN_ERROR').toRecord();
}

/**
 * Runs a job on another service for an isolated process, and deletes both payloads afterwards.
 * @param storing the payload while it is stored; a promise, so that the bytes can be freed while the job waits in its queue
 */
async function callOther(
  { transport, log }: LoopContext,
  delivery: Delivery,
  queue: QueueName,
  job: Job,
  storing: Promise<JobPayload>,
  onStarted: () => void,
): Promise<{ ok: true; reply: unknown; payload: Uint8Array } | { ok: false; error: ErrorRecord }> {
  const { volatile, deadline, signal } = delivery;
  let sent: JobPayload | undefined;
  let received: JobPayload | undefined;
  try {
    sent = await storing;
    const result = await dispatch(transport, queue, job, sent, { deadline, signal, volatile, onStarted });
    received = result.payload;
    return {
      ok: true,
      reply: result.reply,
      payload: await readPayload(transport.payloads, received, { until: deadline }),
    };
  } catch (error) {
    const record = failure(error, queue);
    // The calling process receives only the error record, so log the cause here.
    if (record.code === 'UNKNOWN_ERROR')
      log.error({ requestId: job.requestId, queue, cause: describeCause(error) }, 'a call to another service failed');
    return { ok: false, error: record };
  } finally {
    await Promise.all([deletePayload(transport.payloads, sent), deletePayload(transport.payloads, received)]);
  }
}
