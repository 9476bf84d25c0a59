// Runs the tests of testing/contract on both buses: the memory bus, and the NATS bus with a real nats-server.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import type { Transport } from './bus.ts';
import { createMemoryTransport } from './memory.ts';
import { connectNats } from './nats.ts';
import { testContract } from './testing/contract/contract.ts';
import { type BusUnderTest, VOLATILE_BYTES } from './testing/contract/peers.ts';

async function startMemoryBus(): Promise<BusUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
  const transport = createMemoryTransport({ folder, volatileBytes: VOLATILE_BYTES });
  return {
    folder,
    connect: async () => transport,
    async close() {
      await transport.close();
      assert.deepEqual(await readdir(folder), [], 'close removes all files');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The buses of one server share their queues, so each test uses a queue of its own. */
function startNatsBus(server: NatsServer): BusUnderTest {
  const transports: Transport[] = [];
  return {
    folder: server.storeDir,
    async connect() {
      const transport = await connectNats({ url: server.url, name: 'contract-test', volatileBytes: VOLATILE_BYTES });
      transports.push(transport);
      return transport;
    },
    async close() {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

describe('the memory bus', () => testContract(startMemoryBus));

describe('the NATS bus', { skip: skipReason('nats') }, () => {
  let server: NatsServer | undefined;
  before(async () => {
    server = await startNatsServer();
  });
  after(() => server?.stop());
  testContract(async () => {
    assert.ok(server, 'the server is started');
    return startNatsBus(server);
  });
});
