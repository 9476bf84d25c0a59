// A parse from the checks to the charge: their order, the stages on the bus, what is kept, what is let go, and who is told what.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import type { PayloadRef, PayloadStore } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { Job } from '#shared/contract/jobs.ts';
import { BOUNDARY, errorBody, parse, send, successData } from '#test/harness/client.ts';
import type { TeamClaims } from '../limits/lease.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from '../testing/harness.ts';

const html = '<!doctype html><title>x</title><p>Hello';
const big = `${html}${' '.repeat(600_000)}`;

let gateway: TestGateway;
let converter: Converter = echo;
const seen: { job: Job; bytes: Uint8Array; volatile: boolean }[] = [];
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

/** Watches what is put and let go. */
function watchStore(store: PayloadStore): void {
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
    llm: { baseUrl: 'http://127.0.0.1:9', apiKey: undefined, model: 'm' },
    converter: (job, bytes, delivery) => {
      seen.push({ job, bytes, volatile: delivery.volatile });
      return converter(job, bytes, delivery);
    },
  });
  watchStore(gateway.transport.payloads);
});
after(() => gateway.stop());

function reset(next: Converter = echo): void {
  converter = next;
  seen.length = 0;
  events.length = 0;
}

async function settled(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(condition());
}

test('stages run in their order with what each needs, and every payload is let go', async () => {
  reset((job, bytes) => {
    if (job.kind === 'convert')
      return {
        head: { metadata: { title: 'T', numPages: 3 }, warnings: ['one'] },
        fields: JSON.stringify({ markdown: 'x'.repeat(400_000) }),
      };
    if (job.kind === 'redact')
      return {
        head: { metadata: { ...job.metadata, piiRedactions: { EMAIL: 1 } }, warnings: job.warnings },
        fields: bytes,
      };
    if (job.kind === 'enrich')
      return {
        head: { metadata: job.metadata, warnings: [...job.warnings, 'two'] },
        fields: '{"summary":"S","json":{"a":1}}',
      };
    throw new Error(job.kind);
  });
  const options = {
    formats: ['summary', { type: 'json', prompt: 'p' }],
    redactPII: true,
    parsers: [{ type: 'pdf', pages: true }],
  };
  const answer = await parse(gateway, { file: `%PDF-1.7\n${' '.repeat(600_000)}`, fileName: 'a.pdf', options });
  const data = successData(answer);
  assert.deepEqual(
    seen.map((one) => [one.job.kind, one.bytes.byteLength > 300_000]),
    [
      ['convert', true],
      ['redact', true],
      ['enrich', true],
    ],
  );
  const [convert, , enrich] = seen.map((one) => one.job);
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

test('a large record streams through, and only what was asked for is converted', async () => {
  reset(() => ({ head: { metadata: {}, warnings: [] }, fields: JSON.stringify({ markdown: 'ü'.repeat(5_000_000) }) }));
  const data = successData(
    await parse(gateway, { file: big, fileName: 'a.html', options: { parsers: [{ type: 'pdf', pages: true }] } }),
  );
  assert.equal(data.markdown?.length, 5_000_000);
  const job = seen[0]?.job;
  assert.deepEqual(job?.kind === 'convert' && job.options.fields, ['markdown'], 'pages are of PDFs');
  await settled(() => stored.size === 0);
});

test('zero data retention keeps jobs and payloads off disks, also where options come last', async () => {
  for (const fileFirst of [false, true]) {
    reset(() => ({ head: { metadata: {}, warnings: [] }, fields: JSON.stringify({ markdown: 'y'.repeat(400_000) }) }));
    const kinds: boolean[] = [];
    const put = gateway.transport.payloads.put;
    gateway.transport.payloads.put = (source, options) => {
      kinds.push(options.volatile);
      return put(source, options);
    };
    successData(
      await parse(gateway, { file: big, fileName: 'a.html', options: { zeroDataRetention: true }, fileFirst }),
    );
    gateway.transport.payloads.put = put;
    assert.deepEqual(kinds, [true, true]);
    assert.equal(seen[0]?.volatile, true);
  }
});

test('checks come in their order: key, permission, credits, rate, then the body', async () => {
  reset();
  const nothing = { body: 'not multipart', headers: { 'content-type': 'text/plain' } };
  const forbidden = await gateway.makeKey({ allow: [], credits: 0, rate: 1 });
  errorBody(await send(gateway, { ...nothing, key: forbidden }), 403, 'FORBIDDEN');
  const broke = await gateway.makeKey({ credits: 0, rate: 1 });
  for (let i = 0; i < 2; i++)
    assert.equal(
      errorBody(await send(gateway, { ...nothing, key: broke }), 402, 'PAYMENT_REQUIRED').error,
      'Payment Required: Insufficient credits',
    );
  const slow = await gateway.makeKey({ rate: 1, credits: 5 });
  errorBody(await send(gateway, { ...nothing, key: slow }), 400, 'BAD_REQUEST');
  const limited = await send(gateway, { ...nothing, key: slow });
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
  await settled(() => stored.size === 0);
  assert.equal(seen.length, 0);
});

test('only success is charged, and the last credit is the last', async () => {
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

test('concurrency: one works, one waits and is told so, one is refused', async () => {
  const release = Promise.withResolvers<void>();
  reset(async () => {
    await release.promise;
    return { head: { metadata: {}, warnings: [] }, fields: '{}' };
  });
  const key = await gateway.makeKey({ concurrency: 1, queue: 1, team: 'queued' });
  const file = { file: html, fileName: 'a.html', key };
  const first = parse(gateway, file);
  await settled(() => seen.length === 1);
  const second = parse(gateway, file);
  const waiting = async () =>
    ((await gateway.transport.state.get(`claims.${Buffer.from('queued').toString('hex')}`)) as TeamClaims | undefined)
      ?.waiting.length;
  while ((await waiting()) !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await gateway.transport.bus.depth('html')).running, 1);
  const third = await parse(gateway, file);
  assert.match(errorBody(third, 429, 'CONCURRENCY_LIMIT_REACHED').error, /^Concurrency limit reached/);
  assert.ok(Number(third.headers['retry-after']) >= 1);
  release.resolve();
  assert.equal(successData(await first).metadata.concurrencyLimited, false);
  const waited = successData(await second).metadata;
  assert.equal(waited.concurrencyLimited, true);
  assert.ok((waited.concurrencyQueueDurationMs ?? 0) >= 90);
});

test('a timeout is a 408 in the documented words, and the work is told to stop', async () => {
  const stopped = Promise.withResolvers<void>();
  reset(async (_job, _bytes, delivery) => {
    await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
    stopped.resolve();
    throw new ParseError('UNKNOWN_ERROR');
  });
  const answer = await parse(gateway, { file: big, fileName: 'a.html', options: { timeout: 150 } });
  assert.match(errorBody(answer, 408, 'REQUEST_TIMEOUT').error, /^Request Timeout/);
  await stopped.promise;
  await settled(() => stored.size === 0);
});

test('a client that leaves stops its work, frees its place and is charged nothing', async () => {
  const stopped = Promise.withResolvers<void>();
  reset(async (_job, _bytes, delivery) => {
    await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
    stopped.resolve();
    throw new ParseError('UNKNOWN_ERROR');
  });
  const key = await gateway.makeKey({ concurrency: 1, queue: 0, credits: 1, allow: ['parse', 'audit'] });
  const leaving = new AbortController();
  const left = parse(gateway, { file: big, fileName: 'a.html', key, signal: leaving.signal });
  await settled(() => seen.length === 1);
  leaving.abort();
  await assert.rejects(left);
  await stopped.promise;
  await settled(() => events.some((event) => event.msg === 'audit'));
  const { audit } = events.find((event) => event.msg === 'audit') as { audit: { outcome: string } };
  assert.equal(audit.outcome, 'cancelled');
  await settled(() => stored.size === 0);
  reset();
  successData(await parse(gateway, { file: html, fileName: 'a.html', key }));
});

test('a schema that is none is 422, also before the file is there; a model that is missing is 400', async () => {
  reset();
  const bad = { formats: [{ type: 'json', schema: { type: 'nonsense' } }] };
  const body = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="options"\r\n\r\n${JSON.stringify(bad)}\r\n--${BOUNDARY}\r\n`;
  const early = async function* () {
    yield Buffer.from(body);
    await new Promise((resolve) => setTimeout(resolve, 10_000).unref());
  };
  const answer = await send(gateway, {
    body: early(),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    patienceMs: 5_000,
  });
  errorBody(answer, 422, 'SCHEMA_INVALID');
  const without = await startTestGateway();
  const ask = (schema: object) =>
    parse(without, { file: html, fileName: 'a.html', options: { formats: [{ type: 'json', schema }] } });
  errorBody(await ask({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }), 422, 'SCHEMA_INVALID');
  errorBody(
    await ask({ $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', type: 'object' }),
    400,
    'MODEL_NOT_CONFIGURED',
  );
  errorBody(await ask({ $schema: 'urn:other' }), 422, 'SCHEMA_INVALID');
  await without.stop();
});

test('a queue nobody serves is a 503 that says when to come back', async () => {
  const alone = await startTestGateway({ queues: [] });
  const answer = await parse(alone, { file: html, fileName: 'a.html', options: { timeout: 200 } });
  errorBody(answer, 503, 'SERVICE_UNAVAILABLE');
  assert.ok(Number(answer.headers['retry-after']) >= 1);
  await alone.stop();
});

test('logs and audit events hold who and how much, and no word of the document', async () => {
  reset();
  const key = await gateway.makeKey({ team: 'blue', allow: ['parse', 'audit'] });
  const options = { auditMetadata: { username: 'ada' }, origin: 'test' };
  successData(await parse(gateway, { file: html, fileName: 'secret-name.html', options, key }));
  await settled(() => events.some((event) => event.msg === 'request'));
  const { audit } = events.find((event) => event.msg === 'audit') as { audit: Record<string, unknown> };
  assert.equal(audit.username, 'ada');
  assert.equal(audit.team, 'blue');
  assert.equal(audit.fileBytes, Buffer.byteLength(html));
  assert.equal(audit.outcome, 'success');
  assert.doesNotMatch(JSON.stringify(events), /secret-name|Hello|pm-/);
  reset();
  successData(await parse(gateway, { file: html, fileName: 'a.html', options, key: await gateway.makeKey({}) }));
  assert.equal(
    events.some((event) => event.msg === 'audit'),
    false,
    'without the permission there is no event',
  );
});
