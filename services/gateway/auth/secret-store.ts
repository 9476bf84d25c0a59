// `npm run keys` against a cluster: makes, lists and marks Secrets.
import { ApiException, dumpYaml, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { describeFault, type KeysPlace } from './cluster.ts';
import { findKey, type KeyStore } from './key-store.ts';
import type { Key } from './keys.ts';
import { readSecret, SecretError, writeSecret } from './secret.ts';

/** The API server refused, or is not to be reached; says which. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** The manifest of a key's Secret as YAML, for whoever keeps manifests in a repository. @throws SecretError */
export function secretManifest(key: Key, place: { namespace: string | undefined; selector: string }): string {
  return dumpYaml(writeSecret(key, place)).trimEnd();
}

/**
 * A store of Secrets. Needs `create`, `list` and `patch` on Secrets of the namespace.
 * @param warn is told of Secrets that are labelled as keys and are none
 */
export function openSecretStore(place: KeysPlace, warn: (line: string) => void): KeyStore {
  const { api, namespace, selector } = place;

  const asked = async <T>(question: Promise<T>, verb: string): Promise<T> => {
    try {
      return await question;
    } catch (cause) {
      throw new ClusterError(
        cause instanceof ApiException && cause.code === 403
          ? `the cluster does not allow you to ${verb} secrets in namespace ${namespace}`
          : `the cluster could not ${verb} secrets in namespace ${namespace}: ${describeFault(cause)}`,
        { cause },
      );
    }
  };

  const read = async (): Promise<(Key & { secret: string })[]> => {
    const { items } = await asked(api.listNamespacedSecret({ namespace, labelSelector: selector }), 'list');
    return items.flatMap((secret) => {
      const name = secret.metadata?.name ?? '';
      try {
        return [{ ...readSecret(secret), secret: name }];
      } catch (error) {
        if (!(error instanceof SecretError)) throw error;
        warn(`the Secret ${name} is labelled as a key and is none: ${error.message}`);
        return [];
      }
    });
  };

  return {
    async add(key) {
      await asked(api.createNamespacedSecret({ namespace, body: writeSecret(key, place) }), 'create');
    },
    list: read,
    async revoke(wanted) {
      const key = findKey(await read(), wanted);
      if (!key) return undefined;
      const revokedAt = new Date().toISOString();
      const patch = { namespace, name: key.secret, body: { stringData: { revokedAt } } };
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
      await asked(api.patchNamespacedSecret(patch, merge), 'patch');
      return { ...key, revokedAt };
    },
  };
}
