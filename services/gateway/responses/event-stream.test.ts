// Tests a parse whose response is an event stream: the order of its events, failures, cancellation, slow clients and drain.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Delivery } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { errorBody, LONGEST_TIMEOUT_MS, multipart, parse, send, sendRaw, successData } from '#test/harness/client.ts';
import { collectEvents, openEvents, type StreamEvent } from '#test/harness/events.ts';
import { resultOf, until, useFakeClock } from '../testing/clock.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from '../testing/harness.ts';

const FILE = { file: '<!doctype html><title>x</title><p>Hello', fileName: 'a.html' };
const EMPTY = { report: { metadata: {}, warnings: [] }, fields: '{}' };

let gateway: TestGateway;
let converter: Converter = echo;
before(async () => {
  gateway = await startTestGateway({
    llm: { baseUrl: 'http://127.0.0.1:9', apiKey: undefined, model: 'm' },
    converter: (job, bytes, delivery) => converter(job, bytes, delivery),
  });
});
after(() => gateway.stop());

/** A converter that waits, so that a test can act while it runs. */
function waitingConverter() {
  const started = Promise.withResolvers<Delivery>();
  const release = Promise.withResolvers<void>();
  converter = async (_job, _bytes, delivery) => {
    started.resolve(delivery);
    const aborted = new Promise((_resolve, reject) =>
      delivery.signal.addEventListener('abort', () => reject(new ParseError('REQUEST_TIMEOUT'))),
    );
    await Promise.race([release.promise, aborted]);
    return EMPTY;
  };
  return { started: started.promise, release: release.resolve };
}

/** A parse with `Accept: text/event-stream`, for `sendRaw`. */
function rawRequest(): Buffer {
  const { body, contentType } = multipart([
    { name: 'options', body: JSON.stringify({ timeout: LONGEST_TIMEOUT_MS }) },
    { name: 'file', body: FILE.file, fileName: FILE.fileName },
  ]);
  const head = [
    'POST /v2/parse HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${gateway.key}`,
    'Accept: text/event-stream',
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

async function nextEvent(events: AsyncGenerator<StreamEvent>): Promise<StreamEvent> {
  const { value } = await events.next();
  assert.ok(value, 'the stream has another event');
  return value;
}

test('shows the stages and the progress of the job, then the timings and the same body as a JSON response', async () => {
  converter = (job, bytes, delivery) => {
    if (job.kind !== 'convert') return echo(job, bytes, delivery);
    delivery.progress?.({ stage: 'ocr', pagesDone: 3, pages: 40 });
    delivery.progress?.({ stage: 'no stage', text: 'SECRET' });
    return { report: { metadata: { title: 'T' }, warnings: [] }, fields: '{"markdown":"ü"}' };
  };
  const request = { ...FILE, options: { formats: ['markdown', 'summary'], redactPII: true } };
  const response = await openEvents(gateway, request);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  assert.ok(response.headers.get('x-request-id'));
  const { progress, timings, result } = await collectEvents(response);
  assert.deepEqual(progress, [
    { stage: 'queue' },
    { stage: 'convert' },
    { stage: 'ocr', pagesDone: 3, pages: 40 },
    { stage: 'redact' },
    { stage: 'enrich' },
  ]);
  assert.deepEqual(Object.keys(timings ?? {}), ['receive', 'queue', 'convert', 'redact', 'enrich']);
  const withoutId = (text: string | undefined) => text?.replace(/"requestId":"[^"]+"/, '');
  assert.equal(withoutId(result), withoutId((await parse(gateway, request)).text));
});

test('a failure before the first event is an ordinary error response', async () => {
  converter = echo;
  const open = (extra: object) => parse(gateway, { ...FILE, headers: { accept: 'text/event-stream' }, ...extra });
  errorBody(await open({ key: 'unknown' }), 401, 'UNAUTHORIZED');
  errorBody(await open({ key: await gateway.makeKey({ credits: 0 }) }), 402, 'PAYMENT_REQUIRED');
  errorBody(await open({ fileName: 'a.unknown' }), 400, 'UNSUPPORTED_FILE_TYPE');
  errorBody(await open({ options: { formats: ['nonsense'] } }), 400, 'BAD_REQUEST');
});

test('a failure after the first event is one error event, costs nothing, and is counted with its status', async () => {
  converter = () => {
    throw new ParseError('DOCUMENT_CORRUPT', 'broken');
  };
  const key = await gateway.makeKey({ credits: 1 });
  const failed = await collectEvents(await openEvents(gateway, { ...FILE, key }));
  assert.deepEqual(failed.error, { status: 422, success: false, error: 'broken', code: 'DOCUMENT_CORRUPT' });
  const metrics = await send(gateway, { method: 'GET', path: '/metrics', key: null });
  assert.match(
    metrics.text,
    /requests_total\{route="\/v2\/parse",method="POST",status="422",code="DOCUMENT_CORRUPT"\} 1/,
  );
  converter = () => {
    throw new ParseError('SERVICE_UNAVAILABLE', 'later', { retryAfterSeconds: 5 });
  };
  const busy = await collectEvents(await openEvents(gateway, { ...FILE, key }));
  assert.deepEqual([busy.error?.status, busy.error?.retryAfter], [503, 5]);
  converter = echo;
  assert.ok((await collectEvents(await openEvents(gateway, { ...FILE, key }))).result);
  errorBody(await parse(gateway, { ...FILE, key }), 402, 'PAYMENT_REQUIRED');
});

test('a record that is not JSON is an error event, and line breaks between its tokens do not end the event', async () => {
  converter = () => ({ report: { metadata: {}, warnings: [] }, fields: 'no record' });
  assert.equal((await collectEvents(await openEvents(gateway, FILE))).error?.code, 'BAD_GATEWAY');
  converter = () => ({
    report: { metadata: {}, warnings: [] },
    fields: '{\n"markdown":\r\n"a\\nb"\n,\n\n"links":[]}',
  });
  const { result } = await collectEvents(await openEvents(gateway, FILE));
  const { data } = JSON.parse(result ?? '');
  assert.deepEqual([data.markdown, data.links], ['a\nb', []]);
});

test('streams a large result', async () => {
  const markdown = 'ü\n'.repeat(3_000_000);
  converter = () => ({ report: { metadata: {}, warnings: [] }, fields: JSON.stringify({ markdown }) });
  const { result } = await collectEvents(await openEvents(gateway, FILE));
  assert.ok(JSON.parse(result ?? '').data.markdown === markdown);
});

test('a client that disconnects cancels the job and frees its slot', async () => {
  const running = waitingConverter();
  const key = await gateway.makeKey({ concurrency: 1, queue: 0, credits: 1 });
  const client = new AbortController();
  const { events } = await openEvents(gateway, { ...FILE, key, signal: client.signal });
  const { signal } = await running.started;
  assert.equal((await nextEvent(events)).name, 'progress');
  client.abort();
  await until(() => signal.aborted);
  converter = echo;
  await until(async () => (await parse(gateway, { ...FILE, key })).status !== 429, 'the slot is free');
  errorBody(await parse(gateway, { ...FILE, key }), 402, 'PAYMENT_REQUIRED');
});

test('the timeout of the request is an error event', async (t) => {
  const running = waitingConverter();
  const clock = useFakeClock(t);
  const opened = openEvents(gateway, { ...FILE, options: { timeout: 5_000 } });
  await running.started;
  await clock.advance(6_000);
  const { error } = await collectEvents(await opened);
  assert.deepEqual([error?.status, error?.code], [408, 'REQUEST_TIMEOUT']);
});

test('comments keep the stream open while nothing happens, and none is inside the result', async (t) => {
  const running = waitingConverter();
  const clock = useFakeClock(t, { intervals: true });
  const answered = sendRaw(gateway, rawRequest());
  await running.started;
  await clock.advance(2 * REQUEST_LIMITS.eventKeepAliveMs + 1_000);
  running.release();
  const text = await resultOf(answered, 'the connection is closed');
  const events = [...text.matchAll(/^(?:event: (\w+)|(: keep-alive))$/gm)].map(([, name, comment]) => name ?? comment);
  assert.deepEqual(events, ['progress', 'progress', ': keep-alive', ': keep-alive', 'timings', 'result']);
});

test('a drain waits for a running event stream', async (t) => {
  const own = await startTestGateway({ converter: (job, bytes, delivery) => converter(job, bytes, delivery) });
  t.after(() => own.stop());
  const running = waitingConverter();
  const response = await openEvents(own, FILE);
  await running.started;
  const drained = own.gateway.drain();
  running.release();
  assert.ok((await collectEvents(response)).result);
  await drained;
});

test('a JSON request does not ask the worker for progress', async () => {
  let asked: boolean | undefined;
  converter = (job, bytes, delivery) => {
    asked = delivery.progress !== undefined;
    return echo(job, bytes, delivery);
  };
  successData(await parse(gateway, FILE));
  assert.equal(asked, false);
});
