// Runs one attempt at a job: calls the handler, sends heartbeats and the answer, and settles the delivery.
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { JobAnswer, ServeOptions } from '../bus.ts';
import { msUntil } from '../deadline.ts';
import { ProgressReports } from '../progress.ts';
import type { BusConnection } from './connection.ts';
import type { JetStreamDelivery } from './delivery.ts';
import { encodeFrame } from './frame.ts';
import { type JobEnvelope, NOT_WANTED, type WorkerNotice } from './protocol.ts';
import { JOB_STREAMS } from './topology.ts';

/** A fraction of the server's ack timeout, so that one lost heartbeat causes no redelivery. */
export const HEARTBEAT_MS = TRANSPORT_LIMITS.ackWaitMs / 4;
/** Redelivery delay of a job whose requester does not answer. */
const REQUESTER_MISSING_DELAY_MS = 1_000;
const NOTICE_TIMEOUT_MS = 2_000;
const NOTICE_RETRY_MS = 100;
const WORKING = encodeFrame({ kind: 'working' } satisfies WorkerNotice);

/** The requester's reply to a notice: one byte (the number of the attempt, or 1), or the reason why there is no byte. */
type NoticeReply = number | 'not wanted' | 'no requester' | 'timeout';

export interface Attempt {
  delivery: JetStreamDelivery;
  envelope: JobEnvelope;
  body: Uint8Array;
  controller: AbortController;
}

/**
 * Runs the handler on a job and settles the delivery. Never rejects.
 * @param freeSlot called once, when the handler is done and its slot is free; sending the answer may take longer
 */
export async function runAttempt(
  connection: BusConnection,
  attempt: Attempt,
  handler: ServeOptions['handler'],
  freeSlot: () => void,
): Promise<void> {
  const { delivery, envelope, controller } = attempt;
  const heartbeat = startHeartbeat(connection, attempt);
  try {
    const answer = await runHandler(connection, attempt, handler).finally(freeSlot);
    if (!answer) return;
    if (!controller.signal.aborted)
      await sendResult(connection, envelope, { kind: 'answer', header: answer.header ?? null }, answer.body);
    delivery.ack();
  } catch (err) {
    connection.log.warn({ err, job: envelope.id }, 'an answer could not be sent');
    delivery.nak();
  } finally {
    heartbeat.stop();
  }
}

/**
 * Returns the answer of the handler. If there is no answer, it settles the delivery and returns undefined. Rejects only if
 * a result cannot be sent.
 */
async function runHandler(
  connection: BusConnection,
  { delivery, envelope, body, controller }: Attempt,
  handler: ServeOptions['handler'],
): Promise<JobAnswer | undefined> {
  const start = encodeFrame({ kind: 'start', delivery: delivery.id } satisfies WorkerNotice);
  const attempt = await notifyRequester(connection, envelope.reply, start);
  if (attempt === 'not wanted' || controller.signal.aborted) {
    delivery.term();
    return undefined;
  }
  if (typeof attempt === 'string') {
    // The requester may be reconnecting, or it may have exited. The job is redelivered until its deadline.
    delivery.nak(REQUESTER_MISSING_DELAY_MS);
    return undefined;
  }
  const reports = envelope.progress
    ? new ProgressReports((report) => sendProgress(connection, envelope.reply, { kind: 'progress', attempt, report }))
    : undefined;
  try {
    return await handler({
      message: { id: envelope.id, header: envelope.header, body },
      attempt,
      deadline: envelope.deadline,
      volatile: delivery.stream === JOB_STREAMS.volatile,
      signal: controller.signal,
      progress: reports && ((report) => reports.add(report)),
    });
  } catch (err) {
    if (controller.signal.aborted) {
      delivery.term();
      return undefined;
    }
    connection.log.warn({ err, attempt, job: envelope.id }, 'an attempt at a job failed');
    if (attempt < TRANSPORT_LIMITS.maxDeliveries) {
      delivery.nak();
      return undefined;
    }
    await sendResult(connection, envelope, { kind: 'abandoned', reason: `the job failed in all ${attempt} attempts` });
    delivery.term();
    return undefined;
  } finally {
    // The answer is sent after this, on the same connection, so no report arrives after it.
    reports?.end();
  }
}

/** Sends a report once. While the connection is lost it is dropped, so that no reports collect in the client. */
function sendProgress(connection: BusConnection, subject: string, notice: WorkerNotice): void {
  if (connection.ready()) connection.nats.publish(subject, encodeFrame(notice));
}

/**
 * Sends heartbeats to the server and to the requester. Aborts the attempt at the deadline, or when the requester no longer
 * waits.
 */
function startHeartbeat(connection: BusConnection, { delivery, envelope, controller }: Attempt): { stop(): void } {
  let requesterMissingSince: number | undefined;
  const stop = (): void => {
    clearInterval(heartbeat);
    clearTimeout(deadline);
  };
  const beat = async (): Promise<void> => {
    // Otherwise a handler that never ends would keep the process running after the connection is closed.
    if (connection.closed()) return stop();
    if (!connection.ready()) return;
    delivery.inProgress();
    const reply = await notifyRequester(connection, envelope.reply, WORKING);
    if (reply === 'not wanted') controller.abort(new Error('the requester no longer waits'));
    requesterMissingSince = reply === 'no requester' ? (requesterMissingSince ?? Date.now()) : undefined;
    // The requester may be reconnecting. Wait for it as long as `sendResult` does.
    if (requesterMissingSince !== undefined && Date.now() - requesterMissingSince >= TRANSPORT_LIMITS.answerRetryMs)
      controller.abort(new Error('the requester is disconnected'));
  };
  const heartbeat = setInterval(() => void beat(), HEARTBEAT_MS);
  const deadline = setTimeout(() => controller.abort(new Error('the deadline passed')), msUntil(envelope.deadline));
  return { stop };
}

async function notifyRequester(connection: BusConnection, subject: string, frame: Uint8Array): Promise<NoticeReply> {
  try {
    const reply = await connection.nats.request(subject, frame, { timeout: NOTICE_TIMEOUT_MS });
    const [byte = NOT_WANTED] = reply.data;
    return byte === NOT_WANTED ? 'not wanted' : byte;
  } catch (error) {
    return error instanceof RequestError && error.isNoResponders() ? 'no requester' : 'timeout';
  }
}

/**
 * Sends the result of a job until the requester receives it. Gives up at the deadline, or when the requester did not reply
 * for `answerRetryMs`.
 */
async function sendResult(
  connection: BusConnection,
  envelope: JobEnvelope,
  notice: WorkerNotice,
  body?: Uint8Array,
): Promise<void> {
  let frame = encodeFrame(notice, body);
  if (frame.length > TRANSPORT_LIMITS.messageBytes) {
    connection.log.warn({ job: envelope.id, bytes: frame.length }, 'an answer is too large for one message');
    const reason = 'the answer is too large for one message; use the payload store';
    frame = encodeFrame({ kind: 'abandoned', reason } satisfies WorkerNotice);
  }
  let firstFailureAt: number | undefined;
  while (await connection.whenReady(envelope.deadline)) {
    const reply = await notifyRequester(connection, envelope.reply, frame);
    if (typeof reply === 'number' || reply === 'not wanted') return;
    firstFailureAt ??= Date.now();
    if (Date.now() > envelope.deadline || Date.now() - firstFailureAt > TRANSPORT_LIMITS.answerRetryMs) {
      connection.log.warn({ job: envelope.id }, 'the requester did not receive the answer to a job');
      return;
    }
    await sleep(NOTICE_RETRY_MS);
  }
}
