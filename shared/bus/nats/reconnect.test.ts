// Tests that the NATS bus continues after its server was killed and started again.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import { connectNats } from '../nats.ts';
import { createGate, inMs, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';
import { inChunks, MiB, readAll } from '../testing/payloads.ts';

describe('the NATS bus when its server is killed', { skip: skipReason('nats') }, () => {
  it('answers running, waiting and new requests and keeps durable data after the server restarts', async () => {
    const storeDir = await mkdtemp(join(tmpdir(), 'nats-restart-'));
    let server = await startNatsServer({ storeDir });
    const requester = await connectNats({ url: server.url, name: 'restart-requester' });
    const worker = await connectNats({ url: server.url, name: 'restart-worker' });
    const queue = newQueue();
    const gate = createGate();
    const bytes = randomBytes(2 * MiB);
    try {
      const consumer = await worker.bus.serve(queue, { concurrency: 2, handler: gate.handler });
      await until(() => requester.bus.workers(queue) === 1, 'the requester counts the worker');
      const payload = await requester.payloads.put(inChunks(bytes), { volatile: false });
      await requester.state.update('credits', () => ({ next: 7, result: 0 }), {
        ttlMs: TRANSPORT_LIMITS.stateMemoryTtlMs * 2,
      });
      const request = (volatile: boolean) =>
        requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile });
      const running = [request(false), request(true)];
      await until(() => gate.received.length === 2, 'both jobs run');
      const waiting = [request(false), request(true)];
      await until(async () => (await requester.bus.depth(queue)).pending === 2, 'two jobs wait');

      await server.stop('SIGKILL');
      await until(
        () => !requester.bus.connected() && !worker.bus.connected(),
        'both clients detect the lost connection',
      );
      const during = request(false);
      await assert.rejects(requester.bus.request(queue, job(), { deadline: inMs(300) }), {
        name: 'BusUnavailableError',
      });
      const update = requester.state.update('rate', () => ({ next: 1, result: 'written' }), { ttlMs: 60_000 });
      gate.open();
      server = await startNatsServer({ storeDir, port: server.port });

      for (const each of [...running, ...waiting, during]) assert.equal((await each).header, 'done');
      assert.equal(await update, 'written');
      assert.equal(await worker.state.get('credits'), 7);
      assert.equal(Buffer.compare(await readAll(await worker.payloads.get(payload)), bytes), 0);
      await until(() => requester.bus.workers(queue) === 1, 'the requester counts the worker again');
      assert.equal((await request(true)).header, 'done');
      await consumer.drain();
    } finally {
      gate.open();
      await Promise.all([requester.close(), worker.close()]);
      await server.stop();
      await rm(storeDir, { recursive: true, force: true });
    }
  });

  it('continues to read a payload after the server restarts, and rejects at `until` if it does not restart', async () => {
    const storeDir = await mkdtemp(join(tmpdir(), 'nats-reading-'));
    let server = await startNatsServer({ storeDir });
    const transport = await connectNats({ url: server.url, name: 'reading' });
    try {
      const bytes = randomBytes(4 * MiB + 5);
      const ref = await transport.payloads.put(inChunks(bytes), { volatile: false });
      const reader = (await transport.payloads.get(ref, { until: lateDeadline() }))[Symbol.asyncIterator]();
      const chunks = [(await reader.next()).value as Uint8Array];
      await server.stop('SIGKILL');
      const rest = (async () => {
        for (let next = await reader.next(); !next.done; next = await reader.next()) chunks.push(next.value);
      })();
      await until(() => !transport.bus.connected(), 'the client detects the lost connection');
      server = await startNatsServer({ storeDir, port: server.port });
      await rest;
      assert.equal(Buffer.compare(Buffer.concat(chunks), bytes), 0);
      await server.stop('SIGKILL');
      await assert.rejects(transport.payloads.get(ref, { until: inMs(500) }), { name: 'BusUnavailableError' });
    } finally {
      await transport.close();
      await server.stop();
      await rm(storeDir, { recursive: true, force: true });
    }
  });

  it('stores events, also those that are appended while the server is unavailable', async () => {
    const first = await startNatsServer();
    const transport = await connectNats({ url: first.url, name: 'events-test' });
    await transport.events?.append('audit', { event: 'one' });
    await first.stop('SIGKILL');
    const appended = transport.events?.append('audit', { event: 'two' });
    await until(() => !transport.bus.connected(), 'the client detects the lost connection');
    // The second server has an empty store, so the stream must be created again.
    const second = await startNatsServer({ port: first.port });
    await appended;
    const connection = await connect({ servers: second.url });
    const stream = await (await jetstreamManager(connection)).streams.get('PARSEMESH_EVENTS');
    assert.deepEqual((await stream.getMessage({ last_by_subj: 'parsemesh.events.audit' }))?.json(), { event: 'two' });
    await connection.close();
    await transport.close();
    await second.stop();
  });

  it('rejects all queued updates of one key at the same time, not one after the other', async () => {
    const server = await startNatsServer();
    const { bus, state, close } = await connectNats({ url: server.url, name: 'unavailable' });
    await server.stop('SIGKILL');
    await until(() => !bus.connected(), 'the client detects the lost connection');
    // Compares two timers of the same process: on a slow machine, both are late, but in the same order.
    let secondTimeoutPassed = false;
    const timer = setTimeout(() => {
      secondTimeoutPassed = true;
    }, 2 * TRANSPORT_LIMITS.stateRetryMs);
    const updates = Array.from({ length: 4 }, () =>
      assert.rejects(
        state.update('counter', () => ({ next: 1, result: 0 }), { ttlMs: 60_000 }),
        { name: 'BusUnavailableError' },
      ),
    );
    await Promise.all(updates);
    clearTimeout(timer);
    assert.equal(secondTimeoutPassed, false, 'the timeouts of the updates must not add up');
    await close();
  });
});
