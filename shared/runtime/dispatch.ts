// Sends a job to another service over the bus, waits for the answer, and turns every failure into an error for the caller.
import { randomUUID } from 'node:crypto';
import {
  AbandonedError,
  BusUnavailableError,
  DeadlineError,
  NoWorkerError,
  PayloadMissingError,
  type PayloadRef,
  type RequestOptions,
  StoreFullError,
  type Transport,
} from '../bus/bus.ts';
import { ParseError } from '../contract/errors.ts';
import type { Job, JobOutcome } from '../contract/jobs.ts';
import { type JobProgress, jobProgressSchema } from '../contract/progress.ts';
import type { QueueName } from '../contract/services.ts';
import { deadLetters, queueLabel } from './metrics.ts';
import type { JobPayload } from './payload.ts';
import type { TraceCarrier } from './traces/span.ts';
import { inSpan } from './traces.ts';

/** Header of a job message; the body is the inline payload. */
export interface JobHeader {
  job: Job;
  ref?: PayloadRef;
  /** Trace context of the span that sent the job. */
  trace?: TraceCarrier;
}

/** Header of an answer; the body is the inline payload. */
export interface AnswerHeader {
  outcome: JobOutcome;
  ref?: PayloadRef;
}

interface DispatchOptions {
  /** Epoch milliseconds. */
  deadline: number;
  signal?: AbortSignal;
  volatile: boolean;
  /** Called each time a worker receives the job. */
  onStarted?: () => void;
  /** Called a few times a second with the progress of the job, if the service reports any. */
  onProgress?: (progress: JobProgress) => void;
}

interface DispatchResult<Reply> {
  reply: Reply;
  /** The requester must delete it. */
  payload: JobPayload;
}

const RETRY_AFTER_SECONDS = 5;

/** The caller's error when the payload store is full. */
export function storeFullError(cause: StoreFullError): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `Service Unavailable: the server's memory for documents in progress is full. Wait ${RETRY_AFTER_SECONDS} s and send the request again.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** The caller's error for a failure of the bus or the payload store; any other error is returned unchanged. */
export function toCallerError(error: unknown, queue: string): unknown {
  if (error instanceof DeadlineError)
    return new ParseError(
      'REQUEST_TIMEOUT',
      "Request Timeout: the conversion did not finish within the request's `timeout`. Set a longer `timeout` (at most 300000 ms) or request fewer pages.",
      { cause: error },
    );
  if (error instanceof NoWorkerError)
    return new ParseError(
      'SERVICE_UNAVAILABLE',
      `Service Unavailable: no ${queue} worker is running. Try again later.`,
      { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  if (error instanceof BusUnavailableError || error instanceof PayloadMissingError)
    return new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: the message bus does not respond. Try again later.',
      { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  if (error instanceof StoreFullError) return storeFullError(error);
  if (error instanceof AbandonedError)
    return new ParseError(
      'CONVERSION_FAILED',
      'Every worker that tried to convert the document failed, so the file is the likely cause. Check that it opens in the program that made it, and save it again.',
      { cause: error },
    );
  return error;
}

/**
 * Runs one job on another service.
 * @throws ParseError the service's own error; 408 at the deadline; 503 if no worker serves the queue or the bus is unavailable
 * @throws CancelledError when `signal` fires
 */
export async function dispatch<Reply>(
  transport: Transport,
  queue: QueueName,
  job: Job,
  payload: JobPayload,
  options: DispatchOptions,
): Promise<DispatchResult<Reply>> {
  const { onProgress, ...rest } = options;
  const attributes = {
    'messaging.system': 'parsemesh',
    'messaging.operation.type': 'send',
    'messaging.destination.name': queueLabel(queue),
  };
  return inSpan(`send ${queueLabel(queue)}`, { kind: 'producer', attributes }, async (span) => {
    const inline = 'inline' in payload;
    const trace = span.carrier();
    const header: JobHeader = { job, ...(inline ? {} : { ref: payload.ref }), ...(trace ? { trace } : {}) };
    try {
      const answer = await transport.bus.request(
        queue,
        { id: randomUUID(), header, body: inline ? payload.inline : new Uint8Array(0) },
        { ...rest, ...(onProgress ? { onProgress: validReports(onProgress) } : {}) },
      );
      const { outcome, ref } = answer.header as AnswerHeader;
      if (!outcome.ok) throw ParseError.fromRecord(outcome.error);
      return { reply: outcome.reply as Reply, payload: ref ? { ref } : { inline: answer.body } };
    } catch (error) {
      if (error instanceof AbandonedError) deadLetters.inc({ queue: queueLabel(queue) });
      throw toCallerError(error, queue);
    }
  });
}

/** Passes on valid reports only. They come from an isolated process that may be compromised. */
function validReports(onProgress: (progress: JobProgress) => void): NonNullable<RequestOptions['onProgress']> {
  return (report) => {
    const { data } = jobProgressSchema.safeParse(report);
    if (data) onProgress(data);
  };
}
