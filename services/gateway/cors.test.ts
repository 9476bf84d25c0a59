// Tests which origins may call the API from a browser, for each kind of CORS_ORIGINS.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { send } from '#test/harness/client.ts';
import { startTestGateway, type TestGateway } from './testing/harness.ts';

const APP = 'https://app.example.com';

async function start(t: TestContext, corsOrigins: readonly string[]): Promise<TestGateway> {
  const gateway = await startTestGateway({ corsOrigins });
  t.after(() => gateway.stop());
  return gateway;
}

const preflight = (gateway: TestGateway, origin: string, path = '/v2/parse') =>
  send(gateway, {
    method: 'OPTIONS',
    path,
    key: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, x-request-id',
    },
  });
const list = (gateway: TestGateway, origin: string, path = '/v2/parse/formats') =>
  send(gateway, { method: 'GET', path, headers: { origin } });
const allowed = (answer: { headers: Record<string, unknown> }) => answer.headers['access-control-allow-origin'];

test('a list allows its origins only, and caches are told that the response depends on the origin', async (t) => {
  const gateway = await start(t, [APP, 'http://localhost:3000']);
  for (const origin of [APP, 'http://localhost:3000']) {
    assert.equal(allowed(await preflight(gateway, origin)), origin);
    const answer = await list(gateway, origin);
    assert.equal(allowed(answer), origin);
    assert.match(String(answer.headers.vary), /Origin/);
  }
  for (const origin of [
    'https://evil.example',
    'https://app.example.com.evil.example',
    'null',
    'http://app.example.com',
  ]) {
    assert.equal(allowed(await preflight(gateway, origin)), undefined, origin);
    const answer = await list(gateway, origin);
    assert.equal(answer.status, 200, 'the browser, not the server, keeps the response from the script');
    assert.equal(allowed(answer), undefined, origin);
    assert.match(String(answer.headers.vary), /Origin/);
  }
});

test('an empty list turns CORS off', async (t) => {
  const gateway = await start(t, []);
  assert.equal((await preflight(gateway, APP)).status, 405);
  const answer = await list(gateway, APP);
  assert.equal(allowed(answer), undefined);
  assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
});

test('paths outside of /v2 have no CORS headers, and no response allows credentials', async (t) => {
  const gateway = await start(t, ['*']);
  for (const path of ['/metrics', '/livez', '/docs', '/v2x']) {
    const answer = await list(gateway, APP, path);
    assert.equal(allowed(answer), undefined, path);
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin');
  }
  for (const answer of [await preflight(gateway, APP), await list(gateway, APP)]) {
    assert.equal(allowed(answer), '*');
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
  }
});
