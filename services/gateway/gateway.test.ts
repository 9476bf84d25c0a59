// The HTTP edge as a client meets it: paths, methods, headers, the answer's shape, probes and the drain.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { errorBody, parse, send, sendRaw, successData } from '#test/harness/client.ts';
import { startTestGateway, type TestGateway } from './testing/harness.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startTestGateway();
});
after(() => gateway.stop());

const html = '<!doctype html><title>x</title><p>Hello';

test('a document comes back with the fields its converter made and the metadata the gateway knows', async () => {
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

test('an insane request id is replaced', async () => {
  for (const id of ['a b', 'x'.repeat(129), 'a<script>']) {
    const answer = await send(gateway, { method: 'GET', path: '/livez', headers: { 'x-request-id': id } });
    assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  }
});

test('everything unknown is a JSON 404, whatever the method', async () => {
  for (const [method, path] of [
    ['GET', '/'],
    ['POST', '/v2/scrape'],
    ['DELETE', '/v2/parse/x'],
    ['GET', '/V2/parse'],
    ['GET', '/docs/../../etc/passwd'],
  ] as const)
    errorBody(await send(gateway, { method, path }), 404, 'NOT_FOUND');
  errorBody(await send(gateway, { method: 'GET', path: '/%E0%A4%A' }), 404, 'NOT_FOUND');
});

test('a known path refuses other methods and names its own', async () => {
  const wrong = await send(gateway, { method: 'GET', path: '/v2/parse' });
  errorBody(wrong, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(wrong.headers.allow, 'POST');
  assert.equal((await send(gateway, { method: 'DELETE', path: '/livez' })).headers.allow, 'GET, HEAD');
});

test('keys: missing, malformed and unknown are the same 401', async () => {
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

test('the formats are listed for key holders', async () => {
  errorBody(await send(gateway, { method: 'GET', path: '/v2/parse/formats', key: null }), 401);
  const answer = await send(gateway, { method: 'GET', path: '/v2/parse/formats' });
  const { data } = answer.body as {
    data: {
      formats: { format: string; kind: string; extensions: string[]; mimeTypes: string[]; available: boolean }[];
    };
  };
  assert.deepEqual(data.formats.find((one) => one.format === 'html')?.extensions, ['.html', '.htm']);
  assert.equal(data.formats.flatMap((one) => one.extensions).length, 20);
  assert.ok(data.formats.every((one) => one.kind === 'document' && one.available && one.mimeTypes.length > 0));
});

test('probes, metrics and the interface are served', async () => {
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
    assert.ok(path?.startsWith('/docs/'), `${path} is ours`);
    assert.equal((await send(gateway, { method: 'GET', path, key: null })).status, 200, path);
  }
});

test('what is not HTTP gets a JSON 400 and the connection ends', async () => {
  const reply = await sendRaw(gateway, 'NOT HTTP AT ALL\r\n\r\n');
  assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*"code":"BAD_REQUEST"/);
  const flood = await sendRaw(gateway, `GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`);
  assert.match(flood, /^HTTP\/1\.1 400 [\s\S]*headers are too large/);
});

test('a request without a Host is refused in the shape of every error', async () => {
  const reply = await sendRaw(gateway, 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.match(reply, /^HTTP\/1\.1 400 [\s\S]*X-Request-Id: [\s\S]*"code":"BAD_REQUEST"/);
});

test('pipelined requests are answered in order', async () => {
  const one = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  const last = 'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const reply = await sendRaw(gateway, one + one + last);
  assert.deepEqual(reply.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
});

test('a drain that lingers is not ready, and answers what comes, each time the last of its connection', async () => {
  const own = await startTestGateway({ opsPort: 0, drainLingerMs: 2_000 });
  const ops = { url: own.gateway.opsUrl ?? '', key: own.key };
  const held = connect(own.gateway.port, '127.0.0.1');
  let reply = '';
  held.on('data', (chunk) => {
    reply += chunk;
  });
  held.write('GET /nope HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(held, 'data');
  assert.doesNotMatch(reply, /Connection: close/);
  const drained = own.gateway.drain();
  assert.equal((await send(ops, { method: 'GET', path: '/readyz' })).status, 503);
  successData(await parse(own, { file: html, fileName: 'a.html' }));
  held.write('GET /nope HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(held, 'close');
  assert.equal(reply.match(/HTTP\/1\.1 404/g)?.length, 2);
  assert.match(reply, /Connection: close/);
  await drained;
  await assert.rejects(send(own, { method: 'GET', path: '/v2/parse/formats' }), 'no connection is taken any more');
  await own.stop();
});

test('a drain finishes what runs, refuses what comes and then closes', async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const own = await startTestGateway({
    opsPort: 0,
    converter: async () => {
      started.resolve();
      await release.promise;
      return { head: { metadata: {}, warnings: [] }, fields: '{}' };
    },
  });
  const ops = { url: own.gateway.opsUrl ?? '', key: own.key };
  errorBody(await send(own, { method: 'GET', path: '/livez' }), 404, 'NOT_FOUND');
  errorBody(await send({ ...ops }, { path: '/v2/parse' }), 404, 'NOT_FOUND');
  assert.equal((await send(ops, { method: 'GET', path: '/readyz' })).status, 200);
  // A connection that is open already is answered still, and told to go.
  const agent = connect(own.gateway.port, '127.0.0.1');
  let reply = '';
  agent.on('data', (chunk) => {
    reply += chunk;
  });
  agent.write('GET /nope HTTP/1.1\r\nHost: x\r\n\r\nPOST /v2/parse HTTP/1.1\r\nHost: x\r\nContent-Le');
  const running = parse(own, { file: html, fileName: 'a.html' });
  await started.promise;
  const drained = own.gateway.drain();
  assert.match(
    errorBody(await send(ops, { method: 'GET', path: '/readyz' }), 503, 'SERVICE_UNAVAILABLE').error,
    /draining/,
  );
  assert.equal((await send(ops, { method: 'GET', path: '/livez' })).status, 200);
  agent.write('ngth: 0\r\n\r\n');
  await once(agent, 'close');
  assert.match(reply, /^HTTP\/1\.1 404[\s\S]*HTTP\/1\.1 503[\s\S]*Connection: close\r\nRetry-After: 1\r\n/);
  await assert.rejects(send(own, { method: 'GET', path: '/v2/parse/formats' }), 'no new connection is taken');
  release.resolve();
  successData(await running);
  await drained;
  await own.stop();
});
