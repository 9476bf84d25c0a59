// Opens the keys where the configuration says they are; the Kubernetes client is loaded only by who asks it something.
import type { Config } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/log.ts';
import { openFileKeys } from './file-source.ts';
import type { KeySource } from './keys.ts';

/** @throws KeyFileError for a broken keys file; ConfigError where a cluster is asked for and none is named */
export async function openKeys(config: Pick<Config, 'keys' | 'keysFile' | 'apiKey'>, log: Logger): Promise<KeySource> {
  if (config.keys.source === 'file') return openFileKeys({ path: config.keysFile, apiKey: config.apiKey, log });
  const [{ findCluster }, { openKubernetesKeys }] = await Promise.all([
    import('./cluster.ts'),
    import('./kubernetes-source.ts'),
  ]);
  return openKubernetesKeys(findCluster(config.keys), log);
}
