// Where `npm run keys` keeps what it makes: the keys file, or Secrets of a cluster.
import type { Config } from '#shared/runtime/config.ts';
import { changeKeyFile, readKeyFile } from './key-file.ts';
import { hashToken, type Key } from './keys.ts';

export interface KeyStore {
  add(key: Key): Promise<void>;
  list(): Promise<readonly Key[]>;
  /** Revokes the live key with this value or id. @returns it, or undefined where there is none */
  revoke(wanted: string): Promise<Key | undefined>;
}

/** The live key that has this value or this id. */
export function findKey<K extends Key>(keys: readonly K[], wanted: string): K | undefined {
  const hash = hashToken(wanted);
  return keys.find((key) => key.revokedAt === undefined && (key.sha256 === hash || key.id === wanted));
}

export function openFileStore({ keysFile }: Pick<Config, 'keysFile'>): KeyStore {
  return {
    add: (key) => changeKeyFile(keysFile, (keys) => ({ keys: [...(keys ?? []), key], result: undefined })),
    list: async () => (await readKeyFile(keysFile)) ?? [],
    revoke: (wanted) =>
      changeKeyFile(keysFile, (keys = []) => {
        const key = findKey(keys, wanted);
        if (!key) return { keys: undefined, result: undefined };
        const marked = { ...key, revokedAt: new Date().toISOString() };
        return { keys: keys.map((one) => (one === key ? marked : one)), result: marked };
      }),
  };
}
