// Tests that no answer is lost when a requester or a worker is cut off from a running server, or when the server loses its store.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsServer, startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import { startTcpProxy, type TcpProxy } from '#test/harness/tcp-proxy.ts';
import type { Transport } from '../bus.ts';
import { connectNats } from '../nats.ts';
import { answerOf, createGate, inMs, job, lateDeadline, newQueue, until } from '../testing/jobs.ts';
import { inChunks, MiB, readAll } from '../testing/payloads.ts';

/** Longer than the ack timeout, so that the server delivers the job again. */
const OUTAGE_MS = 6_000;
/** How much longer than the fault a caller may wait. */
const RECOVERY_MS = 5_000;

interface Pair {
  requester: Transport;
  worker: Transport;
  requesterProxy: TcpProxy;
  workerProxy: TcpProxy;
}

type Fault = (proxy: TcpProxy) => Promise<void>;

const cut: Fault = async (proxy) => {
  await proxy.cut();
  await sleep(OUTAGE_MS);
  await proxy.resume();
};
const stall: Fault = async (proxy) => {
  proxy.stall();
  await sleep(OUTAGE_MS);
  await proxy.resume();
};
/** New connections are possible at once, but the open ones are dead. The fault ends when the client has noticed it. */
const forgetConnections: Fault = async (proxy) => {
  proxy.stall('open');
};

describe('an outage between a process and the NATS server', { skip: skipReason('nats'), concurrency: 4 }, () => {
  let server: NatsServer;
  before(async () => {
    server = await startNatsServer();
  });
  after(() => server.stop());

  async function withPair(run: (pair: Pair) => Promise<void>): Promise<void> {
    const [requesterProxy, workerProxy] = [await startTcpProxy(server.port), await startTcpProxy(server.port)];
    const requester = await connectNats({ url: requesterProxy.url, name: 'outage-requester' });
    const worker = await connectNats({ url: workerProxy.url, name: 'outage-worker' });
    try {
      await run({ requester, worker, requesterProxy, workerProxy });
    } finally {
      await Promise.all([requester.close(), worker.close()]);
      await Promise.all([requesterProxy.close(), workerProxy.close()]);
    }
  }

  for (const [side, proxyOf] of [
    ['requester', (pair: Pair) => pair.requesterProxy],
    ['worker', (pair: Pair) => pair.workerProxy],
  ] as const)
    for (const [name, fault] of [
      ['is cut off', cut],
      ['has a connection that stalls', stall],
      ['has a connection that is half open', forgetConnections],
    ] as const)
      for (const volatile of [false, true])
        it(`delivers the answer of a ${volatile ? 'volatile' : 'durable'} job if the ${side} ${name} when it is made`, () =>
          withPair(async (pair) => {
            const { requester, worker } = pair;
            const queue = newQueue();
            const gate = createGate();
            await worker.bus.serve(queue, { concurrency: 2, handler: gate.handler });
            const answer = requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile });
            await until(() => gate.received.length === 1, 'the job runs');
            const start = Date.now();
            const ended = fault(proxyOf(pair)).then(() => Date.now());
            // The answer is made during the fault.
            await sleep(500);
            gate.open();
            assert.equal((await answer).header, 'done');
            const endedAt = fault === forgetConnections ? start : await ended;
            const limitMs = fault === forgetConnections ? 2 * RECOVERY_MS : RECOVERY_MS;
            assert.ok(Date.now() - endedAt < limitMs, `the answer came ${Date.now() - endedAt} ms after the fault`);
            assert.equal(gate.received[0]?.signal.aborted, false);
            assert.equal(gate.received.length, 1, 'the job is not converted twice');
          }));

  it('stops a job whose requester is away for long, and runs it again when the requester is back', () =>
    withPair(async ({ requester, worker, requesterProxy }) => {
      const queue = newQueue();
      const signals: AbortSignal[] = [];
      await worker.bus.serve(queue, {
        concurrency: 1,
        async handler({ signal }) {
          signals.push(signal);
          if (signals.length > 1) return answerOf('done');
          await once(signal, 'abort');
          throw signal.reason;
        },
      });
      const answer = requester.bus.request(queue, job(), { deadline: lateDeadline() });
      await until(() => signals.length === 1, 'the job runs');
      await requesterProxy.cut();
      await until(() => signals[0]?.aborted === true, 'the job is stopped');
      await requesterProxy.resume();
      assert.equal((await answer).header, 'done');
      assert.equal(signals.length, 2);
    }));

  it('does not abandon a job because its worker was cut off five times', () =>
    withPair(async ({ requester, worker, requesterProxy, workerProxy }) => {
      const queue = newQueue();
      const gate = createGate();
      await worker.bus.serve(queue, { concurrency: 1, handler: gate.handler });
      const running = requester.bus.request(queue, job(), { deadline: lateDeadline() });
      const waiting = requester.bus.request(queue, job(), { deadline: lateDeadline() });
      await until(() => gate.received.length === 1, 'a job runs');
      for (let round = 0; round < 5; round++) {
        await Promise.all([requesterProxy.cut(), workerProxy.cut()]);
        await sleep(500);
        await Promise.all([requesterProxy.resume(), workerProxy.resume()]);
        await sleep(1_500);
      }
      gate.open();
      assert.deepEqual([(await running).header, (await waiting).header], ['done', 'done']);
      assert.equal(gate.received.length, 2);
    }));

  it('rejects with BusUnavailableError, not DeadlineError, at a deadline while the connection is half open', () =>
    withPair(async ({ requester, worker, requesterProxy }) => {
      const queue = newQueue();
      const gate = createGate();
      await worker.bus.serve(queue, { concurrency: 1, handler: gate.handler });
      const answer = requester.bus.request(queue, job(), { deadline: inMs(2_500) });
      await until(() => gate.received.length === 1, 'the job runs');
      requesterProxy.stall();
      await assert.rejects(answer, { name: 'BusUnavailableError' });
      gate.open();
      await requesterProxy.resume();
    }));

  it('waits until `until` with the shared state and with payloads, longer than `stateRetryMs`', () =>
    withPair(async ({ requester, requesterProxy }) => {
      const { state, payloads } = requester;
      const key = newQueue();
      const bytes = randomBytes(2 * MiB);
      const until = lateDeadline();
      await state.update(key, () => ({ next: 1, result: null }), { ttlMs: 60_000 });
      const ended = cut(requesterProxy);
      const impatient = assert.rejects(state.get(key), { name: 'BusUnavailableError' });
      const gaveUp = new AbortController();
      const aborted = assert.rejects(
        state.update(key, () => ({ next: 5, result: null }), { ttlMs: 60_000, signal: gaveUp.signal }),
        { name: 'BusUnavailableError' },
      );
      const [read, updated, stored] = [
        state.get(key, { until }),
        state.update(`${key}-2`, () => ({ next: 2, result: 'updated' }), { ttlMs: 60_000, until }),
        payloads.put(inChunks(bytes), { volatile: false, until }),
      ];
      gaveUp.abort();
      await aborted;
      await impatient;
      await ended;
      assert.deepEqual([await read, await updated], [1, 'updated']);
      assert.equal(Buffer.compare(await readAll(await payloads.get(await stored)), bytes), 0);
    }));

  it('rejects with BusUnavailableError at the deadline of a job whose worker is cut off', () =>
    withPair(async ({ requester, worker, workerProxy }) => {
      const queue = newQueue();
      const gate = createGate();
      await worker.bus.serve(queue, { concurrency: 1, handler: gate.handler });
      const answer = requester.bus.request(queue, job(), { deadline: inMs(8_000) });
      await until(() => gate.received.length === 1, 'the job runs');
      await workerProxy.cut();
      await assert.rejects(answer, { name: 'BusUnavailableError' });
      gate.open();
      await workerProxy.resume();
    }));
});

describe('a NATS server that is full', { skip: skipReason('nats') }, () => {
  for (const volatile of [false, true])
    it(`rejects a ${volatile ? 'volatile' : 'durable'} job with StoreFullError at once, not at its deadline`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'full-server-'));
      const config = join(folder, 'nats.conf');
      await writeFile(config, 'jetstream { max_file_store: 2MB, max_memory_store: 2MB }\n');
      const server = await startNatsServer({ args: ['-c', config] });
      const { bus, close } = await connectNats({ url: server.url, name: 'full-server' });
      const ended = new AbortController();
      try {
        const queue = newQueue();
        const requests = Array.from({ length: 6 }, () =>
          bus
            .request(queue, job(randomBytes(600_000)), { deadline: lateDeadline(), volatile, signal: ended.signal })
            .then(
              () => 'answered',
              (error: Error) => error.name,
            ),
        );
        assert.equal(await Promise.race(requests), 'StoreFullError');
        ended.abort();
        const outcomes = await Promise.all(requests);
        assert.ok(outcomes.includes('CancelledError'), 'the jobs that fit wait for a worker');
      } finally {
        await close();
        await server.stop();
        await rm(folder, { recursive: true });
      }
    });
});

describe('a NATS server that loses its store', { skip: skipReason('nats'), concurrency: 2 }, () => {
  it('says at once that a payload is missing', async () => {
    let server = await startNatsServer();
    const { bus, payloads, close } = await connectNats({ url: server.url, name: 'wiped-payload' });
    const refs = [];
    for (const volatile of [false, true]) refs.push(await payloads.put(inChunks(randomBytes(2 * MiB)), { volatile }));
    const { port } = server;
    await server.stop('SIGKILL');
    await until(() => !bus.connected(), 'the client notices');
    server = await startNatsServer({ port });
    for (const ref of refs)
      await assert.rejects(payloads.get(ref, { until: lateDeadline() }), { name: 'PayloadMissingError' });
    await close();
    await server.stop();
  });

  for (const volatile of [false, true])
    it(`answers running, waiting and new ${volatile ? 'volatile' : 'durable'} jobs`, async () => {
      let server = await startNatsServer();
      const requester = await connectNats({ url: server.url, name: 'wiped-requester' });
      const worker = await connectNats({ url: server.url, name: 'wiped-worker' });
      const queue = newQueue();
      const gate = createGate();
      try {
        await worker.bus.serve(queue, { concurrency: 1, handler: gate.handler });
        const request = () => requester.bus.request(queue, job(), { deadline: lateDeadline(), volatile });
        const requests = [request(), request(), request()];
        await until(() => gate.received.length === 1, 'the first job runs');
        await until(async () => (await requester.bus.depth(queue)).pending === 2, 'two jobs wait');
        const { port } = server;
        await server.stop('SIGKILL');
        await until(() => !requester.bus.connected(), 'the requester notices');
        requests.push(request());
        server = await startNatsServer({ port });
        gate.open();
        for (const each of await Promise.all(requests)) assert.equal(each.header, 'done');
        assert.equal(gate.received.length, requests.length, 'no job is converted twice');
      } finally {
        gate.open();
        await Promise.all([requester.close(), worker.close()]);
        await server.stop();
      }
    });
});
