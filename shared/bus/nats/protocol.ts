// What requesters and workers say to each other beside the queues, and on which subjects.

/** The header of a job's frame. */
export interface JobEnvelope {
  id: string;
  deadline: number;
  /** Subject on which the requester hears from workers; unique to this request, so also the name to cancel it by. */
  reply: string;
  header: unknown;
}

/** Holds the header of a job's frame to its shape. @throws RangeError */
export function readEnvelope(header: unknown): JobEnvelope {
  const envelope = (header ?? {}) as Partial<JobEnvelope>;
  const { id, deadline, reply } = envelope;
  if (typeof id !== 'string' || typeof deadline !== 'number' || typeof reply !== 'string')
    throw new RangeError('the message is not a job');
  return { id, deadline, reply, header: envelope.header };
}

/**
 * What a worker tells a requester, as the header of a frame. Each is a request. The requester answers one byte:
 * `GONE` when it no longer wants the job, else to `start` the number of the attempt, to the others 1.
 * The requester counts, because the server also counts a job that a busy worker gave straight back.
 */
export type WorkerNotice =
  /** May it start? `delivery` names this delivery, so that asking twice counts once. */
  | { kind: 'start'; delivery: string }
  | { kind: 'working' }
  | { kind: 'answer'; header: unknown }
  | { kind: 'abandoned'; reason: string };

export const GONE = 0;

export const REPLY_PREFIX = 'parsemesh.reply';
export const cancelSubject = (queue: string): string => `parsemesh.cancel.${queue}`;

export const PRESENCE_ASK = 'parsemesh.presence.ask';
export const PRESENCE_ALL = 'parsemesh.presence.*.*.*';
export const presenceSubject = (word: 'here' | 'gone', queue: string, worker: string): string =>
  `parsemesh.presence.${word}.${queue}.${worker}`;

const QUEUE_NAME = /^[\w-]{1,64}$/;

/** Holds queue names to what may stand in subjects and consumer names. @throws RangeError */
export function checkQueueName(queue: string): void {
  if (!QUEUE_NAME.test(queue)) throw new RangeError(`not a queue name: ${JSON.stringify(queue)}`);
}
