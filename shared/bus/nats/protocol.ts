// Defines the subjects and messages that requesters and workers exchange directly, without a queue.
import { isLane, type LaneStream } from './topology.ts';

/** The header of a job's frame. */
export interface JobEnvelope {
  id: string;
  /** How long the request may take in all, in milliseconds. */
  timeoutMs: number;
  /** Subject on which the requester receives the notices of workers. Unique: it also identifies the request to cancel. */
  reply: string;
  /** The team of the request, for jobs that the worker sends to other queues. */
  team: string | undefined;
  /** The requester wants progress reports. */
  progress: boolean;
  header: unknown;
}

/** Checks the header of a job's frame. @throws RangeError */
export function readEnvelope(header: unknown): JobEnvelope {
  const envelope = (header ?? {}) as Partial<JobEnvelope>;
  const { id, timeoutMs, reply, team, progress } = envelope;
  if (typeof id !== 'string' || typeof timeoutMs !== 'number' || typeof reply !== 'string')
    throw new RangeError('the message is not a job');
  return {
    id,
    timeoutMs,
    reply,
    team: typeof team === 'string' ? team : undefined,
    progress: progress === true,
    header: envelope.header,
  };
}

/**
 * The header of a frame that a worker sends to a requester as a NATS request, except `progress`, which is a message without a
 * reply: if it is lost, nothing is missing. The requester replies to `start` with a `StartReply`, and to the others with
 * `RECEIVED`, or with `NOT_WANTED` to all of them if it no longer waits for the job.
 * The requester counts the attempts itself. The server's delivery count can be too high: it includes deliveries that a
 * worker returned because it had no free slot.
 */
export type WorkerNotice =
  /** The worker wants to start the job. `delivery` identifies the delivery, so that a repeated notice counts once. */
  | { kind: 'start'; delivery: string }
  /** `attempt`: the number that the requester gave to the attempt. */
  | { kind: 'working'; attempt: number }
  /** `report`: JSON text of at most `progressBytes`. */
  | { kind: 'progress'; attempt: number; report: string }
  /** The worker gives the job back to its queue, because it cannot work itself. */
  | { kind: 'returned'; attempt: number }
  | { kind: 'answer'; header: unknown }
  | { kind: 'abandoned'; reason: string };

export const NOT_WANTED: Uint8Array = Uint8Array.of(0);
export const RECEIVED: Uint8Array = Uint8Array.of(1);

/** What a worker needs to start an attempt. */
interface StartReply {
  /** 1 for the first attempt. */
  attempt: number;
  /**
   * Milliseconds that are left for the job. A duration, because the clocks of two machines may differ: each side computes
   * the deadline on its own clock.
   */
  remainingMs: number;
  /** The job is abandoned if this attempt fails. */
  isLast: boolean;
}

const START_REPLY_BYTES = 6;

/** Encodes the reply: the attempt (1 byte), the remaining milliseconds (4 bytes, big endian), and 1 for the last attempt. */
export function encodeStartReply({ attempt, remainingMs, isLast }: StartReply): Uint8Array {
  const bytes = new Uint8Array(START_REPLY_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, Math.min(attempt, 0xff));
  view.setUint32(1, Math.max(0, Math.floor(remainingMs)));
  view.setUint8(5, isLast ? 1 : 0);
  return bytes;
}

/** Decodes a reply to `start`. @returns undefined if the requester no longer waits for the job */
export function decodeStartReply(data: Uint8Array): StartReply | undefined {
  if (isNotWanted(data) || data.length < START_REPLY_BYTES) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return { attempt: view.getUint8(0), remainingMs: view.getUint32(1), isLast: view.getUint8(5) === 1 };
}

export const isNotWanted = (reply: Uint8Array): boolean => (reply[0] ?? 0) === NOT_WANTED[0];

export const REPLY_PREFIX = 'parsemesh.reply';
/**
 * The subject on which the workers of a queue answer one request. The queue is a token of it, so that the permissions of
 * a worker can be limited to the requests for its queue.
 * @param service of the requester
 * @param process id of the requesting process
 */
export const replySubject = (service: string, queue: string, process: string, request: string): string =>
  `${REPLY_PREFIX}.${service}.${queue}.${process}.${request}`;

export const cancelSubject = (queue: string): string => `parsemesh.cancel.${queue}`;

/** A message on this subject wakes the workers of a queue that have a free slot: a job waits in the lane that it names. */
export const waitingSubject = (queue: string): string => `parsemesh.waiting.${queue}`;
export const waitingMessage = ({ durability, lane }: LaneStream): string => `${durability} ${lane}`;

/** Returns undefined if the text does not name a lane. */
export function readWaiting(text: string): LaneStream | undefined {
  const [durability, lane = ''] = text.split(' ');
  if ((durability !== 'durable' && durability !== 'volatile') || !isLane(lane)) return undefined;
  return { durability, lane };
}

/** A message on this subject makes every worker announce itself at once. */
export const ANNOUNCE_REQUEST_SUBJECT = 'parsemesh.presence.ask';
export const ALL_ANNOUNCEMENTS = 'parsemesh.presence.*.*.*';
/** `here`: the worker serves the queue. `draining`: it only finishes its running jobs. `gone`: it stopped. */
export type WorkerState = 'here' | 'draining' | 'gone';
export const announcementSubject = (state: WorkerState | '*', queue: string, worker: string): string =>
  `parsemesh.presence.${state}.${queue}.${worker}`;

/** One case and one separator, so that two queues never have the same stream. */
const QUEUE_NAME = /^[a-z0-9-]{1,64}$/;

/** Checks that a queue name can be part of a subject and of the name of a stream. @throws RangeError */
export function checkQueueName(queue: string): void {
  if (!QUEUE_NAME.test(queue)) throw new RangeError(`not a queue name: ${JSON.stringify(queue)}`);
}
