// Runs one attempt at a job: calls the handler, sends heartbeats and the answer, and settles the delivery.
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '@nats-io/nats-core';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { JobReturnedError, type ServeOptions } from '../bus.ts';
import { msUntil } from '../deadline.ts';
import { ProgressReports } from '../progress.ts';
import type { BusConnection } from './connection.ts';
import type { JetStreamDelivery } from './delivery.ts';
import { encodeFrame } from './frame.ts';
import { decodeStartReply, isNotWanted, type JobEnvelope, type WorkerNotice } from './protocol.ts';

/** A fraction of the server's ack timeout, so that one lost heartbeat causes no redelivery. */
export const HEARTBEAT_MS = TRANSPORT_LIMITS.ackWaitMs / 4;
/** Redelivery delay of a job whose requester does not answer. */
const REQUESTER_MISSING_DELAY_MS = 1_000;
/** Far more than the error of the server's clock. */
const OVERDUE_MARGIN_MS = 1_000;
const NOTICE_TIMEOUT_MS = 2_000;
/** Pause before a notice is sent again. It doubles, so that the answers for a lost requester cause little traffic. */
const NOTICE_RETRY_BASE_MS = 100;
const NOTICE_RETRY_MAX_MS = 1_000;

/** The requester's reply to a notice, or the reason why there is none. */
type NoticeReply = Uint8Array | 'no requester' | 'timeout';

export interface Attempt {
  delivery: JetStreamDelivery;
  envelope: JobEnvelope;
  body: Uint8Array;
  volatile: boolean;
  controller: AbortController;
}

/** The abort reason of an attempt whose requester is not connected. The job stays in its queue: the requester may come back. */
class RequesterMissingError extends Error {
  override readonly name = 'RequesterMissingError';
}

/** What the worker sends to the requester when the handler has ended. */
interface Result {
  notice: WorkerNotice;
  body?: Uint8Array;
  /** Epoch milliseconds, on the clock of this machine. */
  deadline: number;
}

/**
 * Runs the handler on a job and settles the delivery. Never rejects.
 * @param freeSlot called once, when the handler is done and its slot is free; sending the answer may take longer
 * @param stopSending when it aborts, an answer that the requester has not received is dropped, and the job returns to its queue
 */
export async function runAttempt(
  connection: BusConnection,
  attempt: Attempt,
  handler: ServeOptions['handler'],
  freeSlot: () => void,
  stopSending: AbortSignal,
): Promise<void> {
  const { delivery, envelope } = attempt;
  const heartbeat = new Heartbeat(connection, attempt);
  try {
    const result = await runHandler(connection, attempt, handler, heartbeat).finally(freeSlot);
    if (!result) return;
    heartbeat.handlerEnded();
    if (await sendResult(connection, envelope, result, stopSending)) delivery.ack();
    else delivery.nak();
  } catch (err) {
    connection.log.warn({ err, job: envelope.id }, 'an answer could not be sent');
    delivery.nak();
  } finally {
    heartbeat.stop();
  }
}

/** Returns the result of the handler. If there is none to send, it settles the delivery and returns undefined. */
async function runHandler(
  connection: BusConnection,
  { delivery, envelope, body, volatile, controller }: Attempt,
  handler: ServeOptions['handler'],
  heartbeat: Heartbeat,
): Promise<Result | undefined> {
  const { signal } = controller;
  const notice = encodeFrame({ kind: 'start', delivery: delivery.id } satisfies WorkerNotice);
  const reply = await notifyRequester(connection, envelope.reply, notice);
  if (typeof reply === 'string') {
    // The requester may be reconnecting, or it may have exited. The job is redelivered until its time is over.
    if (isOverdue(connection, delivery, envelope)) delivery.term();
    else delivery.nak(REQUESTER_MISSING_DELAY_MS);
    return undefined;
  }
  const start = decodeStartReply(reply);
  if (!start || signal.aborted) {
    delivery.term();
    return undefined;
  }
  const { attempt, remainingMs, isLast } = start;
  const deadline = Date.now() + remainingMs;
  heartbeat.started(attempt, deadline);
  const reports = envelope.progress
    ? new ProgressReports((report) => sendProgress(connection, envelope.reply, { kind: 'progress', attempt, report }))
    : undefined;
  try {
    const answer = await handler({
      message: { id: envelope.id, header: envelope.header, body },
      attempt,
      deadline,
      team: envelope.team,
      volatile,
      signal,
      progress: reports && ((report) => reports.add(report)),
    });
    if (!signal.aborted || isRequesterMissing(signal))
      return { notice: { kind: 'answer', header: answer.header ?? null }, body: answer.body, deadline };
    delivery.ack();
    return undefined;
  } catch (err) {
    if (isRequesterMissing(signal)) delivery.nak(REQUESTER_MISSING_DELAY_MS);
    else if (signal.aborted) delivery.term();
    else if (err instanceof JobReturnedError) {
      // If the requester does not receive it, the attempt counts as a failed one.
      await notifyRequester(
        connection,
        envelope.reply,
        encodeFrame({ kind: 'returned', attempt } satisfies WorkerNotice),
      );
      delivery.nak();
    } else {
      connection.log.warn({ err, attempt, job: envelope.id }, 'an attempt at a job failed');
      if (isLast) {
        const reason = `the job failed in all ${TRANSPORT_LIMITS.maxDeliveries} attempts`;
        return { notice: { kind: 'abandoned', reason }, deadline };
      }
      delivery.nak();
    }
    return undefined;
  } finally {
    // The answer is sent after this, on the same connection, so no report arrives after it.
    reports?.end();
  }
}

/** Whether the requester cannot wait for the job any more. Both times are on the server's clock. */
function isOverdue({ clock }: BusConnection, { storedAt }: JetStreamDelivery, { timeoutMs }: JobEnvelope): boolean {
  const now = clock.now();
  return now !== undefined && now - storedAt > timeoutMs + OVERDUE_MARGIN_MS;
}

const isRequesterMissing = ({ reason }: AbortSignal): boolean => reason instanceof RequesterMissingError;

/** Sends a report once. While the connection is lost it is dropped, so that no reports collect in the client. */
function sendProgress(connection: BusConnection, subject: string, notice: WorkerNotice): void {
  if (connection.ready()) connection.nats.publish(subject, encodeFrame(notice));
}

/**
 * Sends heartbeats to the server until it is stopped, and to the requester while the handler runs. Aborts the attempt at the
 * deadline, when the requester no longer waits, or when the requester is not connected for `requesterMissingMs`.
 */
class Heartbeat {
  readonly #connection: BusConnection;
  readonly #attempt: Attempt;
  readonly #timer: NodeJS.Timeout;
  #deadlineTimer: NodeJS.Timeout | undefined;
  /** The notice for the requester while the handler runs. */
  #working: Uint8Array | undefined;
  #requesterMissingSince: number | undefined;

  constructor(connection: BusConnection, attempt: Attempt) {
    this.#connection = connection;
    this.#attempt = attempt;
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS);
  }

  /** The handler starts. @param deadline epoch milliseconds, on the clock of this machine */
  started(attempt: number, deadline: number): void {
    this.#working = encodeFrame({ kind: 'working', attempt } satisfies WorkerNotice);
    const { controller } = this.#attempt;
    this.#deadlineTimer = setTimeout(() => controller.abort(new Error('the deadline passed')), msUntil(deadline));
  }

  handlerEnded(): void {
    this.#working = undefined;
    clearTimeout(this.#deadlineTimer);
  }

  stop(): void {
    this.handlerEnded();
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    // Otherwise a handler that never ends would keep the process running after the connection is closed.
    if (this.#connection.closed()) {
      this.stop();
      return;
    }
    if (!this.#connection.ready()) {
      // Only the requester's absence from a connected server counts.
      this.#requesterMissingSince = undefined;
      return;
    }
    const { delivery, envelope, controller } = this.#attempt;
    delivery.inProgress();
    if (!this.#working) return;
    const reply = await notifyRequester(this.#connection, envelope.reply, this.#working);
    if (typeof reply !== 'string' && isNotWanted(reply)) controller.abort(new Error('the requester no longer waits'));
    this.#requesterMissingSince =
      reply === 'no requester' ? (this.#requesterMissingSince ?? performance.now()) : undefined;
    const missingMs = performance.now() - (this.#requesterMissingSince ?? performance.now());
    if (missingMs >= TRANSPORT_LIMITS.requesterMissingMs)
      controller.abort(new RequesterMissingError('the requester is disconnected'));
  }
}

async function notifyRequester(connection: BusConnection, subject: string, frame: Uint8Array): Promise<NoticeReply> {
  try {
    return (await connection.nats.request(subject, frame, { timeout: NOTICE_TIMEOUT_MS })).data;
  } catch (error) {
    return error instanceof RequestError && error.isNoResponders() ? 'no requester' : 'timeout';
  }
}

/**
 * Sends the result of a job until the requester receives it, or the deadline passes. The requester or this worker may be cut
 * off from the server for a while. @returns false if it was stopped before
 */
async function sendResult(
  connection: BusConnection,
  envelope: JobEnvelope,
  { notice, body, deadline }: Result,
  stopSending: AbortSignal,
): Promise<boolean> {
  let frame = encodeFrame(notice, body);
  if (frame.length > TRANSPORT_LIMITS.messageBytes) {
    connection.log.warn({ job: envelope.id, bytes: frame.length }, 'an answer is too large for one message');
    const reason = 'the answer is too large for one message; use the payload store';
    frame = encodeFrame({ kind: 'abandoned', reason } satisfies WorkerNotice);
  }
  let delayMs = NOTICE_RETRY_BASE_MS;
  while (await connection.whenReady(deadline, stopSending)) {
    if (typeof (await notifyRequester(connection, envelope.reply, frame)) !== 'string') return true;
    if (Date.now() >= deadline || stopSending.aborted) break;
    await sleep(delayMs, undefined, { signal: stopSending }).catch(() => undefined);
    delayMs = Math.min(2 * delayMs, NOTICE_RETRY_MAX_MS);
  }
  connection.log.warn({ job: envelope.id }, 'the requester did not receive the answer to a job');
  return !stopSending.aborted;
}
