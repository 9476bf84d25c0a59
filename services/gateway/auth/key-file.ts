// Reads and changes the file of hashed keys, with atomic writes and a lock against parallel writers.
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Key, keySchema } from './keys.ts';

const keyFileSchema = z.object({ version: z.literal(1), keys: z.array(keySchema) });

const LOCK_RETRY_MS = 25;
/** A lock of this age was left by a process that crashed. */
const LOCK_STALE_MS = 5_000;

/** The keys file is invalid. The message gives the reason. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/**
 * Returns the keys of a file, or undefined if the file does not exist.
 * @throws KeyFileError if the file is not a valid keys file
 */
export async function readKeyFile(path: string): Promise<Key[] | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new KeyFileError('the keys file is not JSON', { cause: error });
  }
  const result = keyFileSchema.safeParse(raw);
  if (result.success) return result.data.keys;
  const first = result.error.issues[0];
  throw new KeyFileError(`the keys file is not valid: ${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`);
}

/**
 * Changes the file atomically. Only its owner may read it.
 * @param change receives undefined if the file does not exist; if it returns `keys: undefined`, nothing is written
 * @throws KeyFileError if the existing file is invalid; the file is then left unchanged
 */
export async function changeKeyFile<T>(
  path: string,
  change: (keys: Key[] | undefined) => { keys: Key[] | undefined; result: T },
): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unlock = await lock(path);
  try {
    const { keys, result } = change(await readKeyFile(path));
    if (keys) await writeKeyFile(path, keys);
    return result;
  } finally {
    await unlock();
  }
}

async function writeKeyFile(path: string, keys: readonly Key[]): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Waits for the lock file. @returns a function that removes it */
async function lock(path: string): Promise<() => Promise<void>> {
  const lockPath = `${path}.lock`;
  for (;;) {
    try {
      const file = await open(lockPath, 'wx', 0o600);
      await file.close();
      return () => rm(lockPath, { force: true });
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
      const existing = await stat(lockPath).catch(() => undefined);
      if (existing && Date.now() - existing.mtimeMs > LOCK_STALE_MS) await rm(lockPath, { force: true });
      else await sleep(LOCK_RETRY_MS);
    }
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
