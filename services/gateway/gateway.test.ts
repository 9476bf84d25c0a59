// Tests the HTTP interface: paths, methods, headers, response shape, probes and draining.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { errorBody, parse, send, sendRaw, successData } from '#test/harness/client.ts';
import { until, useFakeClock } from './testing/clock.ts';
import { startTestGateway, type TestGateway } from './testing/harness.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startTestGateway();
});
after(() => gateway.stop());

const sendUntilClosed = (bytes: string): Promise<string> => sendRaw(gateway, bytes);

const html = '<!doctype html><title>x</title><p>Hello';

test('returns the fields of the converter and the metadata of the gateway', async () => {
  const answer = await parse(gateway, {
    file: html,
    fileName: 'Über uns.html',
    headers: { 'x-request-id': 'abc.1-2_3' },
  });
  const data = successData(answer);
  assert.equal(data.markdown, `${Buffer.byteLength(html)} bytes`);
  const { job: _, ...metadata } = data.metadata;
  assert.deepEqual(metadata, {
    title: 'Über uns.html',
    sourceURL: 'Über uns.html',
    url: 'Über uns.html',
    statusCode: 200,
    contentType: 'text/html',
    creditsUsed: 1,
    concurrencyLimited: false,
    requestId: 'abc.1-2_3',
  });
  assert.equal('warning' in data, false);
  assert.equal(answer.headers['x-request-id'], 'abc.1-2_3');
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.equal(answer.headers['x-powered-by'], undefined);
});

test('replaces an X-Request-Id that is too long or has unsafe characters', async () => {
  for (const id of ['a b', 'x'.repeat(129), 'a<script>']) {
    const answer = await send(gateway, { method: 'GET', path: '/livez', headers: { 'x-request-id': id } });
    assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  }
});

test('returns a JSON 404 for an unknown path with any method', async () => {
  for (const [method, path] of [
    ['GET', '/page'],
    ['GET', '/page/../gateway.ts'],
    ['GET', '/page/%2e%2e/gateway.ts'],
    ['GET', '/page/tsconfig.json'],
    ['POST', '/v2/scrape'],
    ['DELETE', '/v2/parse/x'],
    ['GET', '/V2/parse'],
    ['GET', '/docs/../../etc/passwd'],
  ] as const)
    errorBody(await send(gateway, { method, path }), 404, 'NOT_FOUND');
  errorBody(await send(gateway, { method: 'GET', path: '/%E0%A4%A' }), 404, 'NOT_FOUND');
});

test('returns 405 with an Allow header for a known path with another method', async () => {
  const wrong = await send(gateway, { method: 'GET', path: '/v2/parse' });
  errorBody(wrong, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(wrong.headers.allow, 'POST');
  assert.equal((await send(gateway, { method: 'DELETE', path: '/livez' })).headers.allow, 'GET, HEAD');
});

test('returns the same 401 for a missing, malformed and unknown key', async () => {
  for (const headers of [
    {},
    { authorization: 'Basic abc' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer nope' },
    { authorization: 'Bearer a b' },
  ] as Record<string, string>[]) {
    const answer = await send(gateway, { key: null, headers });
    assert.equal(errorBody(answer, 401, 'UNAUTHORIZED').error, 'Unauthorized: Invalid token');
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
  }
  successData(
    await parse(gateway, {
      file: html,
      fileName: 'a.html',
      key: null,
      headers: { authorization: `bearer  ${gateway.key}` },
    }),
  );
});

test('lists the formats for a valid key', async () => {
  errorBody(await send(gateway, { method: 'GET', path: '/v2/parse/formats', key: null }), 401);
  const answer = await send(gateway, { method: 'GET', path: '/v2/parse/formats' });
  const { data } = answer.body as {
    data: {
      formats: { format: string; kind: string; extensions: string[]; mimeTypes: string[]; available: boolean }[];
    };
  };
  assert.deepEqual(data.formats.find((row) => row.format === 'html')?.extensions, ['.html', '.htm']);
  assert.deepEqual(data.formats.flatMap((row) => row.extensions).sort(), [...EXTENSIONS].sort());
  assert.deepEqual(new Set(data.formats.map((row) => row.kind)), new Set(['document', 'image']));
  assert.ok(data.formats.every((row) => row.available && row.mimeTypes.length > 0));
});

test('serves probes, metrics and the API reference without a key', async () => {
  assert.equal((await send(gateway, { method: 'GET', path: '/livez', key: null })).status, 200);
  assert.equal((await send(gateway, { method: 'GET', path: '/readyz', key: null })).status, 200);
  const metrics = await send(gateway, { method: 'GET', path: '/metrics', key: null });
  assert.match(
    metrics.text,
    /parsemesh_http_requests_total\{route="\/v2\/parse",method="POST",status="200",code="OK"\} \d+/,
  );
  const docs = await send(gateway, { method: 'GET', path: '/docs', key: null });
  assert.match(String(docs.headers['content-security-policy']), /default-src 'none'/);
  for (const [, path] of docs.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.ok(path?.startsWith('/docs/'), `${path} is on this server`);
    assert.equal((await send(gateway, { method: 'GET', path, key: null })).status, 200, path);
  }
});

test('serves the page and every file that it loads without a key, and no script or style that is inline', async () => {
  const page = await send(gateway, { method: 'GET', path: '/', key: null });
  assert.equal(page.status, 200);
  assert.match(String(page.headers['content-type']), /^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:/);
  assert.doesNotMatch(page.text, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
  const waiting = [...page.text.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map(([, path = '']) => path);
  const loaded = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const asset = await send(gateway, { method: 'GET', path, key: null });
    assert.equal(asset.status, 200, path);
    assert.equal(asset.headers['cache-control'], 'no-cache');
    if (!path.endsWith('.ts')) continue;
    assert.match(String(asset.headers['content-type']), /^text\/javascript/);
    for (const [, specifier = ''] of asset.text.matchAll(/^import\b[^;]*?from '([./][^']+)'/gm))
      waiting.push(new URL(specifier, `http://x${path}`).pathname);
  }
  assert.ok(loaded.has('/page/pdf-file.ts') && loaded.has('/page/packages/marked.js'), [...loaded].join(' '));
});

test('serves pdf.js at a path of its version, which browsers keep, with a policy of its own for the worker', async () => {
  const settings = (await send(gateway, { method: 'GET', path: '/page/settings.json', key: null })).body as {
    pdfjs: string;
  };
  assert.match(settings.pdfjs, /^\/page\/pdfjs-\d/);
  for (const file of [
    'build/pdf.min.mjs',
    'cmaps/Adobe-Japan1-UCS2.bcmap',
    'wasm/openjpeg.wasm',
    'standard_fonts/FoxitSerif.pfb',
  ])
    assert.match(
      String(
        (await send(gateway, { method: 'HEAD', path: `${settings.pdfjs}/${file}`, key: null })).headers[
          'cache-control'
        ],
      ),
      /immutable/,
      file,
    );
  // A worker has the policy of its own response, not that of the page.
  const worker = await send(gateway, { method: 'HEAD', path: `${settings.pdfjs}/build/pdf.worker.min.mjs`, key: null });
  assert.match(String(worker.headers['content-security-policy']), /connect-src 'self'/);
});

test('returns 304 for a file of the page that the client has, and the sample document', async () => {
  const first = await send(gateway, { method: 'GET', path: '/page/sample.pdf', key: null });
  assert.match(first.text, /^%PDF-/);
  const again = await send(gateway, {
    method: 'GET',
    path: '/page/sample.pdf',
    key: null,
    headers: { 'if-none-match': String(first.headers.etag) },
  });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('returns a JSON 400 and closes the connection for invalid HTTP and for headers that are too large', async () => {
  const reply = await sendUntilClosed('NOT HTTP AT ALL\r\n\r\n');
  assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*"code":"BAD_REQUEST"/);
  const largeHeader = await sendUntilClosed(`GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`);
  assert.match(largeHeader, /^HTTP\/1\.1 400 [\s\S]*headers are too large/);
});

test('returns a JSON 400 for a request without a Host header', async () => {
  const reply = await sendUntilClosed('GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*X-Request-Id: [\s\S]*"code":"BAD_REQUEST"/);
});

test('answers pipelined requests in order', async () => {
  const one = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const last = 'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const reply = await sendUntilClosed(one + one + last);
  assert.deepEqual(reply.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
});

/** Opens a connection to the gateway. `received` returns the data that has arrived so far. */
function openConnection(target: TestGateway) {
  const socket = connect(target.gateway.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  return { socket, received: () => received };
}

const GET_UNKNOWN = 'GET /nope HTTP/1.1\r\nHost: x\r\n\r\n';

test('a drain first reports not ready, but still answers requests, and closes each connection after its response', async (t) => {
  const lingerMs = 50;
  const own = await startTestGateway({ opsPort: 0, drainLingerMs: lingerMs });
  const ops = { url: own.gateway.opsUrl ?? '', key: own.key };
  const clock = useFakeClock(t);
  const { socket, received } = openConnection(own);
  socket.write(GET_UNKNOWN);
  await once(socket, 'data');
  assert.doesNotMatch(received(), /Connection: close/);
  const drained = own.gateway.drain();
  assert.equal((await send(ops, { method: 'GET', path: '/readyz' })).status, 503);
  successData(await parse(own, { file: html, fileName: 'a.html' }));
  socket.write(GET_UNKNOWN);
  await once(socket, 'close');
  assert.equal(received().match(/HTTP\/1\.1 404/g)?.length, 2);
  assert.match(received(), /Connection: close/);
  await clock.advance(lingerMs);
  await drained;
  clock.restore();
  await assert.rejects(send(own, { method: 'GET', path: '/v2/parse/formats' }), 'no connection is accepted any more');
  await own.stop();
});

test('a drain finishes the running parse, rejects a new one on an open connection, and then closes', async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const own = await startTestGateway({
    opsPort: 0,
    converter: async () => {
      started.resolve();
      await release.promise;
      return { report: { metadata: {}, warnings: [] }, fields: '{}' };
    },
  });
  const ops = { url: own.gateway.opsUrl ?? '', key: own.key };
  errorBody(await send(own, { method: 'GET', path: '/livez' }), 404, 'NOT_FOUND');
  errorBody(await send({ ...ops }, { path: '/v2/parse' }), 404, 'NOT_FOUND');
  assert.equal((await send(ops, { method: 'GET', path: '/readyz' })).status, 200);
  const { socket, received } = openConnection(own);
  // The second request is incomplete, so the drain does not close this connection as idle.
  socket.write(`${GET_UNKNOWN}POST /v2/parse HTTP/1.1\r\nHost: x\r\nContent-Le`);
  await until(() => received().includes('404'));
  const running = parse(own, { file: html, fileName: 'a.html' });
  await started.promise;
  const drained = own.gateway.drain();
  assert.match(
    errorBody(await send(ops, { method: 'GET', path: '/readyz' }), 503, 'SERVICE_UNAVAILABLE').error,
    /draining/,
  );
  assert.equal((await send(ops, { method: 'GET', path: '/livez' })).status, 200);
  socket.write('ngth: 0\r\n\r\n');
  await once(socket, 'close');
  assert.match(received(), /^HTTP\/1\.1 404[\s\S]*HTTP\/1\.1 503[\s\S]*Connection: close\r\n[\s\S]*Retry-After: 1\r\n/);
  await assert.rejects(send(own, { method: 'GET', path: '/v2/parse/formats' }), 'no new connection is accepted');
  release.resolve();
  successData(await running);
  await drained;
  await own.stop();
});
