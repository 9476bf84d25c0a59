// Stores keys as Kubernetes Secrets for `npm run keys -- ... --kubernetes`.
import { ApiException, dumpYaml, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { describeApiError, type KeyCluster } from './cluster.ts';
import { findKey, type KeyStore } from './key-store.ts';
import type { Key } from './keys.ts';
import { buildSecret, parseSecret, REVOKED_BY, SecretError } from './secret.ts';

/** The API server rejected a request or cannot be reached. The message gives the reason. */
class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** Returns the manifest of a key's Secret as YAML. @throws SecretError */
export function secretManifest(key: Key, target: { namespace: string | undefined; selector: string }): string {
  return dumpYaml(buildSecret(key, target)).trimEnd();
}

/**
 * Opens a store that needs `create`, `list` and `patch` on Secrets of the namespace.
 * @param warn is called for each Secret that has the API key label but is not a valid key
 */
export function openSecretStore(cluster: KeyCluster, warn: (line: string) => void): KeyStore {
  const { api, namespace, selector } = cluster;

  const call = async <T>(request: Promise<T>, verb: string): Promise<T> => {
    try {
      return await request;
    } catch (cause) {
      throw new ClusterError(
        cause instanceof ApiException && cause.code === 403
          ? `the cluster does not allow you to ${verb} secrets in namespace ${namespace}`
          : `the cluster could not ${verb} secrets in namespace ${namespace}: ${describeApiError(cause)}`,
        { cause },
      );
    }
  };

  const list = async (): Promise<(Key & { secret: string })[]> => {
    const { items } = await call(api.listNamespacedSecret({ namespace, labelSelector: selector }), 'list');
    return items.flatMap((secret) => {
      const name = secret.metadata?.name ?? '';
      try {
        return [{ ...parseSecret(secret), secret: name }];
      } catch (error) {
        if (!(error instanceof SecretError)) throw error;
        warn(`the Secret ${name} has the API key label but is not a valid key: ${error.message}`);
        return [];
      }
    });
  };

  return {
    async add(key) {
      await call(api.createNamespacedSecret({ namespace, body: buildSecret(key, cluster) }), 'create');
    },
    list,
    async revoke(valueOrId, revokedBy) {
      const key = findKey(await list(), valueOrId);
      if (!key) return undefined;
      const revokedAt = new Date().toISOString();
      const body = { metadata: { annotations: { [REVOKED_BY]: revokedBy } }, stringData: { revokedAt } };
      const patch = { namespace, name: key.secret, body };
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
      await call(api.patchNamespacedSecret(patch, merge), 'patch');
      return { ...key, revokedAt, revokedBy };
    },
  };
}
