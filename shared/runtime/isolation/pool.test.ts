// Holds the promise of isolation: a conversion that crashes, spins, hoards or hangs costs its own process only, and its slot comes back.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ParseError } from '../../contract/errors.ts';
import type { Job } from '../../contract/jobs.ts';
import { createLogger } from '../log.ts';
import { processEnds } from '../metrics.ts';
import { ProcessPool } from './pool.ts';
import type { JobInput, JobServices } from './process.ts';

const pool = new ProcessPool(
  {
    queue: 'html',
    module: new URL('./testing/hostile-worker.ts', import.meta.url),
    memoryMiB: 400,
    env: { PATH: process.env.PATH },
  },
  createLogger({ logLevel: 'silent' }, 'test'),
);
after(() => pool.close());

const services: JobServices<Uint8Array> = {
  async store(body) {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  },
  async call(_queue, _job, payload, started) {
    started();
    return { ok: true, reply: { answered: true }, payload: Buffer.from(payload).reverse() };
  },
};

function input(order: string, payload: Uint8Array, timeoutMs: number): () => Promise<JobInput> {
  const job: Job = { kind: 'ocr', requestId: order, pageNumber: 1, width: 1, height: 1, dpi: 72, languages: [] };
  return async () => ({
    job,
    deadline: Date.now() + timeoutMs,
    volatile: false,
    payloadSize: payload.byteLength,
    payload: (async function* () {
      yield payload;
    })(),
  });
}

async function run(order: string, options: { payload?: Uint8Array; timeoutMs?: number; signal?: AbortSignal } = {}) {
  const { payload = new Uint8Array(0), timeoutMs = 60_000 } = options;
  const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
  return pool.run(input(order, payload, timeoutMs), services, signal, order);
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Processes of this queue that were counted as ended for the reason. */
async function endsBy(reason: string): Promise<number> {
  const { values } = await processEnds.get();
  return values.find(({ labels }) => labels.queue === 'html' && labels.reason === reason)?.value ?? 0;
}

async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(what);
}

describe('an isolated process', () => {
  test('gives back what it was given, bytes and reply, and is used again', async () => {
    const payload = Buffer.alloc(3_000_000, 42);
    const first = await run('echo', { payload });
    const second = await run('echo', { payload: Buffer.from('two') });
    assert.ok(first.ok && second.ok);
    assert.deepEqual(Buffer.from(first.payload), payload);
    assert.equal(Buffer.from(second.payload).toString(), 'two');
    assert.equal((first.reply as { pid: number }).pid, (second.reply as { pid: number }).pid);
  });

  test('streams a result larger than a message', async () => {
    const result = await run('grow');
    assert.ok(result.ok);
    assert.equal(result.payload.byteLength, 8 * 1024 * 1024);
  });

  test('one that ends inside its answer is an end like any other, and the job runs anew', async () => {
    const first = await run('echo');
    assert.ok(first.ok);
    const { pid } = first.reply as { pid: number };
    let cut = false;
    const store = async (body: AsyncIterable<Uint8Array>) => {
      const parts: Uint8Array[] = [];
      for await (const part of body) {
        parts.push(Buffer.from(part));
        if (!cut) process.kill(pid, 'SIGKILL');
        cut = true;
      }
      return Buffer.concat(parts);
    };
    const grow = input('grow', new Uint8Array(0), 60_000);
    const answer = await pool.run(grow, { ...services, store }, AbortSignal.timeout(60_000), 'grow');
    assert.ok(cut && answer.ok);
    assert.equal(answer.payload.byteLength, 8 * 1024 * 1024);
  });

  test('reaches another service and gets its bytes', async () => {
    const result = await run('call', { payload: Buffer.from('abc') });
    assert.ok(result.ok);
    assert.deepEqual(result.reply, { answered: true });
    assert.equal(Buffer.from(result.payload).toString(), 'cba');
  });

  test('hears when another service takes its job', async () => {
    const result = await run('call-told');
    assert.ok(result.ok);
    assert.deepEqual(result.reply, { started: 1, answered: true });
  });

  test("a document's fault is an answer, and the process lives on", async () => {
    const before = await run('echo');
    const refused = await run('refuse');
    const afterwards = await run('echo');
    assert.ok(!refused.ok && before.ok && afterwards.ok);
    assert.equal(refused.error.code, 'DOCUMENT_CORRUPT');
    assert.equal((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
  });

  test('an unforeseen error is UNKNOWN_ERROR without a word of its message', async () => {
    const result = await run('throw');
    assert.ok(!result.ok);
    assert.equal(result.error.code, 'UNKNOWN_ERROR');
    assert.equal(result.unexpected?.name, 'TypeError');
    assert.ok(!JSON.stringify(result).includes('SECRET'));
  });

  for (const [order, code, reason] of [
    ['crash', 'CONVERSION_FAILED', 'crash'],
    ['heap', 'DOCUMENT_TOO_COMPLEX', 'memory'],
    ['buffers', 'DOCUMENT_TOO_COMPLEX', 'memory'],
  ] as const)
    test(`${order}: ends its own process with ${code}, is counted as ${reason}, and the next job runs`, async () => {
      // A process that had done other jobs is replaced and the job tried anew, so that one more may end.
      const before = await endsBy(reason);
      await assert.rejects(run(order), (error) => error instanceof ParseError && error.code === code);
      assert.ok((await run('echo')).ok);
      const more = (await endsBy(reason)) - before;
      assert.ok(more === 1 || more === 2, `${more} more`);
    });

  test('a document that crashes whatever takes it ends two processes, however many wait', async () => {
    const together = await Promise.all(['call', 'echo', 'grow'].map((order) => run(order)));
    assert.ok(together.every(({ ok }) => ok));
    assert.ok(pool.size >= 3, `${pool.size} processes`);
    const [crashes, before] = [await endsBy('crash'), pool.size];
    await assert.rejects(run('crash'), { code: 'CONVERSION_FAILED' });
    await eventually('one idle process is gone', () => pool.size === before - 1);
    assert.equal((await endsBy('crash')) - crashes, 2);
  });

  test('spin: is killed at the deadline with REQUEST_TIMEOUT, and the next job runs', async () => {
    await assert.rejects(
      run('spin', { timeoutMs: 1_000 }),
      (error) => error instanceof ParseError && error.code === 'REQUEST_TIMEOUT',
    );
    assert.ok((await run('echo')).ok);
  });

  test('a job that listens to its signal keeps its process', async () => {
    const before = await run('echo');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const stopped = await run('obey', { signal: stop.signal });
    const afterwards = await run('echo');
    assert.ok(!stopped.ok && before.ok && afterwards.ok);
    assert.equal((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
  });

  test('what a job started dies with its process', async () => {
    const result = await run('grandchild');
    assert.ok(result.ok);
    const { pid } = result.reply as { pid: number };
    assert.ok(alive(pid));
    await assert.rejects(run('spin', { timeoutMs: 500 }));
    await eventually('the grandchild outlived its process', () => !alive(pid));
  });

  test('a process that cannot start blames no document', async () => {
    const log = createLogger({ logLevel: 'silent' }, 'test');
    const module = new URL('./testing/broken-worker.ts', import.meta.url);
    const broken = new ProcessPool({ queue: 'html', module, memoryMiB: 400, env: { PATH: process.env.PATH } }, log);
    await assert.rejects(
      broken.run(input('echo', new Uint8Array(0), 60_000), services, AbortSignal.timeout(60_000), 'echo'),
      (error) => error instanceof ParseError && error.code === 'SERVICE_UNAVAILABLE',
    );
    await broken.close();
  });

  test('runs as many at once as it is given, each in a process of its own', async () => {
    const results = await Promise.all(Array.from({ length: 3 }, () => run('grow').then(() => run('echo'))));
    assert.ok(results.every((result) => result.ok));
    assert.ok(pool.size >= 1 && pool.size <= 3);
  });
});
