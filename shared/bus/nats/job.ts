// One attempt at one job, from its taking to its end: answered, given back, given up, or dropped because nobody wants it.
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { JobAnswer, ServeOptions } from '../bus.ts';
import { encodeFrame } from './frame.ts';
import type { Link } from './link.ts';
import { GONE, type JobEnvelope, type WorkerNotice } from './protocol.ts';
import type { TakenJob } from './taken.ts';
import { JOB_STREAMS } from './topology.ts';

/** A fraction of what the server waits for a word. */
export const HEARTBEAT_MS = TRANSPORT_LIMITS.ackWaitMs / 4;
const ORPHAN_DELAY_MS = 1_000;
const NOTICE_TIMEOUT_MS = 2_000;
const WORKING = encodeFrame({ kind: 'working' } satisfies WorkerNotice);

/** How a notice was received: heard (with the number of the attempt), no longer wanted, nobody there to hear it, or no word in time. */
type Reception = number | 'gone' | 'nobody' | 'silence';

/**
 * Runs the handler on a job. Never rejects.
 * @param free called once when the handler is done and its place may be used again; handing over the answer may take longer
 */
export async function runJob(
  link: Link,
  job: TakenJob,
  envelope: JobEnvelope,
  body: Uint8Array,
  controller: AbortController,
  handler: ServeOptions['handler'],
  free: () => void,
): Promise<void> {
  const alive = keepAlive(link, job, envelope, controller);
  let answer: JobAnswer | undefined;
  let attempt = 0;
  try {
    const start = await notify(
      link,
      envelope.reply,
      encodeFrame({ kind: 'start', delivery: job.delivery } satisfies WorkerNotice),
    );
    if (start === 'gone' || controller.signal.aborted) {
      job.drop();
      return;
    }
    if (typeof start === 'string') {
      // Its requester is away, for a moment or for good: it is looked at again now and then until its deadline.
      job.giveBack(ORPHAN_DELAY_MS);
      return;
    }
    attempt = start;
    answer = await handler({
      message: { id: envelope.id, header: envelope.header, body },
      attempt,
      deadline: envelope.deadline,
      volatile: job.stream === JOB_STREAMS.volatile,
      signal: controller.signal,
    });
  } catch (err) {
    if (controller.signal.aborted) {
      job.drop();
      return;
    }
    link.log.warn({ err, attempt, job: envelope.id }, 'an attempt at a job failed');
    if (attempt < TRANSPORT_LIMITS.maxDeliveries) {
      job.giveBack();
      return;
    }
    await handOver(link, envelope, { kind: 'abandoned', reason: `given up after ${attempt} failed attempts` });
    job.drop();
    return;
  } finally {
    free();
    if (!answer) alive.stop();
  }
  try {
    if (!controller.signal.aborted)
      await handOver(link, envelope, { kind: 'answer', header: answer.header ?? null }, answer.body);
    job.ack();
  } catch (err) {
    link.log.warn({ err, attempt, job: envelope.id }, 'an answer could not be handed over');
    job.giveBack();
  } finally {
    alive.stop();
  }
}

/** Tells the server that the job is being worked on, asks now and then whether it is still wanted, and watches the deadline. */
function keepAlive(link: Link, job: TakenJob, envelope: JobEnvelope, controller: AbortController): { stop(): void } {
  let absentSince: number | undefined;
  const stop = (): void => {
    clearInterval(heartbeat);
    clearTimeout(deadline);
  };
  const beat = async (): Promise<void> => {
    // A handler that outlives its worker keeps nothing of it alive.
    if (link.closed()) return stop();
    if (!link.ready()) return;
    job.working();
    const reception = await notify(link, envelope.reply, WORKING);
    if (reception === 'gone') controller.abort(new Error('the requester no longer waits'));
    absentSince = reception === 'nobody' ? (absentSince ?? Date.now()) : undefined;
    // A requester whose connection broke is given the time to come back that its answer would be given.
    if (absentSince !== undefined && Date.now() - absentSince >= TRANSPORT_LIMITS.answerRetryMs)
      controller.abort(new Error('the requester went away'));
  };
  const heartbeat = setInterval(() => void beat(), HEARTBEAT_MS);
  const deadline = setTimeout(
    () => controller.abort(new Error('the deadline passed')),
    Math.max(0, Math.min(envelope.deadline - Date.now(), 2 ** 31 - 1)),
  );
  return { stop };
}

/** Says something to the requester and waits for its word. */
async function notify(link: Link, reply: string, frame: Uint8Array): Promise<Reception> {
  try {
    const word = await link.connection.request(reply, frame, { timeout: NOTICE_TIMEOUT_MS });
    const [byte = GONE] = word.data;
    return byte === GONE ? 'gone' : byte;
  } catch (error) {
    return error instanceof RequestError && error.isNoResponders() ? 'nobody' : 'silence';
  }
}

/** Says the last word on a job until the requester heard it, the deadline passed, or it stayed away too long (its connection may be coming back). */
async function handOver(link: Link, envelope: JobEnvelope, notice: WorkerNotice, body?: Uint8Array): Promise<void> {
  let frame = encodeFrame(notice, body);
  if (frame.length > TRANSPORT_LIMITS.messageBytes) {
    link.log.warn({ job: envelope.id, bytes: frame.length }, 'an answer is too large for one message');
    const reason = 'the answer is too large for one message; use the payload store';
    frame = encodeFrame({ kind: 'abandoned', reason } satisfies WorkerNotice);
  }
  let absentSince: number | undefined;
  while (await link.whenReady(envelope.deadline)) {
    const reception = await notify(link, envelope.reply, frame);
    if (typeof reception === 'number' || reception === 'gone') return;
    absentSince ??= Date.now();
    if (Date.now() > envelope.deadline || Date.now() - absentSince > TRANSPORT_LIMITS.answerRetryMs) {
      link.log.warn({ job: envelope.id }, 'nobody is there to hear the answer to a job');
      return;
    }
    await sleep(100);
  }
}
