// Connects to the Kubernetes API: with the pod's service account inside a cluster, with a kubeconfig outside.
import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { ConfigError, type KeysConfig } from '#shared/runtime/config.ts';

/** The Kubernetes API and the Secrets in it that contain API keys. */
export interface KeyCluster {
  kubeConfig: KubeConfig;
  api: CoreV1Api;
  namespace: string;
  /** Label selector of the Secrets. */
  selector: string;
}

/**
 * Reads the kubeconfig or the service account. Opens no connection yet.
 * @param context name of a kubeconfig context; the default is the current context
 * @throws ConfigError if there is neither a usable kubeconfig nor a service account
 */
export function openCluster(keys: KeysConfig, context?: string): KeyCluster {
  const file = keys.kubeConfigFile === undefined ? '' : ` (${keys.kubeConfigFile})`;
  const kubeConfig = new KubeConfig();
  try {
    if (keys.kubeConfigFile !== undefined) kubeConfig.loadFromFile(keys.kubeConfigFile);
    else kubeConfig.loadFromDefault();
  } catch (cause) {
    throw new ConfigError(`configuration: the kubeconfig cannot be read${file}; check KUBECONFIG`, { cause });
  }
  if (context !== undefined) {
    if (!kubeConfig.getContextObject(context))
      throw new ConfigError(`configuration: the kubeconfig has no context "${context}"${file}`);
    kubeConfig.setCurrentContext(context);
  }
  if (!kubeConfig.getCurrentCluster())
    throw new ConfigError(`configuration: the current context of the kubeconfig names no cluster${file}`);
  const contextNamespace = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace;
  return {
    kubeConfig,
    api: kubeConfig.makeApiClient(CoreV1Api),
    namespace: keys.namespace ?? contextNamespace ?? 'default',
    selector: keys.selector,
  };
}

/** Describes an error of the Kubernetes API in one line, without headers or bodies. */
export function describeApiError(error: unknown): string {
  const status = statusOf(error);
  if (status === 401) return 'the API server does not accept the credentials (401)';
  if (status === 403) return 'the API server denies access (403); grant `list` and `watch` on secrets';
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
