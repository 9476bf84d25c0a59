// Opens the key source that the configuration names: a file or Kubernetes Secrets.
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { openFileKeys } from './file-source.ts';
import type { KeyObserver, KeySource } from './keys.ts';

/**
 * @param onKeys is called with all keys when they are loaded, and after each change
 * @throws KeyFileError for an invalid keys file; ConfigError if Secrets are configured and the kubeconfig names no cluster
 */
export async function openKeySource(
  config: Pick<Config, 'keys' | 'keysFile' | 'apiKey'>,
  log: Logger,
  onKeys: KeyObserver,
): Promise<KeySource> {
  if (config.keys.source === 'file') return openFileKeys({ path: config.keysFile, apiKey: config.apiKey, log, onKeys });
  // The Kubernetes client needs about 85 MB of memory, so load it only if it is used.
  const [{ openCluster }, { openKubernetesKeys }] = await Promise.all([
    import('./cluster.ts'),
    import('./kubernetes-source.ts'),
  ]);
  return openKubernetesKeys(openCluster(config.keys), log, onKeys);
}
