// Tests which garbage collections run while Buffers pass through a process, and while they wait in it.
import assert from 'node:assert/strict';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { countStreamedBytes } from './streamed-bytes.ts';

const MiB = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

interface Collection {
  kind: number;
  flags: number;
}

/** Streams 256 MiB. Each chunk is copied once, and the last `kept` bytes stay in memory. @returns the collections that were forced meanwhile, and the most bytes of Buffers */
async function stream(kept: number): Promise<{ minor: number; major: number; mostBytes: number }> {
  const collections: Collection[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collections.push((entry as unknown as { detail: Collection }).detail);
  });
  observer.observe({ entryTypes: ['gc'] });
  const waiting: Buffer[] = [];
  let mostBytes = 0;
  for (let size = 0; size < 256 * MiB; size += CHUNK_BYTES) {
    const chunk = Buffer.from(Buffer.alloc(CHUNK_BYTES, 1));
    waiting.push(chunk);
    if (waiting.length * CHUNK_BYTES > kept) waiting.shift();
    countStreamedBytes(chunk.length);
    mostBytes = Math.max(mostBytes, process.memoryUsage().external);
    if (size % MiB === 0) await nextTurn();
  }
  await nextTurn();
  observer.disconnect();
  const forced = collections.filter(({ flags }) => flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED);
  const count = (kind: number): number => forced.filter((one) => one.kind === kind).length;
  return {
    minor: count(constants.NODE_PERFORMANCE_GC_MINOR),
    major: count(constants.NODE_PERFORMANCE_GC_MAJOR),
    mostBytes,
  };
}

test('Buffers that pass through are freed by collections of the young generation alone', async () => {
  const before = process.memoryUsage().external;
  const { minor, major, mostBytes } = await stream(0);
  assert.ok(minor >= 8, `${minor} collections of the young generation`);
  assert.equal(major, 0, 'full collections');
  assert.ok(mostBytes - before < 64 * MiB, `${mostBytes - before} bytes of Buffers`);
});

test('Buffers that wait for a slow reader and are released are freed by full collections', async () => {
  const { major, mostBytes } = await stream(64 * MiB);
  assert.ok(major >= 1, 'a full collection');
  assert.ok(mostBytes < 224 * MiB, `${mostBytes} bytes of Buffers for 64 MiB that wait`);
});
