// Reads API keys from labelled Secrets through an informer, so that a revoked key is rejected within a second.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ListWatch,
  Observable,
  type ObservableMiddleware,
  type V1Secret,
  type V1SecretList,
  Watch,
} from '@kubernetes/client-node';
import { KEYS_LIMITS } from '#shared/contract/limits.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { describeApiError, type KeyCluster } from './cluster.ts';
import type { KeyObserver, KeySource } from './keys.ts';
import { SecretIndex } from './secret-index.ts';

/**
 * Follows the Secrets that the selector matches in one namespace. Needs `list` and `watch` on them, and nothing else.
 * Returns at once: `ready()` is false, and `find` returns undefined, until the first list has arrived.
 */
export function openKubernetesKeys(cluster: KeyCluster, log: Logger, onKeys: KeyObserver): KeySource {
  const follower = new SecretFollower(cluster, log, onKeys);
  const stopped = follower.run();
  return {
    find: (token) => follower.keys.find(token),
    ready: () => follower.listed,
    firstKey: undefined,
    async close() {
      follower.stop();
      await stopped;
    },
  };
}

/** Limits the time of one API request, because a half-open connection never fails by itself. */
const requestTimeout: ObservableMiddleware = {
  pre: (request) => {
    request.setSignal(AbortSignal.timeout(KEYS_LIMITS.apiTimeoutMs));
    return new Observable(Promise.resolve(request));
  },
  post: (response) => new Observable(Promise.resolve(response)),
};

/** Keeps an index of Secrets up to date, and reconnects with a growing delay after each failure. */
class SecretFollower {
  readonly keys: SecretIndex;
  /** The first list has arrived. */
  listed = false;
  readonly #cluster: KeyCluster;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  /** Failures since the last successful list. */
  #failures = 0;
  #lastLogged = 0;

  constructor(cluster: KeyCluster, log: Logger, onKeys: KeyObserver) {
    this.#cluster = cluster;
    this.#log = log;
    this.keys = new SecretIndex(log, onKeys);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const failure = await this.#followUntilFailure();
      if (signal.aborted) return;
      this.#failures += 1;
      this.#logFailure(failure);
      await sleep(retryDelay(this.#failures), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Runs one informer, which does not restart by itself. @returns the error that ended it; undefined after `stop` */
  async #followUntilFailure(): Promise<unknown> {
    const { namespace, selector, kubeConfig } = this.#cluster;
    const { signal } = this.#stop;
    const ended = Promise.withResolvers<unknown>();
    const onStop = (): void => ended.resolve(undefined);
    signal.addEventListener('abort', onStop);
    const informer = new ListWatch<V1Secret>(
      `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?allowWatchBookmarks=true`,
      new Watch(kubeConfig),
      () => this.#list(),
      false,
      selector,
      undefined,
      {
        // The informer's own delay between watches grows to 30 s if they end without changes. A revoked key would stay valid that long.
        delayFn: (ms) => sleep(Math.min(ms, KEYS_LIMITS.watchPauseMaxMs), undefined, { ref: false }),
      },
    );
    informer.on('add', (secret) => this.keys.set(secret));
    informer.on('update', (secret) => this.keys.set(secret));
    informer.on('delete', (secret) => this.keys.delete(secret));
    informer.on('error', (error: unknown) => ended.resolve(error));
    informer.start().catch(ended.resolve);
    const failure = await ended.promise;
    signal.removeEventListener('abort', onStop);
    await informer.stop();
    return failure;
  }

  async #list(): Promise<V1SecretList> {
    const { api, namespace, selector } = this.#cluster;
    const list = await api.listNamespacedSecret(
      { namespace, labelSelector: selector },
      { middleware: [requestTimeout], middlewareMergeStrategy: 'append' },
    );
    this.keys.replaceAll(list.items);
    const keys = this.keys.size;
    if (!this.listed) this.#log.info({ namespace, selector, keys }, 'the API keys are loaded');
    else if (this.#failures > 0) this.#log.info({ namespace, keys }, 'the API keys can be read again');
    this.listed = true;
    this.#failures = 0;
    return list;
  }

  /** Logs the first failure, then at most one every `warnIntervalMs`. */
  #logFailure(failure: unknown): void {
    const now = Date.now();
    if (this.#failures > 1 && now - this.#lastLogged < KEYS_LIMITS.warnIntervalMs) return;
    this.#lastLogged = now;
    const { namespace, selector } = this.#cluster;
    const line = { namespace, selector, reason: describeApiError(failure) };
    if (this.listed) this.#log.warn(line, 'the API keys cannot be read; the last known keys stay active');
    else this.#log.error(line, 'the API keys cannot be read; every request is rejected until they are loaded');
  }
}

/** The delay doubles with each failure up to a maximum. Half of it is random, so that gateways do not reconnect at the same time. */
function retryDelay(failures: number): number {
  const delay = Math.min(KEYS_LIMITS.retryBaseMs * 2 ** Math.min(failures - 1, 16), KEYS_LIMITS.retryMaxMs);
  return delay * (0.5 + Math.random() / 2);
}
