// Reads and changes the file of hashed keys, so that a reader never sees half a write and two writers never lose one.
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Key, keySchema } from './keys.ts';

const keyFileSchema = z.object({ version: z.literal(1), keys: z.array(keySchema) });

const LOCK_WAIT_MS = 25;
/** A lock this old was left by a process that died. */
const LOCK_STALE_MS = 5_000;

/** The file is not a list of keys; says what is wrong with it. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';

/**
 * The keys of a file, or undefined where there is no file.
 * @throws KeyFileError where its content is not ours
 */
export async function readKeyFile(path: string): Promise<Key[] | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
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

async function lock(path: string): Promise<() => Promise<void>> {
  const lockPath = `${path}.lock`;
  for (;;) {
    try {
      const file = await open(lockPath, 'wx', 0o600);
      await file.close();
      return () => rm(lockPath, { force: true });
    } catch (error) {
      if (!isTaken(error)) throw error;
      const held = await stat(lockPath).catch(() => undefined);
      if (held && Date.now() - held.mtimeMs > LOCK_STALE_MS) await rm(lockPath, { force: true });
      else await sleep(LOCK_WAIT_MS);
    }
  }
}

/**
 * Changes the file in one step; readable by its owner alone.
 * @param change gets undefined where there is no file yet; giving back `keys: undefined` writes nothing
 * @throws KeyFileError where what is there is not ours (it is left as it is)
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
