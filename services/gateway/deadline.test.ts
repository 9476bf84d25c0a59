// Tests that a request is answered at its timeout if the bus does not respond, and that its credit and slot are settled later.
import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import type { SharedState } from '#shared/bus/bus.ts';
import { uploadedBytes } from '#shared/runtime/metrics.ts';
import { type Answer, errorBody, parse, successData } from '#test/harness/client.ts';
import { readKeyFile } from './auth/key-file.ts';
import { hashToken } from './auth/keys.ts';
import { claimsKey } from './limits/team-claims.ts';
import { resultOf, until, useFakeClock } from './testing/clock.ts';
import { type Converter, echo, startTestGateway, type TestGateway } from './testing/harness.ts';

const FILE = { file: '<p>Hello', fileName: 'a.html' };
const TIMEOUT = 5_000;
/** Milliseconds after the timeout by which the response must be sent. */
const GRACE = 250;
/** Longer than the gateway waits for the plan check before it reads the body. */
const BODY_WAIT = 1_000;

let gateway: TestGateway;
let converter: Converter = echo;
let key = '';
/** Selects the keys of the shared state whose operations wait until `unblock` resolves. */
let stateBlocked: (name: string) => boolean = () => false;
let payloadsBlocked = false;
let unblock = Promise.withResolvers<void>();
/** Number of calls that have waited for `unblock`. */
let blockedCalls = 0;

const waitForUnblock = (): Promise<void> => {
  blockedCalls++;
  return unblock.promise;
};

before(async () => {
  gateway = await startTestGateway({ converter: (...args) => converter(...args) });
  key = await gateway.makeKey({ credits: 100, concurrency: 5, queue: 5 });
  const { state, payloads } = gateway.transport;
  const { get, update } = state;
  state.get = async (name) => {
    if (stateBlocked(name)) await waitForUnblock();
    return get.call(state, name);
  };
  const blockableUpdate: SharedState['update'] = async (name, change, options) => {
    if (stateBlocked(name)) await waitForUnblock();
    return update.call(state, name, change, options) as Promise<ReturnType<typeof change>['result']>;
  };
  state.update = blockableUpdate;
  const read = payloads.get;
  payloads.get = async (ref) => {
    if (payloadsBlocked) await waitForUnblock();
    return read.call(payloads, ref);
  };
});
after(() => gateway.stop());
beforeEach(() => {
  stateBlocked = () => false;
  payloadsBlocked = false;
  converter = echo;
  unblock = Promise.withResolvers();
  blockedCalls = 0;
});

const parseFile = (): Promise<Answer> => parse({ url: gateway.url, key }, { ...FILE, options: { timeout: TIMEOUT } });

/** Sends a request and returns its response, which must not come before the timeout and must come shortly after it. */
async function parseUntilTimeout(t: TestContext, { blocksPlanCheck = false } = {}): Promise<Answer> {
  const clock = useFakeClock(t);
  const uploadedBefore = await totalUploaded();
  let answered = false;
  const answer = parseFile().finally(() => {
    answered = true;
  });
  await until(() => blockedCalls > 0);
  let left = TIMEOUT;
  if (blocksPlanCheck) {
    await clock.advance(BODY_WAIT);
    await until(async () => (await totalUploaded()) > uploadedBefore);
    left -= BODY_WAIT;
  }
  await clock.advance(left - 1);
  assert.equal(answered, false, 'answered before the timeout');
  await clock.advance(1 + GRACE);
  return resultOf(answer, 'the response is sent');
}

async function totalUploaded(): Promise<number> {
  const { values } = await uploadedBytes.get();
  return values[0]?.value ?? 0;
}

interface Account {
  used: number;
  holds: object;
}

async function readAccount(): Promise<Account> {
  const { id } = await storedKey();
  return ((await gateway.transport.state.get(`credits.${id}`)) ?? { used: 0, holds: {} }) as Account;
}

async function storedKey(): Promise<{ id: string; team: string }> {
  const keys = (await readKeyFile(gateway.keysFile)) ?? [];
  return keys.find((stored) => stored.sha256 === hashToken(key)) ?? assert.fail('the key is not in its file');
}

/** Unblocks the bus and waits until no credit and no slot is held. @returns the total of the charged credits */
async function settledCredits(): Promise<number> {
  stateBlocked = () => false;
  payloadsBlocked = false;
  unblock.resolve();
  const { team } = await storedKey();
  await until(async () => {
    const { holds } = await readAccount();
    const claims = await gateway.transport.state.get(claimsKey(team));
    return Object.keys(holds).length === 0 && claims === undefined;
  }, 'no credit and no slot is held');
  return (await readAccount()).used;
}

for (const part of ['credits', 'rate', 'claims'])
  test(`returns 503 at the timeout if the ${part} of the key cannot be read, and charges no credit and keeps no slot`, async (t) => {
    const { used } = await readAccount();
    stateBlocked = (name) => name.startsWith(`${part}.`);
    errorBody(await parseUntilTimeout(t, { blocksPlanCheck: true }), 503, 'SERVICE_UNAVAILABLE');
    assert.equal(await settledCredits(), used);
    successData(await parseFile());
  });

test('returns 503 at the timeout if the claim of a slot does not finish, and releases the claim when it finishes later', async (t) => {
  let accesses = 0;
  // The plan check reads the claims once. The next access is the claim of a slot.
  stateBlocked = (name) => name.startsWith('claims.') && ++accesses > 1;
  errorBody(await parseUntilTimeout(t), 503, 'SERVICE_UNAVAILABLE');
  await settledCredits();
});

test('returns 200 at the timeout if the charge has not finished, and charges exactly once afterwards', async (t) => {
  const { used } = await readAccount();
  converter = (...args) => {
    stateBlocked = (name) => name.startsWith('credits.');
    return echo(...args);
  };
  const data = successData(await parseUntilTimeout(t));
  assert.equal(data.metadata.creditsUsed, 1);
  assert.equal(await settledCredits(), used + 1);
});

test('returns 503 at the timeout if the result cannot be read from the store', async (t) => {
  converter = (job) => {
    payloadsBlocked = true;
    const fields = JSON.stringify({ markdown: 'x'.repeat(600_000) });
    return { report: { metadata: {}, warnings: [] }, fields: job.kind === 'convert' ? fields : '{}' };
  };
  errorBody(await parseUntilTimeout(t), 503, 'SERVICE_UNAVAILABLE');
  await settledCredits();
});
