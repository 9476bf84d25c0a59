// Tests every kind of audit event against its schema, and that a client that is refused cannot fill the event stream.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { connectNats } from '#shared/bus/nats.ts';
import { type AuditEvent, auditEventSchema, type RefusalEvent } from '#shared/contract/audit-events.ts';
import { AUDIT_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { apiKeys } from '#shared/runtime/metrics.ts';
import { type Answer, errorBody, parse, send, successData } from '#test/harness/client.ts';
import { startNatsServer } from '#test/harness/nats-server.ts';
import { changeKeyFile } from '../auth/key-file.ts';
import { makeKey, NEW_KEY_PLAN, randomToken } from '../auth/keys.ts';
import type { RequestContext } from '../context.ts';
import { until } from '../testing/clock.ts';
import { type Converter, startTestGateway, type TestGateway } from '../testing/harness.ts';
import { KeyWatch } from './key-watch.ts';
import { RefusalAudit } from './refusals.ts';
import { AuditTrail } from './trail.ts';

const HTML = '<!doctype html><title>x</title><p>Hello';
const CONTENT = /Hello|secret-name|pm-/;

/** A log that keeps its audit events, each checked against its schema. */
function auditLog() {
  const events: AuditEvent[] = [];
  const lines: string[] = [];
  const log = pino(
    { level: 'warn' },
    new Writable({
      write(chunk, _encoding, done) {
        const line = JSON.parse(String(chunk)) as { msg: string; audit: unknown };
        lines.push(String(chunk));
        if (line.msg === 'audit') events.push(auditEventSchema.parse(line.audit));
        done();
      },
    }),
  );
  const of = <E extends AuditEvent['event']>(kind: E) =>
    events.filter((one): one is Extract<AuditEvent, { event: E }> => one.event === kind);
  return { log, events, lines, of };
}

interface Audited extends ReturnType<typeof auditLog> {
  gateway: TestGateway;
  /** Stops the gateway, which writes the counts of refusals. */
  stop(): Promise<void>;
}

async function startAudited(t: TestContext, env: Record<string, string> = {}, converter?: Converter): Promise<Audited> {
  const kept = auditLog();
  const gateway = await startTestGateway({ log: kept.log, env, ...(converter ? { converter } : {}) });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= gateway.stop());
  t.after(stop);
  return { ...kept, gateway, stop };
}

const redacting: Converter = (job, bytes) => {
  const piiRedactions: Record<string, number> = { EMAIL: 2, PHONE: 1, evil: 3 };
  const metadata = job.kind === 'redact' ? { ...job.metadata, piiRedactions } : {};
  return { report: { metadata, warnings: [] }, fields: job.kind === 'convert' ? '{"markdown":"a"}' : bytes };
};

const post = (gateway: TestGateway, key: string | null, rest: object = {}): Promise<Answer> =>
  parse(gateway, { file: HTML, fileName: 'secret-name.html', key, ...rest });

test('a parse event has client, formats, redaction mode and counts by entity, and neither content nor file name nor key', async (t) => {
  const { gateway, of, lines } = await startAudited(t, {}, redacting);
  const key = await gateway.makeKey({ team: 'blue', allow: ['parse', 'audit'] });
  const options = {
    formats: ['markdown', 'links'],
    redactPII: { mode: 'fast' },
    auditMetadata: { username: 'ada' },
    origin: 'test',
    integration: 'crm',
  };
  successData(await post(gateway, key, { options, headers: { 'user-agent': `probe/1 ${'x'.repeat(500)}` } }));
  await until(() => of('parse').length === 1);
  const [event] = of('parse');
  assert.ok(event);
  const { time, requestId, keyId, uploadMs, queuedMs, totalMs, userAgent, ...rest } = event;
  assert.equal(userAgent, `probe/1 ${'x'.repeat(500)}`.slice(0, AUDIT_LIMITS.userAgentLength));
  assert.ok(time && requestId && keyId && totalMs >= (uploadMs ?? Number.NaN) && (queuedMs ?? 0) >= 0);
  assert.deepEqual(rest, {
    event: 'parse',
    team: 'blue',
    address: '127.0.0.1',
    username: 'ada',
    origin: 'test',
    integration: 'crm',
    formats: ['markdown', 'links'],
    format: '.html',
    fileBytes: HTML.length,
    zeroDataRetention: false,
    redaction: { mode: 'fast', entities: { EMAIL: 2, PHONE: 1 } },
    outcome: 'success',
    creditsUsed: 1,
  });
  assert.doesNotMatch(lines.join(''), CONTENT);
});

/** Sends requests that are refused, at least one of each kind. @param allow permissions of the keys */
async function provokeRefusals({ gateway }: Audited, allow: ('parse' | 'audit')[]): Promise<void> {
  const key = (plan: object) => gateway.makeKey({ allow, ...plan });
  errorBody(await post(gateway, null), 401, 'UNAUTHORIZED');
  errorBody(await post(gateway, 'fc-unknown'), 401, 'UNAUTHORIZED');
  errorBody(await send(gateway, { method: 'GET', path: '/v2/team/credit-usage', key: 'fc-unknown' }), 401);
  errorBody(await post(gateway, await key({ credits: 0 })), 402, 'PAYMENT_REQUIRED');
  errorBody(await post(gateway, await key({ allow: allow.filter((one) => one !== 'parse') })), 403, 'FORBIDDEN');
  errorBody(await post(gateway, await key({}), { options: { zeroDataRetention: true } }), 403, 'FORBIDDEN');
  const limited = await key({ rate: 1 });
  successData(await post(gateway, limited));
  for (let sent = 0; sent < 3; sent++) errorBody(await post(gateway, limited), 429, 'RATE_LIMIT_EXCEEDED');
}

const summary = (refusals: readonly RefusalEvent[]) =>
  refusals.map(({ code, status, count, keyId }) => [code, status, count, keyId !== undefined]);

test('AUDIT=keys writes refusals of keys with the permission, and no 401 of an unknown key', async (t) => {
  const audited = await startAudited(t);
  await provokeRefusals(audited, ['parse', 'audit']);
  assert.deepEqual(audited.of('refusal'), [], 'refusals are counted first');
  await audited.stop();
  assert.deepEqual(summary(audited.of('refusal')), [
    ['PAYMENT_REQUIRED', 402, 1, true],
    ['FORBIDDEN', 403, 1, true],
    ['FORBIDDEN', 403, 1, true],
    ['RATE_LIMIT_EXCEEDED', 429, 3, true],
  ]);
  assert.deepEqual(
    audited.of('parse').map(({ outcome }) => outcome),
    ['success'],
    'a refusal has no parse event',
  );
});

test('AUDIT=keys writes no refusal of a key without the permission', async (t) => {
  const audited = await startAudited(t);
  await provokeRefusals(audited, ['parse']);
  await audited.stop();
  assert.deepEqual([...audited.of('refusal'), ...audited.of('parse')], []);
});

test('AUDIT=all writes every parse and every refusal, also 401 without a key', async (t) => {
  const audited = await startAudited(t, { AUDIT: 'all' });
  await provokeRefusals(audited, ['parse']);
  await audited.stop();
  const [first, ...others] = audited.of('refusal');
  // The test harness also sends requests until a new key is accepted.
  assert.ok(first?.code === 'UNAUTHORIZED' && first.count >= 3 && first.keyId === undefined);
  assert.deepEqual([first.route, first.address], ['/v2/parse', '127.0.0.1']);
  assert.deepEqual(summary(others), [
    ['PAYMENT_REQUIRED', 402, 1, true],
    ['FORBIDDEN', 403, 1, true],
    ['FORBIDDEN', 403, 1, true],
    ['RATE_LIMIT_EXCEEDED', 429, 3, true],
  ]);
  assert.equal(audited.of('parse').length, 1);
  assert.doesNotMatch(audited.lines.join(''), CONTENT);
});

const PROXIES: readonly (readonly [trusted: string, forwarded: string | undefined, address: string])[] = [
  ['0', '198.51.100.7', '127.0.0.1'],
  ['1', '198.51.100.7', '198.51.100.7'],
  ['1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['2', '203.0.113.9, 198.51.100.7', '203.0.113.9'],
  ['loopback,198.51.100.0/24', '203.0.113.9, 198.51.100.7', '203.0.113.9'],
  ['10.0.0.0/8', '203.0.113.9', '127.0.0.1'],
  ['1', '::ffff:198.51.100.7', '198.51.100.7'],
  ['1', '2001:db8::7', '2001:db8::7'],
  ['1', 'not an address', '127.0.0.1'],
  ['1', undefined, '127.0.0.1'],
];
for (const [trusted, forwarded, address] of PROXIES)
  test(`TRUST_PROXY=${trusted}: the client of X-Forwarded-For: ${forwarded} is ${address}`, async (t) => {
    const { gateway, of, stop } = await startAudited(t, { AUDIT: 'all', TRUST_PROXY: trusted });
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    errorBody(await send(gateway, { key: null, headers }), 401);
    await stop();
    assert.equal(of('refusal')[0]?.address, address);
  });

/** The context of a request that was refused. */
const refused = (address: string, rest: Partial<RequestContext> = {}): RequestContext => ({
  id: 'r'.repeat(128),
  uniqueId: 'u',
  startedAt: 0,
  signal: new AbortController().signal,
  route: '/v2/team/credit-usage',
  code: 'UNAUTHORIZED',
  address,
  // The longest that JSON can make of it.
  userAgent: '"'.repeat(AUDIT_LIMITS.userAgentLength),
  ...rest,
});

test('a flood of refusals without a key writes a bounded number of bytes, counts every request, and leaves refusals with a key visible', () => {
  const { log, of, lines } = auditLog();
  const refusals = new RefusalAudit(new AuditTrail(log, undefined, 'all'));
  const key = makeKey(randomToken(), NEW_KEY_PLAN);
  for (let sent = 0; sent < 5_000; sent++) refusals.record(refused(`10.0.${sent >> 8}.${sent & 255}`));
  refusals.record({ ...refused('10.9.9.9'), code: 'RATE_LIMIT_EXCEEDED', key });
  refusals.flush();
  const written = of('refusal');
  const [known, ...unknown] = written.toReversed();
  assert.deepEqual([known?.keyId, known?.address], [key.id, '10.9.9.9']);
  assert.equal(unknown.length, AUDIT_LIMITS.refusalAddresses + 1);
  assert.equal(
    unknown.reduce((sum, { count }) => sum + count, 0),
    5_000,
  );
  assert.deepEqual(
    unknown.filter(({ address }) => address === undefined).map(({ count }) => count),
    [5_000 - AUDIT_LIMITS.refusalAddresses],
  );
  // A line of the log is longer than the message in the stream, which has headers of about 130 bytes.
  const longest = Math.max(...lines.map((line) => Buffer.byteLength(line))) + 130;
  const windows = TRANSPORT_LIMITS.eventTtlMs / AUDIT_LIMITS.refusalWindowMs;
  assert.ok(longest * unknown.length * windows < TRANSPORT_LIMITS.eventBytes, `${longest} bytes`);
  refusals.flush();
  assert.equal(of('refusal').length, written.length, 'counts are written once');
});

test('the addresses of one IPv6 network count as one client, and those of two networks as two', () => {
  const { log, of } = auditLog();
  const refusals = new RefusalAudit(new AuditTrail(log, undefined, 'all'));
  for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:1::1', '::1', '192.0.2.1', '192.0.2.2'])
    refusals.record(refused(address));
  refusals.flush();
  assert.deepEqual(
    of('refusal').map(({ address, count }) => [address, count]),
    [
      ['2001:db8::1', 2],
      ['2001:db8:0:1::1', 1],
      ['::1', 1],
      ['192.0.2.1', 1],
      ['192.0.2.2', 1],
    ],
  );
});

const KEYS = fileURLToPath(new URL('../../keys.ts', import.meta.url));

test('keys that the command or an editor creates, changes, revokes or deletes have events, with who did it where that is known', async (t) => {
  const { gateway, of, lines } = await startAudited(t);
  const env = { ...process.env, KEYS_FILE: gateway.keysFile, SUDO_USER: 'ada' };
  const keys = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [KEYS, ...args], { env })).stdout;
  const [first] = of('key-created');
  assert.deepEqual([first?.by, first?.source, first?.team], ['first start of the gateway', 'file', 'default']);

  const token =
    (await keys('create', '--team', 'blue', '--rate', '7', '--expires', '90d')).trim().split('\n').at(-1) ?? '';
  await until(() => of('key-created').length === 2);
  const created = of('key-created')[1];
  assert.deepEqual([created?.team, created?.rate, created?.allow], ['blue', 7, ['parse']]);
  assert.match(created?.by ?? '', /^ada as .+@/);
  assert.ok(created?.by?.endsWith(`@${hostname()}`));
  assert.ok(Math.abs(Date.parse(created?.expires ?? '') - Date.now() - 90 * 24 * 3_600_000) < 3_600_000);

  const text = await readFile(gateway.keysFile, 'utf8');
  await writeFile(gateway.keysFile, text.replace('"rate": 7', '"rate": 70'));
  await until(() => of('key-changed').length === 1);
  assert.deepEqual(of('key-changed')[0]?.changes, { rate: { from: 7, to: 70 } });

  await keys('revoke', token);
  await until(() => of('key-revoked').length === 1);
  const { keyId, keyHash, by } = of('key-revoked')[0] ?? {};
  assert.deepEqual([keyId, keyHash, by], [created?.keyId, created?.keyHash, created?.by]);

  await writeFile(gateway.keysFile, '{"version":1,"keys":[]}');
  await until(() => of('key-deleted').length === 2);
  assert.doesNotMatch(lines.join(''), CONTENT);
});

test('a key that expires is refused with the reason from then on, has one event, and is counted by its state', async (t) => {
  const { log, of } = auditLog();
  const watch = new KeyWatch(new AuditTrail(log, undefined, 'keys'), 'kubernetes');
  t.after(() => watch.stop());
  const now = Date.now();
  const expiring = makeKey(randomToken(), { ...NEW_KEY_PLAN, expires: new Date(now + 60_000).toISOString() });
  const old = makeKey(randomToken(), { ...NEW_KEY_PLAN, expires: new Date(now - 60_000).toISOString() });
  const stored = [expiring, old].map((key) => ({ key, version: '1' }));
  watch.observe(stored);
  const states = async () =>
    Object.fromEntries((await apiKeys.get()).values.map(({ labels, value }) => [labels.state, value]));
  assert.deepEqual(await states(), { active: 0, expiring: 1, expired: 1, revoked: 0 });
  assert.deepEqual(of('key-expired'), [], 'the key had expired before the start');
  t.mock.timers.enable({ apis: ['Date'], now: now + 60_000 });
  watch.checkExpiry();
  watch.checkExpiry();
  watch.observe(stored);
  assert.deepEqual(
    of('key-expired').map(({ keyId, expires, source }) => [keyId, expires, source]),
    [[expiring.id, expiring.expires, 'kubernetes']],
  );
  assert.deepEqual(await states(), { active: 0, expiring: 0, expired: 2, revoked: 0 });
  watch.observe([{ key: { ...old, revokedAt: new Date(now).toISOString() }, version: '2' }]);
  assert.deepEqual(await states(), { active: 0, expiring: 0, expired: 0, revoked: 1 });
});

test('an expired key is refused on every route with the reason, and its refusals name the key', async (t) => {
  const { gateway, of, stop } = await startAudited(t);
  const token = randomToken();
  const key = makeKey(token, { ...NEW_KEY_PLAN, allow: ['parse', 'audit'], expires: '2020-02-03T00:00:00.000Z' });
  await changeKeyFile(gateway.keysFile, (keys) => ({ keys: [...(keys ?? []), key], result: undefined }));
  await until(() => of('key-created').length === 2);
  const team = await send(gateway, { method: 'GET', path: '/v2/team/credit-usage', key: token });
  for (const answer of [await post(gateway, token), team])
    assert.equal(
      errorBody(answer, 401, 'UNAUTHORIZED').error,
      'Unauthorized: Invalid token: this API key expired on 2020-02-03T00:00:00.000Z; use a new key',
    );
  assert.equal(errorBody(await post(gateway, 'fc-unknown'), 401).error, 'Unauthorized: Invalid token');
  await stop();
  assert.deepEqual(summary(of('refusal')), [['UNAUTHORIZED', 401, 2, true]]);
});

test('several gateways store the event of one change once, and each parse once', async (t) => {
  const server = await startNatsServer();
  const transports = await Promise.all(['a', 'b'].map((name) => connectNats({ url: server.url, name })));
  t.after(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    await server.stop();
  });
  const trails = transports.map(({ events }) => new AuditTrail(auditLog().log, events, 'keys'));
  const watches = trails.map((trail) => new KeyWatch(trail, 'kubernetes'));
  const key = makeKey(randomToken(), NEW_KEY_PLAN);
  for (const watch of watches) {
    watch.observe([]);
    watch.observe([{ key, version: '1' }]);
    watch.observe([{ key: { ...key, rate: 1 }, version: '2' }]);
    watch.observe([{ key, version: '3' }]);
    watch.observe([{ key: { ...key, rate: 1 }, version: '4' }]);
    watch.stop();
  }
  await Promise.all(trails.map((trail) => trail.close()));
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const { connect } = await import('@nats-io/transport-node');
  const connection = await connect({ servers: server.url });
  t.after(() => connection.close());
  const stream = await (await jetstreamManager(connection)).streams.get('PARSEMESH_EVENTS');
  const { messages, first_seq } = (await stream.info()).state;
  const kinds: string[] = [];
  for (let seq = first_seq; seq < first_seq + messages; seq++)
    kinds.push(auditEventSchema.parse((await stream.getMessage({ seq }))?.json()).event);
  assert.deepEqual(kinds.sort(), ['key-changed', 'key-changed', 'key-changed', 'key-created']);
});
