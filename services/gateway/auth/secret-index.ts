// Finds the keys of a changing set of Secrets, and logs each invalid Secret once.
import type { V1Secret } from '@kubernetes/client-node';
import type { Logger } from '#shared/runtime/log.ts';
import { type Key, KeyIndex } from './keys.ts';
import { parseSecret, SecretError } from './secret.ts';

const nameOf = (secret: V1Secret): string => secret.metadata?.name ?? '';

export class SecretIndex {
  readonly #log: Pick<Logger, 'error'>;
  /** By Secret name. `key` is undefined for an invalid Secret. */
  readonly #entries = new Map<string, { version: string | undefined; key: Key | undefined }>();
  /** Undefined after a change. */
  #index: KeyIndex | undefined;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Sets all Secrets and deletes the ones that are not in the list. */
  replaceAll(secrets: readonly V1Secret[]): void {
    const names = new Set(secrets.map(nameOf));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#delete(name);
    for (const secret of secrets) this.set(secret);
  }

  /** Adds or updates a Secret. An invalid Secret gives no key. */
  set(secret: V1Secret): void {
    const name = nameOf(secret);
    const version = secret.metadata?.resourceVersion;
    if (version !== undefined && this.#entries.get(name)?.version === version) return;
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
  }

  delete(secret: V1Secret): void {
    this.#delete(nameOf(secret));
  }

  /** Returns the active key with this value. */
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
    return [...this.#entries.values()].flatMap(({ key }) => (key ? [key] : []));
  }

  #delete(name: string): void {
    this.#entries.delete(name);
    this.#index = undefined;
  }
}
