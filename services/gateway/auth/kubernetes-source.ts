// Keys from labelled Secrets, followed by an informer, so that a revoked key is refused within a second and an API server that is away stops nobody.
import { setTimeout as sleep } from 'node:timers/promises';
import { ListWatch, Observable, type ObservableMiddleware, type V1Secret, Watch } from '@kubernetes/client-node';
import { KEYS_LIMITS } from '#shared/contract/limits.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { describeFault, type KeysPlace } from './cluster.ts';
import { type Key, KeyRing, type KeySource } from './keys.ts';
import { readSecret, SecretError } from './secret.ts';

/** Puts a time limit on one question, since a connection that is half open never fails by itself. */
const timeLimit: ObservableMiddleware = {
  pre: (request) => {
    request.setSignal(AbortSignal.timeout(KEYS_LIMITS.apiTimeoutMs));
    return new Observable(Promise.resolve(request));
  },
  post: (response) => new Observable(Promise.resolve(response)),
};

/** Keys by the name of their Secret; one that is not valid is said once and counts for nothing. */
export class SecretRing {
  readonly #log: Pick<Logger, 'error'>;
  /** What is known of a Secret, by the version that was read. */
  readonly #known = new Map<string, { version: string | undefined; key: Key | undefined }>();
  #ring: KeyRing | undefined;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Replaces all by what a list gave. */
  replace(secrets: readonly V1Secret[]): void {
    const names = new Set(secrets.map(nameOf));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#forget(name);
    for (const secret of secrets) this.put(secret);
  }

  put(secret: V1Secret): void {
    const name = nameOf(secret);
    const version = secret.metadata?.resourceVersion;
    if (version !== undefined && this.#known.get(name)?.version === version) return;
    let key: Key | undefined;
    try {
      key = readSecret(secret);
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      this.#log.error({ secret: name, reason: error.message }, 'a Secret that is labelled as an API key is not valid');
    }
    this.#known.set(name, { version, key });
    this.#ring = undefined;
  }

  remove(secret: V1Secret): void {
    this.#forget(nameOf(secret));
  }

  find(token: string): Key | undefined {
    // Made when it is asked for: a list of thousands changes it once, not a thousand times.
    this.#ring ??= new KeyRing([...this.#known.values()].flatMap(({ key }) => (key ? [key] : [])));
    return this.#ring.find(token);
  }

  get size(): number {
    return [...this.#known.values()].filter(({ key }) => key !== undefined).length;
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#ring = undefined;
  }
}

const nameOf = (secret: V1Secret): string => secret.metadata?.name ?? '';

/**
 * Follows the Secrets that a selector names in one namespace. Needs `list` and `watch` on them, and nothing else.
 * Comes back at once: `ready()` tells when the first list has come, and `find` knows nobody before.
 */
export function openKubernetesKeys(place: KeysPlace, log: Logger): KeySource {
  const { namespace, selector } = place;
  const ring = new SecretRing(log);
  let listed = false;
  let closed = false;
  let faults = 0;
  let complainedAt = 0;
  let wake: (() => void) | undefined;
  const asleep = new AbortController();

  const listSecrets = async () => {
    const list = await place.api.listNamespacedSecret(
      { namespace, labelSelector: selector },
      { middleware: [timeLimit], middlewareMergeStrategy: 'append' },
    );
    ring.replace(list.items);
    if (!listed) log.info({ namespace, selector, keys: ring.size }, 'the API keys are loaded');
    else if (faults > 0) log.info({ namespace, keys: ring.size }, 'the API server is back');
    listed = true;
    faults = 0;
    return list;
  };

  /** Runs one informer until it fails: it does not start again by itself. @returns what it failed of */
  const follow = async (): Promise<unknown> => {
    const failed = Promise.withResolvers<unknown>();
    wake = () => failed.resolve(undefined);
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?allowWatchBookmarks=true`;
    const informer = new ListWatch<V1Secret>(
      path,
      new Watch(place.kubeConfig),
      listSecrets,
      false,
      selector,
      undefined,
      {
        // Its own pause grows to 30 s wherever watches end often and change nothing, and a revoked key would live on as long.
        delayFn: (ms) => sleep(Math.min(ms, KEYS_LIMITS.watchPauseMaxMs), undefined, { ref: false }),
      },
    );
    informer.on('add', (secret) => ring.put(secret));
    informer.on('update', (secret) => ring.put(secret));
    informer.on('delete', (secret) => ring.remove(secret));
    informer.on('error', (error: unknown) => failed.resolve(error));
    informer.start().catch(failed.resolve);
    const fault = await failed.promise;
    await informer.stop();
    return fault;
  };

  const run = async (): Promise<void> => {
    while (!closed) {
      const fault = await follow();
      if (closed) return;
      faults += 1;
      const now = Date.now();
      if (faults === 1 || now - complainedAt >= KEYS_LIMITS.warnIntervalMs) {
        complainedAt = now;
        const line = { namespace, selector, reason: describeFault(fault) };
        if (listed) log.warn(line, 'the API keys are out of reach; the last known keys still count');
        else log.error(line, 'the API keys are out of reach; nobody is let in before they are loaded');
      }
      const pause = Math.min(KEYS_LIMITS.retryBaseMs * 2 ** Math.min(faults - 1, 16), KEYS_LIMITS.retryMaxMs);
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal: asleep.signal }).catch(() => undefined);
    }
  };
  const ended = run();

  return {
    find: (token) => ring.find(token),
    ready: () => listed,
    firstKey: undefined,
    async close() {
      closed = true;
      asleep.abort();
      wake?.();
      await ended;
    },
  };
}
