// A bus that stops answering in the middle: the request is answered at its own timeout all the same, and what it held is put back or charged when the bus is there again.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { SharedState } from '#shared/bus/bus.ts';
import { type Answer, errorBody, parse, successData } from '#test/harness/client.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from './testing/harness.ts';

const FILE = { file: '<p>Hello', fileName: 'a.html' };
const TIMEOUT = 400;
/** What a loaded machine may need on top; every wait that this suite is about was 3 or 5 seconds long. */
const SLACK = 1_500;

let gateway: TestGateway;
let converter: Converter = echo;
let key = '';
/** Keys of the shared state that get no answer until the gate opens. */
let stuck: (name: string) => boolean = () => false;
let payloadsStuck = false;
let gate = Promise.withResolvers<void>();

before(async () => {
  gateway = await startTestGateway({ converter: (...args) => converter(...args) });
  key = await gateway.makeKey({ credits: 100, concurrency: 5, queue: 5 });
  const { state, payloads } = gateway.transport;
  const { get, update } = state;
  const wait = (name: string): Promise<void> => (stuck(name) ? gate.promise : Promise.resolve());
  state.get = async (name) => {
    await wait(name);
    return get.call(state, name);
  };
  const held: SharedState['update'] = async (name, change, options) => {
    await wait(name);
    return update.call(state, name, change, options) as Promise<ReturnType<typeof change>['result']>;
  };
  state.update = held;
  const read = payloads.get;
  payloads.get = async (ref) => {
    if (payloadsStuck) await gate.promise;
    return read.call(payloads, ref);
  };
});
after(() => gateway.stop());
beforeEach(() => {
  stuck = () => false;
  payloadsStuck = false;
  converter = echo;
  gate = Promise.withResolvers();
});

async function timed(options: Parameters<typeof parse>[1]): Promise<Answer> {
  const started = performance.now();
  const answer = await parse({ url: gateway.url, key }, options);
  const elapsed = performance.now() - started;
  assert.ok(elapsed < TIMEOUT + SLACK, `answered after ${Math.round(elapsed)} ms`);
  return answer;
}

/** Opens the gate and waits until nothing of a request is held any more. */
async function settled(): Promise<{ used: number }> {
  stuck = () => false;
  payloadsStuck = false;
  gate.resolve();
  const { state } = gateway.transport;
  for (let look = 0; look < 200; look++) {
    const account = ((await accountOf(state)) ?? { used: 0, holds: {} }) as { used: number; holds: object };
    const claims = await state.get(`claims.${Buffer.from(await teamOf()).toString('hex')}`);
    if (Object.keys(account.holds).length === 0 && claims === undefined) return account;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail('something is still held');
}

async function keyFile(): Promise<{ id: string; team: string }> {
  const { readKeyFile } = await import('./auth/key-file.ts');
  const { hashToken } = await import('./auth/keys.ts');
  const keys = (await readKeyFile(gateway.keysFile)) ?? [];
  return keys.find((one) => one.sha256 === hashToken(key)) ?? assert.fail('the key is not in its file');
}
const teamOf = async (): Promise<string> => (await keyFile()).team;
const accountOf = async (state: SharedState): Promise<unknown> => state.get(`credits.${(await keyFile()).id}`);

for (const part of ['credits', 'rate', 'claims'])
  test(`the ${part} of a key are not to be had: 408 at the timeout, and nothing stays held or is charged`, async () => {
    stuck = (name) => name.startsWith(`${part}.`);
    const before = part === 'credits' ? undefined : await accountOf(gateway.transport.state);
    const answer = await timed({ ...FILE, options: { timeout: TIMEOUT } });
    errorBody(answer, 408, 'REQUEST_TIMEOUT');
    const { used } = await settled();
    assert.equal(used, (before as { used: number } | undefined)?.used ?? 0);
    successData(await timed({ ...FILE, options: { timeout: TIMEOUT } }));
  });

test('a place cannot be claimed after the checks were passed: 408 at the timeout, and the late claim is given up', async () => {
  let looks = 0;
  // The check before the body reads the claims once; the claim itself is what gets stuck.
  stuck = (name) => name.startsWith('claims.') && ++looks > 1;
  errorBody(await timed({ ...FILE, options: { timeout: TIMEOUT } }), 408, 'REQUEST_TIMEOUT');
  await settled();
});

test('a charge that hangs does not hold the answer back, and is made once behind it', async () => {
  const { used: before } = await settled();
  gate = Promise.withResolvers();
  converter = (...args) => {
    stuck = (name) => name.startsWith('credits.');
    return echo(...args);
  };
  const data = successData(await timed({ ...FILE, options: { timeout: TIMEOUT } }));
  assert.equal(data.metadata.creditsUsed, 1);
  assert.equal((await settled()).used, before + 1);
});

test('a result that cannot be fetched: 408 at the timeout', async () => {
  converter = (job) => {
    payloadsStuck = true;
    const fields = JSON.stringify({ markdown: 'x'.repeat(600_000) });
    return { head: { metadata: {}, warnings: [] }, fields: job.kind === 'convert' ? fields : '{}' };
  };
  errorBody(await timed({ ...FILE, options: { timeout: TIMEOUT } }), 408, 'REQUEST_TIMEOUT');
  await settled();
});
