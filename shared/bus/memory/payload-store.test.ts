// Tests when the memory payload store uses files, and which folders it removes when it starts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { machineFaultOf } from '#shared/contract/machine-fault.ts';
import { noMountReason, SmallDisk } from '#test/harness/small-disk.ts';
import { StoreFullError } from '../bus.ts';
import { createMemoryTransport } from '../memory.ts';
import { inChunks, MiB } from '../testing/payloads.ts';

it('stores a durable payload in a file only if it does not fit into memory, and reuses the memory of deleted payloads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
  const { payloads, close } = createMemoryTransport({ folder });
  const limit = TRANSPORT_LIMITS.memoryPayloadBytes;
  const put = (source: AsyncIterable<Uint8Array>) => payloads.put(source, { volatile: false });
  const putBytes = (size: number) => put(inChunks(randomBytes(size)));
  const countFiles = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;
  const inMemory = [await putBytes(limit / 2), await putBytes(limit / 2)];
  assert.equal(await countFiles(), 0);
  const inFile = await putBytes(1);
  assert.equal(await countFiles(), 1);
  for (const ref of [...inMemory, inFile]) await payloads.delete(ref);
  assert.equal(await countFiles(), 0);

  const tooLarge = await putBytes(limit + MiB);
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield randomBytes(limit);
    throw new Error('the upload stalled');
  }
  await assert.rejects(put(failing()));
  await putBytes(limit);
  assert.equal(await countFiles(), 1, 'neither the payload in a file nor the failed one uses memory');
  await payloads.delete(tooLarge);
  await close();
  await rm(folder, { recursive: true });
});

it('removes the folders of exited processes when it starts, and no other folders', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bus-test-'));
  const running = createMemoryTransport({ folder });
  await running.payloads.put(inChunks(randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes + 1)), { volatile: false });
  const [name = ''] = await readdir(folder);
  assert.equal((await stat(join(folder, name))).mode & 0o777, 0o700);
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  await mkdir(join(folder, name.replace(`-${process.pid}-`, `-${child.pid}-`)));
  await mkdir(join(folder, 'of-another-program'));
  const next = createMemoryTransport({ folder });
  assert.deepEqual((await readdir(folder)).sort(), ['of-another-program', name].sort());
  await next.close();
  await running.close();
  await rm(folder, { recursive: true });
});

for (const [fault, code] of [
  ['full', 'ENOSPC'],
  ['read-only', 'EROFS'],
] as const)
  it(`reports a disk that is ${fault} as a full store, keeps nothing of the payload, and works again afterwards`, {
    skip: noMountReason,
  }, async () => {
    const disk = new SmallDisk(64);
    const { payloads, close } = createMemoryTransport({ folder: disk.folder });
    const put = () =>
      payloads.put(inChunks(randomBytes(TRANSPORT_LIMITS.memoryPayloadBytes + MiB)), { volatile: false });
    try {
      if (fault === 'full') disk.fill();
      else disk.makeReadOnly();
      for (const _ of [1, 2])
        await assert.rejects(put(), (error) => error instanceof StoreFullError && machineFaultOf(error) === code);
      if (fault === 'full') disk.empty();
      else disk.makeWritable();
      const files = (await readdir(disk.folder, { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      );
      assert.deepEqual(files, []);
      const ref = await put();
      assert.equal(ref.size, TRANSPORT_LIMITS.memoryPayloadBytes + MiB);
    } finally {
      await close();
      disk.remove();
    }
  });
