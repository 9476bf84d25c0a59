// The way to the API server of a cluster: from inside by the pod's service account, from outside by a kubeconfig.
import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { ConfigError, type KeysConfig } from '#shared/runtime/config.ts';

/** Where the Secrets of API keys are. */
export interface KeysPlace {
  kubeConfig: KubeConfig;
  api: CoreV1Api;
  namespace: string;
  /** A label selector. */
  selector: string;
}

/**
 * Reads how to reach the cluster; connects to nothing yet.
 * @param context of the kubeconfig; its current one otherwise
 * @throws ConfigError where there is no usable kubeconfig and no service account
 */
export function findCluster(keys: KeysConfig, context?: string): KeysPlace {
  const kubeConfig = new KubeConfig();
  try {
    if (keys.kubeConfigFile !== undefined) kubeConfig.loadFromFile(keys.kubeConfigFile);
    else kubeConfig.loadFromDefault();
  } catch (cause) {
    throw new ConfigError(`configuration: the kubeconfig cannot be read${nameOf(keys)}`, { cause });
  }
  if (context !== undefined) {
    if (!kubeConfig.getContextObject(context))
      throw new ConfigError(`configuration: the kubeconfig has no context "${context}"`);
    kubeConfig.setCurrentContext(context);
  }
  if (!kubeConfig.getCurrentCluster())
    throw new ConfigError(`configuration: the kubeconfig names no cluster for its current context${nameOf(keys)}`);
  const own = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace;
  return {
    kubeConfig,
    api: kubeConfig.makeApiClient(CoreV1Api),
    namespace: keys.namespace ?? own ?? 'default',
    selector: keys.selector,
  };
}

const nameOf = (keys: KeysConfig): string => (keys.kubeConfigFile === undefined ? '' : ` (${keys.kubeConfigFile})`);

/** What a fault on the way to the API server is called, without its headers and bodies. */
export function describeFault(error: unknown): string {
  const status = statusOf(error);
  if (status === 401) return 'the API server does not accept the credentials (401)';
  if (status === 403) return 'the API server does not allow it (403): `list` and `watch` on secrets are needed';
  if (status !== undefined) return `the API server answered ${status}`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return 'the connection ended';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.message || cause.name;
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof ApiException) return error.code;
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
