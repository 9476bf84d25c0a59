// Tests that a conversion that crashes, loops, hangs or uses too much memory ends only its own process, and that the next job runs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { after, describe, test } from 'node:test';
import { ParseError } from '../../contract/errors.ts';
import type { Job } from '../../contract/jobs.ts';
import { createLogger } from '../log.ts';
import { processEnds } from '../metrics.ts';
import { ProcessPool } from './pool.ts';
import type { JobInput, JobServices } from './process.ts';

const poolOf = (module: string, options?: { cancelGraceMs: number }): ProcessPool =>
  new ProcessPool(
    {
      queue: 'html',
      module: new URL(`./testing/${module}`, import.meta.url),
      memoryMiB: 400,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      needs: ['programs'],
    },
    createLogger({ logLevel: 'silent' }, 'test'),
    options,
  );
const pool = poolOf('hostile-worker.ts');
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

function input(requestId: string, payload: Uint8Array, timeoutMs: number): () => Promise<JobInput> {
  const job: Job = { kind: 'ocr', requestId, pageNumber: 1, width: 1, height: 1, dpi: 72, languages: [] };
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

async function run(requestId: string, options: { payload?: Uint8Array; timeoutMs?: number; on?: ProcessPool } = {}) {
  const { payload = new Uint8Array(0), timeoutMs = 60_000, on = pool } = options;
  return on.run(input(requestId, payload, timeoutMs), services, AbortSignal.timeout(timeoutMs), requestId);
}

/** The nice value of the session of a process; undefined if the kernel does not compare sessions. */
function readAutogroup(pid: number): number | undefined {
  try {
    const isEnabled = readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').trim() === '1';
    const nice = / nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1];
    return isEnabled && nice !== undefined ? Number(nice) : undefined;
  } catch {
    return undefined;
  }
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** How many processes of this queue the metric counts as ended for this reason. */
async function endsBy(reason: string): Promise<number> {
  const { values } = await processEnds.get();
  return values.find(({ labels }) => labels.queue === 'html' && labels.reason === reason)?.value ?? 0;
}

async function until(condition: string, isTrue: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`did not become true within 60 s: ${condition}`);
}

describe('an isolated process', () => {
  test('returns reply and payload, and runs the next job in the same process', async () => {
    const payload = Buffer.alloc(3_000_000, 42);
    const first = await run('echo', { payload });
    const second = await run('echo', { payload: Buffer.from('two') });
    assert.ok(first.ok && second.ok);
    assert.deepEqual(Buffer.from(first.payload), payload);
    assert.equal(Buffer.from(second.payload).toString(), 'two');
    assert.equal((first.reply as { pid: number }).pid, (second.reply as { pid: number }).pid);
  });

  test('streams a result of 8 MiB', async () => {
    const result = await run('grow');
    assert.ok(result.ok);
    assert.equal(result.payload.byteLength, 8 * 1024 * 1024);
  });

  test('stores a result that is written as a stream, part by part', async () => {
    const result = await run('stream');
    assert.ok(result.ok);
    assert.deepEqual(result.reply, { streamed: true });
    const expected = Buffer.concat(Array.from({ length: 8 }, (_, part) => Buffer.alloc(1024 * 1024, part)));
    assert.ok(expected.equals(result.payload));
  });

  test('returns the error of a stream, fails the store that has parts of it, and keeps the process', async () => {
    const before = await run('echo');
    let failure: unknown;
    const store: typeof services.store = (body) =>
      services.store(body).catch((error: unknown) => {
        failure = error;
        throw error;
      });
    const open = input('stream-refuse', new Uint8Array(0), 60_000);
    const refused = await pool.run(open, { ...services, store }, AbortSignal.timeout(60_000), 'stream-refuse');
    const afterwards = await run('echo');
    assert.ok(!refused.ok && before.ok && afterwards.ok);
    assert.equal(refused.error.code, 'DOCUMENT_TOO_COMPLEX');
    assert.ok(failure instanceof Error, 'the store must not take the parts for a complete result');
    assert.equal((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
  });

  test('rejects with the error of a store that stops in the middle of a stream', async () => {
    const store = async (body: AsyncIterable<Uint8Array>): Promise<never> => {
      for await (const _part of body) throw new Error('the store is full');
      throw new Error('no part arrived');
    };
    const open = input('stream', new Uint8Array(0), 60_000);
    await assert.rejects(
      pool.run(open, { ...services, store }, AbortSignal.timeout(60_000), 'stream'),
      /the store is full/,
    );
    assert.ok((await run('echo')).ok);
  });

  for (const job of ['grow', 'stream'])
    test(`runs the job ${job} again when a used process is killed while it sends the result`, async () => {
      const first = await run('echo');
      assert.ok(first.ok);
      const { pid } = first.reply as { pid: number };
      let killed = false;
      const store = async (body: AsyncIterable<Uint8Array>) => {
        const parts: Uint8Array[] = [];
        for await (const part of body) {
          parts.push(Buffer.from(part));
          if (!killed) process.kill(pid, 'SIGKILL');
          killed = true;
        }
        return Buffer.concat(parts);
      };
      const open = input(job, new Uint8Array(0), 60_000);
      const answer = await pool.run(open, { ...services, store }, AbortSignal.timeout(60_000), job);
      assert.ok(killed && answer.ok);
      assert.equal(answer.payload.byteLength, 8 * 1024 * 1024);
    });

  test('calls another service and receives its reply and payload', async () => {
    const result = await run('call', { payload: Buffer.from('abc') });
    assert.ok(result.ok);
    assert.deepEqual(result.reply, { answered: true });
    assert.equal(Buffer.from(result.payload).toString(), 'cba');
  });

  test('is notified when a worker of the other service starts the job', async () => {
    const result = await run('call-started');
    assert.ok(result.ok);
    assert.deepEqual(result.reply, { started: 1, answered: true });
  });

  test('returns a ParseError of the worker as a result and keeps the process', async () => {
    const before = await run('echo');
    const refused = await run('refuse');
    const afterwards = await run('echo');
    assert.ok(!refused.ok && before.ok && afterwards.ok);
    assert.equal(refused.error.code, 'DOCUMENT_CORRUPT');
    assert.equal((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
  });

  test('returns an unexpected error as UNKNOWN_ERROR without its message', async () => {
    const result = await run('throw');
    assert.ok(!result.ok);
    assert.equal(result.error.code, 'UNKNOWN_ERROR');
    assert.equal(result.unexpected?.name, 'TypeError');
    assert.ok(!JSON.stringify(result).includes('SECRET'));
  });

  for (const [requestId, code, reason] of [
    ['crash', 'CONVERSION_FAILED', 'crash'],
    ['heap', 'DOCUMENT_TOO_COMPLEX', 'memory'],
    ['buffers', 'DOCUMENT_TOO_COMPLEX', 'memory'],
  ] as const)
    test(`job ${requestId}: rejects with ${code}, counts the exit as ${reason}, and runs the next job`, async () => {
      // If the process had run other jobs, the pool tries the job again in a new process, so two may end.
      const before = await endsBy(reason);
      await assert.rejects(run(requestId), (error) => error instanceof ParseError && error.code === code);
      assert.ok((await run('echo')).ok);
      const more = (await endsBy(reason)) - before;
      assert.ok(more === 1 || more === 2, `${more} more processes ended`);
    });

  test('a document that crashes every process ends only two of them, and both are replaced', async () => {
    const results = await Promise.all(['call', 'echo', 'grow'].map((requestId) => run(requestId)));
    assert.ok(results.every(({ ok }) => ok));
    assert.ok(pool.size >= 3, `${pool.size} processes`);
    const [crashes, before] = [await endsBy('crash'), pool.size];
    await assert.rejects(run('crash'), { code: 'CONVERSION_FAILED' });
    await until('the processes that ended are replaced', () => pool.size === before);
    assert.equal((await endsBy('crash')) - crashes, 2);
  });

  test('kills a job that blocks the event loop at its deadline, rejects with REQUEST_TIMEOUT, and runs the next job', async () => {
    await assert.rejects(
      run('spin', { timeoutMs: 1_000 }),
      (error) => error instanceof ParseError && error.code === 'REQUEST_TIMEOUT',
    );
    assert.ok((await run('echo')).ok);
  });

  for (const kills of [1, 2])
    test(`a job whose process the system kills ${kills === 1 ? 'once runs again' : 'twice is rejected with SERVICE_UNAVAILABLE'}`, async () => {
      const fresh = poolOf('hostile-worker.ts');
      let calls = 0;
      const call: typeof services.call = async (_queue, _job, payload) => {
        calls += 1;
        return { ok: true, reply: { killed: calls <= kills }, payload };
      };
      const open = input('killed-if-told', new Uint8Array(0), 60_000);
      const result = fresh.run(open, { ...services, call }, AbortSignal.timeout(60_000), 'killed-if-told');
      if (kills === 1) assert.ok((await result).ok);
      else await assert.rejects(result, { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
      assert.equal(calls, 2);
      await fresh.close();
    });

  test('replaces a process that was killed at its deadline, and the next job runs in the new one', async () => {
    const replacing = poolOf('hostile-worker.ts');
    const before = await run('echo', { on: replacing });
    await assert.rejects(run('spin', { timeoutMs: 500, on: replacing }), { code: 'REQUEST_TIMEOUT' });
    await until('a process runs although there is no job', () => replacing.size === 1);
    const afterwards = await run('echo', { on: replacing });
    assert.ok(before.ok && afterwards.ok);
    assert.notEqual((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
    assert.equal(replacing.size, 1, 'the job did not start another process');
    await replacing.close();
    assert.equal(replacing.size, 0);
  });

  test('rejects with SERVICE_UNAVAILABLE while this process has no file descriptors, and does not exit', async () => {
    const script = `
      import { openSync } from 'node:fs';
      import { ProcessPool } from ${JSON.stringify(new URL('./pool.ts', import.meta.url).href)};
      const spec = { queue: 'html', module: new URL(${JSON.stringify(new URL('./testing/hostile-worker.ts', import.meta.url).href)}), memoryMiB: 400, env: {} };
      const pool = new ProcessPool(spec, { warn() {} });
      try { for (;;) openSync('/dev/null', 'r'); } catch (error) { if (error.code !== 'EMFILE') throw error; }
      const codes = [];
      for (const _ of [1, 2])
        await pool.run(async () => { throw new Error('no process may start'); }, {}, new AbortController().signal, 'r').catch((error) => codes.push(error.code));
      await new Promise((resolve) => setTimeout(resolve, 50));
      process.send(codes, () => process.exit(0));
    `;
    const args = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script];
    const child = spawn('/bin/sh', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [codes] = await once(child, 'message');
    assert.deepEqual(codes, ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
  });

  test('does not replace a process that did not start', async () => {
    const broken = poolOf('broken-worker.ts');
    await assert.rejects(run('echo', { on: broken }), { code: 'SERVICE_UNAVAILABLE' });
    assert.equal(broken.size, 0);
    await broken.close();
  });

  test('keeps the process of a job that stops at the cancel signal', async () => {
    const slowPool = poolOf('hostile-worker.ts', { cancelGraceMs: 60_000 });
    const before = await run('echo', { on: slowPool });
    const requester = new AbortController();
    const call: typeof services.call = (...args) => services.call(...args).finally(() => requester.abort());
    const open = input('wait-for-cancel', new Uint8Array(0), 60_000);
    const stopped = await slowPool.run(open, { ...services, call }, requester.signal, 'wait-for-cancel');
    const afterwards = await run('echo', { on: slowPool });
    await slowPool.close();
    assert.ok(!stopped.ok && before.ok && afterwards.ok);
    assert.equal((before.reply as { pid: number }).pid, (afterwards.reply as { pid: number }).pid);
  });

  test('gives no job to a process that was killed after it had sent its result', async () => {
    const slowPool = poolOf('hostile-worker.ts', { cancelGraceMs: 1 });
    const requester = new AbortController();
    // The result is stored in the moment between the kill and the exit of the process.
    const store: typeof services.store = async (body) => {
      requester.abort();
      await new Promise((resolve) => setTimeout(resolve, 1));
      return services.store(body);
    };
    const open = input('echo', new Uint8Array(0), 60_000);
    const killed = await slowPool.run(open, { ...services, store }, requester.signal, 'echo');
    const next = await run('echo', { on: slowPool });
    await slowPool.close();
    assert.ok(killed.ok && next.ok);
    assert.notEqual((killed.reply as { pid: number }).pid, (next.reply as { pid: number }).pid);
  });

  test('kills the child processes of a job together with its process', async () => {
    const result = await run('grandchild');
    assert.ok(result.ok);
    const { pid } = result.reply as { pid: number };
    assert.ok(alive(pid));
    await assert.rejects(run('spin', { timeoutMs: 500 }));
    await until('the child process has ended', () => !alive(pid));
  });

  test('runs a job and the programs that it starts with a lower priority than its service', async () => {
    const [own, child] = [await run('echo'), await run('grandchild')];
    assert.ok(own.ok && child.ok);
    for (const { pid } of [own.reply, child.reply] as { pid: number }[]) {
      assert.ok(getPriority(pid) > getPriority(), `priority ${getPriority(pid)}`);
      const session = readAutogroup(pid);
      assert.ok(session === undefined || session > (readAutogroup(process.pid) ?? 0), `session priority ${session}`);
    }
  });

  test('rejects with SERVICE_UNAVAILABLE if the process does not start', async () => {
    const broken = poolOf('broken-worker.ts');
    await assert.rejects(
      broken.run(input('echo', new Uint8Array(0), 60_000), services, AbortSignal.timeout(60_000), 'echo'),
      (error) => error instanceof ParseError && error.code === 'SERVICE_UNAVAILABLE',
    );
    await broken.close();
  });

  test('runs concurrent jobs in separate processes and reuses idle ones', async () => {
    const results = await Promise.all(Array.from({ length: 3 }, () => run('grow').then(() => run('echo'))));
    assert.ok(results.every((result) => result.ok));
    await until('at most three processes run', () => pool.size >= 1 && pool.size <= 3);
  });
});
