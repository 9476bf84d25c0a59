// Sends a job to another service over the bus, waits for the answer, and turns every failure into an error for the caller.
import { randomUUID } from 'node:crypto';
import { AbandonedError, type PayloadRef, type RequestOptions, type Transport } from '../bus/bus.ts';
import { ParseError } from '../contract/errors.ts';
import type { Job, JobOutcome } from '../contract/jobs.ts';
import { type JobProgress, jobProgressSchema } from '../contract/progress.ts';
import type { QueueName, ServiceName } from '../contract/services.ts';
import { toCallerError } from './bus-errors.ts';
import { deadLetters, queueLabel } from './metrics.ts';
import type { JobPayload } from './payload.ts';
import type { TraceCarrier } from './traces/span.ts';
import { inSpan } from './traces.ts';

/** Header of a job message; the body is the inline payload. */
export interface JobHeader {
  job: Job;
  ref?: PayloadRef;
  /** The service that reads the payload of the answer. */
  resultReader?: string;
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
  /** Whose job it is: teams take turns in each queue. */
  team?: string | undefined;
  signal?: AbortSignal;
  volatile: boolean;
  /** The service that reads the payload of the answer, besides the gateway. Default: the service of this process. */
  resultReader?: ServiceName;
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
  const { onProgress, team, resultReader = transport.service, ...rest } = options;
  const attributes = {
    'messaging.system': 'parsemesh',
    'messaging.operation.type': 'send',
    'messaging.destination.name': queueLabel(queue),
  };
  return inSpan(`send ${queueLabel(queue)}`, { kind: 'producer', attributes }, async (span) => {
    const inline = 'inline' in payload;
    const trace = span.carrier();
    const header: JobHeader = {
      job,
      resultReader,
      ...(inline ? {} : { ref: payload.ref }),
      ...(trace ? { trace } : {}),
    };
    try {
      const answer = await transport.bus.request(
        queue,
        { id: randomUUID(), header, body: inline ? payload.inline : new Uint8Array(0) },
        {
          ...rest,
          ...(team === undefined ? {} : { team }),
          ...(onProgress ? { onProgress: validReports(onProgress) } : {}),
        },
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
