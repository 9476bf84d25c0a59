// Checks that temporary files can be written, so that a full or read-only disk is not blamed on a document and the worker knows when it can work again.
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { folderError } from '../contract/machine-fault.ts';

/** Bytes of a file that is written for the check. Some disks report a full quota only when data is written. */
const PROBE_BYTES = 64 * 1024;

/**
 * Writes a file and removes it.
 * @returns the error of the system, with its `code`; undefined if the disk can be used
 */
export async function temporaryDiskError(folder: string = tmpdir()): Promise<Error | undefined> {
  let probe: string | undefined;
  try {
    probe = await mkdtemp(join(folder, 'parsemesh-probe-'));
    await writeFile(join(probe, 'probe'), Buffer.alloc(PROBE_BYTES));
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= DOCUMENT_LIMITS.temporaryDiskBytes) return undefined;
    return Object.assign(new Error('the disk for temporary files is nearly full'), { code: 'ENOSPC' });
  } catch (error) {
    return folderError('no temporary file can be written', error);
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true }).catch(() => undefined);
  }
}
