// Tries the NATS user of each worker against everything that is not its own, as a thief of its credentials would.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { QUEUE_NAMES, type QueueName, queuesOf, WORKER_NAMES } from '#shared/contract/services.ts';
import { type AccountServer, startAccountServer } from '#test/harness/nats-accounts.ts';
import { skipReason } from '#test/harness/product.ts';
import type { PayloadRef, Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { inChunks, readAll } from '../testing/payloads.ts';

type Worker = (typeof WORKER_NAMES)[number];
const DURABILITIES = ['', '-volatile'] as const;
const streamOf = (queue: string, durability: string): string =>
  `PARSEMESH_JOBS${durability.toUpperCase().replace('-', '_')}_${queue.toUpperCase().replace('-', '_')}`;
const LANE = 'common';

/** One message or subscription. Each must be refused with a permission violation. */
type Attack = readonly [kind: 'publish' | 'subscribe', subject: string, data?: unknown];
const publish = (subject: string, data?: unknown): Attack => ['publish', subject, data];
const subscribe = (subject: string): Attack => ['subscribe', subject];

/** Every form of the JetStream API that reads, consumes, copies, changes or deletes a stream. */
function streamAttacks(stream: string, subject: string, own: string): Attack[] {
  const deliver = { deliver_subject: `_INBOX.${own}.thief` };
  const config = (more: object) => ({
    stream_name: stream,
    config: { name: 'thief', filter_subject: subject, ...more },
  });
  return [
    publish(`$JS.API.CONSUMER.CREATE.${stream}`, config(deliver)),
    publish(`$JS.API.CONSUMER.CREATE.${stream}.thief`, config({})),
    publish(`$JS.API.CONSUMER.CREATE.${stream}.thief.${subject}`, config(deliver)),
    publish(`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.thief`, config({ durable_name: 'thief' })),
    ...['NAMES', 'LIST'].map((verb) => publish(`$JS.API.CONSUMER.${verb}.${stream}`)),
    ...['INFO', 'DELETE'].map((verb) => publish(`$JS.API.CONSUMER.${verb}.${stream}.${LANE}`)),
    publish(`$JS.API.STREAM.MSG.GET.${stream}`, { seq: 1 }),
    publish(`$JS.API.STREAM.MSG.DELETE.${stream}`, { seq: 1 }),
    ...['INFO', 'PURGE', 'DELETE', 'SNAPSHOT', 'RESTORE', 'LEADER.STEPDOWN'].map((verb) =>
      publish(`$JS.API.STREAM.${verb}.${stream}`),
    ),
    publish(`$JS.API.STREAM.UPDATE.${stream}`, {
      name: stream,
      subjects: [subject],
      republish: { src: '>', dest: `${own}.>` },
    }),
    publish(`$JS.API.DIRECT.GET.${stream}`, { seq: 1 }),
    publish(`$JS.API.DIRECT.GET.${stream}`, { seq: 1, next_by_subj: '>', batch: 100 }),
    publish(`$JS.API.DIRECT.GET.${stream}`, { multi_last: ['>'] }),
    publish(`$JS.API.DIRECT.GET.${stream}.${subject}`),
    publish(`$JS.API.DIRECT.GET.${stream}.>`),
    publish(`$JS.API.DIRECT.GET.${stream}.*.*`),
  ];
}

/** What belongs to another queue. */
function queueAttacks(queue: QueueName, own: string): Attack[] {
  return DURABILITIES.flatMap((durability) => {
    const stream = streamOf(queue, durability);
    const subject = `parsemesh.jobs${durability}.${queue}.${LANE}`;
    return [
      ...streamAttacks(stream, subject, own),
      ...[LANE, '*', '>'].map((consumer) => publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, { batch: 10 })),
      publish(`$JS.ACK.${stream}.${LANE}.1.1.1.1.0`, '+TERM'),
      publish(`$JS.ACK.hub.account.${stream}.${LANE}.1.1.1.1.0`, '+TERM'),
      subscribe(subject),
    ];
  }).concat([
    publish(`parsemesh.reply.gateway.${queue}.process.request`),
    publish(`parsemesh.presence.here.${queue}.thief`),
    ...['count-jobs', 'ensure-lane', 'ensure-queue'].map((operation) =>
      publish(`parsemesh.admin.${operation}.${queue}`),
    ),
    subscribe(`parsemesh.cancel.${queue}`),
    subscribe(`parsemesh.waiting.${queue}`),
  ]);
}

/** What only services that send jobs to the queue may do. */
const requesterAttacks = (queue: QueueName): Attack[] => [
  ...DURABILITIES.map((durability) => publish(`parsemesh.jobs${durability}.${queue}.${LANE}`, 'a job')),
  publish(`parsemesh.cancel.${queue}`, 'reply'),
  publish(`parsemesh.waiting.${queue}`, 'durable common'),
  publish(`parsemesh.admin.delete-job.${queue}`, { durability: 'durable', sequence: 1 }),
];

/** What belongs to other services or to the gateway. */
function commonAttacks(own: Worker, other: string): Attack[] {
  const payloads = DURABILITIES.flatMap((durability) => {
    const stream = `PARSEMESH_PAYLOADS${durability.toUpperCase().replace('-', '_')}`;
    const prefix = `parsemesh.payloads${durability}`;
    return [
      ...streamAttacks(stream, `${prefix}.${other}.gateway.id.0`, own),
      ...[`${prefix}.>`, `${prefix}.*.gateway.id.0`, `${prefix}.*.>`, `${prefix}.${other}.*.*.*`, `*.*.${own}.>`].map(
        (subject) => publish(`$JS.API.DIRECT.GET.${stream}.${subject}`),
      ),
      publish(`${prefix}.${other}.gateway.id.0`, 'forged'),
      publish(`${prefix}.${own}.gateway.id.0`, 'forged'),
      publish(`${prefix}.gateway.${other}.id.0`, 'forged'),
      subscribe(`${prefix}.>`),
      subscribe(`${prefix}.${own}.>`),
    ];
  });
  const copy = (more: object) => publish('$JS.API.STREAM.CREATE.THIEF', { name: 'THIEF', ...more });
  return [
    ...payloads,
    ...['KV_parsemesh-state', 'KV_parsemesh-state-durable'].flatMap((stream) =>
      streamAttacks(stream, `$KV.${stream.slice(3)}.credits`, own),
    ),
    ...streamAttacks('PARSEMESH_EVENTS', 'parsemesh.events.parse', own),
    ...streamAttacks(streamOf(queuesOf(own)[0] ?? '', ''), `parsemesh.jobs.${own}.${LANE}`, own),
    copy({ mirror: { name: 'PARSEMESH_PAYLOADS' } }),
    copy({ sources: [{ name: 'PARSEMESH_EVENTS' }] }),
    copy({ subjects: ['parsemesh.>'] }),
    copy({ subjects: [`${own}.x`], republish: { src: '>', dest: `_INBOX.${own}.>` } }),
    ...[
      '$JS.API.INFO',
      '$JS.API.STREAM.NAMES',
      '$JS.API.STREAM.LIST',
      '$JS.API.>',
      '$JS.API.CONSUMER.MSG.NEXT.*.*',
    ].map((subject) => publish(subject)),
    publish('$KV.parsemesh-state.rate', 'forged'),
    publish('$KV.parsemesh-state-durable.credits', 'forged'),
    publish('parsemesh.events.parse', 'forged'),
    publish(`parsemesh.reply.${other}.${own}.process.request`),
    publish(`_INBOX.${other}.guess`),
    publish('_INBOX.gateway.guess'),
    publish('_R_.guess'),
    publish(`parsemesh.admin.delete-payload.${other}`),
    publish('$SYS.REQ.SERVER.PING'),
    publish('$SYS.REQ.ACCOUNT.PARSEMESH.CONNZ'),
    ...[
      '>',
      '*.>',
      '_INBOX.>',
      '_INBOX.gateway.>',
      `_INBOX.${other}.>`,
      '_R_.>',
      '$SYS.>',
      '$JS.>',
      '$JS.API.>',
      '$JS.EVENT.>',
      '$KV.>',
    ].map(subscribe),
    ...[
      'parsemesh.>',
      'parsemesh.reply.>',
      'parsemesh.reply.gateway.>',
      `parsemesh.reply.${other}.>`,
      'parsemesh.jobs.>',
      'parsemesh.events.>',
      'parsemesh.admin.>',
    ].map(subscribe),
  ];
}

function attacksOf(own: Worker): Attack[] {
  const others = QUEUE_NAMES.filter((queue) => !queuesOf(own).includes(queue));
  const other = own === 'office' ? 'html' : 'office';
  // The pdf service sends page images to the ocr service, and hears how many workers it has.
  const requested: readonly QueueName[] = own === 'pdf' ? ['ocr'] : [];
  const mayRequest = (subject: string) =>
    requested.some((queue) => subject === `parsemesh.admin.ensure-queue.${queue}`);
  return [
    ...others.flatMap((queue) => queueAttacks(queue, own)),
    ...others.filter((queue) => !requested.includes(queue)).flatMap(requesterAttacks),
    ...commonAttacks(own, other),
  ].filter(([, subject]) => !mayRequest(subject));
}

/** Returns the attacks that the server did not refuse. */
async function notRefused(connection: NatsConnection, attacks: readonly Attack[]): Promise<string[]> {
  const refused = new Set<string>();
  void (async () => {
    for await (const status of connection.status()) {
      const [, kind, subject] =
        /Permissions Violation for (Publish to|Subscription to) "(.+?)"/.exec(
          status.type === 'error' ? status.error.message : '',
        ) ?? [];
      if (kind) refused.add(`${kind === 'Publish to' ? 'publish' : 'subscribe'} ${subject}`);
    }
  })();
  for (const [kind, subject, data] of attacks)
    if (kind === 'publish') connection.publish(subject, data === undefined ? '' : JSON.stringify(data));
    else connection.subscribe(subject, { callback: () => undefined });
  await connection.flush();
  await sleep(0);
  return attacks.map(([kind, subject]) => `${kind} ${subject}`).filter((attack) => !refused.has(attack));
}

describe('NATS users', { skip: skipReason('nats') }, () => {
  let server: AccountServer;
  let gateway: Transport;
  before(async () => {
    server = await startAccountServer();
    gateway = await connectAs(server, 'gateway');
  });
  after(async () => {
    await gateway.close();
    await server.stop();
  });

  const connectAs = (to: AccountServer, service: string): Promise<Transport> =>
    connectNats({
      url: to.urlOf(service),
      name: 'account-test',
      service,
      queues: service === 'gateway' ? QUEUE_NAMES : [],
    });
  /** A connection of a thief: any program can connect with stolen credentials. */
  const steal = (from: AccountServer, user: string): Promise<NatsConnection> => {
    const { username, password, host } = new URL(from.urlOf(user));
    return connect({ servers: host, user: username, pass: password, inboxPrefix: `_INBOX.${user}` });
  };

  it('does not accept a connection without the credentials of a user', async () => {
    await assert.rejects(connect({ servers: `127.0.0.1:${server.port}` }), /authorization/i);
    await assert.rejects(
      connect({ servers: `127.0.0.1:${server.port}`, user: 'html', pass: 'wrong' }),
      /authorization/i,
    );
  });

  for (const worker of WORKER_NAMES)
    it(`refuses everything to the user of ${worker} that belongs to another service`, async () => {
      const thief = await steal(server, worker);
      const attacks = attacksOf(worker);
      assert.ok(attacks.length > 300, `${attacks.length} attacks`);
      assert.deepEqual(await notRefused(thief, attacks), []);
      await thief.close();
    });

  it('refuses none of these attacks to a user without permissions, so the test above can fail', async () => {
    const other = await startAccountServer();
    const owner = await connectAs(other, 'gateway');
    const operator = await steal(other, 'operator');
    const attacks = attacksOf('html').filter(
      ([, subject]) => !/\.(DELETE|PURGE|RESTORE|STEPDOWN|UPDATE|CREATE)\b/.test(subject),
    );
    assert.equal((await notRefused(operator, attacks)).length, attacks.length);
    await operator.close();
    await owner.close();
    await other.stop();
  });

  it('lets the gateway append events, but not read or delete them', async () => {
    const stolen = await steal(server, 'gateway');
    await gateway.events?.append('parse', { requestId: 'r' });
    const stream = 'PARSEMESH_EVENTS';
    const attacks = [
      ...streamAttacks(stream, 'parsemesh.events.parse', 'gateway').filter(
        ([, subject]) => !/STREAM\.(INFO|UPDATE)/.test(subject),
      ),
      ...['parsemesh.events.>', '>', '$SYS.>', '_INBOX.>'].map(subscribe),
      publish('$JS.API.STREAM.DELETE.KV_parsemesh-state'),
    ];
    assert.deepEqual(await notRefused(stolen, attacks), []);
    await stolen.close();
  });

  it('lets a service read what is stored for it and delete its own payloads, and nothing else', async () => {
    const [html, pii] = [await connectAs(server, 'html'), await connectAs(server, 'pii')];
    const store = (from: Transport, reader: string, volatile: boolean): Promise<PayloadRef> =>
      from.payloads.put(inChunks(Buffer.from('a document')), { volatile, reader });
    for (const volatile of [false, true]) {
      const uploaded = await store(gateway, 'html', volatile);
      const converted = await store(html, 'pii', volatile);
      for (const [reader, ref] of [
        [html, uploaded],
        [pii, converted],
        [gateway, converted],
      ] as const)
        assert.equal((await readAll(await reader.payloads.get(ref))).toString(), 'a document');
      for (const [thief, ref] of [
        [pii, uploaded],
        [html, converted],
      ] as const)
        await assert.rejects(thief.payloads.get(ref), { name: 'BusUnavailableError' });
      await assert.rejects(pii.payloads.delete(uploaded), Error);
      assert.equal((await readAll(await gateway.payloads.get(uploaded))).toString(), 'a document');
      for (const [owner, ref] of [
        [html, uploaded],
        [html, converted],
      ] as const)
        await owner.payloads.delete(ref);
      await assert.rejects(gateway.payloads.get(uploaded), { name: 'PayloadMissingError' });
    }
    await html.close();
    await pii.close();
  });

  /**
   * The server sends the answer to a request to any subject that the request names, whether its sender may publish there
   * or not. Uses this to write, with permitted requests only. Returns what was changed.
   */
  async function reflect(to: AccountServer): Promise<string[]> {
    const owner = await connectAs(to, 'gateway');
    const operator = await steal(to, 'operator');
    const manager = await jetstreamManager(operator);
    const thief = await steal(to, 'html');
    const secret = await owner.payloads.put(inChunks(Buffer.from('of the office service')), {
      volatile: false,
      reader: 'office',
    });
    const stolen: string[] = [];
    thief.subscribe('_INBOX.html.loot', { callback: (_error, message) => void stolen.push(message.string()) });
    // The thief stores a request as its own payload, and lets the server send it.
    const consumer = {
      stream_name: 'PARSEMESH_PAYLOADS',
      config: { name: 'thief', durable_name: 'thief', deliver_subject: '_INBOX.html.loot', ack_policy: 'none' },
    };
    await thief.request('parsemesh.payloads.html.html.loot.0', JSON.stringify(consumer));
    const read = '$JS.API.DIRECT.GET.PARSEMESH_PAYLOADS.parsemesh.payloads.html.html.loot.0';
    for (const reply of [
      '$JS.API.CONSUMER.DURABLE.CREATE.PARSEMESH_PAYLOADS.thief',
      '$KV.parsemesh-state-durable.credits',
      'parsemesh.jobs.office.common',
    ])
      thief.publish(read, '', { reply });
    thief.publish('$JS.API.DIRECT.GET.PARSEMESH_PAYLOADS.parsemesh.payloads.html.none', '', {
      reply: '$JS.API.STREAM.DELETE.PARSEMESH_EVENTS',
    });
    await thief.flush();
    // An answer of the server that was requested after these has arrived after them.
    await thief.request(read, '');
    await sleep(300);
    const changed: string[] = stolen.filter((text) => text.includes('of the office service'));
    const messages = async (stream: string) => (await manager.streams.info(stream)).state.messages;
    if ((await messages('KV_parsemesh-state-durable')) > 0) changed.push('credits');
    if ((await messages('PARSEMESH_JOBS_OFFICE')) > 0) changed.push('job');
    if (!(await manager.streams.names().next()).includes('PARSEMESH_EVENTS')) changed.push('events');
    await owner.payloads.delete(secret).catch(() => undefined);
    for (const connection of [thief, operator, owner]) await connection.close();
    return changed;
  }

  it('does not let a service write or read elsewhere by the answers to its requests', async () => {
    assert.deepEqual(await reflect(server), []);
  });

  it('would let a service do so with the same permissions in the account of the streams, so it has an account of its own', async () => {
    const oneAccount = await startAccountServer((config) => {
      const user = /\{user: html,[\s\S]*?\n {6}\}\}\n/.exec(config)?.[0] ?? '';
      return config.replace(user, '').replace('      {user: operator', `      ${user}      {user: operator`);
    });
    try {
      assert.deepEqual(await reflect(oneAccount), ['of the office service', 'credits', 'job', 'events']);
    } finally {
      await oneAccount.stop();
    }
  });
});
