// Creates and changes streams. Only gateways may: a worker asks them, because the JetStream API cannot limit a user to a part of a stream.
import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { chunkSubject, formatAddress, type PayloadAddress, parseAddress, streamOf } from './payload-address.ts';
import { checkQueueName } from './protocol.ts';
import {
  DURABILITIES,
  type Durability,
  ensureJobStreams,
  ensureLaneConsumer,
  ensureStreams,
  isConsumerName,
  isLane,
  jobStream,
  jobSubject,
  type LaneStream,
  STREAM_NOT_FOUND,
  type StreamChoices,
} from './topology.ts';

/** Number of messages of one lane in one of the streams of its queue: waiting and running jobs. */
type LaneCount = LaneStream & { count: number };

/** What a process needs of the streams beyond reading and writing messages. */
export interface StreamAdmin {
  /** Creates the streams that are missing, except those of queues. */
  ensureStreams(): Promise<void>;
  /** Creates the job streams of a queue if they are missing. */
  ensureQueue(queue: string): Promise<void>;
  /** Creates the consumer of a lane, and its stream, if they are missing. Returns the name of the consumer. */
  ensureLane(queue: string, lane: LaneStream): Promise<string>;
  countJobs(queue: string): Promise<LaneCount[]>;
  /** Removes a job from its queue. @param sequence of its message */
  deleteJob(queue: string, durability: Durability, sequence: number): Promise<void>;
  /** Deletes all chunks of a payload, if it exists. */
  deletePayload(address: PayloadAddress): Promise<void>;
}

/** Uses the JetStream API. */
export function directAdmin(manager: JetStreamManager, choices: StreamChoices): StreamAdmin {
  return {
    ensureStreams: () => ensureStreams(manager, choices),
    ensureQueue: (queue) => ensureJobStreams(manager, queue, choices),
    async ensureLane(queue, lane) {
      try {
        return await ensureLaneConsumer(manager, queue, lane);
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NOT_FOUND) throw error;
        await ensureJobStreams(manager, queue, choices);
        return await ensureLaneConsumer(manager, queue, lane);
      }
    },
    async countJobs(queue) {
      const counts = await Promise.all(
        DURABILITIES.map(async (durability) => {
          const filter = jobSubject(durability, queue, '*');
          const { state } = await manager.streams.info(jobStream(durability, queue), { subjects_filter: filter });
          return Object.entries(state.subjects ?? {}).map(([subject, count]) => ({
            durability,
            lane: subject.slice(filter.length - 1),
            count,
          }));
        }),
      );
      return counts.flat().filter(({ lane }) => isLane(lane));
    },
    async deleteJob(queue, durability, sequence) {
      await manager.streams.deleteMessage(jobStream(durability, queue), sequence, false);
    },
    async deletePayload(address) {
      await manager.streams.purge(streamOf(address), { filter: chunkSubject(address, '>') });
    },
  };
}

/** Requests to the gateways have subjects below this, so that permissions can name the operation and whom it concerns. */
export const ADMIN_PREFIX = 'parsemesh.admin';
/** Operations on the streams of a queue: by the workers that serve it, and by the services that send jobs to it. */
const SERVED = ['ensure-queue', 'ensure-lane', 'count-jobs'] as const;
const REQUESTED = ['ensure-queue', 'delete-job'] as const;

/** The subjects of all requests that a service may send. */
export const adminSubjects = {
  ofService: (service: string): string[] => [
    `${ADMIN_PREFIX}.ensure-streams`,
    `${ADMIN_PREFIX}.delete-payload.${service}`,
  ],
  ofServer: (queue: string): string[] => SERVED.map((operation) => `${ADMIN_PREFIX}.${operation}.${queue}`),
  ofRequester: (queue: string): string[] => REQUESTED.map((operation) => `${ADMIN_PREFIX}.${operation}.${queue}`),
};

/** One gateway answers each request. */
const QUEUE_GROUP = 'parsemesh-admin';
/** Short, because a gateway that does not answer may be busy, and the next request probably reaches another one. */
const REQUEST_TIMEOUT_MS = 1_500;

type Answer = { result: unknown } | { error: string };

/** Sends requests to the gateways. */
export function remoteAdmin(nats: NatsConnection, service: string): StreamAdmin {
  const ask = async (request: string, data: unknown = {}): Promise<unknown> => {
    const reply = await nats.request(`${ADMIN_PREFIX}.${request}`, JSON.stringify(data), {
      timeout: REQUEST_TIMEOUT_MS,
    });
    const answer = reply.json<Answer>();
    if ('error' in answer) throw new Error(`the gateway could not do ${request}: ${answer.error}`);
    return answer.result;
  };
  return {
    ensureStreams: async () => void (await ask('ensure-streams')),
    ensureQueue: async (queue) => void (await ask(`ensure-queue.${queue}`)),
    async ensureLane(queue, lane) {
      const name = await ask(`ensure-lane.${queue}`, lane);
      if (!isConsumerName(name)) throw new Error('the gateway did not return the name of a consumer');
      return name;
    },
    countJobs: async (queue) => (await ask(`count-jobs.${queue}`)) as LaneCount[],
    deleteJob: async (queue, durability, sequence) => void (await ask(`delete-job.${queue}`, { durability, sequence })),
    deletePayload: async (address) =>
      void (await ask(`delete-payload.${service}`, {
        id: formatAddress(address),
        volatile: address.durability === 'volatile',
      })),
  };
}

/**
 * Answers the requests of `remoteAdmin` until the connection is closed. The sender has permission for the subject of its
 * request, so what the data asks for must agree with the subject.
 */
export function answerAdminRequests(nats: NatsConnection, admin: StreamAdmin): void {
  nats.subscribe(`${ADMIN_PREFIX}.>`, {
    queue: QUEUE_GROUP,
    callback(error, message) {
      if (error) return;
      const respond = (answer: Answer) => message.respond(JSON.stringify(answer));
      run(admin, message).then(
        (result) => respond({ result: result ?? null }),
        (reason: unknown) => respond({ error: reason instanceof Error ? reason.message : 'unknown error' }),
      );
    },
  });
}

async function run(admin: StreamAdmin, message: Msg): Promise<unknown> {
  const [operation = '', subject = ''] = message.subject.slice(ADMIN_PREFIX.length + 1).split('.');
  if (operation === 'ensure-streams') return admin.ensureStreams();
  if (operation === 'delete-payload') return deleteOwnPayload(admin, subject, message.json());
  checkQueueName(subject);
  if (operation === 'ensure-queue') return admin.ensureQueue(subject);
  if (operation === 'count-jobs') return admin.countJobs(subject);
  if (operation === 'ensure-lane') return admin.ensureLane(subject, readLane(message.json()));
  if (operation === 'delete-job') {
    const { durability, sequence } = message.json<{ durability: unknown; sequence: unknown }>();
    if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence)) throw new RangeError('not a sequence number');
    return admin.deleteJob(subject, readDurability(durability), sequence);
  }
  throw new RangeError('unknown operation');
}

function readLane({ durability, lane }: { durability?: unknown; lane?: unknown }): LaneStream {
  if (typeof lane !== 'string' || !isLane(lane)) throw new RangeError('not a lane');
  return { durability: readDurability(durability), lane };
}

function readDurability(value: unknown): Durability {
  const durability = DURABILITIES.find((known) => known === value);
  if (!durability) throw new RangeError('neither durable nor volatile');
  return durability;
}

/** A service may delete what it has stored and what was stored for it. */
async function deleteOwnPayload(
  admin: StreamAdmin,
  service: string,
  ref: { id: string; volatile: boolean },
): Promise<void> {
  const address = parseAddress(ref);
  if (address.reader !== service && address.writer !== service)
    throw new RangeError(`neither the reader nor the writer of the payload is ${service}`);
  await admin.deletePayload(address);
}
