// Tests that two gateways on one bus enforce the limits of a team together, as one gateway would.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Transport } from '#shared/bus/bus.ts';
import { connectNats } from '#shared/bus/nats.ts';
import { type Answer, errorBody, LONGEST_TIMEOUT_MS, parse } from '../harness/client.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';

const REQUESTS = 200;
const FILE = { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv' };

describe('two gateways and one team', { skip: skipReason('nats') }, () => {
  let nats: NatsServer;
  let gateways: Product[] = [];
  let worker: Transport;
  /** Documents that are being converted now, and the largest number so far. `work` ends one conversion. */
  const running = { now: 0, most: 0 };
  let work: (job: { fileName: string; signal: AbortSignal }) => Promise<void> = () => Promise.resolve();

  before(async () => {
    nats = await startNatsServer();
    // This converter replaces the csv service, so that it can count how many documents run at the same time.
    worker = await connectNats({ url: nats.url, name: 'counting-worker' });
    await worker.bus.serve('csv', {
      concurrency: REQUESTS,
      handler: async ({ message, signal }) => {
        const { job } = message.header as { job: { fileName: string } };
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await work({ fileName: job.fileName, signal });
        running.now -= 1;
        const reply = { metadata: {}, warnings: [] };
        return { header: { outcome: { ok: true, reply } }, body: Buffer.from('{"markdown":"Petrel"}') };
      },
    });
    const join = (env: Record<string, string>) =>
      startProduct({ transport: 'nats', natsUrl: nats.url, services: ['gateway'], env });
    const first = await join({});
    gateways = [first, await join({ KEYS_FILE: first.keysFile, API_KEY: first.key })];
  });
  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await worker?.close();
    await nats?.stop();
  });

  /** Creates a key and waits until both gateways accept it. */
  async function keyOf(...flags: string[]): Promise<string> {
    const [first, second] = gateways;
    assert.ok(first && second);
    const key = await first.createKey(...flags);
    const isKnown = async () => {
      const response = await fetch(`${second.url}/v2/parse/formats`, { headers: { authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
      return response.status === 200;
    };
    while (!(await isKnown())) await pause(20);
    running.most = 0;
    return key;
  }

  const sendToBoth = (key: string, each: (answer: Answer) => void = () => undefined): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: REQUESTS }, async (_, index) => {
        const gateway = gateways[index % 2];
        assert.ok(gateway);
        const answer = await parse({ url: gateway.url, key }, FILE);
        each(answer);
        return answer;
      }),
    );
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const count = (answers: readonly Answer[], status: number) => answers.filter((one) => one.status === status).length;

  test('the rate limit admits at most one request too many', async () => {
    const perMinute = 60;
    const key = await keyOf('--rate', String(perMinute), '--concurrency', String(REQUESTS));
    const start = Date.now();
    const answers = await sendToBoth(key);
    const refilled = ((Date.now() - start) / 60_000) * perMinute;
    const admitted = count(answers, 200);
    assert.ok(admitted >= perMinute && admitted <= perMinute + refilled + 1, `admitted ${admitted}, not ${perMinute}`);
    for (const answer of answers)
      if (answer.status !== 200) {
        errorBody(answer, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(answer.headers['retry-after']) >= 1);
      }
  });

  test('exactly as many documents run as the concurrency allows, and the waiting ones are served', async () => {
    const full = Promise.withResolvers<void>();
    // No document ends before all slots are in use, so that a slow machine uses all of them too.
    work = async () => {
      if (running.now === 7) full.resolve();
      await full.promise;
      await pause(50);
    };
    const answers = await sendToBoth(await keyOf('--concurrency', '7', '--queue', String(REQUESTS)));
    assert.equal(count(answers, 200), REQUESTS);
    assert.equal(running.most, 7);
  });

  /** The team's claims in the shared state: `held` slots and `waiting` requests. */
  const claimsOf = async (team: string): Promise<{ held: unknown[]; waiting: unknown[] }> => {
    const claims = await worker.state.get(`claims.${Buffer.from(team).toString('hex')}`);
    return (claims ?? { held: [], waiting: [] }) as { held: unknown[]; waiting: unknown[] };
  };

  test('serves waiting requests in the order of their arrival at both gateways', async () => {
    const key = await keyOf('--team', 'in-order', '--concurrency', '1', '--queue', '20');
    const started: string[] = [];
    const steps: (() => void)[] = [];
    work = async ({ fileName }) => {
      started.push(fileName);
      await new Promise<void>((resolve) => steps.push(resolve));
    };
    const sent: Promise<Answer>[] = [];
    const names = Array.from({ length: 12 }, (_, index) => `boats-${index}.csv`);
    for (const [index, fileName] of names.entries()) {
      // Two requests to one gateway for each request to the other: gateways that take turns would change the order.
      const gateway = gateways[index % 3 === 0 ? 1 : 0];
      assert.ok(gateway);
      sent.push(parse({ url: gateway.url, key }, { ...FILE, fileName }));
      for (;;) {
        const { held, waiting } = await claimsOf('in-order');
        if (held.length + waiting.length === index + 1) break;
        await pause(10);
      }
    }
    const answers = Promise.all(sent);
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    answers.then(end, end);
    while (!isDone) {
      steps.shift()?.();
      await pause(10);
    }
    assert.equal(count(await answers, 200), names.length);
    assert.deepEqual(started, names);
    assert.equal(running.most, 1);
  });

  const retryAfter = (answer: Answer, code: string): number => {
    errorBody(answer, 429, code);
    const seconds = Number(answer.headers['retry-after']);
    assert.ok(Number.isInteger(seconds) && seconds >= 1, `Retry-After: ${answer.headers['retry-after']}`);
    return seconds;
  };
  const sendTo = (gateway: number, key: string, timeout = LONGEST_TIMEOUT_MS): Promise<Answer> =>
    parse({ url: gateways[gateway]?.url ?? '', key }, { ...FILE, options: { timeout } });

  test('admits a client that waits for the Retry-After of the rate limit', async () => {
    work = () => Promise.resolve();
    const key = await keyOf('--rate', '20', '--concurrency', '50');
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => sendTo(index % 2, key)));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0, 'more requests were sent than the rate allows');
    const seconds = Math.max(...refused.map((answer) => retryAfter(answer, 'RATE_LIMIT_EXCEEDED')));
    assert.ok(seconds <= 3, 'at 20 requests per minute, the next one is allowed after 3 s');
    await pause(seconds * 1_000);
    assert.equal((await sendTo(0, key)).status, 200);
  });

  test('admits a client that waits for the Retry-After of a full queue and of a wait that timed out', async () => {
    const [slotTimeout, queueTimeout] = [12_000, 6_000];
    const key = await keyOf('--team', 'retry', '--concurrency', '1', '--queue', '1');
    let hangs = true;
    work = async ({ signal }) => {
      if (!hangs) return;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    };
    // The slot becomes free as late as possible: at the timeout of the request that has it.
    const first = sendTo(0, key, slotTimeout);
    while ((await claimsOf('retry')).held.length < 1) await pause(10);
    const waiting = sendTo(1, key, queueTimeout);
    while ((await claimsOf('retry')).waiting.length < 1) await pause(10);
    const untilQueue = retryAfter(await sendTo(0, key), 'CONCURRENCY_LIMIT_REACHED');
    assert.ok(untilQueue * 1_000 <= queueTimeout, `the queue has room before ${untilQueue} s`);
    const untilSlot = retryAfter(await waiting, 'CONCURRENCY_LIMIT_REACHED');
    assert.ok(untilSlot * 1_000 <= slotTimeout, `the slot is free before ${untilSlot} s`);
    await pause(untilSlot * 1_000);
    hangs = false;
    assert.equal((await sendTo(1, key, queueTimeout)).status, 200);
    errorBody(await first, 408, 'REQUEST_TIMEOUT');
  });

  test('the queue holds exactly as many requests as it allows', async () => {
    const blocked = Promise.withResolvers<void>();
    work = () => blocked.promise;
    let refused = 0;
    const answers = await sendToBoth(await keyOf('--concurrency', '7', '--queue', '20'), (answer) => {
      refused += Number(answer.status === 429);
      // All others have a slot or wait in the queue.
      if (refused === REQUESTS - 27) blocked.resolve();
    });
    assert.deepEqual([count(answers, 200), count(answers, 429)], [27, REQUESTS - 27]);
    assert.equal(running.most, 7);
    for (const answer of answers) if (answer.status === 429) errorBody(answer, 429, 'CONCURRENCY_LIMIT_REACHED');
  });
});
