// Two gateways on one bus hold a team to its plan as one would, however many requests are thrown at both.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Transport } from '#shared/bus/bus.ts';
import { connectNats } from '#shared/bus/nats.ts';
import { type Answer, errorBody, parse } from '../harness/client.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';

const REQUESTS = 200;
const FILE = { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv', options: { timeout: 30_000 } };

describe('two gateways, one team', { skip: skipReason('nats') }, () => {
  let nats: NatsServer;
  let gateways: Product[] = [];
  let worker: Transport;
  /** Documents at work at this moment, and the most that ever were; `work` says how long one takes. */
  const running = { now: 0, most: 0 };
  let work: (job: { fileName: string; signal: AbortSignal }) => Promise<void> = () => Promise.resolve();

  before(async () => {
    nats = await startNatsServer();
    // A converter of the suite's own counts what the limits let through, at the place that they are to protect.
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

  /** Makes a key that both gateways know. */
  async function keyOf(...flags: string[]): Promise<string> {
    const [first, second] = gateways;
    assert.ok(first && second);
    const key = await first.createKey(...flags);
    const known = async () => {
      const response = await fetch(`${second.url}/v2/parse/formats`, { headers: { authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
      return response.status === 200;
    };
    while (!(await known())) await new Promise((resolve) => setTimeout(resolve, 20));
    running.most = 0;
    return key;
  }

  const throwAtBoth = (key: string, each: (answer: Answer) => void = () => undefined): Promise<Answer[]> =>
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

  test('the rate holds within one request', async () => {
    const perMinute = 60;
    const key = await keyOf('--rate', String(perMinute), '--concurrency', String(REQUESTS));
    const start = Date.now();
    const answers = await throwAtBoth(key);
    const refilled = ((Date.now() - start) / 60_000) * perMinute;
    const admitted = count(answers, 200);
    assert.ok(admitted >= perMinute && admitted <= perMinute + refilled + 1, `${admitted} of ${perMinute} were let in`);
    for (const answer of answers)
      if (answer.status !== 200) {
        errorBody(answer, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(answer.headers['retry-after']) >= 1);
      }
  });

  test('the concurrency holds exactly, and who waits in the queue is served', async () => {
    const full = Promise.withResolvers<void>();
    // The first wait for each other, so that a slow machine fills the places too.
    work = async () => {
      if (running.now === 7) full.resolve();
      await full.promise;
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const answers = await throwAtBoth(await keyOf('--concurrency', '7', '--queue', String(REQUESTS)));
    assert.equal(count(answers, 200), REQUESTS);
    assert.equal(running.most, 7);
  });

  /** The team's claims as both gateways share them. */
  const claimsOf = async (team: string): Promise<{ held: unknown[]; waiting: unknown[] }> => {
    const claims = await worker.state.get(`claims.${Buffer.from(team).toString('hex')}`);
    return (claims ?? { held: [], waiting: [] }) as { held: unknown[]; waiting: unknown[] };
  };

  test('who waits is served in the order of arrival, whichever gateway was asked', async () => {
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
      // Two to the one, one to the other, so that turns between them would show.
      const gateway = gateways[index % 3 === 0 ? 1 : 0];
      assert.ok(gateway);
      sent.push(parse({ url: gateway.url, key }, { ...FILE, fileName, options: { timeout: 120_000 } }));
      for (;;) {
        const { held, waiting } = await claimsOf('in-order');
        if (held.length + waiting.length === index + 1) break;
        await pause(10);
      }
    }
    const answers = Promise.all(sent);
    let done = 0;
    void answers.then(() => (done = names.length));
    while (done < names.length) {
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
  const ask = (key: string, gateway: number, timeout: number): Promise<Answer> =>
    parse({ url: gateways[gateway]?.url ?? '', key }, { ...FILE, options: { timeout } });

  test('who waits as long as Retry-After says is let in: the rate', async () => {
    work = () => Promise.resolve();
    const key = await keyOf('--rate', '20', '--concurrency', '50');
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(key, index % 2, 30_000)));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 8, `${refused.length} were refused`);
    const seconds = Math.max(...refused.map((answer) => retryAfter(answer, 'RATE_LIMIT_EXCEEDED')));
    assert.ok(seconds <= 3, 'the next of 20 a minute comes in 3 s');
    await pause(seconds * 1_000);
    assert.equal((await ask(key, 0, 30_000)).status, 200);
  });

  test('who waits as long as Retry-After says is let in: the places, with a full queue and after a wait in vain', async () => {
    const key = await keyOf('--team', 'retry', '--concurrency', '1', '--queue', '1');
    let hangs = true;
    work = async ({ signal }) => {
      if (!hangs) return;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    };
    // The longest case: what holds the place ends at its timeout only.
    const holder = ask(key, 0, 4_000);
    while ((await claimsOf('retry')).held.length < 1) await pause(10);
    const inVain = ask(key, 1, 1_500);
    while ((await claimsOf('retry')).waiting.length < 1) await pause(10);
    const overfull = await ask(key, 0, 30_000);
    const forQueue = retryAfter(overfull, 'CONCURRENCY_LIMIT_REACHED');
    assert.ok(forQueue <= 2, `one leaves the queue within 1.5 s, and it said ${forQueue}`);
    const forPlace = retryAfter(await inVain, 'CONCURRENCY_LIMIT_REACHED');
    assert.ok(forPlace <= 4, `the place is free within 4 s, and it said ${forPlace}`);
    await pause(forPlace * 1_000);
    hangs = false;
    assert.equal((await ask(key, 1, 1_000)).status, 200);
    errorBody(await holder, 408, 'REQUEST_TIMEOUT');
  });

  test('the queue holds exactly: what finds it full is refused, and nothing else', async () => {
    const held = Promise.withResolvers<void>();
    work = () => held.promise;
    let refused = 0;
    const all = throwAtBoth(await keyOf('--concurrency', '7', '--queue', '20'), (answer) => {
      refused += Number(answer.status === 429);
      // Those who are left can only be waiting for the work that ends now.
      if (refused === REQUESTS - 27) held.resolve();
    });
    const answers = await all;
    assert.deepEqual([count(answers, 200), count(answers, 429)], [27, REQUESTS - 27]);
    assert.equal(running.most, 7);
    for (const answer of answers) if (answer.status === 429) errorBody(answer, 429, 'CONCURRENCY_LIMIT_REACHED');
  });
});
