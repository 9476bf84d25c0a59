// Contract: the payload store returns the stored bytes, limits volatile payloads, and removes deleted and failed payloads.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type PayloadRef, StoreFullError } from '../../bus.ts';
import { createGate, job, lateDeadline, newQueue, until } from '../jobs.ts';
import { filesContaining, inChunks, MiB, readAll } from '../payloads.ts';
import { type Peers, serveOnWorker } from './peers.ts';

export function testPayloads(peers: () => Peers): void {
  for (const volatile of [false, true])
    for (const size of [0, 1, 5 * MiB, 20 * MiB])
      it(`returns a ${volatile ? 'volatile' : 'durable'} payload of ${size} bytes unchanged until it is deleted`, async () => {
        const { requester, worker } = peers();
        const bytes = randomBytes(size);
        const ref = await requester.payloads.put(inChunks(bytes), { volatile });
        assert.equal(ref.size, size);
        assert.equal(ref.volatile, volatile);
        // A message carries the reference as JSON.
        const received = JSON.parse(JSON.stringify(ref)) as PayloadRef;
        for (const _read of [1, 2])
          assert.equal(Buffer.compare(await readAll(await worker.payloads.get(received)), bytes), 0);
        await worker.payloads.delete(received);
        await requester.payloads.delete(ref);
        await assert.rejects(worker.payloads.get(received), { name: 'PayloadMissingError' });
      });

  it('stores a payload that its source yields as one large chunk', async () => {
    const { requester, worker } = peers();
    const bytes = randomBytes(3 * MiB + 1);
    const ref = await requester.payloads.put(inChunks(bytes, bytes.length), { volatile: false });
    assert.equal(Buffer.compare(await readAll(await worker.payloads.get(ref)), bytes), 0);
    await requester.payloads.delete(ref);
  });

  it('allows a reader to stop before the end of the payload', async () => {
    const { requester, worker } = peers();
    const ref = await requester.payloads.put(inChunks(randomBytes(3 * MiB)), { volatile: false });
    for await (const chunk of await worker.payloads.get(ref)) {
      assert.ok(chunk.length > 0);
      break;
    }
    await requester.payloads.delete(ref);
  });

  it('rejects with the error of a failing source and deletes the chunks that are already stored', async () => {
    const { bus, requester } = peers();
    const marker = randomBytes(32);
    const failure = new Error('the upload stalled');
    async function* failing(): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 24; part++) yield Buffer.concat([marker, randomBytes(128 * 1024)]);
      throw failure;
    }
    for (const volatile of [false, true])
      await assert.rejects(requester.payloads.put(failing(), { volatile }), (error) => error === failure);
    await until(async () => (await filesContaining(bus.folder, marker)).length === 0, 'no file contains the chunks');
  });

  it('rejects volatile payloads with StoreFullError above the limit, until others are deleted', async () => {
    const { payloads } = await peers().bus.connect();
    const put = (size: number) => payloads.put(inChunks(randomBytes(size)), { volatile: true });
    const stored = [await put(10 * MiB), await put(10 * MiB)];
    for (let round = 0; round < 3; round++) await assert.rejects(put(8 * MiB), StoreFullError);
    // A rejected payload uses no space, and durable payloads do not count.
    stored.push(await put(3 * MiB));
    const durable = await payloads.put(inChunks(randomBytes(8 * MiB)), { volatile: false });
    for (const ref of [...stored, durable]) assert.equal((await readAll(await payloads.get(ref))).length, ref.size);
    const [first, ...rest] = stored;
    assert.ok(first);
    // Deleting twice must not free the space twice.
    await payloads.delete(first);
    await payloads.delete(first);
    rest.push(await put(8 * MiB));
    await assert.rejects(put(8 * MiB), StoreFullError);
    for (const ref of [...rest, durable]) await payloads.delete(ref);
  });

  it('rejects with PayloadMissingError for a payload that was never stored', async () => {
    await assert.rejects(peers().requester.payloads.get({ id: 'no.such', size: 1, volatile: false }), {
      name: 'PayloadMissingError',
    });
  });

  it('writes no byte of a volatile payload or job to a disk', async () => {
    const { bus, requester } = peers();
    const queue = newQueue();
    const marker = randomBytes(48);
    const body = Buffer.concat([randomBytes(1_000), marker, randomBytes(1_000)]);
    const gate = createGate();
    const consumer = await serveOnWorker(peers(), queue, {
      concurrency: 1,
      handler: async (delivery) => ({ ...(await gate.handler(delivery)), body: delivery.message.body }),
    });
    /** Stores a durable payload and waits until it is on the disk. All earlier writes are then on the disk too. */
    const waitForDisk = async (): Promise<void> => {
      const durableMarker = randomBytes(48);
      const large = Buffer.concat([durableMarker, randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes)]);
      const ref = await requester.payloads.put(inChunks(large), { volatile: false });
      await until(
        async () => (await filesContaining(bus.folder, durableMarker)).length > 0,
        'the durable payload is on the disk',
      );
      await requester.payloads.delete(ref);
    };

    const requests = [job(body), job(body)].map((message) =>
      requester.bus.request(queue, message, { deadline: lateDeadline(), volatile: true }),
    );
    const large = Buffer.concat([body, randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes)]);
    const ref = await requester.payloads.put(inChunks(large), { volatile: true });
    await until(() => gate.received.length === 1, 'one job runs and one waits');
    await waitForDisk();
    assert.deepEqual(await filesContaining(bus.folder, marker), []);
    gate.open();
    await Promise.all(requests);
    await requester.payloads.delete(ref);
    await waitForDisk();
    assert.deepEqual(await filesContaining(bus.folder, marker), []);
    await consumer.drain();
  });
}
