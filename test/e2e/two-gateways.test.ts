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
  let work = () => Promise.resolve();

  before(async () => {
    nats = await startNatsServer();
    // A converter of the suite's own counts what the limits let through, at the place that they are to protect.
    worker = await connectNats({ url: nats.url, name: 'counting-worker' });
    await worker.bus.serve('csv', {
      concurrency: REQUESTS,
      handler: async () => {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await work();
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
