// Reads API keys from a watched file, so that a key created or revoked on the command line takes effect within a second.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from '#shared/runtime/log.ts';
import { changeKeyFile, KeyFileError, readKeyFile } from './key-file.ts';
import {
  FIRST_KEY_PLAN,
  hashToken,
  type Key,
  KeyIndex,
  type KeyObserver,
  type KeySource,
  makeKey,
  randomToken,
} from './keys.ts';

/** Some file systems do not report changes to a watcher, so the file's timestamp and size are polled too. */
const POLL_MS = 400;

/**
 * Opens the keys file, creates it on the first start, and follows its changes. If the file becomes invalid later, the last
 * valid keys stay active.
 * @throws KeyFileError if the file is invalid at the start
 */
export async function openFileKeys(options: {
  path: string;
  apiKey: string | undefined;
  log: Logger;
  onKeys: KeyObserver;
}): Promise<KeySource> {
  const { path, log, onKeys } = options;
  const { existing, firstKey } = await prepareKeyFile(path, options.apiKey);
  // The keys that existed before this start come first, so that a key that it created counts as new.
  onKeys(existing.map((key) => ({ key, version: '' })));
  const file = new WatchedKeyFile(path, log, onKeys);
  await file.reload();
  const stopWatching = watchFile(path, () => file.reloadInBackground());
  return {
    find: (token) => file.index.find(token),
    ready: () => true,
    firstKey,
    close: async () => {
      stopWatching();
      await file.reloaded();
    },
  };
}

interface PreparedKeys {
  /** The keys that were in the file before. */
  existing: readonly Key[];
  /** Set if the file was created. */
  firstKey: string | undefined;
}

/** Creates the file with one key if it does not exist, and adds the operator's `API_KEY` if it is missing. */
function prepareKeyFile(path: string, apiKey: string | undefined): Promise<PreparedKeys> {
  return changeKeyFile(path, (keys) => {
    const existing = keys ?? [];
    const token = apiKey ?? (keys === undefined ? randomToken() : undefined);
    if (token === undefined || existing.some((key) => key.sha256 === hashToken(token)))
      return { keys: undefined, result: { existing, firstKey: undefined } };
    const createdBy = apiKey === undefined ? 'first start of the gateway' : 'API_KEY';
    const next = [...existing, makeKey(token, { ...FIRST_KEY_PLAN, createdBy })];
    return { keys: next, result: { existing, firstKey: keys === undefined ? token : undefined } };
  });
}

/** The keys of a file, reloaded when the file has changed. */
class WatchedKeyFile {
  index = new KeyIndex([]);
  readonly #path: string;
  readonly #log: Logger;
  readonly #onKeys: KeyObserver;
  /** Inode, modification time and size at the last load. */
  #version = '';
  #reloading: Promise<void> | undefined;

  constructor(path: string, log: Logger, onKeys: KeyObserver) {
    this.#path = path;
    this.#log = log;
    this.#onKeys = onKeys;
  }

  async reload(): Promise<void> {
    const stats = await stat(this.#path).catch(() => undefined);
    const version = stats ? `${stats.ino}:${stats.mtimeMs}:${stats.size}` : 'missing';
    if (version === this.#version) return;
    this.#version = version;
    try {
      const keys = await readKeyFile(this.#path);
      if (keys) {
        this.index = new KeyIndex(keys);
        this.#onKeys(keys.map((key) => ({ key, version })));
      } else this.#log.warn('the keys file is missing; the last valid keys stay active');
    } catch (error) {
      const reason = error instanceof KeyFileError ? error.message : 'it cannot be read';
      this.#log.error({ reason }, 'the keys file is invalid; the last valid keys stay active');
    }
  }

  /** Starts a reload unless one is running. */
  reloadInBackground(): void {
    this.#reloading ??= this.reload().finally(() => {
      this.#reloading = undefined;
    });
  }

  /** Resolves when no reload is running. */
  async reloaded(): Promise<void> {
    await this.#reloading;
  }
}

/** Calls `onChange` when the file may have changed. @returns a function that stops it */
function watchFile(path: string, onChange: () => void): () => void {
  const poll = setInterval(onChange, POLL_MS).unref();
  let watcher: FSWatcher | undefined;
  try {
    const name = basename(path);
    watcher = watch(dirname(path), { persistent: false }, (_event, changed) => {
      if (changed === null || changed === name) onChange();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // The system has no file watches left. Polling alone also finds a change within a second.
  }
  return () => {
    clearInterval(poll);
    watcher?.close();
  };
}
