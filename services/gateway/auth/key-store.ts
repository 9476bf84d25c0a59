// Defines the storage that `npm run keys` changes, and implements it for the keys file; secret-store.ts implements it for Secrets.
import type { Config } from '#shared/runtime/config.ts';
import { changeKeyFile, readKeyFile } from './key-file.ts';
import { hashToken, type Key } from './keys.ts';

export interface KeyStore {
  add(key: Key): Promise<void>;
  list(): Promise<readonly Key[]>;
  /** Revokes the key with this value or id that is not revoked. @param revokedBy who does it @returns the key, or undefined if there is none */
  revoke(valueOrId: string, revokedBy: string): Promise<Key | undefined>;
}

/** Finds the key with this value or id that is not revoked. */
export function findKey<K extends Key>(keys: readonly K[], valueOrId: string): K | undefined {
  const hash = hashToken(valueOrId);
  return keys.find((key) => key.revokedAt === undefined && (key.sha256 === hash || key.id === valueOrId));
}

export function openFileStore({ keysFile }: Pick<Config, 'keysFile'>): KeyStore {
  return {
    add: (key) => changeKeyFile(keysFile, (keys) => ({ keys: [...(keys ?? []), key], result: undefined })),
    list: async () => (await readKeyFile(keysFile)) ?? [],
    revoke: (valueOrId, revokedBy) =>
      changeKeyFile(keysFile, (keys = []) => {
        const key = findKey(keys, valueOrId);
        if (!key) return { keys: undefined, result: undefined };
        const revoked = { ...key, revokedAt: new Date().toISOString(), revokedBy };
        return { keys: keys.map((other) => (other === key ? revoked : other)), result: revoked };
      }),
  };
}
