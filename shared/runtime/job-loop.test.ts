// Tests how a job is sent over a bus to an isolated process and answered: payloads, errors, deadlines and cleanup.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bus, BusUnavailableError, type PayloadRef, type PayloadStore, type Transport } from '../bus/bus.ts';
import { createMemoryTransport } from '../bus/memory.ts';
import { ParseError } from '../contract/errors.ts';
import type { Job } from '../contract/jobs.ts';
import { TRANSPORT_LIMITS } from '../contract/limits.ts';
import type { JobProgress } from '../contract/progress.ts';
import { dispatch } from './dispatch.ts';
import { type JobLoop, startJobLoop } from './job-loop.ts';
import { createLogger } from './log.ts';
import { deletePayload, openPayload, payloadSize, readPayload, storeBytes, storePayload } from './payload.ts';

const log = createLogger({ logLevel: 'silent' }, 'test');
const job = (requestId: string): Job => ({
  kind: 'ocr',
  requestId,
  pageNumber: 1,
  width: 1,
  height: 1,
  dpi: 72,
  languages: [],
});
const dueIn = (ms = 300_000) => ({ deadline: Date.now() + ms, volatile: false });

describe('a job loop', () => {
  let transport: Transport;
  let loop: JobLoop;
  before(async () => {
    transport = createMemoryTransport();
    loop = await startJobLoop({
      transport,
      queue: 'html',
      module: new URL('./isolation/testing/hostile-worker.ts', import.meta.url),
      concurrency: 2,
      log,
      warm: true,
    });
  });
  after(async () => {
    await loop.drain();
    await transport.close();
  });

  for (const [name, size] of [
    ['an inline', 1_000],
    ['a stored', TRANSPORT_LIMITS.inlinePayloadBytes * 5 + 3],
  ] as const)
    test(`sends ${name} payload to the worker and returns it unchanged`, async () => {
      const bytes = Buffer.alloc(size, 'payload ');
      const sent = await storeBytes(transport.payloads, bytes, { volatile: false });
      const result = await dispatch<{ size: number }>(transport, 'html', job('echo'), sent, dueIn());
      assert.equal(result.reply.size, size);
      assert.deepEqual(Buffer.from(await readPayload(transport.payloads, result.payload)), bytes);
      await deletePayload(transport.payloads, sent);
      await deletePayload(transport.payloads, result.payload);
      if ('ref' in sent) await assert.rejects(readPayload(transport.payloads, sent));
    });

  test('passes the progress of the isolated process to the requester, and drops invalid reports', async () => {
    const reports: JobProgress[] = [];
    let wanted = 0;
    // The running job calls this queue, and goes on when the requester has received the reports.
    const other = await transport.bus.serve('ocr', {
      concurrency: 1,
      async handler() {
        while (reports.length < wanted) await new Promise((resolve) => setTimeout(resolve, 10));
        return { header: { outcome: { ok: true, reply: {} } }, body: new Uint8Array(0) };
      },
    });
    const run = (id: string, onProgress?: (progress: JobProgress) => void) =>
      dispatch<object>(
        transport,
        'html',
        job(id),
        { inline: new Uint8Array(0) },
        { ...dueIn(), ...(onProgress ? { onProgress } : {}) },
      );
    wanted = 2;
    const { reply } = await run('progress', (progress) => void reports.push(progress));
    assert.deepEqual(reply, { asked: true });
    assert.deepEqual(reports, [
      { stage: 'convert', pagesDone: 1, pages: 2 },
      { stage: 'ocr', pagesDone: 1 },
    ]);
    wanted = 3;
    await run('progress-invalid', (progress) => void reports.push(progress));
    assert.deepEqual(reports.slice(2), [{ stage: 'convert', pages: 3 }]);
    assert.deepEqual((await run('progress')).reply, { asked: false });
    await other.drain();
  });

  test('sends a job to another service in the name of the team of its request', async () => {
    const teams: unknown[] = [];
    const other = await transport.bus.serve('ocr', {
      concurrency: 1,
      async handler({ team }) {
        teams.push(team);
        return { header: { outcome: { ok: true, reply: {} } }, body: new Uint8Array(0) };
      },
    });
    for (const team of ['blue', undefined])
      await dispatch(transport, 'html', job('progress'), { inline: new Uint8Array(0) }, { ...dueIn(), team });
    assert.deepEqual(teams, ['blue', undefined]);
    await other.drain();
  });

  test('cancels the calls of a job that ends before they are answered', { timeout: 30_000 }, async () => {
    const cancelled = Promise.withResolvers<void>();
    const other = await transport.bus.serve('ocr', {
      concurrency: 1,
      async handler({ signal }) {
        signal.addEventListener('abort', () => cancelled.resolve());
        await cancelled.promise;
        return { header: { outcome: { ok: true, reply: {} } }, body: new Uint8Array(0) };
      },
    });
    await dispatch(transport, 'html', job('leave-call'), { inline: new Uint8Array(0) }, dueIn());
    await cancelled.promise;
    await dispatch(transport, 'html', job('echo'), { inline: new Uint8Array(0) }, dueIn());
    await other.drain();
  });

  test("rejects with the worker's error code and message", async () => {
    await assert.rejects(
      dispatch(transport, 'html', job('refuse'), { inline: new Uint8Array(0) }, dueIn()),
      (error) =>
        error instanceof ParseError &&
        error.code === 'DOCUMENT_CORRUPT' &&
        error.message === 'refused by the test worker',
    );
  });

  test('rejects with REQUEST_TIMEOUT at the deadline and runs the next job', async () => {
    await assert.rejects(
      dispatch(transport, 'html', job('spin'), { inline: new Uint8Array(0) }, dueIn(700)),
      (error) => error instanceof ParseError && error.code === 'REQUEST_TIMEOUT',
    );
    assert.ok(await dispatch(transport, 'html', job('echo'), { inline: new Uint8Array(0) }, dueIn()));
  });

  test('deletes the stored result of a job that was cancelled before the result was sent', async () => {
    const inner = transport.payloads;
    const requester = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const refs: PayloadRef[] = [];
    const payloads: PayloadStore = {
      get: (ref) => inner.get(ref),
      delete: (ref) => inner.delete(ref),
      close: () => inner.close(),
      put: async (source, options) => {
        const ref = await inner.put(source, options);
        refs.push(ref);
        requester.abort();
        await cancelled.promise;
        return ref;
      },
    };
    const slow = createMemoryTransport();
    const slowLoop = await startJobLoop({
      transport: { ...slow, bus: slow.bus, state: slow.state, payloads },
      queue: 'html',
      module: new URL('./isolation/testing/hostile-worker.ts', import.meta.url),
      concurrency: 1,
      log,
      warm: true,
    });
    const options = { ...dueIn(), signal: requester.signal };
    await assert.rejects(dispatch(slow, 'html', job('grow'), { inline: new Uint8Array(0) }, options), {
      name: 'CancelledError',
    });
    cancelled.resolve();
    await slowLoop.drain();
    assert.equal(refs.length, 1);
    await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(inner.get(refs[0]!));
    await slow.close();
  });

  test('storeBytes retries while the store is unavailable and rejects when no time is left for a retry', async () => {
    const bytes = Buffer.alloc(TRANSPORT_LIMITS.inlinePayloadBytes * 3, 9);
    const inner = transport.payloads;
    let failures = 2;
    const payloads: PayloadStore = {
      get: (ref, options) => inner.get(ref, options),
      delete: (ref) => inner.delete(ref),
      close: () => inner.close(),
      put: async (source, options) => {
        if (failures-- > 0) throw new BusUnavailableError('store unavailable');
        return inner.put(source, options);
      },
    };
    const stored = await storeBytes(payloads, bytes, { volatile: false, until: Date.now() + 60_000 });
    assert.deepEqual(Buffer.from(await readPayload(inner, stored)), bytes);
    await deletePayload(inner, stored);
    failures = Number.POSITIVE_INFINITY;
    for (const until of [Date.now() + 300, undefined])
      await assert.rejects(storeBytes(payloads, bytes, { volatile: false, ...(until ? { until } : {}) }), {
        name: 'BusUnavailableError',
      });
  });

  test('rejects with SERVICE_UNAVAILABLE and a retry delay if no worker serves the queue', async () => {
    await assert.rejects(
      dispatch(transport, 'csv', job('echo'), { inline: new Uint8Array(0) }, dueIn(300)),
      (error) =>
        error instanceof ParseError && error.code === 'SERVICE_UNAVAILABLE' && (error.retryAfterSeconds ?? 0) >= 1,
    );
  });

  test('frees the slot of a running job when its requester cancels it', async () => {
    const requester = new AbortController();
    const options = { ...dueIn(), signal: requester.signal, onStarted: () => requester.abort() };
    await assert.rejects(dispatch(transport, 'html', job('spin'), { inline: new Uint8Array(0) }, options), {
      name: 'CancelledError',
    });
    const both = await Promise.all(
      [1, 2].map(() => dispatch(transport, 'html', job('echo'), { inline: new Uint8Array(0) }, dueIn())),
    );
    assert.equal(both.length, 2);
  });
});

describe('a job loop whose payload store becomes unavailable during a job', () => {
  let transport: Transport;
  let loop: JobLoop;
  before(async () => {
    // The bus delivers messages, but the payload store fails, as after a connection loss during a job.
    const { bus, payloads, ...rest } = createMemoryTransport();
    const fail = () => Promise.reject(new BusUnavailableError('the payload could not be stored'));
    // The worker gets an earlier deadline than the requester, so that its retries end long before the requester stops waiting.
    const early: Bus = {
      request: (...args) => bus.request(...args),
      serve: (queue, { concurrency, handler }) =>
        bus.serve(queue, {
          concurrency,
          handler: (delivery) => handler({ ...delivery, deadline: Date.now() + 4_000 }),
        }),
      workers: (queue) => bus.workers(queue),
      depth: (queue) => bus.depth(queue),
      connected: () => bus.connected(),
      close: () => bus.close(),
    };
    transport = {
      ...rest,
      bus: early,
      payloads: { put: fail, get: fail, delete: fail, close: () => payloads.close() },
    };
    loop = await startJobLoop({
      transport,
      queue: 'html',
      module: new URL('./isolation/testing/hostile-worker.ts', import.meta.url),
      concurrency: 1,
      log,
      warm: true,
    });
  });
  after(async () => {
    await loop.drain();
    await transport.close();
  });

  const large = { ref: { id: 'missing.missing', size: 1_000_000, volatile: false } };
  for (const [name, order, payload] of [
    ['the payload cannot be read', 'echo', large],
    ['the answer cannot be stored', 'grow', { inline: new Uint8Array(0) }],
    ['the payload of a call to another service cannot be stored', 'call-large', { inline: new Uint8Array(0) }],
  ] as const)
    test(`rejects with SERVICE_UNAVAILABLE and a retry delay when ${name}`, async () => {
      await assert.rejects(dispatch(transport, 'html', job(order), payload, dueIn()), (error) => {
        assert.ok(error instanceof ParseError);
        assert.equal(error.code, 'SERVICE_UNAVAILABLE');
        assert.ok((error.retryAfterSeconds ?? 0) >= 1);
        return true;
      });
    });
});

describe('storePayload', () => {
  const transport = createMemoryTransport();
  after(() => transport.close());
  async function* parts(count: number, size: number, failAt = -1): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < count; part += 1) {
      if (part === failAt) throw new Error('the source failed');
      yield Buffer.alloc(size, part + 1);
    }
  }

  for (const [name, count, size] of [
    ['of 0 bytes', 0, 0],
    ['smaller than the inline limit', 3, 1_000],
    ['exactly at the inline limit', 1, TRANSPORT_LIMITS.inlinePayloadBytes],
    ['just over the inline limit', 2, TRANSPORT_LIMITS.inlinePayloadBytes / 2 + 1],
    ['far over the inline limit', 40, 100_000],
  ] as const)
    test(`a payload ${name} is read back unchanged`, async () => {
      const stored = await storePayload(transport.payloads, parts(count, size), { volatile: false });
      assert.equal(payloadSize(stored), count * size);
      assert.equal('inline' in stored, count * size <= TRANSPORT_LIMITS.inlinePayloadBytes);
      const streamed: Uint8Array[] = [];
      for await (const chunk of await openPayload(transport.payloads, stored)) streamed.push(Buffer.from(chunk));
      const expected: Uint8Array[] = [];
      for await (const chunk of parts(count, size)) expected.push(chunk);
      assert.ok(Buffer.concat(streamed).equals(Buffer.concat(expected)));
    });

  test('rejects with the error of the source, before and after the inline limit', async () => {
    await assert.rejects(storePayload(transport.payloads, parts(3, 100, 1), { volatile: false }), /the source failed/);
    await assert.rejects(
      storePayload(transport.payloads, parts(40, 100_000, 30), { volatile: false }),
      /the source failed/,
    );
  });
});
