// The requester's side of a job: puts it on the bus, waits, and turns whatever comes of it into an answer or one clear error.
import { randomUUID } from 'node:crypto';
import {
  AbandonedError,
  BusUnavailableError,
  DeadlineError,
  NoWorkerError,
  PayloadMissingError,
  type PayloadRef,
  StoreFullError,
  type Transport,
} from '../bus/bus.ts';
import { ParseError } from '../contract/errors.ts';
import type { Job, JobOutcome, QueueName } from '../contract/jobs.ts';
import { deadLetters, queueLabel } from './metrics.ts';
import type { JobPayload } from './payload.ts';
import { inSpan, type TraceCarrier } from './traces.ts';

/** Header of a job message; the body is the inline payload. */
export interface JobHeader {
  job: Job;
  ref?: PayloadRef;
  /** The span that sent it. */
  trace?: TraceCarrier;
}

/** Header of an answer; the body is the inline payload. */
export interface AnswerHeader {
  outcome: JobOutcome;
  ref?: PayloadRef;
}

export interface DispatchOptions {
  /** Epoch milliseconds. */
  deadline: number;
  signal?: AbortSignal;
  volatile: boolean;
  /** Called each time a worker takes the job. */
  onStarted?: () => void;
}

export interface DispatchResult<Reply> {
  reply: Reply;
  /** The requester releases it. */
  payload: JobPayload;
}

const RETRY_AFTER_SECONDS = 5;

/** What a caller is told where the store has no room. */
export function storeFull(cause: StoreFullError): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `Service Unavailable: the documents at work take up all the room that this server has for them. Please wait ${RETRY_AFTER_SECONDS} s and send the request again.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** What a caller is told of a fault of the way itself; anything else comes back as it was. */
export function transportError(error: unknown, queue: string): unknown {
  if (error instanceof DeadlineError)
    return new ParseError(
      'REQUEST_TIMEOUT',
      "Request Timeout: the document was not done within the request's `timeout`. Ask for a longer `timeout` (at most 300000 ms) or for fewer pages.",
      { cause: error },
    );
  if (error instanceof NoWorkerError)
    return new ParseError(
      'SERVICE_UNAVAILABLE',
      `Service Unavailable: no ${queue} worker is running to take the document. Try again later.`,
      { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  if (error instanceof BusUnavailableError || error instanceof PayloadMissingError)
    return new ParseError(
      'SERVICE_UNAVAILABLE',
      'Service Unavailable: the message bus does not answer. Try again later.',
      { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  if (error instanceof StoreFullError) return storeFull(error);
  if (error instanceof AbandonedError)
    return new ParseError(
      'CONVERSION_FAILED',
      'The document ended every worker that tried to convert it; the file itself is the likely cause. Check that it opens in its own program, and save it anew.',
      { cause: error },
    );
  return error;
}

/**
 * Runs one job on another service.
 * @throws ParseError what the service answered, 408 at the deadline, 503 where nobody serves the queue or the bus is away; CancelledError where `signal` fired.
 */
export async function dispatch<Reply>(
  transport: Transport,
  queue: QueueName,
  job: Job,
  payload: JobPayload,
  options: DispatchOptions,
): Promise<DispatchResult<Reply>> {
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
        options,
      );
      const { outcome, ref } = answer.header as AnswerHeader;
      if (!outcome.ok) throw ParseError.fromRecord(outcome.error);
      return { reply: outcome.reply as Reply, payload: ref ? { ref } : { inline: answer.body } };
    } catch (error) {
      if (error instanceof AbandonedError) deadLetters.inc({ queue: queueLabel(queue) });
      throw transportError(error, queue);
    }
  });
}
