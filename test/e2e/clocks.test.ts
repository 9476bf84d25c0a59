// Tests that clocks that differ between machines lose no job and refuse no request: real processes with shifted clocks over one NATS server.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, parse } from '../harness/client.ts';
import { clockOffset } from '../harness/clock-offset.ts';
import { metricValue } from '../harness/metrics.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, skipReason, startProduct } from '../harness/product.ts';

const FILE = { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv' };
const REQUESTS = 16;

describe('processes whose clocks differ', { skip: skipReason('nats') }, () => {
  let nats: NatsServer;
  let gateways: Product[] = [];

  before(async () => {
    nats = await startNatsServer();
    const join = (env: Record<string, string>) =>
      startProduct({ transport: 'nats', natsUrl: nats.url, services: ['gateway'], env, waitFor: 'live' });
    const first = await join({});
    gateways = [first, await join({ KEYS_FILE: first.keysFile, API_KEY: first.key, ...clockOffset(80) })];
  });
  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await nats?.stop();
  });

  const gateway = (index: number): Product => gateways[index % gateways.length] ?? assert.fail('no gateway');

  /** Creates a key and waits until both gateways accept it. */
  async function keyOf(...flags: string[]): Promise<string> {
    const key = await gateway(0).createKey(...flags);
    const isKnown = async (): Promise<boolean> => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${gateway(1).url}/v2/parse/formats`, { headers });
      await response.arrayBuffer();
      return response.status === 200;
    };
    while (!(await isKnown())) await new Promise((resolve) => setTimeout(resolve, 20));
    return key;
  }

  const sendToBoth = (key: string): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: REQUESTS }, (_, index) =>
        parse({ url: gateway(index).url, key }, { ...FILE, options: { timeout: 60_000 } }),
      ),
    );
  const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
  const all = (status: number): number[] => Array.from({ length: REQUESTS }, () => status);

  for (const seconds of [15, 600, -600])
    test(`parses all files if the clock of the worker is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}, with the default timeout`, async () => {
      const worker = await startProduct({
        transport: 'nats',
        natsUrl: nats.url,
        services: ['csv'],
        env: clockOffset(seconds),
      });
      try {
        const key = await keyOf('--concurrency', String(REQUESTS));
        const answers = await Promise.all(
          Array.from({ length: REQUESTS }, (_, index) => parse({ url: gateway(index).url, key }, FILE)),
        );
        assert.deepEqual(statuses(answers), all(200));
        const skew = await metricValue(worker.opsUrl, 'parsemesh_clock_skew_seconds');
        assert.ok(skew !== undefined && Math.abs(skew - seconds) < 1, `the metric says ${skew} s`);
      } finally {
        await worker.stop();
      }
    });

  test('gateways whose clocks are 80 s apart apply the limits of a key as one gateway would', async () => {
    const worker = await startProduct({ transport: 'nats', natsUrl: nats.url, services: ['csv'] });
    try {
      // The rate allows exactly this many. A gateway that is ahead must not use up the minute of the other.
      const rated = await keyOf('--rate', String(REQUESTS), '--concurrency', String(REQUESTS));
      assert.deepEqual(statuses(await sendToBoth(rated)), all(200));
      const slots = await keyOf('--concurrency', '2', '--queue', String(REQUESTS), '--credits', String(REQUESTS));
      assert.deepEqual(statuses(await sendToBoth(slots)), all(200));
    } finally {
      await worker.stop();
    }
  });
});
