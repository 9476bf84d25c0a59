// What every transport promises, held against all of them: the one in memory and the one over a real nats-server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connect } from '@nats-io/transport-node';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { type NatsServer, NatsServerMissingError, startNatsServer } from '#test/harness/nats-server.ts';
import {
  type Bus,
  type Consumer,
  type Delivery,
  type JobAnswer,
  type JobMessage,
  type PayloadRef,
  type ServeOptions,
  StoreFullError,
  type Transport,
} from './bus.ts';
import { createMemoryTransport } from './memory.ts';
import { connectNats } from './nats.ts';

/** Bytes of volatile payloads that the suite's transports hold at once: a few, so that the last one is soon met. */
const VOLATILE_BYTES = 24 * 1024 * 1024;

interface Ground {
  /** The transport as one more process would see it. */
  join(): Promise<Transport>;
  /** The folder in which all that the transport writes must be. */
  folder: string;
  clear(): Promise<void>;
}

const MiB = 1024 * 1024;
const EMPTY = new Uint8Array();

async function memoryGround(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
  const transport = createMemoryTransport({ folder, volatileBytes: VOLATILE_BYTES });
  return {
    folder,
    join: async () => transport,
    async clear() {
      await transport.close();
      assert.deepEqual(await readdir(folder), [], 'closing leaves no file');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function natsGround(server: NatsServer): Ground {
  const transports: Transport[] = [];
  return {
    folder: server.storeDir,
    async join() {
      const transport = await connectNats({ url: server.url, name: 'contract-test', volatileBytes: VOLATILE_BYTES });
      transports.push(transport);
      return transport;
    },
    async clear() {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}

const newQueue = (): string => `q-${randomUUID().slice(0, 8)}`;
const inMs = (ms: number): number => Date.now() + ms;

function job(body: Uint8Array = EMPTY, header: unknown = {}): JobMessage {
  return { id: randomUUID(), header, body };
}

const answerOf = (header: unknown, body: Uint8Array = EMPTY): JobAnswer => ({ header, body });

/** Waits for a condition that needs a few messages to come true. */
async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 5_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) assert.fail(`never came true: ${what}`);
    await sleep(10);
  }
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inPieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function filesWith(folder: string, canary: Buffer): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((item) => item.isFile())) {
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    if (bytes.includes(canary)) found.push(entry.name);
  }
  return found;
}

/** A handler that waits until it is told to go on, and tells what it was given. */
function gate(): { handler: ServeOptions['handler']; taken: Delivery[]; open(): void } {
  const taken: Delivery[] = [];
  const opened = Promise.withResolvers<void>();
  return {
    taken,
    open: opened.resolve,
    async handler(delivery) {
      taken.push(delivery);
      await opened.promise;
      return answerOf('through');
    },
  };
}

/** The suite itself. `start` makes the ground before the first test. */
function contract(start: () => Promise<Ground>): void {
  let ground: Ground;
  let near: Transport;
  let far: Transport;
  before(async () => {
    ground = await start();
    near = await ground.join();
    far = await ground.join();
  });
  after(() => ground.clear());

  const serve = async (bus: Bus, queue: string, options: ServeOptions): Promise<Consumer> => {
    const consumer = await bus.serve(queue, options);
    await until(() => near.bus.workers(queue) > 0, 'the worker is seen');
    return consumer;
  };

  describe('request and serve', () => {
    it('answers with the bytes and the header the handler gave, up to the inline limit', async () => {
      const queue = newQueue();
      const consumer = await serve(far.bus, queue, {
        concurrency: 4,
        handler: async ({ message, attempt }) => ({
          header: { saw: message.header, id: message.id, attempt },
          body: Uint8Array.from(message.body).reverse(),
        }),
      });
      for (const volatile of [false, true])
        for (const size of [0, 1, 4_097, TRANSPORT_LIMITS.inlinePayloadBytes]) {
          const message = job(randomBytes(size), { name: 'naïve ✓', list: [1, null] });
          let started = 0;
          const answer = await near.bus.request(queue, message, {
            deadline: inMs(5_000),
            volatile,
            onStarted: () => void (started += 1),
          });
          assert.deepEqual(answer.header, { saw: { name: 'naïve ✓', list: [1, null] }, id: message.id, attempt: 1 });
          assert.equal(Buffer.compare(answer.body, Uint8Array.from(message.body).reverse()), 0);
          assert.equal(started, 1);
        }
      await consumer.drain();
    });

    it('never runs more jobs at once than the worker allows', async () => {
      const queue = newQueue();
      let running = 0;
      let most = 0;
      const consumer = await serve(far.bus, queue, {
        concurrency: 2,
        async handler() {
          most = Math.max(most, ++running);
          await sleep(15);
          running -= 1;
          return answerOf(null);
        },
      });
      const requests = Array.from({ length: 20 }, (_, index) =>
        near.bus.request(queue, job(), { deadline: inMs(10_000), volatile: index % 2 === 0 }),
      );
      await Promise.all(requests);
      assert.equal(most, 2);
      await consumer.drain();
    });

    it('gives jobs out in the order they came', async () => {
      const queue = newQueue();
      const numbers = Array.from({ length: 12 }, (_, index) => index);
      const requests = numbers.map((number) =>
        near.bus.request(queue, job(EMPTY, { number }), { deadline: inMs(10_000) }),
      );
      await until(async () => (await near.bus.depth(queue)).pending === numbers.length, 'all jobs wait');
      const order: unknown[] = [];
      const consumer = await far.bus.serve(queue, {
        concurrency: 1,
        async handler({ message }) {
          order.push(message.header);
          return answerOf(null);
        },
      });
      await Promise.all(requests);
      assert.deepEqual(
        order,
        numbers.map((number) => ({ number })),
      );
      await consumer.drain();
    });

    it('shares the load between two workers and runs each job once', async () => {
      const queue = newQueue();
      const runs: [string[], string[]] = [[], []];
      const consumers = await Promise.all(
        [near, far].map((transport, index) =>
          transport.bus.serve(queue, {
            concurrency: 1,
            async handler({ message }) {
              runs[index]?.push(message.id);
              await sleep(20);
              return answerOf(null);
            },
          }),
        ),
      );
      await until(() => near.bus.workers(queue) === 2, 'both workers are seen');
      const jobs = Array.from({ length: 12 }, () => job());
      await Promise.all(jobs.map((each) => near.bus.request(queue, each, { deadline: inMs(10_000) })));
      assert.deepEqual([...runs[0], ...runs[1]].sort(), jobs.map((each) => each.id).sort());
      assert.ok(
        runs[0].length >= 3 && runs[1].length >= 3,
        `one worker did it all: ${runs[0].length}/${runs[1].length}`,
      );
      await Promise.all(consumers.map((consumer) => consumer.drain()));
    });

    it('gives a failed job out again', async () => {
      const queue = newQueue();
      const attempts: number[] = [];
      const consumer = await serve(far.bus, queue, {
        concurrency: 1,
        async handler({ attempt }) {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('the engine died');
          return answerOf('at last');
        },
      });
      const answer = await near.bus.request(queue, job(), { deadline: inMs(10_000) });
      assert.equal(answer.header, 'at last');
      assert.deepEqual(attempts, [1, 2, 3]);
      await consumer.drain();
    });

    it('gives a job up after the allowed attempts, at once', async () => {
      const queue = newQueue();
      let attempts = 0;
      const consumer = await serve(far.bus, queue, {
        concurrency: 2,
        async handler() {
          attempts += 1;
          throw new Error('the engine died');
        },
      });
      for (const volatile of [false, true])
        await assert.rejects(near.bus.request(queue, job(), { deadline: inMs(10_000), volatile }), {
          name: 'AbandonedError',
        });
      assert.equal(attempts, 2 * TRANSPORT_LIMITS.maxDeliveries);
      await until(async () => {
        const { pending, running } = await near.bus.depth(queue);
        return pending === 0 && running === 0;
      }, 'the queue is empty');
      await consumer.drain();
    });

    it('rejects at the deadline and stops the work', async () => {
      const queue = newQueue();
      let stopped = 0;
      const consumer = await serve(far.bus, queue, {
        concurrency: 1,
        async handler({ signal }) {
          await once(signal, 'abort');
          stopped += 1;
          throw signal.reason;
        },
      });
      const running = near.bus.request(queue, job(), { deadline: inMs(400) });
      const waiting = near.bus.request(queue, job(), { deadline: inMs(300) });
      await assert.rejects(waiting, { name: 'DeadlineError' });
      await assert.rejects(running, { name: 'DeadlineError' });
      await until(() => stopped === 1, 'the handler is told');
      await assert.rejects(near.bus.request(queue, job(), { deadline: inMs(-1) }), { name: 'DeadlineError' });
      await consumer.drain();
      assert.equal(stopped, 1, 'the job that waited past its deadline is never run');
    });

    it('cancels a running job in its handler, and a waiting one for good', async () => {
      const queue = newQueue();
      const seen: string[] = [];
      const consumer = await serve(far.bus, queue, {
        concurrency: 1,
        async handler({ message, signal }) {
          seen.push(message.id);
          if (message.header === 'quick') return answerOf(null);
          await once(signal, 'abort');
          return answerOf('too late');
        },
      });
      const [first, second] = [new AbortController(), new AbortController()];
      const [one, two] = [job(), job()];
      const running = near.bus.request(queue, one, { deadline: inMs(10_000), signal: first.signal });
      await until(() => seen.length === 1, 'the first runs');
      const waiting = near.bus.request(queue, two, { deadline: inMs(10_000), signal: second.signal });
      await until(async () => (await near.bus.depth(queue)).pending === 1, 'the second waits');
      second.abort();
      await assert.rejects(waiting, { name: 'CancelledError' });
      first.abort();
      await assert.rejects(running, { name: 'CancelledError' });
      const quick = job(EMPTY, 'quick');
      await near.bus.request(queue, quick, { deadline: inMs(5_000) });
      assert.deepEqual(seen, [one.id, quick.id]);
      await assert.rejects(near.bus.request(queue, job(), { deadline: inMs(5_000), signal: first.signal }), {
        name: 'CancelledError',
      });
      await consumer.drain();
    });

    it('calls a deadline that leaves no time to ask a deadline, not a bus that is away', async () => {
      const queue = newQueue();
      const consumer = await serve(far.bus, queue, { concurrency: 1, handler: async () => answerOf(null) });
      for (let number = 0; number < 20; number++)
        await near.bus.request(queue, job(), { deadline: inMs(1) }).catch((error: Error) => {
          assert.equal(error.name, 'DeadlineError');
        });
      await consumer.drain();
    });

    it('says at the deadline that nobody serves the queue, and keeps nothing for later', async () => {
      const queue = newQueue();
      const sent = Date.now();
      await assert.rejects(near.bus.request(queue, job(), { deadline: sent + 300 }), { name: 'NoWorkerError' });
      assert.ok(Date.now() - sent >= 295, 'a worker may still be starting: not before the deadline');
      let runs = 0;
      const consumer = await serve(far.bus, queue, {
        concurrency: 1,
        async handler() {
          runs += 1;
          return answerOf(null);
        },
      });
      await near.bus.request(queue, job(), { deadline: inMs(5_000) });
      assert.equal(runs, 1);
      await consumer.drain();
    });

    it('serves a job that waited for its first worker', async () => {
      const queue = newQueue();
      const request = near.bus.request(queue, job(), { deadline: inMs(5_000) });
      await until(async () => (await near.bus.depth(queue)).pending === 1, 'the job waits');
      const consumer = await far.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('here') });
      assert.equal((await request).header, 'here');
      await consumer.drain();
    });

    it('drains: finishes what runs, takes nothing new, is counted no more', async () => {
      const queue = newQueue();
      const leaving = gate();
      const consumer = await serve(far.bus, queue, { concurrency: 1, handler: leaving.handler });
      const running = near.bus.request(queue, job(), { deadline: inMs(10_000) });
      await until(() => leaving.taken.length === 1, 'the job runs');
      const drained = consumer.drain();
      await until(() => near.bus.workers(queue) === 0, 'the worker is gone from the count');
      const later = near.bus.request(queue, job(), { deadline: inMs(10_000) });
      await until(async () => (await near.bus.depth(queue)).pending === 1, 'the new job waits');
      leaving.open();
      await drained;
      assert.equal((await running).header, 'through');
      assert.equal(leaving.taken.length, 1);
      const next = await near.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('by another') });
      assert.equal((await later).header, 'by another');
      await next.drain();
    });

    for (const volatile of [false, true])
      it(`tells how many jobs wait and run (${volatile ? 'volatile' : 'durable'})`, async () => {
        const queue = newQueue();
        assert.deepEqual(await near.bus.depth(queue), { pending: 0, running: 0, oldestMs: 0 });
        const held = gate();
        const consumer = await serve(far.bus, queue, { concurrency: 2, handler: held.handler });
        const requests = Array.from({ length: 5 }, () =>
          near.bus.request(queue, job(), { deadline: inMs(20_000), volatile }),
        );
        try {
          await until(async () => {
            const { pending, running } = await near.bus.depth(queue);
            return pending === 3 && running === 2;
          }, '3 wait and 2 run');
        } finally {
          held.open();
          await Promise.all(requests);
        }
        await until(async () => (await near.bus.depth(queue)).running === 0, 'all are acknowledged');
        await consumer.drain();
      });

    it('counts every job of both kinds once, one that a full worker gave straight back among the running', async () => {
      const queue = newQueue();
      const held = gate();
      const consumer = await serve(far.bus, queue, { concurrency: 1, handler: held.handler });
      const requests = Array.from({ length: 4 }, (_, index) =>
        near.bus.request(queue, job(), { deadline: inMs(20_000), volatile: index % 2 === 1 }),
      );
      try {
        await until(async () => {
          const { pending, running } = await near.bus.depth(queue);
          // A job on its way to the worker runs already.
          return held.taken.length > 0 && pending + running === 4 && (running === 1 || running === 2);
        }, '4 are counted, at most one of them too early');
        assert.equal(held.taken.length, 1);
      } finally {
        held.open();
        await Promise.all(requests);
      }
      await consumer.drain();
    });

    for (const volatile of [false, true])
      it(`tells how long the first of the waiting jobs waits (${volatile ? 'volatile' : 'durable'})`, async () => {
        const [queue, other] = [newQueue(), newQueue()];
        const elsewhere = near.bus.request(other, job(), { deadline: inMs(20_000), volatile });
        await until(async () => (await near.bus.depth(other)).oldestMs >= 200, 'a job of another queue waits');
        const held = gate();
        const first = near.bus.request(queue, job(), { deadline: inMs(20_000), volatile });
        const second = near.bus.request(queue, job(), { deadline: inMs(20_000), volatile });
        await until(async () => (await near.bus.depth(queue)).oldestMs > 0, 'they grow old');
        const young = (await near.bus.depth(queue)).oldestMs;
        const old = (await near.bus.depth(other)).oldestMs;
        assert.ok(old > young, `each queue has its own age: ${old} and ${young}`);
        const consumer = await serve(far.bus, queue, { concurrency: 2, handler: held.handler });
        await until(async () => (await near.bus.depth(queue)).running === 2, 'both are taken');
        assert.equal((await near.bus.depth(queue)).oldestMs, 0);
        held.open();
        await Promise.all([first, second]);
        await consumer.drain();
        const last = await near.bus.serve(other, { concurrency: 1, handler: async () => answerOf('late') });
        await elsewhere;
        await last.drain();
      });
  });

  describe('payloads', () => {
    for (const volatile of [false, true])
      for (const size of [0, 1, 5 * MiB, 20 * MiB])
        it(`gives back ${size} bytes as they were (${volatile ? 'volatile' : 'durable'})`, async () => {
          const bytes = randomBytes(size);
          const ref = await near.payloads.put(inPieces(bytes), { volatile });
          assert.equal(ref.size, size);
          assert.equal(ref.volatile, volatile);
          // The reference travels in a message.
          const received = JSON.parse(JSON.stringify(ref)) as PayloadRef;
          for (const _twice of [1, 2])
            assert.equal(Buffer.compare(await bytesOf(await far.payloads.get(received)), bytes), 0);
          await far.payloads.delete(received);
          await near.payloads.delete(ref);
          await assert.rejects(far.payloads.get(received), { name: 'PayloadMissingError' });
        });

    it('takes one piece of any size', async () => {
      const bytes = randomBytes(3 * MiB + 1);
      const ref = await near.payloads.put(inPieces(bytes, bytes.length), { volatile: false });
      assert.equal(Buffer.compare(await bytesOf(await far.payloads.get(ref)), bytes), 0);
      await near.payloads.delete(ref);
    });

    it('lets a reader leave early', async () => {
      const ref = await near.payloads.put(inPieces(randomBytes(3 * MiB)), { volatile: false });
      for await (const chunk of await far.payloads.get(ref)) {
        assert.ok(chunk.length > 0);
        break;
      }
      await near.payloads.delete(ref);
    });

    it('passes the fault of a failing source on and keeps none of its bytes', async () => {
      const canary = randomBytes(32);
      const fault = new Error('the upload stalled');
      async function* failing(): AsyncGenerator<Uint8Array> {
        for (let part = 0; part < 24; part++) yield Buffer.concat([canary, randomBytes(128 * 1024)]);
        throw fault;
      }
      for (const volatile of [false, true])
        await assert.rejects(near.payloads.put(failing(), { volatile }), (error) => error === fault);
      await until(
        async () => (await filesWith(ground.folder, canary)).length === 0,
        'the bytes are gone from the disk',
      );
    });

    it('holds volatile payloads up to a number of bytes, refuses more, keeps nothing of what it refused, and has room again', async () => {
      const { payloads } = await ground.join();
      const volatile = true;
      const fill = (size: number) => payloads.put(inPieces(randomBytes(size)), { volatile });
      const held = [await fill(10 * MiB), await fill(10 * MiB)];
      for (let round = 0; round < 3; round++) await assert.rejects(fill(8 * MiB), StoreFullError);
      // What was refused takes no room, and what is durable needs none of it.
      held.push(await fill(3 * MiB));
      const durable = await payloads.put(inPieces(randomBytes(8 * MiB)), { volatile: false });
      for (const ref of [...held, durable]) assert.equal((await bytesOf(await payloads.get(ref))).length, ref.size);
      const [first, ...rest] = held;
      assert.ok(first);
      await payloads.delete(first);
      await payloads.delete(first);
      rest.push(await fill(8 * MiB));
      await assert.rejects(fill(8 * MiB), StoreFullError);
      for (const ref of [...rest, durable]) await payloads.delete(ref);
    });

    it('says that a payload it never had is missing', async () => {
      await assert.rejects(near.payloads.get({ id: 'no.such', size: 1, volatile: false }), {
        name: 'PayloadMissingError',
      });
    });
  });

  it('leaves no byte of a volatile payload or job on a disk', async () => {
    const queue = newQueue();
    const canary = randomBytes(48);
    const body = Buffer.concat([randomBytes(1_000), canary, randomBytes(1_000)]);
    const large = Buffer.concat([body, randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes)]);
    const held = gate();
    const consumer = await serve(far.bus, queue, {
      concurrency: 1,
      handler: async (delivery) => ({ ...(await held.handler(delivery)), body: delivery.message.body }),
    });
    const requests = [job(body), job(body)].map((message) =>
      near.bus.request(queue, message, { deadline: inMs(10_000), volatile: true }),
    );
    const ref = await near.payloads.put(inPieces(large), { volatile: true });
    await until(() => held.taken.length === 1, 'one runs, one waits');
    await sleep(300);
    assert.deepEqual(await filesWith(ground.folder, canary), []);
    held.open();
    await Promise.all(requests);
    await near.payloads.delete(ref);
    assert.deepEqual(await filesWith(ground.folder, canary), []);

    const durable = await near.payloads.put(inPieces(large), { volatile: false });
    await until(
      async () => (await filesWith(ground.folder, canary)).length > 0,
      'the search finds what may be on the disk',
    );
    await near.payloads.delete(durable);
    await consumer.drain();
  });

  describe('shared state', () => {
    const increment = (current: unknown) => {
      const next = (typeof current === 'number' ? current : 0) + 1;
      return { next, result: next };
    };

    it('loses no change of eight writers on one key', async () => {
      const key = `hot:${randomUUID()}`;
      const writers = await Promise.all(Array.from({ length: 8 }, () => ground.join()));
      const results = await Promise.all(
        writers.map(async (writer) => {
          const own: number[] = [];
          for (let turn = 0; turn < 50; turn++) own.push(await writer.state.update(key, increment, { ttlMs: 60_000 }));
          return own;
        }),
      );
      assert.equal(await near.state.get(key), 400);
      assert.equal(new Set(results.flat()).size, 400, 'each writer saw a number of its own');
    });

    it('loses no change of concurrent changes of one process', async () => {
      const key = `team/ü ${randomUUID()}`;
      await Promise.all(Array.from({ length: 100 }, () => near.state.update(key, increment, { ttlMs: 60_000 })));
      assert.equal(await far.state.get(key), 100);
      assert.equal(await far.state.get(`${key}x`), undefined);
    });

    it('forgets a value when its time is over, long-lived ones too', async () => {
      for (const ttlMs of [120, TRANSPORT_LIMITS.stateMemoryTtlMs + 1]) {
        const key = `ttl:${randomUUID()}`;
        const set = () => far.state.update(key, () => ({ next: { a: [1] }, result: 'set' }), { ttlMs });
        assert.equal(await set(), 'set');
        assert.deepEqual(await near.state.get(key), { a: [1] });
        if (ttlMs > 1_000) continue;
        await sleep(ttlMs + 20);
        assert.equal(await near.state.get(key), undefined);
        assert.equal(await near.state.update(key, increment, { ttlMs: 60_000 }), 1, 'a change sees nothing either');
      }
    });

    it('deletes, leaves alone, and starts anew', async () => {
      const key = `lease:${randomUUID()}`;
      const options = { ttlMs: 60_000 };
      await near.state.update(key, () => ({ next: ['a'], result: null }), options);
      const untouched = await far.state.update(key, (current) => ({ next: current, result: current }), options);
      assert.deepEqual(untouched, ['a']);
      await far.state.update(key, () => ({ next: undefined, result: null }), options);
      assert.equal(await near.state.get(key), undefined);
      await near.state.update(key, () => ({ next: undefined, result: null }), options);
      assert.equal(await near.state.update(key, increment, options), 1);
      assert.equal(await far.state.get(key), 1);
    });

    it('passes on what a change throws', async () => {
      const fault = new Error('no');
      const change = (): never => {
        throw fault;
      };
      await assert.rejects(near.state.update('k', change, { ttlMs: 1_000 }), (error) => error === fault);
    });
  });

  it('rejects what is under way when it is closed', async () => {
    const own = await start();
    const transport = await own.join();
    const request = transport.bus.request(newQueue(), job(), { deadline: inMs(10_000) });
    const rejected = assert.rejects(request, { name: 'BusUnavailableError' });
    await own.clear();
    await rejected;
    assert.equal(transport.bus.connected(), false);
    await assert.rejects(transport.bus.request(newQueue(), job(), { deadline: inMs(1_000) }), {
      name: 'BusUnavailableError',
    });
  });
}

describe('the transport in memory', () => {
  contract(memoryGround);

  it('keeps payloads in memory while they fit there, and takes room again that one has given back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
    const { payloads, close } = createMemoryTransport({ folder });
    const room = TRANSPORT_LIMITS.memoryPayloadBytes;
    const put = (bytes: number, source = inPieces(randomBytes(bytes))) => payloads.put(source, { volatile: false });
    const files = async () =>
      (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length;
    const held = [await put(room / 2), await put(room / 2)];
    assert.equal(await files(), 0);
    const outside = await put(1);
    assert.equal(await files(), 1);
    for (const ref of [...held, outside]) await payloads.delete(ref);
    assert.equal(await files(), 0);
    const tooLarge = await put(room + MiB);
    await assert.rejects(
      put(
        0,
        (async function* () {
          yield randomBytes(room);
          throw new Error('it broke off');
        })(),
      ),
    );
    await put(room);
    assert.equal(await files(), 1, 'neither one that went to a file nor one that broke off takes room');
    await payloads.delete(tooLarge);
    await close();
    await rm(folder, { recursive: true });
  });

  it('removes the folders of processes that died, and no others', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
    const living = createMemoryTransport({ folder });
    await living.payloads.put(inPieces(randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes + 1)), { volatile: false });
    const [name = ''] = await readdir(folder);
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o700);
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    await mkdir(join(folder, name.replace(`-${process.pid}-`, `-${child.pid}-`)));
    await mkdir(join(folder, 'of-another-program'));
    const next = createMemoryTransport({ folder });
    assert.deepEqual((await readdir(folder)).sort(), ['of-another-program', name].sort());
    await next.close();
    await living.close();
    await rm(folder, { recursive: true });
  });
});

let server: NatsServer | undefined;
let missing = '';
try {
  server = await startNatsServer();
} catch (error) {
  if (!(error instanceof NatsServerMissingError) || process.env.CI) throw error;
  missing = `SKIPPED, nothing is held against NATS here: ${error.message}`;
}
const shared = server;

describe('the transport over NATS', { skip: missing || false }, () => {
  if (!shared) return;
  after(() => shared.stop());
  contract(async () => natsGround(shared));

  it('gives the job of a worker that died to another within five seconds', async () => {
    const transport = await connectNats({ url: shared.url, name: 'death-test' });
    const queue = newQueue();
    const script = new URL('../../test/harness/hanging-worker.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, shared.url, queue], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString();
    });
    try {
      await until(() => transport.bus.workers(queue) === 1, 'the doomed worker serves', 10_000);
      const request = transport.bus.request(queue, job(), { deadline: inMs(20_000) });
      await until(() => said.includes('taken'), 'the doomed worker has the job');
      const consumer = await transport.bus.serve(queue, {
        concurrency: 1,
        handler: async ({ attempt }) => answerOf({ attempt }),
      });
      child.kill('SIGKILL');
      const killed = Date.now();
      assert.deepEqual((await request).header, { attempt: 2 });
      assert.ok(Date.now() - killed < 5_000, `it took ${Date.now() - killed} ms`);
      await consumer.drain();
    } finally {
      child.kill('SIGKILL');
      await transport.close();
    }
  });

  it('lets a process end that closes with a job in a handler that never does, and gives the job to another', async () => {
    const transport = await connectNats({ url: shared.url, name: 'survivor' });
    const queue = newQueue();
    const script = new URL('../../test/harness/hanging-worker.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, shared.url, queue], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString();
    });
    try {
      await until(() => transport.bus.workers(queue) === 1, 'the worker serves', 10_000);
      const request = transport.bus.request(queue, job(), { deadline: inMs(60_000) });
      await until(() => said.includes('taken'), 'the worker has the job');
      const consumer = await transport.bus.serve(queue, {
        concurrency: 1,
        handler: async ({ attempt }) => answerOf({ attempt }),
      });
      child.kill('SIGTERM');
      assert.deepEqual((await request).header, { attempt: 2 });
      await until(() => child.exitCode !== null, 'the worker ends by itself', 20_000);
      assert.equal(child.exitCode, 0);
      await consumer.drain();
    } finally {
      child.kill('SIGKILL');
      await transport.close();
    }
  });

  it('runs the last attempt at a job by itself, so that whoever dies then is the cause', async () => {
    const transport = await connectNats({ url: shared.url, name: 'alone-test' });
    const queue = newQueue();
    const running = new Set<string>();
    const beside: string[][] = [];
    const consumer = await transport.bus.serve(queue, {
      concurrency: 3,
      async handler({ message, attempt }) {
        const { name } = message.header as { name: string };
        running.add(name);
        try {
          if (name !== 'poor') {
            await sleep(20);
            return answerOf(name);
          }
          if (attempt < TRANSPORT_LIMITS.maxDeliveries) {
            // The first attempts have company, which shows that the last one might have it.
            await until(() => running.size > 1, 'another job runs beside it');
            throw new Error('the engine died');
          }
          for (const ms of [0, 50, 100]) {
            await sleep(ms);
            beside.push([...running].filter((other) => other !== 'poor'));
          }
          return answerOf('at last');
        } finally {
          running.delete(name);
        }
      },
    });
    const ask = (name: string) =>
      transport.bus.request(queue, { ...job(), header: { name } }, { deadline: inMs(20_000) });
    const others: Promise<JobAnswer>[] = [];
    let done = false;
    const poor = ask('poor').finally(() => {
      done = true;
    });
    while (!done) {
      others.push(ask(`other ${others.length}`));
      await sleep(5);
    }
    assert.equal((await poor).header, 'at last');
    assert.deepEqual(beside, [[], [], []]);
    const names = (await Promise.all(others)).map(({ header }) => header);
    assert.deepEqual(
      names,
      names.map((_, at) => `other ${at}`),
    );
    await consumer.drain();
    await transport.close();
  });

  it('gives the job of a worker that closes without draining to another at once', async () => {
    const leaving = await connectNats({ url: shared.url, name: 'closing-worker' });
    const transport = await connectNats({ url: shared.url, name: 'closing-test' });
    const queue = newQueue();
    const held = gate();
    await leaving.bus.serve(queue, { concurrency: 1, handler: held.handler });
    const request = transport.bus.request(queue, job(), { deadline: inMs(10_000) });
    await until(() => held.taken.length === 1, 'the job runs');
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('by another') });
    const closing = Date.now();
    await leaving.close();
    assert.equal((await request).header, 'by another');
    assert.ok(Date.now() - closing < TRANSPORT_LIMITS.ackWaitMs / 2);
    assert.equal(held.taken[0]?.signal.aborted, true);
    held.open();
    await consumer.drain();
    await transport.close();
  });

  it('knows the workers of a queue as soon as it is connected', async () => {
    const first = await connectNats({ url: shared.url, name: 'presence-worker' });
    const queue = newQueue();
    await first.bus.serve(queue, { concurrency: 1, handler: async () => answerOf(null) });
    const second = await connectNats({ url: shared.url, name: 'presence-test' });
    await until(() => second.bus.workers(queue) === 1, 'the worker answered', TRANSPORT_LIMITS.presenceMs / 2);
    await first.close();
    await until(() => second.bus.workers(queue) === 0, 'the worker said it left', TRANSPORT_LIMITS.presenceMs / 2);
    await second.close();
  });

  it('keeps events for whoever collects them, and those that come while the server is away too', async () => {
    const own = await startNatsServer();
    const transport = await connectNats({ url: own.url, name: 'events-test' });
    await transport.events?.append('audit', { event: 'one' });
    await own.stop('SIGKILL');
    const late = transport.events?.append('audit', { event: 'two' });
    await sleep(300);
    const again = await startNatsServer({ port: own.port });
    await late;
    const connection = await connect({ servers: again.url });
    const stream = await (await jetstreamManager(connection)).streams.get('PARSEMESH_EVENTS');
    // The first server took its store with it.
    assert.deepEqual((await stream.getMessage({ last_by_subj: 'parsemesh.events.audit' }))?.json(), { event: 'two' });
    await connection.close();
    await transport.close();
    await again.stop();
  });

  it('lays payloads out so that any Object Store client can read them', async () => {
    const transport = await connectNats({ url: shared.url, name: 'layout-test' });
    const connection = await connect({ servers: shared.url });
    const bytes = randomBytes(2 * MiB + 17);
    const ref = await transport.payloads.put(inPieces(bytes), { volatile: false });
    const bucket = await new Objm(connection).open('parsemesh-payloads');
    const read = await bucket.getBlob(ref.id.split('.')[0] ?? '');
    assert.ok(read && Buffer.compare(read, bytes) === 0);
    await transport.payloads.delete(ref);
    assert.deepEqual(await bucket.list(), []);
    await connection.close();
    await transport.close();
  });

  it('removes from a queue what is no job, and answers what it never heard of', async () => {
    const transport = await connectNats({ url: shared.url, name: 'garbage-test' });
    const connection = await connect({ servers: shared.url });
    const queue = newQueue();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: async () => answerOf('fine') });
    for (const garbage of ['', 'abc', '\u0000\u0000\u0000\u0002{]', '\u0000\u0000\u0000\u0004null', '\uffff\uffff'])
      await jetstream(connection).publish(`parsemesh.jobs.${queue}`, garbage);
    assert.equal((await transport.bus.request(queue, job(), { deadline: inMs(5_000) })).header, 'fine');
    await until(async () => (await transport.bus.depth(queue)).running === 0, 'nothing is left');
    await consumer.drain();
    await connection.close();
    await transport.close();
  });

  it('refuses a message that no server would carry, and a name that is no queue', async () => {
    const transport = await connectNats({ url: shared.url, name: 'refusal-test' });
    const large = job(new Uint8Array(TRANSPORT_LIMITS.messageBytes));
    await assert.rejects(transport.bus.request(newQueue(), large, { deadline: inMs(1_000) }), /payload store/);
    await assert.rejects(transport.bus.request('a.b', job(), { deadline: inMs(1_000) }), RangeError);
    await transport.close();
  });

  it('does not start on a server whose messages are too small, and says which setting to change', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nats-small-'));
    const config = join(folder, 'nats.conf');
    await writeFile(config, 'max_payload: 65536\n');
    const own = await startNatsServer({ args: ['-c', config] });
    await assert.rejects(connectNats({ url: own.url, name: 'small' }), /max_payload/);
    await own.stop();
    await rm(folder, { recursive: true });
  });

  it('takes its jobs back when it is closed', async () => {
    const requester = await connectNats({ url: shared.url, name: 'closing-requester' });
    const transport = await connectNats({ url: shared.url, name: 'closing-test' });
    const queue = newQueue();
    const held = gate();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: held.handler });
    const rejected = Promise.all(
      [job(), job()].map((each) =>
        assert.rejects(requester.bus.request(queue, each, { deadline: inMs(60_000) }), {
          name: 'BusUnavailableError',
        }),
      ),
    );
    await until(() => held.taken.length === 1, 'one runs');
    await until(async () => (await transport.bus.depth(queue)).pending === 1, 'one waits');
    await requester.close();
    await rejected;
    await until(() => held.taken[0]?.signal.aborted === true, 'the handler is told', TRANSPORT_LIMITS.ackWaitMs / 2);
    await until(async () => (await transport.bus.depth(queue)).pending === 0, 'the other is gone');
    held.open();
    await consumer.drain();
    await transport.close();
  });

  it('stops the work of a requester that died', async () => {
    const transport = await connectNats({ url: shared.url, name: 'death-test' });
    const queue = newQueue();
    const held = gate();
    const consumer = await transport.bus.serve(queue, { concurrency: 1, handler: held.handler });
    const script = new URL('../../test/harness/waiting-requester.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, shared.url, queue, '2'], { stdio: ['ignore', 'ignore', 'inherit'] });
    await until(() => held.taken.length === 1, 'one runs', 10_000);
    await until(async () => (await transport.bus.depth(queue)).pending === 1, 'one waits');
    child.kill('SIGKILL');
    await until(() => held.taken[0]?.signal.aborted === true, 'the handler is told', 10_000);
    held.open();
    assert.equal((await transport.bus.request(queue, job(), { deadline: inMs(2_000) })).header, 'through');
    assert.equal(held.taken.length, 2, 'the job that waited is not started for nobody');
    await consumer.drain();
    await transport.close();
  });

  it('makes its streams when many processes start at once', async () => {
    const own = await startNatsServer();
    const transports = await Promise.all(
      Array.from({ length: 6 }, () => connectNats({ url: own.url, name: 'racing-start' })),
    );
    const queue = newQueue();
    const consumers = await Promise.all(
      transports.map(({ bus }) => bus.serve(queue, { concurrency: 1, handler: async () => answerOf('ok') })),
    );
    const answers = await Promise.all(
      transports.map(({ bus }) => bus.request(queue, job(), { deadline: inMs(10_000) })),
    );
    assert.deepEqual(
      answers.map(({ header }) => header),
      transports.map(() => 'ok'),
    );
    await Promise.all(consumers.map((consumer) => consumer.drain()));
    await Promise.all(transports.map((transport) => transport.close()));
    await own.stop();
  });

  it('gives changes of one key up together while the server is away, not one after the other', async () => {
    const own = await startNatsServer();
    const { bus, state, close } = await connectNats({ url: own.url, name: 'away' });
    await own.stop('SIGKILL');
    await until(() => !bus.connected(), 'the loss is seen');
    const start = Date.now();
    const changes = Array.from({ length: 4 }, () =>
      assert.rejects(
        state.update('turns', () => ({ next: 1, result: 0 }), { ttlMs: 60_000 }),
        { name: 'BusUnavailableError' },
      ),
    );
    await Promise.all(changes);
    assert.ok(Date.now() - start < 2 * TRANSPORT_LIMITS.stateRetryMs, 'their patience adds up');
    await close();
  });

  it('goes on where it was when the server was away for a while', async () => {
    const storeDir = await mkdtemp(join(tmpdir(), 'nats-restart-'));
    let own = await startNatsServer({ storeDir });
    const near = await connectNats({ url: own.url, name: 'restart-near' });
    const far = await connectNats({ url: own.url, name: 'restart-far' });
    const queue = newQueue();
    const held = gate();
    const bytes = randomBytes(2 * MiB);
    try {
      const consumer = await far.bus.serve(queue, { concurrency: 2, handler: held.handler });
      await until(() => near.bus.workers(queue) === 1, 'the worker is seen');
      const payload = await near.payloads.put(inPieces(bytes), { volatile: false });
      await near.state.update('credits', () => ({ next: 7, result: 0 }), {
        ttlMs: TRANSPORT_LIMITS.stateMemoryTtlMs * 2,
      });
      const ask = (volatile: boolean) => near.bus.request(queue, job(), { deadline: inMs(25_000), volatile });
      const running = [ask(false), ask(true)];
      await until(() => held.taken.length === 2, 'both run');
      const waiting = [ask(false), ask(true)];
      await until(async () => (await near.bus.depth(queue)).pending === 2, 'two wait');

      await own.stop('SIGKILL');
      await until(() => !near.bus.connected() && !far.bus.connected(), 'the loss is seen');
      const during = ask(false);
      await assert.rejects(near.bus.request(queue, job(), { deadline: inMs(300) }), { name: 'BusUnavailableError' });
      const change = near.state.update('rate', () => ({ next: 1, result: 'kept' }), { ttlMs: 60_000 });
      held.open();
      await sleep(700);
      own = await startNatsServer({ storeDir, port: own.port });

      for (const request of [...running, ...waiting, during]) assert.equal((await request).header, 'through');
      assert.equal(await change, 'kept');
      assert.equal(await far.state.get('credits'), 7);
      assert.equal(Buffer.compare(await bytesOf(await far.payloads.get(payload)), bytes), 0);
      await until(() => near.bus.workers(queue) === 1, 'the worker is seen again');
      assert.equal((await ask(true)).header, 'through');
      await consumer.drain();
    } finally {
      held.open();
      await Promise.all([near.close(), far.close()]);
      await own.stop();
      await rm(storeDir, { recursive: true, force: true });
    }
  });

  it('goes on reading a payload when a killed server is back, and gives up at its time when it is not', async () => {
    const storeDir = await mkdtemp(join(tmpdir(), 'nats-reading-'));
    let own = await startNatsServer({ storeDir });
    const transport = await connectNats({ url: own.url, name: 'reading' });
    try {
      const bytes = randomBytes(4 * MiB + 5);
      const ref = await transport.payloads.put(inPieces(bytes), { volatile: false });
      const reader = (await transport.payloads.get(ref, { until: inMs(20_000) }))[Symbol.asyncIterator]();
      const chunks = [(await reader.next()).value as Uint8Array];
      await own.stop('SIGKILL');
      const rest = (async () => {
        for (let next = await reader.next(); !next.done; next = await reader.next()) chunks.push(next.value);
      })();
      await sleep(500);
      own = await startNatsServer({ storeDir, port: own.port });
      await rest;
      assert.equal(Buffer.compare(Buffer.concat(chunks), bytes), 0);
      await own.stop('SIGKILL');
      await assert.rejects(transport.payloads.get(ref, { until: inMs(500) }), { name: 'BusUnavailableError' });
    } finally {
      await transport.close();
      await own.stop();
      await rm(storeDir, { recursive: true, force: true });
    }
  });
});
