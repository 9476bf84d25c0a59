// Tests a parse from the checks to the charge: order of checks, stages on the bus, stored payloads, limits, logs and audit events.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import type { PayloadRef, PayloadStore } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { Job } from '#shared/contract/jobs.ts';
import { BOUNDARY, errorBody, parse, send, successData } from '#test/harness/client.ts';
import type { TeamClaims } from '../limits/slots.ts';
import { claimsKey } from '../limits/team-claims.ts';
import { resultOf, until, useFakeClock } from '../testing/clock.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from '../testing/harness.ts';

const html = '<!doctype html><title>x</title><p>Hello';
const big = `${html}${' '.repeat(600_000)}`;

const LLM = { baseUrl: 'http://127.0.0.1:9', apiKey: undefined, model: 'm' };
let gateway: TestGateway;
let converter: Converter = echo;
const seen: { job: Job; bytes: Uint8Array; volatile: boolean; team: string | undefined }[] = [];
const events: Record<string, unknown>[] = [];
const stored = new Map<string, PayloadRef>();
const log = pino(
  { level: 'info' },
  new Writable({
    write(chunk, _encoding, done) {
      events.push(JSON.parse(String(chunk)));
      done();
    },
  }),
);

/** Tracks the payloads that are in the store. */
function trackPayloads(store: PayloadStore): void {
  const { put, delete: remove } = store;
  store.put = async (source, options) => {
    const ref = await put.call(store, source, options);
    stored.set(ref.id, ref);
    return ref;
  };
  store.delete = (ref) => {
    stored.delete(ref.id);
    return remove.call(store, ref);
  };
}

before(async () => {
  gateway = await startTestGateway({
    log,
    llm: LLM,
    converter: (job, bytes, delivery) => {
      seen.push({ job, bytes, volatile: delivery.volatile, team: delivery.team });
      return converter(job, bytes, delivery);
    },
  });
  trackPayloads(gateway.transport.payloads);
});
after(() => gateway.stop());

function reset(next: Converter = echo): void {
  converter = next;
  seen.length = 0;
  events.length = 0;
}

/** The audit event of a parse, if one was written. */
const parseEvent = (): Record<string, unknown> | undefined =>
  events.map(({ audit }) => audit as Record<string, unknown> | undefined).find((audit) => audit?.event === 'parse');

const storeIsEmpty = (): Promise<void> => until(() => stored.size === 0, 'the store is empty');

test('runs convert, redact and enrich in this order with the options of each, and deletes every payload', async () => {
  reset((job, bytes) => {
    if (job.kind === 'convert')
      return {
        report: { metadata: { title: 'T', numPages: 3 }, warnings: ['one'] },
        fields: JSON.stringify({ markdown: 'x'.repeat(400_000) }),
      };
    if (job.kind === 'redact')
      return {
        report: { metadata: { ...job.metadata, piiRedactions: { EMAIL: 1 } }, warnings: job.warnings },
        fields: bytes,
      };
    if (job.kind === 'enrich')
      return {
        report: { metadata: job.metadata, warnings: [...job.warnings, 'two'] },
        fields: '{"summary":"S","json":{"a":1}}',
      };
    throw new Error(job.kind);
  });
  const options = {
    formats: ['summary', { type: 'json', prompt: 'p' }],
    redactPII: true,
    parsers: [{ type: 'pdf', pages: true }],
  };
  const key = await gateway.makeKey({ team: 'blue' });
  const answer = await parse(gateway, { file: `%PDF-1.7\n${' '.repeat(600_000)}`, fileName: 'a.pdf', options, key });
  const data = successData(answer);
  assert.deepEqual(
    seen.map(({ job, bytes, team }) => [job.kind, bytes.byteLength > 300_000, team]),
    [
      ['convert', true, 'blue'],
      ['redact', true, 'blue'],
      ['enrich', true, 'blue'],
    ],
  );
  const [convert, , enrich] = seen.map(({ job }) => job);
  assert.ok(convert?.kind === 'convert' && enrich?.kind === 'enrich');
  assert.deepEqual(convert.options.fields, ['pages', 'markdown']);
  assert.deepEqual([enrich.drop, enrich.summary, enrich.json], [['markdown'], true, { prompt: 'p' }]);
  assert.equal(data.summary, 'S');
  assert.deepEqual(data.json, { a: 1 });
  assert.equal(data.warning, 'one two');
  assert.equal(data.metadata.creditsUsed, 1 + 3 + 4);
  assert.deepEqual(data.metadata.piiRedactions, { EMAIL: 1 });
  assert.equal(stored.size, 0);
});

test('streams a large record, and requests only the needed fields from the converter', async () => {
  reset(() => ({
    report: { metadata: {}, warnings: [] },
    fields: JSON.stringify({ markdown: 'ü'.repeat(5_000_000) }),
  }));
  const data = successData(
    await parse(gateway, { file: big, fileName: 'a.html', options: { parsers: [{ type: 'pdf', pages: true }] } }),
  );
  assert.equal(data.markdown?.length, 5_000_000);
  const job = seen[0]?.job;
  assert.deepEqual(job?.kind === 'convert' && job.options.fields, ['markdown'], 'only PDFs have pages');
  await storeIsEmpty();
});

test('keeps jobs and payloads of zero data retention in memory, with the options before or after the file', async () => {
  for (const fileFirst of [false, true]) {
    reset(() => ({
      report: { metadata: {}, warnings: [] },
      fields: JSON.stringify({ markdown: 'y'.repeat(400_000) }),
    }));
    const volatile: boolean[] = [];
    const put = gateway.transport.payloads.put;
    gateway.transport.payloads.put = (source, options) => {
      volatile.push(options.volatile);
      return put(source, options);
    };
    successData(
      await parse(gateway, { file: big, fileName: 'a.html', options: { zeroDataRetention: true }, fileFirst }),
    );
    gateway.transport.payloads.put = put;
    assert.deepEqual(volatile, [true, true]);
    assert.equal(seen[0]?.volatile, true);
  }
});

test('checks permission, credits, rate and body in this order, and then the permission for an option', async (t) => {
  reset();
  const nothing = { body: 'not multipart', headers: { 'content-type': 'text/plain' } };
  const forbidden = await gateway.makeKey({ allow: [], credits: 0, rate: 1 });
  errorBody(await send(gateway, { ...nothing, key: forbidden }), 403, 'FORBIDDEN');
  const noCredits = await gateway.makeKey({ credits: 0, rate: 1 });
  for (let i = 0; i < 2; i++)
    assert.equal(
      errorBody(await send(gateway, { ...nothing, key: noCredits }), 402, 'PAYMENT_REQUIRED').error,
      'Payment Required: Insufficient credits',
    );
  const onePerMinute = await gateway.makeKey({ rate: 1, credits: 5 });
  useFakeClock(t);
  errorBody(await send(gateway, { ...nothing, key: onePerMinute }), 400, 'BAD_REQUEST');
  const limited = await send(gateway, { ...nothing, key: onePerMinute });
  assert.match(errorBody(limited, 429, 'RATE_LIMIT_EXCEEDED').error, /^Rate limit exceeded/);
  assert.equal(limited.headers['retry-after'], '60');
  const plain = await gateway.makeKey({ allow: ['parse'] });
  for (const fileFirst of [false, true])
    errorBody(
      await parse(gateway, {
        file: big,
        fileName: 'a.html',
        options: { zeroDataRetention: true },
        fileFirst,
        key: plain,
      }),
      403,
      'FORBIDDEN',
    );
  await storeIsEmpty();
  assert.equal(seen.length, 0);
});

test('charges only a success, and returns 402 after the last credit', async () => {
  const key = await gateway.makeKey({ credits: 2 });
  const file = { file: html, fileName: 'a.html', key };
  reset(() => {
    throw new ParseError('DOCUMENT_CORRUPT');
  });
  for (let i = 0; i < 3; i++) errorBody(await parse(gateway, file), 422, 'DOCUMENT_CORRUPT');
  reset();
  for (let i = 0; i < 2; i++) assert.equal(successData(await parse(gateway, file)).metadata.creditsUsed, 1);
  errorBody(await parse(gateway, file), 402, 'PAYMENT_REQUIRED');
});

test('concurrency: one request runs, one waits and reports its wait, one is rejected', async (t) => {
  const release = Promise.withResolvers<void>();
  reset(async () => {
    await release.promise;
    return { report: { metadata: {}, warnings: [] }, fields: '{}' };
  });
  const key = await gateway.makeKey({ concurrency: 1, queue: 1, team: 'queued' });
  const clock = useFakeClock(t);
  const file = { file: html, fileName: 'a.html', key };
  const first = parse(gateway, file);
  await until(() => seen.length === 1);
  const second = parse(gateway, file);
  await until(async () => {
    const claims = (await gateway.transport.state.get(claimsKey('queued'))) as TeamClaims | undefined;
    return claims?.waiting.length === 1;
  });
  await clock.advance(500);
  assert.equal((await gateway.transport.bus.depth('html')).running, 1);
  const third = await parse(gateway, file);
  assert.match(errorBody(third, 429, 'CONCURRENCY_LIMIT_REACHED').error, /^Concurrency limit reached/);
  assert.ok(Number(third.headers['retry-after']) >= 1);
  release.resolve();
  assert.equal(successData(await first).metadata.concurrencyLimited, false);
  const queued = successData(await second).metadata;
  assert.equal(queued.concurrencyLimited, true);
  assert.equal(queued.concurrencyQueueDurationMs, 500);
});

const TIMEOUT = 5_000;
/** Milliseconds after the timeout by which the response must be sent. */
const GRACE = 250;

test('returns 408 at the timeout and cancels the job', async (t) => {
  const stopped = Promise.withResolvers<void>();
  reset(async (_job, _bytes, delivery) => {
    await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
    stopped.resolve();
    throw new ParseError('UNKNOWN_ERROR');
  });
  const clock = useFakeClock(t);
  const answer = parse(gateway, { file: big, fileName: 'a.html', options: { timeout: TIMEOUT } });
  await until(() => seen.length === 1);
  await clock.advance(TIMEOUT + GRACE);
  assert.match(
    errorBody(await resultOf(answer, 'the response is sent'), 408, 'REQUEST_TIMEOUT').error,
    /^Request Timeout/,
  );
  await stopped.promise;
  await storeIsEmpty();
});

test('a client disconnect cancels the job, frees the slot and charges nothing', async () => {
  const stopped = Promise.withResolvers<void>();
  reset(async (_job, _bytes, delivery) => {
    await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
    stopped.resolve();
    throw new ParseError('UNKNOWN_ERROR');
  });
  const key = await gateway.makeKey({ concurrency: 1, queue: 0, credits: 1, allow: ['parse', 'audit'] });
  const client = new AbortController();
  const answer = parse(gateway, { file: big, fileName: 'a.html', key, signal: client.signal });
  await until(() => seen.length === 1);
  client.abort();
  await assert.rejects(answer);
  await stopped.promise;
  await until(() => parseEvent() !== undefined);
  assert.equal(parseEvent()?.outcome, 'cancelled');
  await storeIsEmpty();
  reset();
  successData(await parse(gateway, { file: html, fileName: 'a.html', key }));
});

test('returns 422 for an invalid schema before the file has arrived', async (t) => {
  const own = await startTestGateway({ llm: LLM, converter: checkingSchemas });
  t.after(() => own.stop());
  const options = { formats: [{ type: 'json', schema: { type: 'nonsense' } }] };
  const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="options"\r\n\r\n${JSON.stringify(options)}\r\n--${BOUNDARY}\r\n`;
  const answered = Promise.withResolvers<void>();
  const withoutFile = async function* () {
    yield Buffer.from(part);
    await answered.promise;
  };
  const answer = await send(own, {
    body: withoutFile(),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  });
  answered.resolve();
  errorBody(answer, 422, 'SCHEMA_INVALID');
});

const checkedSchemas: unknown[] = [];
/** A converter that finds a fault in the schema `{"type": "nonsense"}`, and cannot compile `{"type": "huge"}`. */
const checkingSchemas: Converter = (job, bytes, delivery) => {
  if (job.kind !== 'check-schema') return echo(job, bytes, delivery);
  const schema = JSON.parse(Buffer.from(bytes).toString('utf8'));
  checkedSchemas.push(schema);
  if (schema.type === 'nonsense') throw new ParseError('SCHEMA_INVALID');
  if (schema.type === 'huge') throw new ParseError('DOCUMENT_TOO_COMPLEX', 'The document needs too much memory');
  return { report: { metadata: {}, warnings: [] }, fields: '' };
};
const withSchema = (own: TestGateway, schema: object, timeout = 30_000) =>
  parse(own, { file: html, fileName: 'a.html', options: { formats: [{ type: 'json', schema }], timeout } });

test('the enrich service checks a schema before the conversion, and a valid one only once', async (t) => {
  const own = await startTestGateway({ llm: LLM, converter: checkingSchemas });
  t.after(() => own.stop());
  checkedSchemas.length = 0;
  const [valid, invalid] = [{ type: 'object' }, { type: 'nonsense' }];
  for (const schema of [valid, valid]) successData(await withSchema(own, schema));
  for (const schema of [invalid, invalid]) errorBody(await withSchema(own, schema), 422, 'SCHEMA_INVALID');
  assert.deepEqual(checkedSchemas, [valid, invalid, invalid]);
  const { error } = errorBody(await withSchema(own, { type: 'huge' }), 422, 'SCHEMA_INVALID');
  assert.match(error, /^Unprocessable Entity: the schema is too complex: .* 1024 MiB of memory/);
});

test('a schema over a limit is refused by the gateway, with the limit, and is not compiled', async (t) => {
  const own = await startTestGateway({ llm: LLM, converter: checkingSchemas });
  t.after(() => own.stop());
  checkedSchemas.length = 0;
  const list = Array.from({ length: 19_000 }, (_, a) => ({ a }));
  const $schema = 'http://json-schema.org/draft-07/schema#';
  assert.match(errorBody(await withSchema(own, { $schema, enum: list }), 422, 'SCHEMA_INVALID').error, /1000 items/);
  const properties = Object.fromEntries(list.slice(0, 6_000).map((_, i) => [`p${i}`, { type: 'string' }]));
  assert.match(errorBody(await withSchema(own, { properties }), 422, 'SCHEMA_INVALID').error, /10000 objects, lists/);
  assert.deepEqual(checkedSchemas, []);
});

test('a schema is compiled only if the key has credits', async (t) => {
  const own = await startTestGateway({ llm: LLM, converter: checkingSchemas });
  t.after(() => own.stop());
  checkedSchemas.length = 0;
  const key = await own.makeKey({ credits: 0 });
  const options = { formats: [{ type: 'json', schema: { type: 'object' } }] };
  errorBody(await parse(own, { file: html, fileName: 'a.html', options, key }), 402, 'PAYMENT_REQUIRED');
  assert.deepEqual(checkedSchemas, []);
});

test('without a model: 422 for an invalid schema, otherwise 400, also if no enrich worker runs', async (t) => {
  const own = await startTestGateway({ converter: checkingSchemas });
  const alone = await startTestGateway({ queues: ['html'] });
  t.after(() => Promise.all([own.stop(), alone.stop()]));
  errorBody(await withSchema(own, { type: 'nonsense' }), 422, 'SCHEMA_INVALID');
  errorBody(await withSchema(own, { type: 'object' }), 400, 'MODEL_NOT_CONFIGURED');
  errorBody(await withSchema(alone, { type: 'object' }, 100), 400, 'MODEL_NOT_CONFIGURED');
});

test('returns 503 with Retry-After if no worker serves the queue', async (t) => {
  const own = await startTestGateway({ queues: [] });
  t.after(() => own.stop());
  const clock = useFakeClock(t);
  const answer = parse(own, { file: html, fileName: 'a.html', options: { timeout: TIMEOUT } });
  await until(async () => (await own.transport.bus.depth('html')).pending === 1);
  await clock.advance(TIMEOUT + GRACE);
  const rejected = await resultOf(answer, 'the response is sent');
  errorBody(rejected, 503, 'SERVICE_UNAVAILABLE');
  assert.ok(Number(rejected.headers['retry-after']) >= 1);
});

test('logs and audit events contain key, team and sizes, but neither content nor file names nor key values', async () => {
  reset();
  const key = await gateway.makeKey({ team: 'blue', allow: ['parse', 'audit'] });
  const options = { auditMetadata: { username: 'ada' }, origin: 'test' };
  successData(await parse(gateway, { file: html, fileName: 'secret-name.html', options, key }));
  await until(() => events.some((event) => event.msg === 'request'));
  const { username, team, fileBytes, outcome } = parseEvent() ?? {};
  assert.deepEqual([username, team, fileBytes, outcome], ['ada', 'blue', Buffer.byteLength(html), 'success']);
  assert.doesNotMatch(JSON.stringify(events), /secret-name|Hello|pm-/);
  reset();
  successData(await parse(gateway, { file: html, fileName: 'a.html', options, key: await gateway.makeKey({}) }));
  assert.equal(parseEvent(), undefined, 'a key without the permission writes no event');
});
