// Tests PUT /process: which jobs its requests become, what of an upload stays stored, and how an upload that fails ends.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import type { PayloadRef } from '#shared/bus/bus.ts';
import type { ConvertJob, Job } from '#shared/contract/jobs.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { errorBody, send, sendRaw } from '#test/harness/client.ts';
import { until } from '../testing/clock.ts';
import { startTestGateway, type TestGateway } from '../testing/harness.ts';

let gateway: TestGateway;
const jobs: { job: Job; bytes: number; volatile: boolean }[] = [];
const stored = new Map<string, PayloadRef>();
const events: Record<string, unknown>[] = [];
const log = pino(
  { level: 'info' },
  new Writable({
    write(chunk, _encoding, done) {
      events.push(JSON.parse(String(chunk)));
      done();
    },
  }),
);

before(async () => {
  gateway = await startTestGateway({
    log,
    uploadLimits: { stallMs: 300 },
    converter: (job, bytes, { volatile }) => {
      jobs.push({ job, bytes: bytes.byteLength, volatile });
      const pages = [{ pageNumber: 1, markdown: 'one' }];
      const fields = job.kind === 'convert' && job.options.fields.includes('pages') ? { pages } : { markdown: 'all' };
      return { report: { metadata: {}, warnings: [] }, fields: JSON.stringify(fields) };
    },
  });
  const { payloads } = gateway.transport;
  const { put, delete: remove } = payloads;
  payloads.put = async (source, options) => {
    const ref = await put.call(payloads, source, options);
    stored.set(ref.id, ref);
    return ref;
  };
  payloads.delete = (ref) => {
    stored.delete(ref.id);
    return remove.call(payloads, ref);
  };
});
after(() => gateway.stop());

const PDF = '%PDF-1.7\n';
const BIG_HTML = `<!doctype html><p>x${' '.repeat(900_000)}`;

interface Sent {
  body?: string | AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  key?: string;
}
const put = ({ body = 'a,b\n1,2\n', headers = { 'x-filename': 'a.csv' }, key }: Sent = {}) =>
  send(gateway, { method: 'PUT', path: '/process', body, headers, ...(key ? { key } : {}) });
const lastJob = () => jobs.at(-1)?.job as ConvertJob;
const storeIsEmpty = () => until(() => stored.size === 0, 'the store is empty');
const withOptions = (options: unknown, fileName = 'a.csv') => ({
  'x-filename': fileName,
  'x-parse-options': typeof options === 'string' ? options : JSON.stringify(options),
});

test('asks for Markdown, or for pages if the format has pages, with the options of the header', async () => {
  assert.equal((await put({ headers: withOptions({ onlyMainContent: false }) })).status, 200);
  assert.deepEqual(lastJob().options.fields, ['markdown']);
  assert.equal(lastJob().options.onlyMainContent, false);
  const parsers = [{ type: 'pdf', mode: 'fast', maxPages: 3 }];
  assert.equal((await put({ body: PDF, headers: withOptions({ parsers }, 'a.pdf') })).status, 200);
  assert.deepEqual(lastJob().options.fields, ['pages']);
  assert.equal(lastJob().options.pdf.mode, 'fast');
  assert.equal(lastJob().options.pdf.maxPages, 3);
});

test('reads the file name as percent-encoded or raw UTF-8, and never as a path', async () => {
  for (const [sent, expected] of [
    ['Gr%C3%B6%C3%9Fe%20%E6%96%87.csv', 'Größe 文.csv'],
    [Buffer.from('Größe.csv').toString('latin1'), 'Größe.csv'],
    ['100%.csv', '100%.csv'],
    ['..%2F..%2Fetc%2Fa.csv', 'a.csv'],
    ['C%3A%5Cdocs%5Ca.csv', 'a.csv'],
    ['a%00%E2%80%AE.csv', 'a.csv'],
  ] as const) {
    assert.equal((await put({ headers: { 'x-filename': sent } })).status, 200);
    assert.equal(lastJob().fileName, expected);
  }
  errorBody(await put({ headers: { 'x-filename': `${'n'.repeat(REQUEST_LIMITS.fileNameBytes)}.csv` } }), 400);
});

test('takes the format and the charset from the Content-Type if the file has no name', async () => {
  assert.equal((await put({ headers: { 'content-type': 'Text/CSV; charset=Windows-1252' } })).status, 200);
  assert.equal(lastJob().extension, '.csv');
  assert.equal(lastJob().charset, 'windows-1252');
  errorBody(await put({ headers: {} }), 400, 'UNSUPPORTED_FILE_TYPE');
});

test('returns 400 for invalid options, before the body is read', async () => {
  for (const [options, message] of [
    ['{', /`X-Parse-Options` header is not valid JSON/],
    ['[]', /JSON object/],
    ['"x"', /JSON object/],
    [{ timeout: 0 }, /timeout/],
    [{ unknown: 1 }, /unknown/],
    [{ formats: ['html'] }, /Markdown only/],
    [{ formats: ['markdown', 'links'] }, /Markdown only/],
    [{ parsers: [{ type: 'pdf', blocks: true }] }, /Markdown only/],
  ] as const) {
    const endless = async function* () {
      for (;;) yield Buffer.alloc(1024);
    };
    const answer = await put({ body: endless(), headers: withOptions(options) });
    assert.match(errorBody(answer, 400, 'BAD_REQUEST').error, message, JSON.stringify(options));
  }
});

test('returns 400 for a multipart body, a compressed body and an empty body', async () => {
  const rejected = async (sent: Sent) => errorBody(await put(sent), 400, 'BAD_REQUEST').error;
  assert.match(await rejected({ headers: { 'content-type': 'multipart/form-data; boundary=x' } }), /POST \/v2\/parse/);
  assert.match(await rejected({ headers: { 'x-filename': 'a.csv', 'content-encoding': 'gzip' } }), /Content-Encoding/);
  assert.match(await rejected({ body: '' }), /empty/);
});

test('returns 413 for a Content-Length over the limit, and while a body without one is being sent', async () => {
  const declared = await sendRaw(
    gateway,
    `PUT /process HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nX-Filename: a.csv\r\nContent-Length: ${REQUEST_LIMITS.fileBytes + 1}\r\n\r\n`,
    { until: /\}$/ },
  );
  assert.match(declared, /^HTTP\/1\.1 413 /);
  const block = Buffer.alloc(1024 * 1024, 'a,b\n');
  const streamed = async function* () {
    for (let sent = 0; sent <= REQUEST_LIMITS.fileBytes; sent += block.length) yield block;
  };
  errorBody(await put({ body: streamed() }), 413, 'PAYLOAD_TOO_LARGE');
  await storeIsEmpty();
});

test('returns 408 for an upload that stalls', async () => {
  const text = await sendRaw(
    gateway,
    `PUT /process HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nX-Filename: a.csv\r\nContent-Length: 100\r\n\r\na,b`,
  );
  assert.match(text, /^HTTP\/1\.1 408 /);
});

test('deletes the payload of a request that succeeds, of one whose format is not supported, and of one that is cancelled', async () => {
  assert.equal((await put({ body: BIG_HTML, headers: { 'x-filename': 'a.html' } })).status, 200);
  assert.equal(jobs.at(-1)?.bytes, BIG_HTML.length);
  await storeIsEmpty();
  errorBody(await put({ body: BIG_HTML, headers: { 'x-filename': 'a.exe' } }), 400, 'UNSUPPORTED_FILE_TYPE');
  await sendRaw(
    gateway,
    `PUT /process HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nX-Filename: a.html\r\nContent-Length: 9000000\r\n\r\n${BIG_HTML}`,
    { disconnectAfterMs: 50 },
  );
  await storeIsEmpty();
});

test('checks the permission for zero data retention, and passes it to the bus', async () => {
  const without = await gateway.makeKey({ allow: ['parse'] });
  errorBody(await put({ headers: withOptions({ zeroDataRetention: true }), key: without }), 403, 'FORBIDDEN');
  const key = await gateway.makeKey({ allow: ['parse', 'zdr'] });
  assert.equal((await put({ headers: withOptions({ zeroDataRetention: true }), key })).status, 200);
  assert.equal(jobs.at(-1)?.volatile, true);
});

test('the audit event names the user that Open WebUI names, unless the options name one', async () => {
  const key = await gateway.makeKey({ allow: ['parse', 'audit'] });
  events.length = 0;
  const user = { 'x-openwebui-user-email': 'anna@example.com' };
  await put({ headers: { 'x-filename': 'a.csv', ...user }, key });
  await put({ headers: { ...withOptions({ auditMetadata: { username: 'batch' } }), ...user }, key });
  const names = () => events.flatMap(({ audit }) => (audit ? [(audit as { username?: string }).username] : []));
  await until(() => names().length === 2, 'both audit events are written');
  assert.deepEqual(names(), ['anna@example.com', 'batch']);
});
