// Holds the way of a job between a requester and an isolated process over a bus: bytes whole, errors as they were said, nothing left behind.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BusUnavailableError, type PayloadRef, type PayloadStore, type Transport } from '../bus/bus.ts';
import { createMemoryTransport } from '../bus/memory.ts';
import { ParseError } from '../contract/errors.ts';
import type { Job } from '../contract/jobs.ts';
import { TRANSPORT_LIMITS } from '../contract/limits.ts';
import { dispatch } from './dispatch.ts';
import { type JobLoop, startJobLoop } from './jobloop.ts';
import { createLogger } from './log.ts';
import { openPayload, packPayload, payloadSize, readPayload, releasePayload, storePayload } from './payload.ts';

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
const soon = (ms = 30_000) => ({ deadline: Date.now() + ms, volatile: false });

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
    ['inline', 1_000],
    ['stored', TRANSPORT_LIMITS.inlinePayloadBytes * 5 + 3],
  ] as const)
    test(`carries an ${name} payload there and back`, async () => {
      const bytes = Buffer.alloc(size, 'payload ');
      const sent = await packPayload(transport.payloads, bytes, { volatile: false });
      const result = await dispatch<{ size: number }>(transport, 'html', job('echo'), sent, soon());
      assert.equal(result.reply.size, size);
      assert.deepEqual(Buffer.from(await readPayload(transport.payloads, result.payload)), bytes);
      await releasePayload(transport.payloads, sent);
      await releasePayload(transport.payloads, result.payload);
      if ('ref' in sent) await assert.rejects(readPayload(transport.payloads, sent));
    });

  test("gives the caller the worker's own error", async () => {
    await assert.rejects(
      dispatch(transport, 'html', job('refuse'), { inline: new Uint8Array(0) }, soon()),
      (error) => error instanceof ParseError && error.code === 'DOCUMENT_CORRUPT' && error.message === 'no such luck',
    );
  });

  test('answers 408 at the deadline and serves the next job', async () => {
    await assert.rejects(
      dispatch(transport, 'html', job('spin'), { inline: new Uint8Array(0) }, soon(700)),
      (error) => error instanceof ParseError && error.code === 'REQUEST_TIMEOUT',
    );
    assert.ok(await dispatch(transport, 'html', job('echo'), { inline: new Uint8Array(0) }, soon()));
  });

  test('an answer that was stored too late for its requester is let go', async () => {
    const inner = transport.payloads;
    const late = Promise.withResolvers<void>();
    const refs: PayloadRef[] = [];
    const payloads: PayloadStore = {
      get: (ref) => inner.get(ref),
      delete: (ref) => inner.delete(ref),
      close: () => inner.close(),
      put: async (source, options) => {
        const ref = await inner.put(source, options);
        refs.push(ref);
        await late.promise;
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
    await assert.rejects(dispatch(slow, 'html', job('grow'), { inline: new Uint8Array(0) }, soon(2_000)), {
      code: 'REQUEST_TIMEOUT',
    });
    late.resolve();
    await slowLoop.drain();
    assert.equal(refs.length, 1);
    await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(inner.get(refs[0]!));
    await slow.close();
  });

  test('bytes in memory are stored anew when a store that was away is back, and not past their time', async () => {
    const bytes = Buffer.alloc(TRANSPORT_LIMITS.inlinePayloadBytes * 3, 9);
    const inner = transport.payloads;
    let away = 2;
    const payloads: PayloadStore = {
      get: (ref, options) => inner.get(ref, options),
      delete: (ref) => inner.delete(ref),
      close: () => inner.close(),
      put: async (source, options) => {
        if (away-- > 0) throw new BusUnavailableError('away');
        return inner.put(source, options);
      },
    };
    const stored = await packPayload(payloads, bytes, { volatile: false, until: Date.now() + 60_000 });
    assert.deepEqual(Buffer.from(await readPayload(inner, stored)), bytes);
    await releasePayload(inner, stored);
    away = Number.POSITIVE_INFINITY;
    for (const until of [Date.now() + 300, undefined])
      await assert.rejects(packPayload(payloads, bytes, { volatile: false, ...(until ? { until } : {}) }), {
        name: 'BusUnavailableError',
      });
  });

  test('answers 503 with Retry-After where nobody serves the queue', async () => {
    await assert.rejects(
      dispatch(transport, 'csv', job('echo'), { inline: new Uint8Array(0) }, soon(300)),
      (error) =>
        error instanceof ParseError && error.code === 'SERVICE_UNAVAILABLE' && (error.retryAfterSeconds ?? 0) >= 1,
    );
  });

  test('a requester that leaves gets no answer, and the slot comes back', async () => {
    const leaves = new AbortController();
    setTimeout(() => leaves.abort(), 300);
    await assert.rejects(
      dispatch(transport, 'html', job('spin'), { inline: new Uint8Array(0) }, { ...soon(), signal: leaves.signal }),
    );
    const both = await Promise.all(
      [1, 2].map(() => dispatch(transport, 'html', job('echo'), { inline: new Uint8Array(0) }, soon())),
    );
    assert.equal(both.length, 2);
  });
});

describe('a job loop whose bus goes away inside a job', () => {
  let transport: Transport;
  let loop: JobLoop;
  before(async () => {
    // Messages still come, payloads do not: what a worker sees of a bus that breaks between the two.
    const { payloads, ...rest } = createMemoryTransport();
    const away = () => Promise.reject(new BusUnavailableError('the payload could not be stored'));
    transport = { ...rest, payloads: { put: away, get: away, delete: away, close: () => payloads.close() } };
    loop = await startJobLoop({
      transport,
      queue: 'html',
      module: new URL('./isolation/testing/hostile-worker.ts', import.meta.url),
      concurrency: 1,
      log,
      warm: false,
    });
  });
  after(async () => {
    await loop.drain();
    await transport.close();
  });

  const large = { ref: { id: 'gone.gone', size: 1_000_000, volatile: false } };
  for (const [name, order, payload] of [
    ['the payload cannot be read', 'echo', large],
    ['the answer cannot be stored', 'grow', { inline: new Uint8Array(0) }],
    ['the payload of a call to another service cannot be stored', 'call-large', { inline: new Uint8Array(0) }],
  ] as const)
    test(`${name}: 503 with Retry-After, no fault of the product`, async () => {
      await assert.rejects(dispatch(transport, 'html', job(order), payload, soon()), (error) => {
        assert.ok(error instanceof ParseError);
        assert.equal(error.code, 'SERVICE_UNAVAILABLE');
        assert.ok((error.retryAfterSeconds ?? 0) >= 1);
        return true;
      });
    });
});

describe('a payload', () => {
  const transport = createMemoryTransport();
  after(() => transport.close());
  async function* parts(count: number, size: number, failAt = -1): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < count; part += 1) {
      if (part === failAt) throw new Error('the source broke');
      yield Buffer.alloc(size, part + 1);
    }
  }

  for (const [name, count, size] of [
    ['nothing', 0, 0],
    ['less than a message', 3, 1_000],
    ['exactly a message', 1, TRANSPORT_LIMITS.inlinePayloadBytes],
    ['a byte more', 2, TRANSPORT_LIMITS.inlinePayloadBytes / 2 + 1],
    ['much more', 40, 100_000],
  ] as const)
    test(`${name} comes back as it went`, async () => {
      const stored = await storePayload(transport.payloads, parts(count, size), { volatile: false });
      assert.equal(payloadSize(stored), count * size);
      assert.equal('inline' in stored, count * size <= TRANSPORT_LIMITS.inlinePayloadBytes);
      const streamed: Uint8Array[] = [];
      for await (const chunk of await openPayload(transport.payloads, stored)) streamed.push(Buffer.from(chunk));
      const expected: Uint8Array[] = [];
      for await (const chunk of parts(count, size)) expected.push(chunk);
      assert.ok(Buffer.concat(streamed).equals(Buffer.concat(expected)));
    });

  test('a source that breaks rejects, early and late', async () => {
    await assert.rejects(storePayload(transport.payloads, parts(3, 100, 1), { volatile: false }), /the source broke/);
    await assert.rejects(
      storePayload(transport.payloads, parts(40, 100_000, 30), { volatile: false }),
      /the source broke/,
    );
  });
});
