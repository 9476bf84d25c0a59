// Tests that a worker is ready before any gateway runs if all services share one NATS user, and serves a gateway that starts later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, successData } from '../harness/client.ts';
import { startNatsServer } from '../harness/nats-server.ts';
import { skipReason, startProduct } from '../harness/product.ts';

test('a worker that starts first is ready and converts files', { skip: skipReason('nats') }, async () => {
  const nats = await startNatsServer();
  const worker = await startProduct({ transport: 'nats', natsUrl: nats.url, services: ['csv'] });
  const gateway = await startProduct({ transport: 'nats', natsUrl: nats.url, services: ['gateway'] });
  try {
    const answer = await parse(gateway, { file: 'Boat,Length\r\nPetrel,42\r\n', fileName: 'boats.csv' });
    assert.match(String(successData(answer).markdown), /Petrel/);
  } finally {
    await gateway.stop();
    await worker.stop();
    await nats.stop();
  }
});
