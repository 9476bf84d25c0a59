// Says which NATS subjects each service may use. The accounts of the chart's server are generated from it (docs/nats.md).
import { QUEUE_NAMES, type QueueName, queuesOf, type ServiceName, WORKER_NAMES } from '#shared/contract/services.ts';
import { inboxPrefix } from './connect.ts';
import {
  ALL_ANNOUNCEMENTS,
  ANNOUNCE_REQUEST_SUBJECT,
  announcementSubject,
  cancelSubject,
  REPLY_PREFIX,
  waitingSubject,
} from './protocol.ts';
import { ADMIN_PREFIX, adminSubjects } from './stream-admin.ts';
import {
  CLOCK_STREAM,
  clockSubject,
  DURABILITIES,
  EVENT_STREAM,
  eventSubject,
  jobStream,
  jobSubject,
  PAYLOAD_STREAMS,
  payloadSubject,
  STATE_BUCKETS,
  stateStream,
} from './topology.ts';

/**
 * The account of the gateways, with all streams. Each other service has an account of its own, because permissions in one
 * common account are not enough: a client may choose any subject for the answer to its request. If a service could send one
 * request to JetStream in this account, the server would publish the answer, with bytes that the service chose, on
 * a subject that the service may not use, such as a request to delete a stream. Between accounts, an answer can only reach
 * the account of the request.
 */
const MAIN_ACCOUNT = 'PARSEMESH';
export const accountOf = (service: ServiceName): string =>
  service === 'gateway' ? MAIN_ACCOUNT : service.toUpperCase().replaceAll('-', '_');

/** The environment variable of the NATS server with the password of a user. */
export const passwordVariable = (user: string): string => `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`;
/** A user without limits in the account of the gateways, for operators. No process of the product uses it. */
export const OPERATOR = 'operator';

/** The queues to which each service sends jobs. A service that is not listed sends none. */
const REQUESTED_QUEUES: Partial<Record<ServiceName, readonly QueueName[]>> = { gateway: QUEUE_NAMES, pdf: ['ocr'] };

/** Messages on a subject that go from one service to another. */
interface Route {
  /** `request`: the receiver answers. `message`: it does not. */
  kind: 'request' | 'message';
  subject: string;
  from: ServiceName;
  to: ServiceName;
}

const serviceOf = (queue: QueueName): ServiceName =>
  WORKER_NAMES.find((service) => queuesOf(service).includes(queue)) ?? 'gateway';

/** What the workers of a service need from the account with the streams. */
function streamRoutes(service: ServiceName, queues: readonly QueueName[]): Route[] {
  const request = (subject: string): Route => ({ kind: 'request', subject, from: service, to: 'gateway' });
  const jobs = queues.flatMap((queue) =>
    DURABILITIES.map((durability) => jobStream(durability, queue)).flatMap((stream) => [
      request(`$JS.API.CONSUMER.MSG.NEXT.${stream}.*`),
      request(`$JS.ACK.${stream}.>`),
      // With the domain and the account of the server (NATS ADR-15).
      request(`$JS.ACK.*.*.${stream}.>`),
    ]),
  );
  const payloads = DURABILITIES.flatMap((durability) => [
    // Reads only what this service is the reader of, and writes only as itself.
    request(`$JS.API.DIRECT.GET.${PAYLOAD_STREAMS[durability]}.${payloadSubject(durability)}.${service}.>`),
    request(`${payloadSubject(durability)}.*.${service}.>`),
  ]);
  return [
    ...jobs,
    ...payloads,
    ...adminSubjects.ofService(service).map(request),
    ...queues.flatMap(adminSubjects.ofServer).map(request),
    request(clockSubject('*')),
    request(`$JS.API.DIRECT.GET.${CLOCK_STREAM}.${clockSubject('*')}`),
  ];
}

/** What one service that sends jobs to a queue and the workers of the queue exchange. */
function jobRoutes(from: ServiceName, queue: QueueName): Route[] {
  const to = serviceOf(queue);
  const message = (subject: string): Route => ({ kind: 'message', subject, from, to });
  return [
    message(cancelSubject(queue)),
    message(waitingSubject(queue)),
    { kind: 'request', subject: `${REPLY_PREFIX}.${from}.${queue}.>`, from: to, to: from },
    { kind: 'message', subject: announcementSubject('*', queue, '*'), from: to, to: from },
    ...(from === 'gateway'
      ? []
      : [
          ...DURABILITIES.map((durability) => jobSubject(durability, queue, '*')),
          ...adminSubjects.ofRequester(queue),
        ].map((subject): Route => ({ kind: 'request', subject, from, to: 'gateway' }))),
  ];
}

/** Every subject on which two services meet. */
export function routes(): Route[] {
  const all = [
    ...WORKER_NAMES.flatMap((service) => streamRoutes(service, queuesOf(service))),
    ...(Object.entries(REQUESTED_QUEUES) as [ServiceName, readonly QueueName[]][]).flatMap(([from, queues]) => [
      ...queues.flatMap((queue) => jobRoutes(from, queue)),
      ...[...new Set(queues.map(serviceOf))].map(
        (to): Route => ({ kind: 'message', subject: ANNOUNCE_REQUEST_SUBJECT, from, to }),
      ),
    ]),
  ];
  return all.sort((one, other) => (one.subject < other.subject ? -1 : 1));
}

interface Permissions {
  publish: string[];
  subscribe: string[];
  /** Whether it may answer requests: once each, on the subject that the request names. */
  responds: boolean;
}

/** Every process subscribes to these; it receives only what the routes bring to its account. */
const PRESENCE = [ALL_ANNOUNCEMENTS, ANNOUNCE_REQUEST_SUBJECT];

/** What the gateway does in its own account: it creates and changes streams, and it cannot read or delete events. */
function gatewayPermissions(): Pick<Permissions, 'publish' | 'subscribe'> {
  const stateStreams = DURABILITIES.map((durability) => stateStream(STATE_BUCKETS[durability]));
  const jobStreams = QUEUE_NAMES.flatMap((queue) => DURABILITIES.map((durability) => jobStream(durability, queue)));
  const payloadStreams = Object.values(PAYLOAD_STREAMS);
  const changed = [EVENT_STREAM, CLOCK_STREAM, ...stateStreams, ...payloadStreams, ...jobStreams];
  return {
    publish: [
      ...changed.flatMap((stream) => ['CREATE', 'UPDATE', 'INFO'].map((verb) => `$JS.API.STREAM.${verb}.${stream}`)),
      ...payloadStreams.map((stream) => `$JS.API.STREAM.PURGE.${stream}`),
      ...jobStreams.flatMap((stream) => [
        `$JS.API.STREAM.MSG.GET.${stream}`,
        `$JS.API.STREAM.MSG.DELETE.${stream}`,
        `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.*`,
        `$JS.API.CONSUMER.CREATE.${stream}.>`,
      ]),
      ...[...stateStreams, ...payloadStreams, CLOCK_STREAM].map((stream) => `$JS.API.DIRECT.GET.${stream}.>`),
      ...Object.values(STATE_BUCKETS).map((bucket) => `$KV.${bucket}.>`),
      ...DURABILITIES.map((durability) => `${payloadSubject(durability)}.>`),
      ...DURABILITIES.flatMap((durability) => QUEUE_NAMES.map((queue) => jobSubject(durability, queue, '*'))),
      eventSubject('*'),
      clockSubject('*'),
      ANNOUNCE_REQUEST_SUBJECT,
    ],
    subscribe: [`${ADMIN_PREFIX}.>`],
  };
}

/** The subjects that the user of a service may publish and subscribe to. */
export function permissionsOf(service: ServiceName): Permissions {
  const all = routes();
  const sent = all.filter(({ from }) => from === service).map(({ subject }) => subject);
  const received = all.filter(({ kind, to }) => kind === 'message' && to === service).map(({ subject }) => subject);
  const own = service === 'gateway' ? gatewayPermissions() : workerPermissions(service);
  return {
    publish: unique([...own.publish, ...sent]),
    subscribe: unique([
      ...own.subscribe,
      ...received,
      ...PRESENCE,
      `${REPLY_PREFIX}.${service}.>`,
      `${inboxPrefix(service)}.>`,
    ]),
    responds: service in REQUESTED_QUEUES,
  };
}

/** What the pods of a service exchange with each other: a worker wakes the others of its queue. */
function workerPermissions(service: Exclude<ServiceName, 'gateway'>): Pick<Permissions, 'publish' | 'subscribe'> {
  const queues = queuesOf(service);
  return { publish: [...queues.map(waitingSubject), ANNOUNCE_REQUEST_SUBJECT], subscribe: [] };
}

const unique = (subjects: readonly string[]): string[] => [...new Set(subjects)].sort();
