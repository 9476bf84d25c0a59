// Installs the chart in a namespace of its own, as a user does, and reads the state of the release.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { attempt, get, helm, kubectl, run, waitFor } from './command.ts';
import { IMAGE_VALUES } from './images.ts';

export const CHART = fileURLToPath(new URL('../../charts/parsemesh', import.meta.url));

/** Values for a cluster of one small node with local images. They are added to the values of a test. */
const LOCAL_VALUES = {
  ...IMAGE_VALUES,
  nats: {
    resources: { requests: { cpu: '10m', memory: '64Mi' } },
    // A volume without a provisioner is not emptied before another release uses it, which has another key.
    jetstream: { encryption: false },
  },
  services: Object.fromEntries(
    SERVICE_NAMES.map((name) => [name, { resources: { requests: { cpu: '10m', memory: '64Mi' } } }]),
  ),
};

export interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string; labels: Record<string, string> };
  spec: { nodeName?: string };
  status: { phase: string; podIP?: string; conditions?: { type: string; status: string }[] };
}
interface List<T> {
  items: T[];
}
interface Volume {
  metadata: { name: string };
  status: { phase: string };
}

export class Release {
  readonly name: string;
  readonly namespace: string;

  constructor(name: string, namespace: string) {
    this.name = name;
    this.namespace = namespace;
  }

  /** Creates the namespace. It accepts only pods that meet the strictest pod security standard. */
  async openNamespace(): Promise<void> {
    await waitFor(`the end of the deletion of ${this.namespace}`, 300, async () => {
      const { stdout } = await attempt('kubectl', [
        ...['get', 'namespace', this.namespace, '--ignore-not-found', '-o', 'jsonpath={.status.phase}'],
      ]);
      return stdout.trim() !== 'Terminating';
    });
    await run('kubectl', ['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: this.namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      }),
    });
    await freeVolumes();
  }

  /** Installs or upgrades with exactly these values and waits until every pod is ready. @returns the output of helm */
  async apply(...values: object[]): Promise<string> {
    await this.openNamespace();
    return withValues(values, (files) =>
      helm(
        'upgrade',
        '--install',
        this.name,
        CHART,
        '-n',
        this.namespace,
        '--reset-values',
        ...files,
        '--wait',
        '--timeout',
        '8m',
      ),
    );
  }

  /** Rolls back to the previous revision. */
  async rollback(): Promise<void> {
    await helm('rollback', this.name, '-n', this.namespace, '--wait', '--timeout', '8m');
  }

  /** The pods of one component, without those that are being deleted. */
  async pods(component: string): Promise<Pod[]> {
    const selector = `app.kubernetes.io/instance=${this.name},app.kubernetes.io/component=${component}`;
    const { items } = await get<List<Pod>>('pods', '-n', this.namespace, '-l', selector);
    return items.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  }

  /** The key that the install created. */
  async firstKey(): Promise<string> {
    const { data } = await get<{ data: { key: string } }>('secret', `${this.name}-first-key`, '-n', this.namespace);
    return Buffer.from(data.key, 'base64').toString('utf8');
  }

  /** URL of the API inside the cluster. */
  get url(): string {
    return `http://${this.name}.${this.namespace}.svc.cluster.local`;
  }

  async uninstall(): Promise<void> {
    await helm('uninstall', this.name, '-n', this.namespace, '--wait', '--timeout', '8m', '--ignore-not-found');
  }

  /** Uninstalls and removes the namespace. */
  async remove(): Promise<void> {
    await this.uninstall();
    // The deletion may take minutes. `openNamespace` waits for it, if a test opens the same namespace again.
    await kubectl('delete', 'namespace', this.namespace, '--ignore-not-found', '--wait=false');
  }
}

/** Writes each object of values to a file, the local values first, and calls `use` with the arguments `-f FILE`. */
async function withValues<T>(values: readonly object[], use: (files: string[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-values-'));
  try {
    const files: string[] = [];
    for (const [index, one] of [LOCAL_VALUES, ...values].entries()) {
      const path = join(folder, `${index}.yaml`);
      await writeFile(path, JSON.stringify(one));
      files.push('-f', path);
    }
    return await use(files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes released volumes available again. Kubernetes does not do this for volumes without a provisioner. */
async function freeVolumes(): Promise<void> {
  const { items } = await get<List<Volume>>('persistentvolumes');
  for (const volume of items)
    if (volume.status.phase === 'Released')
      await attempt('kubectl', ['patch', 'pv', volume.metadata.name, '-p', '{"spec":{"claimRef":null}}']);
}

/** Waits until a component has exactly `count` pods and all of them are ready. */
export const waitForPods = (release: Release, component: string, count: number, seconds: number): Promise<Pod[]> =>
  waitFor(`${count} ready pods of ${component}`, seconds, async () => {
    const pods = await release.pods(component);
    const ready = pods.filter((pod) =>
      pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    return pods.length === count && ready.length === count ? ready : undefined;
  });
