// Keys from a file that is watched, so that a key made or revoked on the command line counts within a second.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from '#shared/runtime/log.ts';
import { changeKeyFile, KeyFileError, readKeyFile } from './key-file.ts';
import { FIRST_KEY_PLAN, hashToken, type Key, KeyRing, type KeySource, makeKey, randomToken } from './keys.ts';

/** Watching misses changes on some file systems; looking at the file's stamp does not. */
const POLL_MS = 400;

interface Prepared {
  keys: Key[];
  firstKey: string | undefined;
}

/** Makes the file with one key where there is none, and adds the operator's `API_KEY` where it lacks it. */
function prepare(path: string, apiKey: string | undefined): Promise<Prepared> {
  return changeKeyFile(path, (found) => {
    const keys = found ?? [];
    const wanted = apiKey ?? (found === undefined ? randomToken() : undefined);
    if (wanted === undefined || keys.some((key) => key.sha256 === hashToken(wanted)))
      return { keys: undefined, result: { keys, firstKey: undefined } };
    const next = [...keys, makeKey(wanted, FIRST_KEY_PLAN)];
    return { keys: next, result: { keys: next, firstKey: found === undefined ? wanted : undefined } };
  });
}

/**
 * Opens the keys file, makes it on the first start, and follows its changes. A file that is broken later keeps the
 * last keys that were read.
 * @throws KeyFileError where the file is broken at the start
 */
export async function openFileKeys(options: {
  path: string;
  apiKey: string | undefined;
  log: Logger;
}): Promise<KeySource> {
  const { path, log } = options;
  const prepared = await prepare(path, options.apiKey);
  let ring = new KeyRing(prepared.keys);
  let stamp = '';
  let reading: Promise<void> | undefined;

  const reread = async (): Promise<void> => {
    const found = await stat(path).catch(() => undefined);
    const seen = found ? `${found.ino}:${found.mtimeMs}:${found.size}` : 'gone';
    if (seen === stamp) return;
    stamp = seen;
    try {
      const keys = await readKeyFile(path);
      if (keys) ring = new KeyRing(keys);
      else log.warn('the keys file is gone; the last known keys still count');
    } catch (error) {
      const reason = error instanceof KeyFileError ? error.message : 'it cannot be read';
      log.error({ reason }, 'the keys file is broken; the last known keys still count');
    }
  };
  const look = (): void => {
    reading ??= reread().finally(() => {
      reading = undefined;
    });
  };

  await reread();
  const poll = setInterval(look, POLL_MS).unref();
  let watcher: FSWatcher | undefined;
  try {
    const name = basename(path);
    watcher = watch(dirname(path), { persistent: false }, (_event, changed) => {
      if (changed === null || changed === name) look();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // Out of watches: the poll alone is within a second too.
  }
  return {
    find: (token) => ring.find(token),
    ready: () => true,
    firstKey: prepared.firstKey,
    close: async () => {
      clearInterval(poll);
      watcher?.close();
      await reading;
    },
  };
}
