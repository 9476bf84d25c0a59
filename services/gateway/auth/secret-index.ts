// Finds the keys of a changing set of Secrets, and logs each invalid Secret once.
import type { V1Secret } from '@kubernetes/client-node';
import type { Logger } from '#shared/runtime/log.ts';
import { type Key, KeyIndex, type KeyObserver, type StoredKey } from './keys.ts';
import { parseSecret, SecretError } from './secret.ts';

const nameOf = (secret: V1Secret): string => secret.metadata?.name ?? '';

export class SecretIndex {
  readonly #log: Pick<Logger, 'error'>;
  readonly #onKeys: KeyObserver;
  /** By Secret name. `key` is undefined for an invalid Secret. */
  readonly #entries = new Map<string, { version: string | undefined; key: Key | undefined }>();
  /** Undefined after a change. */
  #index: KeyIndex | undefined;

  /** @param onKeys is called after each list and each change */
  constructor(log: Pick<Logger, 'error'>, onKeys: KeyObserver) {
    this.#log = log;
    this.#onKeys = onKeys;
  }

  /** Sets all Secrets and deletes the ones that are not in the list. */
  replaceAll(secrets: readonly V1Secret[]): void {
    const names = new Set(secrets.map(nameOf));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#delete(name);
    for (const secret of secrets) this.#set(secret);
    this.#onKeys(this.#stored());
  }

  /** Adds or updates a Secret. An invalid Secret gives no key. */
  set(secret: V1Secret): void {
    if (this.#set(secret)) this.#onKeys(this.#stored());
  }

  /** @returns false if this version of the Secret is known */
  #set(secret: V1Secret): boolean {
    const name = nameOf(secret);
    const version = secret.metadata?.resourceVersion;
    if (version !== undefined && this.#entries.get(name)?.version === version) return false;
    let key: Key | undefined;
    try {
      key = parseSecret(secret);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      this.#log.error(
        { secret: name, reason: error.message },
        'a Secret with the API key label is not a valid key; correct the field or remove the label',
      );
    }
    this.#entries.set(name, { version, key });
    this.#index = undefined;
    return true;
  }

  delete(secret: V1Secret): void {
    this.#delete(nameOf(secret));
    this.#onKeys(this.#stored());
  }

  /** Returns the key with this value, if it is not revoked. */
  find(token: string): Key | undefined {
    // Built on the first lookup after a change, so that a list of thousands of Secrets builds it once.
    this.#index ??= new KeyIndex(this.#keys());
    return this.#index.find(token);
  }

  /** Number of valid keys. */
  get size(): number {
    return this.#keys().length;
  }

  #keys(): Key[] {
    return this.#stored().map(({ key }) => key);
  }

  #stored(): StoredKey[] {
    return [...this.#entries.values()].flatMap(({ key, version = '' }) => (key ? [{ key, version }] : []));
  }

  #delete(name: string): void {
    this.#entries.delete(name);
    this.#index = undefined;
  }
}
