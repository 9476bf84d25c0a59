// Serves the jobs of one queue: receives only as many as it can run, runs each in an isolated process, answers, and then acknowledges.
import type { Delivery, JobAnswer, Transport } from '../bus/bus.ts';
import { CancelledError, JobReturnedError } from '../bus/bus.ts';
import { type ErrorRecord, ParseError } from '../contract/errors.ts';
import type { Job } from '../contract/jobs.ts';
import { machineFaultError } from '../contract/machine-fault.ts';
import { QUEUES, type QueueName } from '../contract/services.ts';
import { toCallerError } from './bus-errors.ts';
import { describeCause, type LoggedCause } from './cause.ts';
import { conversionEnvironment } from './config.ts';
import { type AnswerHeader, dispatch, type JobHeader } from './dispatch.ts';
import { ProcessPool } from './isolation/pool.ts';
import type { JobResult } from './isolation/process.ts';
import { SpareProcess } from './isolation/spare-process.ts';
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
import { QueueService } from './queue-service.ts';
import { sampleConnection } from './sampled-metrics.ts';
import type { Span, SpanAttributes } from './traces/span.ts';
import { startSpan } from './traces.ts';

interface JobLoopOptions {
  transport: Transport;
  queue: QueueName;
  /** The module of the service for this queue. */
  module: URL;
  concurrency: number;
  log: Logger;
  /** Start one isolated process before the first job arrives. */
  warm: boolean;
}

export interface JobLoop {
  /** Why the worker cannot work now and what the operator can do; undefined if it can. */
  problem(): string | undefined;
  /** Accepts no new job, finishes the running ones, then ends the isolated processes. */
  drain(): Promise<void>;
}

type LoopContext = Pick<JobLoopOptions, 'transport' | 'queue' | 'log'> & { pool: ProcessPool; service: QueueService };

/** Serves one queue until drained. */
export async function startJobLoop(options: JobLoopOptions): Promise<JobLoop> {
  const { transport, queue, log, concurrency } = options;
  const pool = new ProcessPool(
    {
      queue,
      module: options.module,
      memoryMiB: QUEUES[queue].memoryMiB,
      needs: QUEUES[queue].needs,
      ...conversionEnvironment(queue),
    },
    log,
  );
  if (options.warm) await pool.warm();
  const spare = new SpareProcess(pool, concurrency);
  const handler = (delivery: Delivery): Promise<JobAnswer> => {
    const { job, trace } = delivery.message.header as JobHeader;
    const span = startSpan(`process ${queue}`, {
      kind: 'consumer',
      from: trace ?? {},
      attributes: jobAttributes(queue, job, delivery.attempt),
    });
    spare.begin();
    const loop: LoopContext = { transport, queue, log, pool, service };
    return span.run(() => runJob(loop, delivery, span)).finally(() => spare.end());
  };
  initQueueMetrics(queue, concurrency);
  const stopSampling = sampleConnection(transport);
  const service = new QueueService(transport.bus, queue, { concurrency, handler }, log);
  await service.start();
  // No process could be started. The worker must not look ready until the first job fails.
  if (options.warm && pool.size === 0) await service.condition.examine();
  log.debug({ queue, concurrency }, 'serving');
  return {
    problem: () => service.condition.problem,
    async drain() {
      await service.drain();
      spare.stop();
      await pool.close();
      stopSampling();
    },
  };
}

/** Runs one job in an isolated process. A failure becomes an answer with an error. @throws JobReturnedError */
async function runJob(loop: LoopContext, delivery: Delivery, span: Span): Promise<JobAnswer> {
  const { transport, queue, log, pool, service } = loop;
  const { job, ref, resultReader } = delivery.message.header as JobHeader;
  const { volatile, deadline } = delivery;
  const source: JobPayload = ref ? { ref } : { inline: delivery.message.body };
  const metrics = new JobMetrics(queue, delivery);
  const stored: Promise<JobPayload>[] = [];
  let answered: JobPayload | undefined;
  /** Aborted when the job has ended: nobody waits for the calls that it left behind. */
  const ended = new AbortController();
  const waiting = AbortSignal.any([delivery.signal, ended.signal]);
  const fail = (error: ErrorRecord, cause: LoggedCause | undefined): JobAnswer => {
    metrics.recordFailure(error.code);
    const unexpected = error.code === 'UNKNOWN_ERROR';
    if (unexpected || cause)
      log[unexpected ? 'error' : 'info']({ requestId: job.requestId, queue, code: error.code, cause }, 'a job failed');
    return toAnswer({ outcome: { ok: false, error } });
  };
  try {
    if (service.condition.fault !== undefined) return refuse(service, fail);
    const running = pool.run(
      async () => ({
        job,
        deadline,
        volatile,
        payload: await openPayload(transport.payloads, source, { until: deadline }),
        payloadSize: payloadSize(source),
      }),
      {
        store: (body) => {
          const storing = storePayload(transport.payloads, body, {
            volatile,
            until: deadline,
            ...(resultReader === undefined ? {} : { reader: resultReader }),
          });
          stored.push(storing);
          return storing;
        },
        // The call arrives on the process's socket, outside of this span's context.
        call: (other, otherJob, bytes, started) =>
          span.run(() => {
            const storing = storeBytes(transport.payloads, bytes, {
              volatile,
              until: deadline,
              reader: QUEUES[other].service,
            });
            return callOther(loop, { ...delivery, signal: waiting }, other, otherJob, storing, started);
          }),
        progress: delivery.progress,
      },
      delivery.signal,
      job.requestId,
    );
    const result = await running.catch(machineFailure);
    if (!result.ok && result.machineFault) {
      await service.condition.examine();
      if (service.condition.fault !== undefined) return refuse(service, fail);
    }
    if (!result.ok) return fail(result.error, result.unexpected);
    if (delivery.signal.aborted) throw new CancelledError('the requester no longer waits for the answer');
    answered = result.payload;
    metrics.recordReply(job, result.reply);
    return toAnswer({ outcome: { ok: true, reply: result.reply } }, result.payload);
  } catch (error) {
    if (error instanceof JobReturnedError) {
      metrics.recordFailure('SERVICE_UNAVAILABLE');
      throw error;
    }
    return fail(failure(error, queue), describeCause(error));
  } finally {
    ended.abort();
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

/** The result of a job whose process could not be started, or whose result could not be stored, because of the machine. @throws any other error */
function machineFailure(cause: unknown): Extract<JobResult<JobPayload>, { ok: false }> {
  const error = machineFaultError(cause);
  if (!error) throw cause;
  return { ok: false, error: error.toRecord(), unexpected: describeCause(cause), machineFault: true };
}

/** What a worker does with a job while it cannot work: it returns it to other workers, or answers with the reason. @throws JobReturnedError */
function refuse(
  { condition, hasOthers }: QueueService,
  fail: (error: ErrorRecord, cause: undefined) => JobAnswer,
): JobAnswer {
  if (hasOthers) throw new JobReturnedError('this worker cannot work');
  const fault = Object.assign(new Error('this worker cannot work'), { code: condition.fault });
  return fail((machineFaultError(fault) ?? new ParseError('SERVICE_UNAVAILABLE')).toRecord(), undefined);
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
  const machineError = machineFaultError(known);
  if (known instanceof ParseError) return known.toRecord();
  if (known instanceof CancelledError) return new ParseError('REQUEST_TIMEOUT').toRecord();
  if (machineError) return machineError.toRecord();
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
  const { team, volatile, deadline, signal } = delivery;
  let sent: JobPayload | undefined;
  let received: JobPayload | undefined;
  try {
    sent = await storing;
    const result = await dispatch(transport, queue, job, sent, { deadline, team, signal, volatile, onStarted });
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
