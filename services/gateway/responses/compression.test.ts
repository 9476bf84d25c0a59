// Tests which responses are compressed, that the body stays the same, and that a client that disconnects ends a compressed stream.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { BOUNDARY, multipart } from '#test/harness/client.ts';
import { until } from '../testing/clock.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from '../testing/harness.ts';

let gateway: TestGateway;
let converter: Converter = echo;
const deleted = { count: 0 };
before(async () => {
  gateway = await startTestGateway({ converter: (job, bytes, delivery) => converter(job, bytes, delivery) });
  const { payloads } = gateway.transport;
  const remove = payloads.delete;
  payloads.delete = (ref) => {
    deleted.count += 1;
    return remove.call(payloads, ref);
  };
});
after(() => gateway.stop());

/** Sends a request and returns its response, whose body is not read. */
async function open(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body }: { method?: string; body?: Buffer } = {},
): Promise<IncomingMessage> {
  const request = httpRequest(new URL(path, gateway.url), {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    agent: false,
  });
  request.on('error', () => undefined);
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function readBytes(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const parse = (headers: Record<string, string>, options = {}): Promise<IncomingMessage> => {
  const { body } = multipart([
    { name: 'options', body: JSON.stringify(options) },
    { name: 'file', body: '<p>x', fileName: 'a.html' },
  ]);
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  return open('/v2/parse', { 'content-type': type, ...headers }, { method: 'POST', body });
};

const decode = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes };
type Encoding = keyof typeof decode;

/** The encodings by the header that chooses them. */
const HEADERS: readonly (readonly [string | undefined, Encoding])[] = [
  [undefined, 'none'],
  ['', 'none'],
  ['identity', 'none'],
  ['zstd', 'none'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0, br;q=0', 'none'],
  ['identity, gzip;q=0.1', 'none'],
  ['*', 'br'],
  [`gzip${', identity;q=0.1'.repeat(100)}`, 'none'],
];

for (const markdown of ['short', 'ü line\n'.repeat(1_000), 'a long line of text\n'.repeat(60_000)])
  test(`a body of ${markdown.length} characters is the same in every encoding`, async () => {
    converter = () => ({ report: { metadata: {}, warnings: [] }, fields: JSON.stringify({ markdown }) });
    for (const accept of ['text/markdown', 'application/json'])
      for (const [header, encoding] of HEADERS) {
        const response = await parse({ accept, ...(header === undefined ? {} : { 'accept-encoding': header }) });
        const bytes = await readBytes(response);
        const sent = response.headers['content-encoding'];
        if (Buffer.byteLength(markdown) >= 1_024) assert.equal(sent ?? 'none', encoding, `${accept}, ${header}`);
        else assert.equal(sent, undefined, 'a small body is not compressed');
        assert.match(String(response.headers.vary), /Accept.*Accept-Encoding/);
        const text = decode[(sent ?? 'none') as Encoding](bytes).toString('utf8');
        assert.ok((accept === 'text/markdown' ? text : JSON.parse(text).data.markdown) === markdown);
        if (sent) assert.ok(bytes.length < text.length / 2);
        if (sent === undefined && bytes.length < 1_000_000)
          assert.equal(response.headers['content-length'], String(bytes.length));
      }
  });

test('the documents of the server are compressed, also for a HEAD request, which has no body', async () => {
  for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js', '/', '/v2/parse/formats', '/metrics']) {
    const plain = await readBytes(await open(path, { 'accept-encoding': 'identity' }));
    const response = await open(path, { 'accept-encoding': 'br' });
    assert.equal(response.headers['content-encoding'], 'br', path);
    const text = brotliDecompressSync(await readBytes(response));
    if (path !== '/metrics') assert.ok(text.equals(plain), path);
    const head = await open(path, { 'accept-encoding': 'br' }, { method: 'HEAD' });
    assert.equal(head.headers['content-encoding'], 'br');
    assert.equal(head.headers['content-length'], undefined);
    assert.equal((await readBytes(head)).length, 0);
  }
  const picture = await open('/docs/favicon-32x32.png', { 'accept-encoding': 'br' });
  assert.equal(picture.headers['content-encoding'], undefined);
  picture.resume();
});

test('neither an event stream nor an error response is compressed', async () => {
  converter = echo;
  const events = await parse({ accept: 'text/event-stream', 'accept-encoding': 'br' });
  assert.equal(events.headers['content-encoding'], undefined);
  assert.match(String(await readBytes(events)), /event: result/);
  const error = await parse({ 'accept-encoding': 'br', authorization: 'Bearer unknown' });
  assert.equal(error.statusCode, 401);
  assert.equal(error.headers['content-encoding'], undefined);
  error.resume();
});

test('a client that disconnects while it reads a compressed body ends the response', async () => {
  // Noise, so that the compressed body does not fit into the buffers of the connection.
  const markdown = noise(40_000_000);
  converter = () => ({ report: { metadata: {}, warnings: [] }, fields: JSON.stringify({ markdown }) });
  const before = deleted.count;
  const response = await parse({ 'accept-encoding': 'gzip' });
  await once(response, 'readable');
  assert.equal(deleted.count, before, 'the record is still being sent');
  response.destroy();
  await until(() => deleted.count > before, 'the record is deleted');
});

/** Text that does not compress well. */
function noise(length: number): string {
  let state = 1;
  const words = new Uint32Array(length / 8);
  for (let at = 0; at < words.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words[at] = state;
  }
  return Buffer.from(words.buffer).toString('hex');
}
