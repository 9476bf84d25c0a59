// A service's job loop: pulls what it can run, runs each job isolated, answers, and only then acknowledges.
import type { Consumer, Delivery, JobAnswer, Transport } from '../bus/bus.ts';
import { CancelledError } from '../bus/bus.ts';
import { type ErrorRecord, ParseError } from '../contract/errors.ts';
import type { Job, QueueName } from '../contract/jobs.ts';
import { MEMORY_LIMITS_MIB } from '../contract/limits.ts';
import { describeCause } from './cause.ts';
import { conversionEnvironment } from './config.ts';
import { type AnswerHeader, dispatch, type JobHeader, transportError } from './dispatch.ts';
import { ProcessPool } from './isolation/pool.ts';
import { JobMeter } from './job-meter.ts';
import type { Logger } from './log.ts';
import { showConnection } from './metric-sources.ts';
import { formatLabel, showQueueMetrics } from './metrics.ts';
import {
  EMPTY_PAYLOAD,
  type JobPayload,
  openPayload,
  packPayload,
  payloadSize,
  readPayload,
  releasePayload,
  storePayload,
} from './payload.ts';
import { type Span, type SpanAttributes, startSpan } from './traces.ts';

export interface JobLoopOptions {
  transport: Transport;
  queue: QueueName;
  /** The service's worker.ts. */
  module: URL;
  concurrency: number;
  log: Logger;
  /** Start a process before the first job comes. */
  warm: boolean;
}

export interface JobLoop {
  /** Takes no new job, finishes those that run, ends the isolated processes. */
  drain(): Promise<void>;
}

/** Serves one queue until drained. */
export async function startJobLoop(options: JobLoopOptions): Promise<JobLoop> {
  const { transport, queue, log } = options;
  const pool = new ProcessPool(
    { queue, module: options.module, memoryMiB: MEMORY_LIMITS_MIB[queue], env: conversionEnvironment(queue) },
    log,
  );
  if (options.warm) await pool.warm();

  const answer = async (header: AnswerHeader, payload: JobPayload = EMPTY_PAYLOAD): Promise<JobAnswer> =>
    'ref' in payload
      ? { header: { ...header, ref: payload.ref }, body: new Uint8Array(0) }
      : { header, body: payload.inline };

  const handler = (delivery: Delivery): Promise<JobAnswer> => {
    const { job, trace } = delivery.message.header as JobHeader;
    const span = startSpan(`process ${queue}`, {
      kind: 'consumer',
      from: trace ?? {},
      attributes: jobAttributes(queue, job, delivery.attempt),
    });
    return span.run(() => run(delivery, span));
  };
  const run = async (delivery: Delivery, span: Span): Promise<JobAnswer> => {
    const { job, ref } = delivery.message.header as JobHeader;
    const source: JobPayload = ref ? { ref } : { inline: delivery.message.body };
    const meter = new JobMeter(queue, delivery);
    const stored: Promise<JobPayload>[] = [];
    let handedOver: JobPayload | undefined;
    try {
      const result = await pool.run(
        async () => ({
          job,
          deadline: delivery.deadline,
          volatile: delivery.volatile,
          payload: await openPayload(transport.payloads, source, { until: delivery.deadline }),
          payloadSize: payloadSize(source),
        }),
        {
          store: (body) => {
            const storing = storePayload(transport.payloads, body, { volatile: delivery.volatile });
            stored.push(storing);
            return storing;
          },
          // Asked from the process's socket, which belongs to no job.
          call: (other, otherJob, bytes, started) =>
            span.run(() => {
              const { volatile, deadline } = delivery;
              const packing = packPayload(transport.payloads, bytes, { volatile, until: deadline });
              return callOther(options, delivery, other, otherJob, packing, started);
            }),
        },
        delivery.signal,
        job.requestId,
      );
      if (result.ok && delivery.signal.aborted) throw new CancelledError('nobody waits for the answer any more');
      if (result.ok) {
        handedOver = result.payload;
        meter.replied(job, result.reply);
      }
      if (result.ok) return await answer({ outcome: { ok: true, reply: result.reply } }, result.payload);
      meter.failed(result.error.code);
      if (result.unexpected || result.error.code === 'UNKNOWN_ERROR')
        log[result.error.code === 'UNKNOWN_ERROR' ? 'error' : 'info'](
          { requestId: job.requestId, queue, code: result.error.code, cause: result.unexpected },
          'a job failed',
        );
      return await answer({ outcome: { ok: false, error: result.error } });
    } catch (error) {
      const record = failure(error, queue);
      meter.failed(record.code);
      log[record.code === 'UNKNOWN_ERROR' ? 'error' : 'info'](
        { requestId: job.requestId, queue, code: record.code, cause: describeCause(error) },
        'a job failed',
      );
      return await answer({ outcome: { ok: false, error: record } });
    } finally {
      // What was stored for an answer that nobody will get is let go, also where its process ended while it was stored.
      for (const storing of stored)
        storing.then(
          (payload) => (payload === handedOver ? undefined : releasePayload(transport.payloads, payload)),
          () => undefined,
        );
      meter.end(job);
      span.end(meter.outcome === 'OK' ? undefined : meter.outcome);
    }
  };

  showQueueMetrics(queue, options.concurrency);
  const endShowing = showConnection(transport.bus);
  const consumer: Consumer = await transport.bus.serve(queue, { concurrency: options.concurrency, handler });
  log.debug({ queue, concurrency: options.concurrency }, 'serving');
  return {
    async drain() {
      await consumer.drain();
      await pool.close();
      endShowing();
    },
  };
}

/** What a span tells of a job: nothing of the document but its format and the number of a page. */
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

/** What becomes of a job that failed on its way: a bus that is away must not look like a fault of the product or of the file. */
function failure(error: unknown, queue: QueueName): ErrorRecord {
  const known = transportError(error, queue);
  if (known instanceof ParseError) return known.toRecord();
  if (known instanceof CancelledError) return new ParseError('REQUEST_TIMEOUT').toRecord();
  return new ParseError('UNKNOWN_ERROR').toRecord();
}

/**
 * A job that an isolated process asks another service for; its payloads are let go here.
 * @param packing the payload on its way into the store: the bytes themselves are not held while the job waits
 */
async function callOther(
  { transport, log }: Pick<JobLoopOptions, 'transport' | 'log'>,
  delivery: Delivery,
  queue: QueueName,
  job: Job,
  packing: Promise<JobPayload>,
  onStarted: () => void,
): Promise<{ ok: true; reply: unknown; payload: Uint8Array } | { ok: false; error: ErrorRecord }> {
  const { volatile, deadline, signal } = delivery;
  let sent: JobPayload | undefined;
  let got: JobPayload | undefined;
  try {
    sent = await packing;
    const result = await dispatch(transport, queue, job, sent, { deadline, signal, volatile, onStarted });
    got = result.payload;
    return { ok: true, reply: result.reply, payload: await readPayload(transport.payloads, got, { until: deadline }) };
  } catch (error) {
    const record = failure(error, queue);
    // The job that asked only sees the record.
    if (record.code === 'UNKNOWN_ERROR')
      log.error({ requestId: job.requestId, queue, cause: describeCause(error) }, 'a call to another service failed');
    return { ok: false, error: record };
  } finally {
    await Promise.all([releasePayload(transport.payloads, sent), releasePayload(transport.payloads, got)]);
  }
}
