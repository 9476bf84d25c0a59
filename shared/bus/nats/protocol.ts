// Defines the subjects and messages that requesters and workers exchange directly, without a queue.

/** The header of a job's frame. */
export interface JobEnvelope {
  id: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** Subject on which the requester receives the notices of workers. Unique: it also identifies the request to cancel. */
  reply: string;
  /** The requester wants progress reports. */
  progress: boolean;
  header: unknown;
}

/** Checks the header of a job's frame. @throws RangeError */
export function readEnvelope(header: unknown): JobEnvelope {
  const envelope = (header ?? {}) as Partial<JobEnvelope>;
  const { id, deadline, reply, progress } = envelope;
  if (typeof id !== 'string' || typeof deadline !== 'number' || typeof reply !== 'string')
    throw new RangeError('the message is not a job');
  return { id, deadline, reply, progress: progress === true, header: envelope.header };
}

/**
 * The header of a frame that a worker sends to a requester as a NATS request, except `progress`, which is a message without a
 * reply: if it is lost, nothing is missing. The requester replies with one byte:
 * `NOT_WANTED` if it no longer waits for the job, else the number of the attempt (`start`) or 1 (other notices).
 * The requester counts the attempts itself. The server's delivery count can be too high: it includes deliveries that a
 * worker returned because it had no free slot.
 */
export type WorkerNotice =
  /** The worker wants to start the job. `delivery` identifies the delivery, so that a repeated notice counts once. */
  | { kind: 'start'; delivery: string }
  | { kind: 'working' }
  /** `attempt`: the number that the requester gave to the attempt. `report`: JSON text of at most `progressBytes`. */
  | { kind: 'progress'; attempt: number; report: string }
  | { kind: 'answer'; header: unknown }
  | { kind: 'abandoned'; reason: string };

export const NOT_WANTED = 0;

export const REPLY_PREFIX = 'parsemesh.reply';
export const cancelSubject = (queue: string): string => `parsemesh.cancel.${queue}`;

/** A message on this subject makes every worker announce itself at once. */
export const ANNOUNCE_REQUEST_SUBJECT = 'parsemesh.presence.ask';
export const ALL_ANNOUNCEMENTS = 'parsemesh.presence.*.*.*';
/** `here`: the worker serves the queue. `gone`: it stopped. */
export const announcementSubject = (state: 'here' | 'gone', queue: string, worker: string): string =>
  `parsemesh.presence.${state}.${queue}.${worker}`;

const QUEUE_NAME = /^[\w-]{1,64}$/;

/** Checks that a queue name can be part of a subject and a consumer name. @throws RangeError */
export function checkQueueName(queue: string): void {
  if (!QUEUE_NAME.test(queue)) throw new RangeError(`not a queue name: ${JSON.stringify(queue)}`);
}
